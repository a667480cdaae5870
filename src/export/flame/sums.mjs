// SPDX-License-Identifier: MIT
// sums.mjs: sums over what was chosen. Knows nothing of the screen.
import { M, S, T } from "./state.mjs";
import { useTree } from "./processes.mjs";

const KEPT = new Map();

/* Spans of both sides that are all of their time. */
export const wholeSpans = () => [0, 1].map(() => [0, M.meta.slices - 1]);
export const isAllTime = (side) =>
	S.spans[side][0] === 0 && S.spans[side][1] === M.meta.slices - 1;
/* Whether a span is chosen, on any side. */
export const anySpan = () => M.meta.sides.some((_, side) => !isAllTime(side));

/* The chosen rows of a side, in their order: found once for each choice, as every pane asks for
 * them. */
export function chosenRows(side, ofAllTime) {
	const n = M.rowSegment.length,
		whole = ofAllTime || isAllTime(side),
		name = `${side}${whole ? " whole" : ""}`,
		[first, last] = S.spans[side];
	const key = [
		S.event,
		whole ? "" : `${first}-${last}`,
		S.threads.join(""),
		S.states.join(""),
	].join();
	let kept = KEPT.get(name);

	if (kept && kept.key === key && kept.of === M.rowThread) return kept.rows;
	const rows = kept && kept.of === M.rowThread ? kept.room : new Uint32Array(n);
	const { rowWhat, rowThread, rowSlice } = M,
		{ event, threads, states } = S;
	let count = 0;
	for (let i = 0; i < n; i++) {
		const what = rowWhat[i];

		if (
			(what & 0xffff) === event &&
			what >>> 24 === side &&
			states[(what >>> 16) & 0xff] &&
			threads[rowThread[i]] &&
			(whole || (rowSlice[i] >= first && rowSlice[i] <= last))
		)
			rows[count++] = i;
	}
	kept = { key, of: M.rowThread, room: rows, rows: rows.subarray(0, count) };
	KEPT.set(name, kept);
	return kept.rows;
}

/* All that a side has of the chosen event, whatever else is chosen. */
export function sideWhole(side) {
	const { rowWhat, rowWeight, rowSamples } = M,
		whole = { weight: 0, samples: 0 };

	for (let i = 0; i < rowWhat.length; i++) {
		if ((rowWhat[i] & 0xffff) !== S.event || rowWhat[i] >>> 24 !== side) continue;
		whole.weight += rowWeight[i];
		whole.samples += rowSamples[i];
	}
	return whole;
}

/* Weight by thread of chosen rows. */
export function threadWeights(rows) {
	const weights = new Float64Array(M.meta.threads.length),
		{ rowThread, rowWeight } = M;

	for (let i = 0; i < rows.length; i++) weights[rowThread[rows[i]]] += rowWeight[rows[i]];
	return weights;
}

/* The same of a side's chosen rows. */
export const chosenWeights = (side) =>
	once(`threads ${side}`, () => threadWeights(chosenRows(side, false)));

export function sumOf(values) {
	let sum = 0;

	for (let i = 0; i < values.length; i++) sum += values[i];
	return sum;
}

const ROOM = new Map();

/* Zeros, one for each segment, in the memory of what had this name before. */
function zeros(name) {
	const n = M.segParent.length,
		old = ROOM.get(name);

	if (old && old.length === n) return old.fill(0);
	ROOM.set(name, new Float64Array(n));
	return ROOM.get(name);
}

/* Adds to each segment what is below it: a segment's parent is less than the segment. */
function addUpwards(values) {
	const { segParent } = M;

	for (let s = values.length - 1; s > 0; s--)
		if (values[s]) values[segParent[s]] += values[s];
	return values;
}

/* What of is of a side's chosen rows, by segment. */
function ownSums(rows, of, self) {
	const { rowSegment } = M;

	for (let at = 0; at < rows.length; at++) self[rowSegment[rows[at]]] += of[rows[at]];
	return self;
}

/* Weights by segment, of each of its nodes (total); of two recordings samples as well (hits), from
 * which it is known how sure a difference is. */
export function sums() {
	useTree();
	const { rowWeight, rowSamples } = M;

	Object.assign(T, { total: [], samples: [], hits: [], choice: {} });
	for (let side = 0; side < M.meta.sides.length; side++) {
		const rows = chosenRows(side, false);
		const below = (name, of) => addUpwards(ownSums(rows, of, zeros(`${name} ${side}`)));
		let samples = 0;

		for (let at = 0; at < rows.length; at++) samples += rowSamples[rows[at]];
		T.samples.push(samples);
		T.total.push(below("total", rowWeight));
		if (twoSides()) T.hits.push(below("hits", rowSamples));
	}
}

/* What is made of these sums at most once: it is forgotten when others are made. */
export function once(name, make) {
	if (!(name in T.choice)) T.choice[name] = make();
	return T.choice[name];
}

/* Of a side, by segment, what its last node has itself: weights, and of two recordings samples. */
const own = (name, side, of) =>
	once(`${name} ${side}`, () =>
		ownSums(chosenRows(side, false), of, zeros(`${name} ${side}`)),
	);
export const selfSums = (side) => own("self", side, M.rowWeight);
export const selfHits = (side) => own("own hits", side, M.rowSamples);

export const twoSides = () => M.meta.sides.length > 1;
export const shown = (g) => (S.before && twoSides() ? g.base : g.value);
/* What a share is a share of, on either side. */
export const wholeOf = (side) => (T.total[side] ? T.total[side][0] : 0);
