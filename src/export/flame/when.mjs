// SPDX-License-Identifier: MIT
// when.mjs: the pane of time: the map below a second, and processes with their threads. A span is chosen in either.
import { $, M, S, ask } from "./state.mjs";
import { threadName } from "./names.mjs";
import { isDark, sized } from "./element.mjs";
import { heatMap, heatSlices, lanesOf, timelineRows } from "./heat.mjs";
import { brush } from "./strip.mjs";

const HEAT_HEIGHT = 200, MARGIN = 150, LANE = 18, LANES = 400;
const W = { heat: null, rows: [], columns: 0, at: null };

function ramp(part) {
	const light = isDark() ? 22 + 55 * part : 92 - 60 * part;

	return `hsl(204 75% ${light}%)`;
}

function drawHeat(width, style) {
	const map = W.heat = heatMap(), height = HEAT_HEIGHT, ctx = sized($("heat"), width, height), tall = height / map.rows;
	const most = map.cells.reduce((a, b) => Math.max(a, b), 0) || 1, w = (width - MARGIN) / map.columns;

	ctx.clearRect(0, 0, width, height);
	for (let i = 0; i < map.cells.length; i++) {
		if (!map.cells[i])
			continue;
		const column = i % map.columns, row = Math.floor(i / map.columns);

		ctx.fillStyle = ramp(Math.sqrt(map.cells[i] / most));
		ctx.fillRect(MARGIN + column * w, row * tall, Math.max(w - (w > 4 ? 1 : 0), 1), tall);
	}
	ctx.fillStyle = style.text;
	ctx.font = "11px system-ui, sans-serif";
	for (let fifth = 0; fifth < 5; fifth++)
		ctx.fillText(`${200 * map.step * fifth} ms`, 10, (height * fifth) / 5 + 10);
	if (S.first > 0 || S.last < M.meta.slices - 1)
		outlineHeat(ctx, w, style);
}

/* What is chosen, in each second that it touches. */
function outlineHeat(ctx, w, style) {
	const second = (slice) => (slice / M.meta.slices) * M.meta.sides[0].seconds / W.heat.step;
	const begin = second(S.first), end = second(S.last + 1), tall = HEAT_HEIGHT;

	ctx.strokeStyle = style.select;
	for (let column = Math.floor(begin); column < Math.min(end, W.heat.columns); column++) {
		const top = Math.max(0, begin - column) * tall, bottom = Math.min(1, end - column) * tall;

		ctx.strokeRect(MARGIN + column * w + 0.5, top + 0.5, Math.max(1, w - 1), Math.max(1, bottom - top - 1));
	}
}

function drawLanes(width, style) {
	W.columns = Math.max(1, Math.min(2000, M.meta.slices, Math.floor(width - MARGIN)));
	W.rows = [];
	for (const p of timelineRows()) {
		W.rows.push({ process: p });
		p.threads.forEach((thread) => W.rows.push({ thread }));
	}
	const more = W.rows.length - LANES;
	W.rows.length = Math.min(W.rows.length, LANES);
	lanesOf(W.rows.filter((row) => row.thread).map((row) => row.thread), W.columns);
	$("lanesmore").textContent = more > 0 ? `and ${more.toLocaleString("en")} more rows: choose threads beside` : "";
	const ctx = sized($("lanes"), width, W.rows.length * LANE + 2), w = (width - MARGIN) / W.columns;
	let most = 1;
	for (const { thread } of W.rows)
		if (thread)
			for (let i = 0; i < W.columns; i++)
				most = Math.max(most, thread.running[i], thread.waiting[i]);
	ctx.clearRect(0, 0, width, W.rows.length * LANE + 2);
	ctx.font = "11px system-ui, sans-serif";
	ctx.textBaseline = "middle";
	W.rows.forEach(({ process, thread }, y) => {
		ctx.fillStyle = style.text;
		if (process) {
			ctx.font = "bold 11px system-ui, sans-serif";
			ctx.fillText(`${M.texts[M.meta.threads[process.threads[0].t][0]]} ${process.pid >= 0 ? process.pid : ""}`.slice(0, 26), 10, y * LANE + LANE / 2);
			ctx.font = "11px system-ui, sans-serif";
			return;
		}
		ctx.fillText(threadName(thread.t).slice(0, 24), 20, y * LANE + LANE / 2);
		for (const [lane, hue, top] of [[thread.running, 204, 1], [thread.waiting, 24, LANE / 2 + 1]])
			for (let i = 0; i < W.columns; i++)
				if (lane[i]) {
					ctx.fillStyle = `hsl(${hue} 80% ${isDark() ? 30 + 40 * Math.sqrt(lane[i] / most) : 80 - 45 * Math.sqrt(lane[i] / most)}%)`;
					ctx.fillRect(MARGIN + i * w, y * LANE + top, Math.max(w, 1), LANE / 2 - 2);
				}
		if (!S.threads[thread.t]) {
			ctx.fillStyle = style.back;
			ctx.globalAlpha = 0.7;
			ctx.fillRect(0, y * LANE, width, LANE);
			ctx.globalAlpha = 1;
		}
	});
	if (S.first > 0 || S.last < M.meta.slices - 1) {
		const x = (slice) => MARGIN + ((width - MARGIN) * slice) / M.meta.slices;

		ctx.strokeStyle = style.select;
		ctx.strokeRect(x(S.first) + 0.5, 0.5, Math.max(1, x(S.last + 1) - x(S.first) - 1), W.rows.length * LANE);
	}
}

/* The pane as it is now. */
export function drawWhen() {
	const css = getComputedStyle(document.documentElement), width = $("when").clientWidth;
	const style = { text: css.getPropertyValue("--text"), select: css.getPropertyValue("--select"), back: css.getPropertyValue("--back") };

	drawHeat(width, style);
	$("heatcaption").textContent = `Columns are ${W.heat.step > 1 ? `${W.heat.step} seconds` : "seconds"}, rows ` +
		`${Math.round((1000 * W.heat.step) / W.heat.rows)} ms of them. Drag to choose a span.`;
	drawLanes(width, style);
}

/* Mouse and keys of both: drag for a span, a click on a name for that process or thread alone. */
export function whenHand() {
	const heat = $("heat"), lanes = $("lanes");
	const cell = (e) => heatSlices(Math.max(0, Math.min(W.heat.columns - 1, Math.floor(((e.offsetX - MARGIN) / (heat.clientWidth - MARGIN)) * W.heat.columns))),
		Math.max(0, Math.min(W.heat.rows - 1, Math.floor((e.offsetY * W.heat.rows) / HEAT_HEIGHT))), W.heat);
	const slice = (e) => {
		const at = Math.floor(((e.offsetX - MARGIN) / (heat.clientWidth - MARGIN)) * M.meta.slices);

		return [at, at].map((v) => Math.max(0, Math.min(M.meta.slices - 1, v)));
	};

	for (const [canvas, where] of [[heat, cell], [lanes, slice]]) {
		canvas.addEventListener("pointerdown", (e) => {
			W.at = e.offsetX >= MARGIN ? where(e) : null;
			canvas.setPointerCapture(e.pointerId);
		});
		canvas.addEventListener("pointerup", (e) => {
			const to = where(e), row = canvas === lanes && W.rows[Math.floor(e.offsetY / LANE)];

			if (!W.at && row)
				ask.only(row.process ? row.process.threads.map((x) => x.t) : [row.thread.t]);
			else if (W.at)
				brush(Math.min(W.at[0], to[0]), Math.max(W.at[1], to[1]), true);
			W.at = null;
		});
	}
}

