// SPDX-License-Identifier: MIT
// heat.mjs: what was spent when: below a second, and by thread. Knows nothing of the screen.
import { M } from "./state.mjs";
import { chosen } from "./sums.mjs";

const HEAT_ROWS = 50; /* of 20 ms each */
const HEAT_COLUMNS = 4000;

/* Columns are seconds (or several, of a long recording), rows parts of it, as short as slices of
 * time can tell: weights, by row. */
export function heatMap() {
	const side = M.meta.sides[0], step = Math.max(1, Math.ceil(side.seconds / HEAT_COLUMNS));
	const columns = Math.max(1, Math.ceil(side.seconds / step));
	const rows = Math.max(1, Math.min(HEAT_ROWS, Math.floor((M.meta.slices * step) / side.seconds)));
	const cells = new Float64Array(columns * rows);

	for (let i = 0; i < M.rowNode.length; i++) {
		if (!chosen(i, 0, true))
			continue;
		const at = (M.rowSlice[i] / M.meta.slices) * side.seconds / step, column = Math.min(columns - 1, Math.floor(at));
		const row = Math.min(rows - 1, Math.floor((at - column) * rows));

		cells[row * columns + column] += M.rowWeight[i];
	}
	return { columns, rows, step, cells };
}

/* The slices of a cell of the map. */
export function heatSlices(column, row, { rows, step }) {
	const seconds = M.meta.sides[0].seconds, at = (part) => (((column + part / rows) * step) / seconds) * M.meta.slices;
	const last = M.meta.slices - 1, first = Math.min(last, Math.ceil(at(row)));

	return [first, Math.min(last, Math.max(first, Math.ceil(at(row + 1)) - 1))];
}

/* How many slices of time an arrow key moves in the map: a row up or down, a column to the sides. */
export function heatStep(key) {
	const seconds = M.meta.sides[0].seconds, step = Math.max(1, Math.ceil(seconds / HEAT_COLUMNS));
	const column = (M.meta.slices * step) / seconds, rows = Math.max(1, Math.min(HEAT_ROWS, Math.floor(column)));
	const size = /Left|Right/.test(key) ? column : column / rows;

	return (/Left|Up/.test(key) ? -1 : 1) * Math.max(1, Math.round(size));
}

/* Threads by process, the heaviest first, with their weights in so many columns of time. Events
 * that count waiting are kept apart from those of running. */
export function timelineRows(columns) {
	const processes = new Map(), threads = new Map();

	for (let i = 0; i < M.rowNode.length; i++) {
		const event = M.rowWhat[i] & 0xffff;

		if (M.rowWhat[i] >>> 24 === 0) {
			const t = M.rowThread[i], pid = M.meta.threads[t][1];
			let thread = threads.get(t);

			if (!thread) {
				let process = processes.get(pid);

				if (!process)
					processes.set(pid, process = { pid, samples: 0, threads: [] });
				threads.set(t, thread = { t, process, samples: 0, running: new Float64Array(columns),
					waiting: new Float64Array(columns) });
				process.threads.push(thread);
			}
			const lane = isWaiting(M.meta.events[event].name) ? thread.waiting : thread.running;

			lane[Math.floor((M.rowSlice[i] * columns) / M.meta.slices)] += M.rowSamples[i];
			thread.samples += M.rowSamples[i];
			thread.process.samples += M.rowSamples[i];
		}
	}
	for (const p of processes.values())
		p.threads.sort((a, b) => b.samples - a.samples || a.t - b.t);
	return [...processes.values()].sort((a, b) => b.samples - a.samples || a.pid - b.pid);
}

export const isWaiting = (event) => /off-?cpu|sched_switch|sched_stat_(sleep|wait|blocked|iowait)/.test(event);
