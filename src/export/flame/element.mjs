// SPDX-License-Identifier: MIT
// element.mjs: elements and canvases.
import { V } from "./state.mjs";

export function node(tag, properties, ...children) {
	const e = Object.assign(document.createElement(tag), properties);

	e.append(...children);
	return e;
}

/* How wide a sheet of paper is, of A4 and of Letter, in pixels of the page. */
export const PAPER = 720;

export function sized(canvas, width, height) {
	/* Paper has more points than a screen. */
	const ratio = Math.max(window.devicePixelRatio || 1, V.printed ? 2 : 0),
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

/* A name with its number in so many pixels: it loses its end, the number stays. */
export function fitted(ctx, name, room) {
	const [, text, number = ""] = /^(.*?)( -?[0-9]*)?$/s.exec(name);
	const cut = (n) => `${text.slice(0, n)}\u2026${number}`;
	let n = text.length;

	if (ctx.measureText(name).width <= room) return name;
	while (n > 1 && ctx.measureText(cut(n)).width > room) n--;
	return cut(n);
}

/* Draws a place anew. The focus stays on what has the same key there (data-key), so that keys go on
 * from where they were; without that it would be nowhere. */
export function keepingFocus(place, draw) {
	const was = document.activeElement,
		key = place.contains(was) ? was.dataset.key : undefined;

	draw();
	if (key === undefined || was.isConnected) return;
	const again = [...place.querySelectorAll("[data-key]")].find((e) => e.dataset.key === key);
	if (again) again.focus({ preventScroll: true });
}

/* Of a list's buttons Tab comes to one alone, from which arrow keys go on: with hundreds of them
 * nobody would come to what is behind the list. Of a new list it is the chosen one, or else the
 * first. */
export function tabStop(button) {
	const list = button.closest("tbody");

	for (const other of list.querySelectorAll('button[tabindex="0"]')) other.tabIndex = -1;
	button.tabIndex = 0;
}

export function firstStop(list) {
	const first =
		list.querySelector('tr[aria-selected="true"] button:enabled') ||
		list.querySelector("button:enabled");

	if (first) tabStop(first);
}

export const isDark = () => document.documentElement.classList.contains("dark");

/* A box to tick, with its name. */
export function box(checked, name, change) {
	const input = node("input", { type: "checkbox", checked });

	input.dataset.key = name;
	input.addEventListener("change", () => change(input.checked));
	const [, text, number = ""] = /^(.*?)( -?[0-9]+)?$/s.exec(name);
	return node(
		"label",
		{ title: name },
		input,
		node("span", { className: "cut", textContent: ` ${text}` }),
		node("span", { className: "number", textContent: number }),
	);
}
