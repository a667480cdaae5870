// SPDX-License-Identifier: MIT
// twins.js: two isolates, one after the other, each with a script of the same number, name and length, and a function of the same name
// at the same characters, but on other lines: 200001 and 1. The source
// is so large that V8 does not move it. Each works for 250 ms of CPU time.
const { Worker, isMainThread, workerData } = require('worker_threads');
const twins = (n) => { if (n < 2) new Worker(__filename, { workerData: n }).on('exit', () => twins(n + 1)); };
const cpu = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; };
function call0(twin) { let s = 0; for (let i = 0; i < 20; i++) s += twin(2000 + i); return s; }
function call1(twin) { let s = 0; for (let i = 0; i < 20; i++) s += twin(2000 + i); return s; }
if (isMainThread) {
	twins(0);
} else {
	const source = (workerData ? ' ' : '\n').repeat(200000) + 'function twin(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i); return s; } twin';
	const twin = require('vm').runInThisContext(source, { filename: '/nowhere/twin.js' });
	for (const end = cpu() + 250; cpu() < end;) (workerData ? call1 : call0)(twin);
}
