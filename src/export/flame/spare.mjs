// SPDX-License-Identifier: MIT
// spare.mjs: what is made before it is asked for, in time that the browser has to spare: what takes
// longer than an answer may, and is the same for every choice.
import { V } from "./state.mjs";
import { prepareTrees } from "./processes.mjs";
import { prepareSums } from "./sums.mjs";

/* Milliseconds that are left to the browser of the time that it has. */
const LEFT = 2;

/* Goes on as often as there is time, until all is made. Without requestIdleCallback each thing is
 * made when it is asked for. */
export function prepare() {
	if (!window.requestIdleCallback || V.prepares) return;
	V.prepares = true;
	requestIdleCallback((idle) => {
		const hasTime = () => idle.timeRemaining() > LEFT;

		V.prepares = false;
		if (!prepareTrees(hasTime) || !prepareSums(hasTime)) prepare();
	});
}
