/* SPDX-License-Identifier: MIT */
/*
 * v8_compiled.bpf.h: which functions are inlined in compiled code, and at which place of the code a
 * frame is. The recorder knows from both which functions run.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_COMPILED_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_COMPILED_BPF_H

#include "capture/runtime/v8_calls.bpf.h"
#include "capture/runtime/v8_code.bpf.h"
#include "capture/runtime/v8_names.bpf.h"
#include "capture/runtime/v8_source.bpf.h"

#define V8_KIND_MASK 15u

/* The key of one function that is inlined in the code, which is told; 0: it is V8's own. 1: it
 * cannot be read now. */
INLINE long v8_inline_key(struct walk *c, __u32 i, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 literal = 0;
	long r;

	if (walk_read(c, v->positions + 16 + (__u64)i * 16, v->head, 16, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	v->compiled.inlined[i].position = v->head[0];
	/* -1: the same function again */
	if ((__u32)ANEW(v->head[1]) == ~0u)
		return 0;
	v->compiled.inlined[i].key = 0;
	if (runtime_u64(c, v->literals + 16 + (__u64)(__u32)v->head[1] * 8, &literal, kind))
		return 1;
	literal &= ~2ull; /* it may be weak */
	if (v8_object(c, literal, v->head, 16, kind) || v8_type(c, ANEW(v->head[0]), kind))
		return 1;
	if (V8_AT(type_wrapper) && ANEW(v->type) == V8_AT(type_wrapper))
		literal = v->head[1];
	r = v8_shared_any(c, literal, kind);
	if (r == 1)
		return 1;
	if (r)
		return 0;
	v8_tell(c, kind);
	v->compiled.inlined[i].key = p->told.key;
	return 0;
}

/* The next of them. 1 ends it: there is none, or v8->n_inlined of them are all that is known. */
INLINE long v8_inline(struct walk *c, const int kind)
{
	struct v8 *v = V8(c->runtime);
	__u32 i = ANEW(v->n_inlined);

	if (i >= ANEW(v->compiled.n) || i >= V8_INLINED_MOST)
		return 1;
	FORGET(i);
	i &= V8_INLINED_ROOM - 1;
	if (i >= V8_INLINED_MOST)
		return 1;
	v->compiled.inlined[i].key = v->compiled.key;
	if (v8_inline_key(c, i, kind))
		return 1;
	v->n_inlined++;
	return 0;
}

RUNTIME_LOOP(v8_inline, V8_INLINED_MOST)

/* What the code in v8->described was made of. 2: it is nothing that was inlined into. */
INLINE long v8_made(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 deopt = V8_WORD(v->described, V8_AT(code_deopt)), bytes = 0;
	__u32 kind_of;

	v->table = V8_WORD(v->described, V8_AT(code_positions));
	v->compiled.n = v->n_inlined = 0;
	if ((deopt & V8_TAG_MASK) != V8_TAG || (ANEW(v->table) & V8_TAG_MASK) != V8_TAG)
		return 2;
	if (v8_object(c, deopt, v->deopt, 16, kind) || v8_type(c, ANEW(v->deopt[0]), kind))
		return 1;
	if (!ANEW(v->type) ||
	    (ANEW(v->type) != V8_AT(type_arrays[0]) && ANEW(v->type) != V8_AT(type_arrays[1]) &&
	     ANEW(v->type) != V8_AT(type_arrays[2])))
		return 2;
	if (ANEW(v->deopt[1]) >> V8_SHIFT <= V8_AT(deopt_inlined))
		return 2;
	deopt += 16 - V8_TAG;
	if (walk_read(c, deopt + V8_AT(deopt_literals) * 8, &v->literals, 8, kind) ||
	    walk_read(c, deopt + V8_AT(deopt_inlined) * 8, &v->positions, 8, kind) ||
	    walk_read(c, v->table - V8_TAG + 8, &v->base, 8, kind) ||
	    walk_read(c, v->positions - V8_TAG + 8, &bytes, 8, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	v->literals -= V8_TAG;
	v->positions -= V8_TAG;
	v->compiled.n = (__u32)(bytes >> V8_SHIFT) / 16;
	bytes = ANEW(v->base) >> V8_SHIFT;
	v->compiled.rows = V8_AT(rows);
	kind_of = (__u32)(V8_WORD(v->described, V8_AT(code_flags)) >> (V8_AT(code_flags) & 4) * 8);
	v->compiled.placeless = (kind_of & V8_KIND_MASK) == V8_AT(kind_maglev);
	v->compiled.cut = bytes > V8_TABLE_MOST || ANEW(v->compiled.n) > V8_INLINED_MOST;
	v->compiled.bytes = bytes > V8_TABLE_MOST ? V8_TABLE_MOST : (__u32)bytes;
	return 0;
}

ONCE int v8_made_now(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };

	return w && p ? (int)v8_made(&c, WALK_NOW) : 1;
}

/* Sends what is told of the code, whose key is in what is told. */
INLINE long v8_tell_code(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u32 n = ANEW(v->compiled.bytes);

	if (runtime_told(p))
		return 0;
	FORGET(n);
	if (n > V8_TABLE_MOST)
		return 0;
	if (n && walk_read(c, v->table - V8_TAG + 16, v->compiled.table, n, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	bpf_probe_read_kernel(p->told.lines, sizeof(v->compiled), &v->compiled);
	p->told.file.bytes = p->told.name.bytes = 0; /* the function has them */
	v->script_of = 0;
	return runtime_tell_filled(c->runtime, sizeof(v->compiled) - V8_TABLE_MOST + n,
	                           V8_LINES_COMPILED);
}

ONCE int v8_tell_code_now(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };

	return w && p ? (int)v8_tell_code(&c, WALK_NOW) : 1;
}

/* Tells of the functions that are inlined in the code that was found, and of it. Where that cannot
 * be done now v8->found is 0. 1: the walk has ended. */
INLINE long v8_tell_inlined(struct walk *c, __u64 key, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);

	v->compiled.key = key;
	v8_inline_all(c, kind);
	if (ANEW(p->out.end) == KWALK_RUNTIME_FAULT)
		return 1;
	if (ANEW(v->n_inlined) < ANEW(v->compiled.n) && ANEW(v->n_inlined) < V8_INLINED_MOST) {
		p->told.key = key;
		v->found = 0;
		p->out.end = KWALK_RUNTIME_BUILDING;
		return 0;
	}
	p->told.key = v->base;
	return kind == WALK_NOW ? v8_tell_code_now(c->w, p) : v8_tell_code(c, kind);
}

/* The key of the code that holds the pc of a function's frame, in what is told, and v8->found; not
 * found: the function's own is there. 1: the walk has ended. */
INLINE long v8_compiled(struct walk *c, __u64 pc, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 key = p->told.key;
	__u32 at = (__u32)(pc >> 6 ^ pc >> 10) & (V8_KNOWN - 1);
	struct v8_known *known;
	long r;

	FORGET(at);
	known = &v->known[at & (V8_KNOWN - 1)];
	v->pc = pc;
	if (pc - known->start < known->size) {
		p->told.key = known->key;
		v->start = known->start;
		v->found = 1;
		v->given_up = *known;
		return 0;
	}
	if (kind == WALK_NOW)
		v8_find_now(c->w, p);
	else
		v8_find(c, kind);
	if (!ANEW(v->found)) { /* functions may be inlined in it */
		if (ANEW(p->out.end) == KWALK_RUNTIME_FAULT)
			return 1;
		p->out.end = KWALK_RUNTIME_BUILDING;
		return 0;
	}
	r = kind == WALK_NOW ? v8_made_now(c->w, p) : v8_made(c, kind);
	if (r == 1)
		return 1;
	v->found = !r;
	if (r)
		return 0;
	p->hash = runtime_mix(runtime_mix(key, v->start), (__u64)v->size << 32 | v->compiled.n);
	p->hash = runtime_mix(p->hash, ANEW(v->base));
	v->base = p->hash;
	p->told.key = p->hash;
	if (!runtime_told(p)) {
		r = v8_tell_inlined(c, key, kind);
		if (r || !ANEW(v->found))
			return r;
	}
	p->told.key = v->base;
	known->start = v->start;
	known->size = v->size;
	known->key = v->base;
	known->maglev = v->compiled.placeless;
	v->given_up = *known;
	return 0;
}

/*
 * The place of the frame that is walked in the code that runs its function, and the key of that in
 * what is told; 0, and the function's own key: it is not known. *ended: the walk has.
 */
INLINE __u32 v8_compiled_at(struct walk *c, long *ended, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 key = p->told.key;
	__u32 at;
	int r;

	v->found = 0;
	*ended = v8_compiled(c, c->w->regs[REG_IP], kind);
	if (*ended || !ANEW(v->found))
		return 0;
	at = (__u32)(c->w->regs[REG_IP] - ANEW(v->start));
	if (c->w->exact)
		return at | V8_AT_EXACT;
	r = v8_given_up(c, kind);
	if (!r)
		return at;
	if (r < 0)
		at = 0;
	else if (kind == WALK_NOW)
		at = (__u32)v8_returns_to_now(c->w, p, at);
	else
		at = v8_returns_to(c, &v->given_up, at, kind);
	if (at)
		return at;
	p->told.key = key;
	*ended = p->out.end == KWALK_RUNTIME_FAULT;
	if (!*ended)
		p->out.end = KWALK_RUNTIME_BUILDING;
	return 0;
}

#endif
