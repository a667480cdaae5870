/* SPDX-License-Identifier: MIT */
/*
 * v8_names.bpf.h: from a JavaScript function's objects to its name, its file and its key.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_NAMES_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_NAMES_BPF_H

#include "capture/runtime/v8_string.bpf.h"

#define V8_SCOPE_INLINE 75u /* names of variables that stand in the scope itself */
#define V8_SCOPE_MOST 4096u
#define V8_SCOPE_KIND 15u /* bits of a scope's flags */
#define V8_SCOPE_CLASS 10
#define V8_SCOPE_NAMED 12
#define V8_SCOPE_INFERRED 14

/* Words of a scope where a function's own name is, and its place in the source. */
INLINE long v8_scope(struct walk *c, __u64 scope, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 names, at;
	__u32 n;

	if (v8_object(c, scope, v->scope, 6 * 8, kind))
		return 1;
	v->placed = 1;
	v->scope_flags = (__u32)(ANEW(v->scope[1]) >> (V8_AT(scope_shift) & 63));
	names = ANEW(v->scope[3]) >> V8_SHIFT;
	if (V8_AT(scope_places)) {
		v->start_at = (__u32)(ANEW(v->scope[4]) >> V8_SHIFT);
		v->end_at = (__u32)(ANEW(v->scope[5]) >> V8_SHIFT);
	}
	if ((ANEW(v->scope_flags) & V8_SCOPE_KIND) != V8_AT(scope_function) ||
	    names > V8_SCOPE_MOST)
		return 0;
	at = V8_AT(scope_first) + (names < V8_SCOPE_INLINE ? 2 * names : names + 1) +
	     (ANEW(v->scope_flags) >> V8_SCOPE_CLASS & 1);
	/* its name and where that is kept, its inferred name, its place */
	v->scope_at = (ANEW(v->scope_flags) >> V8_SCOPE_NAMED & 3 ? 2 : 0) +
	              (ANEW(v->scope_flags) >> V8_SCOPE_INFERRED & 1);
	n = (ANEW(v->scope_at) + (V8_AT(scope_places) ? 0 : 2)) * 8;
	FORGET(n);
	if (n > sizeof(v->names) || (n && v8_object(c, scope + 8 + at * 8, v->names, n, kind)))
		return 1;
	if (!V8_AT(scope_places)) {
		at = ANEW(v->scope_at) & 3;
		v->start_at = (__u32)(ANEW(v->names[at & 3]) >> V8_SHIFT);
		v->end_at = (__u32)(ANEW(v->names[(at & 3) + 1]) >> V8_SHIFT);
	}
	return 0;
}

/* Looks at one thing that may be a function's name, v8->name; 1: there is no better one, and
 * v8->result is 1 where the walk has ended. */
INLINE long v8_name_step(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u32 flags;
	long r;

	v->result = 0;
	v->characters = 0;
	if ((ANEW(v->name) & V8_TAG_MASK) != V8_TAG)
		r = 2;
	else
		r = v8_string(c, v->name, kind);
	v->result = r == 1;
	if (r == 1 || (!r && ANEW(v->characters)))
		return 1;
	v->characters = 0;
	v->tried++;
	if (ANEW(v->tried) == 1) {
		if (r != 2 || ANEW(v->type) != V8_AT(type_scope))
			return 1;
		v->result = v8_scope(c, v->name, kind);
		if (ANEW(v->result))
			return 1;
	}
	flags = ANEW(v->scope_flags);
	if ((flags & V8_SCOPE_KIND) != V8_AT(scope_function))
		return 1;
	/* its name, and then the one that V8 gave it */
	if (ANEW(v->tried) == 1 && flags >> V8_SCOPE_NAMED & 3) {
		v->name = v->names[0];
		return 0;
	}
	flags = ANEW(v->scope_flags);
	if (ANEW(v->tried) > 2 || !(flags >> V8_SCOPE_INFERRED & 1))
		return 1;
	v->tried = 2;
	v->name = v->names[flags >> V8_SCOPE_NAMED & 3 ? 2 : 0];
	return 0;
}

RUNTIME_LOOP(v8_name_step, 3)

/* Finds a function's name: its own, or the one that V8 gave it. 1: the walk has ended. */
INLINE long v8_name(struct walk *c, __u64 name, const int kind)
{
	struct v8 *v = V8(c->runtime);

	v->start_at = v->end_at = v->scope_flags = v->tried = v->placed = 0;
	v->name = name;
	v8_name_step_all(c, kind);
	return ANEW(v->result) == 1;
}

/* What tells the script in v->script from any other of the process, in p->hash. Its number is one
 * in its isolate only, of which a process may have many, and a thread after another, too. */
INLINE long v8_script(struct walk *c, __u64 script, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 source = V8_WORD(v->script, V8_AT(script_source));

	v->string[1] = 0;
	if ((source & V8_TAG_MASK) == V8_TAG && v8_object(c, source, v->string, 16, kind))
		return 1;
	p->hash = runtime_mix(config.seed, (__u64)p->out.pid << 32 | p->out.tid);
	p->hash = runtime_mix(p->hash, V8_WORD(v->script, V8_AT(script_id)));
	p->hash = runtime_mix(p->hash, script);
	p->hash = runtime_mix(p->hash, v->string[1]); /* its length, and its hash */
	return 0;
}

/* The key of a function by what its closures share, with what is to be told of it. 1: the walk has
 * ended; 2: it is V8's own, of no script. */
INLINE long v8_shared(struct walk *c, __u64 shared, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 script;

	if (v8_object_some(c, shared, v->shared, V8_AT(shared_bytes), V8_SHARED_BYTES, kind) ||
	    v8_type(c, ANEW(v->shared[0]), kind))
		return 1;
	if (ANEW(v->type) != V8_AT(type_shared))
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	v->is_function = 1;
	script = V8_WORD(v->shared, V8_AT(shared_script));
	if (script != ANEW(v->script_of)) {
		v->script_of = 0;
		if (v8_object(c, script, v->script, 16, kind) ||
		    v8_type(c, ANEW(v->script[0]), kind))
			return 1;
		if (ANEW(v->type) != V8_AT(type_script))
			return 2;
		if (v8_object_some(c, script, v->script, V8_AT(script_bytes), V8_SCRIPT_BYTES,
		                   kind))
			return 1;
		if (v8_script(c, script, kind) ||
		    v8_string(c, V8_WORD(v->script, V8_AT(script_name)), kind) == 1)
			return 1;
		if (v8_text(c, V8_WORD(v->script, V8_AT(script_name)), &p->told.file, 0,
		            KWALK_CODE_FILE, V8_NO_FILE, kind))
			return 1;
		v->script_of = script;
		v->file_hash = p->hash;
	}
	if (v8_name(c, V8_WORD(v->shared, V8_AT(shared_name)), kind))
		return 1;
	p->hash = runtime_mix(v->file_hash, (__u64)v->start_at << 32 | v->end_at);
	if (v8_text(c, v->name, &p->told.name, KWALK_CODE_FILE, KWALK_CODE_NAME, V8_NO_NAME, kind))
		return 1;
	p->told.key = p->hash;
	return 0;
}

ONCE int v8_shared_now(struct walker *w, struct runtime_walk *p, __u64 shared)
{
	struct walk c = { .w = w, .runtime = p };

	return w && p ? (int)v8_shared(&c, shared, WALK_NOW) : 1;
}

INLINE long v8_shared_any(struct walk *c, __u64 shared, const int kind)
{
	if (kind == WALK_NOW)
		return v8_shared_now(c->w, c->runtime, shared);
	return v8_shared(c, shared, kind);
}

/* The key of a function by a closure, as v8_shared. */
INLINE long v8_function(struct walk *c, __u64 function, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);

	if (v8_object(c, function, v->function, V8_FUNCTION_LEAST, kind))
		return 1;
	return v8_shared_any(c, V8_WORD(v->function, V8_AT(function_shared)), kind);
}

#endif
