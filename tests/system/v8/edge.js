// SPDX-License-Identifier: MIT
// Functions at the very end of a chunk of V8's heap with nothing mapped behind it. V8 says where they are: node --expose-gc
// --allow-natives-syntax edge.js MS FILE >>FILE, milliseconds of CPU time. Prints how many there were, on stderr.
'use strict';
const fs = require('fs');
const CHUNK = 1 << 18, READ = 64, FUNCTIONS = 200000, STEP = 256;

function work(n) {
	let x = n;
	for (let i = 0; i < 3000; i++)
		x = (x * 31 + i) | 0;
	return x;
}
/* A function without a prototype has 56 bytes; what is between moves the next by other sizes. */
const all = [], between = [];
for (let i = 0; i < FUNCTIONS; i++) {
	all.push((n) => work(n) + i);
	if (i % 1000 < i % 7)
		between.push({ a: i });
}
global.gc();
global.gc();

/* Where these functions are. */
function places(indices) {
	const before = fs.statSync(process.argv[3]).size;
	for (const i of indices)
		%DebugPrint(all[i]);
	const text = fs.readFileSync(process.argv[3]).subarray(before).toString('latin1');
	return [...text.matchAll(/DebugPrint: 0x([0-9a-f]+)/g)].map((m) => parseInt(m[1], 16) - 1);
}
const chunk = (at) => at - at % CHUNK;
const probes = [];
for (let i = 0; i < FUNCTIONS; i += STEP)
	probes.push(i);
const at = places(probes);
/* The last of each chunk is between two of which the second is in another. */
let found = probes.slice(1).map((_, i) => ({ low: probes[i], at: at[i], next: at[i + 1] })).filter((p) => chunk(p.at) !== chunk(p.next));
for (let step = STEP / 2; step >= 1; step /= 2) {
	const middle = places(found.map((p) => p.low + step));
	found.forEach((p, i) => {
		if (chunk(middle[i]) === chunk(p.at)) {
			p.low += step;
			p.at = middle[i];
		}
	});
}
const maps = fs.readFileSync('/proc/self/maps', 'latin1').split('\n').map((l) => l.split(' ')[0].split('-').map((a) => parseInt(a, 16)));
found = found.filter((p) => p.at + READ > chunk(p.at) + CHUNK && !maps.some(([from, to]) => from <= chunk(p.at) + CHUNK && chunk(p.at) + CHUNK < to));
const last = found.map((p) => all[p.low]);
console.error(last.length);
function cpu() {
	const u = process.cpuUsage();
	return (u.user + u.system) / 1000;
}
function main() {
	const end = cpu() + Number(process.argv[2]);
	while (last.length && cpu() < end)
		for (const f of last)
			f(1);
}
main();
