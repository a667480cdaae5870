// SPDX-License-Identifier: MIT
// noise.mjs: how sure a difference between two sampled shares is, as profile/noise.c says it of one
// recording a side: the noise of counting, at a confidence of 95 %. Knows nothing of the screen.
import { T } from "./state.mjs";

/* What a variable of the normal distribution exceeds in amount with a chance of 5 %. */
const QUANTILE = 1.959963984540054;

/* Of n samples k hit something, before and now. margin: of the difference of shares, to either
 * side. verdict: 1: it is more for sure; -1: less for sure; 0: noise could be all of it. */
export function compareCounts(before, wholeBefore, now, wholeNow) {
	const ka = before > 0 ? before : 0.5,
		kb = now > 0 ? now : 0.5;
	const na = Math.max(wholeBefore, 1),
		nb = Math.max(wholeNow, 1);
	const a = before / na,
		b = now / nb;
	const ratio = kb / nb / (ka / na);
	const variance = 1 / ka + 1 / kb - 1 / Math.max(na, ka) - 1 / Math.max(nb, kb);
	const spread = Math.exp(Math.min(QUANTILE * Math.sqrt(Math.max(variance, 0)), 20));
	const margin = QUANTILE * Math.sqrt((a * (1 - a)) / na + (b * (1 - b)) / nb);
	const least = ratio / spread,
		most = ratio * spread;

	return { margin, ratio, least, most, verdict: least > 1 ? 1 : most < 1 ? -1 : 0 };
}

/* Of the samples that are chosen on both sides. */
export const compared = (before, now) => compareCounts(before, T.samples[1], now, T.samples[0]);

/* A difference of shares with what noise could be: "+1.20 ±0.35"; "~": noise could be all of it. */
export function differenceText(change, noise) {
	const points = `${change >= 0 ? "+" : "\u2212"}${Math.abs(change).toFixed(2)}`;

	return `${points} \u00b1${(100 * noise.margin).toFixed(2)}${noise.verdict ? "" : " ~"}`;
}
