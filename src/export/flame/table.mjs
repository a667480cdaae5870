// SPDX-License-Identifier: MIT
// table.mjs: the pane of functions, with callers and callees of the chosen one.
import { $, M, S, T, ask } from "./state.mjs";
import { once, twoSides, wholeOf } from "./sums.mjs";
import { amount, grouped, percent } from "./names.mjs";
import { firstStop, keepingFocus, node } from "./element.mjs";
import { around, functionRows } from "./functions.mjs";
import { compared, differenceText } from "./noise.mjs";

const TABLE_ROWS = 400,
	AROUND_ROWS = 100,
	ROWS_AT_ONCE = 60;
const TURNS = { rows: null };
function functionButton(fn, list) {
	const name = fn ? M.names[fn] : "nobody: it is outermost";
	const button = node("button", {
		className: "name",
		textContent: name,
		title: `${name}\n${M.texts[M.fnObject[fn]]}`,
		disabled: !fn,
		tabIndex: -1,
	});

	button.dataset.key = `${list} ${fn}`;
	button.addEventListener("click", () => ask.choose(fn));
	return button;
}

function heading(key, text, className = "") {
	const button = node("button", { textContent: text });
	const th = node("th", { scope: "col", className }, button);

	th.setAttribute(
		"aria-sort",
		S.sort === key ? (key === "name" ? "ascending" : "descending") : "none",
	);
	button.dataset.sort = key;
	button.dataset.key = `by ${key}`;
	button.addEventListener("click", () => {
		S.sort = key;
		drawTable();
		ask.moved();
	});
	return th;
}

/* The object's name; its path where the mouse stays. */
function objectCell(path) {
	return node("td", {
		className: "amount object",
		title: path,
		textContent: path.split("/").pop(),
	});
}

function amounts(weight, whole) {
	return [
		node("td", { textContent: percent(weight, whole) }),
		node("td", { className: "amount", textContent: amount(weight) }),
	];
}

/* A share of before, and by how much it changed with what noise could be. className: of both. */
export function changeCells(before, change, noise, className = "") {
	const sure = noise.verdict > 0 ? "more" : noise.verdict < 0 ? "less" : "unsure";
	const ratio =
		`${noise.ratio.toFixed(2)} times as much (${noise.least.toFixed(2)} to ` +
		`${noise.most.toFixed(2)}, 95 %)`;

	return [
		node("td", { className, textContent: `${(100 * before).toFixed(1)} %` }),
		node("td", {
			className: `${sure} ${className}`,
			textContent: differenceText(100 * change, noise),
			title: ratio,
		}),
	];
}

const column = (textContent, className = "") =>
	node("th", { scope: "col", className, textContent });

/* Columns that the narrowest windows leave out of two recordings, so that names are seen. */
const WIDE = "wide";

function functionHeadings() {
	if (twoSides())
		return [
			heading("self", "self"),
			column("before"),
			heading("change", "change, points"),
			heading("total", "total", WIDE),
			column("before", WIDE),
			heading("changetotal", "change, points", WIDE),
			heading("name", "function"),
			column("object", "amount"),
		];
	return [
		heading("self", "self"),
		column("amount", "amount"),
		heading("total", "total"),
		column("amount", "amount"),
		heading("name", "function"),
		column("object", "amount"),
	];
}

function functionRow(r) {
	const whole = wholeOf(0),
		row = node("tr"),
		changed = r.changed;

	if (changed)
		for (const [by, className] of [
			["self", ""],
			["total", WIDE],
		])
			row.append(
				node("td", { className, textContent: percent(r[by], whole) }),
				...changeCells(
					changed[by].before,
					changed[by].change,
					changed[by].noise,
					className,
				),
			);
	else row.append(...amounts(r.self, whole), ...amounts(r.total, whole));
	row.append(
		node("td", {}, functionButton(r.fn, "functions")),
		objectCell(M.texts[M.fnObject[r.fn]]),
	);
	row.setAttribute("aria-selected", r.fn === S.fn);
	return row;
}

/* What waits until what there is has been painted; a page that nobody sees is not. */
function behindPicture(run) {
	if (document.hidden) setTimeout(run, 0);
	else requestAnimationFrame(() => setTimeout(run, 0));
}

/* Rows that a window shows at once, and down to the one that has the focus, then the others, some
 * behind each picture: making elements of all would hold up the answer. */
function showRows(rows) {
	const key = document.activeElement?.dataset.key,
		focused = Number(/^functions (\d+)/.exec(key)?.[1]),
		mine = {},
		first = Math.max(ROWS_AT_ONCE, rows.findIndex((r) => r.fn === focused) + 1);
	const next = (from, n) => {
		if (TURNS.rows !== mine) return;
		$("functions").append(...rows.slice(from, from + n).map(functionRow));
		if (from + n < rows.length) behindPicture(() => next(from + n, ROWS_AT_ONCE));
	};

	TURNS.rows = mine;
	$("functions").replaceChildren();
	next(0, first);
	firstStop($("functions"));
}

/* The table of functions, and what is around the chosen one. */
export const drawTable = () => keepingFocus($("table"), drawAll);

function drawAll() {
	const rows = functionRows(S.sort, S.matched),
		n = rows.length;
	const cut =
		n > TABLE_ROWS
			? `, the first ${TABLE_ROWS} are shown: search finds the others`
			: "";
	const noise = twoSides()
		? `. Compared with ${M.meta.sides[1].name}; \u00b1: what counting samples ` +
			`could make (95 %), ~: it could be all of it. ` +
			"Runs of a program differ by more than that: seam diff takes several " +
			"of each."
		: "";

	$("functionhead").replaceChildren(node("tr", {}, ...functionHeadings()));
	showRows(rows.slice(0, TABLE_ROWS));
	$("functioncount").textContent = `${grouped(n)} functions${cut}${noise}`;
	drawAround();
}

const NOTHING = { weight: 0, hits: 0 };

/* Callers, or callees: the heaviest of both sides first. */
function aroundList(id, now, before) {
	const all = [...new Set([...now.keys(), ...before.keys()])].map((fn) => ({
		fn,
		now: now.get(fn) || NOTHING,
		before: before.get(fn) || NOTHING,
	}));
	const whole = wholeOf(0),
		wholeBefore = wholeOf(1),
		most = (r) => Math.max(r.now.weight, r.before.weight);

	all.sort((a, b) => most(b) - most(a) || M.rank[a.fn] - M.rank[b.fn]);
	$(id).replaceChildren(
		...all.slice(0, AROUND_ROWS).map((r) => {
			const row = node("tr", {}, ...amounts(r.now.weight, whole)),
				was = wholeBefore ? r.before.weight / wholeBefore : 0;

			if (twoSides())
				row.append(
					...changeCells(
						was,
						(whole ? r.now.weight / whole : 0) - was,
						compared(r.before.hits, r.now.hits),
					),
				);
			row.append(node("td", {}, functionButton(r.fn, id)));
			return row;
		}),
	);
	const more = grouped(all.length - AROUND_ROWS);
	if (all.length > AROUND_ROWS)
		$(id).append(node("tr", {}, node("td", { textContent: `and ${more} more` })));
	firstStop($(id));
}

export function drawAround() {
	const fn = S.fn > 0 ? S.fn : 0,
		none = { callers: new Map(), callees: new Map() };

	$("around").hidden = !fn;
	if (!fn) return;
	const now = once(`around ${fn}`, () => around(fn, 0)),
		before = T.total[1] ? once(`around ${fn} before`, () => around(fn, 1)) : none;
	$("aroundname").textContent = M.names[fn];
	aroundList("callerrows", now.callers, before.callers);
	aroundList("calleerows", now.callees, before.callees);
}
