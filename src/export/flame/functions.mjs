// SPDX-License-Identifier: MIT
// functions.mjs: functions with self and total, and who calls whom. Knows nothing of the screen.
import { M, T } from "./state.mjs";
import { once, twoSides } from "./sums.mjs";
import { compared } from "./noise.mjs";

/* 1 for nodes that have no node of their function above them: what a function's total is summed
 * over, so that a sample counts once however often the function is on its stack. */
export function outerNodes() {
	if (M.outer) return M.outer;
	const n = M.parent.length,
		open = new Uint32Array(M.fnName.length),
		next = M.firstChild.slice(0, n);
	const outer = new Uint8Array(n),
		{ firstChild, children, fn, parent } = M;
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

/* By function what its nodes have themselves, and what its outermost nodes have with all below. */
function byFunctionOf(ownOf, totalOf) {
	const outer = outerNodes(),
		{ fn } = M,
		n = M.parent.length,
		fns = M.fnName.length;
	const self = new Float64Array(fns),
		total = new Float64Array(fns);

	for (let i = 1; ownOf && i < n; i++) {
		self[fn[i]] += ownOf[i];
		if (outer[i]) total[fn[i]] += totalOf[i];
	}
	return { self, total };
}

/* Of a side: weights, self and total, by function. */
export const functionSums = (side) =>
	once(`sums ${side}`, () => byFunctionOf(T.self[side], T.total[side]));
/* The same of samples, if there are two recordings. */
const functionHits = (side) =>
	once(`hits ${side}`, () => byFunctionOf(T.ownHits[side], T.hits[side]));

/* Whether the call to node is above it on its stack once more. */
function calledAbove(node) {
	const fn = M.fn[node],
		caller = M.fn[M.parent[node]];

	for (let at = M.parent[node]; at; at = M.parent[at])
		if (M.fn[at] === fn && M.fn[M.parent[at]] === caller) return true;
	return false;
}

function addCall(calls, fn, node, side) {
	const call = calls.get(fn) || { weight: 0, hits: 0 };

	call.weight += T.total[side][node];
	call.hits += T.hits[side] ? T.hits[side][node] : 0;
	calls.set(fn, call);
}

/* Callers and callees of a function with weight (and samples, of two recordings) of the samples
 * that have the call, each once. */
export function around(fn, side) {
	const outer = outerNodes(),
		callers = new Map(),
		callees = new Map(),
		total = T.total[side];
	const parents = M.parent,
		fns = M.fn;

	for (let i = 1; total && i < parents.length; i++) {
		const parent = parents[i];
		const up = fns[i] === fn,
			down = parent && fns[parent] === fn;

		if ((!up && !down) || !total[i] || (!outer[i] && calledAbove(i))) continue;
		if (up) addCall(callers, fns[parent], i, side);
		if (down) addCall(callees, fns[i], i, side);
	}
	return { callers, callees };
}

/* How a function has changed: shares of both sides by self and by total, each with its noise. */
export function functionChange(fn) {
	const sums = [functionSums(0), functionSums(1)],
		hits = [functionHits(0), functionHits(1)],
		changed = {};

	for (const by of ["self", "total"]) {
		const [now, before] = [0, 1].map((side) => {
			const whole = T.total[side] ? T.total[side][0] : 0;

			return whole ? sums[side][by][fn] / whole : 0;
		});

		changed[by] = {
			before,
			change: now - before,
			noise: compared(hits[1][by][fn], hits[0][by][fn]),
		};
	}
	return changed;
}

/* Functions that have something. */
function allRows() {
	const now = functionSums(0),
		before = functionSums(1),
		rows = [];

	for (let fn = 1; fn < M.fnName.length; fn++)
		if (now.total[fn] || before.total[fn])
			rows.push({
				fn,
				self: now.self[fn],
				total: now.total[fn],
				changed: twoSides() ? functionChange(fn) : null,
			});
	return rows;
}

const SORTS = {
	self: (r) => r.self,
	total: (r) => r.total,
	change: (r) => (r.changed ? Math.abs(r.changed.self.change) : 0),
	changetotal: (r) => (r.changed ? Math.abs(r.changed.total.change) : 0),
};

/* Those that match, the first by what is asked for; of equal ones by name. */
export function functionRows(by, matched) {
	const sorted = once(`rows by ${by}`, () => {
		const name = (a, b) => M.rank[a.fn] - M.rank[b.fn],
			value = SORTS[by];

		return [...once("rows", allRows)].sort(
			value ? (a, b) => value(b) - value(a) || name(a, b) : name,
		);
	});

	return matched ? sorted.filter((r) => matched[r.fn]) : sorted;
}
