// SPDX-License-Identifier: MIT
// hand.mjs: mouse and keys.
import { $, M, S, V } from "./state.mjs";
import { isAllTime, shown, twoSides } from "./sums.mjs";
import { APART, apartChoices } from "./processes.mjs";
import { kidsOf } from "./groups.mjs";
import {
	ROW,
	depthAt,
	finishLayout,
	layout,
	line,
	offset,
	path,
	scrolled,
	stay,
} from "./place.mjs";
import { PAPER, node, tabStop } from "./element.mjs";
import { draw, redraw } from "./draw.mjs";
import { heatStep } from "./heat.mjs";
import { brush, drawStrip, stripSide, xSlice } from "./strip.mjs";
import { detail } from "./panels.mjs";
import { only, panelThreads } from "./threads.mjs";
import { VIEWS } from "./link.mjs";
import { drawView } from "./views.mjs";
import { laneKey, whenHand, whenSide } from "./when.mjs";
import { finer, wholeTime } from "./served.mjs";
import {
	copied,
	focusOn,
	goTo,
	readLink,
	recompute,
	reset,
	search,
	select,
	setApart,
	setView,
	show,
	writeLink,
	zoomTo,
	applyTheme,
} from "./choose.mjs";

const PRINTED_ROWS = 200;

export function cellAt(x, y) {
	const row = V.depths.get(depthAt(Math.floor((y - offset()) / ROW))) || [];
	let low = 0,
		high = row.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (row[middle].x + row[middle].w <= x) low = middle + 1;
		else high = middle;
	}
	return low < row.length && row[low].x <= x ? row[low] : null;
}

export function pointer() {
	const graph = $("graph");

	graph.addEventListener("mousemove", (e) => {
		const c = cellAt(e.offsetX, e.offsetY);

		graph.style.cursor = c && c.g ? "pointer" : "default";
		if (c && !c.g)
			$("detail").textContent =
				`${c.n} cells, each too narrow to be shown: zoom in`;
		else detail(c ? c.g : S.selected);
	});
	graph.addEventListener("mouseleave", () => detail(S.selected));
	graph.addEventListener("click", (e) => {
		const c = cellAt(e.offsetX, e.offsetY);

		if (c && c.g) {
			select(c.g);
			zoomTo(c.g);
		}
	});
	graph.addEventListener("contextmenu", (e) => {
		const c = cellAt(e.offsetX, e.offsetY);

		e.preventDefault();
		if (c && c.g) focusOn(c.g);
	});
	stripHand($("strip"), 0);
	stripHand($("beforestrip"), 1);
}

/* Mouse of a side's strip: drag for a span, a click for all of the time. */
function stripHand(time, side) {
	let from = -1;
	const near = (at) => Math.abs(at - from) <= M.meta.slices >> 9;

	time.addEventListener("pointerdown", (e) => {
		from = xSlice(e.offsetX, side);
		time.setPointerCapture(e.pointerId);
	});
	time.addEventListener("pointermove", (e) => {
		const at = xSlice(e.offsetX, side);

		if (from >= 0 && !near(at)) brush(from, at, false, side);
	});
	time.addEventListener("pointerup", (e) => {
		const at = xSlice(e.offsetX, side);

		if (from >= 0 && near(at)) brush(0, M.meta.slices - 1, true, side);
		else if (from >= 0) brush(from, at, true, side);
		from = -1;
	});
}

export function cellOf(g) {
	for (const row of V.depths.values()) for (const c of row) if (c.g === g) return c;
	return null;
}

export function intoView(g) {
	const c = cellOf(g),
		y = c
			? line(c.depth) * ROW +
				(S.icicle ? 0 : Math.max(0, V.height - V.rows * ROW))
			: 0,
		e = $("scroll");

	if (c && y < e.scrollTop) e.scrollTop = y;
	else if (c && y + ROW > e.scrollTop + V.height) e.scrollTop = y + ROW - V.height;
}

/* Up and down go by what is seen: away from the root is up in a flame graph. */
export function move(key) {
	finishLayout();
	const g = S.selected || (S.view === "order" ? V.ordered : S.zoom || S.root),
		outward = (key === "ArrowUp") !== S.icicle;
	const visible = (list) => list.filter((k) => cellOf(k));
	let to = null;

	if (key === "ArrowUp" || key === "ArrowDown") {
		const kids = visible(kidsOf(g));

		to =
			outward !== (g.up && !!S.above)
				? kids.reduce((a, b) => (!a || shown(b) > shown(a) ? b : a), null)
				: g.parent;
	} else if (g.parent) {
		const list = visible(kidsOf(g.parent)),
			at = list.indexOf(g) + (key === "ArrowRight" ? 1 : -1);

		to = list[at] || null;
	}
	if (to || !S.selected) {
		select(to || g);
		intoView(to || g);
	}
}

/* From name to name in the table, from line to line in the source. */
export function moveTable(key) {
	const names = [
		...document.querySelectorAll(
			S.view === "source"
				? "#source .line:enabled, #source .name:enabled"
				: "#table .name:enabled",
		),
	];
	const at = names.indexOf(document.activeElement),
		to =
			at < 0
				? names.findIndex((name) => name.tabIndex === 0)
				: at + (key === "ArrowDown" ? 1 : -1);

	if (names.length) names[Math.max(0, Math.min(names.length - 1, to))].focus();
}

/* Moves a side's chosen span of time, or with Shift its end: in the map as its cells stand, else by
 * a part of all. */
export function moveBrush(e, inMap, side) {
	const n = M.meta.slices - 1,
		part = Math.max(1, n >> 7),
		[first, last] = S.spans[side];
	const step = inMap ? heatStep(e.key, side) : e.key === "ArrowRight" ? part : -part;

	if (isAllTime(side)) brush(0, n >> 3, true, side);
	else if (e.shiftKey) brush(first, Math.max(first, last + step), true, side);
	else if (first + step >= 0 && last + step <= n)
		brush(first + step, last + step, true, side);
}

/* An arrow key in the pane of time. */
function whenArrow(e) {
	const side = whenSide(e.target);

	if (M.meta.sides[side].seconds > 0) moveBrush(e, e.target !== $("lanes"), side);
}

export const toggle = (name) => () => {
	S[name] = !S[name];
	goTo(S.focus, S.callers, path(S.zoom));
};

/* Without the clipboard's own interface, which a page in a file does not always have. */
function copy(stack) {
	const area = node("textarea", { value: copied(stack) }),
		before = document.activeElement;

	document.body.append(area);
	area.select();
	document.execCommand("copy");
	area.remove();
	before.focus();
}

export const ACTIONS = {
	back: () => history.back(),
	reset,
	copyname: () => copy(false),
	copystack: () => copy(true),
	flip: toggle("icicle"),
	order: toggle("byWeight"),
	before: toggle("before"),
	finer,
	whole: wholeTime,
	callers: () => {
		goTo(-1, !S.callers, []);
	},
	focus: () => focusOn(S.selected),
	theme: () => {
		S.dark = !S.dark;
		applyTheme();
		show();
	},
	help: () => $("keys").showModal(),
};

/* The first way to tell processes apart, if there is one, or none. */
const apartKey = () => setApart(S.apart ? APART.NONE : apartChoices()[1] || APART.NONE);

export const KEYS = [
	["/", "search", () => $("search").focus()],
	["Escape", "everything again", reset],
	["Backspace", "back, as the browser's Back", ACTIONS.back],
	["Enter", "zoom to the selected cell", () => zoomTo(S.selected)],
	[
		"Arrow keys",
		"select; in the strip and the map of time: move the span, with Shift its end",
		null,
	],
	[
		"Tab, arrows",
		"in the timeline: from row to row (also Page Up, Page Down, Home, End), " +
			"Enter: it alone; left and right: the span",
		null,
	],
	["f", "the selected function with its callers and callees (or right click)", ACTIONS.focus],
	["c", "from the innermost functions to their callers", ACTIONS.callers],
	["i", "icicle or flame", ACTIONS.flip],
	["o", "order by weight or by name", ACTIONS.order],
	["p", "processes apart at the root of the graph, or together", apartKey],
	["b", "with two recordings: widths of the other one", () => twoSides() && ACTIONS.before()],
	["1 2 3 4 5", "flame graph, order of time, table, time, source", null],
	...VIEWS.map((view, i) => [String(i + 1), "", () => setView(view)]),
	["y", "copy the name of the chosen function", ACTIONS.copyname],
	["Y", "copy the stack of the chosen cell", ACTIONS.copystack],
	["+", "seam view: only the chosen span, in 1,024 parts", finer],
	["-", "seam view: the whole time again", wholeTime],
	["t", "light or dark", ACTIONS.theme],
	["?", "these keys", ACTIONS.help],
];

/* What has a use of its own for Enter. */
const worksOnEnter = (element) => /^(BUTTON|SUMMARY|A)$/.test(element.tagName);

export function keyboard() {
	$("keytable").append(
		...KEYS.filter(([, text]) => text).map(([key, text]) =>
			node(
				"tr",
				{},
				node("td", {}, node("kbd", { textContent: key })),
				node("td", { textContent: text }),
			),
		),
	);
	document.addEventListener("focusin", (e) => {
		if (e.target.matches("tbody button")) tabStop(e.target);
	});
	document.addEventListener("keydown", (e) => {
		const typing = e.target.matches("select, input:not([type=checkbox])"),
			action = KEYS.find(([key, , run]) => key === e.key && run);

		if (e.ctrlKey || e.altKey || e.metaKey || $("keys").open) return;
		if (typing) {
			if (e.key === "Escape") e.target.blur();
			return;
		}
		if (stripSide(e.target) >= 0 && /^Arrow(Left|Right)$/.test(e.key))
			moveBrush(e, false, stripSide(e.target));
		else if (e.target === $("lanes") && laneKey(e.key));
		else if (S.view === "time" && /^Arrow/.test(e.key)) whenArrow(e);
		else if (
			(S.view === "table" || S.view === "source") &&
			/^Arrow(Up|Down)$/.test(e.key)
		)
			moveTable(e.key);
		else if (/^Arrow/.test(e.key)) move(e.key);
		else if (action && !(e.key === "Enter" && worksOnEnter(e.target)))
			action[2]();
		else return;
		e.preventDefault();
	});
}

export function panels() {
	let timer = 0,
		cost = 0;

	for (const [id, run] of Object.entries(ACTIONS)) $(id).addEventListener("click", run);
	$("search").addEventListener("input", () => {
		clearTimeout(timer);
		/* Letters come one after the other: as long a rest as an answer takes. */
		timer = setTimeout(() => {
			const from = performance.now();

			S.pattern = $("search").value;
			search();
			redraw();
			drawView();
			writeLink(true);
			cost = Math.min(100, performance.now() - from);
		}, cost);
	});
	$("event").append(
		...M.meta.events.map((e, i) => node("option", { value: i, textContent: e.name })),
	);
	$("event").value = S.event;
	$("event").addEventListener("change", () => {
		S.event = Number($("event").value);
		recompute(true);
		panelThreads();
	});
	$("processes").addEventListener("change", () => setApart($("processes").value));
	$("views").addEventListener(
		"click",
		(e) => e.target.dataset.view && setView(e.target.dataset.view),
	);
	$("thread").addEventListener("change", () => {
		S.thread = Number($("thread").value);
		show();
	});
	window.addEventListener("hashchange", () => {
		if ((location.hash || "#") !== V.link) readLink();
	});
	whenHand();
	printing();
	$("threadfilter").addEventListener("input", () => {
		S.filter = $("threadfilter").value.toLowerCase();
		panelThreads();
		if (S.view === "time") drawView();
	});
	$("allthreads").addEventListener("click", () => only(M.meta.threads.map((_, t) => t)));
	$("nothreads").addEventListener("click", () => only([]));
	$("scroll").addEventListener("scroll", () => {
		scrolled();
		redraw();
	});
	$("before").hidden = !twoSides();
	const resized = new ResizeObserver(fit);
	resized.observe($("scroll"));
	resized.observe($("left"));
}

/* How large the pane is that is shown. */
function paneSize() {
	const pane = ["scroll", "table", "when", "source"].map($).find((e) => !e.hidden);

	return `${pane.offsetWidth} ${pane.offsetHeight}`;
}

/* To the window's size. What is laid out stays where only the height is another; a pane that has
 * taken another's place has its room, and is drawn. */
function fit() {
	const { width, pane } = V;

	if (V.printed) return;
	V.width = $("scroll").clientWidth || $("left").clientWidth;
	V.height = $("scroll").clientHeight || V.height;
	V.pane = paneSize();
	stay();
	if (V.width !== width || ($("scroll").hidden && V.pane !== pane)) show();
	drawStrip();
	redraw();
}

/* On paper: light, and the whole graph, whatever the window shows of it. */
function printing() {
	window.addEventListener("beforeprint", () => {
		V.printed = { height: V.height, width: V.width, dark: S.dark };
		S.dark = false;
		V.width = PAPER;
		applyTheme();
		layout(Infinity);
		V.height = Math.min(V.rows * ROW, PRINTED_ROWS * ROW);
		drawStrip();
		drawView();
		draw();
	});
	window.addEventListener("afterprint", () => {
		V.height = V.printed.height;
		V.width = V.printed.width;
		S.dark = V.printed.dark;
		V.printed = null;
		applyTheme();
		show();
	});
}
