// SPDX-License-Identifier: MIT
// aligned.mjs: a function's code in two recordings: which line, or instruction, of one is which of
// the other, and by how much its share has changed. Knows nothing of the screen.
import { compareCounts } from "./noise.mjs";

/* More pairs than this are not tried. */
const PAIRS = 4000000;

/* The longest common subsequence of two lists of texts: pairs of places, in order. */
export function aligned(now, before) {
	const pairs = [];
	let from = 0,
		a = now.length,
		b = before.length;

	while (from < a && from < b && now[from] === before[from]) pairs.push([from, from++]);
	const ends = [];
	while (a > from && b > from && now[a - 1] === before[b - 1]) ends.push([--a, --b]);
	const rows = a - from,
		columns = b - from,
		wide = columns + 1;
	if (rows * columns > PAIRS) return [...pairs, ...ends.reverse()];
	const most = new Uint32Array((rows + 1) * wide);
	for (let i = rows - 1; i >= 0; i--)
		for (let k = columns - 1; k >= 0; k--) {
			const at = i * wide + k;
			if (now[from + i] === before[from + k]) most[at] = 1 + most[at + wide + 1];
			else most[at] = Math.max(most[at + wide], most[at + 1]);
		}
	for (let i = 0, k = 0; i < rows && k < columns; )
		if (now[from + i] === before[from + k]) pairs.push([from + i++, from + k++]);
		else if (most[(i + 1) * wide + k] >= most[i * wide + k + 1]) i++;
		else k++;
	return [...pairs, ...ends.reverse()];
}

const sameBuild = (a, b) => !!a.build_id && a.build_id === b.build_id;

/* What a line is known by: its text; where that is not to be had, its number, if both sides are of
 * one build. */
const lineName = (row, same, side) =>
	row.text === null ? (same ? `#${row.line}` : `#${side} ${row.line}`) : `=${row.text}`;

/* Of a part's files (partLines) and the other recording's: key of a line now -> its key before. A
 * file is the same by its name; of another directory's by the last part of it. */
export function sameLines(part, files, other, otherFiles) {
	const same = sameBuild(part, other),
		base = (file) => file.split("/").pop(),
		found = new Map();

	for (const { file, rows } of files) {
		const was =
			otherFiles.find((f) => f.file === file) ||
			otherFiles.find((f) => base(f.file) === base(file));

		if (!was) continue;
		const pairs = aligned(
			rows.map((row) => lineName(row, same, 0)),
			was.rows.map((row) => lineName(row, same, 1)),
		);
		for (const [i, k] of pairs) found.set(rows[i].key, was.rows[k].key);
	}
	return found;
}

/* Place of an instruction now -> its place before: of one build, by its address. null: they are of
 * two builds, whose instructions are others. */
export function sameInsns(part, other) {
	if (!sameBuild(part, other)) return null;
	const at = ({ start, insns }, i) => BigInt(start) + BigInt(insns[i][0]),
		places = new Map(other.insns.map((_, k) => [at(other, k), k]));

	return part.insns.map((_, i) => places.get(at(part, i)));
}

/* By how much a share has changed: wholes are what all of each recording has, now and before. */
export function shareChange(now, before, [whole, wholeBefore]) {
	const share = (count, of) => (of.weight ? count.weight / of.weight : 0);

	return {
		before: share(before, wholeBefore),
		change: share(now, whole) - share(before, wholeBefore),
		noise: compareCounts(
			before.samples,
			wholeBefore.samples,
			now.samples,
			whole.samples,
		),
	};
}
