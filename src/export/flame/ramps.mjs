// SPDX-License-Identifier: MIT
// ramps.mjs: weights over time as images, and their colours.
import { channels, luminance } from "./colours.mjs";

/* What stands out from the ground of a pane as much as WCAG 2 asks of marks (3 to 1), and what as
 * much as any: the least and the most that a place in time has. */
const LEAST = 3.1,
	MOST = 12;

/* The luminance of the darkest ground of the dark theme's panes, and of the lightest of the light
 * one's (flame.css). */
const GROUND = { light: 1, dark: 0.01 };

/* How light a colour of this hue is that stands out from the ground so much: all hues seem as
 * strong then. */
function lightness(hue, saturation, ratio, dark) {
	const wanted = dark
		? (GROUND.dark + 0.05) * ratio - 0.05
		: (GROUND.light + 0.05) / ratio - 0.05;
	let low = 0,
		high = 100;

	for (let i = 0; i < 20; i++) {
		const middle = (low + high) / 2;

		if (luminance(channels(`hsl(${hue} ${saturation}% ${middle}%)`)) < wanted)
			low = middle;
		else high = middle;
	}
	return high;
}

/* Colours of a hue for weights over time, from a little to most: steps of "hsl(H S% L%)". */
export function rampColours(hue, dark) {
	const saturation = 75,
		few = lightness(hue, saturation, LEAST, dark),
		many = lightness(hue, saturation, MOST, dark);

	return Array.from(
		{ length: 65 },
		(_, i) => `hsl(${hue} ${saturation}% ${few + ((many - few) * i) / 64}%)`,
	);
}

/* Weights as an image of a row each: colours of RAMP steps between light and dark; more than most
 * has the colour of most. Drawn at once: a rectangle for each would take longer than all sums. */
export function rampImage(rows, columns, most, colours) {
	const canvas = document.createElement("canvas"),
		steps = colours[0].length - 1;

	canvas.width = columns;
	canvas.height = Math.max(1, rows.length);
	const ctx = canvas.getContext("2d"),
		image = ctx.createImageData(canvas.width, canvas.height);
	const words = new Uint32Array(image.data.buffer),
		step = (value) => Math.round(steps * Math.sqrt(Math.min(1, value / most)));
	rows.forEach((values, y) => {
		const of = colours[y % colours.length];

		for (let x = 0; x < columns; x++)
			if (values[x])
				words[y * columns + x] = of[step(values[x])];
	});
	ctx.putImageData(image, 0, 0);
	return canvas;
}

/* The same as an image's bytes in the order of this machine's words. */
export function ramp(hue, dark) {
	return Uint32Array.from(rampColours(hue, dark), (colour) => {
		const bytes = Uint8Array.of(
			...channels(colour).map((c) => Math.round(255 * c)),
			255,
		);

		return new Uint32Array(bytes.buffer)[0];
	});
}

/* Of the same: what a legend shows. */
export const rampMiddle = (hue, dark) => rampColours(hue, dark)[32];

/* Outlines a place on an image: light and dark, so that one of both stands out from it. */
export function outline(ctx, x, y, w, h, style) {
	ctx.lineWidth = 3;
	ctx.strokeStyle = style.back;
	ctx.strokeRect(x, y, w, h);
	ctx.lineWidth = 1;
	ctx.strokeStyle = style.select;
	ctx.strokeRect(x, y, w, h);
}
