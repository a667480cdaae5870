// SPDX-License-Identifier: MIT
// strip.mjs: the strips of time above the graph, one for each recording.
import { $, M, S, T, V, always, ask } from "./state.mjs";
import {
	allThreads,
	choiceKey,
	chosenRows,
	isAllTime,
	threadWeights,
	twoSides,
	wholeOf,
} from "./sums.mjs";
import { amount, grouped, isTime, threadName } from "./names.mjs";
import { PAPER, fitted, isDark, sized } from "./element.mjs";
import { ramp, rampImage } from "./ramps.mjs";

const STRIP_ROW = 9,
	STRIP_ROWS = 12 /* of both */,
	STRIP_LABEL = 130 /* names stand before it */,
	BINS = 1024;

/* The elements of each side. */
const STRIPS = [
	["strip", "span"],
	["beforestrip", "beforespan"],
];
const stripOf = (side) => $(STRIPS[side][0]);

/* Which side's strip an element is; -1: none. */
export const stripSide = (element) => STRIPS.findIndex(([id]) => element === $(id));

/* What a side's strip shows: the heaviest threads, and the others together. */
function stripRows(side) {
	const chosen = chosenRows(side, true),
		weights = threadWeights(chosen),
		n = BINS;
	const { rowThread, rowSlice, rowWeight, unit } = M,
		slices = M.meta.slices;
	const threads = [...weights.keys()]
		.filter((t) => weights[t])
		.sort((a, b) => weights[b] - weights[a]);
	const rows = Math.max(1, Math.min(threads.length, STRIP_ROWS / M.meta.sides.length));
	const begins = new Uint32Array(weights.length),
		binOf = Uint32Array.from({ length: slices }, (_, slice) =>
			Math.floor((slice * n) / slices),
		),
		heat = new Float64Array(rows * n);

	threads.forEach((t, i) => {
		begins[t] = Math.min(i, rows - 1) * n;
	});
	for (let i = 0; i < chosen.length; i++)
		if (chosen[i])
			heat[begins[rowThread[i]] + binOf[rowSlice[i]]] += rowWeight[i] * unit;
	return {
		of: M.meta,
		key: choiceKey(side, true),
		rows,
		threads,
		more: threads.length - rows,
		images: new Map() /* by whether it is dark */,
		heat,
		whole: heat.reduce((a, b) => a + b, 0),
	};
}

/* A side's rows, made once for a choice, and kept of all threads. */
function keptRows(side) {
	const last = V.strips && V.strips[side];

	if (allThreads()) return always(`strip ${S.event} ${side}`, () => stripRows(side));
	return last && last.of === M.meta && last.key === choiceKey(side, true)
		? last
		: stripRows(side);
}

/* Whatever the time: the strips show what could be chosen. */
export function strip() {
	V.strips = M.meta.sides.map((_, side) => keptRows(side));
	$("time").hidden = !M.meta.sides.some((side) => side.seconds > 0);
	STRIPS.forEach((ids, side) => {
		const has = side < M.meta.sides.length && M.meta.sides[side].seconds > 0;

		for (const id of ids) $(id).hidden = !has;
	});
}

function stripImage({ rows, heat, images }) {
	if (images.has(isDark())) return images.get(isDark());
	const most = heat.reduce((a, b) => Math.max(a, b), 0) || 1;

	const image = rampImage(
		Array.from({ length: rows }, (_, y) => heat.subarray(y * BINS, (y + 1) * BINS)),
		BINS,
		most,
		[ramp(204, isDark())],
	);
	images.set(isDark(), image);
	return image;
}

/* A strip has no scroll bar beside it, as the graph has: it is wider than V.width. */
const stripWidth = (side) => (V.printed ? PAPER : stripOf(side).clientWidth || V.width);
const sliceX = (slice, width) =>
	STRIP_LABEL + ((width - STRIP_LABEL) * slice) / M.meta.slices;
/* The slice at a place of a side's strip. */
export const xSlice = (x, side = 0) =>
	Math.max(
		0,
		Math.min(
			M.meta.slices - 1,
			Math.floor(
				((x - STRIP_LABEL) / (stripWidth(side) - STRIP_LABEL)) *
					M.meta.slices,
			),
		),
	);

/* What is before a row of a strip. */
function stripName({ rows, threads, more }, i) {
	if (i === rows - 1 && more > 0) return `${more + 1} more threads`;
	return threads[i] === undefined ? "" : threadName(threads[i]);
}

function drawSide(side) {
	const of = V.strips[side],
		{ rows } = of,
		height = rows * STRIP_ROW + 2,
		width = stripWidth(side),
		ctx = sized(stripOf(side), width, height);
	const css = getComputedStyle(document.documentElement),
		[first, last] = S.spans[side],
		from = sliceX(first, width),
		to = sliceX(last + 1, width);

	ctx.clearRect(0, 0, width, height);
	ctx.imageSmoothingEnabled = false;
	ctx.drawImage(stripImage(of), STRIP_LABEL, 0, width - STRIP_LABEL, rows * STRIP_ROW);
	ctx.font = "9px system-ui, sans-serif";
	ctx.textBaseline = "middle";
	ctx.fillStyle = css.getPropertyValue("--faint");
	for (let i = 0; i < rows; i++)
		ctx.fillText(
			fitted(ctx, stripName(of, i), STRIP_LABEL - 14),
			10,
			i * STRIP_ROW + STRIP_ROW / 2 + 0.5,
		);
	if (isAllTime(side)) return;
	ctx.fillStyle = css.getPropertyValue("--back");
	ctx.globalAlpha = 0.65;
	ctx.fillRect(STRIP_LABEL, 0, from - STRIP_LABEL, height);
	ctx.fillRect(to, 0, width - to, height);
	ctx.globalAlpha = 1;
	ctx.strokeStyle = css.getPropertyValue("--accent");
	ctx.strokeRect(from + 0.5, 0.5, Math.max(1, to - from - 1), height - 1);
}

export function drawStrip() {
	M.meta.sides.forEach(({ seconds }, side) => {
		if (!seconds) return;
		drawSide(side);
		describeSpan(side);
	});
}

/* What is chosen of a side, below its strip. */
function describeSpan(number) {
	const side = M.meta.sides[number],
		[first, last] = S.spans[number],
		all = isAllTime(number),
		{ whole } = V.strips[number];
	const at = (slice) =>
		((side.seconds * slice) / M.meta.slices).toFixed(side.seconds < 10 ? 3 : 1);
	const share = whole ? ((100 * wholeOf(number)) / whole).toFixed(1) : "0",
		before = number ? "compared with " : "";

	$(STRIPS[number][1]).textContent =
		(twoSides() ? `${before}${side.name}: ` : "") +
		(all
			? `${at(M.meta.slices)} s`
			: `${at(first)} to ${at(last + 1)} of ${at(M.meta.slices)} s`) +
		`: ${grouped(T.samples[number])} samples` +
		(isTime() ? `, ${amount(wholeOf(number))}` : "") +
		(all ? "" : `, ${share} % of the weight`);
}

/* Moves come faster than sums: one sum a picture. */
export function brush(first, last, now, side = 0) {
	const waits = V.brushing;

	S.spans[side] = [
		Math.max(0, Math.min(first, last)),
		Math.min(M.meta.slices - 1, Math.max(first, last)),
	];
	if (now) {
		V.brushing = false;
		ask.recompute(false);
	} else if (!waits) {
		V.brushing = true;
		requestAnimationFrame(() => {
			ask.recompute(false);
			V.brushing = false;
		});
	}
}
