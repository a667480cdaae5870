// SPDX-License-Identifier: MIT
// processes.mjs: processes told apart in the graph: a level of them between the root and the
// outermost functions, each process a function of its own kind behind those of the block. The tree
// of the block has all samples of a stack in one place; here is made another one in its stead, of
// the same form, with a place for each process. Knows nothing of the screen.
import { KIND, M, S, always } from "./state.mjs";
import { indexTree } from "./tree.mjs";

/* What a process is: all of a name, as perf and FlameGraph have it, or one of a name and number. */
export const APART = { NONE: "", NAME: "name", EACH: "each" };

/* What differs between the trees. */
const ROWS = ["rowThread", "rowSlice", "rowWhat", "rowSamples", "rowWeight"],
	FUNCTIONS = ["names", "rank", "hue", "fnName", "fnObject", "fnKind"],
	TREE = ["chainLength", "chained", "segParent", "segChain", "rowStep"],
	TREE_PARTS = [...ROWS, ...FUNCTIONS, ...TREE];

export const isProcess = (fn) => M.fnKind[fn] === KIND.PROCESS;

/* The text that names the process of each thread: its main thread's name, where that is certain. */
function processTexts() {
	const mains = new Map();

	for (const [comm, pid, tid] of M.meta.threads)
		if (pid >= 0 && pid === tid) mains.set(pid, mains.has(pid) ? -1 : comm);
	return M.meta.threads.map(([comm, pid, tid]) => {
		const main = mains.get(pid) ?? -1;

		return pid === tid || main < 0 ? comm : main;
	});
}

/* Processes: their names, and by thread which one it is of. */
function processesOf(apart) {
	const texts = processTexts(),
		found = new Map(),
		of = new Uint32Array(texts.length);

	texts.forEach((text, t) => {
		const pid = M.meta.threads[t][1],
			name = M.texts[text] || "[unknown]",
			key = apart === APART.EACH && pid >= 0 ? `${name} ${pid}` : name;

		if (!found.has(key)) found.set(key, found.size);
		of[t] = found.get(key);
	});
	return { names: [...found.keys()], of };
}

/* What can be chosen: what tells some apart. Numbers of one recording say nothing of another's. */
export function apartChoices() {
	return always("apart", () => {
		const [names, each] = [APART.NAME, APART.EACH].map(
				(apart) => processesOf(apart).names.length,
			),
			choices = [APART.NONE];

		if (names > 1) choices.push(APART.NAME);
		if (each > names && M.meta.sides.length < 2) choices.push(APART.EACH);
		return choices;
	});
}

/* More rows than these open with processes together: the other tree takes half a second then. It
 * is made in what time the page has to spare (prepareTrees). */
const FIRST_ROWS = 300000;

/* How the page opens: as perf's flame graph and FlameGraph's, whose stacks begin with a name. Where
 * all have the same one it says nothing. */
export const firstApart = (most = FIRST_ROWS) =>
	apartChoices().includes(APART.NAME) && M.meta.rows <= most ? APART.NAME : APART.NONE;

/* How many rows there are between two places to pause at: what is made while somebody looks is made
 * in steps, so that no choice waits longer than one takes. */
const STEP_ROWS = 16384;

/* Rows by the processes of their threads, those of one as they stood: what is read later is one
 * behind the other in memory. segments: of each row; ends: of each process. In steps. */
function* rowsByProcess(plain, { names, of }) {
	const { rowThread, rowStep } = plain,
		n = rowThread.length,
		starts = new Uint32Array(names.length + 1),
		places = new Uint32Array(n),
		segments = new Uint32Array(n),
		rows = {};

	for (let i = 0; i < n; i++) starts[of[rowThread[i]] + 1]++;
	for (let p = 1; p <= names.length; p++) starts[p] += starts[p - 1];
	const ends = starts.slice(0, names.length);
	yield;
	for (let i = 0; i < n; i++) places[i] = ends[of[rowThread[i]]]++;
	yield;
	for (let i = 0, s = 0; i < n; i++) segments[places[i]] = s += rowStep[i];
	for (const field of ROWS) {
		const from = plain[field],
			to = (rows[field] = new from.constructor(n));

		yield;
		for (let i = 0; i < n; i++) to[places[i]] = from[i];
	}
	return { rows, segments, ends };
}

/* Puts a number behind those of a list, which has so many: however many they are. */
function append(list, at, value) {
	if (at === list.numbers.length) {
		const more = new Uint32Array(2 * at);

		more.set(list.numbers);
		list.numbers = more;
	}
	list.numbers[at] = value;
}

/* Segments with a place for each process, and rows that have these: of each process those that its
 * rows, which stand in the order of their segments, have or hang below. In steps. */
function* placesOf(plain, processes) {
	const above = plain.segParent,
		chains = plain.chainLength.length,
		{ rows, segments, ends } = yield* rowsByProcess(plain, processes),
		parents = { numbers: new Uint32Array(above.length + 1) },
		chain = { numbers: new Uint32Array(above.length + 1) },
		at = new Uint32Array(above.length) /* where a segment is in the new tree */,
		path = [];
	let n = 1,
		before = 0; /* the segment of the row before */

	append(parents, 0, 0);
	append(chain, 0, plain.segChain[0]);
	for (let p = 0, i = 0; p < ends.length; p++) {
		const begin = n;

		if (i < ends[p]) {
			append(parents, n, 0);
			append(chain, n++, chains + p);
		}
		at[0] = begin;
		for (; i < ends[p]; i++) {
			const segment = segments[i];

			for (let s = segment; at[s] < begin; s = above[s]) path.push(s);
			while (path.length) {
				const s = path.pop();

				append(parents, n, at[above[s]]);
				append(chain, n, plain.segChain[s]);
				at[s] = n++;
			}
			segments[i] = at[segment] - before;
			before = at[segment];
			if (i % STEP_ROWS === 0) yield;
		}
	}
	return {
		...rows,
		rowStep: segments,
		segParent: parents.numbers.subarray(0, n),
		segChain: chain.numbers.subarray(0, n),
	};
}

const joined = (array, more) => {
	const all = new Uint32Array(array.length + more.length);

	all.set(array);
	all.set(more, array.length);
	return all;
};

/* The tree of the block with processes, and functions and chains with theirs behind them. In
 * steps. */
function* withProcesses(plain, processes) {
	const { names } = processes,
		fns = plain.fnName.length,
		numbers = names.map((_, i) => i),
		none = names.map(() => 0),
		order = [...numbers].sort((a, b) => (names[a] < names[b] ? -1 : 1)),
		rank = joined(plain.rank, none);

	order.forEach((p, i) => {
		rank[fns + p] = fns + i;
	});
	return {
		names: [...plain.names, ...names],
		rank,
		hue: joined(plain.hue, numbers.map((p) => (5 * p) & 15)),
		fnName: joined(plain.fnName, none),
		fnObject: joined(plain.fnObject, none),
		fnKind: joined(plain.fnKind, names.map(() => KIND.PROCESS)),
		chainLength: joined(plain.chainLength, names.map(() => 1)),
		chained: joined(plain.chained, numbers.map((p) => fns + p)),
		...(yield* placesOf(plain, processes)),
	};
}

/* The trees that are begun, by how processes are apart in them. */
const BEGUN = { of: null, trees: new Map() };

/* The steps in which a tree of a block is made; the last one returns it. */
function* treeSteps(plain, apart) {
	const tree = apart ? yield* withProcesses(plain, processesOf(apart)) : { ...plain };

	yield;
	indexTree(tree);
	return tree;
}

function begunTree(apart) {
	M.plain ||= Object.fromEntries(TREE_PARTS.map((field) => [field, M[field]]));
	if (BEGUN.of !== M.plain) Object.assign(BEGUN, { of: M.plain, trees: new Map() });
	const { of, trees } = BEGUN;
	if (!trees.has(apart)) trees.set(apart, { steps: treeSteps(of, apart), tree: null });
	return trees.get(apart);
}

/* One step of a tree; whether it is made. */
function stepTree(begun) {
	if (begun.tree) return true;
	const { done, value } = begun.steps.next();
	if (done) begun.tree = value;
	return done;
}

/* Makes the trees that can be chosen, as long as hasTime() says so. Whether all are made. */
export function prepareTrees(hasTime) {
	for (const apart of apartChoices())
		while (!stepTree(begunTree(apart))) if (!hasTime()) return false;
	return true;
}

/* Those that are made. */
export const treesMade = () =>
	BEGUN.of === M.plain
		? [...BEGUN.trees.values()].map(({ tree }) => tree).filter(Boolean)
		: [];

/* The tree as S.apart says, in place of the one before: each is made once for a block. */
export function useTree() {
	if (M.tree === S.apart) return;
	const begun = begunTree(S.apart);
	while (!stepTree(begun));
	Object.assign(M, begun.tree, { tree: S.apart, byChain: null, packNumbers: null });
}
