// SPDX-License-Identifier: MIT
// groups.mjs: cells of the graph, whose children are made when they are first wide enough to be seen, so that the work goes with
// what is on the screen and not with what was recorded.
import { M, S, T } from "./state.mjs";
import { twoSides } from "./sums.mjs";

export function group(parent, fn, up) {
	return { parent, fn, up, value: 0, base: 0, nodes: [], weights: up ? [] : null, bases: up ? [] : null, kids: null,
		depth: parent ? parent.depth + 1 : 0 };
}

export function finish(g, kids) {
	const weight = (k) => Math.max(k.value, k.base);

	kids = kids.filter((k) => weight(k) > 0);
	if (S.byWeight)
		kids.sort((a, b) => weight(b) - weight(a) || M.rank[a.fn] - M.rank[b.fn]);
	else
		kids.sort((a, b) => M.rank[a.fn] - M.rank[b.fn]);
	g.kids = kids;
	return kids;
}

export function add(g, node) {
	g.nodes.push(node);
	g.value += T.total[0][node];
	if (twoSides())
		g.base += T.total[1][node];
}

export function addUp(g, node, weight, base) {
	g.nodes.push(node);
	g.weights.push(weight);
	g.bases.push(base);
	g.value += weight;
	g.base += base;
}

/* What g's functions called. */
export function down(g) {
	const found = new Map();

	for (const node of g.nodes) {
		for (let i = M.firstChild[node]; i < M.firstChild[node + 1]; i++) {
			const child = M.children[i], fn = M.fn[child];
			let kid = found.get(fn);

			if (!kid)
				found.set(fn, kid = group(g, fn, false));
			add(kid, child);
		}
	}
	return finish(g, [...found.values()]);
}

/* Who called g's function: g.nodes are the callers' nodes, each with what is to be told of it. */
export function upwards(g) {
	const found = new Map();

	for (let i = 0; i < g.nodes.length; i++) {
		const node = g.nodes[i];

		if (!node)
			continue;
		let kid = found.get(M.fn[node]);
		if (!kid)
			found.set(M.fn[node], kid = group(g, M.fn[node], true));
		addUp(kid, M.parent[node], g.weights[i], g.bases[i]);
	}
	return finish(g, [...found.values()]);
}

export const kidsOf = (g) => g.kids || (g.up ? upwards(g) : down(g));

/* The outermost nodes of a function: each sample that has it counts once. */
export function outermost(fn) {
	const n = M.parent.length, inside = new Uint8Array(n), nodes = [];

	for (let i = 1; i < n; i++) {
		inside[i] = inside[M.parent[i]] || M.fn[M.parent[i]] === fn ? 1 : 0;
		if (M.fn[i] === fn && !inside[i])
			nodes.push(i);
	}
	return nodes;
}

export function build() {
	const base = (node) => (twoSides() ? T.total[1][node] : 0);
	let root;

	S.above = null;
	if (S.focus >= 0) {
		const nodes = outermost(S.focus);

		root = group(null, S.focus, false);
		nodes.forEach((node) => add(root, node));
		S.above = group(null, S.focus, true);
		nodes.forEach((node) => addUp(S.above, M.parent[node], T.total[0][node], base(node)));
	} else if (S.callers) {
		root = group(null, 0, true);
		for (let i = 0; i < M.parent.length; i++) {
			const before = twoSides() ? T.self[1][i] : 0;

			if (T.self[0][i] || before)
				addUp(root, i, T.self[0][i], before);
		}
	} else {
		root = group(null, 0, false);
		add(root, 0);
	}
	S.root = root;
}
