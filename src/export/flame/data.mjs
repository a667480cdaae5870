// SPDX-License-Identifier: MIT
// data.mjs: the block of data in the page as arrays: see flame.c for its form. Knows nothing of the
// screen.

/* How many bytes a gzip member of less than 4 GB has when it is unpacked, as its end says. */
export const unpackedSize = (bytes) =>
	new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4).getUint32(0, true);

/* What compressed pieces of a gzip member are together, in room of this size. It is told how large
 * that is, because memory that a browser has not touched before is slow; a Response would take
 * the bytes by way of another process. */
export async function inflate(compressed, size) {
	const stream = new DecompressionStream("gzip"),
		writer = stream.writable.getWriter(),
		reader = stream.readable.getReader(),
		whole = new Uint8Array(size);
	let at = 0;
	const write = async () => {
		for await (const piece of compressed) await writer.write(piece);
		await writer.close();
	};

	/* What is wrong is told by the reader. */
	write().catch((e) => writer.abort(e).catch(() => {}));
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
		"rowStep",
		"rowThread",
		"rowSlice",
		"rowWhat",
		"rowSamples",
		"rowWeight",
	])
		m[field] = take(meta.rows);
	for (const [i, field] of ["whatEvent", "whatState", "whatSide"].entries())
		m[field] = Uint32Array.from(meta.whats, (what) => what[i]);
	m.unit = meta.unit;
	return m;
}

/* Room for as many numbers of 4 bytes: what the block has already, if they have as many there. */
const roomFor = (array) =>
	array instanceof Uint32Array ? array : new Uint32Array(array.length);

/* What is asked for often, of what was read: once for each block. */
export function index(m) {
	const names = Array.from(m.fnName, (text) => m.texts[text]);
	const byName = names
		.map((_, i) => i)
		.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
	const { segParent } = m;

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
	/* The block has how many segments there are between a segment and its parent. */
	m.segParent = roomFor(segParent);
	for (let s = 0; s < segParent.length; s++) m.segParent[s] = s - segParent[s];
}
