// SPDX-License-Identifier: MIT
// table.mjs: the pane of functions, with callers and callees of the chosen one.
import { $, M, S, T, ask } from "./state.mjs";
import { twoSides, wholeOf } from "./sums.mjs";
import { amount, percent } from "./names.mjs";
import { node } from "./element.mjs";
import { around, functionRows } from "./functions.mjs";

const TABLE_ROWS = 400;
const points = (part) => `${part >= 0 ? "+" : "\u2212"}${Math.abs(100 * part).toFixed(2)}`;

function functionButton(fn) {
	const name = fn ? M.names[fn] : "nobody: it is outermost";
	const button = node("button", { className: "name", textContent: name, title: `${name}\n${M.texts[M.fnObject[fn]]}`, disabled: !fn });

	button.addEventListener("click", () => ask.choose(fn));
	return button;
}

function heading(key, text) {
	const button = node("button", { textContent: text });
	const th = node("th", { scope: "col" }, button);

	th.setAttribute("aria-sort", S.sort === key ? (key === "name" ? "ascending" : "descending") : "none");
	button.dataset.sort = key;
	button.addEventListener("click", () => { S.sort = key; drawTable(); ask.moved(); });
	return th;
}

/* The object's name; its path where the mouse stays. */
function objectCell(path) {
	return node("td", { className: "amount object", title: path, textContent: path.split("/").pop() });
}

function amounts(weight, whole) {
	return [node("td", { textContent: percent(weight, whole) }), node("td", { className: "amount", textContent: amount(weight) })];
}

/* The table of functions, and what is around the chosen one. */
export function drawTable() {
	const rows = functionRows(S.sort, S.matched), whole = wholeOf(0);
	const head = node("tr", {}, heading("self", "self"), node("th", { scope: "col", className: "amount", textContent: "amount" }), heading("total", "total"),
		node("th", { scope: "col", className: "amount", textContent: "amount" }));

	if (twoSides())
		head.append(heading("change", "self, points"));
	head.append(heading("name", "function"), node("th", { scope: "col", className: "amount", textContent: "object" }));
	$("functionhead").replaceChildren(head);
	$("functions").replaceChildren(...rows.slice(0, TABLE_ROWS).map((r) => {
		const row = node("tr", {}, ...amounts(r.self, whole), ...amounts(r.total, whole));

		if (twoSides())
			row.append(node("td", { textContent: points(r.change) }));
		row.append(node("td", {}, functionButton(r.fn)), objectCell(M.texts[M.fnObject[r.fn]]));
		row.setAttribute("aria-selected", r.fn === S.fn);
		return row;
	}));
	$("functioncount").textContent = `${rows.length.toLocaleString("en")} functions` +
		(rows.length > TABLE_ROWS ? `, the first ${TABLE_ROWS} are shown: search finds the others` : "");
	drawAround();
}

function aroundList(id, weights, before, whole, wholeBefore) {
	const fns = new Set([...weights.keys(), ...before.keys()]);
	const rows = [...fns].map((fn) => [fn, weights.get(fn) || 0]).sort((a, b) => b[1] - a[1] || M.rank[a[0]] - M.rank[b[0]]);

	$(id).replaceChildren(...rows.slice(0, 100).map(([fn, weight]) => {
		const row = node("tr", {}, ...amounts(weight, whole));

		if (twoSides())
			row.append(node("td", { textContent: points((whole ? weight / whole : 0) - (wholeBefore ? (before.get(fn) || 0) / wholeBefore : 0)) }));
		row.append(node("td", {}, functionButton(fn)));
		return row;
	}));
}

export function drawAround() {
	const fn = S.fn > 0 ? S.fn : 0;

	$("around").hidden = !fn;
	if (!fn)
		return;
	const now = around(fn, 0), before = T.total[1] ? around(fn, 1) : { callers: new Map(), callees: new Map() };
	$("aroundname").textContent = M.names[fn];
	aroundList("callerrows", now.callers, before.callers, wholeOf(0), wholeOf(1));
	aroundList("calleerows", now.callees, before.callees, wholeOf(0), wholeOf(1));
}
