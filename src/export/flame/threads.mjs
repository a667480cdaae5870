// SPDX-License-Identifier: MIT
// threads.mjs: the panel of processes and threads. Of two recordings threads are told apart by
// their name, as numbers of one say nothing of the other.
import { $, M, S, always, ask } from "./state.mjs";
import { twoSides } from "./sums.mjs";
import { grouped, percent, processName, threadFound, threadName } from "./names.mjs";
import { box, node } from "./element.mjs";
import { compareCounts, differenceText } from "./noise.mjs";

const PANEL_ROWS = 400,
	PROCESS_ROWS = 100;

/* Of the event, whatever is chosen: weight and samples by thread, of each side. -1: it has none. */
function threadSums() {
	const n = M.meta.threads.length,
		{ rowWhat, whatEvent, whatSide, rowThread, rowWeight, rowSamples, unit } = M,
		{ event } = S;
	const sides = M.meta.sides.map(() => ({
		weights: new Float64Array(n).fill(-1),
		hits: new Float64Array(n),
	}));

	for (let i = 0; i < rowWhat.length; i++) {
		const side = sides[whatSide[rowWhat[i]]],
			t = rowThread[i];

		if (whatEvent[rowWhat[i]] !== event) continue;
		side.weights[t] = Math.max(0, side.weights[t]) + rowWeight[i] * unit;
		side.hits[t] += rowSamples[i];
	}
	return sides;
}

/* Processes (of two recordings: commands) with their threads, the heaviest first. value and hits
 * are pairs: now and before. */
export function processes() {
	const found = new Map(),
		sides = threadSums();

	M.meta.threads.forEach(([comm, pid], t) => {
		const has = sides.map((s) => s.weights[t] >= 0);

		if (!has.some((yes) => yes)) return;
		const key = sides.length > 1 ? comm : pid,
			thread = { t, weight: sides.map((s) => Math.max(0, s.weights[t])) };
		const p = found.get(key) || {
			key,
			pid,
			comm,
			weight: [0, 0],
			hits: [0, 0],
			threads: [],
		};

		found.set(key, p);
		p.threads.push(thread);
		sides.forEach((s, side) => {
			p.weight[side] += thread.weight[side];
			p.hits[side] += s.hits[t];
		});
	});
	const most = (x) => Math.max(...x.weight);
	for (const p of found.values()) p.threads.sort((a, b) => most(b) - most(a) || a.t - b.t);
	return [...found.values()].sort((a, b) => most(b) - most(a) || a.key - b.key);
}

export function only(threads) {
	S.threads.fill(0);
	threads.forEach((t) => {
		S.threads[t] = 1;
	});
	ask.recompute(true);
	panelThreads();
}

/* All threads of both recordings that have these threads' names. */
export function sameThreads(threads) {
	if (!twoSides()) return threads;
	const names = new Set(threads.map((t) => M.meta.threads[t][0]));

	return [...M.meta.threads.keys()].filter((t) => names.has(M.meta.threads[t][0]));
}

function threadRow(className, name, threads, share) {
	const button = node("button", { textContent: "only", title: `only ${name}` });
	const label = box(
		threads.every((t) => S.threads[t]),
		name,
		(on) => {
			threads.forEach((t) => {
				S.threads[t] = on ? 1 : 0;
			});
			ask.recompute(true);
			panelThreads();
		},
	);
	const row = node(
		"div",
		{ className: `row ${className}` },
		label,
		node("span", { className: "share", textContent: share }),
		button,
	);

	PANEL.boxes.push({ input: label.querySelector("input"), threads });
	button.addEventListener("click", () => only(threads));
	return row;
}

/* A command's share in two recordings, and how it changed. */
function comparedRows(p, kept, whole, hits) {
	const part = (side) => (whole[side] ? p.weight[side] / whole[side] : 0),
		noise = compareCounts(p.hits[1], hits[1], p.hits[0], hits[0]);
	const was =
		`before ${percent(p.weight[1], whole[1])}, ` +
		`${differenceText(100 * (part(0) - part(1)), noise)}`;

	return [
		threadRow(
			"process",
			M.texts[p.comm] || "[unknown]",
			kept,
			percent(p.weight[0], whole[0]),
		),
		node("div", { className: "row was", textContent: was }),
	];
}

const moreRow = (what) =>
	node("div", { className: "row thread", textContent: `${what}: find them by name` });

function processRows(p, kept, whole) {
	const rows = [
		threadRow(
			"process",
			processName(p.threads[0].t),
			kept.map((k) => k.t),
			percent(p.weight[0], whole[0]),
		),
	];

	if (p.threads.length > 1)
		for (const { t, weight } of kept.slice(0, PROCESS_ROWS))
			rows.push(
				threadRow(
					"thread",
					threadName(t),
					[t],
					percent(weight[0], whole[0]),
				),
			);
	const more = kept.length - PROCESS_ROWS;
	if (more > 0) rows.push(moreRow(`and ${grouped(more)} more threads`));
	return rows;
}

/* Which rows the panel has, and their boxes with the threads of each. */
const PANEL = { of: null, key: "", boxes: [] };

/* The panel as it is now. Its rows are the same whatever is chosen; the ticks are not. */
export function panelThreads() {
	const key = `${S.event} ${S.filter}`;

	if (PANEL.of !== M.meta || PANEL.key !== key) {
		Object.assign(PANEL, { of: M.meta, key, boxes: [] });
		listThreads();
		return;
	}
	for (const { input, threads } of PANEL.boxes)
		input.checked = threads.every((t) => S.threads[t]);
}

function listThreads() {
	const rows = [],
		list = always(`processes ${S.event}`, processes);
	const sum = (of) => [0, 1].map((side) => list.reduce((all, p) => all + p[of][side], 0)),
		whole = sum("weight"),
		hits = sum("hits");

	for (const p of list) {
		const kept = p.threads.filter(({ t }) => threadFound(t));

		if (!kept.length) continue;
		if (rows.length > PANEL_ROWS) {
			rows.push(moreRow("and more processes"));
			break;
		}
		rows.push(
			...(twoSides()
				? comparedRows(
						p,
						kept.map((k) => k.t),
						whole,
						hits,
					)
				: processRows(p, kept, whole)),
		);
	}
	$("threads").replaceChildren(...rows);
}
