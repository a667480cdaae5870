// SPDX-License-Identifier: MIT
// functions.mjs: functions with self and total, and who calls whom. Knows nothing of the screen.
import { M, T } from "./state.mjs";

/* 1 for nodes that have no node of their function above them: what a function's total is summed
 * over, so that a sample counts once however often the function is on its stack. */
export function outerNodes() {
	if (M.outer)
		return M.outer;
	const n = M.parent.length, open = new Uint32Array(M.fnName.length), next = M.firstChild.slice(0, n);
	const outer = new Uint8Array(n), { firstChild, children, fn, parent } = M;
	let node = 0;

	outer[0] = 1;
	for (;;) {
		if (next[node] < firstChild[node + 1]) {
			node = children[next[node]++];
			outer[node] = open[fn[node]]++ ? 0 : 1;
		} else if (node) {
			open[fn[node]]--;
			node = parent[node];
		} else {
			M.outer = outer;
			return outer;
		}
	}
}

/* Of a side: self and total by function. */
export function functionSums(side) {
	const outer = outerNodes(), n = M.parent.length, fns = M.fnName.length;
	const self = new Float64Array(fns), total = new Float64Array(fns);

	if (!T.total[side])
		return { self, total };
	const { fn } = M, ownOf = T.self[side], totalOf = T.total[side];

	for (let i = 1; i < n; i++) {
		self[fn[i]] += ownOf[i];
		if (outer[i])
			total[fn[i]] += totalOf[i];
	}
	return { self, total };
}

/* Whether the call to node is above it on its stack once more. */
function calledAbove(node) {
	const fn = M.fn[node], caller = M.fn[M.parent[node]];

	for (let at = M.parent[node]; at; at = M.parent[at])
		if (M.fn[at] === fn && M.fn[M.parent[at]] === caller)
			return true;
	return false;
}

/* Callers and callees of a function with the weight of the samples that have the call, each once. */
export function around(fn, side) {
	const outer = outerNodes(), callers = new Map(), callees = new Map(), total = T.total[side];

	const parents = M.parent, fns = M.fn;

	for (let i = 1; total && i < parents.length; i++) {
		const parent = parents[i];
		const up = fns[i] === fn, down = parent && fns[parent] === fn;

		if ((!up && !down) || !total[i] || (!outer[i] && calledAbove(i)))
			continue;
		if (up)
			callers.set(M.fn[parent], (callers.get(M.fn[parent]) || 0) + total[i]);
		if (down)
			callees.set(M.fn[i], (callees.get(M.fn[i]) || 0) + total[i]);
	}
	return { callers, callees };
}

/* Functions that have something, the first by what is asked for; of equal ones by name. */
export function functionRows(by, matched) {
	const now = functionSums(0), before = functionSums(1), rows = [];
	const whole = [T.total[0][0], T.total[1] ? T.total[1][0] : 0];
	const share = (sums, side, fn) => (whole[side] ? sums[fn] / whole[side] : 0);

	for (let fn = 1; fn < M.fnName.length; fn++) {
		if (!(now.total[fn] || before.total[fn]) || (matched && !matched[fn]))
			continue;
		rows.push({ fn, self: now.self[fn], total: now.total[fn],
			change: share(now.self, 0, fn) - share(before.self, 1, fn) });
	}
	const sorts = { self: (r) => r.self, total: (r) => r.total, change: (r) => Math.abs(r.change) };
	const name = (a, b) => M.rank[a.fn] - M.rank[b.fn];
	return by === "name" ? rows.sort(name) : rows.sort((a, b) => sorts[by](b) - sorts[by](a) || name(a, b));
}
