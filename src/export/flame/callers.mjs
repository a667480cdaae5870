// SPDX-License-Identifier: MIT
// callers.mjs: cells of the graph that grows from functions to their callers. Knows nothing of the
// screen.
//
// Segments that share a chain go the same way as long as they are in it. So such a cell has
// packs of them: segments with the same chain, with what the samples weigh that were called from
// there, and at which place of the chain each pack is (at). A step towards the root moves a pack's
// place; only where a chain begins are its segments looked at, and packed anew by the chains
// of those that they hang below.
import { M } from "./state.mjs";

/* By place among the chains' functions: counts, then packs; zeros between calls. */
function packScratch() {
	M.packs ||= new Uint32Array(M.chained.length);
	return M.packs;
}

/* What packs' segments and their weights are in, one pack behind the other. */
function packRoom(n, columns) {
	return {
		segments: new Uint32Array(n),
		columns: Array.from({ length: columns }, () => new Float64Array(n)),
	};
}

function sumBetween(values, begin, end) {
	let all = 0;

	for (let i = begin; i < end; i++) all += values[i];
	return all;
}

/* Segments, each at its place among the chains' functions, as packs of those with one place. The
 * root is in none of them. */
export function packed(segments, places, columns) {
	const numbers = packScratch(),
		store = packRoom(segments.length, columns.length),
		packs = [],
		at = [];
	let n = 0;

	for (let i = 0; i < segments.length; i++)
		if (segments[i] && !numbers[places[i]]++) {
			const start = M.chainStart[M.segChain[segments[i]]];

			packs.push({ store, begin: 0, end: 0, start, sums: null });
			at.push(places[i]);
		}
	packs.forEach((pack, k) => {
		pack.begin = pack.end = n;
		n += numbers[at[k]];
		numbers[at[k]] = k;
	});
	for (let i = 0; i < segments.length; i++) {
		if (!segments[i]) continue;
		const to = packs[numbers[places[i]]].end++;

		store.segments[to] = segments[i];
		for (let c = 0; c < columns.length; c++) store.columns[c][to] = columns[c][i];
	}
	packs.forEach((pack, k) => {
		pack.sums = store.columns.map((column) => sumBetween(column, pack.begin, pack.end));
		numbers[at[k]] = 0;
	});
	return { packs, at };
}

/* The segments that these packs' hang below, packed. */
function packedAbove(packs) {
	const { segParent, segStart, segBase } = M,
		count = packs.reduce((all, pack) => all + pack.end - pack.begin, 0);
	const { segments, columns } = packRoom(count, packs[0].store.columns.length),
		places = new Uint32Array(count);
	let n = 0;

	for (const { store, begin, end } of packs)
		for (let i = begin; i < end; i++, n++) {
			const s = segParent[store.segments[i]];

			segments[n] = s;
			places[n] = segBase[s] + segStart[s + 1] - 1;
			for (let c = 0; c < columns.length; c++)
				columns[c][n] = store.columns[c][i];
		}
	return packed(segments, places, columns);
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
