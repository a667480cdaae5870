// SPDX-License-Identifier: MIT
// colours.mjs: the colours of cells.
import { KIND, M, S, always } from "./state.mjs";
import { twoSides, wholeOf } from "./sums.mjs";
import { compared } from "./noise.mjs";
import { functionChange } from "./functions.mjs";
import { isDark } from "./element.mjs";

/* Hues that stay apart in the common kinds of colour blindness; kinds also differ by pattern. */
export const HUES = {
	[KIND.UNKNOWN]: [0, 0],
	[KIND.USER]: [204, 70],
	[KIND.KERNEL]: [38, 88],
	[KIND.INLINED]: [168, 45],
	[KIND.UNFINISHED]: [0, 0],
	[KIND.PROCESS]: [265, 38],
};

/* How much of its colour a cell keeps that is not meant: what is written on it can be read
 * still. */
export const DIM = 0.4;

export function kindColour(kind, shade) {
	const runtime = !HUES[kind] && M.meta.runtimes[kind - KIND.UNFINISHED - 1];
	const [hue, saturation] = runtime
		? [runtime.hue, runtime.saturation]
		: HUES[kind] || HUES[0];

	return `hsl(${hue} ${saturation}% ${(isDark() ? 52 : 66) + shade}%)`;
}

/* As far from grey as the share has changed, in points of all. */
export function change(g) {
	return (
		100 *
		((wholeOf(0) ? g.value / wholeOf(0) : 0) - (wholeOf(1) ? g.base / wholeOf(1) : 0))
	);
}

/* How sure a cell's change is. */
export const changeNoise = (g) => compared(g.baseHits, g.hits);

/* Less: blue; more: orange. What noise could be (verdict 0) stays near grey. */
export function changeColour(points, verdict) {
	const light = isDark() ? 50 : 84;
	const strength = verdict ? Math.min(1, Math.sqrt(Math.abs(points) / 10)) : 0;

	if (!verdict || Math.abs(points) < 0.005) return `hsl(0 0% ${light}%)`;
	return points > 0
		? `hsl(24 ${20 + 75 * strength}% ${light - 18 * strength}%)`
		: `hsl(212 ${20 + 65 * strength}% ${light - 14 * strength}%)`;
}

/* Of two recordings a cell has the colour of its change; in order of time, where it stands for one
 * of them, that of its function's. */
function comparedColour(g) {
	if (S.view !== "order") return changeColour(change(g), changeNoise(g).verdict);
	if (!g.parent) return changeColour(0, 0);
	const { change: part, noise } = functionChange(g.fn).total;
	return changeColour(100 * part, noise.verdict);
}

/* A kind's colour in one of 16 shades. */
function functionColour(kind, hue) {
	const known = always(`colours ${isDark()}`, () => []);

	return (known[16 * kind + hue] ||= kindColour(kind, (hue - 8) * 0.9));
}

export function colour(g) {
	if (S.matched && S.matched[g.fn]) return isDark() ? "hsl(327 65% 62%)" : "hsl(327 70% 72%)";
	if (twoSides() && M.fnKind[g.fn] !== KIND.UNFINISHED) return comparedColour(g);
	return functionColour(g.parent || S.focus >= 0 ? M.fnKind[g.fn] : 0, M.hue[g.fn]);
}

/* Red, green and blue, 0 to 1, of "hsl(H S% L%)". */
export function channels(hsl) {
	const [hue, saturation, light] = hsl.match(/-?[\d.]+/g).map(Number),
		l = Math.min(Math.max(light, 0), 100) / 100;

	return [0, 8, 4].map((n) => {
		const k = (n + hue / 30) % 12;

		return (
			l -
			(saturation / 100) *
				Math.min(l, 1 - l) *
				Math.max(-1, Math.min(k - 3, 9 - k, 1))
		);
	});
}

/* As WCAG 2 defines it: 0 is black, 1 is white. */
export function luminance(rgb) {
	const [r, g, b] = rgb.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const inks = new Map();

/* The colour of letters on a cell: black or white, whichever stands out more. That is 4.58 to 1 at
 * least. */
export function ink(hsl) {
	if (!inks.has(hsl))
		inks.set(
			hsl,
			(luminance(channels(hsl)) + 0.05) ** 2 > 0.05 * 1.05
				? "#000000"
				: "#ffffff",
		);
	return inks.get(hsl);
}

/* Inlined: dots; unfinished: hatching. */
export function pattern(ctx, kind, x, y, w, h) {
	if (w < 3) return;
	ctx.save();
	ctx.beginPath();
	ctx.rect(x, y, w, h);
	ctx.clip();
	ctx.strokeStyle = "rgba(0,0,0,0.35)";
	ctx.beginPath();
	if (kind === KIND.UNFINISHED) {
		for (let at = x - h; at < x + w; at += 7) {
			ctx.moveTo(at, y + h);
			ctx.lineTo(at + h, y);
		}
	} else {
		ctx.setLineDash([2, 3]);
		ctx.moveTo(x, y + h - 1.5);
		ctx.lineTo(x + w, y + h - 1.5);
	}
	ctx.stroke();
	ctx.restore();
}
