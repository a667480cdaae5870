// SPDX-License-Identifier: MIT
// strip.mjs: the strip of time above the graph.
import { $, M, S, T, V, ask } from "./state.mjs";
import { chosenRows, threadWeights, twoSides, wholeOf } from "./sums.mjs";
import { amount, isTime, threadName } from "./names.mjs";
import { fitted, isDark, sized } from "./element.mjs";
import { ramp, rampImage } from "./ramps.mjs";

export const STRIP_ROW = 9,
	STRIP_ROWS = 12,
	LABEL = 130,
	BINS = 1024;

/* Whatever the time: the strip shows what could be chosen. */
export function strip() {
	const chosen = chosenRows(0, true),
		weights = threadWeights(chosen),
		n = BINS;
	const { rowThread, rowSlice, rowWeight } = M,
		slices = M.meta.slices;
	const threads = [...weights.keys()]
		.filter((t) => weights[t])
		.sort((a, b) => weights[b] - weights[a]);
	const rows = Math.max(1, Math.min(threads.length, STRIP_ROWS));
	const rowOf = new Uint32Array(weights.length),
		heat = new Float64Array(rows * n);

	threads.forEach((t, i) => {
		rowOf[t] = Math.min(i, rows - 1);
	});
	for (let at = 0; at < chosen.length; at++) {
		const i = chosen[at];

		heat[rowOf[rowThread[i]] * n + Math.floor((rowSlice[i] * n) / slices)] +=
			rowWeight[i];
	}
	V.strip = { rows, threads, more: threads.length - rows, image: null, heat };
	V.strip.whole = heat.reduce((a, b) => a + b, 0);
	$("time").hidden = !(M.meta.sides[0].seconds > 0);
}

export function heatImage() {
	const { rows, heat } = V.strip,
		most = heat.reduce((a, b) => Math.max(a, b), 0) || 1;

	return rampImage(
		Array.from({ length: rows }, (_, y) => heat.subarray(y * BINS, (y + 1) * BINS)),
		BINS,
		most,
		[ramp(204, isDark())],
	);
}

/* The strip has no scroll bar beside it, as the graph has: it is wider than V.width. */
const stripWidth = () => $("strip").clientWidth || V.width;
const sliceX = (slice, width) => LABEL + ((width - LABEL) * slice) / M.meta.slices;
export const xSlice = (x) =>
	Math.max(
		0,
		Math.min(
			M.meta.slices - 1,
			Math.floor(((x - LABEL) / (stripWidth() - LABEL)) * M.meta.slices),
		),
	);
export function drawStrip() {
	const { rows, threads, more } = V.strip,
		height = rows * STRIP_ROW + 2,
		width = stripWidth(),
		ctx = sized($("strip"), width, height);
	const css = getComputedStyle(document.documentElement),
		all = S.first === 0 && S.last === M.meta.slices - 1,
		from = sliceX(S.first, width),
		to = sliceX(S.last + 1, width);

	ctx.clearRect(0, 0, width, height);
	ctx.imageSmoothingEnabled = false;
	ctx.drawImage(
		V.strip.image || (V.strip.image = heatImage()),
		LABEL,
		0,
		width - LABEL,
		rows * STRIP_ROW,
	);
	ctx.font = "9px system-ui, sans-serif";
	ctx.textBaseline = "middle";
	ctx.fillStyle = css.getPropertyValue("--faint");
	for (let i = 0; i < rows; i++) {
		const text =
			i === rows - 1 && more > 0
				? `${more + 1} more threads`
				: threads[i] === undefined
					? ""
					: threadName(threads[i]);

		ctx.fillText(
			fitted(ctx, text, LABEL - 14),
			10,
			i * STRIP_ROW + STRIP_ROW / 2 + 0.5,
		);
	}
	if (!all) {
		ctx.fillStyle = css.getPropertyValue("--back");
		ctx.globalAlpha = 0.65;
		ctx.fillRect(LABEL, 0, from - LABEL, height);
		ctx.fillRect(to, 0, width - to, height);
		ctx.globalAlpha = 1;
		ctx.strokeStyle = css.getPropertyValue("--accent");
		ctx.strokeRect(from + 0.5, 0.5, Math.max(1, to - from - 1), height - 1);
	}
	describeSpan(all);
}

export function describeSpan(all) {
	const side = M.meta.sides[0],
		at = (slice) =>
			((side.seconds * slice) / M.meta.slices).toFixed(side.seconds < 10 ? 3 : 1);
	const share = V.strip.whole ? ((100 * wholeOf(0)) / V.strip.whole).toFixed(1) : "0";

	if (!side.seconds) return;
	$("span").textContent =
		(all
			? `${at(M.meta.slices)} s`
			: `${at(S.first)} to ${at(S.last + 1)} of ${at(M.meta.slices)} s`) +
		`: ${T.samples[0].toLocaleString("en")} samples` +
		(isTime() ? `, ${amount(wholeOf(0))}` : "") +
		(all ? "" : `, ${share} % of the weight`) +
		(twoSides()
			? `; compared with ${T.samples[1].toLocaleString("en")} samples of ` +
				`${M.meta.sides[1].name}`
			: "");
}

/* Moves come faster than sums: one sum a picture. */
export function brush(first, last, now) {
	const waits = V.brushing;

	S.first = Math.max(0, Math.min(first, last));
	S.last = Math.min(M.meta.slices - 1, Math.max(first, last));
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
