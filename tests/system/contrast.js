// SPDX-License-Identifier: MIT
// contrast.js: how much what is written on a page stands out from what it is written on, as WCAG 2
// measures it, of every text that is seen now: elements' and fields', and what canvases are given to
// draw. seamContrast.watch() begins to look at canvases; seamContrast.seen() returns what was found:
// [ratio, what WCAG 2 AA asks for, text, colour, ground].
window.seamContrast = (() => {
	const one = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }),
		known = new Map(),
		drawn = [];

	/* Red, green, blue and alpha, 0 to 255, of a colour in any form. */
	function parts(colour) {
		if (!known.has(colour)) {
			one.clearRect(0, 0, 1, 1);
			one.fillStyle = "#000";
			one.fillStyle = colour;
			one.fillRect(0, 0, 1, 1);
			known.set(colour, [...one.getImageData(0, 0, 1, 1).data]);
		}
		return known.get(colour);
	}

	const over = (top, below, alpha = top[3] / 255) =>
		[0, 1, 2].map((i) => alpha * top[i] + (1 - alpha) * below[i]);

	/* What is behind an element. Of a picture as ground nothing is known here: null. */
	function ground(element) {
		const layers = [];

		for (let e = element; e; e = e.parentElement) {
			const style = getComputedStyle(e),
				colour = parts(style.backgroundColor);

			if (style.backgroundImage !== "none") return null;
			layers.push(colour);
			if (colour[3] === 255) break;
		}
		return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
	}

	function luminance(rgb) {
		const [r, g, b] = rgb.map((c) =>
			c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
		);

		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	}

	function ratio(a, b) {
		const [less, more] = [luminance(a), luminance(b)].sort((x, y) => x - y);

		return (more + 0.05) / (less + 0.05);
	}

	const hex = (rgb) =>
		`#${rgb.map((c) => Math.round(c).toString(16).padStart(2, "0")).join("")}`;
	const found = (text, colour, behind, size, bold) => [
		Math.round(100 * ratio(over(colour, behind), behind)) / 100,
		size >= 24 || (bold && size >= 18.66) ? 3 : 4.5,
		text.trim().slice(0, 60),
		hex(over(colour, behind)),
		hex(behind),
	];

	/* What is faded by an element around it. */
	function opacity(element) {
		let all = 1;

		for (let e = element; e; e = e.parentElement) all *= getComputedStyle(e).opacity;
		return all;
	}

	function seenText(element, text, pseudo) {
		const style = getComputedStyle(element, pseudo),
			behind = ground(element),
			colour = [...parts(style.color)];

		/* What cannot be used now may be faint (WCAG 2, 1.4.3). */
		if (!behind || element.closest(":disabled")) return [];
		colour[3] *= opacity(element);
		return [
			found(
				text,
				colour,
				behind,
				parseFloat(style.fontSize),
				style.fontWeight >= 700,
			),
		];
	}

	function seen() {
		const all = drawn.splice(0),
			texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);

		for (let node = texts.nextNode(); node; node = texts.nextNode()) {
			const e = node.parentElement;

			if (!node.data.trim() || /SCRIPT|STYLE|OPTION/.test(e.tagName)) continue;
			if (e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length)
				all.push(...seenText(e, node.data));
		}
		for (const e of document.querySelectorAll("input, select")) {
			if (!e.checkVisibility() || e.type === "checkbox") continue;
			all.push(...seenText(e, e.value || e.tagName));
			if (e.placeholder) all.push(...seenText(e, e.placeholder, "::placeholder"));
		}
		return all;
	}

	/* Of a text on a canvas each ground is looked at that is behind a third of it or more, as far as
	 * it lies on the canvas: what is beyond the edge nobody sees. */
	function look(ctx, text, x, y) {
		const size = ctx.measureText(text),
			m = ctx.getTransform(),
			at = Math.round(m.a * x + m.e),
			above = Math.round(m.d * (y - size.actualBoundingBoxAscent) + m.f),
			tall = m.d * (size.actualBoundingBoxAscent + size.actualBoundingBoxDescent),
			left = Math.max(0, at),
			top = Math.max(0, above),
			width = Math.min(ctx.canvas.width, at + Math.ceil(m.a * size.width)) - left,
			height = Math.min(ctx.canvas.height, above + Math.ceil(tall)) - top;

		if (!text.trim() || width < 1 || height < 1) return;
		const { data } = ctx.getImageData(left, top, width, height),
			counts = new Map(),
			back = ground(ctx.canvas);
		for (let i = 0; i < data.length; i += 4) {
			const colour = data.slice(i, i + 4).join();

			counts.set(colour, (counts.get(colour) || 0) + 1);
		}
		const colour = [...parts(ctx.fillStyle)];
		colour[3] *= ctx.globalAlpha;
		for (const [behind, n] of counts)
			if (3 * n >= width * height)
				drawn.push(
					found(
						text,
						colour,
						over(behind.split(",").map(Number), back),
						parseFloat(/([\d.]+)px/.exec(ctx.font)[1]),
						/bold|[789]00/.test(ctx.font),
					),
				);
	}

	function watch() {
		const { fillText } = CanvasRenderingContext2D.prototype;

		CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
			look(this, text, x, y);
			fillText.call(this, text, x, y, ...more);
		};
	}

	return { watch, seen };
})();
