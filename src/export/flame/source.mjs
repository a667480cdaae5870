// SPDX-License-Identifier: MIT
// source.mjs: the pane of source: whose code is known, and what is shown of it (code.mjs).
import { $, M, S, ask } from "./state.mjs";
import { anySpan, twoSides } from "./sums.mjs";
import { grouped } from "./names.mjs";
import { drawBefore, drawPart, markLine, toHottest } from "./code.mjs";
import { node } from "./element.mjs";

const P = { shown: null, before: undefined, event: -1, fn: 0 };
const sourceKey = (name, object) => `${name}\n${object}`;

/* What is known of a function's source in a recording, by function; undefined: nothing. */
function sourcesOf(side) {
	M.sources ||= [M.meta.source, M.meta.source_before].map(
		(source) =>
			new Map(
				(source ? source.functions : []).map((f) => [
					sourceKey(f.name, f.object),
					f,
				]),
			),
	);
	return M.sources[side];
}

const keyOf = (fn) => sourceKey(M.names[fn], M.texts[M.fnObject[fn]]);
export const sourceOf = (fn, side = 0) => sourcesOf(side).get(keyOf(fn));

/* Puts what a server said of a function; null: it said nothing. */
export const keepSource = (fn, found, side = 0) => sourcesOf(side).set(keyOf(fn), found);

/* Without a chosen function: those whose source is here. */
function sourceList() {
	const found = M.meta.source ? M.meta.source.functions : [],
		rows = found.map((f) => {
			const fn = M.names.findIndex(
				(name, i) => name === f.name && M.texts[M.fnObject[i]] === f.object,
			);
			const button = node("button", {
				className: "name",
				textContent: f.name,
				disabled: fn < 1,
			});

			button.addEventListener("click", () => ask.choose(fn));
			return node("li", {}, button);
		});

	return node("ol", {}, ...rows);
}

const sourceChoice = () => anySpan() || S.threads.some((on) => !on);

/* Of two recordings, how they stand beside each other. */
function comparedCaption(before) {
	const [now, was] = M.meta.sides.map((side) => side.name);

	if (before && before.parts.length)
		return (
			`${now}, compared with ${was}: shares of all, \u00b1 what counting ` +
			"samples could make (95 %). "
		);
	return (
		`Of ${now} alone: ` +
		(before === undefined
			? ask.source
				? `of ${was} the server is asked. `
				: `${was}'s code of this function is not in the page. `
			: before && before.error
				? `of ${was} the server said: ${before.error}. `
				: `no sample of ${was} is in this function's code. `)
	);
}

/* Behind "the chosen threads": that not all were asked for. */
function threadsLeft() {
	const left = ask.sourceLeft();

	return left
		? `, but for ${grouped(left)} threads: no more can be asked ` +
				"for at once."
		: ".";
}

function sourceCaption(found, before) {
	const left = M.meta.source && M.meta.source.left;

	if (S.fn < 1)
		return M.meta.source || ask.source
			? "Choose a function in another pane" +
					(M.meta.source
						? ", or one of those whose source is here:"
						: ".")
			: "This page was made without source: seam flame --source puts that " +
					"of the hottest functions into it.";
	if (found && found.error) return found.error;
	if (found)
		return (
			(twoSides() ? comparedCaption(before) : "") +
			(ask.source
				? "Of the chosen span and threads" + threadsLeft()
				: sourceChoice()
					? "Of the whole recording: a chosen span, threads and " +
						"states are not followed here (seam view does)."
					: "")
		);
	if (ask.source)
		return found === null
			? "The server has nothing of it: no sample is in its code."
			: "The server is asked \u2026";
	return M.meta.source
		? `The source of this function is not in the page${
				left
					? ` (nor of ${grouped(left)} others that ` +
						`samples hit: ` +
						"the hottest come first)"
					: ": no sample hit it itself, or it has no name"
			}. seam view shows every function, and so does seam annotate.`
		: "This page was made without source: seam flame --source puts that of the " +
				"hottest functions into it, and seam view shows every function.";
}

/* The same function's code before, inlined into the same. */
const partBefore = (part, before) =>
	before && (before.parts.find((was) => was.in === part.in) || null);

/* The pane as it is now. What is shown already stays, with its place. */
export function drawSource() {
	if (ask.sourceChosen) ask.sourceChosen();
	const fn = S.fn > 0 ? S.fn : 0,
		found = fn ? sourceOf(fn) : undefined,
		before = fn && twoSides() ? sourceOf(fn, 1) : undefined,
		waits = fn && found === undefined && ask.source;

	if (waits) ask.source(fn);
	else if (fn && twoSides() && before === undefined && ask.source) ask.source(fn, 1);
	$("sourcename").textContent = fn ? M.names[fn] : "Source";
	$("sourcecaption").textContent = sourceCaption(found, before);
	if (waits && P.fn === fn) return;
	P.fn = fn;
	if (P.shown !== (found || fn) || P.before !== before || P.event !== S.event) {
		P.shown = found || fn;
		P.before = before;
		P.event = S.event;
		$("sourceparts").replaceChildren(
			...(found
				? found.parts.map((part, i) =>
						drawPart(part, i, fn, partBefore(part, before)),
					)
				: fn
					? ((before && before.parts) || []).map((part, i) =>
							drawBefore(part, i, fn),
						)
					: [sourceList()]),
		);
		if (found && found.more)
			$("sourceparts").append(
				node("p", {
					className: "faint",
					textContent:
						`It is inlined into ${found.more} more ` +
						`functions, with fewer samples.`,
				}),
			);
		if (S.line) markLine(true);
		else toHottest();
	} else {
		markLine(false);
	}
}
