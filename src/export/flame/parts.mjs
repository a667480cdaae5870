// SPDX-License-Identifier: MIT
// parts.mjs: what is known of a part of a function's code (annotate_page.c): what hit its
// instructions and lines, and what is missing. Knows nothing of the screen.
import { grouped } from "./names.mjs";

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
			`${grouped(part.cut)} instructions far from all samples ` +
				`are left out.`,
		);
	return said;
}
