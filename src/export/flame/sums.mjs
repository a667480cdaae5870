// SPDX-License-Identifier: MIT
// sums.mjs: sums over what was chosen. Knows nothing of the screen.
import { M, S, T } from "./state.mjs";

export function chosen(i, side, whole) {
	const what = M.rowWhat[i];

	return (what & 0xffff) === S.event && what >>> 24 === side && S.states[(what >>> 16) & 0xff] && S.threads[M.rowThread[i]] &&
		(whole || side || (M.rowSlice[i] >= S.first && M.rowSlice[i] <= S.last));
}

export function sums() {
	const n = M.parent.length, sides = M.meta.sides.length;

	Object.assign(T, { self: [], total: [], samples: [] });
	for (let side = 0; side < sides; side++) {
		const self = new Float64Array(n);
		let samples = 0;

		for (let i = 0; i < M.rowNode.length; i++) {
			if (!chosen(i, side))
				continue;
			self[M.rowNode[i]] += M.rowWeight[i];
			samples += M.rowSamples[i];
		}
		const total = self.slice();
		for (let i = n - 1; i > 0; i--)
			total[M.parent[i]] += total[i];
		T.self.push(self);
		T.total.push(total);
		T.samples.push(samples);
	}
}

export const twoSides = () => M.meta.sides.length > 1;
export const shown = (g) => (S.before && twoSides() ? g.base : g.value);
/* What a share is a share of, on either side. */
export const wholeOf = (side) => T.total[side] ? T.total[side][0] : 0;
