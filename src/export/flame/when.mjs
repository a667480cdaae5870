// SPDX-License-Identifier: MIT
// when.mjs: the pane of time: the map below a second, and processes with their threads
// (lanes.mjs). A span is chosen in either, by mouse or by keys. Of two recordings the other's map
// stands below.
import { $, M, S } from "./state.mjs";
import { twoSides } from "./sums.mjs";
import { amount } from "./names.mjs";
import { isDark, sized } from "./element.mjs";
import { outline, ramp, rampImage } from "./ramps.mjs";
import { heatMap, heatSlices } from "./heat.mjs";
import {
	L,
	LANE,
	chooseRow,
	drawLanes,
	drawLaneTable,
	laneSays,
	margin,
} from "./lanes.mjs";
import { brush } from "./strip.mjs";

const HEAT_HEIGHT = 200;
const W = { heat: null, at: null };

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
function outlineHeat(width, style) {
	const second = (slice) => ((slice / M.meta.slices) * M.meta.sides[0].seconds) / W.heat.step,
		ctx = $("heat").getContext("2d");
	const begin = second(S.first),
		end = second(S.last + 1),
		tall = HEAT_HEIGHT,
		w = (width - margin()) / W.heat.columns;

	for (let column = Math.floor(begin); column < Math.min(end, W.heat.columns); column++) {
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

/* Both maps, in one scale of shares of their whole. */
function drawHeats(width, style) {
	const most = (map) => map.cells.reduce((a, b) => Math.max(a, b), 0);
	const maps = M.meta.sides.map((_, side) => heatMap(side));

	W.heat = maps[0];
	drawHeat($("heat"), maps[0], most(maps[0]) || 1, width, style);
	if (S.first > 0 || S.last < M.meta.slices - 1) outlineHeat(width, style);
	$("heatcaption").textContent =
		`${twoSides() ? `${M.meta.sides[0].name}: columns` : "Columns"} are ` +
		`${W.heat.step > 1 ? `${W.heat.step} seconds` : "seconds"}, rows ` +
		`${Math.round((1000 * W.heat.step) / W.heat.rows)} ms of them; the darkest is ` +
		`${amount(most(W.heat))}. Drag to choose a span.`;
	$("beforeheat").hidden = $("beforecaption").hidden = !twoSides();
	if (!twoSides()) return;
	$("beforecaption").textContent =
		`${M.meta.sides[1].name}: all of its time, by the same measure; the darkest is ` +
		`${amount(most(maps[1]))}.`;
	drawHeat($("beforeheat"), maps[1], most(maps[1]) || 1, width, style);
}

/* The pane as it is now. */
export function drawWhen() {
	const css = getComputedStyle(document.documentElement),
		width = $("when").clientWidth;
	const style = {
		text: css.getPropertyValue("--text"),
		select: css.getPropertyValue("--select"),
		back: css.getPropertyValue("--back"),
	};

	drawHeats(width, style);
	drawLanes(width, style);
	drawLaneTable();
}

/* Keys of the timeline: up and down go from row to row, Enter chooses it alone. Whether it was one
 * of them. */
export function laneKey(key) {
	const row = L.rows[L.cursor];

	if (key === "Enter" && row) chooseRow(row);
	else if (key === "ArrowDown" || key === "ArrowUp")
		L.cursor = Math.max(
			0,
			Math.min(L.rows.length - 1, L.cursor + (key === "ArrowDown" ? 1 : -1)),
		);
	else return false;
	drawWhen();
	sayLane(L.rows[L.cursor]);
	return true;
}

/* What the row under the cursor is; it is brought into view. */
function sayLane(row) {
	const pane = $("when"),
		top = $("lanes").offsetTop - pane.offsetTop + L.cursor * LANE;

	if (!row) return;
	if (top < pane.scrollTop || top + LANE > pane.scrollTop + pane.clientHeight)
		pane.scrollTop = top - pane.clientHeight / 2;
	$("detail").textContent = laneSays(row) + (row.heading ? "" : ". Enter: it alone.");
}

const inside = (n, most) => Math.max(0, Math.min(most - 1, Math.floor(n)));
/* The part of the time that is under the mouse. */
const partAt = (e, canvas) => (e.offsetX - margin()) / (canvas.clientWidth - margin());

/* The cell of the map that is under the mouse. */
const heatCell = (e) => [
	inside(partAt(e, $("heat")) * W.heat.columns, W.heat.columns),
	inside((e.offsetY * W.heat.rows) / HEAT_HEIGHT, W.heat.rows),
];

/* What is under the mouse, in words. */
function sayHeat(e) {
	const [column, row] = heatCell(e),
		{ step, rows, columns, cells } = W.heat,
		at = (n) => (step * (column + n / rows)).toFixed(3);

	$("detail").textContent =
		`${at(row)} to ${at(row + 1)} s: ` +
		`${amount(cells[row * columns + column])}. Drag to choose a span.`;
}

/* Mouse of both: drag for a span, a click on a name for that process or thread alone. */
export function whenHand() {
	const heat = $("heat"),
		lanes = $("lanes");
	const cell = (e) => heatSlices(...heatCell(e), W.heat);
	const slice = (e) => Array(2).fill(inside(partAt(e, lanes) * M.meta.slices, M.meta.slices));
	const laneAt = (e) => inside(e.offsetY / LANE, L.rows.length);

	for (const [canvas, where] of [
		[heat, cell],
		[lanes, slice],
	]) {
		canvas.addEventListener("pointerdown", (e) => {
			W.at = e.offsetX >= margin() ? where(e) : null;
			canvas.setPointerCapture(e.pointerId);
		});
		canvas.addEventListener("pointerup", (e) => {
			const to = where(e);

			if (canvas === lanes) L.cursor = laneAt(e);
			if (!W.at && canvas === lanes) chooseRow(L.rows[L.cursor]);
			else if (W.at)
				brush(Math.min(W.at[0], to[0]), Math.max(W.at[1], to[1]), true);
			W.at = null;
		});
	}
	heat.addEventListener("pointermove", (e) => e.offsetX >= margin() && sayHeat(e));
	lanes.addEventListener("pointermove", (e) => {
		const part = partAt(e, lanes);

		$("detail").textContent = laneSays(
			L.rows[laneAt(e)],
			part >= 0 && part < 1 ? part : undefined,
		);
	});
	$("lanesdetails").addEventListener("toggle", drawLaneTable);
}
