// SPDX-License-Identifier: MIT
// when.mjs: the pane of time: the map below a second, and processes with their threads. A span is
// chosen in either, by mouse or by keys. Of two recordings the other's map and threads stand below.
import { $, M, S, ask } from "./state.mjs";
import { twoSides } from "./sums.mjs";
import { processName, threadName } from "./names.mjs";
import { isDark, node, sized } from "./element.mjs";
import { channels } from "./colours.mjs";
import { heatMap, heatSlices, laneSummary, lanesOf, timelineRows } from "./heat.mjs";
import { brush } from "./strip.mjs";

const HEAT_HEIGHT = 200,
	LANE = 18,
	LANES = 400,
	NARROW = 500;
const W = { heat: null, rows: [], columns: 0, at: null, cursor: -1 };

/* Names stand before lanes: on a phone shorter ones. */
const margin = () => ($("when").clientWidth < NARROW ? 90 : 150);

/* Weights as an image of a row each: colours of RAMP steps between light and dark. Drawn at once: a
 * rectangle for each would take longer than all sums. */
function rampImage(rows, columns, most, colours) {
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
function ramp(hue, saturation, few, many) {
	return Uint32Array.from({ length: 65 }, (_, i) => {
		const rgb = channels(
			`hsl(${hue} ${saturation}% ${few + ((many - few) * i) / 64}%)`,
		);
		const bytes = Uint8Array.of(...rgb.map((c) => Math.round(255 * c)), 255);

		return new Uint32Array(bytes.buffer)[0];
	});
}

/* A side's map. most: what has the strongest colour, on both. */
function drawHeat(canvas, map, most, width, style) {
	const height = HEAT_HEIGHT,
		ctx = sized(canvas, width, height),
		left = margin(),
		w = (width - left) / map.columns;
	const rows = Array.from({ length: map.rows }, (_, y) =>
		map.cells.subarray(y * map.columns, (y + 1) * map.columns),
	);
	const colours = [isDark() ? ramp(204, 75, 22, 77) : ramp(204, 75, 92, 32)];

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

	ctx.strokeStyle = style.select;
	for (let column = Math.floor(begin); column < Math.min(end, W.heat.columns); column++) {
		const top = Math.max(0, begin - column) * tall,
			bottom = Math.min(1, end - column) * tall;

		ctx.strokeRect(
			margin() + column * w + 0.5,
			top + 0.5,
			Math.max(1, w - 1),
			Math.max(1, bottom - top - 1),
		);
	}
}

/* Both maps, in one scale of shares of their whole. */
function drawHeats(width, style) {
	const most = (map) => map.cells.reduce((a, b) => Math.max(a, b), 0) || 1;
	const maps = M.meta.sides.map((_, side) => heatMap(side));

	W.heat = maps[0];
	drawHeat($("heat"), maps[0], most(maps[0]), width, style);
	if (S.first > 0 || S.last < M.meta.slices - 1) outlineHeat(width, style);
	$("heatcaption").textContent =
		`${twoSides() ? `${M.meta.sides[0].name}: columns` : "Columns"} are ` +
		`${W.heat.step > 1 ? `${W.heat.step} seconds` : "seconds"}, rows ` +
		`${Math.round((1000 * W.heat.step) / W.heat.rows)} ms of them. Drag to choose ` +
		`a span.`;
	$("beforeheat").hidden = $("beforecaption").hidden = !twoSides();
	if (!twoSides()) return;
	$("beforecaption").textContent =
		`${M.meta.sides[1].name}: all of its time, by the same measure. The darkest ` +
		`of each is its most.`;
	drawHeat($("beforeheat"), maps[1], most(maps[1]), width, style);
}

/* The rows of the timeline: of two recordings a heading before each side's. */
function laneRows() {
	const rows = [];

	M.meta.sides.forEach((side, number) => {
		if (twoSides()) rows.push({ heading: side.name });
		for (const process of timelineRows(number)) {
			rows.push({ process });
			process.threads.forEach((thread) => rows.push({ thread }));
		}
	});
	return rows;
}

function drawLaneName(ctx, { heading, process, thread }, y, style) {
	const bold = heading || process,
		room = Math.floor(margin() / 6) + (bold ? 2 : 0);
	const name = heading
		? heading
		: process
			? processName(process.threads[0].t)
			: threadName(thread.t);

	ctx.fillStyle = style.text;
	ctx.font = `${bold ? "bold " : ""}${heading ? 12 : 11}px system-ui, sans-serif`;
	ctx.fillText(
		heading ? name : name.slice(0, room),
		heading ? 4 : process ? 10 : 20,
		y * LANE + LANE / 2,
	);
}

/* Threads' samples: above those that ran, below those that waited. */
function drawSamples(ctx, width, most, style) {
	const threads = W.rows.filter((row) => row.thread).map((row) => row.thread),
		left = margin(),
		half = LANE / 2;
	const colours = [204, 24].map((hue) =>
		isDark() ? ramp(hue, 80, 30, 70) : ramp(hue, 80, 80, 35),
	);
	const image = rampImage(
		threads.flatMap((t) => [t.running, t.waiting]),
		W.columns,
		most,
		colours,
	);
	let k = 0;

	ctx.imageSmoothingEnabled = false;
	W.rows.forEach(({ thread }, y) => {
		if (!thread) return;
		for (const part of [0, 1])
			ctx.drawImage(
				image,
				0,
				2 * k + part,
				W.columns,
				1,
				left,
				y * LANE + part * half + 1,
				width - left,
				half - 2,
			);
		k++;
		if (S.threads[thread.t]) return;
		ctx.fillStyle = style.back;
		ctx.globalAlpha = 0.7;
		ctx.fillRect(0, y * LANE, width, LANE);
		ctx.globalAlpha = 1;
	});
}

/* The most that any column has. */
function mostOf(threads) {
	let most = 1;

	for (const { running, waiting } of threads)
		for (let i = 0; i < running.length; i++)
			most = Math.max(most, running[i], waiting[i]);
	return most;
}

function drawLanes(width, style) {
	W.columns = Math.max(1, Math.min(2000, M.meta.slices, Math.floor(width - margin())));
	W.rows = laneRows();
	const more = W.rows.length - LANES;
	W.rows.length = Math.min(W.rows.length, LANES);
	const threads = W.rows.filter((row) => row.thread).map((row) => row.thread);
	lanesOf(threads, W.columns);
	$("lanesmore").textContent =
		more > 0 ? `and ${more.toLocaleString("en")} more rows: choose threads beside` : "";
	const height = W.rows.length * LANE + 2,
		ctx = sized($("lanes"), width, height);

	ctx.clearRect(0, 0, width, height);
	ctx.textBaseline = "middle";
	W.rows.forEach((row, y) => drawLaneName(ctx, row, y, style));
	drawSamples(ctx, width, mostOf(threads), style);
	ctx.strokeStyle = style.select;
	const x = (slice) => margin() + ((width - margin()) * slice) / M.meta.slices,
		last = W.rows.findIndex((row, i) => i && row.heading);
	if (S.first > 0 || S.last < M.meta.slices - 1)
		ctx.strokeRect(
			x(S.first) + 0.5,
			0.5,
			Math.max(1, x(S.last + 1) - x(S.first) - 1),
			(last < 0 ? W.rows.length : last) * LANE,
		);
	if (W.cursor >= 0 && W.cursor < W.rows.length)
		ctx.strokeRect(1.5, W.cursor * LANE + 0.5, width - 3, LANE - 1);
}

/* The timeline in words, for who cannot see it: a row a thread. */
function drawLaneTable() {
	const seconds = (s) => `${s.toFixed(3)} s`;

	if (!$("lanesdetails").open) return;
	$("lanetable").replaceChildren(
		...W.rows
			.filter((row) => row.thread)
			.map(({ thread }) => {
				const s = laneSummary(thread),
					cells = [s.running, s.waiting].map((n) =>
						n.toLocaleString("en"),
					);
				const side = twoSides() ? [M.meta.sides[thread.side].name] : [];

				cells.push(seconds(s.from), seconds(s.to), ...side);
				return node(
					"tr",
					{},
					node("th", {
						scope: "row",
						textContent:
							`${processName(thread.t)}: ` +
							`${threadName(thread.t)}`,
					}),
					...cells.map((textContent) => node("td", { textContent })),
				);
			}),
	);
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

/* A row's process, or thread, alone. */
function chooseRow(row) {
	if (row && !row.heading)
		ask.only(row.process ? row.process.threads.map((x) => x.t) : [row.thread.t]);
}

/* Keys of the timeline: up and down go from row to row, Enter chooses it alone. Whether it was one
 * of them. */
export function laneKey(key) {
	const row = W.rows[W.cursor];

	if (key === "Enter" && row) chooseRow(row);
	else if (key === "ArrowDown" || key === "ArrowUp")
		W.cursor = Math.max(
			0,
			Math.min(W.rows.length - 1, W.cursor + (key === "ArrowDown" ? 1 : -1)),
		);
	else return false;
	drawWhen();
	sayLane(W.rows[W.cursor]);
	return true;
}

/* What the row under the cursor is; it is brought into view. */
function sayLane(row) {
	const pane = $("when"),
		top = $("lanes").offsetTop - pane.offsetTop + W.cursor * LANE;

	if (top < pane.scrollTop || top + LANE > pane.scrollTop + pane.clientHeight)
		pane.scrollTop = top - pane.clientHeight / 2;
	if (row.heading) $("detail").textContent = row.heading;
	else if (row.process)
		$("detail").textContent =
			`${processName(row.process.threads[0].t)}: ` +
			`${row.process.samples.toLocaleString("en")} samples. Enter: it alone.`;
	else {
		const s = laneSummary(row.thread);

		$("detail").textContent =
			`${threadName(row.thread.t)}: ${s.running.toLocaleString("en")} ` +
			`samples running, ` +
			`${s.waiting.toLocaleString("en")} waiting, from ${s.from.toFixed(3)} ` +
			`to ${s.to.toFixed(3)} s. Enter: it alone.`;
	}
}

/* Mouse of both: drag for a span, a click on a name for that process or thread alone. */
export function whenHand() {
	const heat = $("heat"),
		lanes = $("lanes"),
		inside = (n, most) => Math.max(0, Math.min(most - 1, Math.floor(n)));
	const part = (e, canvas) => (e.offsetX - margin()) / (canvas.clientWidth - margin());
	const cell = (e) =>
		heatSlices(
			inside(part(e, heat) * W.heat.columns, W.heat.columns),
			inside((e.offsetY * W.heat.rows) / HEAT_HEIGHT, W.heat.rows),
			W.heat,
		);
	const slice = (e) => Array(2).fill(inside(part(e, lanes) * M.meta.slices, M.meta.slices));

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

			W.cursor =
				canvas === lanes
					? inside(e.offsetY / LANE, W.rows.length)
					: W.cursor;
			if (!W.at && canvas === lanes) chooseRow(W.rows[W.cursor]);
			else if (W.at)
				brush(Math.min(W.at[0], to[0]), Math.max(W.at[1], to[1]), true);
			W.at = null;
		});
	}
	$("lanesdetails").addEventListener("toggle", drawLaneTable);
}
