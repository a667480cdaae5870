// SPDX-License-Identifier: MIT
// built.test.mjs: flame/page.py, which makes one script of the page's modules: a name has one
// meaning in all of them, however it is declared, and what is imported is there.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const PAGE = fileURLToPath(new URL("../../src/export/flame/page.py", import.meta.url));

/* Makes a page of modules, name: text. Returns what was said, or the page's script. */
function made(modules) {
	const dir = mkdtempSync(join(tmpdir(), "seam-page-")),
		at = (name) => join(dir, name),
		names = Object.keys(modules);

	try {
		writeFileSync(
			at("page.html"),
			"@STYLE@@SERVED@@CONNECT@<script>@SCRIPT@</script>@DATA@",
		);
		for (const name of names) writeFileSync(at(name), modules[name]);
		const run = spawnSync(
			"python3",
			[PAGE, ...["page.html", "head", "served", "tail", ...names].map(at)],
			{ encoding: "utf8" },
		);
		if (run.status) return run.stderr;
		return /<script>(.*)<\/script>/s.exec(readFileSync(at("head"), "utf8"))[1];
	} finally {
		rmSync(dir, { recursive: true });
	}
}

/* Ways in which a module has the name `twice` beside others. */
const WAYS = [
	"const twice = 1;",
	"const once = 1, twice = 2;",
	"const once = 1,\n\ttwice = 2 /* of both; */,\n\tlast = 3;",
	"export const once = [1, 2],\n\ttwice = { a: 1, b: [2] };",
	"let once, twice;",
	"const once = (a, other = 3) => a + other, twice = 5;",
	"const once = /[;,/]\\/,/, twice = `;,`;",
	'const once = ";,\\"", twice = \'(\';',
	"// a; b\nconst once = 1, // twice;\n\ttwice = 2;",
	"function twice() {}",
	"async function twice() {}",
	"class twice {}",
];

test("a name that two modules have ends the build, in every form", () => {
	for (const way of WAYS) {
		assert.match(
			made({ "a.mjs": `${way}\n`, "b.mjs": "const b = 1,\n\ttwice = 2;\n" }),
			/b\.mjs: twice is in a\.mjs as well/,
			way,
		);
		assert.match(
			made({ "a.mjs": "let first = 0, twice = 1;\n", "b.mjs": `${way}\n` }),
			/b\.mjs: twice is in a\.mjs as well/,
			way,
		);
	}
});

test("names of what is inside others are their own", () => {
	const script = made({
		"a.mjs":
			"const a = (b, c = 1) => {\n\tconst d = 1, e = 2;\n" +
			"\treturn { d, e, f: [b, c] };\n};\n",
		"b.mjs":
			"const b = 1,\n\tc = 2;\n" +
			"function e() {\n\tlet a = 1;\n\treturn a;\n}\nlet d, f;\n",
	});

	assert.match(script, /^"use strict";\n/);
	assert.doesNotThrow(() => new Function(script));
});

test("what a list exports can be imported, each of it", () => {
	const uses = (name) =>
		`import { ${name} } from "./a.mjs";\nconst used = ${name} + 1;\n`;
	const list = "const a = 1,\n\tb = 2;\n";

	assert.doesNotMatch(made({ "a.mjs": `export ${list}`, "u.mjs": uses("b") }), /export/);
	assert.match(
		made({ "a.mjs": list, "u.mjs": uses("b") }),
		/imports b from a\.mjs, which does not export it/,
	);
	assert.match(
		made({ "a.mjs": `export ${list}`, "u.mjs": uses("c") }),
		/imports c from a\.mjs/,
	);
});

test("names that are not looked for end the build", () => {
	assert.match(made({ "a.mjs": "const { a, b } = { a: 1, b: 2 };\n" }), /one by one/);
	assert.match(made({ "a.mjs": "const a = (1;\n" }), /no end of/);
});
