// SPDX-License-Identifier: MIT
// element.mjs: elements and canvases.
export function node(tag, properties, ...children) {
	const e = Object.assign(document.createElement(tag), properties);

	e.append(...children);
	return e;
}

export function sized(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1,
		ctx = canvas.getContext("2d");

	if (
		canvas.width !== Math.round(width * ratio) ||
		canvas.height !== Math.round(height * ratio)
	) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.height = `${height}px`;
	}
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	return ctx;
}

export const isDark = () => document.documentElement.classList.contains("dark");

/* A box to tick, with its name. */
export function box(checked, name, change) {
	const input = node("input", { type: "checkbox", checked });

	input.addEventListener("change", () => change(input.checked));
	return node("label", { title: name }, input, ` ${name}`);
}
