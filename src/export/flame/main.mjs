// SPDX-License-Identifier: MIT
// main.mjs: the page begins.
import { $, M, S, T, V, kindName } from "./state.mjs";
import { index, parse } from "./data.mjs";
import { unpack } from "./pieces.mjs";
import { firstApart } from "./processes.mjs";
import { twoSides, wholeOf, wholeSpans } from "./sums.mjs";
import { label } from "./names.mjs";
import { ROW, finishLayout, layout, line, offset } from "./place.mjs";
import { draw } from "./draw.mjs";
import { readLink, recompute } from "./choose.mjs";
import { failure, firstData, isServed } from "./served.mjs";
import { isWaiting } from "./heat.mjs";
import { keyboard, panels, pointer } from "./hand.mjs";
import { prepare } from "./spare.mjs";

/* Samples by event. */
function eventSamples() {
	const { rowWhat, whatEvent, rowSamples } = M,
		samples = new Float64Array(M.meta.events.length);

	for (let i = 0; i < rowWhat.length; i++) samples[whatEvent[rowWhat[i]]] += rowSamples[i];
	return samples;
}

export function start() {
	const events = eventSamples(),
		wanted = M.meta.events.findIndex((e) => e.first);

	index(M);
	document.title = `${M.meta.title} \u2014 seam ${isServed() ? "view" : "flame"}`;
	$("title").textContent = $("title").title = M.meta.title;
	/* Work comes before waiting. */
	const first = [
		wanted,
		events.findIndex((n, i) => n > 0 && !isWaiting(M.meta.events[i].name)),
		events.findIndex((n) => n > 0),
		0,
	];
	S.event = S.firstEvent = first.find((i) => i >= 0);
	S.spans = wholeSpans();
	S.icicle = M.meta.icicle;
	S.apart = S.firstApart = firstApart();
	S.threads = new Uint8Array(M.meta.threads.length).fill(1);
	S.states = new Uint8Array(256).fill(1);
	S.sort = S.firstSort = twoSides() ? "change" : "self";
	S.dark = S.firstDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
	V.width = $("scroll").clientWidth;
	V.height = $("scroll").clientHeight;
	panels();
	pointer();
	keyboard();
	readLink();
	prepare();
}

/* For tests and scripts: what is on the screen, in the page's coordinates. */
window.seamFlame = {
	ready: false,
	cells() {
		finishLayout();
		const at = $("graph").getBoundingClientRect(),
			out = [];

		for (const [depth, row] of V.depths)
			for (const c of row)
				if (c.g)
					out.push({
						name: label(c.g),
						kind: kindName(M.fnKind[c.g.fn]),
						depth,
						value: c.g.value,
						base: c.g.base,
						x: at.left + c.x,
						y: at.top + line(depth) * ROW + offset(),
						width: c.w,
						height: ROW - 1,
					});
		return out;
	},
	totals: () => ({
		weight: wholeOf(0),
		samples: T.samples[0],
		before: wholeOf(1),
		samplesBefore: T.samples[1] || 0,
		functions: M.meta.functions,
		nodes: M.meta.nodes,
	}),
	time(run) {
		const from = performance.now();

		run();
		return performance.now() - from;
	},
	work: { recompute: () => recompute(false), layout: () => layout(Infinity), draw },
	searched: () => S.pattern,
	/* Whether all is drawn, and nothing is made meanwhile. */
	rests: () => !V.dirty && !V.unfinished && !V.prepares,
};

(isServed() ? firstData() : unpack())
	.then((buffer) => {
		Object.assign(M, parse(buffer));
		document.body.classList.remove("reading");
		start();
		window.seamFlame.ready = true;
	})
	.catch((e) => {
		document.body.classList.add("reading");
		$("reading").hidden = true;
		$("failed").hidden = false;
		$("failed").textContent = failure(e);
		throw e;
	});
