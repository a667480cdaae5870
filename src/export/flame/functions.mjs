// SPDX-License-Identifier: MIT
// functions.mjs: functions with self and total, and who calls whom. Knows nothing of the screen.
import { M, T } from "./state.mjs";
import { once, selfHits, selfSums, twoSides } from "./sums.mjs";
import { isProcess } from "./processes.mjs";
import { compared } from "./noise.mjs";
import { firstPlaces, lastFn } from "./tree.mjs";

/* By function what its nodes have themselves, and with all below: a sample counts once however
 * often the function is on its stack, as what is below a node of it adds nothing. */
function byFunctionOf(own, totals, side) {
	const { chainStart, segChain, segEnd, chained } = M,
		n = segChain.length,
		fns = M.fnName.length;
	const totalOf = totals[side],
		ownOf = totalOf && own(side),
		self = new Float64Array(fns),
		total = new Float64Array(fns),
		below = new Uint32Array(fns); /* the first segment that is not below a node of it */

	for (let s = 1; ownOf && s < n; s++) {
		const all = totalOf[s],
			next = segEnd[s],
			end = chainStart[segChain[s] + 1];

		if (!all) {
			s = next - 1;
			continue;
		}
		self[chained[end - 1]] += ownOf[s];
		for (let at = chainStart[segChain[s]]; at < end; at++) {
			const fn = chained[at];

			if (below[fn] > s) continue;
			below[fn] = next;
			total[fn] += all;
		}
	}
	return { self, total };
}

/* Of a side: weights, self and total, by function. */
export const functionSums = (side) =>
	once(`sums ${side}`, () => byFunctionOf(selfSums, T.total, side));
/* The same of samples, if there are two recordings. */
const functionHits = (side) =>
	once(`hits ${side}`, () => byFunctionOf(selfHits, T.hits, side));

/* The calls of a function and from it, of segments that weigh something: found(segment, caller,
 * called). Nobody calls the outermost: 0. */
function eachCall(fn, total, found) {
	const { chainStart, segChain, segParent, chained } = M,
		places = firstPlaces(fn);

	for (let s = 1; s < segChain.length; s++) {
		const outer = segParent[s] ? lastFn(segParent[s]) : 0,
			above = isProcess(outer) ? 0 : outer,
			place = above === fn ? 0 : places[segChain[s]];
		let at = chainStart[segChain[s]] + place,
			caller = place ? chained[at - 1] : above;

		if (place < 0 || !total[s]) continue;
		for (const end = chainStart[segChain[s] + 1]; at < end; at++) {
			if (caller === fn || chained[at] === fn) found(s, caller, chained[at]);
			caller = chained[at];
		}
	}
}

/* Callers and callees of a function with weight (and samples, of two recordings) of the samples
 * that have the call, each once: the same call once more below itself adds nothing. */
export function around(fn, side) {
	const [total, hits] = [T.total[side], T.hits[side]],
		callers = new Map(),
		callees = new Map();
	const add = (calls, other, s) => {
		const call = calls.get(other) || { weight: 0, hits: 0, below: 0 };

		if (call.below > s) return;
		call.below = M.segEnd[s];
		call.weight += total[s];
		call.hits += hits ? hits[s] : 0;
		calls.set(other, call);
	};

	if (total)
		eachCall(fn, total, (s, caller, called) => {
			if (called === fn) add(callers, caller, s);
			if (caller === fn) add(callees, called, s);
		});
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
		if ((now.total[fn] || before.total[fn]) && !isProcess(fn))
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
