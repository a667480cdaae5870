// SPDX-License-Identifier: MIT
// processes.test.mjs: processes told apart in the graph, held against the stacks themselves.
import assert from "node:assert/strict";
import { test } from "node:test";
import { KIND, M, S, T } from "../../src/export/flame/state.mjs";
import { rowSegments, sums } from "../../src/export/flame/sums.mjs";
import { build, kidsOf } from "../../src/export/flame/groups.mjs";
import {
	APART,
	apartChoices,
	firstApart,
	prepareTrees,
} from "../../src/export/flame/processes.mjs";
import { around, functionRows } from "../../src/export/flame/functions.mjs";
import { inOrder, threadRows } from "../../src/export/flame/order.mjs";
import { withAny } from "../../src/export/flame/tree.mjs";
import { decodeLink, encodeLink } from "../../src/export/flame/link.mjs";
import { open } from "./block.mjs";

/* Two of one name, one that became another by exec, threads with names of their own, and one whose
 * process has had two names: its own is what is known. */
const THREADS = [
	["make", 1, 1],
	["cc", 2, 2],
	["cc", 3, 3],
	["sh", 4, 4],
	["java", 4, 4],
	["GC", 4, 5],
	["python", 6, 6],
	["worker", 6, 7],
];
const NAMES = ["make", "cc", "cc", "sh", "java", "GC", "python", "python"],
	EACH = ["make 1", "cc 2", "cc 3", "sh 4", "java 4", "GC 4", "python 6", "python 6"];

/* Numbers that look like chance, the same each time. */
function chances(seed) {
	let state = seed;

	return (n) => (state = (state * 48271) % 2147483647) % n;
}

/* Stacks that share their ends, of all threads; some samples have no stack. */
function loadStacks(more) {
	const chance = chances(7),
		nodes = [
			[0, 1],
			[0, 2],
		],
		rows = [];

	for (let i = 2; i < 120; i++)
		nodes.push([chance(3) ? i - 1 - (chance(4) % (i - 1)) : 1, 2 + chance(5)]);
	for (let i = 0; i < 200; i++)
		rows.push({
			node: i % 50 ? 1 + chance(nodes.length - 1) : 0,
			thread: chance(THREADS.length),
			slice: chance(1024),
			weight: 1 + chance(9),
		});
	/* A node for each parent and function. */
	const known = new Map(),
		place = nodes.map(() => 0),
		kept = [];
	nodes.forEach(([parent, fn], i) => {
		const key = `${place[parent]} ${fn}`;

		if (i && known.has(key)) place[i] = known.get(key);
		else {
			place[i] = kept.push([place[parent], fn]) - 1;
			if (i) known.set(key, place[i]);
		}
	});
	for (const row of rows) row.node = place[row.node];
	const ordered = depthFirst(kept, rows);

	open({
		functions: ["", "all", ..."abcde"].map((name, i) => [name, i % 3]),
		threads: THREADS,
		...ordered,
		...more,
	});
	return ordered;
}

/* Nodes numbered so that each stands before what is below it, as a page has them. */
function depthFirst(nodes, rows) {
	const kids = nodes.map(() => []),
		order = [],
		place = [];
	const walk = (i) => {
		place[i] = order.push(i) - 1;
		kids[i].forEach(walk);
	};

	nodes.forEach(([parent], i) => i && kids[parent].push(i));
	walk(0);
	return {
		nodes: order.map((i) => [place[nodes[i][0]], nodes[i][1]]),
		rows: rows.map((r) => ({ ...r, node: place[r.node] })),
	};
}

function choose(apart) {
	S.apart = apart;
	sums();
	build();
}

/* Weights of paths of names: of what cells show, and of stacks. */
function shownPaths() {
	const seen = new Map();
	const walk = (g, way) => {
		seen.set(way, g.value);
		for (const kid of kidsOf(g)) walk(kid, `${way};${M.names[kid.fn]}`);
	};

	walk(S.root, "");
	return [...seen].sort();
}

function stackPaths({ nodes, rows }, processes, chosen = () => true) {
	const weights = new Map();

	for (const { node, thread, weight } of rows) {
		const names = [];

		if (!chosen(thread)) continue;
		for (let at = node; at; at = nodes[at][0]) names.unshift(M.names[nodes[at][1]]);
		if (processes) names.unshift(processes[thread]);
		for (let n = 0; n <= names.length; n++) {
			const way = ["", ...names.slice(0, n)].join(";");

			weights.set(way, (weights.get(way) || 0) + weight);
		}
	}
	return [...weights].sort();
}

test("a graph with processes has the stacks of each", () => {
	const stacks = loadStacks();

	for (const [apart, names] of [
		[APART.NONE, null],
		[APART.NAME, NAMES],
		[APART.EACH, EACH],
		[APART.NONE, null],
	]) {
		choose(apart);
		assert.deepEqual(shownPaths(), stackPaths(stacks, names));
		S.threads.fill(0, 0, 3);
		choose(apart);
		assert.deepEqual(
			shownPaths(),
			stackPaths(stacks, names, (thread) => thread >= 3),
		);
		S.threads.fill(1);
	}
});

test("functions, their callers and the order of time do not change with processes", () => {
	loadStacks();
	const seen = () => ({
		functions: functionRows("total", null).map((r) => [r.fn, r.self, r.total]),
		around: [2, 3, 4, 5, 6].map((fn) => {
			const { callers, callees } = around(fn, 0);

			return [callers, callees].map((calls) =>
				[...calls].map(([other, { weight }]) => [other, weight]).sort(),
			);
		}),
		order: THREADS.map((_, t) => {
			const cells = [];

			inOrder(threadRows(t, 0), 100, (depth, x, w, g) =>
				cells.push([depth, x, w, g.fn, g.value]),
			);
			return cells;
		}),
		total: T.total[0][0],
	});

	choose(APART.NONE);
	const together = seen();
	for (const apart of [APART.NAME, APART.EACH]) {
		choose(apart);
		assert.deepEqual(seen(), together);
	}
});

test("callers of a function end in processes; one can be focused on, and found", () => {
	const stacks = loadStacks();

	choose(APART.NAME);
	const process = M.names.indexOf("cc");
	assert.equal(M.fnKind[process], KIND.PROCESS);
	const weight = stackPaths(stacks, NAMES).find(([way]) => way === ";cc")[1];
	S.focus = process;
	build();
	assert.equal(S.root.value, weight);
	assert.deepEqual(kidsOf(S.above), []);
	S.focus = 2;
	build();
	const names = new Set();
	const walk = (g) => {
		const kids = kidsOf(g);

		kids.forEach(walk);
		if (!kids.length) names.add(M.names[g.fn]);
	};
	walk(S.above);
	assert.deepEqual([...names].sort(), [...new Set(NAMES)].sort());
	S.focus = -1;
	const found = withAny(Uint8Array.from(M.names, (name) => (name === "cc" ? 1 : 0)));
	assert.equal(
		rowSegments().reduce((sum, s, i) => sum + (found[s] ? M.rowWeight[i] : 0), 0),
		weight,
	);
});

test("processes are apart where names differ, and the choice is in the link", () => {
	loadStacks();
	assert.deepEqual(apartChoices(), [APART.NONE, APART.NAME, APART.EACH]);
	S.apart = S.firstApart = firstApart();
	assert.equal(S.apart, APART.NAME);
	assert.deepEqual([200, 199].map(firstApart), [APART.NAME, APART.NONE]);
	assert.equal(encodeLink([]), "");
	for (const [apart, link] of [
		[APART.NONE, "processes=together"],
		[APART.EACH, "processes=each"],
	]) {
		choose(apart);
		assert.equal(encodeLink([]), link);
		const zoom = [M.fnName.length - 1, 2];
		const text = encodeLink(zoom);
		S.apart = APART.NAME;
		assert.deepEqual(decodeLink(text), zoom);
		assert.equal(S.apart, apart);
	}
	decodeLink("processes=%00&zoom=9999");
	assert.equal(S.apart, APART.NAME);
	/* One name: nothing to tell apart by it. */
	loadStacks({ threads: THREADS.map(([, pid, tid]) => ["cc", pid, tid]) });
	assert.deepEqual([firstApart(), apartChoices()], [APART.NONE, [APART.NONE, APART.EACH]]);
	loadStacks({ threads: THREADS.map(([, , tid]) => ["cc", 1, tid]) });
	assert.deepEqual(apartChoices(), [APART.NONE]);
	loadStacks({
		sides: ["1", "2"].map((name) => ({
			name,
			start: 0,
			seconds: 2,
			lost: 0,
			undecoded: 0,
		})),
	});
	assert.deepEqual(apartChoices(), [APART.NONE, APART.NAME]);
	S.firstApart = S.apart = APART.NONE;
});

const TREE_FIELDS = ["segParent", "segChain", "segStart", "segEnd", "chained", "rowStep"];

/* The tree as it is now, as text. */
const treeText = () =>
	JSON.stringify(
		[...TREE_FIELDS, "rowThread", "names"].map((field) => Array.from(M[field])),
	);

test("trees that are made in spare time are those that are made at once", () => {
	const choices = [APART.NONE, APART.NAME, APART.EACH],
		atOnce = choices.map((apart) => {
			loadStacks();
			choose(apart);
			return treeText();
		});

	for (let steps = 0; steps < 40; steps++) {
		loadStacks();
		let left = steps;
		const all = prepareTrees(() => left-- > 0);

		assert.ok(steps > 0 || !all);
		assert.ok(steps < 39 || all);
		choices.forEach((apart, i) => {
			choose(apart);
			assert.equal(treeText(), atOnce[i], `${apart} after ${steps} steps`);
		});
		assert.ok(prepareTrees(() => false), "all are there");
	}
});

test("another block has trees of its own", () => {
	loadStacks();
	prepareTrees(() => true);
	loadStacks({ rows: [{ node: 1, thread: 1, slice: 3, weight: 4 }] });
	choose(APART.NAME);
	assert.equal(M.rowThread.length, 1);
	assert.equal(T.total[0][0], 4);
});
