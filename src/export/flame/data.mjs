// SPDX-License-Identifier: MIT
// data.mjs: the block of data in the page as arrays: see flame.c for its form. Knows nothing of the
// screen.

/* The bytes of a text in base64. */
function bytesOf(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const packed = atob(text),
		bytes = new Uint8Array(packed.length);

	for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
	return bytes;
}

export const unpack = (text) => inflate(bytesOf(text));

/* A gzip member of less than 4 GB as it was. It goes piece by piece into room that is as large as
 * the member's end says: a Response would take it by way of another process. */
export async function inflate(bytes) {
	const stream = new DecompressionStream("gzip"),
		writer = stream.writable.getWriter(),
		reader = stream.readable.getReader();
	const end = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4),
		whole = new Uint8Array(end.getUint32(0, true));
	let at = 0;

	/* What is wrong is told by the reader. */
	for (const done of [writer.write(bytes), writer.close()]) done.catch(() => {});
	for (;;) {
		const { done, value } = await reader.read();

		if (done) return whole.buffer;
		whole.set(value, at);
		at += value.length;
	}
}

/* The arrays of a block, by how many bytes a number of them has. */
const ARRAYS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array };

export function parse(buffer) {
	const view = new DataView(buffer),
		length = view.getUint32(0, true);
	const meta = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
	let at = (4 + length + 7) & ~7;
	const take = (n) => {
		const width = view.getUint32(at, true),
			array = new ARRAYS[width](buffer, at + 8, n);

		at = (at + 8 + width * n + 7) & ~7;
		return array;
	};
	const m = { meta, texts: meta.texts };

	/* Where nothing was sampled there is no event, either. */
	if (!meta.events.length) meta.events.push({ name: "nothing", unit: "count", first: false });

	for (const field of ["fnName", "fnObject", "fnKind"]) m[field] = take(meta.functions);
	m.chainLength = take(meta.chains);
	m.chained = take(meta.chained);
	for (const field of ["segParent", "segChain"]) m[field] = take(meta.segments);
	for (const field of [
		"rowSegment",
		"rowThread",
		"rowSlice",
		"rowWhat",
		"rowSamples",
		"rowWeight",
	])
		m[field] = take(meta.rows);
	return m;
}

/* What is asked for often, of what was read: once for each block. */
export function index(m) {
	const names = Array.from(m.fnName, (text) => m.texts[text]);
	const byName = names
		.map((_, i) => i)
		.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
	const { rowSegment, segParent } = m;

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
	/* The block has how many segments there are between a row and the one before, and between a
	 * segment and its parent. */
	m.rowSegment = new Uint32Array(rowSegment.length);
	for (let i = 0, s = 0; i < rowSegment.length; i++) m.rowSegment[i] = s += rowSegment[i];
	m.segParent = Uint32Array.from(segParent, (above, s) => s - above);
}
