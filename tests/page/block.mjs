// SPDX-License-Identifier: MIT
// block.mjs: a block of data for the page, made up: what flame.c writes of a recording.

/* of: functions [name, kind], nodes [parent, function], rows {node, thread, slice, weight}, threads
 * [comm, pid, tid] */
export function block(of) {
	const texts = [""],
		text = (s) => (texts.includes(s) ? texts.indexOf(s) : texts.push(s) - 1);
	const names = of.functions.map(([name]) => text(name));
	const meta = {
		title: "made up",
		icicle: false,
		slices: 1024,
		functions: of.functions.length,
		nodes: of.nodes.length,
		rows: of.rows.length,
		sides: of.sides || [{ name: "one", start: 100, seconds: 2, lost: 0, undecoded: 0 }],
		events: [{ name: "cycles", unit: of.unit || "count", first: false }],
		states: of.states || [{ text: "taken at once", unfinished: false }],
		threads: of.threads.map(([comm, pid, tid]) => [text(comm), pid, tid]),
		texts,
	};
	const head = new TextEncoder().encode(JSON.stringify(meta));
	const words = [
		names,
		names.map(() => 0),
		of.functions.map(([, kind]) => kind),
		of.nodes.map((n) => n[0]),
		of.nodes.map((n) => n[1]),
		of.rows.map((r) => r.node),
		of.rows.map((r) => r.thread),
		of.rows.map((r) => r.slice),
		of.rows.map((r) => (r.side || 0) * 2 ** 24 + (r.state || 0) * 2 ** 16),
		of.rows.map((r) => r.samples || 1),
	].flat();
	const at = (4 + head.length + 7) & ~7,
		weights = (at + 4 * words.length + 7) & ~7;
	const bytes = new ArrayBuffer(weights + 8 * of.rows.length),
		view = new DataView(bytes);

	view.setUint32(0, head.length, true);
	new Uint8Array(bytes, 4).set(head);
	words.forEach((word, i) => view.setUint32(at + 4 * i, word, true));
	of.rows.forEach((r, i) => view.setFloat64(weights + 8 * i, r.weight, true));
	return bytes;
}
