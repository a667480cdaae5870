// SPDX-License-Identifier: MIT
// Chains of JavaScript functions that are known: each way ends in a function that only works, and notes once, by V8's own stack, which
// functions led there. Usage: node truth_program.js MS NOTES: milliseconds of CPU for each way, and the file for the notes.
'use strict';
const fs = require('fs');
const each = Number(process.argv[2]) || 300;
const notes = [];
const noted = new Set();

/* The functions of this file (and of evals) on the stack, the outermost first. */
function note(way) {
	if (noted.has(way))
		return;
	noted.add(way);
	const before = Error.prepareStackTrace, limit = Error.stackTraceLimit;
	Error.stackTraceLimit = 200;
	Error.prepareStackTrace = (_, sites) => sites;
	const sites = new Error().stack.slice(1);
	Error.prepareStackTrace = before;
	Error.stackTraceLimit = limit;
	const names = sites.filter((s) => !s.isAsync() && !s.isNative() && (s.isEval() || s.getFileName() === __filename))
		.map((s) => (s.getFunctionName() || '(anonymous)') + '@' + s.getLineNumber());
	notes.push(way + '\t' + names.reverse().join('\t'));
}
function work(way, n) {
	note(way);
	let x = n;
	for (let i = 0; i < 3000; i++)
		x = (x * 31 + i) | 0;
	return x;
}
function cpu() {
	const u = process.cpuUsage();
	return (u.user + u.system) / 1000;
}
function until(f) {
	const end = cpu() + each;
	let x = 0;
	while (cpu() < end)
		for (let i = 0; i < 20; i++)
			x += f(i);
	return x;
}

/* recursion, and functions of three kinds that call each other */
function down(n) {
	if (n)
		return 1 +
			down(n - 1);
	return work('recursion', n);
}
class Base {
	rise(n) {
		let sum = 1;
		for (const way of [n])
			sum += this.over(way);
		return sum;
	}
}
class Derived extends Base {
	over(n) { return this.value + n; }
	get value() { return Derived.fixed(3); }
	static fixed(n) { return new Derived().made(n); }
	made(n) {
		/* a comment */
		return work('classes', n);
	}
}
const closure = ((k) => function inner(n) { return ((m) => work('closures', m + k))(n); })(5);

/* from C++ and from builtins */
function sorted(n) {
	return [3, 1, n]
		.sort(function compare(a, b) {
			let more = 0;
			for (let i = 0; i < 2; i++)
				more += i &&
					work('sort', a);
			return a - b;
		})[0];
}
function mapped(n) { return [n].map(function mapper(v) { return work('map', v); })[0]; }
function revived(n) { return JSON.parse('[1]', function reviver(k, v) { work('reviver', n); return v; })[0]; }
function replaced() { return 'ab'.replace(/b/, function replacer() { return String(work('replace', 1)); }).length; }

/* generators, eval, exceptions, rest of arguments, bind, getters by proxies */
function *numbers(n) { yield work('generator', n); }
function generated(n) { for (const v of numbers(n)) return v; return 0; }
const made = new Function('work', 'n', 'return work("function", n);');
function built(n) { return made(work, n); }
function evaluated(n) { return eval('(function evil(n) { return work("eval", n); })')(n); }
function thrower(n) { throw new Error('x' + n); }
function caught(n) {
	try {
		return thrower(n);
	} catch (e) {
		return work('caught', n);
	} finally {
		n++;
	}
}
function spread(...all) { return work('spread', all.length); }
function applied(n) { return spread.apply(null, [n, 1, 2]); }
const bound = function target(n) { return work('bound', n); }.bind(null, 1);
function asked(n) { return new Proxy({}, { get(t, k) { return work('proxy', n); } }).x; }

/* functions that move and die: each is made anew, beside garbage */
function churn(n) {
	const kept = [];
	for (let i = 0; i < 200; i++)
		kept.push(function () { return i; }, { a: [i] });
	return (function fresh(m) { return work('churn', m + kept.length); })(n);
}
/* and code that is given up again and again: types change */
function shape(o) { return o.a + o.b; }
let turn = 0;
function given(n) {
	turn++;
	const o = turn % 3000 < 1500 ? { a: n, b: 1 } : turn % 3000 < 2000 ? { b: 'x', a: n } : { c: 1.5, b: 2.5, a: n };
	return shape(o).length | work('deoptimized', n);
}

const ways = [() => down(25), (n) => new Derived().rise(n), (n) => closure(n), sorted, mapped, revived, replaced, generated, built,
	evaluated, caught, applied, bound, asked, churn, given];
function run() {
	for (const way of ways)
		until(way);
}
async function later(n) { await null; return work('async', n); }
async function waits(n) { return await later(n) + 1; }
async function main() {
	run();
	const end = cpu() + each;
	while (cpu() < end)
		await waits(1);
	setTimeout(function timer() {
		until(() => work('timer', 1));
		fs.writeFileSync(process.argv[3], notes.join('\n') + '\n');
	}, 1);
}
main();
