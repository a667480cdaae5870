// SPDX-License-Identifier: MIT
// data.mjs: the block of data in the page as arrays: see flame.c for its form. Knows nothing of the
// screen.
import { indexTree } from "./tree.mjs";

/* The bytes of a text in base64. */
function bytesOf(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const packed = atob(text),
		bytes = new Uint8Array(packed.length);

	for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
	return bytes;
}

export const unpack = (text) => inflate(new Blob([bytesOf(text)]));

export function inflate(blob) {
	return new Response(
		blob.stream().pipeThrough(new DecompressionStream("gzip")),
	).arrayBuffer();
}

export function parse(buffer) {
	const length = new DataView(buffer).getUint32(0, true);
	const meta = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
	let at = (4 + length + 7) & ~7;
	const take = (n) => {
		const array = new Uint32Array(buffer, at, n);
		at += 4 * n;
		return array;
	};
	const m = { meta, texts: meta.texts };

	/* Where nothing was sampled there is no event, either. */
	if (!meta.events.length) meta.events.push({ name: "nothing", unit: "count", first: false });

	for (const field of ["fnName", "fnObject", "fnKind"]) m[field] = take(meta.functions);
	m.chainLength = take(meta.chains);
	m.chained = take(meta.chained);
	for (const field of ["segParent", "segChain"]) m[field] = take(meta.segments);
	for (const field of ["rowSegment", "rowThread", "rowSlice", "rowWhat", "rowSamples"])
		m[field] = take(meta.rows);
	at = (at + 7) & ~7;
	m.rowWeight = new Float64Array(buffer, at, meta.rows);
	return m;
}

/* What is asked for often, of what was read: once for each block. */
export function index(m) {
	const names = Array.from(m.fnName, (text) => m.texts[text]);
	const byName = names
		.map((_, i) => i)
		.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
	const { rowSegment } = m;

	m.names = names;
	m.rank = new Uint32Array(names.length);
	byName.forEach((fn, rank) => {
		m.rank[fn] = rank;
	});
	m.hue = Uint8Array.from(names, (name) => {
		let h = 7;
		for (let i = 0; i < name.length; i++) h = (h * 31 + name.charCodeAt(i)) | 0;
		return (h >>> 8) & 15;
	});
	for (let i = 1; i < rowSegment.length; i++) rowSegment[i] += rowSegment[i - 1];
	indexTree(m);
}
