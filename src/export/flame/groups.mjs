// SPDX-License-Identifier: MIT
// groups.mjs: cells of the graph, whose children are made when they are first wide enough to be
// seen, so that the work goes with what is on the screen and not with what was recorded.
import { M, S, T } from "./state.mjs";

/* A cell: value and base are its weights, hits and baseHits its samples (of two recordings). nodes:
 * the tree's nodes that it stands for. A cell of callers (up) has leaves besides: whose weight is
 * told of each node. */
export function group(parent, fn, up) {
	return {
		parent,
		fn,
		up,
		value: 0,
		base: 0,
		hits: 0,
		baseHits: 0,
		nodes: [],
		leaves: null,
		of: null,
		kids: null,
		depth: parent ? parent.depth + 1 : 0,
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

let counts = new Uint32Array(0); // by function; all 0 between calls

/* The places of fns by function: found[k] has order[starts[k]] ... order[starts[k + 1] - 1], in
 * the order in which they stood. */
function byFunction(fns) {
	const found = [],
		starts = [0],
		order = new Uint32Array(fns.length);
	let at = 0;

	if (counts.length < M.fnName.length) counts = new Uint32Array(M.fnName.length);
	for (let i = 0; i < fns.length; i++) if (!counts[fns[i]]++) found.push(fns[i]);
	for (const fn of found) {
		const n = counts[fn];

		counts[fn] = at;
		at += n;
		starts.push(at);
	}
	for (let i = 0; i < fns.length; i++) order[counts[fns[i]]++] = i;
	for (const fn of found) counts[fn] = 0;
	return { found, starts, order };
}

/* What nodes have on both sides, of these sums. */
function weigh(g, nodes, of) {
	const [now, before] = of.weights,
		[hits, baseHits] = of.hits;
	let value = 0;

	for (let i = 0; i < nodes.length; i++) value += now[nodes[i]];
	g.value = value;
	for (let i = 0; before && i < nodes.length; i++) {
		g.base += before[nodes[i]];
		g.hits += hits[nodes[i]];
		g.baseHits += baseHits[nodes[i]];
	}
}

const totals = () => ({ weights: T.total, hits: T.hits });

/* A cell of nodes, with all that is below them. */
function cellOfNodes(parent, fn, nodes) {
	const g = group(parent, fn, false);

	g.nodes = nodes;
	weigh(g, nodes, totals());
	return g;
}

/* A cell of callers. of: the sums in which leaves weigh. */
function cellOfCallers(parent, fn, nodes, leaves, of) {
	const g = group(parent, fn, true);

	Object.assign(g, { nodes, leaves, of });
	weigh(g, leaves, of);
	return g;
}

/* What g's functions called. */
export function down(g) {
	const { firstChild, children, fn } = M,
		[now, before] = T.total,
		{ nodes } = g;
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
	const { found, starts, order } = byFunction(fns.subarray(0, n));
	return finish(
		g,
		found.map((kid, k) =>
			cellOfNodes(
				g,
				kid,
				order.subarray(starts[k], starts[k + 1]).map((i) => called[i]),
			),
		),
	);
}

/* Who called g's function: g.nodes are the callers' nodes. */
export function upwards(g) {
	const { fn, parent } = M,
		{ nodes, leaves } = g,
		fns = new Uint32Array(nodes.length);
	const places = new Uint32Array(nodes.length);
	let n = 0;

	for (let i = 0; i < nodes.length; i++) {
		if (nodes[i]) {
			places[n] = i;
			fns[n++] = fn[nodes[i]];
		}
	}
	const { found, starts, order } = byFunction(fns.subarray(0, n));
	return finish(
		g,
		found.map((kid, k) => {
			const own = order.subarray(starts[k], starts[k + 1]);

			return cellOfCallers(
				g,
				kid,
				own.map((i) => parent[nodes[places[i]]]),
				own.map((i) => leaves[places[i]]),
				g.of,
			);
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

		S.root = cellOfNodes(null, S.focus, nodes);
		S.above = cellOfCallers(
			null,
			S.focus,
			nodes.map((node) => M.parent[node]),
			nodes,
			totals(),
		);
	} else if (S.callers) {
		const nodes = hitNodes();

		S.root = cellOfCallers(null, 0, nodes, nodes, { weights: T.self, hits: T.ownHits });
	} else {
		S.root = cellOfNodes(null, 0, Uint32Array.of(0));
	}
}
