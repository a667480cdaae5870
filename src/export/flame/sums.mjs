// SPDX-License-Identifier: MIT
// sums.mjs: sums over what was chosen. Knows nothing of the screen.
import { M, S, T } from "./state.mjs";

const KEPT = new Map();

/* The chosen rows of a side, in their order: found once for each choice, as every pane asks for them. */
export function chosenRows(side, whole) {
	const all = whole || side, n = M.rowNode.length, name = `${side}${all ? " whole" : ""}`;
	const key = [S.event, all ? "" : `${S.first}-${S.last}`, S.threads.join(""), S.states.join("")].join();
	let kept = KEPT.get(name);

	if (kept && kept.key === key && kept.of === M.rowNode)
		return kept.rows;
	const rows = kept && kept.of === M.rowNode ? kept.room : new Uint32Array(n);
	const { rowWhat, rowThread, rowSlice } = M, { event, threads, states, first, last } = S;
	let count = 0;
	for (let i = 0; i < n; i++) {
		const what = rowWhat[i];

		if ((what & 0xffff) === event && what >>> 24 === side && states[(what >>> 16) & 0xff] &&
			threads[rowThread[i]] && (all || (rowSlice[i] >= first && rowSlice[i] <= last)))
			rows[count++] = i;
	}
	kept = { key, of: M.rowNode, room: rows, rows: rows.subarray(0, count) };
	KEPT.set(name, kept);
	return kept.rows;
}

/* Weight by thread of chosen rows. */
export function threadWeights(rows) {
	const weights = new Float64Array(M.meta.threads.length), { rowThread, rowWeight } = M;

	for (let i = 0; i < rows.length; i++)
		weights[rowThread[rows[i]]] += rowWeight[rows[i]];
	return weights;
}

export function sums() {
	const { parent, rowNode, rowWeight, rowSamples } = M;
	const n = parent.length, sides = M.meta.sides.length;

	Object.assign(T, { self: [], total: [], samples: [] });
	for (let side = 0; side < sides; side++) {
		const self = new Float64Array(n);
		let samples = 0;

		const rows = chosenRows(side, false);
		for (let at = 0; at < rows.length; at++) {
			const i = rows[at];

			self[rowNode[i]] += rowWeight[i];
			samples += rowSamples[i];
		}
		const total = self.slice();
		for (let i = n - 1; i > 0; i--)
			total[parent[i]] += total[i];
		T.self.push(self);
		T.total.push(total);
		T.samples.push(samples);
	}
}

export const twoSides = () => M.meta.sides.length > 1;
export const shown = (g) => (S.before && twoSides() ? g.base : g.value);
/* What a share is a share of, on either side. */
export const wholeOf = (side) => T.total[side] ? T.total[side][0] : 0;
