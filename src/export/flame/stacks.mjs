// SPDX-License-Identifier: MIT
// stacks.mjs: the panel of stacks: how good they are, of one recording or of two, and which of them
// are chosen.
import { $, M, S, always, ask } from "./state.mjs";
import { twoSides } from "./sums.mjs";
import { grouped, percent } from "./names.mjs";
import { box, keepingFocus, node } from "./element.mjs";
import { compareCounts, differenceText } from "./noise.mjs";

/* Samples of the event by state, and of all states, of each side. */
export function stateCounts() {
	const { rowWhat, whatEvent, whatState, whatSide, rowSamples } = M,
		{ event } = S;
	const sides = M.meta.sides.map(() => ({ counts: M.meta.states.map(() => 0), all: 0 }));

	for (let i = 0; i < rowWhat.length; i++) {
		const what = rowWhat[i],
			side = sides[whatSide[what]];

		if (whatEvent[what] !== event) continue;
		side.counts[whatState[what]] += rowSamples[i];
		side.all += rowSamples[i];
	}
	return sides;
}

/* States that any side has: the most frequent first, with their share on each side. */
export function stateRows() {
	const [now, before] = always(`states ${S.event}`, stateCounts);

	return now.counts
		.map((n, i) => {
			const k = before ? before.counts[i] : 0,
				noise = before && compareCounts(k, before.all, n, now.all);
			const change = before ? n / (now.all || 1) - k / (before.all || 1) : 0;

			return {
				i,
				n,
				before: k,
				share: percent(n, now.all),
				shareBefore: before && percent(k, before.all),
				change,
				noise,
			};
		})
		.filter((r) => r.n || r.before)
		.sort((a, b) => b.n - a.n || b.before - a.before || a.i - b.i);
}

function stateRow(r, back) {
	const state = M.meta.states[r.i],
		swatch = node("span", { className: "swatch" });
	const row = node(
		"div",
		{ className: "row" },
		swatch,
		box(!!S.states[r.i], state.text, (on) => {
			S.states[r.i] = on ? 1 : 0;
			ask.recompute(true);
		}),
		node("span", { className: "share", textContent: r.share }),
	);

	swatch.style.background = back;
	row.dataset.state = state.text;
	if (!r.noise) return [row];
	const was = `before ${r.shareBefore}, ${differenceText(100 * r.change, r.noise)}`;
	return [row, node("div", { className: "row was", textContent: was })];
}

/* The bar of a side, as wide as each state is frequent. */
function stateBar(side, rows, backs) {
	const of = (r) => (side ? r.before : r.n);

	return node(
		"div",
		{ className: "bar", title: M.meta.sides[side].name },
		...rows.map((r, k) => {
			const part = node("div", {
				title: `${M.meta.states[r.i].text}: ${grouped(of(r))}`,
			});

			part.style.background = backs[k];
			part.style.flex = `${of(r)} 0 0`;
			return part;
		}),
	);
}

/* What is missing of a side. */
function missingRows(side) {
	const of = M.meta.sides[side],
		before = side ? "before: " : "";

	return [
		["lost records", of.lost],
		["samples that could not be read", of.undecoded],
	]
		.filter(([, n]) => n)
		.map(([name, n]) =>
			node("div", {
				className: "row",
				textContent: `${before}${name}: ${grouped(n)}`,
			}),
		);
}

/* The panel as it is now. */
export function states() {
	const rows = stateRows(),
		sides = M.meta.sides.map((_, side) => side);
	const backs = rows.map((r, k) =>
		M.meta.states[r.i].unfinished
			? "repeating-linear-gradient(135deg,#999 0 3px,#ddd 3px 6px)"
			: `hsl(204 50% ${75 - (k % 4) * 12}%)`,
	);

	$("bar").replaceChildren(...sides.map((side) => stateBar(side, rows, backs)));
	keepingFocus($("states"), () =>
		$("states").replaceChildren(
			...rows.flatMap((r, k) => stateRow(r, backs[k])),
			...sides.flatMap(missingRows),
		),
	);
	if (twoSides()) $("bar").lastChild.classList.add("before");
}
