// SPDX-License-Identifier: MIT
// page.test.mjs: the page's modules that know nothing of the screen, under node's runner: node --test tests/page
import assert from "node:assert/strict";
import { test } from "node:test";
import { M, S, T } from "../../src/export/flame/state.mjs";
import { index, parse } from "../../src/export/flame/data.mjs";
import { sums, wholeOf } from "../../src/export/flame/sums.mjs";
import { cutText, amount } from "../../src/export/flame/names.mjs";
import { build, kidsOf, outermost } from "../../src/export/flame/groups.mjs";
import { follow, path } from "../../src/export/flame/place.mjs";
import { compile } from "../../src/export/flame/choose.mjs";
import { block } from "./block.mjs";

/* main -> work -> main (recursion) and main -> rest; two threads, at both ends of the time. */
function load(more) {
	for (const key of Object.keys(M))
		delete M[key];
	Object.assign(M, parse(block({
		functions: [["", 0], ["all", 0], ["main", 1], ["work", 1], ["rest", 2]],
		nodes: [[0, 1], [0, 2], [1, 3], [2, 2], [1, 4]],
		rows: [
			{ node: 3, thread: 0, slice: 0, weight: 10 },
			{ node: 2, thread: 0, slice: 500, weight: 5 },
			{ node: 4, thread: 1, slice: 1023, weight: 7 },
		],
		threads: [["one", 1, 1], ["two", 1, 2]], ...more,
	})));
	index(M);
	Object.assign(S, { event: 0, first: 0, last: M.meta.slices - 1, focus: -1, callers: false,
		threads: new Uint8Array(2).fill(1), states: new Uint8Array(256).fill(1) });
	sums();
}

test("totals hold what is below, self does not", () => {
	load();
	assert.equal(wholeOf(0), 22);
	assert.deepEqual([...T.total[0]], [22, 22, 15, 10, 7]);
	assert.deepEqual([...T.self[0]], [0, 0, 5, 10, 7]);
});

test("a span and a thread leave the rest out", () => {
	load();
	S.first = 400;
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
	assert.deepEqual(kidsOf(main).map((k) => M.names[k.fn]), ["rest", "work"]);
	const work = kidsOf(main)[1];
	assert.equal(follow(path(work)), work);
});

test("a function that calls itself counts once", () => {
	load();
	assert.deepEqual(outermost(2), [1]);
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
