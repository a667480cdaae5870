// SPDX-License-Identifier: MIT
// place.mjs: where cells are.
import { $, S, V } from "./state.mjs";
import { shown, twoSides } from "./sums.mjs";
import { kidsOf } from "./groups.mjs";
import { inOrder, shownThreads, threadRows } from "./order.mjs";

export const ROW = 18;

export const path = (g) => {
	const fns = [];

	for (; g && g.parent; g = g.parent) fns.unshift(g.fn);
	return fns;
};

export function follow(fns) {
	let g = S.root;

	for (const fn of fns) {
		const kid = kidsOf(g).find((k) => k.fn === fn);
		if (!kid) break;
		g = kid;
	}
	return g;
}

export function put(depth, x, w, g, n) {
	let row = V.depths.get(depth);

	if (!row) V.depths.set(depth, (row = []));
	row.push({ x, w, g, n, depth });
	V.low = Math.min(V.low, depth);
	V.high = Math.max(V.high, depth);
}

/* How long cells are made before a picture is shown of those that there are. */
const TURN = 50;

/* How much work lies between two looks at the clock, which takes a tenth of a millisecond on some
 * machines; and how much a cell is at least. Work is counted in nodes. */
const WORK_BETWEEN = 20000,
	WORK_OF_CELL = { down: 100, up: 2000 };

/* Whether the turn is over, when g's cells are made next: not before some are made in each turn, as
 * a slow machine comes to an end, too. */
function isOver(g) {
	if (V.work > WORK_BETWEEN) {
		V.work = 0;
		V.over ||= performance.now() > V.deadline;
	}
	V.work += g.up ? WORK_OF_CELL.up : WORK_OF_CELL.down + g.nodes.length;
	return V.over;
}

/* g and what is below it, from x on; sign -1 where callers go the other way. What is nearer to the
 * root comes first. When the turn is over, cells that have not been made yet are left for the next
 * layout, which begins with what there is (V.unfinished). */
export function spread(g, x, w, sign, from) {
	const queue = [{ g, x, w, skip: from }],
		scale = w / (shown(g) || 1);

	for (let next = 0; next < queue.length; next++) {
		const at = queue[next];
		let left = at.x,
			pruned = 0,
			prunedAt = 0,
			count = 0;

		if (!at.skip) put(sign * at.g.depth, at.x, at.w, at.g, 0);
		if (!at.g.kids && isOver(at.g)) {
			V.unfinished = true;
			continue;
		}
		for (const kid of kidsOf(at.g)) {
			const width = shown(kid) * scale;

			if (width >= 1) {
				queue.push({ g: kid, x: left, w: width });
			} else if (width > 0) {
				prunedAt = pruned ? prunedAt : left;
				pruned += width;
				count++;
			}
			left += width;
		}
		if (pruned >= 1) put(sign * (at.g.depth + 1), prunedAt, pruned, null, count);
	}
}

/* One thread in order of time; of two recordings the other's grows the other way. */
function layInOrder(width) {
	const [thread, other] = shownThreads();
	const below = (depth, x, w, g) => put(-1 - depth, x, w, g, 0);

	V.ordered = inOrder(threadRows(thread, 0), width, (depth, x, w, g) =>
		put(depth, x, w, g, 0),
	);
	if (twoSides() && other >= 0) inOrder(threadRows(other, 1), width, below, 1);
}

/* turn: milliseconds for cells that have not been made yet. */
export function layout(turn = TURN) {
	const zoom = S.zoom || S.root,
		width = V.width,
		{ low, begun } = V;

	V.begun = { icicle: S.icicle, view: S.view };
	const same = begun && Object.keys(begun).every((key) => begun[key] === V.begun[key]);
	V.depths = new Map();
	V.low = V.high = 0;
	V.unfinished = false;
	V.work = 0;
	V.over = false;
	V.deadline = performance.now() + turn;
	if (S.view === "order") layInOrder(Math.floor(width));
	else spreadAll(zoom, width);
	for (const row of V.depths.values()) row.sort((a, b) => a.x - b.x);
	V.rows = V.high - V.low + 1;
	$("spacer").style.height = `${V.rows * ROW}px`;
	if (same && S.icicle && low !== V.low) $("scroll").scrollTop += (low - V.low) * ROW;
	if (!same || S.icicle) return;
	V.below += (low - V.low) * ROW;
	stay();
}

/* Scrolls to a line, in pixels. */
function scrollGraph(top) {
	$("scroll").scrollTop = Math.max(0, top);
	V.scrolled = $("scroll").scrollTop;
}

/* Keeps how much of the graph is below what is seen. */
function keepBelow() {
	const { scrollTop, clientHeight } = $("scroll");

	V.below = Math.max(0, V.rows * ROW - clientHeight - scrollTop);
}

export function goToLine(top) {
	scrollGraph(top);
	keepBelow();
}

/* The graph was scrolled: if by a person, that is where it stays. */
export function scrolled() {
	if ($("scroll").scrollTop !== V.scrolled) keepBelow();
}

/* What is seen stays where it is when there are more rows above it or fewer, or more room: roots
 * are on the ground. */
export function stay() {
	if (!S.icicle) scrollGraph(V.rows * ROW - $("scroll").clientHeight - V.below);
}

/* All cells, for who asks which there are. */
export function finishLayout() {
	if (V.unfinished) layout(Infinity);
}

export function spreadAll(zoom, width) {
	for (let g = zoom.parent; g; g = g.parent) put(g.depth, 0, width, g, 0);
	if (shown(zoom) > 0) spread(zoom, 0, width, 1, false);
	if (S.above && zoom === S.root && shown(S.above) > 0) spread(S.above, 0, width, -1, true);
}

/* The row on the screen, from the top, of a depth. */
export const line = (depth) => (S.icicle ? depth - V.low : V.high - depth);
export const depthAt = (row) => (S.icicle ? row + V.low : V.high - row);
/* A graph that is lower than its place stands on the ground, or hangs from the ceiling. */
export const offset = () =>
	(S.icicle ? 0 : Math.max(0, V.height - V.rows * ROW)) - $("scroll").scrollTop;
