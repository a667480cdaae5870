// SPDX-License-Identifier: MIT
// link.mjs: what was chosen as the fragment of the page's address, and back. Knows nothing of the
// screen.
import { M, S } from "./state.mjs";
import { APART, apartChoices, useTree } from "./processes.mjs";
import { isAllTime } from "./sums.mjs";

/* What a link says where processes are not told apart. */
const TOGETHER = "together";

export const VIEWS = ["flame", "order", "table", "time", "source"];

const SORTED = ["self", "total", "name", "change", "changetotal"];

/* Of each side. */
const SPANS = ["span", "beforespan"];
export const PARTS = ["part", "beforepart"];

/* States of stacks that are not chosen, by their texts. */
const leftOut = () => M.meta.states.filter((_, i) => !S.states[i]).map((state) => state.text);

/* What differs from how the page opens; names where they outlive the page, so that a link is read
 * by people as well. */
export function encodeLink(zoom) {
	const q = new URLSearchParams(),
		chosen = [];

	if (S.view !== VIEWS[0]) q.set("view", S.view);
	if (S.apart !== S.firstApart) q.set("processes", S.apart || TOGETHER);
	if (S.event !== S.firstEvent) q.set("event", M.meta.events[S.event].name);
	if (S.fn > 0) {
		q.set("function", M.names[S.fn]);
		q.set("object", M.texts[M.fnObject[S.fn]]);
	}
	PARTS.forEach((key, side) => S.parts[side] && q.set(key, S.parts[side]));
	if (S.line && S.view === "source") q.set("line", S.line);
	if (S.pattern) q.set("search", S.pattern);
	M.meta.sides.forEach((_, side) => {
		if (!isAllTime(side)) q.set(SPANS[side], S.spans[side].join("-"));
	});
	if (S.focus >= 0) q.set("focus", S.focus);
	for (const flag of ["callers", "byWeight", "before"]) if (S[flag]) q.set(flag, 1);
	if (S.icicle !== M.meta.icicle) q.set("icicle", S.icicle ? 1 : 0);
	if (S.sort && S.sort !== S.firstSort) q.set("sort", S.sort);
	for (const text of leftOut()) q.append("without", text);
	if (S.dark !== S.firstDark) q.set("theme", S.dark ? "dark" : "light");
	S.threads.forEach((on, t) => {
		if (on) chosen.push(t);
	});
	if (chosen.length < S.threads.length) q.set("threads", ranges(chosen));
	if (S.thread >= 0) q.set("thread", S.thread);
	if (zoom.length) q.set("zoom", zoom.join("."));
	return q.toString();
}

/* 1, 2, 3, 7 -> 1-3.7 */
export function ranges(numbers) {
	const parts = [];

	for (let i = 0, j; i < numbers.length; i = j) {
		for (j = i + 1; j < numbers.length && numbers[j] === numbers[j - 1] + 1; j++);
		parts.push(j - i > 1 ? `${numbers[i]}-${numbers[j - 1]}` : `${numbers[i]}`);
	}
	return parts.join(".");
}

/* A whole number in 0 ... most - 1, or otherwise. */
function number(text, most, otherwise) {
	return /^[0-9]{1,9}$/.test(text || "") && Number(text) < most ? Number(text) : otherwise;
}

/* The other way, into S; a link is not trusted, and what it says wrongly is left as it is at the
 * beginning. Returns the path to zoom to. */
export function decodeLink(text) {
	const q = new URLSearchParams(text),
		last = M.meta.slices - 1;
	const name = q.get("function"),
		object = q.get("object");

	const apart = q.get("processes") === TOGETHER ? APART.NONE : q.get("processes");

	S.apart = apartChoices().includes(apart) ? apart : S.firstApart;
	useTree();
	const fns = M.fnName.length;
	S.view = VIEWS.includes(q.get("view")) ? q.get("view") : VIEWS[0];
	const event = M.meta.events.findIndex((e) => e.name === q.get("event"));
	S.event = event >= 0 ? event : S.firstEvent;
	S.fn =
		name === null
			? -1
			: M.names.findIndex(
					(n, fn) =>
						n === name &&
						(object === null ||
							M.texts[M.fnObject[fn]] === object),
				);
	S.line = /^[0-9]{1,9}(\.[0-9]{1,9}){2}$/.test(q.get("line") || "") ? q.get("line") : "";
	S.pattern = q.get("search") || "";
	S.spans = SPANS.map((key) => {
		const [from, to] = (q.get(key) || "").split("-"),
			first = number(from, last + 1, 0);

		return [first, Math.max(first, number(to, last + 1, last))];
	});
	S.focus = number(q.get("focus"), fns, -1);
	for (const flag of ["callers", "byWeight", "before"]) S[flag] = q.get(flag) === "1";
	S.icicle = q.has("icicle") ? q.get("icicle") === "1" : M.meta.icicle;
	S.sort = SORTED.includes(q.get("sort")) ? q.get("sort") : S.firstSort;
	S.dark = ["dark", "light"].includes(q.get("theme"))
		? q.get("theme") === "dark"
		: S.firstDark;
	M.meta.states.forEach(({ text: state }, i) => {
		S.states[i] = q.getAll("without").includes(state) ? 0 : 1;
	});
	S.thread = number(q.get("thread"), S.threads.length, -1);
	S.threads.fill(q.has("threads") ? 0 : 1);
	for (const part of (q.get("threads") || "").split(".")) {
		const [a, b] = part.split("-");

		S.threads.fill(
			1,
			number(a, S.threads.length, S.threads.length),
			number(b ?? a, S.threads.length, -1) + 1,
		);
	}
	return (q.get("zoom") || "")
		.split(".")
		.map((fn) => number(fn, fns, -1))
		.filter((fn) => fn >= 0);
}
