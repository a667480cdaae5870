// SPDX-License-Identifier: MIT
// groups.mjs: cells of the graph, whose children are made when they are first wide enough to be
// seen, so that the work goes with what is on the screen and not with what was recorded.
//
// A cell stands for nodes of the tree, and has what they weigh: weights (now, and of two recordings
// before) and samples (hits). A cell of callers (up) has packs of segments in place of nodes:
// callers.mjs.
import { M, S, T } from "./state.mjs";
import { once, selfHits, selfSums, sumOf, twoSides } from "./sums.mjs";
import { baseOf, outermost, segmentOf } from "./tree.mjs";
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

/* What is below some nodes, one entry each, and by function how many and what they weigh. It is
 * room that every cell uses again, as new memory is slow. Between calls counts are 0, and what the
 * others hold is not looked at. Nodes of a cell are not below one another, so that each node below
 * them is in another segment. */
const SCRATCH = { of: null, called: null, fns: null, counts: null, sums: [] };

function scratch(columns) {
	const fns = M.fnName.length;

	if (SCRATCH.of !== M.segParent)
		Object.assign(SCRATCH, {
			of: M.segParent,
			called: new Uint32Array(M.segParent.length),
			fns: new Uint32Array(M.segParent.length),
			counts: new Uint32Array(fns),
			sums: [],
		});
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

	return setSums(Object.assign(group(null, fn, false), { nodes }), own.map(sumOf));
}

/* Puts what is below nodes that weigh something: the nodes and their functions, and by function
 * their number. Returns how many, and the functions in the order in which they stood. */
function findCalled(nodes, columns, { called, fns, counts, sums }) {
	const { chainStart, segChain, segStart, segEnd, chained } = M,
		[now, before] = T.total,
		found = [];
	let n = 0;
	const put = (s, node, place) => {
		if (!now[s] && !(before && before[s])) return;
		const fn = chained[chainStart[segChain[s]] + place];

		called[n] = node;
		fns[n++] = fn;
		if (!counts[fn]++) {
			found.push(fn);
			for (let c = 0; c < columns.length; c++) sums[c][fn] = 0;
		}
		for (let c = 0; c < columns.length; c++) sums[c][fn] += columns[c][s];
	};

	for (let i = 0; i < nodes.length; i++) {
		const s = segmentOf(nodes[i]),
			next = nodes[i] + 1;

		if (next < segStart[s + 1]) put(s, next, next - segStart[s]);
		else
			for (let kid = s + 1; kid < segEnd[s]; kid = segEnd[kid])
				put(kid, segStart[kid], 0);
	}
	return { n, found };
}

/* What g's functions called: one cell for each function, which has its nodes in the order in which
 * they stood. */
export function down(g) {
	const columns = columnsOf(T.total, T.hits),
		room = scratch(columns.length),
		{ n, found } = findCalled(g.nodes, columns, room),
		{ called, fns, counts, sums } = room,
		nodes = new Uint32Array(n);
	let at = 0;

	const kids = found.map((fn) => {
		const kid = group(g, fn, false),
			many = counts[fn];

		counts[fn] = at;
		kid.nodes = nodes.subarray(at, (at += many));
		return setSums(
			kid,
			columns.map((_, c) => sums[c][fn]),
		);
	});
	for (let i = 0; i < n; i++) nodes[counts[fns[i]]++] = called[i];
	for (const fn of found) counts[fn] = 0;
	return finish(g, kids);
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
	const sides = [...T.total.keys()],
		columns = columnsOf(sides.map(selfSums), twoSides() ? sides.map(selfHits) : []);

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

			places.set(M.segChain[s], baseOf(s) + node);
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

/* The root of these sums, with the cells below it that were made. */
const rootOf = (name, make) => once(`${name}${S.byWeight ? " by weight" : ""}`, make);

export function build() {
	S.above = null;
	if (S.focus >= 0) {
		const nodes = outermost(S.focus);

		S.root = cellOfNodes(S.focus, nodes, columnsOf(T.total, T.hits));
		S.above = callersOf(S.focus, nodes);
	} else if (S.callers) {
		S.root = rootOf("callers of all", callersOfAll);
	} else {
		S.root = rootOf("callees", () =>
			cellOfNodes(0, Uint32Array.of(0), columnsOf(T.total, T.hits)),
		);
	}
}
