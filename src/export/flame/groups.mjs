// SPDX-License-Identifier: MIT
// groups.mjs: cells of the graph, whose children are made when they are first wide enough to be
// seen, so that the work goes with what is on the screen and not with what was recorded.
//
// A cell stands for nodes of the tree, and has what each of them weighs for it: its weights (now,
// and of two recordings before) and its samples (hits). A cell of callers (up) has packs of
// segments in place of nodes: callers.mjs.
import { M, S, T } from "./state.mjs";
import { sumOf } from "./sums.mjs";
import { outermost, segmentOf } from "./tree.mjs";
import { allHit, packed, packsOf, stepUp } from "./callers.mjs";

export function group(parent, fn, up) {
	return {
		parent,
		fn,
		up,
		value: 0,
		base: 0,
		hits: 0,
		baseHits: 0,
		kids: null,
		depth: parent ? parent.depth + 1 : 0,
		nodes: null,
		columns: null /* once they are asked for */,
		places: null /* its nodes' places among those that the parent's split found */,
		found: null /* what this cell's split found: nodes and columns */,
		above: null /* of a cell of callers: the packs whose functions its children are */,
		called: null /* the packs that are at the cell's own function */,
		hit: null /* of the root of callers: all that samples hit (callers.mjs) */,
	};
}

export function finish(g, kids) {
	const weight = (k) => Math.max(k.value, k.base);

	kids = kids.filter((k) => weight(k) > 0);
	if (S.byWeight) kids.sort((a, b) => weight(b) - weight(a) || M.rank[a.fn] - M.rank[b.fn]);
	else kids.sort((a, b) => M.rank[a.fn] - M.rank[b.fn]);
	g.kids = kids;
	return kids;
}

/* By function. Between calls counts are 0, and what sums hold is not looked at. */
const SCRATCH = { counts: new Uint32Array(0), sums: [] };

function scratch(columns) {
	const fns = M.fnName.length;

	if (SCRATCH.counts.length < fns) {
		SCRATCH.counts = new Uint32Array(fns);
		SCRATCH.sums = [];
	}
	while (SCRATCH.sums.length < columns) SCRATCH.sums.push(new Float64Array(fns));
	return SCRATCH;
}

/* The sums that nodes weigh by, in the order of a cell's value, base, hits and baseHits. */
function columnsOf(weights, hits) {
	return weights.length > 1 ? [weights[0], weights[1], hits[0], hits[1]] : [weights[0]];
}

function setSums(g, sums) {
	[g.value, g.base = 0, g.hits = 0, g.baseHits = 0] = sums;
	return g;
}

/* What segments have in columns. */
function gather(segments, columns) {
	return columns.map((column) => {
		const own = new Float64Array(segments.length);

		for (let i = 0; i < segments.length; i++) own[i] = column[segments[i]];
		return own;
	});
}

/* A cell of these nodes, which weigh as columns have their segments. */
function cellOfNodes(fn, nodes, columns) {
	const own = gather(nodes.map(segmentOf), columns);

	return setSums(
		Object.assign(group(null, fn, false), { nodes, columns: own }),
		own.map(sumOf),
	);
}

function sumByFunction(sums, kids, fns, n, column) {
	for (const kid of kids) sums[kid.fn] = 0;
	for (let i = 0; i < n; i++) sums[fns[i]] += column[i];
}

/* The first n of nodes, of these functions, as one cell for each function: in the order in which
 * they stood. */
function split(g, nodes, fns, n, columns) {
	const { counts, sums } = scratch(columns.length),
		kids = [],
		order = new Uint32Array(n);
	let at = 0;

	for (let i = 0; i < n; i++) {
		if (!counts[fns[i]]++) kids.push(group(g, fns[i], false));
	}
	columns.forEach((column, c) => sumByFunction(sums[c], kids, fns, n, column));
	for (const kid of kids) {
		const room = counts[kid.fn];

		counts[kid.fn] = at;
		kid.places = order.subarray(at, at + room);
		setSums(
			kid,
			columns.map((_, c) => sums[c][kid.fn]),
		);
		at += room;
	}
	for (let i = 0; i < n; i++) order[counts[fns[i]]++] = i;
	for (const kid of kids) counts[kid.fn] = 0;
	g.found = { nodes, columns };
	return finish(g, kids);
}

/* A cell's nodes, of what its parent's split found. */
function ownNodes(g) {
	const { places } = g,
		{ nodes, columns } = g.parent.found,
		n = places.length;

	g.nodes = new Uint32Array(n);
	for (let i = 0; i < n; i++) g.nodes[i] = nodes[places[i]];
	g.columns = columns.map((column) => {
		const own = new Float64Array(n);

		for (let i = 0; i < n; i++) own[i] = column[places[i]];
		return own;
	});
}

/* The nodes that a cell stands for, which is none of callers. */
export function nodesOf(g) {
	if (!g.nodes) ownNodes(g);
	return g.nodes;
}

/* Puts what is below nodes that weigh something: the nodes, their segments, their functions.
 * Returns how many. */
function findCalled(nodes, called, segments, fns) {
	const { segStart, segBase, segEnd, chained } = M,
		[now, before] = T.total;
	let n = 0;
	const put = (s, node) => {
		if (!now[s] && !(before && before[s])) return;
		called[n] = node;
		segments[n] = s;
		fns[n++] = chained[segBase[s] + node];
	};

	for (let i = 0; i < nodes.length; i++) {
		const s = segmentOf(nodes[i]);

		if (nodes[i] + 1 < segStart[s + 1]) put(s, nodes[i] + 1);
		else
			for (let kid = s + 1; kid < segEnd[s]; kid = segEnd[kid])
				put(kid, segStart[kid]);
	}
	return n;
}

/* How many nodes are below these, directly. */
function countCalled(nodes) {
	const { segStart, segEnd } = M;
	let n = 0;

	for (let i = 0; i < nodes.length; i++) {
		const s = segmentOf(nodes[i]);

		if (nodes[i] + 1 < segStart[s + 1]) n++;
		else for (let kid = s + 1; kid < segEnd[s]; kid = segEnd[kid]) n++;
	}
	return n;
}

/* What g's functions called. */
export function down(g) {
	const nodes = nodesOf(g),
		room = countCalled(nodes);
	const called = new Uint32Array(room),
		segments = new Uint32Array(room),
		fns = new Uint32Array(room),
		n = findCalled(nodes, called, segments, fns);

	return split(
		g,
		called.subarray(0, n),
		fns,
		n,
		gather(segments.subarray(0, n), columnsOf(T.total, T.hits)),
	);
}

/* What samples hit, by function. */
function hitFunctions(g) {
	const kids = [];

	for (const [fn, chains] of g.hit.chains) {
		const kid = group(g, fn, true);

		kids.push(kid);
		setSums(
			kid,
			g.hit.sums.map((of) => chains.reduce((sum, chain) => sum + of[chain], 0)),
		);
	}
	return finish(g, kids);
}

/* Who called g's function. The outermost were called by nobody. */
export function upwards(g) {
	const kids = new Map();

	if (g.hit) return hitFunctions(g);
	if (!g.called) g.called = packsOf(g.parent.hit, g.parent.hit.chains.get(g.fn));
	g.above ||= stepUp(g.called);
	const { packs, at } = g.above;
	for (let i = 0; i < packs.length; i++) {
		const fn = M.chained[at[i]],
			{ sums } = packs[i];
		let kid = kids.get(fn);

		if (!kid) {
			kid = group(g, fn, true);
			kid.called = { packs: [], at: [] };
			kids.set(fn, kid);
		}
		kid.called.packs.push(packs[i]);
		kid.called.at.push(at[i]);
		kid.value += sums[0];
		if (sums.length === 1) continue;
		kid.base += sums[1];
		kid.hits += sums[2];
		kid.baseHits += sums[3];
	}
	return finish(g, [...kids.values()]);
}

export const kidsOf = (g) => g.kids || (g.up ? upwards(g) : down(g));

/* All that samples hit themselves, and its callers. */
function callersOfAll() {
	const columns = columnsOf(T.self, T.ownHits);

	return setSums(
		Object.assign(group(null, 0, true), { hit: allHit(columns) }),
		columns.map(sumOf),
	);
}

/* The callers of a function at these nodes, which are at one place of each chain. What is below a
 * node weighs as the node's segment. */
function callersOf(fn, nodes) {
	const places = new Map(),
		segments = nodes.map((node) => {
			const s = segmentOf(node);

			places.set(M.segChain[s], M.segBase[s] + node);
			return s;
		});
	const own = gather(segments, columnsOf(T.total, T.hits));

	return setSums(
		Object.assign(group(null, fn, true), {
			called: packed(segments, own, (chain) => places.get(chain)),
		}),
		own.map(sumOf),
	);
}

export function build() {
	S.above = null;
	if (S.focus >= 0) {
		const nodes = outermost(S.focus);

		S.root = cellOfNodes(S.focus, nodes, columnsOf(T.total, T.hits));
		S.above = callersOf(S.focus, nodes);
	} else if (S.callers) {
		S.root = callersOfAll();
	} else {
		S.root = cellOfNodes(0, Uint32Array.of(0), columnsOf(T.total, T.hits));
	}
}
