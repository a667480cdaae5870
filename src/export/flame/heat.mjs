// SPDX-License-Identifier: MIT
// heat.mjs: what was spent when: below a second, and by thread. Knows nothing of the screen.
import { M } from "./state.mjs";
import { grouped } from "./names.mjs";
import { chosenRows } from "./sums.mjs";

const HEAT_ROWS = 50; /* of 20 ms each */
const HEAT_COLUMNS = 4000;

/* Columns are seconds (or several, of a long recording), rows parts of it, as short as slices of
 * time can tell: weights, by row. number: of which side. */
export function heatMap(number = 0) {
	const side = M.meta.sides[number],
		step = Math.max(1, Math.ceil(side.seconds / HEAT_COLUMNS));
	const columns = Math.max(1, Math.ceil(side.seconds / step));
	const rows = Math.max(
		1,
		Math.min(HEAT_ROWS, Math.floor((M.meta.slices * step) / side.seconds)),
	);
	const cells = new Float64Array(columns * rows),
		long = ((side.seconds / M.meta.slices) * rows) / step; /* a slice, in rows */

	sliceWeights(number).forEach((weight, slice) => {
		if (weight) spreadSlice(weight, slice * long, long, { columns, rows, cells });
	});
	return { columns, rows, step, cells };
}

/* What each slice of a side's time has. */
function sliceWeights(number) {
	const weights = new Float64Array(M.meta.slices),
		chosen = chosenRows(number, true),
		{ rowSlice, rowWeight, unit } = M;

	for (let i = 0; i < chosen.length; i++)
		if (chosen[i]) weights[rowSlice[i]] += rowWeight[i] * unit;
	return weights;
}

/* Rows hold no whole number of slices: what a slice has goes to those that it lies in, to each by
 * how much of it that is. If it went to one of them, steady work would look like stripes. */
function spreadSlice(weight, from, long, { columns, rows, cells }) {
	const last = Math.min(columns * rows, from + long),
		put = (at, part) => {
			const cell = Math.min(columns * rows - 1, at);

			cells[(cell % rows) * columns + Math.floor(cell / rows)] += part;
		};
	let left = weight,
		at = Math.floor(from);

	for (; at + 1 < last - 1e-9; at++) {
		const part = (weight * (at + 1 - Math.max(at, from))) / long;

		put(at, part);
		left -= part;
	}
	put(at, left);
}

/* The slices of a cell of the map. */
export function heatSlices(column, row, { rows, step }, side = 0) {
	const seconds = M.meta.sides[side].seconds,
		at = (part) => (((column + part / rows) * step) / seconds) * M.meta.slices;
	const last = M.meta.slices - 1,
		first = Math.min(last, Math.ceil(at(row)));

	return [first, Math.min(last, Math.max(first, Math.ceil(at(row + 1)) - 1))];
}

/* How many slices of time an arrow key moves in the map: a row up or down, a column to the
 * sides. */
export function heatStep(key, side = 0) {
	const seconds = M.meta.sides[side].seconds,
		step = Math.max(1, Math.ceil(seconds / HEAT_COLUMNS));
	const column = (M.meta.slices * step) / seconds,
		rows = Math.max(1, Math.min(HEAT_ROWS, Math.floor(column)));
	const size = /Left|Right/.test(key) ? column : column / rows;

	return (/Left|Up/.test(key) ? -1 : 1) * Math.max(1, Math.round(size));
}

/* What a thread does while it is sampled: as events say it. */
export const LANE_STATES = [
	{ name: "running", hue: 204 },
	{ name: "sleeping", hue: 24 },
	{ name: "waiting for a device", hue: 285 },
	{ name: "waiting for a CPU", hue: 150 },
];

export const isWaiting = (event) =>
	/off-?cpu|sched_switch|sched_stat_(sleep|wait|blocked|iowait)/.test(event);

/* The state of a thread that an event tells of, a number of LANE_STATES. */
export function laneState(event) {
	if (!isWaiting(event)) return 0;
	return /runqueue|sched_stat_wait/.test(event) ? 3 : /blocked|iowait/.test(event) ? 2 : 1;
}

/* States that the recording has events of. */
export const laneStates = () =>
	[...new Set(M.meta.events.map((e) => laneState(e.name)))].sort((a, b) => a - b);

function addTo(lists, key, value) {
	if (lists.has(key)) lists.get(key).push(value);
	else lists.set(key, [value]);
}

/* Of each side, by thread: samples and nanoseconds by state, the first slice in which it does
 * something, and the last: found once for each block. */
function threadTimes() {
	if (M.threadTimes) return M.threadTimes;
	const { rowWhat, whatSide, whatEvent, rowThread, rowSlice, rowSamples, rowWeight } = M,
		n = M.meta.threads.length,
		states = M.meta.events.map((e) => laneState(e.name)),
		timed = LANE_STATES.map((_, state) => isTimed(state)),
		waits = M.meta.sides.map(() => new Map());
	const sides = M.meta.sides.map(() => ({
		counts: LANE_STATES.map(() => new Float64Array(n)),
		waited: LANE_STATES.map(() => new Float64Array(n)),
		first: new Float64Array(n).fill(M.meta.slices),
		last: new Uint32Array(n),
	}));

	for (let i = 0; i < rowWhat.length; i++) {
		const side = whatSide[rowWhat[i]],
			of = sides[side],
			t = rowThread[i],
			slice = rowSlice[i],
			state = states[whatEvent[rowWhat[i]]];

		of.counts[state][t] += rowSamples[i];
		if (timed[state]) {
			of.waited[state][t] += rowWeight[i] * M.unit;
			addTo(waits[side], t, i);
		}
		if (slice < of.first[t]) of.first[t] = slice;
		if (slice > of.last[t]) of.last[t] = slice;
	}
	waits.forEach((threads, side) => {
		for (const [t, rows] of threads)
			for (const { from } of waitSpans(rows, side))
				sides[side].first[t] = Math.min(sides[side].first[t], from);
	});
	return (M.threadTimes = sides);
}

/* A side's threads by process, the heaviest first, with their samples. */
export function timelineRows(side = 0) {
	const found = new Map(),
		{ counts } = threadTimes()[side];

	M.meta.threads.forEach(([, pid], t) => {
		const samples = counts.reduce((all, of) => all + of[t], 0);

		if (!samples) return;
		const process = found.get(pid) || {
			pid,
			side,
			samples: 0,
			threads: [],
			lanes: null,
		};
		found.set(pid, process);
		process.samples += samples;
		process.threads.push({ t, side, process, samples, lanes: null });
	});
	for (const p of found.values())
		p.threads.sort((a, b) => b.samples - a.samples || a.t - b.t);
	return [...found.values()].sort((a, b) => b.samples - a.samples || a.pid - b.pid);
}

/* The threads of a process, or of a thread itself. */
export const membersOf = ({ t, threads }) => (threads ? threads.map((x) => x.t) : [t]);

/* Whether a state's samples are of time: each stands for what its thread waited until then, and the
 * timeline has it as long as it was. Others are counted. */
export const isTimed = (state) =>
	state > 0 &&
	M.meta.events
		.filter((e) => laneState(e.name) === state)
		.every((e) => e.unit === "nanoseconds");

/* Gives threads and processes what they did in so many columns of time, by state: samples, or, of a
 * state that is timed, which share of the column they waited. Only those that are seen are given
 * here: a column of each thread of a large machine is more than there is room for. */
export function lanesOf(owners, columns) {
	const { rowWhat, whatSide, whatEvent, rowThread, rowSlice, rowSamples } = M,
		slices = M.meta.slices;
	const found = M.meta.sides.map(() => new Array(M.meta.threads.length)),
		columnOf = Uint32Array.from({ length: slices }, (_, slice) =>
			Math.floor((slice * columns) / slices),
		),
		states = M.meta.events.map((e) => laneState(e.name)),
		present = new Set(states),
		timed = LANE_STATES.map((_, state) => present.has(state) && isTimed(state)),
		waits = M.meta.sides.map(() => new Map()) /* rows of timed states, by thread */;

	for (const owner of owners) {
		owner.lanes = LANE_STATES.map((_, i) =>
			present.has(i) ? new Float64Array(columns) : null,
		);
		for (const t of membersOf(owner)) (found[owner.side][t] ||= []).push(owner);
	}
	for (let i = 0; i < rowWhat.length; i++) {
		const what = rowWhat[i],
			t = rowThread[i],
			of = found[whatSide[what]][t];

		if (!of) continue;
		const state = states[whatEvent[what]],
			column = columnOf[rowSlice[i]];
		if (timed[state]) addTo(waits[whatSide[what]], t, i);
		else for (const { lanes } of of) lanes[state][column] += rowSamples[i];
	}
	waits.forEach((threads, side) => {
		for (const [t, rows] of threads)
			for (const wait of waitSpans(rows, side))
				for (const owner of found[side][t]) spreadWait(owner, wait);
	});
}

/* A thread's waits as spans of slices, {state, from, to}: a sample is taken when its thread comes
 * back. What does not fit behind the wait before it (a sum that a file has at its end) is as short
 * as can be. */
export function waitSpans(rows, side) {
	const { rowWhat, whatEvent, rowSlice, rowWeight, unit } = M,
		long = (1e9 * M.meta.sides[side].seconds) / M.meta.slices /* ns */,
		ends = new Map() /* slice -> slices waited, by state */,
		spans = [];
	let free = 0;

	for (const i of rows) {
		const state = laneState(M.meta.events[whatEvent[rowWhat[i]]].name);

		if (!ends.has(rowSlice[i])) ends.set(rowSlice[i], LANE_STATES.map(() => 0));
		ends.get(rowSlice[i])[state] += (rowWeight[i] * unit) / long;
	}
	for (const [slice, waited] of [...ends].sort(([a], [b]) => a - b)) {
		const all = waited.reduce((a, b) => a + b),
			fits = slice + 1 - free + 1,
			scale = all <= fits ? Math.min(1, (slice + 1 - free) / all) : 1 / all;
		let to = slice + 1;

		/* Who is woken waits for a CPU last. */
		for (let state = LANE_STATES.length - 1; state > 0; state--) {
			const from = to - waited[state] * scale;

			if (waited[state]) spans.push({ state, from, to });
			to = from;
		}
		free = slice + 1;
	}
	return spans;
}

/* Adds a wait to the columns in which it lies: the share of each, of all threads of its owner. */
function spreadWait(owner, { state, from, to }) {
	const lane = owner.lanes[state],
		threads = membersOf(owner).length,
		scale = lane.length / M.meta.slices,
		begin = from * scale,
		end = Math.min(lane.length, to * scale);

	for (let x = Math.max(0, Math.floor(begin)); x < end; x++)
		lane[x] += (Math.min(end, x + 1) - Math.max(begin, x)) / threads;
}

/* What a lane has: samples by state, the seconds that it waited by state, and from when to when. */
export function laneSummary(owner) {
	const times = threadTimes()[owner.side],
		members = membersOf(owner),
		sum = (of) => members.reduce((all, t) => all + of[t], 0),
		at = (slice) => (M.meta.sides[owner.side].seconds * slice) / M.meta.slices;

	return {
		counts: times.counts.map(sum),
		waited: times.waited.map((of) => sum(of) / 1e9),
		from: at(members.reduce((least, t) => Math.min(least, times.first[t]), Infinity)),
		to: at(members.reduce((most, t) => Math.max(most, times.last[t] + 1), 0)),
	};
}

/* A state of a lane in words: how much of it there is, as it is counted. */
export const laneAmount = (state, { counts, waited }) =>
	isTimed(state) ? `${waited[state].toFixed(3)} s` : grouped(counts[state]);

/* What a lane has in words, by state. */
export function laneText(summary) {
	const has = (state) => (isTimed(state) ? summary.waited : summary.counts)[state] > 0,
		said = (state) => `${laneAmount(state, summary)} ${LANE_STATES[state].name}`;
	const [counted, timed] = [false, true].map((is) =>
		laneStates()
			.filter((state) => isTimed(state) === is && has(state))
			.map(said),
	);

	return (
		[...(counted.length ? [`samples: ${counted.join(", ")}`] : []), ...timed].join(
			"; ",
		) || "no sample"
	);
}
