// SPDX-License-Identifier: MIT
// heat.mjs: what was spent when: below a second, and by thread. Knows nothing of the screen.
import { M } from "./state.mjs";
import { chosen } from "./sums.mjs";

export const HEAT_ROWS = 50; /* of 20 ms each */
const HEAT_COLUMNS = 4000;

/* Columns are seconds (or several, of a long recording), rows parts of it: weights, by row. */
export function heatMap() {
	const side = M.meta.sides[0], step = Math.max(1, Math.ceil(side.seconds / HEAT_COLUMNS));
	const columns = Math.max(1, Math.ceil(side.seconds / step)), cells = new Float64Array(columns * HEAT_ROWS);

	for (let i = 0; i < M.rowNode.length; i++) {
		if (!chosen(i, 0, true))
			continue;
		const at = (M.rowSlice[i] / M.meta.slices) * side.seconds / step, column = Math.min(columns - 1, Math.floor(at));
		const row = Math.min(HEAT_ROWS - 1, Math.floor((at - column) * HEAT_ROWS));

		cells[row * columns + column] += M.rowWeight[i];
	}
	return { columns, step, cells };
}

/* The slices of a cell of the map. */
export function heatSlices(column, row, step) {
	const seconds = M.meta.sides[0].seconds, at = (part) => (((column + part / HEAT_ROWS) * step) / seconds) * M.meta.slices;
	const last = M.meta.slices - 1;

	return [Math.min(last, Math.ceil(at(row))), Math.min(last, Math.max(0, Math.ceil(at(row + 1)) - 1))];
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
