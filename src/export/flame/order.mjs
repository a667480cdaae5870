// SPDX-License-Identifier: MIT
// order.mjs: one thread's stacks in the order of time, a column for each pixel. Knows nothing of
// the screen.
import { M, S } from "./state.mjs";
import { chosenRows, chosenWeights, rowSegments, twoSides } from "./sums.mjs";
import { isProcess } from "./processes.mjs";
import { group } from "./groups.mjs";
import { fnOf, lastNode, parentOf } from "./tree.mjs";

/* The chosen rows of a side's thread by time. */
export function threadRows(thread, side) {
	const { rowThread, rowSlice } = M,
		all = chosenRows(side, false),
		rows = [],
		places = new Uint32Array(M.meta.slices + 1);

	for (let i = 0; i < all.length; i++) if (all[i] && rowThread[i] === thread) rows.push(i);
	for (const row of rows) places[rowSlice[row] + 1]++;
	for (let slice = 0; slice < M.meta.slices; slice++) places[slice + 1] += places[slice];
	const sorted = new Uint32Array(rows.length);
	for (const row of rows) sorted[places[rowSlice[row]]++] = row;
	return sorted;
}

/* Which thread of those that are chosen has most; without any: -1. */
export function heaviest(side, wanted = () => true) {
	const weights = chosenWeights(side);
	let most = -1;

	weights.forEach((weight, t) => {
		if (weight > (most < 0 ? 0 : weights[most]) && wanted(t)) most = t;
	});
	return most;
}

/* The thread that is shown of the first side, and the one of the other side to compare it with: the
 * heaviest of its name, or else the heaviest. */
export function shownThreads() {
	const first = S.thread >= 0 ? S.thread : Math.max(0, heaviest(0)),
		name = (M.meta.threads[first] || [])[0];
	const same = twoSides() ? heaviest(1, (t) => M.meta.threads[t][0] === name) : -1;

	return [first, same >= 0 || !twoSides() ? same : heaviest(1)];
}

/* How long a sample stands for its thread at most: what most samples are apart, and some. */
function reach(rows) {
	const gaps = [];

	for (let i = 1; i < rows.length; i++)
		if (M.rowSlice[rows[i]] > M.rowSlice[rows[i - 1]])
			gaps.push(M.rowSlice[rows[i]] - M.rowSlice[rows[i - 1]]);
	gaps.sort((a, b) => a - b);
	return gaps.length ? Math.max(1, 2 * gaps[gaps.length >> 1]) : 1;
}

/* A thread is of one process: that is no part of its stacks. */
function stackOf(node) {
	const nodes = [];

	for (; node; node = parentOf(node)) nodes.push(node);
	if (nodes.length && isProcess(fnOf(nodes.at(-1)))) nodes.pop();
	return nodes.reverse();
}

/* A side's chosen span as columns 0 ... width - 1; put(depth, x, w,
 * cell) is called for each cell. Its value is the weight of the samples in its time. Where the
 * thread has no sample, nothing is. */
export function inOrder(rows, width, put, side = 0) {
	const [from, to] = S.spans[side],
		slices = to - from + 1,
		far = reach(rows),
		weights = new Float64Array(rows.length + 1),
		segments = rowSegments();
	const root = group(null, 0, false);

	root.side = side;
	let open = [],
		at = 0,
		shownRow = -1,
		stack = [];
	const close = (from, x) => {
		for (const cell of open.splice(from)) {
			cell.value = weights[at] - weights[cell.from];
			put(cell.depth, cell.x, x - cell.x, cell);
		}
	};

	rows.forEach((row, i) => {
		weights[i + 1] = weights[i] + M.rowWeight[row] * M.unit;
	});
	root.value = weights[rows.length];
	root.kids = [];
	put(0, 0, width, root);
	for (let x = 0; x < width; x++) {
		const begin = from + (slices * x) / width,
			end = from + (slices * (x + 1)) / width,
			first = at;

		while (at < rows.length && M.rowSlice[rows[at]] < end) at++;
		const row = at - 1,
			lives = row >= 0 && (at > first || M.rowSlice[rows[row]] + far > begin);
		if (!lives) {
			close(0, x);
			shownRow = -1;
			continue;
		}
		if (row !== shownRow) stack = stackOf(lastNode(segments[rows[row]]));
		shownRow = row;
		let same = 0;
		while (same < open.length && same < stack.length && open[same].node === stack[same])
			same++;
		const seen = at;
		at = first;
		close(same, x);
		at = seen;
		for (let depth = same; depth < stack.length; depth++) {
			const parent = depth ? open[depth - 1] : root,
				cell = group(parent, fnOf(stack[depth]), false);

			cell.node = stack[depth];
			cell.kids = [];
			cell.side = side;
			cell.x = x;
			cell.from = at > first ? first : row;
			cell.begin = Math.floor(begin);
			parent.kids.push(cell);
			open.push(cell);
		}
		for (const cell of open) cell.end = Math.max(cell.begin, Math.ceil(end) - 1);
	}
	close(0, width);
	return root;
}
