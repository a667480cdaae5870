// SPDX-License-Identifier: MIT
// names.mjs: names and amounts as people read them. Knows nothing of the screen.
import { M, S } from "./state.mjs";

/* Text in room for so many characters, as base/shown.h cuts it: it loses its middle if there is
 * room to read both sides, else its end; but a function without a name what stands before its
 * address. */
export function cutText(text, room) {
	const all = Array.from(text),
		address = /^\??\[unknown .*(\+0x[0-9a-f]+\].*)$/.exec(text);
	const kept = address
		? Math.min(address[1].length, room - 1)
		: room >= 12
			? Math.floor(room / 3)
			: 0;

	const [head, tail] = [all.slice(0, room - 1 - kept), all.slice(all.length - kept)];

	return `${head.join("")}\u2026${tail.join("")}`;
}

/* A cell's name. In order of time of two recordings the outermost cells are named as these. */
export function label(g) {
	if (g.parent || S.focus >= 0) return M.names[g.fn];
	if (S.view === "order" && M.meta.sides.length > 1) return M.meta.sides[g.side || 0].name;
	return S.callers ? "all, by innermost function" : "all";
}

export const percent = (part, whole) => `${whole ? ((100 * part) / whole).toFixed(1) : "0.0"} %`;

/* A whole number with its digits in groups of three. toLocaleString() reads tables of languages
 * first, which takes longer than all sums of a page. */
export const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

export const UNITS = [
	[1e9, "s"],
	[1e6, "ms"],
	[1e3, "\u00b5s"],
	[1, "ns"],
];

export const isTime = () => M.meta.events[S.event].unit === "nanoseconds";

export function amount(weight) {
	if (!isTime()) return `${grouped(weight)} ${M.meta.events[S.event].name}`;
	const [scale, unit] = UNITS.find(([least]) => weight >= least) || [1, "ns"];
	return `${(weight / scale).toFixed(2)} ${unit}`;
}

export function threadName(t) {
	const [comm, , tid] = M.meta.threads[t];

	return `${M.texts[comm] || "[unknown]"} ${tid >= 0 ? tid : ""}`;
}

/* Whether what is typed to find threads finds this one. */
export const threadFound = (t) =>
	!S.filter || `${threadName(t)} ${M.meta.threads[t][1]}`.toLowerCase().includes(S.filter);

export function processName(t) {
	const [comm, pid] = M.meta.threads[t];

	return `${M.texts[comm] || "[unknown]"} ${pid >= 0 ? pid : ""}`;
}
