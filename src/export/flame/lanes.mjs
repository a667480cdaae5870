// SPDX-License-Identifier: MIT
// lanes.mjs: the timeline: processes with their threads, what ran above and what waited below. Of
// two recordings the other's threads stand below.
import { $, M, S, ask } from "./state.mjs";
import { twoSides } from "./sums.mjs";
import { processName, threadName } from "./names.mjs";
import { fitted, isDark, node, sized } from "./element.mjs";
import { outline, ramp, rampImage, rampMiddle } from "./ramps.mjs";
import {
	LANE_STATES,
	laneStates,
	laneSummary,
	laneText,
	lanesOf,
	timelineRows,
} from "./heat.mjs";

export const LANE = 18;
const LANES = 400,
	NARROW = 500;
export const L = { rows: [], columns: 0, cursor: -1 };

/* Names stand before lanes: on a phone shorter ones. */
export const margin = () => ($("when").clientWidth < NARROW ? 90 : 150);

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
	const left = heading ? 4 : process ? 10 : 20;
	const name = heading
		? heading
		: process
			? processName(process.threads[0].t)
			: threadName(thread.t);

	ctx.fillStyle = style.text;
	ctx.font = `${thread ? "" : "bold "}${heading ? 12 : 11}px system-ui, sans-serif`;
	ctx.fillText(
		heading ? name : fitted(ctx, name, margin() - left - 4),
		left,
		y * LANE + LANE / 2,
	);
}

/* A thread's lanes as rows of an image: running, then each way to wait where it is most of a
 * column. */
function laneImageRows({ lanes }, states) {
	const waiting = states.filter((state) => state),
		most = (i) => Math.max(...waiting.map((state) => lanes[state][i]));

	return [
		lanes[0] || new Float64Array(L.columns),
		...waiting.map((state) => lanes[state].map((n, i) => (n === most(i) ? n : 0))),
	];
}

/* Threads' samples: above those that ran, below those that waited. */
function drawSamples(ctx, width, most, style) {
	const threads = L.rows.filter((row) => row.thread).map((row) => row.thread),
		states = [0, ...laneStates().filter((state) => state)],
		left = margin(),
		half = LANE / 2;
	const image = rampImage(
		threads.flatMap((thread) => laneImageRows(thread, states)),
		L.columns,
		most,
		states.map((state) => laneRamp(state)),
	);
	let k = 0;

	ctx.imageSmoothingEnabled = false;
	L.rows.forEach(({ thread }, y) => {
		if (!thread) return;
		states.forEach((state) => {
			const top = y * LANE + (state ? half : 0) + 1;

			ctx.drawImage(
				image,
				0,
				k++,
				L.columns,
				1,
				left,
				top,
				width - left,
				half - 2,
			);
		});
		if (S.threads[thread.t]) return;
		ctx.fillStyle = style.back;
		ctx.globalAlpha = 0.7;
		ctx.fillRect(0, y * LANE, width, LANE);
		ctx.globalAlpha = 1;
	});
}

const laneRamp = (state) => ramp(LANE_STATES[state].hue, isDark());

/* The most that any column has. */
function mostOf(threads) {
	let most = 1;

	for (const { lanes } of threads)
		for (const lane of lanes)
			for (let i = 0; lane && i < lane.length; i++)
				most = Math.max(most, lane[i]);
	return most;
}

/* What the colours mean. */
function laneLegend() {
	const said = (state) => {
		const swatch = node("span", { className: "swatch" });

		const { hue, name } = LANE_STATES[state];

		swatch.style.background = rampMiddle(hue, isDark());
		return node("span", { className: "key" }, swatch, ` ${name} `);
	};
	const waiting = laneStates().filter((state) => state);

	$("lanescaption").replaceChildren(
		"Upper half of a row: ",
		said(0),
		...(waiting.length
			? ["lower half: ", ...waiting.map(said)]
			: ["(waiting: seam record --off-cpu) "]),
		"A click on a name: it alone.",
	);
}

export function drawLanes(width, style) {
	L.columns = Math.max(1, Math.min(2000, M.meta.slices, Math.floor(width - margin())));
	L.rows = laneRows();
	const more = L.rows.length - LANES;
	L.rows.length = Math.min(L.rows.length, LANES);
	const threads = L.rows.filter((row) => row.thread).map((row) => row.thread);
	lanesOf(threads, L.columns);
	laneLegend();
	$("lanesmore").textContent =
		more > 0 ? `and ${more.toLocaleString("en")} more rows: choose threads beside` : "";
	const height = L.rows.length * LANE + 2,
		ctx = sized($("lanes"), width, height);

	ctx.clearRect(0, 0, width, height);
	ctx.textBaseline = "middle";
	L.rows.forEach((row, y) => drawLaneName(ctx, row, y, style));
	drawSamples(ctx, width, mostOf(threads), style);
	const x = (slice) => margin() + ((width - margin()) * slice) / M.meta.slices,
		last = L.rows.findIndex((row, i) => i && row.heading);
	if (S.first > 0 || S.last < M.meta.slices - 1)
		outline(
			ctx,
			x(S.first) + 0.5,
			0.5,
			Math.max(1, x(S.last + 1) - x(S.first) - 1),
			(last < 0 ? L.rows.length : last) * LANE,
			style,
		);
	if (L.cursor >= 0 && L.cursor < L.rows.length)
		outline(ctx, 1.5, L.cursor * LANE + 0.5, width - 3, LANE - 1, style);
}

/* The timeline in words, for who cannot see it: a row a thread. */
export function drawLaneTable() {
	const seconds = (s) => `${s.toFixed(3)} s`,
		states = laneStates();
	const column = (textContent) => node("th", { scope: "col", textContent });

	if (!$("lanesdetails").open) return;
	$("lanehead").replaceChildren(
		node(
			"tr",
			{},
			...[
				"thread",
				...states.map((state) => LANE_STATES[state].name),
				"from",
				"to",
				...(twoSides() ? ["recording"] : []),
			].map(column),
		),
	);
	$("lanetable").replaceChildren(
		...L.rows
			.filter((row) => row.thread)
			.map(({ thread }) => {
				const s = laneSummary(thread),
					cells = states.map((state) =>
						s.counts[state].toLocaleString("en"),
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

/* A row's process, or thread, alone. */
export function chooseRow(row) {
	if (row && !row.heading)
		ask.only(row.process ? row.process.threads.map((x) => x.t) : [row.thread.t]);
}

/* A row in words, or what it has at a part of its time. */
export function laneSays(row, part) {
	if (!row) return "";
	if (row.heading) return row.heading;
	if (row.process)
		return (
			`${processName(row.process.threads[0].t)}: ` +
			`${row.process.samples.toLocaleString("en")} samples`
		);
	const s = laneSummary(row.thread),
		name = threadName(row.thread.t),
		column = Math.floor(part * L.columns);

	if (part === undefined)
		return (
			`${name}: ${laneText(s.counts)}, from ${s.from.toFixed(3)} ` +
			`to ${s.to.toFixed(3)} s`
		);
	const counts = row.thread.lanes.map((lane) => (lane ? lane[column] : 0)),
		seconds = M.meta.sides[row.thread.side].seconds / L.columns;
	return (
		`${name}, ${(column * seconds).toFixed(3)} to ` +
		`${((column + 1) * seconds).toFixed(3)} s: ${laneText(counts)}`
	);
}
