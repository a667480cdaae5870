// SPDX-License-Identifier: MIT
// panels.mjs: what stands beside the graph.
import { $, KIND, M, S, T, ask, kindName, runtimeKinds } from "./state.mjs";
import { shown, twoSides, wholeOf } from "./sums.mjs";
import { amount, label, percent, threadName } from "./names.mjs";
import { node } from "./element.mjs";
import { change, changeColour, kindColour, pattern } from "./colours.mjs";
import { strip } from "./strip.mjs";

export function box(checked, name, change) {
	const input = node("input", { type: "checkbox", checked });

	input.addEventListener("change", () => change(input.checked));
	return node("label", { title: name }, input, ` ${name}`);
}

export function states() {
	const counts = M.meta.states.map(() => 0);
	const { rowWhat, rowSamples } = M, { event } = S;
	let all = 0;

	for (let i = 0; i < rowWhat.length; i++) {
		const what = rowWhat[i];

		if ((what & 0xffff) !== event || what >>> 24)
			continue;
		counts[(what >>> 16) & 0xff] += rowSamples[i];
		all += rowSamples[i];
	}
	$("states").replaceChildren();
	$("bar").replaceChildren();
	counts.map((n, i) => [n, i]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).forEach(([n, i], rank) => {
		const state = M.meta.states[i], grey = 75 - (rank % 4) * 12;
		const back = state.unfinished ? "repeating-linear-gradient(135deg,#999 0 3px,#ddd 3px 6px)" : `hsl(204 50% ${grey}%)`;
		const row = node("div", { className: "row" }, node("span", { className: "swatch" }), box(!!S.states[i], state.text, (on) => {
			S.states[i] = on ? 1 : 0;
			ask.recompute(true);
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

export function legend() {
	const rows = twoSides() ? [["less than before", changeColour(-8)], ["as before", changeColour(0)], ["more than before", changeColour(8)]]
		: [KIND.USER, ...runtimeKinds(), KIND.KERNEL, KIND.INLINED, KIND.UNKNOWN].map((k) => [kindName(k), kindColour(k, 0), k]);

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

export function processes() {
	const found = new Map(), weights = new Float64Array(M.meta.threads.length).fill(-1), { rowWhat, rowThread, rowWeight } = M, { event } = S;

	for (let i = 0; i < rowWhat.length; i++)
		if ((rowWhat[i] & 0xffff) === event)
			weights[rowThread[i]] = Math.max(0, weights[rowThread[i]]) + rowWeight[i];
	for (const [t, weight] of weights.entries()) {
		if (weight < 0)
			continue;
		const pid = M.meta.threads[t][1], p = found.get(pid) || { pid, weight: 0, threads: [] };

		found.set(pid, p);
		p.weight += weight;
		p.threads.push({ t, weight });
	}
	for (const p of found.values())
		p.threads.sort((a, b) => b.weight - a.weight);
	return [...found.values()].sort((a, b) => b.weight - a.weight);
}

export function only(threads) {
	S.threads.fill(0);
	threads.forEach((t) => { S.threads[t] = 1; });
	ask.recompute(true);
	panelThreads();
}

export function threadRow(className, name, threads, weight, whole) {
	const button = node("button", { textContent: "only" });
	const row = node("div", { className: `row ${className}` }, box(threads.every((t) => S.threads[t]), name, (on) => {
		threads.forEach((t) => { S.threads[t] = on ? 1 : 0; });
		ask.recompute(true);
		panelThreads();
	}), node("span", { className: "share", textContent: percent(weight, whole) }), button);

	button.addEventListener("click", () => only(threads));
	return row;
}

export function panelThreads() {
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

export function selfOf(g) {
	return g.up ? 0 : g.nodes.reduce((sum, n) => sum + T.self[0][n], 0);
}

export const atSeconds = (slice) => `${((M.meta.sides[0].seconds * slice) / M.meta.slices).toFixed(4)} s`;

export function detail(g) {
	const e = $("detail");

	e.replaceChildren();
	if (!g) {
		e.append(node("span", { className: "faint", textContent: "Click: zoom. Drag in the strip above: a span of time. ? shows the keys." }));
		return;
	}
	e.append(node("b", { textContent: label(g) }), " ");
	if (g.parent || S.focus >= 0)
		e.append(node("span", { className: "faint", textContent: `${M.texts[M.fnObject[g.fn]]} (${kindName(M.fnKind[g.fn])})` }));
	e.append(node("br", {}), `${amount(g.value)}: ${percent(g.value, wholeOf(0))} of what is chosen`);
	if (g.parent)
		e.append(`, ${percent(g.value, g.parent.value)} of ${g.up ? "what it calls" : "its caller"}`);
	if (g.node)
		e.append(`; from ${atSeconds(g.begin)} to ${atSeconds(g.end + 1)}`);
	else if (!g.up)
		e.append(`, itself ${percent(selfOf(g), wholeOf(0))}`);
	if (twoSides() && S.view !== "order")
		e.append(`; before ${percent(g.base, wholeOf(1))}, ${change(g) >= 0 ? "+" : "\u2212"}${Math.abs(change(g)).toFixed(2)} points`);
}
