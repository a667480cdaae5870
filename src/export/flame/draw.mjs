// SPDX-License-Identifier: MIT
// draw.mjs: the flame graph.
import { $, KIND, M, S, V } from "./state.mjs";
import { shown, twoSides } from "./sums.mjs";
import { cutText, label } from "./names.mjs";
import { ROW, depthAt, layout, offset } from "./place.mjs";
import { sized } from "./element.mjs";
import { differenceText } from "./noise.mjs";
import { DIM, change, changeNoise, colour, ink, pattern } from "./colours.mjs";

export function drawText(ctx, c, y, colour) {
	const room = Math.floor((c.w - 6) / V.charWidth);
	let text = label(c.g);

	if (room < 3) return;
	if (twoSides() && S.view !== "order" && room > text.length + 16)
		text += ` ${differenceText(change(c.g), changeNoise(c.g))}`;
	if (text.length > room) text = cutText(text, room);
	ctx.fillStyle = colour;
	ctx.fillText(text, c.x + 3, y + ROW / 2 + 0.5);
}

export function drawCell(ctx, c, y, style) {
	const w = Math.max(c.w - 0.6, 0.4),
		kind = c.g && (c.g.parent || S.focus >= 0) ? M.fnKind[c.g.fn] : 0;
	const above =
		c.g &&
		S.zoom &&
		S.zoom !== c.g &&
		c.g.depth < S.zoom.depth &&
		!c.g.up === !S.zoom.up;

	const dim = (S.matched && c.g && !S.matched[c.g.fn]) || above;

	ctx.globalAlpha = dim ? DIM : 1;
	const fill = c.g ? colour(c.g) : style.pruned;

	ctx.fillStyle = fill;
	ctx.fillRect(c.x, y, w, ROW - 1);
	if (kind === KIND.INLINED || kind === KIND.UNFINISHED)
		pattern(ctx, kind, c.x, y, w, ROW - 1);
	ctx.globalAlpha = 1;
	if (c.g) drawText(ctx, c, y, dim ? style.text : ink(fill));
	if (c.g && (c.g === S.selected || (c.g.fn === S.fn && c.w > 3))) {
		ctx.strokeStyle = style.select;
		ctx.lineWidth = c.g === S.selected ? 2 : 1;
		ctx.strokeRect(c.x + 1, y + 1, Math.max(w - 2, 1), ROW - 3);
		ctx.lineWidth = 1;
	}
}

export function draw() {
	const ctx = sized($("graph"), V.width, V.height),
		css = getComputedStyle(document.documentElement);
	const style = {
		pruned: css.getPropertyValue("--line"),
		select: css.getPropertyValue("--select"),
		text: css.getPropertyValue("--text"),
	};
	const top = offset();

	V.dirty = false;
	ctx.clearRect(0, 0, V.width, V.height);
	ctx.font = "12px ui-monospace, Menlo, Consolas, monospace";
	ctx.textBaseline = "middle";
	V.charWidth = ctx.measureText("mmmmmmmmmm").width / 10;
	for (
		let row = Math.max(0, Math.floor(-top / ROW));
		row < V.rows && row * ROW + top < V.height;
		row++
	)
		for (const c of V.depths.get(depthAt(row)) || [])
			drawCell(ctx, c, row * ROW + top, style);
	if (!shown(S.root)) {
		ctx.fillStyle = css.getPropertyValue("--faint");
		ctx.fillText("nothing was sampled in what is chosen", 10, 20);
	}
}

/* A picture soon; if cells are still to be made, then others behind it. */
export function redraw() {
	if (!V.dirty) requestAnimationFrame(drawAndGoOn);
	V.dirty = true;
}

function drawAndGoOn() {
	if ($("scroll").hidden) V.dirty = false;
	else draw();
	if (!V.unfinished) return;
	V.dirty = true;
	requestAnimationFrame(() => {
		layout();
		drawAndGoOn();
	});
}
