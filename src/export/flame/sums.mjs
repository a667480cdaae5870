// SPDX-License-Identifier: MIT
// sums.mjs: sums over what was chosen. Knows nothing of the screen.
import { M, S, T, always } from "./state.mjs";
import { treesMade, useTree } from "./processes.mjs";

const KEPT = new Map();

/* Spans of both sides that are all of their time. */
export const wholeSpans = () => [0, 1].map(() => [0, M.meta.slices - 1]);
export const isAllTime = (side) =>
	S.spans[side][0] === 0 && S.spans[side][1] === M.meta.slices - 1;
/* Whether a span is chosen, on any side. */
export const anySpan = () => M.meta.sides.some((_, side) => !isAllTime(side));

/* By what rows can be of (event, state, side) whether it is an event on a side. */
const ofSide = (side, wanted = S.event) =>
	Uint8Array.from(M.whatEvent, (event, i) => event === wanted && M.whatSide[i] === side);

/* What is chosen of a side, as a text that is another for another choice. */
export const choiceKey = (side, ofAllTime) =>
	[
		S.event,
		ofAllTime ? "" : S.spans[side].join("-"),
		S.threads.join(""),
		S.states.join(""),
	].join();

/* Whether no thread and no state is left out. */
export const allThreads = () => !S.threads.includes(0) && !S.states.includes(0);

/* By row whether it is chosen, of a side: 1 or 0. It is found once for each choice, as every pane
 * asks for it; a byte for each row is less to touch than the numbers of all that are chosen. */
export function chosenRows(side, ofAllTime) {
	const n = M.rowThread.length,
		whole = ofAllTime || isAllTime(side),
		name = `${side}${whole ? " whole" : ""}`,
		key = choiceKey(side, whole);
	const kept = KEPT.get(name);

	if (kept && kept.key === key && kept.of === M.rowThread) return kept.rows;
	const rows = kept && kept.of === M.rowThread ? kept.rows : new Uint8Array(n);
	const { rowWhat, rowThread, rowSlice } = M,
		{ threads, states } = S,
		[first, last] = whole ? [0, M.meta.slices - 1] : S.spans[side],
		wanted = ofSide(side).map((is, what) => is && states[M.whatState[what]]),
		inSpan = new Uint8Array(M.meta.slices).fill(1, first, last + 1);
	for (let i = 0; i < n; i++)
		rows[i] = wanted[rowWhat[i]] & threads[rowThread[i]] & inSpan[rowSlice[i]];
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

/* Zeros, one for each segment, in the memory of what had this name before in a room. */
function zeros(name, room) {
	const n = M.segParent.length,
		old = room.get(name);

	if (old && old.length === n) return old.fill(0);
	room.set(name, new Float64Array(n));
	return room.get(name);
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
		const { rowStep } = M,
			segments = new Uint32Array(rowStep.length);

		for (let i = 0, s = 0; i < segments.length; i++) segments[i] = s += rowStep[i];
		return segments;
	});

/* Sums of rows in a room: what T has. choice: what was made of them (once). */
const emptySums = (key, room) => ({
	of: M.rowThread,
	key,
	room,
	total: [],
	samples: [],
	hits: [],
	choice: {},
});

/* Sums of what is chosen, in place of those before. */
function chosenSums(key) {
	const { rowWeight, rowSamples, unit } = M,
		made = emptySums(key, ROOM);

	for (let side = 0; side < M.meta.sides.length; side++) {
		const rows = chosenRows(side, false);
		const below = (name, of, unit) =>
			addUpwards(ownSums(rows, of, unit, zeros(`${name} ${side}`, ROOM)));
		let samples = 0;

		for (let i = 0; i < rows.length; i++) samples += rows[i] * rowSamples[i];
		made.samples.push(samples);
		made.total.push(below("total", rowWeight, unit));
		if (twoSides()) made.hits.push(below("hits", rowSamples, 1));
	}
	return made;
}

/* How many rows or segments there are between two places to pause at. */
const STEP = 65536;

/* Adds rows begin to end of a tree, those of wanted whats; segment: the one of the row before
 * them. Returns the one of the last. */
function addRows({ rowStep, rowWhat, rowWeight, rowSamples }, wanted, begin, end, of) {
	const { total, hits } = of;
	let { segment, samples } = of;

	for (let i = begin; i < end; i++) {
		segment += rowStep[i];
		if (!wanted[rowWhat[i]]) continue;
		total[segment] += rowWeight[i] * M.unit;
		samples += rowSamples[i];
		if (hits) hits[segment] += rowSamples[i];
	}
	Object.assign(of, { segment, samples });
}

/* Adds to segments' parents what segments from begin down to end have. */
function addAbove({ segParent }, values, begin, end) {
	for (let s = begin; s > end; s--) if (values[s]) values[segParent[s]] += values[s];
}

/* Sums of all that an event has, in a tree that need not be the one that is shown. In steps. */
function* allSums(tree, event) {
	const made = { ...emptySums(`all of ${event}`, new Map()), of: tree.rowThread },
		n = tree.segParent.length,
		rows = tree.rowThread.length;

	for (let side = 0; side < M.meta.sides.length; side++) {
		const wanted = ofSide(side, event),
			of = {
				total: new Float64Array(n),
				hits: twoSides() ? new Float64Array(n) : null,
				segment: 0,
				samples: 0,
			};

		for (let i = 0; i < rows; i += STEP) {
			addRows(tree, wanted, i, Math.min(rows, i + STEP), of);
			yield;
		}
		for (const values of [of.total, of.hits])
			for (let s = n - 1; values && s > 0; s -= STEP) {
				addAbove(tree, values, s, Math.max(0, s - STEP));
				yield;
			}
		made.samples.push(of.samples);
		made.total.push(of.total);
		if (of.hits) made.hits.push(of.hits);
	}
	return made;
}

/* The sums of all that the last event has, by tree (its rowThread): every choice is given up some
 * time. With what was made of them, which is kept as well. */
const ALL = new WeakMap();

/* One step of a tree's sums of all. Whether they are made. */
function stepAll(tree, event) {
	const key = `all of ${event}`;
	let begun = ALL.get(tree.rowThread);

	if (!begun || begun.key !== key) {
		begun = { key, steps: allSums(tree, event), made: null };
		ALL.set(tree.rowThread, begun);
	}
	if (begun.made) return true;
	const { done, value } = begun.steps.next();
	if (done) begun.made = value;
	return done;
}

/* Makes what is summed when nothing is left out, as long as hasTime() says so, for trees that are
 * made. Whether all is. */
export function prepareSums(hasTime) {
	for (const tree of treesMade())
		while (!stepAll(tree, S.event)) if (!hasTime()) return false;
	return true;
}

/* Weights by segment, of each of its nodes (total); of two recordings samples as well (hits), from
 * which it is known how sure a difference is. Of the same choice they stay. */
export function sums() {
	useTree();
	if (allThreads() && !anySpan()) {
		while (!stepAll(M, S.event));
		Object.assign(T, ALL.get(M.rowThread).made);
		return;
	}
	const key = M.meta.sides.map((_, side) => choiceKey(side, false)).join();
	if (T.of !== M.rowThread || T.key !== key) Object.assign(T, chosenSums(key));
}

/* What is made of these sums at most once: it is forgotten when others are made. */
export function once(name, make) {
	if (!(name in T.choice)) T.choice[name] = make();
	return T.choice[name];
}

/* Of a side, by segment, what its last node has itself: weights, and of two recordings samples. */
const own = (name, side, of, unit) =>
	once(`${name} ${side}`, () =>
		ownSums(chosenRows(side, false), of, unit, zeros(`${name} ${side}`, T.room)),
	);
export const selfSums = (side) => own("self", side, M.rowWeight, M.unit);
export const selfHits = (side) => own("own hits", side, M.rowSamples, 1);

export const twoSides = () => M.meta.sides.length > 1;
export const shown = (g) => (S.before && twoSides() ? g.base : g.value);
/* What a share is a share of, on either side. */
export const wholeOf = (side) => (T.total[side] ? T.total[side][0] : 0);
