// SPDX-License-Identifier: MIT
// groups.mjs: cells of the graph, whose children are made when they are first wide enough to be
// seen, so that the work goes with what is on the screen and not with what was recorded.
//
// A cell stands for nodes of the tree, and has what each of them weighs for it: its weights (now,
// and of two recordings before) and its samples (hits). Of a cell of callers (up) a node weighs
// what the samples have that were called from there: nodes at which several of these meet are one
// from then on, so that there is less to do with each step towards the root.
import { M, S, T } from "./state.mjs";
import { lastNode, outermost, parentOf, segmentOf } from "./tree.mjs";

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

function sumOf(values) {
	let sum = 0;

	for (let i = 0; i < values.length; i++) sum += values[i];
	return sum;
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
function cellOfNodes(fn, up, nodes, columns) {
	const own = gather(nodes.map(segmentOf), columns);

	return setSums(Object.assign(group(null, fn, up), { nodes, columns: own }), own.map(sumOf));
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
		if (!counts[fns[i]]++) kids.push(group(g, fns[i], g.up));
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

/* The callers of a cell's nodes, with what was called from there: what its parent's split found.
 * Those that are the same and stand side by side, as most do that are, become one. */
function ownCallers(g) {
	const { places } = g,
		{ nodes, columns } = g.parent.found,
		mine = new Uint32Array(places.length);
	const own = columns.map(() => new Float64Array(places.length));
	let n = 0;

	for (let i = 0; i < places.length; i++) {
		const caller = nodes[places[i]];

		if (!n || mine[n - 1] !== caller) mine[n++] = caller;
		for (let c = 0; c < own.length; c++) own[c][n - 1] += columns[c][places[i]];
	}
	g.nodes = mine.subarray(0, n);
	g.columns = own.map((column) => column.subarray(0, n));
}

/* The nodes that a cell stands for. */
export function nodesOf(g) {
	if (!g.nodes) (g.up ? ownCallers : ownNodes)(g);
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

/* Who called g's function: its nodes are the callers'. The outermost were called by nobody. */
export function upwards(g) {
	const nodes = nodesOf(g),
		{ segStart, segBase, segParent, chained } = M,
		room = nodes.length,
		kept = new Uint32Array(room);
	const fns = new Uint32Array(room),
		callers = new Uint32Array(room);
	let n = 0;

	for (let i = 0; i < room; i++) {
		const node = nodes[i];

		if (node) {
			const s = segmentOf(node);

			kept[n] = i;
			callers[n] = node > segStart[s] ? node - 1 : segStart[segParent[s] + 1] - 1;
			fns[n++] = chained[segBase[s] + node];
		}
	}
	if (n === room) return split(g, callers, fns, n, g.columns);
	return split(
		g,
		callers,
		fns,
		n,
		g.columns.map((column) => {
			const own = new Float64Array(n);

			for (let i = 0; i < n; i++) own[i] = column[kept[i]];
			return own;
		}),
	);
}

export const kidsOf = (g) => g.kids || (g.up ? upwards(g) : down(g));

/* Nodes that samples hit themselves. */
function hitNodes() {
	const [now, before] = T.self,
		nodes = new Uint32Array(now.length);
	let n = 0;

	for (let s = 0; s < now.length; s++)
		if (now[s] || (before && before[s])) nodes[n++] = lastNode(s);
	return nodes.subarray(0, n);
}

export function build() {
	S.above = null;
	if (S.focus >= 0) {
		const nodes = outermost(S.focus);

		S.root = cellOfNodes(S.focus, false, nodes, columnsOf(T.total, T.hits));
		S.above = cellOfNodes(S.focus, true, nodes, columnsOf(T.total, T.hits));
		S.above.nodes = nodes.map(parentOf);
	} else if (S.callers) {
		S.root = cellOfNodes(0, true, hitNodes(), columnsOf(T.self, T.ownHits));
	} else {
		S.root = cellOfNodes(0, false, Uint32Array.of(0), columnsOf(T.total, T.hits));
	}
}
