/* SPDX-License-Identifier: MIT */
/*
 * v8_bytecode.bpf.h: which bytecode an interpreted frame runs. It is sent with the function's key
 * and the table of its source positions.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_BYTECODE_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_BYTECODE_BPF_H

#include "capture/runtime/v8_names.bpf.h"
#include "capture/runtime/v8_source.bpf.h"

#define V8_BYTECODES_LEAST 40u /* bytes of a bytecode array's head that are looked at */

/* Whether the frame that is looked at, v8->frame, is an interpreter's with a source position table,
 * whose head is in v8->head and its address in v8->table. Which bytecode it runs is in
 * v8->at: 1 + its offset. */
INLINE int v8_interpreted(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 offset = v->frame[0], array = v->frame[1];

	if ((__u32)offset || (array & V8_TAG_MASK) != V8_TAG ||
	    walk_read(c, array - V8_TAG, v->described, V8_BYTECODES_LEAST, kind) ||
	    v8_type(c, ANEW(v->described[0]), kind) || ANEW(v->type) != V8_AT(type_bytecodes))
		return 0;
	v->at = (offset >> V8_SHIFT) - V8_AT(bytecodes_data) + V8_TAG + 1;
	v->table = V8_WORD(v->described, V8_AT(bytecodes_positions));
	if (ANEW(v->at) - 1 >= ANEW(v->described[1]) >> V8_SHIFT ||
	    ANEW(v->table) == ANEW(v->no_table) || (ANEW(v->table) & V8_TAG_MASK) != V8_TAG ||
	    walk_read(c, v->table - V8_TAG, v->head, sizeof(v->head), kind) ||
	    v8_type(c, ANEW(v->head[0]), kind))
		return 0;
	if (ANEW(v->type) == V8_AT(type_bytes))
		return 1;
	v->no_table = v->table;
	return 0;
}

/* The same, with its key, v8->kept_key. 0: none is known; 1: it was told; 2: it is to be. */
ONCE int v8_bytecode(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };
	__u32 end;
	int r = 0;

	if (!w || !p)
		return 0;
	end = p->out.end;
	if (v8_interpreted(&c, WALK_NOW)) {
		p->told.key = runtime_mix(p->told.key, V8(p)->described[1]);
		p->told.key = runtime_mix(p->told.key, V8(p)->head[1]);
		V8(p)->kept_key = p->told.key;
		r = runtime_told(p) ? 1 : 2;
	}
	w->missing_bytes = 0;
	p->out.end = end;
	return r;
}

/* Sends the function that was found again, with its table. */
ONCE int v8_tell_bytecodes(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };
	const __u64 most = KWALK_CODE_LINES - sizeof(struct v8_told);
	struct v8 *v;
	__u64 bytes;
	__u32 n;

	if (!w || !p)
		return 0;
	v = V8(p);
	p->told.key = v->kept_key;
	bytes = v->kept_bytes;
	n = bytes < most ? (__u32)bytes : (__u32)most;
	v8_source(&c, WALK_NOW);
	v->source.rows = V8_AT(rows);
	v->source.bytecodes = bytes > most ? V8_BYTECODES_CUT : V8_BYTECODES;
	FORGET(n);
	if (n > KWALK_CODE_LINES - sizeof(v->source))
		return 0;
	if (walk_read(&c, v->table - V8_TAG + 16, p->told.lines + sizeof(v->source), n, WALK_NOW)) {
		w->missing_bytes = 0;
		return 0;
	}
	bpf_probe_read_kernel(p->told.lines, sizeof(v->source), &v->source);
	runtime_tell_filled(p, sizeof(v->source) + n, V8_LINES_TOLD);
	return runtime_told(p);
}

/* Where an interpreted frame of this function is, whose key is in what is told and becomes another;
 * 0: it is not known. Only where the task is the one that runs. */
INLINE __u32 v8_bytecode_at(struct walk *c, __u64 function)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 key = p->told.key, at;
	int r = v8_bytecode(c->w, p);

	at = ANEW(v->at);
	if (r == 2) {
		v->kept_bytes = v->head[1] >> V8_SHIFT;
		v->kept_at = at;
		r = !v8_function(c, function, WALK_NOW) && v8_tell_bytecodes(c->w, p);
		at = ANEW(v->kept_at);
	}
	p->told.key = r ? v->kept_key : key;
	return r ? (__u32)at : 0;
}

#endif
