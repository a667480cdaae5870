// SPDX-License-Identifier: MIT
// groups.mjs: cells of the graph, whose children are made when they are first wide enough to be
// seen, so that the work goes with what is on the screen and not with what was recorded.
//
// A cell stands for nodes of the tree, and has what each of them weighs for it: its weights (now,
// and of two recordings before) and its samples (hits). Of a cell of callers (up) a node weighs
// what the samples have that were called from there: nodes at which several of these meet are one
// from then on, so that there is less to do with each step towards the root.
import { M, S, T } from "./state.mjs";

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

/* What nodes have in columns. */
function gather(nodes, columns) {
	return columns.map((column) => {
		const own = new Float64Array(nodes.length);

		for (let i = 0; i < nodes.length; i++) own[i] = column[nodes[i]];
		return own;
	});
}

/* A cell of these nodes, which weigh as columns have them. */
function cellOfNodes(fn, up, nodes, columns) {
	const own = gather(nodes, columns);

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

/* What g's functions called. */
export function down(g) {
	const { firstChild, children, fn } = M,
		nodes = nodesOf(g),
		sums = columnsOf(T.total, T.hits),
		[now, before] = T.total;
	let n = 0;

	for (let i = 0; i < nodes.length; i++) n += firstChild[nodes[i] + 1] - firstChild[nodes[i]];
	const called = new Uint32Array(n),
		fns = new Uint32Array(n);
	n = 0;
	for (let i = 0; i < nodes.length; i++) {
		for (let at = firstChild[nodes[i]]; at < firstChild[nodes[i] + 1]; at++) {
			const child = children[at];

			if (now[child] || (before && before[child])) {
				called[n] = child;
				fns[n++] = fn[child];
			}
		}
	}
	const found = called.subarray(0, n);
	return split(g, found, fns, n, gather(found, sums));
}

/* Of each node its parent and its function, side by side: they are asked for together. */
function upOf() {
	const { parent, fn } = M,
		n = parent.length;

	if (!M.up) {
		M.up = new Uint32Array(2 * n);
		for (let i = 0; i < n; i++) {
			M.up[2 * i] = parent[i];
			M.up[2 * i + 1] = fn[i];
		}
	}
	return M.up;
}

/* Who called g's function: its nodes are the callers'. The outermost were called by nobody. */
export function upwards(g) {
	const nodes = nodesOf(g),
		up = upOf(),
		room = nodes.length,
		kept = new Uint32Array(room);
	const fns = new Uint32Array(room),
		callers = new Uint32Array(room);
	let n = 0;

	for (let i = 0; i < room; i++) {
		const node = nodes[i];

		if (node) {
			kept[n] = i;
			callers[n] = up[2 * node];
			fns[n++] = up[2 * node + 1];
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

/* The outermost nodes of a function: each sample that has it counts once. */
export function outermost(wanted) {
	const { parent, fn } = M,
		n = parent.length,
		inside = new Uint8Array(n),
		nodes = [];

	for (let i = 1; i < n; i++) {
		inside[i] = inside[parent[i]] | (fn[parent[i]] === wanted ? 1 : 0);
		if (fn[i] === wanted && !inside[i]) nodes.push(i);
	}
	return Uint32Array.from(nodes);
}

/* Nodes that samples hit themselves. */
function hitNodes() {
	const [now, before] = T.self,
		nodes = new Uint32Array(now.length);
	let n = 0;

	for (let i = 0; i < now.length; i++) if (now[i] || (before && before[i])) nodes[n++] = i;
	return nodes.subarray(0, n);
}

export function build() {
	S.above = null;
	if (S.focus >= 0) {
		const nodes = outermost(S.focus);

		S.root = cellOfNodes(S.focus, false, nodes, columnsOf(T.total, T.hits));
		S.above = cellOfNodes(S.focus, true, nodes, columnsOf(T.total, T.hits));
		S.above.nodes = nodes.map((node) => M.parent[node]);
	} else if (S.callers) {
		S.root = cellOfNodes(0, true, hitNodes(), columnsOf(T.self, T.ownHits));
	} else {
		S.root = cellOfNodes(0, false, Uint32Array.of(0), columnsOf(T.total, T.hits));
	}
}
