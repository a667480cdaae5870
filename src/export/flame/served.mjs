// SPDX-License-Identifier: MIT
// served.mjs: a page of `seam view` asks the server that it came from: for the data, for a part of
// the time at its full resolution, and for the source of any function. A page in a file has no
// server, and asks nobody.
import { $, M, S, ask } from "./state.mjs";
import { index, inflate, parse, unpackedSize } from "./data.mjs";
import { PARTS } from "./link.mjs";
import { node } from "./element.mjs";
import { panelThreads } from "./threads.mjs";
import { isAllTime, twoSides, wholeSpans } from "./sums.mjs";
import { drawSource, keepSource } from "./source.mjs";
import { prepare } from "./spare.mjs";

const ASKED = { part: 0, source: ["", ""], left: [0, 0], choice: "", timer: 0 };

export const isServed = () => document.querySelector('meta[name="seam-served"]') !== null;

/* The parts of each side's time that a link names, "FROM-TO" in nanoseconds since the first sample;
 * "": all of it. */
export function partsOf(link) {
	const query = new URLSearchParams(link);

	return PARTS.map((key) => {
		const part = query.get(key) || "",
			[from, to] = part.split("-").map(Number);

		return /^[0-9]{1,15}-[0-9]{1,15}$/.test(part) && from < to ? part : "";
	});
}

/* What went wrong with the recording: the page itself can do what it must. */
class SaidError extends Error {}

async function asked(what) {
	const answer = await fetch(what).catch(() => {
		throw new SaidError("The server does not answer: was seam view ended?");
	});

	if (!answer.ok)
		throw new SaidError(`The server says: ${(await answer.text()).slice(0, 500)}`);
	return answer;
}

const ASK_AGAIN = 150; /* ms */

/* How far the server is with reading, on the screen. */
function showProgress({ title, step, done, total }) {
	const bar = $("readingbar");

	document.title = `${title} \u2014 seam view`;
	$("readingwhat").textContent =
		`${title} is being read` +
		(step ? `: ${step}` : "") +
		(total ? ` ${Math.floor((100 * done) / total)} %` : "") +
		" \u2026";
	if (total) bar.value = Math.min(1, done / total);
	else bar.removeAttribute("value");
}

/* Waits until the server has read the recordings. Returns what was said of them. */
async function untilRead() {
	for (;;) {
		const state = await (await asked("state")).json();

		if (state.phase === "ready") return state.said;
		if (state.phase === "failed") {
			/* Nobody is waited for any more. */
			fetch("seen").catch(() => {});
			throw new SaidError(state.said.join("\n"));
		}
		showProgress(state);
		await new Promise((done) => setTimeout(done, ASK_AGAIN));
	}
}

/* The data that a served page begins with, as soon as there is some. */
export async function firstData() {
	const said = await untilRead();

	$("messages").hidden = !said.length;
	$("said").replaceChildren(...said.map((textContent) => node("li", { textContent })));
	S.parts = partsOf(location.hash.slice(1));
	serve();
	return askData(S.parts);
}

/* Why there is nothing to see. */
export const failure = (e) =>
	e instanceof SaidError
		? e.message
		: `The recording in this page cannot be shown: ${e.message}. ` +
			"A browser of 2023 or later is needed.";

/* The data of parts of the time. */
async function askData(parts) {
	const query = new URLSearchParams();

	parts.forEach((part, side) => {
		if (!part) return;
		const [from, to] = part.split("-");

		query.set(side ? "before_from" : "from", from);
		query.set(side ? "before_to" : "to", to);
	});
	const answer = await asked(query.size ? `data?${query}` : "data");

	const bytes = new Uint8Array(await answer.arrayBuffer());

	return inflate([bytes], unpackedSize(bytes));
}

/* A side's chosen slices as nanoseconds since its first sample, both ends in them. */
export function chosenTime(number = 0) {
	const side = M.meta.sides[number],
		[first, last] = S.spans[number],
		whole = Math.round(side.seconds * 1e9) + 1,
		at = (slice) => Math.ceil((slice * whole) / M.meta.slices);

	return [(side.from_ns || 0) + at(first), (side.from_ns || 0) + at(last + 1) - 1];
}

/* Shows the data of other parts of the time, then does what follows; numbers of functions, threads
 * and events stay what they are. */
async function changePart(parts, then) {
	const turn = ++ASKED.part;

	$("part").textContent = "the server is asked \u2026";
	try {
		const m = parse(await askData(parts));

		if (turn !== ASKED.part) return;
		for (const key of Object.keys(M)) delete M[key];
		index(Object.assign(M, m));
		parts.forEach((part, side) => {
			if (part !== S.parts[side]) S.spans[side] = wholeSpans()[side];
		});
		S.parts = parts;
		then();
		prepare();
	} catch (e) {
		$("part").textContent = e.message;
	}
}

const again = () => {
	ask.recompute(true);
	panelThreads();
};

/* Whether a side has a span that can be had in more slices. */
function canBeFiner(side) {
	const [from, to] = chosenTime(side);

	return !isAllTime(side) && to - from >= M.meta.slices;
}

export function finer() {
	if (ask.part && !$("finer").disabled)
		ask.part(
			S.parts.map((part, side) =>
				M.meta.sides[side] && canBeFiner(side)
					? chosenTime(side).join("-")
					: part,
			),
			again,
		);
}

export function wholeTime() {
	if (ask.part && S.parts.some((part) => part)) ask.part(["", ""], again);
}

/* What a part's buttons can do now. */
function drawParts() {
	const left = M.meta.left_out
		? `cells of less than ${(100 * M.meta.left_out).toPrecision(2)} % are left ` +
			`out, which a finer part has; `
		: "";
	const of = (side) => (twoSides() ? ` of ${side.name}` : "");

	$("finer").disabled = !M.meta.sides.some((_, side) => canBeFiner(side));
	$("whole").disabled = !S.parts.some((part) => part);
	$("part").textContent =
		left +
		M.meta.sides
			.filter((_, side) => S.parts[side])
			.map(
				(side) =>
					`a part of the time${of(side)}: from ` +
					`${(side.from_ns / 1e9).toFixed(6)} s on`,
			)
			.join("; ");
}

/* Threads that a side has samples of in the data. */
function sideThreads(side) {
	const has = new Uint8Array(M.meta.threads.length),
		{ rowWhat, whatSide, rowThread } = M;

	for (let i = 0; i < rowWhat.length; i++)
		if (whatSide[rowWhat[i]] === side) has[rowThread[i]] = 1;
	return has;
}

/* Characters of thread ids in a request: a server takes no more than its head has room for
 * (serve.c), and the name of a function is in it, too. */
const TIDS = 64000;

/* The chosen ones of a side's thread ids, in order, as spans: "5-9.12". A span may have ids that no
 * thread of the side has. left: how many do not fit. */
export function tidSpans(chosen, others, room = TIDS) {
	const off = new Set(others),
		on = new Set(chosen),
		ids = [...new Set([...chosen, ...others])].sort((a, b) => a - b),
		spans = [];
	let length = 0;

	for (let i = 0, j; i < ids.length; i = j) {
		j = i + 1;
		if (!on.has(ids[i])) continue;
		/* An id that is not known is -1, and no number. */
		while (ids[i] >= 0 && j < ids.length && on.has(ids[j])) j++;
		const text = j - i > 1 ? `${ids[i]}-${ids[j - 1]}` : `${ids[i]}`;

		if (length + text.length + 1 > room)
			return {
				text: spans.join("."),
				left: ids.slice(i).filter((id) => on.has(id)).length,
			};
		length += text.length + 1;
		spans.push(text);
	}
	return { text: spans.join("."), left: 0 };
}

/* Of which of a side's samples source is wanted. */
function sourceQuery(side = 0) {
	const query = new URLSearchParams(),
		[from, to] = chosenTime(side);

	ASKED.left[side] = 0;
	if (side) query.set("side", side);
	if (S.parts[side] || !isAllTime(side)) {
		query.set("from", from);
		query.set("to", to);
	}
	if (S.threads.some((on) => !on)) {
		const has = sideThreads(side),
			tids = [[], []];

		S.threads.forEach((on, t) => {
			if (has[t]) tids[on ? 0 : 1].push(M.meta.threads[t][2]);
		});
		const { text, left } = tidSpans(...tids);

		query.set("tids", text);
		ASKED.left[side] = left;
	}
	return query;
}

/* Asks for a function's source, if that is not under way, as soon as choices rest. */
function askSource(fn, side = 0) {
	const query = sourceQuery(side);

	query.set("name", M.names[fn]);
	query.set("object", M.texts[M.fnObject[fn]]);
	const what = `source?${query}`;
	if (what === ASKED.source[side]) return;
	ASKED.source[side] = what;
	clearTimeout(ASKED.timer);
	ASKED.timer = setTimeout(async () => {
		try {
			const found = await (await asked(what)).json();

			if (what === ASKED.source[side])
				keepSource(fn, found.parts.length ? found : null, side);
		} catch (e) {
			if (what === ASKED.source[side])
				keepSource(fn, { error: e.message, parts: [], more: 0 }, side);
		}
		if (what === ASKED.source[side] && S.view === "source") drawSource();
	}, 80);
}

/* Before each picture of the source: what was told of other samples is forgotten. */
function sourceChosen() {
	const choice = `${sourceQuery()} ${twoSides() ? sourceQuery(1) : ""}`;

	if (choice !== ASKED.choice) {
		ASKED.choice = choice;
		ASKED.source = ["", ""];
		M.sources = [new Map(), new Map()];
	}
}

function serve() {
	Object.assign(ask, {
		part: changePart,
		parts: drawParts,
		source: askSource,
		sourceChosen,
		sourceLeft: () => ASKED.left[0] + ASKED.left[1],
	});
	$("parts").hidden = false;
}
