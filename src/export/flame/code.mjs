// SPDX-License-Identifier: MIT
// code.mjs: a part of a function's code on the screen: its lines and instructions with what hit
// each, of two recordings side by side. All texts of it come from files: they become text of
// elements, never markup.
import { $, M, S, T, ask } from "./state.mjs";
import { sideWhole, wholeOf } from "./sums.mjs";
import { sameInsns, sameLines, shareChange } from "./aligned.mjs";
import { changeCells } from "./table.mjs";
import { partAdvice, partCounts, partLines } from "./parts.mjs";
import { amount, grouped, percent } from "./names.mjs";
import { firstStop, node } from "./element.mjs";

function shareCells(count, whole) {
	const share = whole ? count.weight / whole : 0,
		cell = node("td", {
			textContent: count.samples ? percent(count.weight, whole) : "",
		});

	if (count.samples)
		cell.style.background =
			`color-mix(in srgb, var(--accent) ` +
			`${Math.round(40 * Math.sqrt(share))}%, transparent)`;
	return [
		cell,
		node("td", {
			className: "amount",
			textContent: count.samples ? grouped(count.samples) : "",
		}),
	];
}

/* A button that chooses a line; of no line it is mere text. */
function lineButton(text, key, what) {
	const button = node("button", {
		className: "line",
		textContent: text,
		disabled: !key,
		title: what,
		tabIndex: -1,
	});

	button.addEventListener("click", () => {
		S.line = S.line === key ? "" : key;
		markLine(true);
		ask.moved();
	});
	return button;
}

function listing(label, names, rows) {
	const head = node(
		"tr",
		{},
		...names.map((name) =>
			node("th", {
				scope: "col",
				textContent: name,
				className: name === "samples" ? "amount" : "",
			}),
		),
	);

	const body = node("tbody", {}, ...rows);

	firstStop(body);
	return node(
		"table",
		{ className: "code", ariaLabel: label },
		node("thead", {}, head),
		body,
	);
}

const none = { samples: 0, weight: 0 };

/* Before a line or an instruction of two recordings, if it was hit in one: what it had before, and
 * by how much it changed. */
function comparedCells(count, before, compared) {
	if (!compared) return [];
	if (before === undefined || (!count.samples && !before.samples))
		return [node("td"), node("td")];
	const { before: was, change, noise } = shareChange(count, before, compared.wholes);
	return changeCells(was, change, noise);
}

/* What shares are shares of: all that is in the part; of two recordings all of each. */
const partWhole = (counts, compared) => (compared ? compared.wholes[0] : counts.all).weight;

/* What a part is compared with: the part before with its counts and lines, and the wholes. Null: it
 * is of one recording. */
function comparedWith(part, counts, before) {
	if (!before) return null;
	const was = partCounts(before, M.meta.events[S.event].name);

	return {
		counts: was,
		lines: sameLines(
			part,
			partLines(part, counts),
			before,
			partLines(before, was),
		),
		insns: sameInsns(part, before),
		wholes: [0, 1].map((side) =>
			ask.source
				? { weight: wholeOf(side), samples: T.samples[side] }
				: sideWhole(side),
		),
	};
}

const COMPARED = ["before", "change, points"];

/* A part's source: for each file its lines, with a mark where some are left out. */
function sourceTables(part, at, counts, compared) {
	const columns = compared ? COMPARED : [];
	const lineBefore = (key) =>
		compared && compared.lines.has(key)
			? compared.counts.lines.get(compared.lines.get(key)) || none
			: undefined;

	return partLines(part, counts).map(({ file, missing, rows }) => {
		const list = [];

		rows.forEach((r, i) => {
			if (i && rows[i - 1].line + 1 !== r.line)
				list.push(
					node(
						"tr",
						{},
						node("td", {
							colSpan: 4 + columns.length,
							className: "gap",
							textContent: "\u22ee",
						}),
					),
				);
			const row = node(
				"tr",
				{},
				...shareCells(
					counts.lines.get(r.key) || none,
					partWhole(counts, compared),
				),
				...comparedCells(
					counts.lines.get(r.key) || none,
					lineBefore(r.key),
					compared,
				),
				node(
					"td",
					{},
					lineButton(
						r.line,
						r.coded ? `${at}.${r.key}` : "",
						"its instructions",
					),
				),
				node("td", {
					className: "text",
					textContent: r.text === null ? "" : r.text,
				}),
			);

			row.dataset.line = `${at}.${r.key}`;
			list.push(row);
		});
		return node(
			"div",
			{},
			node("h3", { textContent: file }),
			...(missing
				? [
						node("p", {
							className: "faint",
							textContent:
								"This file was not on the " +
								"machine that looked: only " +
								"numbers of lines are known. " +
								"seam archive takes sources along.",
						}),
					]
				: []),
			listing(
				`source of ${file}`,
				["self", "samples", ...columns, "line", "source"],
				list,
			),
		);
	});
}

function insnTable(part, at, counts, compared) {
	const of = compared && compared.insns,
		insnBefore = (i) =>
			of && of[i] !== undefined ? compared.counts.insns[of[i]] : undefined;
	const start = BigInt(part.start),
		rows = part.insns.map(([offset, text, file, line], i) => {
			const key = file >= 0 ? `${at}.${file}.${line}` : "";
			const row = node(
				"tr",
				{},
				...shareCells(counts.insns[i], partWhole(counts, compared)),
				...comparedCells(counts.insns[i], insnBefore(i), of && compared),
				node(
					"td",
					{},
					lineButton(
						(start + BigInt(offset)).toString(16),
						key,
						key
							? `${part.files[file]}:${line}`
							: "its line is not known",
					),
				),
				node("td", { className: "text", textContent: text }),
			);

			row.dataset.line = key;
			return row;
		});
	return listing(
		"instructions",
		["self", "samples", ...(of ? COMPARED : []), "address", "instruction"],
		rows,
	);
}

/* The other recording's code of the same function, to be opened. */
export function drawBefore(part, at, fn) {
	return node(
		"details",
		{ className: "was" },
		node("summary", { textContent: `${M.meta.sides[1].name}: its own code` }),
		drawPart(part, `before ${at}`, fn, null),
	);
}

/* What was not compared, and why. */
function comparedAdvice(compared) {
	if (!compared || compared.insns) return [];
	return [
		"Lines are compared by their text. Instructions are not: the recordings are of " +
			"two builds, or their builds are not known.",
	];
}

export function drawPart(part, at, fn, before) {
	const counts = partCounts(part, M.meta.events[S.event].name),
		compared = comparedWith(part, counts, before),
		box = node("section", { className: "part" });

	if (part.in !== M.names[fn])
		box.append(node("h2", { textContent: `inlined into ${part.in}` }));
	box.append(
		node("p", {
			className: "faint",
			textContent:
				`${grouped(counts.all.samples)} samples in this ` +
				`code, with what is inlined into it` +
				`: ${amount(counts.all.weight)}` +
				(counts.outside.samples
					? `; ${grouped(counts.outside.samples)} ` +
						`of them at no instruction that is shown`
					: ""),
		}),
	);
	for (const text of [...partAdvice(part), ...comparedAdvice(compared)])
		box.append(node("p", { className: "advice", textContent: text }));
	box.append(
		node(
			"div",
			{ className: "both" },
			node(
				"div",
				{ className: "lines" },
				...sourceTables(part, at, counts, compared),
			),
			...(part.source
				? []
				: [
						node(
							"div",
							{ className: "insns" },
							insnTable(part, at, counts, compared),
						),
					]),
		),
	);
	if (before) box.append(drawBefore(before, at, fn));
	return box;
}

/* Lines are long: only down and up. */
function intoSight(row, block) {
	const lists = [$("source"), ...$("sourceparts").querySelectorAll(".lines, .insns")],
		left = lists.map((list) => list.scrollLeft);

	row.scrollIntoView({ block });
	lists.forEach((list, i) => {
		list.scrollLeft = left[i];
	});
}

/* Marks the chosen line and its instructions; scroll: brings them into view. */
export function markLine(scroll) {
	for (const row of $("sourceparts").querySelectorAll("tr[data-line]"))
		row.setAttribute("aria-selected", !!S.line && row.dataset.line === S.line);
	if (scroll && S.line)
		for (const list of [".lines", ".insns"]) {
			const row = $("sourceparts").querySelector(
				`${list} tr[aria-selected="true"]`,
			);

			if (row) intoSight(row, "nearest");
		}
}

/* The hottest line into view. */
export function toHottest() {
	const lines = ".part > .both > .lines tr[data-line]";
	const rows = [...$("sourceparts").querySelectorAll(lines)].filter(
			(row) => !row.closest("details"),
		),
		of = (row) => parseFloat(row.cells[0].textContent) || 0;
	const row = rows.reduce((best, r) => (!best || of(r) > of(best) ? r : best), null);

	if (row) intoSight(row, "center");
}
