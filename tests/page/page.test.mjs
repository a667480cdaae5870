// SPDX-License-Identifier: MIT
// page.test.mjs: the page's modules that know nothing of the screen, under node's runner: node
// --test tests/page
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { KIND, M, S, T, runtimeKinds } from "../../src/export/flame/state.mjs";
import { inflate, unpackedSize } from "../../src/export/flame/data.mjs";
import {
	chosenRows,
	prepareSums,
	rowSegments,
	selfSums,
	sideWhole,
	sums,
	wholeOf,
	wholeSpans,
} from "../../src/export/flame/sums.mjs";
import { cutText, amount, grouped, threadFound } from "../../src/export/flame/names.mjs";
import { prepareTrees } from "../../src/export/flame/processes.mjs";
import { build, kidsOf } from "../../src/export/flame/groups.mjs";
import { fnOf, lastFn, outermost, parentOf, segmentOf } from "../../src/export/flame/tree.mjs";
import { follow, path } from "../../src/export/flame/place.mjs";
import { compile } from "../../src/export/flame/choose.mjs";
import { around, functionRows } from "../../src/export/flame/functions.mjs";
import {
	heatMap,
	heatSlices,
	heatStep,
	isWaiting,
	laneState,
	laneSummary,
	laneText,
	lanesOf,
	timelineRows,
} from "../../src/export/flame/heat.mjs";
import { decodeLink, encodeLink, ranges } from "../../src/export/flame/link.mjs";
import { heaviest, inOrder, shownThreads, threadRows } from "../../src/export/flame/order.mjs";
import { partAdvice, partCounts, partLines } from "../../src/export/flame/parts.mjs";
import { keepSource, sourceOf } from "../../src/export/flame/source.mjs";
import { tidSpans } from "../../src/export/flame/served.mjs";
import { aligned, sameInsns, sameLines, shareChange } from "../../src/export/flame/aligned.mjs";
import { compareCounts, differenceText } from "../../src/export/flame/noise.mjs";
import { stateRows } from "../../src/export/flame/stacks.mjs";
import { processes, sameThreads } from "../../src/export/flame/threads.mjs";
import { open } from "./block.mjs";

/* main -> work -> main (recursion) and main -> rest; two threads, at both ends of the time. */
function load(more) {
	open({
		functions: [
			["", 0],
			["all", 0],
			["main", 1],
			["work", 1],
			["rest", 2],
		],
		nodes: [
			[0, 1],
			[0, 2],
			[1, 3],
			[2, 2],
			[1, 4],
		],
		rows: [
			{ node: 3, thread: 0, slice: 0, weight: 10 },
			{ node: 2, thread: 0, slice: 500, weight: 5 },
			{ node: 4, thread: 1, slice: 1023, weight: 7 },
		],
		threads: [
			["one", 1, 1],
			["two", 1, 2],
		],
		...more,
	});
	sums();
}

test("numbers of a block have as many bytes as they need", () => {
	const rows = [
		{ node: 3, thread: 0, slice: 0, weight: 2 ** 33 },
		{ node: 2, thread: 0, slice: 500, weight: 5 },
	];

	for (const width of [1, 2, 4, 8]) {
		load({ width });
		assert.equal(M.rowWeight.BYTES_PER_ELEMENT, width);
		assert.deepEqual([...T.total[0]], [22, 22, 15, 10, 7]);
		load({ width, rows });
		assert.deepEqual([...T.total[0]], [...Array(3).fill(2 ** 33 + 5), 2 ** 33, 0]);
	}
	for (const row of rows) row.weight = 2 ** 33 * (row.slice + 1);
	load({ rows, rowUnit: 2 ** 33 });
	assert.equal(M.rowWeight.BYTES_PER_ELEMENT, 2);
	assert.deepEqual([...T.total[0]], [502, 502, 502, 1, 0].map((n) => n * 2 ** 33));
	assert.equal(selfSums(0)[3], 2 ** 33);
	assert.deepEqual(sideWhole(0), { weight: 502 * 2 ** 33, samples: 2 });
});

test("what is compressed is unpacked, in however many pieces; what is damaged is not", async () => {
	const bytes = Uint8Array.from({ length: 300001 }, (_, i) => (i * i) >> 3),
		packed = new Uint8Array(gzipSync(bytes)),
		size = unpackedSize(packed);
	const cut = (length) =>
		Array.from({ length: Math.ceil(packed.length / length) }, (_, i) =>
			packed.subarray(i * length, (i + 1) * length),
		);
	async function* broken() {
		yield packed.subarray(0, 1000);
		throw new Error("the page ends");
	}

	assert.equal(size, bytes.length);
	for (const length of [1, 1000, packed.length])
		assert.deepEqual(new Uint8Array(await inflate(cut(length), size)), bytes);
	assert.equal((await inflate([new Uint8Array(gzipSync(""))], 0)).byteLength, 0);
	await assert.rejects(inflate(broken(), size), /the page ends/);
	await assert.rejects(inflate([packed], size - 1));
	packed[packed.length >> 1] ^= 255;
	await assert.rejects(inflate([packed], size));
	await assert.rejects(inflate([packed.subarray(0, 1000)], size));
	await assert.rejects(inflate([new Uint8Array(2)], 0));
	await assert.rejects(inflate([], 0));
});

test("digits of numbers are in groups of three", () => {
	for (const n of [0, 7, 999, 1000, 12345, 999999, 1e6, 2 ** 53, 2 ** 64])
		assert.equal(grouped(n), n.toLocaleString("en"));
});

test("totals hold what is below, self does not", () => {
	load();
	assert.equal(wholeOf(0), 22);
	assert.deepEqual([...T.total[0]], [22, 22, 15, 10, 7]);
	assert.deepEqual([...selfSums(0)], [0, 0, 5, 10, 7]);
});

/* Stacks of 30 frames each, which differ in their middles and recur in their ends: main, then a0 or
 * b0 ..., then loop again and again. */
function loadChains() {
	const functions = [
			["", 0],
			["all", 0],
			["main", 1],
			["loop", 1],
			["a", 1],
			["b", 2],
		],
		nodes = [
			[0, 1],
			[0, 2],
		],
		rows = [];

	for (const middle of [4, 5])
		for (let way = 0; way < 3; way++) {
			let at = nodes.push([1, way ? 3 : middle]) - 1;

			for (let i = 0; i < 20; i++)
				at = nodes.push([at, i % 5 ? 3 : i % 2 ? 2 : middle]) - 1;
			rows.push({ node: at, thread: 0, slice: way, weight: 1 + way });
		}
	load({ functions, nodes, rows });
	return { nodes, rows };
}

test("segments hold the tree that nodes are", () => {
	const { nodes, rows } = loadChains();

	assert.equal(M.meta.nodes, nodes.length);
	assert.ok(M.segParent.length < 10 && M.chainStart.length - 1 <= M.segParent.length);
	nodes.forEach(([parent, fn], node) => {
		assert.equal(fnOf(node), fn, `function of ${node}`);
		if (node) assert.equal(parentOf(node), parent, `parent of ${node}`);
	});
	assert.deepEqual(
		Array.from(rowSegments(), (s) => M.segStart[s + 1] - 1),
		rows.map((r) => r.node),
	);
	assert.equal(lastFn(segmentOf(rows[0].node)), 3);
});

/* Cells of callers against stacks, innermost function first, from a place on. */
function sameCallers(root, nodes, rows, begin) {
	const weights = new Map(),
		seen = new Map();
	const walk = (g, way) => {
		for (const kid of kidsOf(g)) {
			seen.set(`${way}<${kid.fn}`, kid.value);
			walk(kid, `${way}<${kid.fn}`);
		}
	};

	for (const { node, weight } of rows) {
		const fns = [];
		let way = "";

		for (let at = node; at; at = nodes[at][0]) fns.push(nodes[at][1]);
		if (begin(fns) || !root.fn)
			for (const fn of fns.slice(begin(fns))) {
				way += `<${fn}`;
				weights.set(way, (weights.get(way) || 0) + weight);
			}
	}
	walk(root, "");
	assert.ok(weights.size > 2);
	assert.deepEqual([...seen].sort(), [...weights].sort());
}

test("sums over segments are those over all nodes", () => {
	const { nodes, rows } = loadChains();
	const total = new Map(),
		calls = new Map();
	const add = (map, key, weight) => map.set(key, (map.get(key) || 0) + weight);

	for (const { node, weight } of rows) {
		const fns = [];

		for (let at = node; at; at = nodes[at][0]) fns.push(nodes[at][1]);
		for (const fn of new Set(fns)) add(total, M.names[fn], weight);
		const pairs = fns.map((fn, i) => `${M.names[fns[i + 1] || 0]}>${M.names[fn]}`);
		for (const pair of new Set(pairs)) add(calls, pair, weight);
	}
	for (const r of functionRows("total", null))
		assert.equal(r.total, total.get(M.names[r.fn]), M.names[r.fn]);
	const seen = new Map();
	for (const fn of [2, 3, 4, 5]) {
		const { callers, callees } = around(fn, 0);

		for (const [other, { weight }] of callers)
			seen.set(`${M.names[other]}>${M.names[fn]}`, weight);
		for (const [other, { weight }] of callees)
			assert.equal(weight, calls.get(`${M.names[fn]}>${M.names[other]}`));
	}
	assert.deepEqual([...seen].sort(), [...calls].sort());
	S.callers = true;
	build();
	sameCallers(S.root, nodes, rows, () => 0);
	S.callers = false;
	S.focus = 4;
	build();
	sameCallers(S.above, nodes, rows, (fns) => fns.lastIndexOf(4) + 1);
	S.focus = -1;
	build();
	for (let g = S.root, depth = 0; kidsOf(g).length; g = kidsOf(g)[0], depth++)
		assert.equal(
			kidsOf(g).reduce((sum, kid) => sum + kid.value, 0),
			g.value,
			`below ${depth}`,
		);
	S.callers = true;
	build();
	assert.equal(
		kidsOf(S.root).reduce((sum, kid) => sum + kid.value, 0),
		12,
	);
	S.callers = false;
});

test("a span and a thread leave the rest out", () => {
	load();
	S.spans[0][0] = 400;
	sums();
	assert.equal(wholeOf(0), 12);
	S.threads[1] = 0;
	sums();
	assert.equal(wholeOf(0), 5);
});

test("children stand in the order of their names, and a path is found again", () => {
	load();
	build();
	const main = kidsOf(S.root)[0];
	assert.deepEqual(
		kidsOf(main).map((k) => M.names[k.fn]),
		["rest", "work"],
	);
	const work = kidsOf(main)[1];
	assert.equal(follow(path(work)), work);
});

test("a function that calls itself counts once", () => {
	load();
	assert.deepEqual([...outermost(2)], [1]);
	S.focus = 2;
	build();
	assert.equal(S.root.value, 22);
});

test("names lose their middle, functions without one what stands before their address", () => {
	assert.equal(cutText("abcdefghijklmnopqrstuvwxyz", 12), "abcdefg\u2026wxyz");
	assert.equal(cutText("abcdefghij", 5), "abcd\u2026");
	assert.equal(cutText("[unknown cc1plus+0x7f4d20]", 15), "[unk\u2026+0x7f4d20]");
	assert.equal(Array.from(cutText("\u{1f600}".repeat(30), 12)).length, 12);
});

test("amounts have their unit", () => {
	load();
	assert.equal(amount(1234), "1,234 cycles");
	load({ unit: "nanoseconds" });
	assert.equal(amount(2.5e6), "2.50 ms");
	assert.equal(amount(3e9), "3.00 s");
});

test("a pattern between slashes is a regex, and a bad one none", () => {
	assert.equal(compile("/^ma/")("main"), true);
	assert.equal(compile("MAI")("main"), true);
	assert.equal(compile("/(/"), null);
});

test("the table counts a sample once, whatever calls itself", () => {
	load();
	const rows = functionRows("total", null).map((r) => [M.names[r.fn], r.self, r.total]);
	assert.deepEqual(rows, [
		["main", 10, 22],
		["work", 5, 15],
		["rest", 7, 7],
	]);
	assert.deepEqual(
		functionRows("self", null)
			.slice(0, 2)
			.map((r) => M.names[r.fn]),
		["main", "rest"],
	);
	assert.deepEqual(
		functionRows("name", null).map((r) => M.names[r.fn]),
		["main", "rest", "work"],
	);
});

test("callers and callees have the weight of the samples with the call", () => {
	load();
	const of = around(3, 0),
		name = (map) => [...map].map(([fn, { weight }]) => [M.names[fn], weight]);
	assert.deepEqual(name(of.callers), [["main", 15]]);
	assert.deepEqual(name(of.callees), [["main", 10]]);
	assert.deepEqual(name(around(2, 0).callees).sort(), [
		["rest", 7],
		["work", 15],
	]);
});

test("the map has all weight, each in its second and part of it", () => {
	load();
	const map = heatMap();
	assert.equal(map.columns, 2);
	assert.equal(
		map.cells.reduce((a, b) => a + b),
		22,
	);
	assert.equal(map.cells[0], 10);
	assert.equal(map.cells[(map.rows - 1) * 2 + 1], 7);
	assert.equal(map.rows, 50);
	const [first, last] = heatSlices(1, 0, map);
	assert.ok(first === 512 && last >= first && last < 530, `${first} ${last}`);
});

test("steady work is even in the map, however slices and rows lie", () => {
	for (const seconds of [0.37, 1.3, 8.012, 9.9, 33.3, 200, 5000]) {
		load({
			sides: [{ name: "steady", start: 0, seconds, lost: 0, undecoded: 0 }],
			rows: Array.from({ length: 1024 }, (_, slice) => ({
				node: 1,
				thread: 0,
				slice,
				weight: 1000,
			})),
		});
		const { columns, rows, step, cells } = heatMap(),
			inside = [],
			all = cells.reduce((a, b) => a + b);

		assert.ok(Math.abs(all - 1024000) < 1e-3, `${seconds} s: ${all}`);
		/* The last row may be cut by the recording's end. */
		for (let at = 0; at < Math.floor((seconds / step) * rows) - 1; at++)
			inside.push(cells[(at % rows) * columns + Math.floor(at / rows)]);
		const [least, most] = [Math.min(...inside), Math.max(...inside)];
		assert.ok(most < least * 1.001, `${seconds} s: ${least} to ${most}`);
	}
});

test("rows of the map are no shorter than slices of time", () => {
	load({ sides: [{ name: "long", start: 0, seconds: 200, lost: 0, undecoded: 0 }] });
	const map = heatMap();
	assert.equal(map.rows, 5);
	for (let row = 0; row < map.rows; row++) {
		const [first, last] = heatSlices(7, row, map);
		assert.ok(first <= last && last < M.meta.slices, `${row}: ${first} ${last}`);
	}
});

test("threads stand below their process, waiting apart", () => {
	load();
	const rows = timelineRows();
	lanesOf(rows[0].threads, 4);
	assert.equal(rows.length, 1);
	assert.deepEqual(
		rows[0].threads.map((t) => [t.t, t.samples]),
		[
			[0, 2],
			[1, 1],
		],
	);
	assert.deepEqual([...rows[0].threads[0].lanes[0]], [1, 1, 0, 0]);
	assert.deepEqual(rows[0].threads[0].lanes.slice(1), [null, null, null]);
	assert.deepEqual(
		["cpu-clock", "offcpu-time", "offcpu-blocked:u", "offcpu-runqueue"].map(laneState),
		[0, 1, 2, 3],
	);
	assert.ok(
		isWaiting("offcpu-time") &&
			isWaiting("sched:sched_switch") &&
			!isWaiting("cpu-clock"),
	);
});

test("in order of time a stack stands where its samples are", () => {
	load();
	assert.equal(heaviest(0), 0);
	const rows = threadRows(0, 0),
		cells = [];
	assert.deepEqual(
		Array.from(rows, (row) => M.rowSlice[row]),
		[0, 500],
	);
	inOrder(rows, 1024, (depth, x, width, cell) =>
		cells.push([depth, x, width, M.names[cell.fn], cell.value]),
	);
	assert.ok(
		cells.some(
			([depth, x, , name, value]) =>
				depth === 1 && x === 0 && name === "main" && value >= 10,
		),
		JSON.stringify(cells),
	);
	assert.ok(cells.every(([, x, width]) => x >= 0 && width > 0 && x + width <= 1024));
	const deepest = cells.filter((c) => c[0] === 3);
	assert.deepEqual(
		deepest.map((c) => [c[1], c[3], c[4]]),
		[[0, "main", 10]],
	);
});

test("a link says what was chosen, and is not believed where it is wrong", () => {
	load();
	Object.assign(S, {
		view: "table",
		firstEvent: 0,
		fn: 3,
		pattern: "a&b=c",
		spans: [
			[10, 20],
			[0, M.meta.slices - 1],
		],
		focus: -1,
		callers: false,
		byWeight: false,
		before: false,
		icicle: false,
		sort: "total",
		thread: 1,
	});
	S.threads.set([0, 1]);
	const link = encodeLink([2, 3]);
	Object.assign(S, {
		view: "flame",
		fn: -1,
		pattern: "",
		spans: wholeSpans(),
		sort: "self",
		thread: -1,
	});
	S.threads.fill(1);
	assert.deepEqual(decodeLink(link), [2, 3]);
	assert.deepEqual(
		[
			S.view,
			M.names[S.fn],
			S.pattern,
			S.spans,
			S.sort,
			S.thread,
			[...S.threads],
		],
		[
			"table",
			"work",
			"a&b=c",
			[[10, 20], wholeSpans()[1]],
			"total",
			1,
			[0, 1],
		],
	);
	assert.deepEqual(
		decodeLink(
			"view=evil&span=x-99999999&threads=5-999999&zoom=-1.x.77777&" +
				"focus=1e9&thread=9&sort=x&function=none&without=none&theme=x",
		),
		[],
	);
	assert.deepEqual(
		[S.view, S.spans, S.focus, S.thread, S.sort, S.fn],
		["flame", wholeSpans(), -1, -1, "self", -1],
	);
	assert.equal(ranges([1, 2, 3, 7]), "1-3.7");
});

/* Two events; instructions of lines 8 and 9 of one file, of line 3 of another, and of none. */
const part = {
	in: "work",
	reason: null,
	lines_reason: null,
	source: false,
	start: "0x10",
	cut: 0,
	refused: [],
	files: ["/a.c", "/b.h"],
	events: ["cycles", "faults"],
	insns: [
		[0, "nop", 0, 8],
		[1, "nop", 0, 9],
		[2, "nop", 1, 3],
		[3, "nop", -1, 0],
		[4, "nop", 0, 8],
	],
	hits: [
		[0, 0, 1, 10],
		[0, 4, 2, 20],
		[0, 2, 1, 50],
		[0, 3, 1, 5],
		[0, -1, 1, 7],
		[1, 1, 4, 4],
	],
	lines: [
		[0, 7, "\tfor"],
		[0, 8, "<b>"],
		[0, 9, "}"],
	],
};

test("a line has the samples of all its instructions, of one event", () => {
	const counts = partCounts(part, "cycles");
	assert.deepEqual(
		[...counts.lines],
		[
			["0.8", { samples: 3, weight: 30 }],
			["1.3", { samples: 1, weight: 50 }],
		],
	);
	assert.deepEqual(counts.all, { samples: 6, weight: 92 });
	assert.deepEqual(counts.outside, { samples: 1, weight: 7 });
	assert.deepEqual(
		counts.insns.map((c) => c.samples),
		[1, 0, 1, 1, 2],
	);
	assert.deepEqual(
		[...partCounts(part, "faults").lines],
		[["0.9", { samples: 4, weight: 4 }]],
	);
	assert.equal(partCounts(part, "other").all.samples, 0);
});

test("files stand by weight, and one that is not here has numbers only", () => {
	const files = partLines(part, partCounts(part, "cycles"));
	assert.deepEqual(
		files.map((f) => [f.file, f.missing]),
		[
			["/b.h", true],
			["/a.c", false],
		],
	);
	assert.deepEqual(
		files[1].rows.map((r) => [r.line, r.text, r.coded]),
		[
			[7, "\tfor", false],
			[8, "<b>", true],
			[9, "}", true],
		],
	);
	assert.deepEqual(
		files[0].rows.map((r) => [r.line, r.text]),
		[[3, null]],
	);
});

test("what is missing is said with what would help", () => {
	assert.deepEqual(partAdvice(part), []);
	assert.match(
		partAdvice({ ...part, reason: "not found" })[0],
		/No instructions: not found.*archive/,
	);
	assert.match(
		partAdvice({ ...part, refused: [[1, "it is no text"]] })[0],
		/Not shown: .b.h: it is no text/,
	);
	assert.match(
		partAdvice({ ...part, files: [], lines_reason: "no debugging information" })[0],
		/no debugging information.*-g/,
	);
});

test("source is found by name and object, and one that comes later is kept", () => {
	load();
	M.meta.source = {
		functions: [{ name: "work", object: "", parts: [part], more: 0 }],
		left: 1,
	};
	assert.equal(sourceOf(3).parts[0], part);
	assert.equal(sourceOf(2), undefined);
	keepSource(2, null);
	assert.equal(sourceOf(2), null);
});

test("threads are asked for by spans of ids, and what does not fit is counted", () => {
	assert.deepEqual(tidSpans([7, 5, 6, 12], []), { text: "5-12", left: 0 });
	assert.deepEqual(tidSpans([5, 6, 7, 12, 30], [9, 40]), { text: "5-7.12-30", left: 0 });
	assert.deepEqual(tidSpans([-1, 5], [6]), { text: "-1.5", left: 0 });
	assert.deepEqual(tidSpans([5, 5], [5]), { text: "5", left: 0 });
	assert.deepEqual(tidSpans([], [5]), { text: "", left: 0 });
	const odd = Array.from({ length: 20 }, (_, i) => 100 + 2 * i),
		even = odd.map((id) => id + 1);
	assert.deepEqual(tidSpans(odd, even, 40), {
		text: odd.slice(0, 10).join("."),
		left: 10,
	});
});

test("a link has the line of the source, and nothing else for it", () => {
	load();
	Object.assign(S, {
		view: "source",
		fn: 3,
		line: "0.1.8",
		pattern: "",
		thread: -1,
		sort: "self",
	});
	const link = encodeLink([]);
	assert.match(link, /line=0\.1\.8/);
	S.line = "";
	decodeLink(link);
	assert.deepEqual([S.view, S.fn, S.line], ["source", 3, "0.1.8"]);
	decodeLink("view=source&line=<b>");
	assert.equal(S.line, "");
	S.view = "flame";
});

test("arrow keys move a span by the map's rows and columns", () => {
	load();
	const { rows, columns } = heatMap(),
		column = heatStep("ArrowRight"),
		row = heatStep("ArrowDown");

	assert.equal(heatStep("ArrowLeft"), -column);
	assert.equal(heatStep("ArrowUp"), -row);
	assert.ok(
		Math.abs(column * columns - M.meta.slices) <= columns + column,
		`${columns} columns of ${column}`,
	);
	assert.ok(Math.abs(row * rows - column) <= rows, `${rows} rows of ${row} in ${column}`);
	/* A recording so long that a slice is longer than a row: a key moves something still. */
	M.meta.sides[0].seconds = 1e6;
	assert.equal(heatStep("ArrowDown"), 1);
});

test("of the runtimes that have a colour, those that the recording has are listed", () => {
	const { meta, fnKind } = M,
		first = KIND.UNFINISHED + 1;

	M.meta = { runtimes: [{ name: "Python" }, { name: "PHP" }, { name: "Java" }] };
	M.fnKind = Uint32Array.of(KIND.USER, first + 1, first + 1);
	assert.deepEqual(runtimeKinds(), [first + 1]);
	M.meta = {};
	assert.deepEqual(runtimeKinds(), []);
	[M.meta, M.fnKind] = [meta, fnKind];
});

/* The second side has twice the samples, and less of work. */
function loadTwo() {
	load({
		sides: [
			{ name: "now", start: 100, seconds: 2, lost: 0, undecoded: 0 },
			{ name: "was", start: 0, seconds: 4, lost: 3, undecoded: 0 },
		],
		states: [
			{ text: "taken at once", unfinished: false },
			{ text: "cut off", unfinished: true },
		],
		rows: [
			{ node: 3, thread: 0, slice: 0, weight: 300, samples: 300 },
			{ node: 4, thread: 1, slice: 1023, weight: 700, samples: 700 },
			{ node: 3, thread: 2, slice: 10, weight: 1600, samples: 1600, side: 1 },
			{
				node: 4,
				thread: 1,
				slice: 20,
				weight: 400,
				samples: 400,
				side: 1,
				state: 1,
			},
		],
		threads: [
			["one", 1, 1],
			["two", 1, 2],
			["one", 9, 9],
		],
	});
	S.threads = new Uint8Array(3).fill(1);
	sums();
}

test("a difference has the margin that seam diff gives it", () => {
	/* As `seam diff --json` has it of 88 of 302 and 164 of 298 samples. */
	const noise = compareCounts(88, 302, 164, 298);
	assert.equal(noise.margin.toFixed(6), "0.076266");
	assert.equal(noise.ratio.toFixed(6), "1.888652");
	assert.equal(noise.least.toFixed(6), "1.540693");
	assert.equal(noise.most.toFixed(6), "2.315196");
	assert.equal(noise.verdict, 1);
	assert.equal(compareCounts(3, 302, 0, 298).ratio.toFixed(6), "0.168904");
	assert.equal(compareCounts(3, 302, 0, 298).verdict, 0);
	assert.ok(Number.isFinite(compareCounts(0, 0, 0, 0).margin));
	assert.equal(differenceText(-1.5, { margin: 0.02, verdict: 0 }), "\u22121.50 \u00b12.00 ~");
});

test("functions, cells and calls of two recordings have both figures", () => {
	loadTwo();
	assert.deepEqual([...T.samples], [1000, 2000]);
	const row = functionRows("change", null)[0],
		main = functionRows("name", null)[0];
	assert.equal(M.names[row.fn], "main");
	assert.equal(row.changed.self.change.toFixed(3), "-0.500");
	assert.equal(row.changed.self.noise.verdict, -1);
	assert.equal(main.changed.total.noise.verdict, 0);
	build();
	const all = kidsOf(kidsOf(S.root)[0]),
		rest = all.find((k) => M.names[k.fn] === "rest");
	assert.deepEqual([rest.value, rest.base, rest.hits, rest.baseHits], [700, 400, 700, 400]);
	S.callers = true;
	build();
	const own = kidsOf(S.root).map((k) => [M.names[k.fn], k.value, k.base, k.hits, k.baseHits]);
	assert.deepEqual(own, [
		["main", 300, 1600, 300, 1600],
		["rest", 700, 400, 700, 400],
	]);
	const callee = [...around(2, 1).callees].map(([fn, c]) => [M.names[fn], c.weight, c.hits]);
	assert.deepEqual(callee.sort(), [
		["rest", 400, 400],
		["work", 1600, 1600],
	]);
	S.callers = false;
});

test("states of stacks of two recordings", () => {
	loadTwo();
	const rows = stateRows().map((r) => [
		M.meta.states[r.i].text,
		r.n,
		r.before,
		r.noise.verdict,
	]);
	assert.deepEqual(rows, [
		["taken at once", 1000, 1600, 1],
		["cut off", 0, 400, -1],
	]);
	load();
	assert.equal(stateRows()[0].noise, undefined);
});

test("threads of two recordings are told apart by name, and chosen with each other", () => {
	loadTwo();
	const list = processes().map((p) => [
		M.texts[p.comm],
		p.weight,
		p.threads.map((x) => x.t).sort(),
	]);
	assert.deepEqual(list, [
		["one", [300, 1600], [0, 2]],
		["two", [700, 400], [1]],
	]);
	assert.deepEqual(sameThreads([0]), [0, 2]);
	assert.deepEqual(shownThreads(), [1, 1]);
	S.thread = 0;
	assert.deepEqual(shownThreads(), [0, 2]);
	S.thread = -1;
	load();
	assert.deepEqual(sameThreads([0]), [0]);
});

test("each side has a map, lanes and an order of time of its own", () => {
	loadTwo();
	assert.deepEqual([heatMap(0).columns, heatMap(1).columns], [2, 4]);
	assert.equal(
		heatMap(1).cells.reduce((a, b) => a + b),
		2000,
	);
	const before = timelineRows(1).flatMap((p) => p.threads);
	lanesOf(before, 4);
	assert.deepEqual(
		before.map((x) => [x.t, [...x.lanes[0]]]),
		[
			[2, [1600, 0, 0, 0]],
			[1, [400, 0, 0, 0]],
		],
	);
	assert.deepEqual(laneSummary(before[0]), {
		counts: [1600, 0, 0, 0],
		waited: [0, 0, 0, 0],
		from: 40 / 1024,
		to: 44 / 1024,
	});
	assert.equal(laneText(laneSummary(before[0])), "samples: 1,600 running");
	const cells = [];
	S.spans[0][0] = 500;
	sums();
	inOrder(
		threadRows(2, 1),
		100,
		(depth, x, w, cell) => cells.push([depth, M.names[cell.fn], cell.side]),
		1,
	);
	assert.ok(
		cells.some(([depth, name, side]) => depth === 3 && name === "main" && side === 1),
		String(cells),
	);
	S.spans = wholeSpans();
});

test("a span of either side leaves the rest of that side out, and is in the link", () => {
	loadTwo();
	assert.deepEqual([wholeOf(0), wholeOf(1)], [1000, 2000]);
	S.spans = [
		[0, 600],
		[15, 1023],
	];
	sums();
	assert.deepEqual([wholeOf(0), wholeOf(1)], [300, 400]);
	assert.deepEqual(T.samples, [300, 400]);
	const cells = [];
	inOrder(threadRows(1, 1), 100, (depth, x, w, cell) => cells.push(cell), 1);
	assert.equal(cells[0].value, 400);
	const link = encodeLink([]),
		spans = S.spans;
	assert.match(link, /span=0-600&beforespan=15-1023/);
	decodeLink("");
	assert.deepEqual(S.spans, wholeSpans());
	decodeLink(link);
	assert.deepEqual(S.spans, spans);
	S.spans = wholeSpans();
});

test("a cell of either map is a span of its own side's time", () => {
	loadTwo();
	assert.deepEqual(heatSlices(1, 0, heatMap(1), 1)[0], 256);
	assert.deepEqual(heatSlices(1, 0, heatMap(0), 0)[0], 512);
	assert.equal(heatStep("ArrowRight", 0), 512);
	assert.equal(heatStep("ArrowRight", 1), 256);
});

test("a process has the lanes of all its threads", () => {
	loadTwo();
	const [process] = timelineRows(0);
	assert.equal(process.threads.length, 2);
	lanesOf([process, process.threads[1]], 4);
	assert.deepEqual([...process.lanes[0]], [300, 0, 0, 700]);
	assert.deepEqual([...process.threads[1].lanes[0]], [300, 0, 0, 0]);
	assert.deepEqual(laneSummary(process).counts, [1000, 0, 0, 0]);
});

/* A thread that ran in the first second, then slept for half of one; another that slept first. */
function loadWaits(sleeps, unit = "nanoseconds") {
	open({
		functions: [
			["", 0],
			["all", 0],
			["main", 1],
		],
		nodes: [
			[0, 1],
			[0, 2],
			[1, 2],
		],
		threads: [
			["one", 7, 7],
			["two", 7, 8],
		],
		events: [
			{ name: "cpu-clock", unit: "nanoseconds", first: false },
			{ name: "offcpu-time", unit, first: false },
			{ name: "offcpu-runqueue", unit, first: false },
		],
		rows: [{ node: 2, thread: 0, slice: 100, weight: 1e6 }, ...sleeps],
	});
}

test("a wait is as long as it was, and ends where its sample is", () => {
	loadWaits([
		{ node: 2, thread: 0, slice: 1023, weight: 0.5e9, event: 1 },
		{ node: 2, thread: 1, slice: 511, weight: 0.75e9, event: 1 },
		{ node: 2, thread: 1, slice: 511, weight: 0.25e9, event: 2 },
	]);
	const [process] = timelineRows(0),
		[one, two] = ["one", "two"].map((_, t) => process.threads.find((x) => x.t === t));
	lanesOf([process, one, two], 8);
	assert.deepEqual([...one.lanes[0]], [1, 0, 0, 0, 0, 0, 0, 0]);
	assert.deepEqual([...one.lanes[1]], [0, 0, 0, 0, 0, 0, 1, 1]);
	assert.deepEqual([...two.lanes[1]], [1, 1, 1, 0, 0, 0, 0, 0]);
	assert.deepEqual([...two.lanes[3]], [0, 0, 0, 1, 0, 0, 0, 0]);
	assert.deepEqual([...process.lanes[1]], [0.5, 0.5, 0.5, 0, 0, 0, 0.5, 0.5]);
	assert.equal(laneText(laneSummary(one)), "samples: 1 running; 0.500 s sleeping");
	assert.equal(laneSummary(two).from, 0);
});

test("a wait that overlaps the one before it is a sum, and has no length", () => {
	loadWaits([
		{ node: 2, thread: 0, slice: 600, weight: 1e6, event: 1 },
		{ node: 2, thread: 0, slice: 700, weight: 1e9, event: 1 },
	]);
	const [one] = timelineRows(0)[0].threads;
	lanesOf([one], 1024);
	assert.deepEqual(
		[...one.lanes[1].keys()].filter((x) => one.lanes[1][x]),
		[600, 700],
	);
});

test("waits that are counted, not timed, are counted", () => {
	loadWaits([{ node: 2, thread: 0, slice: 600, weight: 9, event: 1 }], "count");
	const [process] = timelineRows(0);
	lanesOf([process.threads[0]], 4);
	assert.deepEqual([...process.threads[0].lanes[1]], [0, 0, 1, 0]);
	assert.equal(
		laneText(laneSummary(process.threads[0])),
		"samples: 1 running, 1 sleeping",
	);
});

test("threads are found by name and number", () => {
	loadTwo();
	S.filter = "two";
	assert.deepEqual([0, 1, 2].map(threadFound), [false, true, false]);
	S.filter = "9";
	assert.deepEqual([0, 1, 2].map(threadFound), [false, false, true]);
	S.filter = "";
});

test("a link has states of stacks and the theme", () => {
	loadTwo();
	Object.assign(S, {
		view: "flame",
		fn: -1,
		firstSort: "change",
		sort: "total",
		dark: true,
		firstDark: false,
	});
	S.states[1] = 0;
	const link = encodeLink([]);
	assert.deepEqual(new URLSearchParams(link).getAll("without"), ["cut off"]);
	Object.assign(S, { dark: false, sort: "self" });
	S.states.fill(1);
	decodeLink(link);
	assert.deepEqual([S.dark, S.sort, S.states[0], S.states[1]], [true, "total", 1, 0]);
	decodeLink("");
	assert.deepEqual([S.dark, S.sort, S.states[1]], [false, "change", 1]);
	S.firstSort = "self";
});

test("code of two recordings: lines by their text, instructions of one build by address", () => {
	assert.deepEqual(aligned([..."abcd"], [..."xbd"]), [
		[1, 1],
		[3, 2],
	]);
	assert.deepEqual(aligned([], [..."a"]), []);
	assert.deepEqual(aligned([..."aba"], [..."aa"]), [
		[0, 0],
		[2, 1],
	]);
	const row = (line, text) => ({ line, key: `0.${line}`, text });
	const part = (start, build_id) => ({
		start,
		build_id,
		insns: [
			[0, "nop", -1, 0],
			[4, "ret", -1, 0],
		],
	});
	const now = [{ file: "/new/a.c", rows: [row(7, "{"), row(8, "x++;"), row(9, "}")] }],
		before = [{ file: "/old/a.c", rows: [row(3, "{"), row(4, "}")] }];
	const one = part("0x1000", "aa"),
		other = part("0x0ffc", "aa");

	assert.deepEqual(
		[...sameLines(one, now, other, before)],
		[
			["0.7", "0.3"],
			["0.9", "0.4"],
		],
	);
	/* Lines whose text is not to be had are the same by their number, of one build alone. */
	const numbers = [{ file: "a.c", rows: [row(7, null)] }];
	assert.equal(sameLines(one, numbers, other, numbers).size, 1);
	assert.equal(sameLines(one, numbers, part("0x0", "bb"), numbers).size, 0);
	assert.equal(sameLines(part("0x0", null), numbers, part("0x0", null), numbers).size, 0);
	assert.deepEqual(sameInsns(one, other), [1, undefined]);
	assert.equal(sameInsns(one, part("0x1000", "bb")), null);

	const wholes = [
		{ weight: 200, samples: 200 },
		{ weight: 1000, samples: 100 },
	];
	const { before: was, change, noise } = shareChange(
		{ weight: 100, samples: 100 },
		{ weight: 100, samples: 10 },
		wholes,
	);
	assert.equal(was, 0.1);
	assert.ok(Math.abs(change - 0.4) < 1e-9);
	assert.equal(noise.verdict, 1);
});

/* What the sums say of this choice, when all rows are gone over. */
function slowSums() {
	const total = new Map([[0, 0]]),
		segments = rowSegments(),
		rows = chosenRows(0, false);
	let samples = 0;

	rows.forEach((chosen, i) => {
		if (!chosen) return;
		samples += M.rowSamples[i];
		for (let s = segments[i]; ; s = M.segParent[s]) {
			total.set(s, (total.get(s) || 0) + M.rowWeight[i] * M.unit);
			if (!s) break;
		}
	});
	return [samples, [...total].filter(([, weight]) => weight).sort(([a], [b]) => a - b)];
}

const quickSums = () => [
	T.samples[0],
	[...T.total[0].entries()].filter(([, weight]) => weight).map(([s, weight]) => [s, weight]),
];

test("sums are of what is chosen, whatever was chosen before", () => {
	loadChains();
	const choices = [
		() => {},
		() => (S.spans = [[1, 1], wholeSpans()[1]]),
		() => (S.threads[0] = 0),
		() => (S.spans = wholeSpans()),
		() => S.threads.fill(1),
		() => (S.states[0] = 0),
		() => S.states.fill(1),
		() => (S.event = 7),
		() => (S.event = 0),
	];

	for (let round = 0; round < 2; round++)
		for (const [i, choose] of choices.entries()) {
			choose();
			sums();
			assert.deepEqual(quickSums(), slowSums(), `round ${round}, choice ${i}`);
			const own = selfSums(0).reduce((a, b) => a + b, 0);
			assert.equal(own, wholeOf(0), `round ${round}, choice ${i}`);
		}
});

test("what was made of all is there again when all is chosen", () => {
	loadChains();
	S.byWeight = S.callers = false;
	sums();
	build();
	const root = S.root,
		kids = kidsOf(root);

	S.focus = 2;
	sums();
	build();
	assert.notEqual(S.root, root);
	S.focus = -1;
	S.threads[0] = 0;
	sums();
	build();
	assert.notEqual(S.root, root);
	S.threads[0] = 1;
	sums();
	build();
	assert.equal(S.root, root);
	S.byWeight = true;
	build();
	assert.notEqual(S.root, root, "cells in another order are others");
	S.byWeight = false;
	build();
	assert.equal(kidsOf(S.root), kids);
	loadChains();
	sums();
	build();
	assert.notEqual(S.root, root, "another block has its own");
});

test("sums that are made in spare time are those that are made at once", () => {
	loadTwo();
	const made = [[...T.total[0]], [...T.total[1]], [...T.hits[1]], [...T.samples]];

	S.event = 7;
	sums();
	assert.equal(T.samples[0], 0);
	S.event = 0;
	prepareTrees(() => true);
	let steps = 0;
	while (!prepareSums(() => false)) assert.ok(++steps < 100);
	assert.ok(steps > 1);
	sums();
	assert.deepEqual([[...T.total[0]], [...T.total[1]], [...T.hits[1]], [...T.samples]], made);
});
