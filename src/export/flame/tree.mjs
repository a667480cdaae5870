// SPDX-License-Identifier: MIT
// tree.mjs: the tree of stacks. It is kept as flame_chains.c writes it: a segment is a run of nodes
// each of which is all that is below the one before it, and has a chain of functions that it
// shares with others. Segments and nodes are numbered so that each stands before what is below it;
// a segment's nodes have numbers one after the other. Knows nothing of the screen.
import { M } from "./state.mjs";

/* How many nodes there are for each entry of M.near, as a power of two. */
const NEAR = 4;

/* From chains, and segments' parents and chains: where chains and segments begin, what is below
 * each segment. */
export function indexTree(m) {
	const { chainLength, segParent, segChain } = m,
		n = segParent.length;

	m.chainStart = new Uint32Array(chainLength.length + 1);
	for (let i = 0; i < chainLength.length; i++)
		m.chainStart[i + 1] = m.chainStart[i] + chainLength[i];
	m.segStart = new Uint32Array(n + 1);
	m.segEnd = new Uint32Array(n); /* the first segment that is not below it */
	for (let s = 0; s < n; s++) m.segStart[s + 1] = m.segStart[s] + chainLength[segChain[s]];
	for (let s = n - 1; s > 0; s--) {
		m.segEnd[s] ||= s + 1;
		if (m.segEnd[segParent[s]] < m.segEnd[s]) m.segEnd[segParent[s]] = m.segEnd[s];
	}
	m.segEnd[0] = n;
	m.near = new Uint32Array((m.segStart[n] >> NEAR) + 1);
	for (let s = 0, at = 0; at < m.near.length; at++) {
		while (m.segStart[s + 1] <= at << NEAR) s++;
		m.near[at] = s;
	}
}

/* The segment of a node. */
export function segmentOf(node) {
	const { segStart } = M;
	let s = M.near[node >> NEAR];

	while (segStart[s + 1] <= node) s++;
	return s;
}

/* What a segment's nodes' numbers and their places in chained differ by. */
export const baseOf = (s) => M.chainStart[M.segChain[s]] - M.segStart[s];

export const fnOf = (node) => M.chained[baseOf(segmentOf(node)) + node];
/* The node that samples of a segment hit. */
export const lastNode = (s) => M.segStart[s + 1] - 1;
export const lastFn = (s) => M.chained[M.chainStart[M.segChain[s] + 1] - 1];

/* The node above one that is not the root. */
export function parentOf(node) {
	const s = segmentOf(node);

	return node > M.segStart[s] ? node - 1 : lastNode(M.segParent[s]);
}

/* By chain where it has a function first, -1: nowhere. */
export function firstPlaces(wanted) {
	const { chainStart, chained } = M,
		n = chainStart.length - 1,
		places = new Int32Array(n).fill(-1);

	let at = chained.indexOf(wanted);
	for (let c = 0; at >= 0; at = chained.indexOf(wanted, chainStart[c + 1])) {
		while (chainStart[c + 1] <= at) c++;
		places[c] = at - chainStart[c];
	}
	return places;
}

/* The outermost nodes of a function: each sample that has it counts once. */
export function outermost(wanted) {
	const { segChain, segStart, segEnd } = M,
		places = firstPlaces(wanted),
		nodes = [];

	for (let s = 1; s < segChain.length; s++) {
		const place = places[segChain[s]];

		if (place < 0) continue;
		nodes.push(segStart[s] + place);
		s = segEnd[s] - 1;
	}
	return Uint32Array.from(nodes);
}

/* 1 for segments that have a function of those, or are below one that has. */
export function withAny(matched) {
	const { chainStart, chained, segChain, segParent } = M,
		chains = new Uint8Array(chainStart.length - 1),
		found = new Uint8Array(segChain.length);

	for (let c = 0; c < chains.length; c++)
		for (let at = chainStart[c]; at < chainStart[c + 1]; at++)
			if (matched[chained[at]]) {
				chains[c] = 1;
				break;
			}
	for (let s = 1; s < found.length; s++) found[s] = found[segParent[s]] | chains[segChain[s]];
	return found;
}
