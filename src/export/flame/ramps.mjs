// SPDX-License-Identifier: MIT
// ramps.mjs: weights over time as images.
import { channels } from "./colours.mjs";

/* Weights as an image of a row each: colours of RAMP steps between light and dark. Drawn at once: a
 * rectangle for each would take longer than all sums. */
export function rampImage(rows, columns, most, colours) {
	const canvas = document.createElement("canvas"),
		steps = colours[0].length - 1;

	canvas.width = columns;
	canvas.height = Math.max(1, rows.length);
	const ctx = canvas.getContext("2d"),
		image = ctx.createImageData(canvas.width, canvas.height);
	const words = new Uint32Array(image.data.buffer);
	rows.forEach((values, y) => {
		const of = colours[y % colours.length];

		for (let x = 0; x < columns; x++)
			if (values[x])
				words[y * columns + x] =
					of[Math.round(steps * Math.sqrt(values[x] / most))];
	});
	ctx.putImageData(image, 0, 0);
	return canvas;
}

/* Colours from a little to most, as an image's bytes in the order of this machine's words. */
export function ramp(hue, saturation, few, many) {
	return Uint32Array.from({ length: 65 }, (_, i) => {
		const rgb = channels(
			`hsl(${hue} ${saturation}% ${few + ((many - few) * i) / 64}%)`,
		);
		const bytes = Uint8Array.of(...rgb.map((c) => Math.round(255 * c)), 255);

		return new Uint32Array(bytes.buffer)[0];
	});
}

