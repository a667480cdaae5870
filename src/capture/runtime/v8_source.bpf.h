/* SPDX-License-Identifier: MIT */
/*
 * v8_source.bpf.h: where a function's source is in memory. The recorder (kwalk_v8.c) reads it, and
 * counts lines.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_SOURCE_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_SOURCE_BPF_H

#include "capture/runtime/v8_string.bpf.h"

/* One step to the string that has the characters of the source v8->at: 1 ends it. What is in
 * several pieces is not told. */
INLINE long v8_source_step(struct walk *c, const int kind)
{
	struct v8 *v = V8(c->runtime);
	__u64 shape;

	if (v8_string_read(c, v->at, kind) || ANEW(v->type) >= V8_STRING)
		return 1;
	shape = 1u << (ANEW(v->type) & V8_SHAPE);
	if (shape & 1u << V8_SLICED)
		v->source.from += (__u32)(ANEW(v->string[3]) >> V8_SHIFT);
	if (shape & (1u << V8_CONS | 1u << V8_SLICED | 1u << V8_THIN)) {
		v->at = v->string[2];
		return 0;
	}
	if (shape & 1u << V8_SEQUENTIAL)
		v->source.characters = v->at - V8_TAG + V8_CHARACTERS;
	else if (shape & 1u << V8_EXTERNAL && !(ANEW(v->type) & V8_UNCACHED))
		v->source.characters = v->string[3];
	else
		return 1;
	v->source.width = ANEW(v->type) & V8_ONE_BYTE ? 1 : 2;
	return 1;
}

RUNTIME_LOOP(v8_source_step, 4)

/* Where the function's source is, in v8->source. What cannot be read here is only not told. */
INLINE void v8_source(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u32 end = p->out.end, n;
	__u64 length, at;

	v->source.bytecodes = 0;
	v->source.width = v->source.n_sample = v->source.from = 0;
	v->at = V8_WORD(v->script, V8_AT(script_source));
	if (ANEW(v->placed))
		v8_source_step_all(c, kind);
	if (ANEW(v->source.width)) {
		v->source.string = v->at - V8_TAG;
		v->source.map = v->string[0];
		v->source.length = v->string[1];
		v->source.script = (__u32)(V8_WORD(v->script, V8_AT(script_id)) >> V8_SHIFT);
		v->source.thread = p->out.tid;
		v->source.start = v->start_at;
		v->source.end = v->end_at;
		/* the member behind the script's name */
		v->source.line = (__u32)(V8_WORD(v->script, V8_AT(script_name) + 8) >> V8_SHIFT);
		length = ANEW(v->string[1]) >> 32;
		at = (__u64)v->source.from + v->start_at;
		n = at < length ? (__u32)(length - at) : 0;
		n = n > V8_SAMPLE ? V8_SAMPLE : n * v->source.width;
		n = n > V8_SAMPLE ? V8_SAMPLE : n;
		FORGET(n);
		if (n <= V8_SAMPLE && !walk_read(c, v->source.characters + at * v->source.width,
		                                 v->source.sample, n, kind))
			v->source.n_sample = n;
	}
	c->w->missing_bytes = 0;
	p->out.end = end;
}

/* Sends what was found of a function, if it was not told yet. */
INLINE void v8_tell_function(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;

	if (runtime_told(p))
		return;
	v8_source(c, kind);
	bpf_probe_read_kernel(p->told.lines, sizeof(V8(p)->source), &V8(p)->source);
	runtime_tell_filled(p, sizeof(V8(p)->source), V8_LINES_TOLD);
}

ONCE int v8_tell_now(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };

	if (w && p)
		v8_tell_function(&c, WALK_NOW);
	return 0;
}

INLINE void v8_tell(struct walk *c, const int kind)
{
	if (kind == WALK_NOW)
		v8_tell_now(c->w, c->runtime);
	else
		v8_tell_function(c, kind);
}

#endif
