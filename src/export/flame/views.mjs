// SPDX-License-Identifier: MIT
// views.mjs: which pane is shown, and the pane's own controls.
import { $, M, S } from "./state.mjs";
import { chosenWeights, twoSides } from "./sums.mjs";
import { APART, apartChoices } from "./processes.mjs";
import { threadName } from "./names.mjs";
import { node } from "./element.mjs";
import { shownThreads } from "./order.mjs";
import { drawTable } from "./table.mjs";
import { drawWhen } from "./when.mjs";
import { drawSource } from "./source.mjs";

/* More threads than this are not in the list to choose from; a link can name any. */
const CHOICES = 5000;

/* Of which choice the list is. */
const C = { weights: null, thread: -1 };

/* The threads to choose from in order of time, the heaviest first. */
function threadChoice() {
	const [thread, other] = shownThreads(),
		weights = chosenWeights(0);

	if (C.weights === weights && C.thread === thread) return;
	Object.assign(C, { weights, thread });
	const list = [...weights.keys()]
		.filter((t) => weights[t] || t === thread)
		.sort((a, b) => weights[b] - weights[a] || a - b)
		.slice(0, CHOICES);

	$("thread").replaceChildren(
		...list.map((t) =>
			node("option", {
				value: t,
				textContent:
					threadName(t) +
					(M.meta.threads[t][1] >= 0
						? ` of process ${M.meta.threads[t][1]}`
						: ""),
			}),
		),
	);
	$("thread").value = thread;
	$("otherthread").textContent = !twoSides()
		? ""
		: other < 0
			? `nothing of ${M.meta.sides[1].name}`
			: `below, growing down: ${threadName(other)} of ${M.meta.sides[1].name}`;
}

const APART_NAMES = {
	[APART.NONE]: "together",
	[APART.NAME]: "apart, by name",
	[APART.EACH]: "each apart",
};

/* How processes are told apart, if there are several. */
function apartChoice() {
	const choices = apartChoices(),
		list = $("processes");

	$("apart").hidden = S.view !== "flame" || choices.length < 2;
	if (list.options.length !== choices.length)
		list.replaceChildren(
			...choices.map((value) =>
				node("option", { value, textContent: APART_NAMES[value] }),
			),
		);
	list.value = S.apart;
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
	apartChoice();
	if (S.view === "order") threadChoice();
	else if (S.view === "table") drawTable();
	else if (S.view === "time") drawWhen();
	else if (S.view === "source") drawSource();
}
