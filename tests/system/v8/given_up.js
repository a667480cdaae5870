// SPDX-License-Identifier: MIT
// given_up.js: waits() makes the code of outer() void while a call of it is still to return there. first() called it, in the code of outer(),
// and last() is at the end of that: it did not run then.
function spent() { return process.cpuUsage().user + process.cpuUsage().system; }
function spin(us) { let s = 0; for (const end = spent() + us; spent() < end;) for (let i = 0; i < 20000; i++) s = (s * 31 + i) & 0xffff; return s; }
class P { get() { return 1; } }
const p = new P();
const calls = [];
for (let k = 0; k < 6; k++) calls.push(new Function('n', 'return n + ' + k));
calls.push(function waits(n) { P.prototype.get = function () { return 2; }; return spin(400000); });
function first(f, n) { return f(n) + 1; }
function last(n) { let s = 0; for (let i = 0; i < 3; i++) s += n & i; return s; }
function outer(f, n) { let r = first(f, n); r += p.get(); r += last(n); return r; }
let sum = 0;
for (let i = 0; i < 300000; i++) sum += outer(calls[i % 6], i);
console.log(sum + outer(calls[6], 1));
