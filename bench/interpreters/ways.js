// SPDX-License-Identifier: MIT
// ways.js SECONDS: functions that call each other in many ways (judge.py): f<K> calls a w<K>_..., which leads to f<K+1>.
'use strict';
const { Worker, isMainThread } = require('worker_threads');
function spin(n) { let s = n; for (let i = 0; i < 200 + (n & 127); i++) s = (s * 31 + i) & 0xffffff; return s; }

function f0(n) { return ways0[n % ways0.length](n) + spin(n); }
function w0_direct(n) { return f1(n) + spin(n); }
function w0_arrow(n) { const g = (x) => f1(x); return g(n); }
function w0_map(n) { return [n].map(f1)[0]; }
function w0_sort(n) { return [n, n + 1].sort((a, b) => f1(a) - b)[0]; }
function w0_reduce(n) { return [n, n].reduce((a, x) => f1(x)); }
function w0_from(n) { return Array.from([n], f1)[0]; }
function w0_spread(n) { return Math.max(...[n].map((x) => f1(x))); }
function w0_recursion(n) { function deeper(k) { return k ? deeper(k - 1) + 1 : f1(n); } return deeper(15); }
function w0_bind(n) { return f1.bind(null, n)(); }
const ways0 = [w0_direct, w0_arrow, w0_map, w0_sort, w0_reduce, w0_from, w0_spread, w0_recursion, w0_bind];

class A {
	constructor(n, f) { this.n = n; this.f = f; }
	get value() { return this.f(this.n); }
	set value(n) { this.f(n); }
	valueOf() { return this.f(this.n); }
	toString() { return '' + this.f(this.n); }
	toJSON() { return this.f(this.n); }
	*[Symbol.iterator]() { yield this.f(this.n); }
	static made(n, f) { return f(n); }
	#inner(n) { return this.f(n); }
	inner(n) { return this.#inner(n); }
}
class B extends A { constructor(n, f) { super(n, f); this.r = f(n); } inner(n) { return super.inner(n); } }
function f1(n) { return ways1[Math.floor(n / 9) % ways1.length](n) + spin(n); }
function w1_getter(n) { return new A(n, f2).value; }
function w1_setter(n) { new A(0, f2).value = n; return n; }
function w1_value(n) { return +new A(n, f2); }
function w1_text(n) { return `${new A(n, f2)}`.length; }
function w1_json(n) { return JSON.stringify(new A(n, f2)).length; }
function w1_iterator(n) { let s = 0; for (const x of new A(n, f2)) s += x; return s; }
function w1_static(n) { return A.made(n, f2); }
function w1_private(n) { return new B(n, (x) => f2(x)).r; }
function w1_super(n) { return new B(n, f2).n; }
const ways1 = [w1_getter, w1_setter, w1_value, w1_text, w1_json, w1_iterator, w1_static, w1_private, w1_super];

function f2(n) { return ways2[Math.floor(n / 81) % ways2.length](n) + spin(n); }
function w2_proxy(n) { return new Proxy({}, { get: () => f3(n) }).x; }
function w2_regex(n) { return 'abc'.replace(/b/, () => f3(n)).length; }
function w2_parse(n) { return JSON.parse('1', () => f3(n)); }
function w2_eval(n) { return (0, eval)('(f, n) => f(n)')(f3, n); }
function w2_generator(n) { function *g() { const x = yield 1; yield f3(x); } const i = g(); i.next(); return i.next(n).value; }
function w2_catch(n) { try { throw n; } catch (e) { return f3(e); } }
function w2_finally(n) { try { return n; } finally { f3(n); } }
function w2_reflect(n) { return Reflect.apply(f3, null, [n]); }
function w2_collection(n) { let r = 0; new Map([[n, n]]).forEach((x) => { r = f3(x); }); return r; }
const ways2 = [w2_proxy, w2_regex, w2_parse, w2_eval, w2_generator, w2_catch, w2_finally, w2_reflect, w2_collection];

function f3(n) { return ways3[Math.floor(n / 729) % ways3.length](n) + spin(n); }
function w3_async(n) { let r; (async () => { r = f4(n); })(); return r; }
function w3_promise(n) { let r; new Promise((done) => { r = f4(n); done(); }); return r; }
function w3_typed(n) { return Int32Array.of(n).map((x) => f4(x))[0]; }
function w3_primitive(n) { return +{ [Symbol.toPrimitive]: () => f4(n) }; }
function w3_arguments(n) { return (function () { return f4(arguments[0]); })(n, 1, 2); }
function w3_template(n) { const tag = (s, x) => f4(x); return tag`a${n}`; }
const odd = [1, 'a', {}, [], 2n];
function typed(o, n) { return typeof o === 'number' ? f4(n) : typeof o === 'string' ? f4(n + 1) : f4(n + 2); }
function w3_deopt(n) { return typed(n % 4099 ? 1 : odd[n % 5], n); }
function w3_memory(n) { const a = []; for (let i = 0; i < 20; i++) a.push({ i, b: [i] }); return f4(n) + a.length; }
const ways3 = [w3_async, w3_promise, w3_typed, w3_primitive, w3_arguments, w3_template, w3_deopt, w3_memory];

function f4(n) { return spin(n) + spin(n + 1); }

const end = Date.now() + 1000 * Number(process.argv[2]);
if (isMainThread) { new Worker(__filename, { argv: process.argv.slice(2) }); console.log('ready'); }
for (let n = 0; (n & 255) !== 0 || Date.now() < end; n++) f0((n * 7919) & 0x3fffffff);
process.exit(0);
