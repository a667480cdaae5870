// SPDX-License-Identifier: MIT
// state.mjs: what the parts of the page share: the data (M), what the person chose (S), sums over
// what was chosen (T), and where things are on the screen (V).
export const KIND = { UNKNOWN: 0, USER: 1, KERNEL: 2, INLINED: 3, UNFINISHED: 4, PROCESS: 255 };
const KIND_NAMES = ["unknown", "user", "kernel", "inlined", "unfinished"];
export const $ = (id) => document.getElementById(id);

export const M = {}; // the data
export const T = {}; // sums
/* Kinds from here on are functions that runtimes run (flame.c): those that the recording has. */
export const runtimeKinds = () =>
	(M.meta.runtimes || [])
		.map((_, i) => KIND.UNFINISHED + 1 + i)
		.filter((kind) => M.fnKind.includes(kind));
export const kindName = (kind) =>
	kind === KIND.PROCESS
		? "process"
		: KIND_NAMES[kind] || M.meta.runtimes[kind - KIND.UNFINISHED - 1].name;
export const S = {
	event: 0,
	spans: [
		[0, 0],
		[0, 0],
	] /* of each side, in slices of its time: both ends are in it */,
	threads: null,
	states: null,
	pattern: "",
	filter: "",
	matched: null,
	icicle: false,
	callers: false,
	focus: -1,
	byWeight: false,
	apart: "" /* how processes are told apart in the graph (processes.mjs) */,
	firstApart: "",
	before: false,
	root: null,
	zoom: null,
	selected: null,
	view: "flame",
	fn: -1,
	sort: "self",
	firstSort: "self",
	dark: false,
	firstDark: false,
	thread: -1,
	firstEvent: 0,
	line: "",
	parts: ["", ""] /* of each side's time, as a link names them (served.mjs) */,
};
export const V = {
	cells: [],
	depths: new Map(),
	low: 0,
	high: 0,
	width: 0,
	height: 0,
	below: 0,
	pane: "" /* how large the pane is that is shown */,
	dirty: false,
	printed: null /* what was on the screen, while the page is printed */,
};
/* What is the same for all choices: made at most once for each block of data. */
export function always(name, make) {
	M.always ||= new Map();
	if (!M.always.has(name)) M.always.set(name, make());
	return M.always.get(name);
}
/* What a pane asks of the page: a pane does not know the others. */
export const ask = {};
