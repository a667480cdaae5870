// SPDX-License-Identifier: MIT
// source.mjs: the pane of source: lines and instructions of the chosen function, with what hit
// each. All texts of it come from files: they become text of elements, never markup.
import { $, M, S, ask } from "./state.mjs";
import { twoSides } from "./sums.mjs";
import { amount, percent } from "./names.mjs";
import { node } from "./element.mjs";

const P = { shown: null, event: -1, fn: 0 };
const sourceKey = (name, object) => `${name}\n${object}`;

/* What is known of a function's source; undefined: nothing. */
export function sourceOf(fn) {
	if (!M.sources)
		M.sources = new Map(
			(M.meta.source ? M.meta.source.functions : []).map((f) => [
				sourceKey(f.name, f.object),
				f,
			]),
		);
	return M.sources.get(sourceKey(M.names[fn], M.texts[M.fnObject[fn]]));
}

/* Puts what a server said of a function; null: it said nothing. */
export function keepSource(fn, found) {
	sourceOf(fn);
	M.sources.set(sourceKey(M.names[fn], M.texts[M.fnObject[fn]]), found);
}

/* Of an event: samples and weight of each instruction of a part, of each line ("file.line"), of
 * all, and of none of them. */
export function partCounts(part, event) {
	const e = part.events.indexOf(event),
		none = () => ({ samples: 0, weight: 0 });
	const counts = {
		insns: part.insns.map(none),
		lines: new Map(),
		all: none(),
		outside: none(),
	};
	const add = (to, samples, weight) => {
		to.samples += samples;
		to.weight += weight;
	};

	for (const [hitEvent, insn, samples, weight] of part.hits) {
		if (hitEvent !== e) continue;
		add(counts.all, samples, weight);
		add(insn < 0 ? counts.outside : counts.insns[insn], samples, weight);
		if (insn < 0 || part.insns[insn][2] < 0) continue;
		const key = `${part.insns[insn][2]}.${part.insns[insn][3]}`;

		counts.lines.set(key, counts.lines.get(key) || none());
		add(counts.lines.get(key), samples, weight);
	}
	return counts;
}

/* The lines of a part by file, the file with most weight first: [{ file, missing, rows: [{ line,
 * key, text, coded }] }]. coded: it has instructions. A file that is not to be had is missing: its
 * lines are numbers. */
export function partLines(part, counts) {
	const files = part.files.map((file, i) => ({ file, i, weight: 0, rows: new Map() }));

	for (const [file, line, text] of part.lines)
		files[file].rows.set(line, { line, key: `${file}.${line}`, text, coded: false });
	for (const [, , file, line] of part.insns) {
		if (file < 0) continue;
		const row = files[file].rows.get(line) || {
			line,
			key: `${file}.${line}`,
			text: null,
		};

		row.coded = true;
		files[file].rows.set(line, row);
	}
	for (const [key, { weight }] of counts.lines) files[key.split(".")[0]].weight += weight;
	return files
		.filter((f) => f.rows.size)
		.sort((a, b) => b.weight - a.weight || a.i - b.i)
		.map((f) => {
			const rows = [...f.rows.values()].sort((a, b) => a.line - b.line);

			return { file: f.file, missing: rows.every((r) => r.text === null), rows };
		});
}

/* What is missing of a part, and what would help: sentences. */
export function partAdvice(part) {
	const said = [];

	if (part.reason)
		said.push(
			`No instructions: ${part.reason}. The object must be where it was, or ` +
				`in an archive (seam archive), as the build that was recorded; ` +
				"the kernel's is a vmlinux with its symbols (-k FILE).",
		);
	if (!part.files.length && !part.source)
		said.push(
			`No source lines${part.lines_reason ? `: ${part.lines_reason}` : ""}. ` +
				`Debugging information is needed: build with -g, or install ` +
				"the package with its debug symbols, or let seam fetch it " +
				"(DEBUGINFOD_URLS).",
		);
	for (const [file, reason] of part.refused)
		said.push(`Not shown: ${part.files[file]}: ${reason}.`);
	if (part.cut)
		said.push(
			`${part.cut.toLocaleString("en")} instructions far from all samples ` +
				`are left out.`,
		);
	return said;
}

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
			textContent: count.samples ? count.samples.toLocaleString("en") : "",
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

	return node(
		"table",
		{ className: "code", ariaLabel: label },
		node("thead", {}, head),
		node("tbody", {}, ...rows),
	);
}

const none = { samples: 0, weight: 0 };

/* A part's source: for each file its lines, with a mark where some are left out. */
function sourceTables(part, at, counts) {
	return partLines(part, counts).map(({ file, missing, rows }) => {
		const list = [];

		rows.forEach((r, i) => {
			if (i && rows[i - 1].line + 1 !== r.line)
				list.push(
					node(
						"tr",
						{},
						node("td", {
							colSpan: 4,
							className: "gap",
							textContent: "\u22ee",
						}),
					),
				);
			const row = node(
				"tr",
				{},
				...shareCells(counts.lines.get(r.key) || none, counts.all.weight),
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
			listing(`source of ${file}`, ["self", "samples", "line", "source"], list),
		);
	});
}

function insnTable(part, at, counts) {
	const start = BigInt(part.start),
		rows = part.insns.map(([offset, text, file, line], i) => {
			const key = file >= 0 ? `${at}.${file}.${line}` : "";
			const row = node(
				"tr",
				{},
				...shareCells(counts.insns[i], counts.all.weight),
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
	return listing("instructions", ["self", "samples", "address", "instruction"], rows);
}

function drawPart(part, at, fn) {
	const counts = partCounts(part, M.meta.events[S.event].name),
		box = node("section", { className: "part" });

	if (part.in !== M.names[fn])
		box.append(node("h2", { textContent: `inlined into ${part.in}` }));
	box.append(
		node("p", {
			className: "faint",
			textContent:
				`${counts.all.samples.toLocaleString("en")} samples in this ` +
				`code, with what is inlined into it` +
				`: ${amount(counts.all.weight)}` +
				(counts.outside.samples
					? `; ${counts.outside.samples.toLocaleString("en")} ` +
						`of them at no instruction that is shown`
					: ""),
		}),
	);
	for (const text of partAdvice(part))
		box.append(node("p", { className: "advice", textContent: text }));
	box.append(
		node(
			"div",
			{ className: "both" },
			node("div", { className: "lines" }, ...sourceTables(part, at, counts)),
			...(part.source
				? []
				: [
						node(
							"div",
							{ className: "insns" },
							insnTable(part, at, counts),
						),
					]),
		),
	);
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
function markLine(scroll) {
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
function toHottest() {
	const rows = [...$("sourceparts").querySelectorAll(".lines tr[data-line]")],
		of = (row) => parseFloat(row.cells[0].textContent) || 0;
	const row = rows.reduce((best, r) => (!best || of(r) > of(best) ? r : best), null);

	if (row) intoSight(row, "center");
}

/* Without a chosen function: those whose source is here. */
function sourceList() {
	const found = M.meta.source ? M.meta.source.functions : [],
		rows = found.map((f) => {
			const fn = M.names.findIndex(
				(name, i) => name === f.name && M.texts[M.fnObject[i]] === f.object,
			);
			const button = node("button", {
				className: "name",
				textContent: f.name,
				disabled: fn < 1,
			});

			button.addEventListener("click", () => ask.choose(fn));
			return node("li", {}, button);
		});

	return node("ol", {}, ...rows);
}

const sourceChoice = () => S.first > 0 || S.last < M.meta.slices - 1 || S.threads.some((on) => !on);

function sourceCaption(found) {
	const left = M.meta.source && M.meta.source.left;

	if (S.fn < 1)
		return M.meta.source || ask.source
			? "Choose a function in another pane" +
					(M.meta.source
						? ", or one of those whose source is here:"
						: ".")
			: "This page was made without source: seam flame --source puts that " +
					"of the hottest functions into it.";
	if (found && found.error) return found.error;
	if (found)
		return (
			(twoSides() ? `Of ${M.meta.sides[0].name} alone. ` : "") +
			(ask.source
				? "Of the chosen span and threads."
				: sourceChoice()
					? "Of the whole recording: a chosen span, threads and " +
						"states are not followed here (seam view does)."
					: "")
		);
	if (ask.source)
		return found === null
			? "The server has nothing of it: no sample is in its code."
			: "The server is asked \u2026";
	return M.meta.source
		? `The source of this function is not in the page${
				left
					? ` (nor of ${left.toLocaleString("en")} others that ` +
						`samples hit: ` +
						"the hottest come first)"
					: ": no sample hit it itself, or it has no name"
			}. seam view shows every function, and so does seam annotate.`
		: "This page was made without source: seam flame --source puts that of the " +
				"hottest functions into it, and seam view shows every function.";
}

/* The pane as it is now. What is shown already stays, with its place. */
export function drawSource() {
	if (ask.sourceChosen) ask.sourceChosen();
	const fn = S.fn > 0 ? S.fn : 0,
		found = fn ? sourceOf(fn) : undefined,
		waits = fn && found === undefined && ask.source;

	if (waits) ask.source(fn);
	$("sourcename").textContent = fn ? M.names[fn] : "Source";
	$("sourcecaption").textContent = sourceCaption(found);
	if (waits && P.fn === fn) return;
	P.fn = fn;
	if (P.shown !== (found || fn) || P.event !== S.event) {
		P.shown = found || fn;
		P.event = S.event;
		$("sourceparts").replaceChildren(
			...(found
				? found.parts.map((part, i) => drawPart(part, i, fn))
				: fn
					? []
					: [sourceList()]),
		);
		if (found && found.more)
			$("sourceparts").append(
				node("p", {
					className: "faint",
					textContent:
						`It is inlined into ${found.more} more ` +
						`functions, with fewer samples.`,
				}),
			);
		if (S.line) markLine(true);
		else toHottest();
	} else {
		markLine(false);
	}
}
