// SPDX-License-Identifier: MIT
// served.mjs: a page of `seam view` asks the server that it came from: for the data, for a part of
// the time at its full resolution, and for the source of any function. A page in a file has no
// server, and asks nobody.
import { $, M, S, ask } from "./state.mjs";
import { index, inflate, parse } from "./data.mjs";
import { panelThreads } from "./threads.mjs";
import { twoSides } from "./sums.mjs";
import { drawSource, keepSource } from "./source.mjs";

const ASKED = { part: 0, source: ["", ""], left: [0, 0], choice: "", timer: 0 };

export const isServed = () => document.querySelector('meta[name="seam-served"]') !== null;

/* The part of the time that a link names, "FROM-TO" in nanoseconds since the first sample; "": all
 * of it. */
export function partOf(link) {
	const part = new URLSearchParams(link).get("part") || "",
		[from, to] = part.split("-").map(Number);

	return /^[0-9]{1,15}-[0-9]{1,15}$/.test(part) && from < to ? part : "";
}

async function asked(what) {
	const answer = await fetch(what).catch(() => {
		throw new Error("the server does not answer: was seam view ended?");
	});

	if (!answer.ok) throw new Error(`the server says: ${(await answer.text()).slice(0, 500)}`);
	return answer;
}

/* The data of a part of the time. */
export async function askData(part) {
	const [from, to] = part.split("-"),
		answer = await asked(part ? `data?from=${from}&to=${to}` : "data");

	return inflate(await answer.blob());
}

/* The chosen slices as nanoseconds since the first sample, both ends in them. */
export function chosenTime() {
	const side = M.meta.sides[0],
		whole = Math.round(side.seconds * 1e9) + 1,
		at = (slice) => Math.ceil((slice * whole) / M.meta.slices);

	return [(side.from_ns || 0) + at(S.first), (side.from_ns || 0) + at(S.last + 1) - 1];
}

const allTime = () => S.first === 0 && S.last === M.meta.slices - 1;

/* Shows the data of another part of the time, then does what follows; numbers of functions, threads
 * and events stay what they are. */
async function changePart(part, then) {
	const turn = ++ASKED.part;

	$("part").textContent = "the server is asked \u2026";
	try {
		const m = parse(await askData(part));

		if (turn !== ASKED.part) return;
		for (const key of Object.keys(M)) delete M[key];
		index(Object.assign(M, m));
		S.part = part;
		S.first = 0;
		S.last = M.meta.slices - 1;
		then();
	} catch (e) {
		$("part").textContent = e.message;
	}
}

const again = () => {
	ask.recompute(true);
	panelThreads();
};

export function finer() {
	if (ask.part && !$("finer").disabled) ask.part(chosenTime().join("-"), again);
}

export function wholeTime() {
	if (ask.part && S.part) ask.part("", again);
}

/* What a part's buttons can do now. */
function drawParts() {
	const [from, to] = chosenTime();
	const left = M.meta.left_out
		? `cells of less than ${(100 * M.meta.left_out).toPrecision(2)} % are left ` +
			`out, which a finer part has; `
		: "";

	$("finer").disabled = allTime() || to - from < M.meta.slices;
	$("whole").disabled = !S.part;
	$("part").textContent =
		left +
		(S.part
			? `a part of the time: from ` +
				`${(M.meta.sides[0].from_ns / 1e9).toFixed(6)} s on`
			: "");
}

/* Threads that a side has samples of in the data. Of the other recording source is wanted of all
 * its time, and a part of the time does not have all its threads. */
function sideThreads(side) {
	const has = new Uint8Array(M.meta.threads.length).fill(side && S.part ? 1 : 0),
		{ rowWhat, rowThread } = M;

	for (let i = 0; i < rowWhat.length; i++)
		if (rowWhat[i] >>> 24 === side) has[rowThread[i]] = 1;
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

/* Of which samples source is wanted: of the other recording, of all its time. */
function sourceQuery(side = 0) {
	const query = new URLSearchParams(),
		[from, to] = chosenTime();

	ASKED.left[side] = 0;
	if (side) query.set("side", side);
	else if (S.part || !allTime()) {
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

export function serve() {
	Object.assign(ask, {
		part: changePart,
		parts: drawParts,
		source: askSource,
		sourceChosen,
		sourceLeft: () => ASKED.left[0] + ASKED.left[1],
	});
	$("parts").hidden = false;
}
