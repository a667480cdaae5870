// SPDX-License-Identifier: MIT
// sums.mjs: sums over what was chosen. Knows nothing of the screen.
import { M, S, T, always } from "./state.mjs";
import { useTree } from "./processes.mjs";

const KEPT = new Map();

/* Spans of both sides that are all of their time. */
export const wholeSpans = () => [0, 1].map(() => [0, M.meta.slices - 1]);
export const isAllTime = (side) =>
	S.spans[side][0] === 0 && S.spans[side][1] === M.meta.slices - 1;
/* Whether a span is chosen, on any side. */
export const anySpan = () => M.meta.sides.some((_, side) => !isAllTime(side));

/* By what rows can be of (event, state, side) whether it is the chosen event on a side. */
const ofSide = (side) =>
	Uint8Array.from(M.whatEvent, (event, i) => event === S.event && M.whatSide[i] === side);

/* By row whether it is chosen, of a side: 1 or 0. It is found once for each choice, as every pane
 * asks for it; a byte for each row is less to touch than the numbers of all that are chosen. */
export function chosenRows(side, ofAllTime) {
	const n = M.rowThread.length,
		whole = ofAllTime || isAllTime(side),
		name = `${side}${whole ? " whole" : ""}`,
		[first, last] = S.spans[side];
	const key = [
		S.event,
		whole ? "" : `${first}-${last}`,
		S.threads.join(""),
		S.states.join(""),
	].join();
	const kept = KEPT.get(name);

	if (kept && kept.key === key && kept.of === M.rowThread) return kept.rows;
	const rows = kept && kept.of === M.rowThread ? kept.rows : new Uint8Array(n);
	const { rowWhat, rowThread, rowSlice } = M,
		{ threads, states } = S,
		wanted = ofSide(side).map((is, what) => is && states[M.whatState[what]]);
	for (let i = 0; i < n; i++) rows[i] = wanted[rowWhat[i]] & threads[rowThread[i]];
	if (!whole)
		for (let i = 0; i < n; i++)
			if (rowSlice[i] < first || rowSlice[i] > last) rows[i] = 0;
	KEPT.set(name, { key, of: M.rowThread, rows });
	return rows;
}

/* All that a side has of the chosen event, whatever else is chosen. */
export function sideWhole(side) {
	const { rowWhat, rowWeight, rowSamples, unit } = M,
		wanted = ofSide(side),
		whole = { weight: 0, samples: 0 };

	for (let i = 0; i < rowWhat.length; i++) {
		if (!wanted[rowWhat[i]]) continue;
		whole.weight += rowWeight[i] * unit;
		whole.samples += rowSamples[i];
	}
	return whole;
}

/* Weight by thread of chosen rows. */
export function threadWeights(rows) {
	const weights = new Float64Array(M.meta.threads.length),
		{ rowThread, rowWeight, unit } = M;

	for (let i = 0; i < rows.length; i++)
		if (rows[i]) weights[rowThread[i]] += rowWeight[i] * unit;
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

/* What of is of a side's chosen rows, in this unit, by segment. */
function ownSums(rows, of, unit, self) {
	const { rowStep } = M;

	for (let i = 0, s = 0; i < rows.length; i++) {
		s += rowStep[i];
		if (rows[i]) self[s] += of[i] * unit;
	}
	return self;
}

/* The segment of each row, for who does not go over all of them. */
export const rowSegments = () =>
	always(`segments ${M.tree}`, () => {
		let s = 0;

		return Uint32Array.from(M.rowStep).map((step) => (s += step));
	});

/* Weights by segment, of each of its nodes (total); of two recordings samples as well (hits), from
 * which it is known how sure a difference is. */
export function sums() {
	useTree();
	const { rowWeight, rowSamples, unit } = M;

	Object.assign(T, { total: [], samples: [], hits: [], choice: {} });
	for (let side = 0; side < M.meta.sides.length; side++) {
		const rows = chosenRows(side, false);
		const below = (name, of, unit) =>
			addUpwards(ownSums(rows, of, unit, zeros(`${name} ${side}`)));
		let samples = 0;

		for (let i = 0; i < rows.length; i++) samples += rows[i] * rowSamples[i];
		T.samples.push(samples);
		T.total.push(below("total", rowWeight, unit));
		if (twoSides()) T.hits.push(below("hits", rowSamples, 1));
	}
}

/* What is made of these sums at most once: it is forgotten when others are made. */
export function once(name, make) {
	if (!(name in T.choice)) T.choice[name] = make();
	return T.choice[name];
}

/* Of a side, by segment, what its last node has itself: weights, and of two recordings samples. */
const own = (name, side, of, unit) =>
	once(`${name} ${side}`, () =>
		ownSums(chosenRows(side, false), of, unit, zeros(`${name} ${side}`)),
	);
export const selfSums = (side) => own("self", side, M.rowWeight, M.unit);
export const selfHits = (side) => own("own hits", side, M.rowSamples, 1);

export const twoSides = () => M.meta.sides.length > 1;
export const shown = (g) => (S.before && twoSides() ? g.base : g.value);
/* What a share is a share of, on either side. */
export const wholeOf = (side) => (T.total[side] ? T.total[side][0] : 0);
