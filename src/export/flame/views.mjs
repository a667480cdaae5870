// SPDX-License-Identifier: MIT
// views.mjs: which pane is shown, and the pane's own controls.
import { $, M, S } from "./state.mjs";
import { chosen } from "./sums.mjs";
import { threadName } from "./names.mjs";
import { node } from "./element.mjs";
import { heaviest } from "./order.mjs";
import { drawTable } from "./table.mjs";
import { drawWhen } from "./when.mjs";
import { drawSource } from "./source.mjs";

/* The threads to choose from in order of time, the heaviest first. */
function threadChoice() {
	const weights = new Map(), thread = S.thread >= 0 ? S.thread : heaviest();

	for (let i = 0; i < M.rowNode.length; i++)
		if (chosen(i, 0))
			weights.set(M.rowThread[i], (weights.get(M.rowThread[i]) || 0) + M.rowWeight[i]);
	weights.set(thread, weights.get(thread) || 0);
	const list = [...weights].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 500);
	$("thread").replaceChildren(...list.map(([t]) => node("option", { value: t,
		textContent: threadName(t) + (M.meta.threads[t][1] >= 0 ? ` of process ${M.meta.threads[t][1]}` : "") })));
	$("thread").value = thread;
}

/* Shows the pane that is chosen. */
export function drawView() {
	for (const button of $("views").querySelectorAll("button"))
		button.setAttribute("aria-pressed", button.dataset.view === S.view);
	$("scroll").hidden = S.view !== "flame" && S.view !== "order";
	$("table").hidden = S.view !== "table";
	$("when").hidden = S.view !== "time";
	$("source").hidden = S.view !== "source";
	$("threadchoice").hidden = S.view !== "order";
	if (S.view === "order")
		threadChoice();
	else if (S.view === "table")
		drawTable();
	else if (S.view === "time")
		drawWhen();
	else if (S.view === "source")
		drawSource();
}
