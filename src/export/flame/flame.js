// SPDX-License-Identifier: MIT
/*
 * flame.js: the page's data -> a graph that answers questions. Four parts: the data as it came (M), what the person chose (S),
 * sums over what was chosen (T), and groups: cells of the graph, whose children are made when they are first wide enough to be
 * seen, so that the work goes with what is on the screen and not with what was recorded.
 */
"use strict";

const KIND = { UNKNOWN: 0, USER: 1, KERNEL: 2, INLINED: 3, UNFINISHED: 4 };
const KIND_NAMES = ["unknown", "user", "kernel", "inlined", "unfinished"];
const ROW = 18, STRIP_ROW = 9, STRIP_ROWS = 12, LABEL = 130;
const $ = (id) => document.getElementById(id);

let M; // the data
let T; // sums
const S = {
	event: 0, first: 0, last: 0, threads: null, states: null, pattern: "", matched: null, icicle: false, callers: false,
	focus: -1, byWeight: false, before: false, root: null, zoom: null, selected: null, history: [],
};
const V = { cells: [], depths: new Map(), low: 0, high: 0, width: 0, height: 0, dirty: false };

/* ---- the data ---- */

async function unpack(text) {
	const packed = atob(text), bytes = new Uint8Array(packed.length);

	for (let i = 0; i < packed.length; i++)
		bytes[i] = packed.charCodeAt(i);
	const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Response(plain).arrayBuffer();
}

function parse(buffer) {
	const length = new DataView(buffer).getUint32(0, true);
	const meta = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
	let at = (4 + length + 7) & ~7;
	const take = (n) => {
		const array = new Uint32Array(buffer, at, n);
		at += 4 * n;
		return array;
	};
	const m = { meta, texts: meta.texts };

	for (const field of ["fnName", "fnObject", "fnKind"])
		m[field] = take(meta.functions);
	m.parent = take(meta.nodes);
	m.fn = take(meta.nodes);
	for (const field of ["rowNode", "rowThread", "rowSlice", "rowWhat", "rowSamples"])
		m[field] = take(meta.rows);
	at = (at + 7) & ~7;
	m.rowWeight = new Float64Array(buffer, at, meta.rows);
	return m;
}

/* Children of each node, in the order of their names. */
function index(m) {
	const n = m.parent.length, names = Array.from(m.fnName, (text) => m.texts[text]);
	const byName = names.map((_, i) => i).sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
	const sum = (keys, size, values) => {
		const starts = new Uint32Array(size + 1), out = new Uint32Array(values.length);

		for (const v of values)
			starts[keys[v] + 1]++;
		for (let i = 0; i < size; i++)
			starts[i + 1] += starts[i];
		const next = starts.slice();
		for (const v of values)
			out[next[keys[v]]++] = v;
		return { starts, out };
	};
	const nodes = new Uint32Array(n - 1);

	m.names = names;
	m.rank = new Uint32Array(names.length);
	byName.forEach((fn, rank) => { m.rank[fn] = rank; });
	for (let i = 1; i < n; i++)
		nodes[i - 1] = i;
	const ranks = Uint32Array.from(m.fn, (fn) => m.rank[fn]);
	const sorted = sum(m.parent, n, sum(ranks, names.length, nodes).out);
	m.firstChild = sorted.starts;
	m.children = sorted.out;
	m.hue = Uint8Array.from(names, (name) => {
		let h = 7;
		for (let i = 0; i < name.length; i++)
			h = (h * 31 + name.charCodeAt(i)) | 0;
		return (h >>> 8) & 15;
	});
}

/* ---- sums ---- */

function chosen(i, side, whole) {
	const what = M.rowWhat[i];

	return (what & 0xffff) === S.event && what >>> 24 === side && S.states[(what >>> 16) & 0xff] && S.threads[M.rowThread[i]] &&
		(whole || side || (M.rowSlice[i] >= S.first && M.rowSlice[i] <= S.last));
}

function sums() {
	const n = M.parent.length, sides = M.meta.sides.length;

	T = { self: [], total: [], samples: [] };
	for (let side = 0; side < sides; side++) {
		const self = new Float64Array(n);
		let samples = 0;

		for (let i = 0; i < M.rowNode.length; i++) {
			if (!chosen(i, side))
				continue;
			self[M.rowNode[i]] += M.rowWeight[i];
			samples += M.rowSamples[i];
		}
		const total = self.slice();
		for (let i = n - 1; i > 0; i--)
			total[M.parent[i]] += total[i];
		T.self.push(self);
		T.total.push(total);
		T.samples.push(samples);
	}
}

const twoSides = () => M.meta.sides.length > 1;
const shown = (g) => (S.before && twoSides() ? g.base : g.value);
/* What a share is a share of, on either side. */
const wholeOf = (side) => T.total[side] ? T.total[side][0] : 0;

/* ---- groups ---- */

function group(parent, fn, up) {
	return { parent, fn, up, value: 0, base: 0, nodes: [], weights: up ? [] : null, bases: up ? [] : null, kids: null,
		depth: parent ? parent.depth + 1 : 0 };
}

function finish(g, kids) {
	const weight = (k) => Math.max(k.value, k.base);

	kids = kids.filter((k) => weight(k) > 0);
	if (S.byWeight)
		kids.sort((a, b) => weight(b) - weight(a) || M.rank[a.fn] - M.rank[b.fn]);
	else
		kids.sort((a, b) => M.rank[a.fn] - M.rank[b.fn]);
	g.kids = kids;
	return kids;
}

function add(g, node) {
	g.nodes.push(node);
	g.value += T.total[0][node];
	if (twoSides())
		g.base += T.total[1][node];
}

function addUp(g, node, weight, base) {
	g.nodes.push(node);
	g.weights.push(weight);
	g.bases.push(base);
	g.value += weight;
	g.base += base;
}

/* What g's functions called. */
function down(g) {
	const found = new Map();

	for (const node of g.nodes) {
		for (let i = M.firstChild[node]; i < M.firstChild[node + 1]; i++) {
			const child = M.children[i], fn = M.fn[child];
			let kid = found.get(fn);

			if (!kid)
				found.set(fn, kid = group(g, fn, false));
			add(kid, child);
		}
	}
	return finish(g, [...found.values()]);
}

/* Who called g's function: g.nodes are the callers' nodes, each with what is to be told of it. */
function upwards(g) {
	const found = new Map();

	for (let i = 0; i < g.nodes.length; i++) {
		const node = g.nodes[i];

		if (!node)
			continue;
		let kid = found.get(M.fn[node]);
		if (!kid)
			found.set(M.fn[node], kid = group(g, M.fn[node], true));
		addUp(kid, M.parent[node], g.weights[i], g.bases[i]);
	}
	return finish(g, [...found.values()]);
}

const kidsOf = (g) => g.kids || (g.up ? upwards(g) : down(g));

/* The outermost nodes of a function: each sample that has it counts once. */
function outermost(fn) {
	const n = M.parent.length, inside = new Uint8Array(n), nodes = [];

	for (let i = 1; i < n; i++) {
		inside[i] = inside[M.parent[i]] || M.fn[M.parent[i]] === fn ? 1 : 0;
		if (M.fn[i] === fn && !inside[i])
			nodes.push(i);
	}
	return nodes;
}

function build() {
	const base = (node) => (twoSides() ? T.total[1][node] : 0);
	let root;

	S.above = null;
	if (S.focus >= 0) {
		const nodes = outermost(S.focus);

		root = group(null, S.focus, false);
		nodes.forEach((node) => add(root, node));
		S.above = group(null, S.focus, true);
		nodes.forEach((node) => addUp(S.above, M.parent[node], T.total[0][node], base(node)));
	} else if (S.callers) {
		root = group(null, 0, true);
		for (let i = 0; i < M.parent.length; i++) {
			const before = twoSides() ? T.self[1][i] : 0;

			if (T.self[0][i] || before)
				addUp(root, i, T.self[0][i], before);
		}
	} else {
		root = group(null, 0, false);
		add(root, 0);
	}
	S.root = root;
}

/* ---- where things are ---- */

const path = (g) => {
	const fns = [];

	for (; g && g.parent; g = g.parent)
		fns.unshift(g.fn);
	return fns;
};

function follow(fns) {
	let g = S.root;

	for (const fn of fns) {
		const kid = kidsOf(g).find((k) => k.fn === fn);
		if (!kid)
			break;
		g = kid;
	}
	return g;
}

function put(depth, x, w, g, n) {
	let row = V.depths.get(depth);

	if (!row)
		V.depths.set(depth, row = []);
	row.push({ x, w, g, n, depth });
	V.low = Math.min(V.low, depth);
	V.high = Math.max(V.high, depth);
}

/* g and what is below it, from x on; sign -1 where callers go the other way. */
function spread(g, x, w, sign, from) {
	const stack = [{ g, x, w, skip: from }];
	const scale = w / (shown(g) || 1);

	while (stack.length) {
		const at = stack.pop(), next = [];
		let left = at.x, pruned = 0, prunedAt = 0, count = 0;

		if (!at.skip)
			put(sign * at.g.depth, at.x, at.w, at.g, 0);
		for (const kid of kidsOf(at.g)) {
			const width = shown(kid) * scale;

			if (width >= 1) {
				next.push({ g: kid, x: left, w: width });
			} else if (width > 0) {
				prunedAt = pruned ? prunedAt : left;
				pruned += width;
				count++;
			}
			left += width;
		}
		if (pruned >= 1)
			put(sign * (at.g.depth + 1), prunedAt, pruned, null, count);
		while (next.length)
			stack.push(next.pop());
	}
}

function layout() {
	const zoom = S.zoom || S.root, width = V.width;

	V.depths = new Map();
	V.low = V.high = 0;
	for (let g = zoom.parent; g; g = g.parent)
		put(g.depth, 0, width, g, 0);
	if (shown(zoom) > 0)
		spread(zoom, 0, width, 1, false);
	if (S.above && zoom === S.root && shown(S.above) > 0)
		spread(S.above, 0, width, -1, true);
	for (const row of V.depths.values())
		row.sort((a, b) => a.x - b.x);
	V.rows = V.high - V.low + 1;
	$("spacer").style.height = `${V.rows * ROW}px`;
}

/* The row on the screen, from the top, of a depth. */
const line = (depth) => (S.icicle ? depth - V.low : V.high - depth);
const depthAt = (row) => (S.icicle ? row + V.low : V.high - row);
/* A graph that is lower than its place stands on the ground, or hangs from the ceiling. */
const offset = () => (S.icicle ? 0 : Math.max(0, V.height - V.rows * ROW)) - $("scroll").scrollTop;

/* ---- colours ---- */

/* Hues that stay apart in the common kinds of colour blindness; kinds also differ by pattern. */
const HUES = { [KIND.UNKNOWN]: [0, 0], [KIND.USER]: [204, 70], [KIND.KERNEL]: [38, 88], [KIND.INLINED]: [168, 45], [KIND.UNFINISHED]: [0, 0] };

const isDark = () => document.documentElement.classList.contains("dark");

function kindColour(kind, shade) {
	const [hue, saturation] = HUES[kind] || HUES[0];

	return `hsl(${hue} ${saturation}% ${(isDark() ? 52 : 66) + shade}%)`;
}

/* Less: blue; more: orange; as far from grey as the share has changed, in points of all. */
function change(g) {
	return 100 * ((wholeOf(0) ? g.value / wholeOf(0) : 0) - (wholeOf(1) ? g.base / wholeOf(1) : 0));
}

function changeColour(points) {
	const strength = Math.min(1, Math.sqrt(Math.abs(points) / 10)), light = isDark() ? 50 : 84;

	if (Math.abs(points) < 0.005)
		return `hsl(0 0% ${light}%)`;
	return points > 0 ? `hsl(24 ${20 + 75 * strength}% ${light - 18 * strength}%)` : `hsl(212 ${20 + 65 * strength}% ${light - 14 * strength}%)`;
}

function colour(g) {
	if (S.matched && S.matched[g.fn])
		return isDark() ? "hsl(327 65% 62%)" : "hsl(327 70% 72%)";
	if (twoSides() && M.fnKind[g.fn] !== KIND.UNFINISHED)
		return changeColour(change(g));
	return kindColour(g.parent || S.focus >= 0 ? M.fnKind[g.fn] : 0, (M.hue[g.fn] - 8) * 0.9);
}

/* Inlined: dots; unfinished: hatching. */
function pattern(ctx, kind, x, y, w, h) {
	if (w < 3)
		return;
	ctx.save();
	ctx.beginPath();
	ctx.rect(x, y, w, h);
	ctx.clip();
	ctx.strokeStyle = "rgba(0,0,0,0.35)";
	ctx.beginPath();
	if (kind === KIND.UNFINISHED) {
		for (let at = x - h; at < x + w; at += 7) {
			ctx.moveTo(at, y + h);
			ctx.lineTo(at + h, y);
		}
	} else {
		ctx.setLineDash([2, 3]);
		ctx.moveTo(x, y + h - 1.5);
		ctx.lineTo(x + w, y + h - 1.5);
	}
	ctx.stroke();
	ctx.restore();
}

/* ---- drawing ---- */

function sized(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1, ctx = canvas.getContext("2d");

	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.height = `${height}px`;
	}
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	return ctx;
}

const label = (g) => (!g.parent && S.focus < 0 ? (S.callers ? "all, by innermost function" : "all") : M.names[g.fn]);

/* Text in room for so many characters, as base/shown.h cuts it: it loses its middle if there is room to read both sides, else its
 * end; but a function without a name what stands before its address. */
function cutText(text, room) {
	const all = Array.from(text), address = /^\??\[unknown .*(\+0x[0-9a-f]+\].*)$/.exec(text);
	const kept = address ? Math.min(address[1].length, room - 1) : room >= 12 ? Math.floor(room / 3) : 0;

	return `${all.slice(0, room - 1 - kept).join("")}\u2026${all.slice(all.length - kept).join("")}`;
}

function drawText(ctx, c, y, colour) {
	const room = Math.floor((c.w - 6) / V.charWidth);
	let text = label(c.g);

	if (room < 3)
		return;
	if (twoSides() && room > text.length + 8)
		text += ` ${change(c.g) >= 0 ? "+" : "\u2212"}${Math.abs(change(c.g)).toFixed(2)}`;
	if (text.length > room)
		text = cutText(text, room);
	ctx.fillStyle = colour;
	ctx.fillText(text, c.x + 3, y + ROW / 2 + 0.5);
}

function drawCell(ctx, c, y, style) {
	const w = Math.max(c.w - 0.6, 0.4), kind = c.g && (c.g.parent || S.focus >= 0) ? M.fnKind[c.g.fn] : 0;
	const above = c.g && S.zoom && S.zoom !== c.g && c.g.depth < S.zoom.depth && !c.g.up === !S.zoom.up;

	const dim = (S.matched && c.g && !S.matched[c.g.fn]) || above;

	ctx.globalAlpha = dim ? 0.45 : 1;
	ctx.fillStyle = c.g ? colour(c.g) : style.pruned;
	ctx.fillRect(c.x, y, w, ROW - 1);
	if (kind === KIND.INLINED || kind === KIND.UNFINISHED)
		pattern(ctx, kind, c.x, y, w, ROW - 1);
	ctx.globalAlpha = 1;
	if (c.g)
		drawText(ctx, c, y, dim ? style.text : "#000000");
	if (c.g && c.g === S.selected) {
		ctx.strokeStyle = style.select;
		ctx.lineWidth = 2;
		ctx.strokeRect(c.x + 1, y + 1, Math.max(w - 2, 1), ROW - 3);
		ctx.lineWidth = 1;
	}
}

function draw() {
	const ctx = sized($("graph"), V.width, V.height), css = getComputedStyle(document.documentElement);
	const style = { pruned: css.getPropertyValue("--line"), select: css.getPropertyValue("--select"), text: css.getPropertyValue("--text") };
	const top = offset();

	V.dirty = false;
	ctx.clearRect(0, 0, V.width, V.height);
	ctx.font = "12px ui-monospace, Menlo, Consolas, monospace";
	ctx.textBaseline = "middle";
	V.charWidth = ctx.measureText("mmmmmmmmmm").width / 10;
	for (let row = Math.max(0, Math.floor(-top / ROW)); row < V.rows && row * ROW + top < V.height; row++)
		for (const c of V.depths.get(depthAt(row)) || [])
			drawCell(ctx, c, row * ROW + top, style);
	if (!shown(S.root)) {
		ctx.fillStyle = css.getPropertyValue("--faint");
		ctx.fillText("nothing was sampled in what is chosen", 10, 20);
	}
}

function redraw() {
	if (!V.dirty)
		requestAnimationFrame(draw);
	V.dirty = true;
}

/* ---- time ---- */

/* Whatever the time: the strip shows what could be chosen. */
function strip() {
	const weights = new Float64Array(M.meta.threads.length), n = M.meta.slices;

	for (let i = 0; i < M.rowNode.length; i++)
		if (chosen(i, 0, true))
			weights[M.rowThread[i]] += M.rowWeight[i];
	const threads = [...weights.keys()].filter((t) => weights[t]).sort((a, b) => weights[b] - weights[a]);
	const rows = Math.max(1, Math.min(threads.length, STRIP_ROWS));
	const rowOf = new Uint32Array(weights.length), heat = new Float64Array(rows * n);

	threads.forEach((t, i) => { rowOf[t] = Math.min(i, rows - 1); });
	for (let i = 0; i < M.rowNode.length; i++)
		if (chosen(i, 0, true))
			heat[rowOf[M.rowThread[i]] * n + M.rowSlice[i]] += M.rowWeight[i];
	V.strip = { rows, threads, more: threads.length - rows, image: null, heat };
	V.strip.whole = heat.reduce((a, b) => a + b, 0);
	$("time").hidden = !(M.meta.sides[0].seconds > 0);
}

function heatImage() {
	const { rows, heat } = V.strip, n = M.meta.slices, canvas = document.createElement("canvas");
	const most = heat.reduce((a, b) => Math.max(a, b), 0) || 1, dark = isDark();

	canvas.width = n;
	canvas.height = rows;
	const ctx = canvas.getContext("2d"), image = ctx.createImageData(n, rows);
	for (let i = 0; i < heat.length; i++) {
		const [r, g, b] = dark ? [86, 180, 233] : [0, 90, 160];

		image.data.set([r, g, b, heat[i] ? 50 + 205 * Math.sqrt(heat[i] / most) : 0], i * 4);
	}
	ctx.putImageData(image, 0, 0);
	return canvas;
}

const sliceX = (slice) => LABEL + ((V.width - LABEL) * slice) / M.meta.slices;
const xSlice = (x) => Math.max(0, Math.min(M.meta.slices - 1, Math.floor(((x - LABEL) / (V.width - LABEL)) * M.meta.slices)));
const threadName = (t) => `${M.texts[M.meta.threads[t][0]] || "[unknown]"} ${M.meta.threads[t][2] >= 0 ? M.meta.threads[t][2] : ""}`;

function drawStrip() {
	const { rows, threads, more } = V.strip, height = rows * STRIP_ROW + 2, ctx = sized($("strip"), V.width, height);
	const css = getComputedStyle(document.documentElement), all = S.first === 0 && S.last === M.meta.slices - 1;

	ctx.clearRect(0, 0, V.width, height);
	ctx.imageSmoothingEnabled = false;
	ctx.drawImage(V.strip.image || (V.strip.image = heatImage()), LABEL, 0, V.width - LABEL, rows * STRIP_ROW);
	ctx.font = "9px system-ui, sans-serif";
	ctx.textBaseline = "middle";
	ctx.fillStyle = css.getPropertyValue("--faint");
	for (let i = 0; i < rows; i++) {
		const text = i === rows - 1 && more > 0 ? `${more + 1} more threads` : threads[i] === undefined ? "" : threadName(threads[i]);

		ctx.fillText(text.slice(0, 24), 10, i * STRIP_ROW + STRIP_ROW / 2 + 0.5);
	}
	if (!all) {
		ctx.fillStyle = css.getPropertyValue("--back");
		ctx.globalAlpha = 0.65;
		ctx.fillRect(LABEL, 0, sliceX(S.first) - LABEL, height);
		ctx.fillRect(sliceX(S.last + 1), 0, V.width - sliceX(S.last + 1), height);
		ctx.globalAlpha = 1;
		ctx.strokeStyle = css.getPropertyValue("--accent");
		ctx.strokeRect(sliceX(S.first) + 0.5, 0.5, Math.max(1, sliceX(S.last + 1) - sliceX(S.first) - 1), height - 1);
	}
	describeSpan(all);
}

function describeSpan(all) {
	const side = M.meta.sides[0], at = (slice) => ((side.seconds * slice) / M.meta.slices).toFixed(side.seconds < 10 ? 3 : 1);
	const share = V.strip.whole ? ((100 * wholeOf(0)) / V.strip.whole).toFixed(1) : "0";

	if (!side.seconds)
		return;
	$("span").textContent = (all ? `${at(M.meta.slices)} s` : `${at(S.first)} to ${at(S.last + 1)} of ${at(M.meta.slices)} s`) +
		`: ${T.samples[0].toLocaleString("en")} samples` + (isTime() ? `, ${amount(wholeOf(0))}` : "") + (all ? "" : `, ${share} % of the weight`) +
		(twoSides() ? `; compared with ${T.samples[1].toLocaleString("en")} samples of ${M.meta.sides[1].name}` : "");
}

/* Moves come faster than sums: one sum a picture. */
function brush(first, last, now) {
	const waits = V.brushing;

	S.first = Math.max(0, Math.min(first, last));
	S.last = Math.min(M.meta.slices - 1, Math.max(first, last));
	if (now) {
		recompute(false);
	} else if (!waits) {
		V.brushing = true;
		requestAnimationFrame(() => { V.brushing = false; recompute(false); });
	}
}

/* ---- panels ---- */

function node(tag, properties, ...children) {
	const e = Object.assign(document.createElement(tag), properties);

	e.append(...children);
	return e;
}

const percent = (part, whole) => `${whole ? ((100 * part) / whole).toFixed(1) : "0.0"} %`;

function box(checked, name, change) {
	const input = node("input", { type: "checkbox", checked });

	input.addEventListener("change", () => change(input.checked));
	return node("label", { title: name }, input, ` ${name}`);
}

function states() {
	const counts = M.meta.states.map(() => 0);
	let all = 0;

	for (let i = 0; i < M.rowNode.length; i++) {
		const what = M.rowWhat[i];

		if ((what & 0xffff) !== S.event || what >>> 24)
			continue;
		counts[(what >>> 16) & 0xff] += M.rowSamples[i];
		all += M.rowSamples[i];
	}
	$("states").replaceChildren();
	$("bar").replaceChildren();
	counts.map((n, i) => [n, i]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).forEach(([n, i], rank) => {
		const state = M.meta.states[i], grey = 75 - (rank % 4) * 12;
		const back = state.unfinished ? "repeating-linear-gradient(135deg,#999 0 3px,#ddd 3px 6px)" : `hsl(204 50% ${grey}%)`;
		const row = node("div", { className: "row" }, node("span", { className: "swatch" }), box(!!S.states[i], state.text, (on) => {
			S.states[i] = on ? 1 : 0;
			recompute(true);
		}), node("span", { className: "share", textContent: percent(n, all) }));

		row.firstChild.style.background = back;
		row.dataset.state = state.text;
		$("states").append(row);
		const part = node("div", { title: `${state.text}: ${n}` });
		part.style.background = back;
		part.style.flex = `${n} 0 0`;
		$("bar").append(part);
	});
	for (const [name, n] of [["lost records", M.meta.sides[0].lost], ["samples that could not be read", M.meta.sides[0].undecoded]])
		if (n)
			$("states").append(node("div", { className: "row", textContent: `${name}: ${n.toLocaleString("en")}` }));
}

function legend() {
	const rows = twoSides() ? [["less than before", changeColour(-8)], ["as before", changeColour(0)], ["more than before", changeColour(8)]]
		: [KIND.USER, KIND.KERNEL, KIND.INLINED, KIND.UNKNOWN].map((k) => [KIND_NAMES[k], kindColour(k, 0), k]);

	rows.push(["unfinished: not the whole stack", kindColour(KIND.UNFINISHED, 0), KIND.UNFINISHED]);
	rows.push(["too narrow to be shown", getComputedStyle(document.documentElement).getPropertyValue("--line")]);
	$("legend").replaceChildren(...rows.map(([name, back, kind]) => {
		const canvas = node("canvas", { className: "swatch", width: 22, height: 12 }), ctx = canvas.getContext("2d");

		ctx.fillStyle = back;
		ctx.fillRect(0, 0, 22, 12);
		if (kind === KIND.INLINED || kind === KIND.UNFINISHED)
			pattern(ctx, kind, 0, 0, 22, 12);
		return node("div", { className: "row" }, canvas, node("span", { textContent: name }));
	}));
}

function processes() {
	const found = new Map(), weights = new Map();

	for (let i = 0; i < M.rowNode.length; i++)
		if ((M.rowWhat[i] & 0xffff) === S.event)
			weights.set(M.rowThread[i], (weights.get(M.rowThread[i]) || 0) + M.rowWeight[i]);
	for (const [t, weight] of weights) {
		const pid = M.meta.threads[t][1], p = found.get(pid) || { pid, weight: 0, threads: [] };

		found.set(pid, p);
		p.weight += weight;
		p.threads.push({ t, weight });
	}
	for (const p of found.values())
		p.threads.sort((a, b) => b.weight - a.weight);
	return [...found.values()].sort((a, b) => b.weight - a.weight);
}

function only(threads) {
	S.threads.fill(0);
	threads.forEach((t) => { S.threads[t] = 1; });
	recompute(true);
	panelThreads();
}

function threadRow(className, name, threads, weight, whole) {
	const button = node("button", { textContent: "only" });
	const row = node("div", { className: `row ${className}` }, box(threads.every((t) => S.threads[t]), name, (on) => {
		threads.forEach((t) => { S.threads[t] = on ? 1 : 0; });
		recompute(true);
		panelThreads();
	}), node("span", { className: "share", textContent: percent(weight, whole) }), button);

	button.addEventListener("click", () => only(threads));
	return row;
}

function panelThreads() {
	const filter = $("threadfilter").value.toLowerCase(), rows = [], list = processes();
	const whole = list.reduce((sum, p) => sum + p.weight, 0);

	for (const p of list) {
		const kept = p.threads.filter(({ t }) => `${threadName(t)} ${p.pid}`.toLowerCase().includes(filter));

		if (!kept.length || rows.length > 400)
			continue;
		rows.push(threadRow("process", `${M.texts[M.meta.threads[p.threads[0].t][0]]} ${p.pid >= 0 ? p.pid : ""}`, kept.map((k) => k.t), p.weight, whole));
		if (p.threads.length > 1)
			for (const { t, weight } of kept.slice(0, 100))
				rows.push(threadRow("thread", threadName(t), [t], weight, whole));
	}
	if (rows.length > 400)
		rows.push(node("div", { className: "row", textContent: "and more: filter by name" }));
	$("threads").replaceChildren(...rows);
}

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];

const isTime = () => M.meta.events[S.event].unit === "nanoseconds";

function amount(weight) {
	if (!isTime())
		return weight.toLocaleString("en");
	const [scale, unit] = UNITS.find(([least]) => weight >= least) || [1, "ns"];
	return `${(weight / scale).toFixed(2)} ${unit}`;
}

function selfOf(g) {
	return g.up ? 0 : g.nodes.reduce((sum, n) => sum + T.self[0][n], 0);
}

function detail(g) {
	const e = $("detail");

	e.replaceChildren();
	if (!g) {
		e.append(node("span", { className: "faint", textContent: "Click: zoom. Drag in the strip above: a span of time. ? shows the keys." }));
		return;
	}
	e.append(node("b", { textContent: label(g) }), " ");
	if (g.parent || S.focus >= 0)
		e.append(node("span", { className: "faint", textContent: `${M.texts[M.fnObject[g.fn]]} (${KIND_NAMES[M.fnKind[g.fn]]})` }));
	e.append(node("br", {}), `${amount(g.value)}: ${percent(g.value, wholeOf(0))} of what is chosen`);
	if (g.parent)
		e.append(`, ${percent(g.value, g.parent.value)} of ${g.up ? "what it calls" : "its caller"}`);
	if (!g.up)
		e.append(`, itself ${percent(selfOf(g), wholeOf(0))}`);
	if (twoSides())
		e.append(`; before ${percent(g.base, wholeOf(1))}, ${change(g) >= 0 ? "+" : "\u2212"}${Math.abs(change(g)).toFixed(2)} points`);
}

/* ---- choosing ---- */

function compile(text) {
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

function search() {
	const test = S.pattern && compile(S.pattern);

	S.matched = null;
	$("found").textContent = S.pattern && !test ? "not a regex" : "";
	if (!test)
		return;
	S.matched = Uint8Array.from(M.names, (name, fn) => (fn && test(name) ? 1 : 0));
	const n = M.parent.length, hit = new Uint8Array(n);
	let sum = 0;
	for (let i = 1; i < n; i++) {
		hit[i] = hit[M.parent[i]] | S.matched[M.fn[i]];
		if (hit[i])
			sum += T.self[0][i];
	}
	$("found").textContent = `${percent(sum, wholeOf(0))} match`;
}

/* After the choice of samples has changed. The place in the graph is found again by its names. */
function recompute(whole) {
	const fns = path(S.zoom), selected = S.selected && path(S.selected), up = S.selected && S.selected.up;

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

function show() {
	layout();
	drawStrip();
	redraw();
	detail(S.selected);
	$("flip").setAttribute("aria-pressed", S.icicle);
	$("callers").setAttribute("aria-pressed", S.callers);
	$("order").setAttribute("aria-pressed", S.byWeight);
	$("before").setAttribute("aria-pressed", S.before);
	$("back").disabled = !S.history.length;
	$("focus").disabled = !S.selected || (!S.selected.parent && S.focus < 0);
}

function ground() {
	$("scroll").scrollTop = S.icicle ? (S.above ? Math.max(0, line(0) * ROW - V.height / 2) : 0)
		: Math.max(0, (line(0) + 1) * ROW - (S.above ? V.height / 2 : V.height));
}

function remember() {
	S.history.push({ focus: S.focus, callers: S.callers, path: path(S.zoom) });
	if (S.history.length > 200)
		S.history.shift();
}

function zoomTo(g) {
	if (!g || (g.up && S.above) || g === S.zoom)
		return;
	remember();
	S.zoom = g;
	show();
}

function goTo(focus, callers, fns) {
	S.focus = focus;
	S.callers = callers;
	S.selected = null;
	build();
	S.zoom = follow(fns);
	show();
	ground();
	redraw();
}

function back() {
	const h = S.history.pop();

	if (h)
		goTo(h.focus, h.callers, h.path);
}

function focusOn(g) {
	if (!g || (!g.parent && S.focus < 0))
		return;
	remember();
	goTo(g.fn, false, []);
	select(S.root);
}

function reset() {
	remember();
	S.pattern = $("search").value = "";
	S.first = 0;
	S.last = M.meta.slices - 1;
	S.threads.fill(1);
	S.states.fill(1);
	S.focus = -1;
	S.callers = false;
	S.zoom = S.selected = null;
	recompute(true);
	panelThreads();
	ground();
}

function select(g) {
	S.selected = g;
	detail(g);
	$("focus").disabled = !g || (!g.parent && S.focus < 0);
	redraw();
}

/* ---- the hand ---- */

function cellAt(x, y) {
	const row = V.depths.get(depthAt(Math.floor((y - offset()) / ROW))) || [];
	let low = 0, high = row.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (row[middle].x + row[middle].w <= x)
			low = middle + 1;
		else
			high = middle;
	}
	return low < row.length && row[low].x <= x ? row[low] : null;
}

function pointer() {
	const graph = $("graph"), time = $("strip");
	let from = -1;

	graph.addEventListener("mousemove", (e) => {
		const c = cellAt(e.offsetX, e.offsetY);

		graph.style.cursor = c && c.g ? "pointer" : "default";
		if (c && !c.g)
			$("detail").textContent = `${c.n} cells, each too narrow to be shown: zoom in`;
		else
			detail(c ? c.g : S.selected);
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
		if (c && c.g)
			focusOn(c.g);
	});
	time.addEventListener("pointerdown", (e) => {
		from = xSlice(e.offsetX);
		time.setPointerCapture(e.pointerId);
	});
	time.addEventListener("pointermove", (e) => {
		if (from >= 0 && Math.abs(xSlice(e.offsetX) - from) > 1)
			brush(from, xSlice(e.offsetX), false);
	});
	time.addEventListener("pointerup", (e) => {
		if (from >= 0 && Math.abs(xSlice(e.offsetX) - from) <= 1)
			brush(0, M.meta.slices - 1, true);
		else if (from >= 0)
			brush(from, xSlice(e.offsetX), true);
		from = -1;
	});
}

function cellOf(g) {
	for (const row of V.depths.values())
		for (const c of row)
			if (c.g === g)
				return c;
	return null;
}

function intoView(g) {
	const c = cellOf(g), y = c ? line(c.depth) * ROW + (S.icicle ? 0 : Math.max(0, V.height - V.rows * ROW)) : 0, e = $("scroll");

	if (c && y < e.scrollTop)
		e.scrollTop = y;
	else if (c && y + ROW > e.scrollTop + V.height)
		e.scrollTop = y + ROW - V.height;
}

/* Up and down go by what is seen: away from the root is up in a flame graph. */
function move(key) {
	const g = S.selected || S.zoom || S.root, outward = (key === "ArrowUp") !== S.icicle;
	const visible = (list) => list.filter((k) => cellOf(k));
	let to = null;

	if (key === "ArrowUp" || key === "ArrowDown") {
		const kids = visible(kidsOf(g));

		to = outward !== (g.up && !!S.above) ? kids.reduce((a, b) => (!a || shown(b) > shown(a) ? b : a), null) : g.parent;
	} else if (g.parent) {
		const list = visible(kidsOf(g.parent)), at = list.indexOf(g) + (key === "ArrowRight" ? 1 : -1);

		to = list[at] || null;
	}
	if (to || !S.selected) {
		select(to || g);
		intoView(to || g);
	}
}

function moveBrush(e) {
	const step = e.key === "ArrowRight" ? 8 : -8, n = M.meta.slices - 1;

	if (S.first === 0 && S.last === n)
		brush(0, n >> 3, true);
	else if (e.shiftKey)
		brush(S.first, Math.max(S.first, S.last + step), true);
	else if (S.first + step >= 0 && S.last + step <= n)
		brush(S.first + step, S.last + step, true);
}

const toggle = (name) => () => {
	S[name] = !S[name];
	goTo(S.focus, S.callers, path(S.zoom));
};

const ACTIONS = {
	back, reset,
	flip: toggle("icicle"), order: toggle("byWeight"), before: toggle("before"),
	callers: () => { remember(); goTo(-1, !S.callers, []); },
	focus: () => focusOn(S.selected),
	theme: () => { document.documentElement.classList.toggle("dark"); V.strip.image = null; legend(); show(); },
	help: () => $("keys").showModal(),
};

const KEYS = [
	["/", "search", () => $("search").focus()],
	["Escape", "everything again", reset],
	["Backspace", "back", back],
	["Enter", "zoom to the selected cell", () => zoomTo(S.selected)],
	["Arrow keys", "select; in the strip: move the span, with Shift its end", null],
	["f", "the selected function with its callers and callees (or right click)", ACTIONS.focus],
	["c", "from the innermost functions to their callers", ACTIONS.callers],
	["i", "icicle or flame", ACTIONS.flip],
	["o", "order by weight or by name", ACTIONS.order],
	["b", "with two recordings: widths of the other one", () => twoSides() && ACTIONS.before()],
	["t", "light or dark", ACTIONS.theme],
	["?", "these keys", ACTIONS.help],
];

function keyboard() {
	$("keytable").append(...KEYS.map(([key, text]) => node("tr", {}, node("td", {}, node("kbd", { textContent: key })), node("td", { textContent: text }))));
	document.addEventListener("keydown", (e) => {
		const typing = /^(INPUT|SELECT)$/.test(e.target.tagName), action = KEYS.find(([key, , run]) => key === e.key && run);

		if (e.ctrlKey || e.altKey || e.metaKey || $("keys").open)
			return;
		if (typing) {
			if (e.key === "Escape")
				e.target.blur();
			return;
		}
		if (e.target === $("strip") && /^Arrow(Left|Right)$/.test(e.key))
			moveBrush(e);
		else if (/^Arrow/.test(e.key))
			move(e.key);
		else if (action && !(e.key === "Enter" && e.target.tagName === "BUTTON"))
			action[2]();
		else
			return;
		e.preventDefault();
	});
}

function panels() {
	let timer = 0;

	for (const [id, run] of Object.entries(ACTIONS))
		$(id).addEventListener("click", run);
	$("search").addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(() => { S.pattern = $("search").value; search(); redraw(); }, 120);
	});
	$("event").append(...M.meta.events.map((e, i) => node("option", { value: i, textContent: e.name })));
	$("event").value = S.event;
	$("event").addEventListener("change", () => {
		S.event = Number($("event").value);
		recompute(true);
		panelThreads();
	});
	$("threadfilter").addEventListener("input", panelThreads);
	$("allthreads").addEventListener("click", () => only(M.meta.threads.map((_, t) => t)));
	$("nothreads").addEventListener("click", () => only([]));
	$("scroll").addEventListener("scroll", redraw);
	$("before").hidden = !twoSides();
	new ResizeObserver(() => {
		V.width = $("scroll").clientWidth;
		V.height = $("scroll").clientHeight;
		show();
	}).observe($("scroll"));
}

function start() {
	const events = new Float64Array(M.meta.events.length), wanted = M.meta.events.findIndex((e) => e.first);

	index(M);
	document.title = `${M.meta.title} \u2014 seam flame`;
	$("title").textContent = $("title").title = M.meta.title;
	for (let i = 0; i < M.rowNode.length; i++)
		events[M.rowWhat[i] & 0xffff] += M.rowSamples[i];
	S.event = wanted >= 0 ? wanted : Math.max(0, events.findIndex((n) => n > 0));
	S.last = M.meta.slices - 1;
	S.icicle = M.meta.icicle;
	S.threads = new Uint8Array(M.meta.threads.length).fill(1);
	S.states = new Uint8Array(256).fill(1);
	if (window.matchMedia("(prefers-color-scheme: dark)").matches)
		document.documentElement.classList.add("dark");
	V.width = $("scroll").clientWidth;
	V.height = $("scroll").clientHeight;
	panels();
	pointer();
	keyboard();
	legend();
	recompute(true);
	panelThreads();
	ground();
}

/* For tests and scripts: what is on the screen, in the page's coordinates. */
window.seamFlame = {
	ready: false,
	cells() {
		const at = $("graph").getBoundingClientRect(), out = [];

		for (const [depth, row] of V.depths)
			for (const c of row)
				if (c.g)
					out.push({ name: label(c.g), kind: KIND_NAMES[M.fnKind[c.g.fn]], depth, value: c.g.value, base: c.g.base,
						x: at.left + c.x, y: at.top + line(depth) * ROW + offset(), width: c.w, height: ROW - 1 });
		return out;
	},
	totals: () => ({ weight: wholeOf(0), samples: T.samples[0], before: wholeOf(1), functions: M.meta.functions, nodes: M.meta.nodes }),
	time(run) {
		const from = performance.now();

		run();
		return performance.now() - from;
	},
	work: { recompute: () => recompute(false), layout, draw },
};

unpack($("data").textContent.trim()).then((buffer) => {
	M = parse(buffer);
	$("data").remove();
	start();
	window.seamFlame.ready = true;
}).catch((e) => {
	$("failed").hidden = false;
	$("failed").textContent = `The recording in this page cannot be shown: ${e.message}. A browser of 2023 or later is needed.`;
	throw e;
});
