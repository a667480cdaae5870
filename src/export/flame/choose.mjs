// SPDX-License-Identifier: MIT
// choose.mjs: what follows from a choice.
import { $, M, S, V, ask } from "./state.mjs";
import { selfSums, sums, wholeOf, wholeSpans } from "./sums.mjs";
import { percent } from "./names.mjs";
import { isProcess } from "./processes.mjs";
import { build } from "./groups.mjs";
import { withAny } from "./tree.mjs";
import { ROW, follow, goToLine, layout, line, path } from "./place.mjs";
import { redraw } from "./draw.mjs";
import { brush, drawStrip, strip } from "./strip.mjs";
import { decodeLink, encodeLink } from "./link.mjs";
import { drawView } from "./views.mjs";
import { partsOf } from "./served.mjs";
import { detail, legend } from "./panels.mjs";
import { states } from "./stacks.mjs";
import { only, panelThreads, sameThreads } from "./threads.mjs";

export function compile(text) {
	if (text.length > 2 && text.startsWith("/") && text.endsWith("/")) {
		try {
			const regex = new RegExp(text.slice(1, -1));
			return (name) => regex.test(name);
		} catch (e) {
			return null;
		}
	}
	const lower = text.toLowerCase();
	return (name) => name.toLowerCase().includes(lower);
}

export function search() {
	const test = S.pattern && compile(S.pattern);

	S.matched = null;
	$("found").textContent = S.pattern && !test ? "not a regex" : "";
	if (!test) return;
	S.matched = Uint8Array.from(M.names, (name, fn) => (fn && test(name) ? 1 : 0));
	const hit = withAny(S.matched),
		self = selfSums(0);
	let sum = 0;
	for (let s = 1; s < hit.length; s++) if (hit[s]) sum += self[s];
	$("found").textContent = `${percent(sum, wholeOf(0))} match`;
}

/* After the choice of samples has changed. The place in the graph is found again by its names. */
export function recompute(whole) {
	const fns = path(S.zoom),
		selected = S.selected && path(S.selected),
		up = S.selected && S.selected.up;

	sums();
	build();
	S.zoom = follow(fns);
	S.selected = selected && !up === !S.root.up ? follow(selected) : null;
	search();
	if (whole) {
		strip();
		states();
	}
	show();
}

export function show() {
	/* Of a pane that is not seen nothing is made. */
	if (S.view === "flame" || S.view === "order") layout();
	else V.unfinished = false;
	drawStrip();
	redraw();
	detail(S.selected);
	drawView();
	if (ask.parts) ask.parts();
	if (!V.brushing) writeLink(false);
	$("flip").setAttribute("aria-pressed", S.icicle);
	$("callers").setAttribute("aria-pressed", S.callers);
	$("order").setAttribute("aria-pressed", S.byWeight);
	$("before").setAttribute("aria-pressed", S.before);
	$("focus").disabled = !S.selected || (!S.selected.parent && S.focus < 0);
}

export function ground() {
	V.height = $("scroll").clientHeight || V.height;
	const middle =
		S.above || V.low < 0 ? V.height / 2 : S.icicle ? V.height * V.rows : V.height;

	goToLine((line(0) + (S.icicle ? 0 : 1)) * ROW - middle);
}

export function zoomTo(g) {
	if (!g || (g.up && S.above) || g === S.zoom) return;
	if (S.view === "order") {
		if (g.node) brush(g.begin, g.end, true, g.side);
		return;
	}
	S.zoom = g;
	show();
}

export function goTo(focus, callers, fns) {
	S.focus = focus;
	S.callers = callers;
	S.selected = null;
	build();
	S.zoom = follow(fns);
	show();
	ground();
	redraw();
}

export function focusOn(g) {
	if (!g || (!g.parent && S.focus < 0)) return;
	goTo(g.fn, false, []);
	select(S.root);
}

export function reset() {
	S.pattern = $("search").value = "";
	S.spans = wholeSpans();
	S.threads.fill(1);
	S.states.fill(1);
	S.focus = S.fn = S.thread = -1;
	S.line = "";
	S.callers = false;
	S.zoom = S.selected = null;
	if (S.parts.some((part) => part)) {
		ask.part(["", ""], reset);
		return;
	}
	recompute(true);
	panelThreads();
	ground();
}

export function select(g) {
	S.selected = g;
	S.fn = g && (g.parent || S.focus >= 0) && !isProcess(g.fn) ? g.fn : -1;
	S.line = "";
	detail(g);
	writeLink(true);
	$("focus").disabled = !g || (!g.parent && S.focus < 0);
	redraw();
}

/* Processes apart in the graph, or together. */
export function setApart(apart) {
	if (S.focus >= 0 && isProcess(S.focus)) S.focus = -1;
	S.apart = apart;
	S.zoom = S.selected = null;
	sums();
	build();
	search();
	legend();
	show();
	ground();
	redraw();
}

/* A function, wherever it is: all panes show it. */
export function choose(fn) {
	S.fn = fn;
	S.line = "";
	S.selected = null;
	show();
}

/* Light or dark, as S.dark says. */
export function applyTheme() {
	document.documentElement.classList.toggle("dark", S.dark);
	legend();
}

export function setView(view) {
	S.view = view;
	S.selected = null;
	show();
	ground();
	redraw();
}

/* What is chosen as the page's address. replace: without a new place to come back to. */
export function writeLink(replace) {
	const text = `#${encodeLink(path(S.zoom))}`;

	if (V.quiet || text === (V.link || "#")) return;
	V.link = text;
	if (replace) location.replace(text);
	else location.hash = text;
}

/* What the address says is chosen. */
export function readLink() {
	const parts = partsOf(location.hash.slice(1));

	if (ask.part && parts.some((part, side) => part !== S.parts[side])) {
		ask.part(parts, readLink);
		return;
	}
	const zoom = decodeLink(location.hash.slice(1));

	V.quiet = true;
	V.link = location.hash || "#";
	$("search").value = S.pattern;
	$("event").value = S.event;
	applyTheme();
	S.zoom = S.selected = null;
	sums();
	build();
	S.zoom = follow(zoom);
	search();
	strip();
	states();
	show();
	panelThreads();
	ground();
	redraw();
	V.quiet = false;
}

/* The name of the chosen function, or the stack of the chosen cell, outermost first. */
export function copied(stack) {
	const g = S.selected;

	if (!stack || !g) {
		const fn = g && g.parent ? g.fn : S.fn;

		return fn > 0 ? M.names[fn] : "";
	}
	const fns = path(g).map((fn) => M.names[fn]);
	return (g.up ? fns.reverse() : fns).join("\n");
}

/* Threads chosen in a pane; of two recordings with those of the other that have their names. */
const chosenThreads = (threads) => only(sameThreads(threads));

Object.assign(ask, {
	recompute,
	choose,
	only: chosenThreads,
	same: sameThreads,
	moved: () => writeLink(false),
});
