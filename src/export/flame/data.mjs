// SPDX-License-Identifier: MIT
// data.mjs: the block of data in the page as arrays: see flame.c for its form. Knows nothing of the
// screen.
export async function unpack(text) {
	const packed = atob(text),
		bytes = new Uint8Array(packed.length);

	for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
	return inflate(new Blob([bytes]));
}

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

	for (const field of ["fnName", "fnObject", "fnKind"]) m[field] = take(meta.functions);
	m.parent = take(meta.nodes);
	m.fn = take(meta.nodes);
	for (const field of ["rowNode", "rowThread", "rowSlice", "rowWhat", "rowSamples"])
		m[field] = take(meta.rows);
	at = (at + 7) & ~7;
	m.rowWeight = new Float64Array(buffer, at, meta.rows);
	return m;
}

/* Children of each node, in the order of their names. */
export function index(m) {
	const n = m.parent.length,
		names = Array.from(m.fnName, (text) => m.texts[text]);
	const byName = names
		.map((_, i) => i)
		.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
	const sum = (keys, size, values) => {
		const starts = new Uint32Array(size + 1),
			out = new Uint32Array(values.length);

		for (let i = 0; i < values.length; i++) starts[keys[values[i]] + 1]++;
		for (let i = 0; i < size; i++) starts[i + 1] += starts[i];
		const next = starts.slice();
		for (let i = 0; i < values.length; i++) out[next[keys[values[i]]]++] = values[i];
		return { starts, out };
	};
	const nodes = new Uint32Array(n - 1);

	m.names = names;
	m.rank = new Uint32Array(names.length);
	byName.forEach((fn, rank) => {
		m.rank[fn] = rank;
	});
	for (let i = 1; i < n; i++) nodes[i - 1] = i;
	const ranks = new Uint32Array(n),
		{ fn, rank } = m;
	for (let i = 0; i < n; i++) ranks[i] = rank[fn[i]];
	const sorted = sum(m.parent, n, sum(ranks, names.length, nodes).out);
	m.firstChild = sorted.starts;
	m.children = sorted.out;
	m.hue = Uint8Array.from(names, (name) => {
		let h = 7;
		for (let i = 0; i < name.length; i++) h = (h * 31 + name.charCodeAt(i)) | 0;
		return (h >>> 8) & 15;
	});
}
