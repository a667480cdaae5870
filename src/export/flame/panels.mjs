// SPDX-License-Identifier: MIT
// panels.mjs: the legend, and what is said of the chosen cell.
import { $, KIND, M, S, kindName, runtimeKinds } from "./state.mjs";
import { selfSums, twoSides, wholeOf } from "./sums.mjs";
import { amount, label, percent } from "./names.mjs";
import { node } from "./element.mjs";
import { lastNode, segmentOf } from "./tree.mjs";
import { differenceText } from "./noise.mjs";
import { functionChange } from "./functions.mjs";
import { change, changeColour, changeNoise, kindColour, pattern } from "./colours.mjs";

/* What noise could be is said beside the colours. */
const changes = () => [
	["less than before", changeColour(-8, -1)],
	["as before, as far as samples tell (95 %): ~", changeColour(0, 0)],
	["more than before", changeColour(8, 1)],
];

export function legend() {
	const rows = twoSides()
		? changes()
		: [
				...(S.apart ? [KIND.PROCESS] : []),
				KIND.USER,
				...runtimeKinds(),
				KIND.KERNEL,
				KIND.INLINED,
				KIND.UNKNOWN,
			].map((k) => [kindName(k), kindColour(k, 0), k]);

	rows.push([
		"unfinished: not the whole stack",
		kindColour(KIND.UNFINISHED, 0),
		KIND.UNFINISHED,
	]);
	rows.push([
		"too narrow to be shown",
		getComputedStyle(document.documentElement).getPropertyValue("--line"),
	]);
	$("legend").replaceChildren(
		...rows.map(([name, back, kind]) => {
			const canvas = node("canvas", {
					className: "swatch",
					width: 22,
					height: 12,
				}),
				ctx = canvas.getContext("2d");

			ctx.fillStyle = back;
			ctx.fillRect(0, 0, 22, 12);
			if (kind === KIND.INLINED || kind === KIND.UNFINISHED)
				pattern(ctx, kind, 0, 0, 22, 12);
			return node(
				"div",
				{ className: "row" },
				canvas,
				node("span", { textContent: name }),
			);
		}),
	);
}

export function selfOf(g) {
	if (g.up) return 0;
	const self = selfSums(0);

	return g.nodes.reduce((sum, node) => {
		const s = segmentOf(node);

		return sum + (node === lastNode(s) ? self[s] : 0);
	}, 0);
}

/* A time on a side's own clock, which begins with its first sample. */
export function atSeconds(slice, side = 0) {
	return `${((M.meta.sides[side].seconds * slice) / M.meta.slices).toFixed(4)} s`;
}

/* How a cell has changed: in order of time, its function. */
function changeText(g) {
	if (S.view !== "order")
		return (
			`; before ${percent(g.base, wholeOf(1))}, ` +
			`${differenceText(change(g), changeNoise(g))} points (95 %)`
		);
	if (!g.parent) return "";
	const { before, change: part, noise } = functionChange(g.fn).total;
	return (
		`; the function in all threads: before ${(100 * before).toFixed(1)} %, ` +
		`${differenceText(100 * part, noise)} points (95 %)`
	);
}

/* What of the whole a cell has. */
function amountText(g) {
	const side = g.side || 0,
		of = side ? M.meta.sides[1].name : "what is chosen";
	let text = `${amount(g.value)}: ${percent(g.value, wholeOf(side))} of ${of}`;

	if (g.parent)
		text +=
			`, ${percent(g.value, g.parent.value)} of ` +
			`${g.up ? "what it calls" : "its caller"}`;
	if (g.node) text += `; from ${atSeconds(g.begin, side)} to ${atSeconds(g.end + 1, side)}`;
	else if (!g.up && S.view !== "order") text += `, itself ${percent(selfOf(g), wholeOf(0))}`;
	return text + (twoSides() ? changeText(g) : "");
}

export function detail(g) {
	const e = $("detail");

	e.replaceChildren();
	if (!g) {
		e.append(
			node("span", {
				className: "faint hint",
				textContent:
					"Click: zoom. Drag in the strip above: a span of " +
					"time. ? shows the keys.",
			}),
		);
		return;
	}
	e.append(node("b", { textContent: label(g) }), " ");
	if (g.parent || S.focus >= 0) {
		const where = `${M.texts[M.fnObject[g.fn]]} (${kindName(M.fnKind[g.fn])})`;

		e.append(node("span", { className: "faint", textContent: where }));
	}
	e.append(node("br", {}), amountText(g));
}
