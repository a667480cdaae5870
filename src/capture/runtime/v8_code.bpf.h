/* SPDX-License-Identifier: MIT */
/*
 * v8_code.bpf.h: where the compiled code begins that holds a pc. V8 keeps no map of its code that
 * could be read here: it is looked for downwards, by what stands at its beginning.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_CODE_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_CODE_BPF_H

#include "capture/runtime/v8_object.bpf.h"

#define V8_CODE_ALIGNED 64ull
#define V8_AGAIN_NS (1ull << 23)
#define V8_CODE_STEPS 512u /* pieces of that size which a function's code may have */

/* Where code begins that holds a pc, as it was found: it is looked at before it is believed. */
struct v8_place {
	__u64 pc;
	__u64 pid;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct v8_place);
	__type(value, __u64);
} v8_starts SEC(".maps");

/* Whether the code is being moved: what describes it already says where to, or still from where,
 * and that is written over its map there. */
INLINE int v8_moves(struct walk *c, __u64 object, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 other = V8_WORD(v->described, V8_AT(code_start)) - V8_AT(code_before), to = 0;

	if (other == ANEW(v->head[0]))
		return 1;
	return !walk_read(c, other, &to, 8, kind) && to == object;
}

/* Whether the code that holds the pc begins at v8->start: v8->found. 1: nothing is there. */
INLINE long v8_begins(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 object = v->start - V8_AT(code_before), at = object + V8_TAG;

	v->found = 0;
	if (walk_read(c, object, v->head, sizeof(v->head), kind))
		return 1; /* below the first page of code there may be nothing */
	if (ANEW(v->head[0]) & (V8_TAG_MASK ^ V8_TAG))
		return 0;
	if (V8_AT(code_described))
		at = ANEW(v->head[1]);
	if ((at & V8_TAG_MASK) != V8_TAG ||
	    walk_read(c, at - V8_TAG, v->described, sizeof(v->described), kind))
		return 0;
	if (V8_AT(code_start) && V8_WORD(v->described, V8_AT(code_start)) != ANEW(v->start) &&
	    !v8_moves(c, object, kind))
		return 0;
	if (v8_type(c, ANEW(v->described[0]), kind) || ANEW(v->type) != V8_AT(type_code))
		return 0;
	v->size = (__u32)(V8_WORD(v->described, V8_AT(code_size)) >> (V8_AT(code_size) & 4) * 8);
	v->found = ANEW(v->pc) - v->start <= ANEW(v->size);
	return 0;
}

/* Looks for the beginning of code a step further down. */
INLINE long v8_seek(struct walk *c, const int kind)
{
	struct v8 *v = V8(c->runtime);

	if (v8_begins(c, kind) || ANEW(v->found))
		return 1;
	v->start -= V8_CODE_ALIGNED;
	return 0;
}

RUNTIME_LOOP(v8_seek, V8_CODE_STEPS)

/* Finds the code that holds v8->pc: v8->found. What is not found is not looked for again at once;
 * where a page may be what is missing, the walk that may sleep looks again. */
INLINE void v8_find(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	struct v8_place place = { .pc = v->pc / V8_CODE_ALIGNED, .pid = p->out.pid };
	__u64 *kept = bpf_map_lookup_elem(&v8_starts, &place), start;

	v->found = 0;
	v->end = p->out.end;
	start = bpf_ktime_get_ns() | 1;
	if (kept) {
		v->start = *kept;
		if (v->start & 1 && !ANEW(p->sleeps) && start - ANEW(v->start) < V8_AGAIN_NS)
			return;
		if (!(v->start & 1))
			v8_begins(c, kind);
	}
	c->w->missing_bytes = 0;
	if (!ANEW(v->found)) {
		v->start = v->pc & ~(V8_CODE_ALIGNED - 1);
		v8_seek_all(c, kind);
		if (ANEW(v->found))
			start = v->start;
		bpf_map_update_elem(&v8_starts, &place, &start, BPF_ANY);
	}
	p->out.end = v->end;
	if (!ANEW(v->found) && ANEW(c->w->missing_bytes) && !ANEW(p->sleeps) && config.defers)
		p->out.end = KWALK_RUNTIME_FAULT;
}

ONCE int v8_find_now(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };

	if (w && p)
		v8_find(&c, WALK_NOW);
	return 0;
}

#endif
