// SPDX-License-Identifier: MIT
// block.mjs: a block of data for the page, made up: what flame.c writes of a recording.
import { M, S } from "../../src/export/flame/state.mjs";
import { index, parse } from "../../src/export/flame/data.mjs";
import { wholeSpans } from "../../src/export/flame/sums.mjs";

/* Segments of nodes [parent, function] that stand before what is below them, as
 * flame_chains.c makes them. */
function segmentsOf(nodes, rows) {
	const chains = [],
		texts = new Map(),
		segments = [],
		segmentOf = [];
	const hit = new Set(rows.map((r) => r.node)),
		kids = nodes.map(() => 0);
	let chain = null;

	nodes.slice(1).forEach(([parent]) => kids[parent]++);
	const end = () => {
		if (!texts.has(chain.join())) texts.set(chain.join(), chains.push(chain) - 1);
		segments.at(-1).chain = texts.get(chain.join());
	};
	nodes.forEach(([parent, fn], i) => {
		if (i <= 1 || parent === 0 || hit.has(parent) || kids[parent] > 1) {
			if (chain) end();
			chain = [];
			segments.push({ parent: i ? segmentOf[parent] : 0, chain: 0 });
		}
		chain.push(fn);
		segmentOf[i] = segments.length - 1;
	});
	end();
	return { chains, segments, segmentOf };
}

/* of: functions [name, kind], nodes [parent, function], rows {node, thread, slice, weight, event},
 * threads [comm, pid, tid] */
export function block(of) {
	const texts = [""],
		text = (s) => (texts.includes(s) ? texts.indexOf(s) : texts.push(s) - 1);
	const tree = segmentsOf(of.nodes, of.rows);
	const rows = of.rows
		.map((r) => ({ ...r, segment: tree.segmentOf[r.node] }))
		.sort((a, b) => a.segment - b.segment);
	const what = ({ event = 0, state = 0, side = 0 }) => [event, state, side].join(),
		whats = [...new Set(rows.map(what))],
		unit = of.rowUnit || 1;
	const names = of.functions.map(([name]) => text(name));
	const meta = {
		title: "made up",
		icicle: false,
		slices: 1024,
		functions: of.functions.length,
		nodes: of.nodes.length,
		chains: tree.chains.length,
		chained: tree.chains.flat().length,
		segments: tree.segments.length,
		rows: of.rows.length,
		unit,
		whats: whats.map((text) => text.split(",").map(Number)),
		sides: of.sides || [{ name: "one", start: 100, seconds: 2, lost: 0, undecoded: 0 }],
		events: of.events || [{ name: "cycles", unit: of.unit || "count", first: false }],
		states: of.states || [{ text: "taken at once", unfinished: false }],
		threads: of.threads.map(([comm, pid, tid]) => [text(comm), pid, tid]),
		texts,
	};
	const head = new TextEncoder().encode(JSON.stringify(meta));
	const words = [
		names,
		names.map(() => 0),
		of.functions.map(([, kind]) => kind),
		tree.chains.map((chain) => chain.length),
		tree.chains.flat(),
		tree.segments.map(({ parent }, s) => s - parent),
		tree.segments.map(({ chain }) => chain),
		rows.map((r, i) => r.segment - (i ? rows[i - 1].segment : 0)),
		rows.map((r) => r.thread),
		rows.map((r) => r.slice),
		rows.map((r) => whats.indexOf(what(r))),
		rows.map((r) => r.samples || 1),
		rows.map((r) => r.weight / unit),
	];
	return bytesOf(head, words, of.width);
}

/* Makes a block the page's, with all of it chosen. */
export function open(of) {
	for (const key of Object.keys(M)) delete M[key];
	Object.assign(M, parse(block(of)));
	index(M);
	Object.assign(S, {
		event: 0,
		spans: wholeSpans(),
		focus: -1,
		callers: false,
		threads: new Uint8Array(of.threads.length).fill(1),
		states: new Uint8Array(256).fill(1),
	});
}

const padded = (n) => (n + 7) & ~7;

/* A block of these arrays, as flame_arrays.c writes them. A number has so many bytes at least. */
function bytesOf(head, arrays, least = 1) {
	const widths = arrays.map((array) =>
			Math.max(
				least,
				[1, 2, 4, 8].find((n) => n > 4 || array.every((v) => v < 256 ** n)),
			),
		),
		size = arrays.reduce((n, array, i) => n + 8 + padded(widths[i] * array.length), 0);
	let at = padded(4 + head.length);
	const bytes = new ArrayBuffer(at + size),
		view = new DataView(bytes);
	const set = {
		1: view.setUint8,
		2: view.setUint16,
		4: view.setUint32,
		8: view.setFloat64,
	};

	view.setUint32(0, head.length, true);
	new Uint8Array(bytes, 4).set(head);
	arrays.forEach((array, i) => {
		const width = widths[i];

		view.setUint32(at, width, true);
		array.forEach((v, k) => set[width].call(view, at + 8 + width * k, v, true));
		at += 8 + padded(width * array.length);
	});
	return bytes;
}
