// SPDX-License-Identifier: MIT
// contrast.test.mjs: what is written can be read: WCAG 2.2 AA, 4.5 to 1 for letters, 3 to 1 for the
// outline of what is chosen, in both themes, by the page's own colours.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { M, S } from "../../src/export/flame/state.mjs";
import {
	DIM,
	HUES,
	changeColour,
	channels,
	colour,
	ink,
	kindColour,
	luminance,
} from "../../src/export/flame/colours.mjs";
import { rampColours } from "../../src/export/flame/ramps.mjs";
import { LANE_STATES } from "../../src/export/flame/heat.mjs";

const css = ["flame.css", "panes.css", "places.css"]
	.map((name) =>
		readFileSync(new URL(`../../src/export/flame/${name}`, import.meta.url), "utf8"),
	)
	.join("");
/* Grounds of figures that have changed for sure. */
const CHANGED =
	/td\.(\w+) \{\n\tbackground: color-mix\(in srgb, (#[0-9a-f]{6}) (\d+)%, transparent\)/g;
const changed = new Map(
	[...css.matchAll(CHANGED)].map((m) => [m[1], [hex(m[2]), Number(m[3]) / 100]]),
);
let dark = false;

globalThis.document = { documentElement: { classList: { contains: () => dark } } };

function hex(text) {
	return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255);
}

/* The variables of a theme, as the style sheet has them. */
function theme(selector) {
	const body = css.slice(css.indexOf(selector + " {")).split("}")[0];

	return Object.fromEntries(
		[...body.matchAll(/--(\w+): (#[0-9a-f]{6});/g)].map((m) => [m[1], hex(m[2])]),
	);
}

function contrast(a, b) {
	const [less, more] = [luminance(a), luminance(b)].sort((x, y) => x - y);

	return (more + 0.05) / (less + 0.05);
}

function atLeast(least, a, b, what) {
	assert.ok(
		contrast(a, b) >= least,
		`${what}: ${contrast(a, b).toFixed(2)} to 1, not ${least}`,
	);
}

/* Every colour that a cell can have: of each kind and runtime in all its shades, chosen by a
 * search, of each change. */
function cells() {
	const all = [];

	M.meta = { runtimes: [] };
	for (let hue = 0; hue < 360; hue += 10)
		M.meta.runtimes.push({ hue, saturation: hue % 100 });
	for (let kind = 0; kind < Object.keys(HUES).length + M.meta.runtimes.length; kind++)
		for (let shade = 0; shade < 17; shade++)
			all.push(kindColour(kind, (shade - 8) * 0.9));
	for (let points = -100; points <= 100; points += points > -1 && points < 1 ? 0.05 : 0.5)
		all.push(changeColour(points, Math.sign(points)));
	S.matched = [true];
	all.push(colour({ fn: 0 }));
	S.matched = null;
	return all;
}

for (const [name, selector] of [
	["light", ":root"],
	["dark", ":root.dark"],
]) {
	test(`the ${name} theme's letters and marks`, () => {
		const v = theme(selector);

		assert.equal(Object.keys(v).length, 7);
		for (const ground of ["back", "panel"]) {
			for (const letters of ["text", "faint", "accent"])
				atLeast(4.5, v[letters], v[ground], `${letters} on ${ground}`);
			atLeast(3, v.select, v[ground], `the outline on ${ground}`);
		}
		atLeast(4.5, v.back, v.accent, "a pressed button");
		for (const what of ["more", "less"]) {
			const [ground, part] = changed.get(what);
			const mixed = ground.map((c, i) => part * c + (1 - part) * v.back[i]);

			atLeast(4.5, v.text, mixed, `a figure that is ${what}`);
		}
	});
	test(`the ${name} theme's cells`, () => {
		const v = theme(selector);

		dark = name === "dark";
		const all = cells();

		assert.ok(all.length > 600);
		for (const c of all) {
			const rgb = channels(c),
				dim = rgb.map((x, i) => DIM * x + (1 - DIM) * v.back[i]);

			atLeast(4.5, hex(ink(c)), rgb, `letters on ${c}`);
			atLeast(4.5, v.text, dim, `letters on ${c}, dimmed`);
		}
	});
}

/* A mark in time is 3 to 1 with the pane, or stronger; more weight is always stronger. Of the
 * outline, which is the theme's ground and its opposite, one is 3 to 1 with what is below it. */
for (const [name, selector] of [
	["light", ":root"],
	["dark", ":root.dark"],
])
	test(`the ${name} theme's colours of time`, () => {
		const v = theme(selector);

		for (const { name: state, hue } of LANE_STATES) {
			const of = rampColours(hue, name === "dark").map(channels),
				strong = of.map((c) => contrast(c, v.back));

			of.forEach((c, i) => {
				atLeast(3, c, v.back, `${state}, step ${i}`);
				assert.ok(!i || strong[i] > strong[i - 1], `${state}, step ${i}`);
				assert.ok(
					Math.max(contrast(c, v.select), contrast(c, v.back)) >= 3,
					`the outline on ${state}, step ${i}`,
				);
			});
			assert.ok(strong[64] > 3 * strong[0], `${state}: ${strong[64]}`);
		}
	});

test("colours are read as browsers read them", () => {
	assert.deepEqual(channels("hsl(0 0% 100%)"), [1, 1, 1]);
	assert.deepEqual(
		channels("hsl(120 100% 50%)").map((c) => Math.round(255 * c)),
		[0, 255, 0],
	);
	assert.deepEqual(
		channels("hsl(24 95% 32%)").map((c) => Math.round(255 * c)),
		[159, 66, 4],
	);
	assert.equal(ink("hsl(24 95% 32%)"), "#ffffff");
	assert.equal(ink("hsl(204 70% 66%)"), "#000000");
});
