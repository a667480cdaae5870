// SPDX-License-Identifier: MIT
// lanes.mjs: the timeline: processes with their threads, what ran above and what waited below. Of
// two recordings the other's threads stand below. Of thousands of rows those are drawn that the
// pane shows.
import { $, M, S, V, ask } from "./state.mjs";
import { isAllTime, twoSides } from "./sums.mjs";
import { processName, threadFound, threadName } from "./names.mjs";
import { PAPER, fitted, isDark, node, sized } from "./element.mjs";
import { outline, ramp, rampImage, rampMiddle } from "./ramps.mjs";
import {
	LANE_STATES,
	isTimed,
	laneAmount,
	laneStates,
	laneSummary,
	laneText,
	lanesOf,
	membersOf,
	timelineRows,
} from "./heat.mjs";

export const LANE = 18;
const NARROW = 500,
	PRINTED_LANES = 200,
	MEASURED = 200; /* rows by which the strongest colour is chosen */
/* begins: where the rows of each side begin, and where they end; top: pixels of the timeline that
 * are above what is drawn; drawn: those whose samples are; choice: the threads that were chosen
 * then. */
export const L = {
	rows: [],
	begins: [],
	columns: 0,
	cursor: -1,
	top: 0,
	drawn: [],
	choice: "",
};

/* Names stand before lanes: on a phone shorter ones. */
export const whenWidth = () => (V.printed ? PAPER : $("when").clientWidth);
export const margin = () => (whenWidth() < NARROW ? 90 : 150);

/* What has a row's samples: a thread, or all of a process. */
const ownerOf = ({ thread, process }) => thread || process;
const isChosen = (row) => membersOf(ownerOf(row)).some((t) => S.threads[t]);
export const laneSide = (row) => (row ? (row.heading ? row.side : ownerOf(row).side) : 0);

function rowName({ heading, process, thread }) {
	return (
		heading || (process ? processName(process.threads[0].t) : threadName(thread.t))
	);
}

/* A process of one thread is one row: both have the same samples. */
function processLanes(process) {
	const found = process.threads.filter(({ t }) => threadFound(t));

	if (process.threads.length === 1) return found.map((thread) => ({ process, thread }));
	return found.length ? [{ process }, ...found.map((thread) => ({ thread }))] : [];
}

/* The rows of the timeline: of two recordings a heading before each side's. */
function laneRows() {
	const rows = [];

	M.timeline ||= M.meta.sides.map((_, side) => timelineRows(side));
	L.begins = M.meta.sides.map((side, number) => {
		const begin = rows.length;

		if (twoSides()) rows.push({ heading: side.name, side: number });
		for (const process of M.timeline[number])
			for (const row of processLanes(process)) rows.push(row);
		return begin;
	});
	L.begins.push(rows.length);
	return rows;
}

function drawLaneName(ctx, row, y, style) {
	const left = row.heading ? 4 : row.process ? 10 : 20,
		name = rowName(row);

	ctx.fillStyle = style.text;
	ctx.font =
		`${row.heading || row.process ? "bold " : ""}` +
		`${row.heading ? 12 : 11}px system-ui, sans-serif`;
	ctx.fillText(
		row.heading ? name : fitted(ctx, name, margin() - left - 4),
		left,
		y * LANE + LANE / 2,
	);
}

/* A row's lanes as rows of an image: running, then each way to wait where it is most of a
 * column. A whole column of waiting has the strongest colour, as the most samples have. */
function laneImageRows({ lanes }, states, strongest) {
	const waiting = states.filter((state) => state),
		scale = (state) => (isTimed(state) ? strongest : 1),
		shown = waiting.map((state) => lanes[state].map((n) => n * scale(state))),
		most = (i) => Math.max(...shown.map((lane) => lane[i]));

	return [
		lanes[0] || new Float64Array(L.columns),
		...shown.map((lane) => lane.map((n, i) => (n === most(i) ? n : 0))),
	];
}

/* Samples of some rows, of which the first is the so manieth: above those that ran, below those
 * that waited. */
function drawSamples(ctx, rows, first, width, style) {
	const states = [0, ...laneStates().filter((state) => state)],
		left = margin(),
		half = LANE / 2;
	const owners = rows.filter((row) => !row.heading).map(ownerOf);
	const most = giveLanes(owners);
	const image = rampImage(
		owners.flatMap((owner) => laneImageRows(owner, states, most)),
		L.columns,
		most,
		states.map((state) => laneRamp(state)),
	);
	let k = 0;

	ctx.imageSmoothingEnabled = false;
	rows.forEach((row, i) => {
		const y = (first + i) * LANE;

		if (row.heading) return;
		states.forEach((state) => {
			const top = y + (state ? half : 0) + 1;

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
		if (isChosen(row)) return;
		ctx.fillStyle = style.back;
		ctx.globalAlpha = 0.7;
		ctx.fillRect(left, y, width - left, LANE);
		ctx.globalAlpha = 1;
	});
}

const laneRamp = (state) => ramp(LANE_STATES[state].hue, isDark());

/* The threads by which the strongest colour is chosen: the heaviest of each side. */
const measured = () =>
	M.timeline.flatMap((side) =>
		side
			.flatMap((process) => process.threads)
			.sort((a, b) => b.samples - a.samples)
			.slice(0, MEASURED),
	);

function mostOf(threads) {
	let most = 1;

	for (const { lanes } of threads)
		lanes.forEach((lane, state) => {
			if (!lane || isTimed(state)) return;
			most = lane.reduce((a, b) => Math.max(a, b), most);
		});
	return most;
}

/* Gives rows' owners their lanes, and takes them from those that had them. Returns the most samples
 * that a column of a thread has, of the heaviest threads: found once for each width, in the same
 * turn, as that goes over all samples. */
function giveLanes(owners) {
	const known = M.laneMost && M.laneMost.columns === L.columns,
		threads = known ? [] : measured(),
		seen = new Set(owners);

	for (const owner of L.drawn) owner.lanes = null;
	L.drawn = owners;
	lanesOf([...new Set([...owners, ...threads])], L.columns);
	if (known) return M.laneMost.most;
	M.laneMost = { columns: L.columns, most: mostOf(threads) };
	for (const thread of threads) if (!seen.has(thread)) thread.lanes = null;
	return M.laneMost.most;
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
			? ["lower half, for as long as it lasts: ", ...waiting.map(said)]
			: ["(waiting: seam record --off-cpu) "]),
		"A click on a name: it alone, or all again. " +
			"What is typed to find threads finds rows here.",
	);
}

/* Where the timeline begins in its pane. */
const boxTop = () => $("lanesbox").offsetTop - $("when").offsetTop;

/* Brings a row into view. */
export function showLane(number) {
	const pane = $("when"),
		top = boxTop() + number * LANE;

	if (top < pane.scrollTop || top + LANE > pane.scrollTop + pane.clientHeight)
		pane.scrollTop = top - pane.clientHeight / 2;
}

/* Threads that are chosen in another pane come into view. */
function followChoice() {
	const choice = S.threads.join("");

	if (choice === L.choice) return;
	L.choice = choice;
	const first = L.rows.findIndex((row) => row.thread && isChosen(row));
	if (first >= 0 && choice.includes("0")) showLane(first);
}

/* The part of the timeline that is in view. */
export function drawLanes(width, style) {
	const pane = $("when");

	L.columns = Math.max(1, Math.min(2000, M.meta.slices, Math.floor(width - margin())));
	L.rows = laneRows();
	L.cursor = Math.min(L.cursor, L.rows.length - 1);
	laneLegend();
	$("lanesmore").textContent = L.rows.some((row) => !row.heading)
		? ""
		: "no thread has such a name, or number";
	const total = L.rows.length * LANE + 2,
		height = V.printed
			? Math.min(total, PRINTED_LANES * LANE)
			: Math.min(total, Math.max(LANE, pane.clientHeight));

	$("lanesbox").style.height = `${V.printed ? height : total}px`;
	followChoice();
	L.top = V.printed
		? 0
		: Math.max(0, Math.min(total - height, pane.scrollTop - boxTop()));
	const ctx = sized($("lanes"), width, height),
		first = Math.floor(L.top / LANE),
		rows = L.rows.slice(first, Math.ceil((L.top + height) / LANE));

	ctx.clearRect(0, 0, width, height);
	ctx.translate(0, -L.top);
	ctx.textBaseline = "middle";
	rows.forEach((row, i) => drawLaneName(ctx, row, first + i, style));
	drawSamples(ctx, rows, first, width, style);
	outlineSpans(ctx, width, style);
	if (L.cursor >= 0) outline(ctx, 1.5, L.cursor * LANE + 0.5, width - 3, LANE - 1, style);
}

/* What is chosen of each side's time, and whose lanes it is. */
function outlineSpans(ctx, width, style) {
	const x = (slice) => margin() + ((width - margin()) * slice) / M.meta.slices;

	S.spans.slice(0, M.meta.sides.length).forEach(([first, last], side) => {
		const [begin, end] = [L.begins[side], L.begins[side + 1]];

		if (!isAllTime(side))
			outline(
				ctx,
				x(first) + 0.5,
				begin * LANE + 0.5,
				Math.max(1, x(last + 1) - x(first) - 1),
				(end - begin) * LANE,
				style,
			);
	});
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
					cells = states.map((state) => laneAmount(state, s));
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

/* A row's process, or thread, alone; if it is that already, all again. */
export function chooseRow(row) {
	if (!row || row.heading) return;
	const chosen = membersOf(ownerOf(row)),
		same = new Set(ask.same(chosen)),
		isAlone = S.threads.every((on, t) => !on || same.has(t));

	ask.only(isAlone ? M.meta.threads.map((_, t) => t) : chosen);
}

/* A row in words, or what it has at a part of its time. */
export function laneSays(row, part) {
	if (!row) return "";
	if (row.heading) return row.heading;
	const owner = ownerOf(row),
		name = rowName(row),
		column = Math.floor(part * L.columns);

	if (part === undefined) {
		const s = laneSummary(owner);

		return (
			`${name}: ${laneText(s)}, from ${s.from.toFixed(3)} ` +
			`to ${s.to.toFixed(3)} s`
		);
	}
	if (!owner.lanes || owner.lanes.every((lane) => !lane || lane.length !== L.columns))
		lanesOf([owner], L.columns);
	const seconds = M.meta.sides[owner.side].seconds / L.columns,
		counts = owner.lanes.map((lane) => (lane ? lane[column] : 0)),
		waited = counts.map((share) => share * seconds * membersOf(owner).length);
	return (
		`${name}, ${(column * seconds).toFixed(3)} to ` +
		`${((column + 1) * seconds).toFixed(3)} s: ${laneText({ counts, waited })}`
	);
}
