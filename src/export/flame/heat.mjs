// SPDX-License-Identifier: MIT
// heat.mjs: what was spent when: below a second, and by thread. Knows nothing of the screen.
import { M } from "./state.mjs";
import { chosenRows, sumOf } from "./sums.mjs";

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
	const cells = new Float64Array(columns * rows);

	const chosen = chosenRows(number, true),
		{ rowSlice, rowWeight } = M,
		slices = M.meta.slices,
		{ seconds } = side;
	for (let k = 0; k < chosen.length; k++) {
		const i = chosen[k];
		const at = ((rowSlice[i] / slices) * seconds) / step,
			column = Math.min(columns - 1, Math.floor(at));
		const row = Math.min(rows - 1, Math.floor((at - column) * rows));

		cells[row * columns + column] += rowWeight[i];
	}
	return { columns, rows, step, cells };
}

/* The slices of a cell of the map. */
export function heatSlices(column, row, { rows, step }) {
	const seconds = M.meta.sides[0].seconds,
		at = (part) => (((column + part / rows) * step) / seconds) * M.meta.slices;
	const last = M.meta.slices - 1,
		first = Math.min(last, Math.ceil(at(row)));

	return [first, Math.min(last, Math.max(first, Math.ceil(at(row + 1)) - 1))];
}

/* How many slices of time an arrow key moves in the map: a row up or down, a column to the
 * sides. */
export function heatStep(key) {
	const seconds = M.meta.sides[0].seconds,
		step = Math.max(1, Math.ceil(seconds / HEAT_COLUMNS));
	const column = (M.meta.slices * step) / seconds,
		rows = Math.max(1, Math.min(HEAT_ROWS, Math.floor(column)));
	const size = /Left|Right/.test(key) ? column : column / rows;

	return (/Left|Up/.test(key) ? -1 : 1) * Math.max(1, Math.round(size));
}

/* A side's threads by process, the heaviest first, with their samples. */
export function timelineRows(side = 0) {
	const found = new Map(),
		counts = new Float64Array(M.meta.threads.length),
		{ rowWhat, rowThread, rowSamples } = M;

	for (let i = 0; i < rowWhat.length; i++)
		if (rowWhat[i] >>> 24 === side) counts[rowThread[i]] += rowSamples[i];
	counts.forEach((samples, t) => {
		const pid = M.meta.threads[t][1];

		if (!samples) return;
		const process = found.get(pid) || { pid, side, samples: 0, threads: [] };
		found.set(pid, process);
		process.samples += samples;
		process.threads.push({ t, side, process, samples, lanes: null });
	});
	for (const p of found.values())
		p.threads.sort((a, b) => b.samples - a.samples || a.t - b.t);
	return [...found.values()].sort((a, b) => b.samples - a.samples || a.pid - b.pid);
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

/* Gives threads their samples in so many columns of time, by state. Only threads that are seen are
 * given here: a column of each thread of a large machine is more than there is room for. */
export function lanesOf(threads, columns) {
	const { rowWhat, rowThread, rowSlice, rowSamples } = M,
		slices = M.meta.slices;
	const found = M.meta.sides.map(() => []),
		states = M.meta.events.map((e) => laneState(e.name)),
		present = new Set(states);

	for (const thread of threads) {
		thread.lanes = LANE_STATES.map((_, i) =>
			present.has(i) ? new Float64Array(columns) : null,
		);
		found[thread.side][thread.t] = thread;
	}
	for (let i = 0; i < rowWhat.length; i++) {
		const what = rowWhat[i],
			thread = found[what >>> 24] && found[what >>> 24][rowThread[i]];

		if (thread)
			thread.lanes[states[what & 0xffff]][
				Math.floor((rowSlice[i] * columns) / slices)
			] += rowSamples[i];
	}
}

/* What a lane shows, in words: samples by state, and when the first and the last. */
export function laneSummary({ side, lanes }) {
	const kept = lanes.filter((lane) => lane),
		columns = kept.length ? kept[0].length : 1;
	const has = (i) => kept.some((lane) => lane[i]);
	let first = 0,
		last = columns - 1;

	while (first < last && !has(first)) first++;
	while (last > first && !has(last)) last--;
	const at = (column) => (M.meta.sides[side].seconds * column) / columns;
	return {
		counts: lanes.map((lane) => (lane ? sumOf(lane) : 0)),
		from: at(first),
		to: at(last + 1),
	};
}

/* Counts by state, in words. */
export function laneText(counts) {
	const said = laneStates()
		.filter((state) => counts[state])
		.map((state) => `${counts[state].toLocaleString("en")} ${LANE_STATES[state].name}`);

	return said.length ? `samples: ${said.join(", ")}` : "no sample";
}
