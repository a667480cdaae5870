// SPDX-License-Identifier: MIT
// when.mjs: the pane of time: the map below a second, and processes with their threads
// (lanes.mjs). A span of each recording is chosen in either, by mouse or by keys.
import { $, M, S } from "./state.mjs";
import { isAllTime, twoSides } from "./sums.mjs";
import { amount } from "./names.mjs";
import { isDark, node, sized } from "./element.mjs";
import { outline, ramp, rampImage } from "./ramps.mjs";
import { heatMap, heatSlices } from "./heat.mjs";
import {
	L,
	LANE,
	chooseRow,
	drawLaneTable,
	drawLanes,
	laneSays,
	laneSide,
	margin,
	showLane,
	whenWidth,
} from "./lanes.mjs";
import { brush } from "./strip.mjs";

const HEAT_HEIGHT = 200;
/* maps: of each side; at: where a drag began, and on which side. */
const W = { maps: [], at: null };

/* The elements of each side's map. */
const HEATS = [
	["heat", "heatcaption"],
	["beforeheat", "beforecaption"],
];

/* Which recording's time arrow keys move. */
export const whenSide = (element) =>
	element === $("lanes")
		? laneSide(L.rows[L.cursor])
		: element === $("beforeheat")
			? 1
			: 0;

/* A side's map. most: what has the strongest colour, on both. */
function drawHeat(canvas, map, most, width, style) {
	const height = HEAT_HEIGHT,
		ctx = sized(canvas, width, height),
		left = margin(),
		w = (width - left) / map.columns;
	const rows = Array.from({ length: map.rows }, (_, y) =>
		map.cells.subarray(y * map.columns, (y + 1) * map.columns),
	);
	const colours = [ramp(204, isDark())];

	ctx.clearRect(0, 0, width, height);
	ctx.imageSmoothingEnabled = false;
	ctx.drawImage(rampImage(rows, map.columns, most, colours), left, 0, width - left, height);
	for (let column = 1; w > 4 && column < map.columns; column++)
		ctx.clearRect(left + column * w - 1, 0, 1, height);
	ctx.fillStyle = style.text;
	ctx.font = "11px system-ui, sans-serif";
	for (let fifth = 0; fifth < 5; fifth++)
		ctx.fillText(`${200 * map.step * fifth} ms`, 10, (height * fifth) / 5 + 10);
}

/* What is chosen, in each second that it touches. */
function outlineHeat(side, width, style) {
	const map = W.maps[side],
		second = (slice) =>
			((slice / M.meta.slices) * M.meta.sides[side].seconds) / map.step,
		ctx = $(HEATS[side][0]).getContext("2d");
	const begin = second(S.spans[side][0]),
		end = second(S.spans[side][1] + 1),
		tall = HEAT_HEIGHT,
		w = (width - margin()) / map.columns;

	for (let column = Math.floor(begin); column < Math.min(end, map.columns); column++) {
		const top = Math.max(0, begin - column) * tall,
			bottom = Math.min(1, end - column) * tall;

		outline(
			ctx,
			margin() + column * w + 0.5,
			top + 0.5,
			Math.max(1, w - 1),
			Math.max(1, bottom - top - 1),
			style,
		);
	}
}

/* Cells have parts of what slices have. */
const cellAmount = (weight) => amount(Math.round(weight));

/* The map of each side; the strongest colour is the most that the side has. */
function drawHeats(width, style) {
	W.maps = M.meta.sides.map((_, side) => heatMap(side));
	W.maps.forEach((map, side) => {
		const [canvas, caption] = HEATS[side].map($),
			most = map.cells.reduce((a, b) => Math.max(a, b), 0),
			name = twoSides() ? `${M.meta.sides[side].name}: columns` : "Columns";

		canvas.hidden = caption.hidden = false;
		drawHeat(canvas, map, most || 1, width, style);
		if (!isAllTime(side)) outlineHeat(side, width, style);
		caption.textContent =
			`${name} are ${map.step > 1 ? `${map.step} seconds` : "seconds"}, rows ` +
			`${Math.round((1000 * map.step) / map.rows)} ms of them; the darkest is ` +
			`${cellAmount(most)}. Drag to choose a span.`;
	});
}

/* Of each second of a map: how much it has, and the part of it that has most. */
function heatTableRows(map, side) {
	const { columns, rows, step, cells } = map,
		out = [];

	for (let column = 0; column < columns; column++) {
		let sum = 0,
			most = 0;

		for (let row = 0; row < rows; row++) {
			const n = cells[row * columns + column];

			sum += n;
			if (n > cells[most * columns + column]) most = row;
		}
		if (sum)
			out.push([
				`${column * step} s`,
				cellAmount(sum),
				`${((1000 * step * most) / rows).toFixed(0)} ms: ` +
					cellAmount(cells[most * columns + column]),
				...(twoSides() ? [M.meta.sides[side].name] : []),
			]);
	}
	return out;
}

/* The maps in words, for who cannot see them: a row a second. */
function drawHeatTable() {
	if (!$("heatdetails").open) return;
	const head = ["from", "weight", "most in", ...(twoSides() ? ["recording"] : [])];

	$("heathead").replaceChildren(
		node(
			"tr",
			{},
			...head.map((textContent) => node("th", { scope: "col", textContent })),
		),
	);
	$("heattable").replaceChildren(
		...W.maps.flatMap(heatTableRows).map(([name, ...cells]) =>
			node(
				"tr",
				{},
				node("th", { scope: "row", textContent: name }),
				...cells.map((textContent) => node("td", { textContent })),
			),
		),
	);
}

/* How wide the pane is, and its colours. */
function whenStyle() {
	const css = getComputedStyle(document.documentElement);

	return [
		whenWidth(),
		{
			text: css.getPropertyValue("--text"),
			select: css.getPropertyValue("--select"),
			back: css.getPropertyValue("--back"),
		},
	];
}

/* The pane as it is now. */
export function drawWhen() {
	drawHeats(...whenStyle());
	drawHeatTable();
	drawLanes(...whenStyle());
	drawLaneTable();
}

/* How many rows each key goes. */
const LANE_STEPS = {
	ArrowDown: 1,
	ArrowUp: -1,
	PageDown: 20,
	PageUp: -20,
	End: Infinity,
	Home: -Infinity,
};

/* Keys of the timeline: they go from row to row, Enter chooses it alone. Whether it was one of
 * them. */
export function laneKey(key) {
	const row = L.rows[L.cursor];

	if (key === "Enter" && row) chooseRow(row);
	else if (key in LANE_STEPS)
		L.cursor = Math.max(0, Math.min(L.rows.length - 1, L.cursor + LANE_STEPS[key]));
	else return false;
	drawWhen();
	sayLane(L.rows[L.cursor]);
	return true;
}

/* What the row under the cursor is; it is brought into view. */
function sayLane(row) {
	if (!row) return;
	showLane(L.cursor);
	$("detail").textContent = laneSays(row) + (row.heading ? "" : ". Enter: it alone.");
}

const inside = (n, most) => Math.max(0, Math.min(most - 1, Math.floor(n)));
/* The part of the time that is under the mouse. */
const partAt = (e, canvas) => (e.offsetX - margin()) / (canvas.clientWidth - margin());

/* The cell of a side's map that is under the mouse. */
const heatCell = (e, side) => [
	inside(partAt(e, $(HEATS[side][0])) * W.maps[side].columns, W.maps[side].columns),
	inside((e.offsetY * W.maps[side].rows) / HEAT_HEIGHT, W.maps[side].rows),
];

/* What is under the mouse, in words. */
function sayHeat(e, side) {
	const [column, row] = heatCell(e, side),
		{ step, rows, columns, cells } = W.maps[side],
		at = (n) => (step * (column + n / rows)).toFixed(3);

	$("detail").textContent =
		`${at(row)} to ${at(row + 1)} s: ` +
		`${cellAmount(cells[row * columns + column])}. Drag to choose a span.`;
}

/* Makes a canvas one to drag a span in. where(event): first and last slice under the mouse;
 * side(event): whose; name: what a click before the time does. */
function dragged(canvas, where, side, name) {
	canvas.addEventListener("pointerdown", (e) => {
		W.at = e.offsetX >= margin() ? { slices: where(e), side: side(e) } : null;
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener("pointerup", (e) => {
		const to = where(e),
			from = W.at;

		W.at = null;
		if (!from) name(e);
		else
			brush(
				Math.min(from.slices[0], to[0]),
				Math.max(from.slices[1], to[1]),
				true,
				from.side,
			);
	});
}

/* Mouse of both: drag for a span, a click on a name for that process or thread alone. */
export function whenHand() {
	const lanes = $("lanes");
	const slice = (e) => Array(2).fill(inside(partAt(e, lanes) * M.meta.slices, M.meta.slices));
	const laneAt = (e) => inside((e.offsetY + L.top) / LANE, L.rows.length);

	HEATS.forEach(([id], side) => {
		const cell = (e) => heatSlices(...heatCell(e, side), W.maps[side], side);

		dragged(
			$(id),
			cell,
			() => side,
			() => {},
		);
		$(id).addEventListener(
			"pointermove",
			(e) => e.offsetX >= margin() && sayHeat(e, side),
		);
	});
	dragged(
		lanes,
		slice,
		(e) => laneSide(L.rows[laneAt(e)]),
		(e) => chooseRow(L.rows[laneAt(e)]),
	);
	lanes.addEventListener("pointerdown", (e) => {
		L.cursor = laneAt(e);
	});
	lanes.addEventListener("pointermove", (e) => {
		const part = partAt(e, lanes);

		$("detail").textContent = laneSays(
			L.rows[laneAt(e)],
			part >= 0 && part < 1 ? part : undefined,
		);
	});
	$("when").addEventListener("scroll", () => drawLanes(...whenStyle()));
	$("heatdetails").addEventListener("toggle", drawHeatTable);
	$("lanesdetails").addEventListener("toggle", drawLaneTable);
}
