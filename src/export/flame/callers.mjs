// SPDX-License-Identifier: MIT
// callers.mjs: cells of the graph that grows from functions to their callers. Knows nothing of the
// screen.
//
// Segments that share a chain go the same way as long as they are in it. So such a cell has
// packs of them: segments with the same chain, with what the samples weigh that were called from
// there, and at which place of the chain each pack is (at). A step towards the root moves a pack's
// place; only where a chain begins are its segments looked at, and packed anew by the chains
// of those that they hang below. Those are all different: what is below one segment begins with
// different functions, and a cell has one.
import { M } from "./state.mjs";

/* By chain: numbers of packs plus one; zeros between calls. */
function packScratch() {
	M.packNumbers ||= new Uint32Array(M.chainLength.length);
	return M.packNumbers;
}

/* What packs' segments and their weights are in, one pack behind the other. bySegment: columns
 * have the weights of all segments, in their own order. */
function packRoom(n, columns) {
	return {
		segments: new Uint32Array(n),
		columns: Array.from({ length: columns }, () => new Float64Array(n)),
		bySegment: false,
	};
}

/* What a pack weighs, by column. */
function packSums({ columns }, begin, end) {
	return columns.map((column) => {
		let sum = 0;

		for (let i = begin; i < end; i++) sum += column[i];
		return sum;
	});
}

/* Where a chain ends among the chains' functions. */
const endOf = (chain) => M.chainStart[chain + 1] - 1;

/* Segments, of which none is the root, as packs of those with one chain. placeOf: by chain, where
 * its pack is. */
export function packed(segments, columns, placeOf = endOf) {
	const numbers = packScratch(),
		store = packRoom(segments.length, columns.length),
		of = new Uint32Array(segments.length) /* the pack of each */,
		{ segChain } = M,
		chains = [],
		ends = [];

	for (let i = 0; i < segments.length; i++) {
		const chain = segChain[segments[i]];

		if (!numbers[chain]) {
			numbers[chain] = chains.push(chain);
			ends.push(0);
		}
		of[i] = numbers[chain] - 1;
		ends[of[i]]++;
	}
	for (let k = 0, n = 0; k < ends.length; k++) {
		n += ends[k];
		ends[k] = n - ends[k];
	}
	for (let i = 0; i < segments.length; i++) {
		const to = ends[of[i]]++;

		store.segments[to] = segments[i];
		for (let c = 0; c < columns.length; c++) store.columns[c][to] = columns[c][i];
	}
	const packs = chains.map((chain, k) => {
		const begin = k ? ends[k - 1] : 0,
			end = ends[k];

		numbers[chain] = 0;
		return {
			store,
			begin,
			end,
			start: M.chainStart[chain],
			sums: packSums(store, begin, end),
		};
	});
	return { packs, at: chains.map(placeOf) };
}

/* Puts the segments that a pack's hang below, from n on, with their weights; the root is left out,
 * and what weighs nothing. Returns how many there are. */
function putAbove({ store, begin, end }, segments, columns, n) {
	const { segParent } = M,
		{ bySegment } = store,
		of = store.columns;

	for (let i = begin; i < end; i++) {
		const below = store.segments[i],
			from = bySegment ? below : i;
		const s = segParent[below];
		let some = 0;

		for (let c = 0; c < of.length; c++) some += columns[c][n] = of[c][from];
		if (!s || !some) continue;
		segments[n++] = s;
	}
	return n;
}

/* The segments that these packs' hang below, packed. */
function packedAbove(packs) {
	const count = packs.reduce((all, pack) => all + pack.end - pack.begin, 0),
		{ segments, columns } = packRoom(count, packs[0].store.columns.length);
	let n = 0;

	for (const pack of packs) n = putAbove(pack, segments, columns, n);
	return packed(segments.subarray(0, n), columns);
}

/* Packs one step nearer to the root. */
export function stepUp({ packs, at }) {
	const first = [],
		inside = { packs: [], at: [] };

	for (let i = 0; i < packs.length; i++) {
		if (at[i] === packs[i].start) {
			first.push(packs[i]);
			continue;
		}
		inside.packs.push(packs[i]);
		inside.at.push(at[i] - 1);
	}
	if (!first.length) return inside;
	const above = packedAbove(first);
	for (let i = 0; i < above.packs.length; i++) {
		inside.packs.push(above.packs[i]);
		inside.at.push(above.at[i]);
	}
	return inside;
}

/* All segments but the root by chain: found once for each block. */
function segmentsByChain() {
	if (M.byChain) return M.byChain;
	const { segChain } = M,
		starts = new Uint32Array(M.chainLength.length + 1),
		segments = new Uint32Array(segChain.length - 1);

	for (let s = 1; s < segChain.length; s++) starts[segChain[s] + 1]++;
	for (let c = 1; c < starts.length; c++) starts[c] += starts[c - 1];
	const next = starts.slice();
	for (let s = 1; s < segChain.length; s++) segments[next[segChain[s]]++] = s;
	return (M.byChain = { segments, starts });
}

/* All segments, which weigh as columns say, by the function at the end of their chains: chains
 * (function -> those with it), sums (by column and chain). Packs of them are made when they are
 * asked for (packsOf). */
export function allHit(columns) {
	const { segChain, chained } = M,
		chains = new Map();
	const sums = columns.map((column) => {
		const of = new Float64Array(M.chainLength.length);

		for (let s = 1; s < column.length; s++)
			if (column[s]) of[segChain[s]] += column[s];
		return of;
	});

	for (let chain = 0; chain < M.chainLength.length; chain++) {
		if (!sums.some((of) => of[chain])) continue;
		const fn = chained[endOf(chain)],
			known = chains.get(fn);

		if (known) known.push(chain);
		else chains.set(fn, [chain]);
	}
	return { columns, chains, sums };
}

/* Those of these chains as packs. */
export function packsOf({ columns, sums }, chains) {
	const { segments, starts } = segmentsByChain(),
		store = { segments, columns, bySegment: true };

	return {
		packs: chains.map((chain) => ({
			store,
			begin: starts[chain],
			end: starts[chain + 1],
			start: M.chainStart[chain],
			sums: sums.map((of) => of[chain]),
		})),
		at: chains.map(endOf),
	};
}
