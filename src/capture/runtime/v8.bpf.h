/* SPDX-License-Identifier: MIT */
/*
 * v8.bpf.h: JavaScript functions in a native stack, by the offsets of the process's V8
 * (runtimes/v8_layout.h).
 *
 * Code that V8 makes, and its builtins, keep frame pointers. A function's frame has its context and
 * the function below its frame pointer, whichever compiler made its code; all other frames have a
 * small even number there. So the native walk asks here at each frame that has no unwind
 * information. Objects may be moved at any time but while their thread stands still: nothing of
 * another walk is believed, and each object is asked for its type.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_BPF_H

#define RUNTIME_FRAMES v8_frames
#define RUNTIME_UNDESCRIBED v8_native
#define RUNTIME_OWN_WORDS 4096u
#define RUNTIME_AGAIN

#include "capture/runtime/runtime.bpf.h"
#include "capture/runtime/v8_names.bpf.h"

/* The same, once in a walk. */
INLINE long v8_function_met(struct walk *c, __u64 function, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct runtime_met *m = runtime_met(p, function);
	long r;

	if (m->code == function) {
		p->told.key = m->key;
		return m->key ? 0 : 2;
	}
	r = v8_function(c, function, kind);
	if (r == 1)
		return 1;
	if (r)
		p->told.key = 0;
	else
		v8_tell(c, kind);
	runtime_meet(p, m, function);
	return r;
}

/* ---- bytecodes ---- */

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

/* ---- compiled code ---- */

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
	    (ANEW(v->head[0]) & V8_TAG_MASK ||
	     V8_WORD(v->described, V8_AT(code_start)) != v->head[0] + V8_AT(code_before)))
		return 0; /* and it has not been moved to there */
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

/* Nothing is known of the code that runs a function: if it is compiled, that is said, as functions
 * may be inlined in it. What keeps bytecodes in its frame is not. 1: the walk has ended. */
INLINE long v8_unknown(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);

	if (ANEW(p->out.end) == KWALK_RUNTIME_FAULT)
		return 1;
	v->end = p->out.end;
	if ((ANEW(v->frame[1]) & V8_TAG_MASK) == V8_TAG &&
	    !walk_read(c, v->frame[1] - V8_TAG, v->head, 8, kind) &&
	    !v8_type(c, ANEW(v->head[0]), kind) && ANEW(v->type) == V8_AT(type_bytecodes))
		p->out.end = v->end;
	else
		p->out.end = KWALK_RUNTIME_BUILDING;
	return 0;
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
		return 0;
	}
	if (kind == WALK_NOW)
		v8_find_now(c->w, p);
	else
		v8_find(c, kind);
	if (!ANEW(v->found))
		return v8_unknown(c, kind);
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
	return 0;
}

#define V8_GIVES_UP 0x55ff41u /* call *n(%r13) */

/* Whether the code was given up behind a call: V8 made that return to a call of its own behind all
 * of the code, which says nothing of the place where the function is. */
INLINE int v8_given_up(struct walk *c, const int kind)
{
	struct v8 *v = V8(c->runtime);

	return !c->w->exact && !walk_read(c, c->w->regs[REG_IP], v->head, 8, kind) &&
	       (ANEW(v->head[0]) & 0xffffff) == V8_GIVES_UP;
}

/* The native frame that is being walked runs this function. 1: nothing more is to be asked. */
INLINE long v8_put(struct walk *c, __u64 function, __u64 mark, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u32 n, at = 0, end = p->out.end;
	long r;

	if (runtime_full(p, kind))
		return 1;
	r = v8_function_met(c, function, kind);
	/* What waits for a page is walked again. What is no function is left out, and nothing is
	 * amiss where an object's own code has anything else there. */
	if (r == 1 && ANEW(p->out.end) == KWALK_RUNTIME_FAULT)
		return 1;
	if (r == 1 && !(c->w->at.flags & KWALK_MAY_GUESS))
		p->out.end = end;
	if (r == 1)
		return 0;
	if (r)
		return 0;
	if (ANEW(V8(p)->stage) == V8_STANDS && c->w->at.flags & KWALK_MAY_GUESS) {
		V8(p)->found = 0;
		if (v8_given_up(c, kind))
			p->out.end = KWALK_RUNTIME_BUILDING;
		else if (v8_compiled(c, c->w->regs[REG_IP], kind))
			return 1;
		if (ANEW(V8(p)->found))
			at = (__u32)(c->w->regs[REG_IP] - ANEW(V8(p)->start)) |
			     (c->w->exact ? V8_AT_EXACT : 0);
	}
	/* Before its first call the interpreter does not note where it is. */
	if (ANEW(V8(p)->stage) == V8_STANDS && !(c->w->at.flags & KWALK_MAY_GUESS) &&
	    kind == WALK_NOW && (c->w->n > 2 || ANEW(p->out.n)))
		at = v8_bytecode_at(c, function);
	if (ANEW(p->out.end) == KWALK_RUNTIME_NONE)
		p->out.end = KWALK_RUNTIME_COMPLETE;
	runtime_put(p, p->told.key, at, RUNTIME_FRAME_CODE);
	n = ANEW(p->out.n);
	FORGET(n);
	n &= KWALK_RUNTIME_ROOM - 1;
	runtime_put(p, mark, 0, RUNTIME_FRAME_LOOP);
	p->frames[n].native = (__u16)(c->w->n - 1);
	return 0;
}

/* ---- frames ---- */

INLINE __u64 v8_code(struct v8 *v, const int at)
{
	return *(volatile __u64 *)((char *)v->code + V8_CODE_BEFORE + at);
}

INLINE int v8_enters(struct v8 *v, const int at)
{
	return (v8_code(v, at) & V8_ENTRY_MASK) == V8_ENTRY;
}

/* Compiled functions ask first whether they were given up: mov -n(%rcx),%rbx; testb; jump. */
INLINE int v8_enters_later(struct v8 *v)
{
	return (v8_enters(v, 14) && (v8_code(v, 0) & 0xffffff) == 0x598b48) ||
	       (v8_enters(v, 15) && (v8_code(v, 0) & 0xffffff) == 0x598b48) ||
	       (v8_enters(v, 10) && (v8_code(v, 0) & 0xffff) == 0x43f6) ||
	       (v8_enters(v, 11) && (v8_code(v, 0) & 0xffff) == 0x43f6) ||
	       (v8_enters(v, 6) && (v8_code(v, 0) & 0xffff) == 0x850f) ||
	       (v8_enters(v, 7) && (v8_code(v, 0) & 0xffff) == 0x0574);
}

/* Behind the pop of the frame pointer the arguments are dropped, and it returns. */
INLINE enum v8_stage v8_returns(struct v8 *v)
{
	__u64 at = v8_code(v, 0);

	if ((at & 0xff) == 0xc3 || (at & 0xff) == 0xc2)
		return V8_RETURNS;
	/* cmp $n,%rcx or %r8; jg; ret $n */
	if ((v8_code(v, -1) & 0xff) == 0x5d &&
	    ((at & 0xffffff) == 0xf98348 || (at & 0xffffff) == 0xf88349))
		return V8_RETURNS;
	if ((v8_code(v, -5) & 0xff) == 0x5d && (at & 0xff00ff) == 0xc2007f)
		return V8_RETURNS;
	/* pop %r10; lea; push %r10; ret */
	if ((at & 0xffff) == 0x5a41 && (v8_code(v, 3) & 0xff) == 0x8d)
		return V8_RETURNS;
	if (((at & 0xffffff) == 0x248d48 || (at & 0xffffff) == 0x248d4a) &&
	    (v8_code(v, 4) & 0xffffff) == 0xc35241)
		return V8_POPPED_R10;
	if ((at & 0xffffff) == 0xc35241)
		return V8_POPPED_R10;
	/* leave; pop %rcx; add or lea; push %rcx; ret */
	if ((v8_code(v, -1) & 0xffff) == 0x59c9)
		return V8_RETURNS;
	if ((v8_code(v, -2) & 0xffff) == 0x59c9 || (at & 0xffff) == 0xc351)
		return V8_POPPED_RCX;
	return V8_STANDS;
}

INLINE enum v8_stage v8_stage(struct v8 *v)
{
	if (v8_enters(v, 0) || v8_enters_later(v))
		return V8_ENTERED;
	if (v8_enters(v, -1))
		return V8_PUSHED;
	if (v8_enters(v, -4) || v8_enters(v, -5))
		return V8_LINKED;
	if ((v8_code(v, 0) & 0xffffffff) == 0xe5894855)
		return V8_RETURNS; /* a builtin is entered */
	return v8_returns(v);
}

/* To the caller, whose frame pointer and return address are known. 0: they are none. */
INLINE long v8_leave(struct walk *c, __u64 cfa, __u64 fp, __u64 ip)
{
	struct walker *w = c->w;

	if (!ip || ip == ANEW(w->trampoline) || !walk_find(w, ip - 1))
		return 0;
	w->cfa = cfa;
	w->fp = fp;
	w->ip = ip;
	w->exact = 0;
	w->known &= ~REGS_CALLEE;
	walk_leave(w);
	return 1;
}

/* The innermost frame, by the code at its pc: v8->stage, and where its caller is if the frame does
 * not stand. */
INLINE void v8_first(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	struct v8 *v = V8(c->runtime);
	__u64 sp = w->regs[REG_SP];

	if (walk_read(c, w->regs[REG_IP] - V8_CODE_BEFORE, v->code, 56, kind)) {
		/* Code may end with its last page. */
		__builtin_memset(v->code, 0, sizeof(v->code));
		if (walk_read(c, w->regs[REG_IP] - V8_CODE_BEFORE, v->code, 32, kind))
			return;
	}
	v->stage = v8_stage(v);
	if (ANEW(v->stage) == V8_STANDS)
		return;
	if (walk_read(c, sp, v->top, 16, kind)) {
		v->stage = V8_STANDS;
		return;
	}
	v->leave[0] = sp + 8;
	v->leave[1] = w->regs[REG_FP];
	v->leave[2] = v->top[0];
	if (ANEW(v->stage) == V8_PUSHED) {
		v->leave[0] = sp + 16;
		v->leave[1] = v->top[0];
		v->leave[2] = v->top[1];
	}
	if (ANEW(v->stage) == V8_POPPED_RCX)
		v->leave[2] = w->regs[2];
	if (ANEW(v->stage) == V8_POPPED_R10)
		v->leave[2] = w->regs[10];
}

ONCE int v8_first_now(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };

	if (w && p)
		v8_first(&c, WALK_NOW);
	return 0;
}

/* The function of the frame, v8->closure; 0: it is no function's frame. 1: the walk has ended. */
INLINE long v8_closure(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 fp = w->regs[REG_FP];

	v->closure = 0;
	v->mark = fp;
	if (ANEW(v->stage) != V8_STANDS) {
		v->mark = w->regs[REG_SP];
		if (ANEW(v->stage) < V8_RETURNS)
			v->closure = w->regs[V8_FUNCTION_REGISTER];
		return 0;
	}
	/* What is below the stack pointer is nobody's: other code has anything in the register. */
	if (fp < w->regs[REG_SP] || (ANEW(w->exact) && ANEW(w->first) && fp - 16 < w->regs[REG_SP]))
		return 0;
	if (walk_read(c, fp - V8_FRAME_BELOW, v->frame, sizeof(v->frame), kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	if ((ANEW(v->frame[4]) & V8_TAG_MASK) == V8_TAG)
		v->closure = v->frame[3];
	return 0;
}

/* A frame of code without unwind information is to be left: which function it runs. Returns as
 * walk_by_code does. */
INLINE long v8_look(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	struct v8 *v = V8(c->runtime);

	if (!(w->known & 1u << REG_FP) || w->regs[REG_FP] & 7)
		return 0;
	v->stage = V8_STANDS;
	if (ANEW(w->exact) && ANEW(w->first)) {
		if (kind == WALK_NOW)
			v8_first_now(w, c->runtime);
		else
			v8_first(c, kind);
	}
	if (v8_closure(c, kind) ||
	    (ANEW(v->closure) && v8_put(c, ANEW(v->closure), ANEW(v->mark), kind)))
		v->walk = 0;
	if (ANEW(v->stage) == V8_STANDS || ANEW(v->stage) == V8_LINKED)
		return 0;
	return v8_leave(c, ANEW(v->leave[0]), ANEW(v->leave[1]), ANEW(v->leave[2]));
}

ONCE int v8_look_now(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };

	return w && p ? (int)v8_look(&c, WALK_NOW) : 0;
}

ONCE int v8_look_task(struct walker *w, struct runtime_walk *p, struct task_struct *task TRUSTED)
{
	struct walk c = { .w = w, .runtime = p, .task = task };

	return w && p ? (int)v8_look(&c, WALK_TASK) : 0;
}

INLINE long v8_look_sleep(struct walk *c)
{
	struct runtime_walk *p = c->runtime;
	long r;

	runtime_keep_step(c);
	r = v8_look_now(c->w, p);
	if (!runtime_brought(c))
		return r;
	V8(p)->walk = p->walk;
	return 1;
}

INLINE long v8_native(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;

	if (!p || ANEW(V8(p)->walk) != ANEW(p->walk) || !ANEW(p->walk))
		return 0;
	if (kind == WALK_NOW)
		return v8_look_now(c->w, p);
	return kind == WALK_SLEEP ? v8_look_sleep(c) : v8_look_task(c->w, p, c->task);
}

/* The native walk meets the frames. */
INLINE void v8_frames(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);

	v->walk = p->walk;
	v->script_of = v->no_table = 0;
#pragma unroll
	for (__u32 i = 0; i < V8_MAPS; i++)
		v->maps[i] = v->known[i].size = 0;
}

#endif
