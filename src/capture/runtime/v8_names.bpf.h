/* SPDX-License-Identifier: MIT */
/*
 * v8_names.bpf.h: from a JavaScript function's objects to its name and its file, by the offsets of
 * the process's V8 (runtimes/v8_layout.h). Each object is asked for its type, and nothing of
 * another walk is believed: objects are moved, but not while their thread stands still.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_NAMES_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_NAMES_BPF_H

#include "capture/runtime/runtime.bpf.h"
#include "runtimes/v8_layout.h"

#define V8_TAG 1ull
#define V8_TAG_MASK 3ull
#define V8_SHIFT 32     /* of a small integer */
#define V8_MARKERS 256u /* numbers of kinds of frames are below it, twice */
#define V8_STRING 0x80u /* types below it are strings' */
#define V8_ONE_BYTE 8u
#define V8_SHAPE 7u
#define V8_SEQUENTIAL 0u
#define V8_CONS 1u
#define V8_EXTERNAL 2u
#define V8_SLICED 3u
#define V8_THIN 5u
#define V8_STRING_STEPS 64 /* pieces, and what leads to them */
#define V8_LATER 16u       /* pieces that wait; a power of two */
#define V8_TEXT_MOST 512u  /* bytes; a power of two */
#define V8_UNCACHED 0x10u
#define V8_CHARACTERS 16
#define V8_CHARACTERS_MOST (1u << 29)
#define V8_SCOPE_INLINE 75u /* names of variables that stand in the scope itself */
#define V8_SCOPE_MOST 4096u
#define V8_MAPS 16u /* a power of two */

#define V8_SCOPE_KIND 15u /* bits of a scope's flags */
#define V8_SCOPE_CLASS 10
#define V8_SCOPE_NAMED 12
#define V8_SCOPE_INFERRED 14
#define V8_NO_FILE 0x6f6d796e6f6e613cull /* <anonymous> */
#define V8_NO_FILE_END 0x3e7375ull
#define V8_NO_NAME 0x6f6d796e6f6e6128ull /* (anonymous) */
#define V8_NO_NAME_END 0x297375ull
#define V8_FRAME_BELOW 40 /* bytes of a frame that are read below its frame pointer */
#define V8_CODE_BEFORE 24
#define V8_ENTRY 0x00505756e5894855ull /* push rbp; mov rbp,rsp; push rsi; push rdi; push rax */
#define V8_ENTRY_MASK 0x00ffffffffffffffull
#define V8_FUNCTION_REGISTER 5 /* rdi: the function that is entered */

#define V8_KIND_MASK 15u
#define V8_CODE_ALIGNED 64ull
#define V8_BYTECODES_LEAST 40u /* bytes of a bytecode array's head that are looked at */
#define V8_AGAIN_NS (1ull << 23)
#define V8_CODE_STEPS 512u /* pieces of that size which a function's code may have */
#define V8_KNOWN V8_MAPS   /* pieces of code of a walk */

/* What the innermost frame has of its own, by the code at its pc. */
enum v8_stage {
	V8_STANDS,     /* all of it, or it has no frame and its caller's is in place */
	V8_ENTERED,    /* nothing: the return address is at the stack pointer */
	V8_PUSHED,     /* the caller's frame pointer is at the stack pointer */
	V8_LINKED,     /* the frame pointer is right, the function is still in its register */
	V8_RETURNS,    /* nothing any more: as V8_ENTERED, but of no function */
	V8_POPPED_RCX, /* the return address is in this register */
	V8_POPPED_R10,
};

/* A piece of compiled code that this walk has met. */
struct v8_known {
	__u64 start, size, key;
};

struct v8 {
	__u64 walk;     /* this walk looks for functions */
	__u64 frame[6]; /* from the frame pointer - V8_FRAME_BELOW on */
	__u64 code[8];  /* from the pc - V8_CODE_BEFORE on */
	__u64 function[V8_FUNCTION_BYTES / 8];
	__u64 shared[V8_SHARED_BYTES / 8];
	__u64 script[V8_SCRIPT_BYTES / 8];
	__u64 scope[8], names[8], string[4];
	__u64 maps[V8_MAPS], types[V8_MAPS]; /* of this walk */
	__u64 start, pc;                     /* of code, and in it */
	__u64 head[2], described[8], deopt[10];
	__u64 literals, positions, table, base;
	__u32 n_inlined, found, size, unused2;
	struct v8_known known[V8_KNOWN];
	struct v8_compiled compiled;
	__u64 script_of, file_hash; /* the script whose name is in what is told */
	/* of a string: its characters, those that are left, the first of the next piece, bytes of
	 * one; where the next byte comes in what is told, and where room ends there */
	__u64 characters, left, from, width, bytes, room;
	/* pieces that come behind the one that is read, the last first; n_parts: the most there
	 * were */
	__u64 later[V8_LATER], n_later, n_parts;
	__u64 type, at, name, kept_key;
	__u64 map; /* of an object whose type is asked for, and the type there */
	__u16 map_type, unused4[3];
	__u32 result, tried, end, unused5;
	struct v8_told source;
	__u32 placed, unused3;     /* the function's place is known */
	__u64 kept_bytes, kept_at; /* of a table that is to be told */
	__u64 no_table;            /* stands for a source position table that was never made */
	__u64 top[2], leave[3], closure, mark;
	__u32 start_at, end_at, scope_at, scope_flags, stage, unused;
};

_Static_assert(sizeof(struct v8) <= RUNTIME_OWN_WORDS * 8, "RUNTIME_OWN_WORDS");
_Static_assert(sizeof(struct v8_layout) <= RUNTIME_LAYOUT_WORDS * 8, "RUNTIME_LAYOUT_WORDS");

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

#define V8(p) ((struct v8 *)(p)->own)
#define V8_AT(field) ANEW(((struct v8_layout *)p->process.of.layout)->field)
/* The word of an object's bytes at an offset of the layout; words are a power of two. */
#define V8_WORD(words, offset) \
	(*(volatile __u64 *)&(words)[(offset) >> 3 & (sizeof(words) / sizeof((words)[0]) - 1)])

/* ---- objects ---- */

/* Reads n bytes of an object. */
INLINE long v8_object(struct walk *c, __u64 object, void *to, __u32 n, const int kind)
{
	if ((object & V8_TAG_MASK) != V8_TAG)
		return runtime_end(c->runtime, KWALK_RUNTIME_BUILDING);
	if (walk_read(c, object - V8_TAG, to, n, kind))
		return runtime_end(c->runtime, KWALK_RUNTIME_FAULT);
	return 0;
}

/* The same, of as many as the layout says: what is behind them may be in no memory. */
INLINE long v8_object_some(struct walk *c, __u64 object, void *to, __u32 n, const __u32 most,
                           const int kind)
{
	FORGET(n);
	if (n > most)
		return runtime_end(c->runtime, KWALK_RUNTIME_BUILDING);
	return v8_object(c, object, to, n, kind);
}

/* The type that a map stands for, in v8->type. Maps are few, and are read once in a walk. While V8
 * moves an object, where it was has its new address in the map's place, and all else as before. */
INLINE long v8_type(struct walk *c, __u64 map, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u32 at = (__u32)(map >> 3 ^ map >> 7) & (V8_MAPS - 1);

	FORGET(at);
	at &= V8_MAPS - 1;
	if (v->maps[at] == map) {
		v->type = v->types[at];
		return 0;
	}
	v->map = map;
	if (!(map & V8_TAG_MASK) && walk_read(c, map, &v->map, 8, kind))
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if ((ANEW(v->map) & V8_TAG_MASK) != V8_TAG)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (walk_read(c, v->map - V8_TAG + V8_AT(map_type), &v->map_type, 2, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	v->type = v->map_type;
	v->types[at] = v->type;
	v->maps[at] = map;
	return 0;
}

/* ---- strings ---- */

/* Reads a string's first two words, and of what its shape has behind them no more than there is, as
 * it may be the last object of a chunk of V8's heap: v8->string and v8->type. */
INLINE long v8_string_read(struct walk *c, __u64 string, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 shape, *behind = &v->string[2];

	if (v8_object(c, string, v->string, 16, kind) || v8_type(c, ANEW(v->string[0]), kind))
		return 1;
	shape = 1u << (ANEW(v->type) & V8_SHAPE);
	if (ANEW(v->type) >= V8_STRING || shape & 1u << V8_SEQUENTIAL)
		return 0;
	if (shape & 1u << V8_THIN ? walk_read(c, string - V8_TAG + 16, behind, 8, kind)
	                          : walk_read(c, string - V8_TAG + 16, behind, 16, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	return 0;
}

/* Whether it is a string, of how many characters: 0, and they are in v8->characters. 1: the walk
 * has ended; 2: it is none, v8->type says what it is. */
INLINE long v8_string(struct walk *c, __u64 string, const int kind)
{
	struct v8 *v = V8(c->runtime);

	v->characters = 0;
	if (v8_object(c, string, v->string, 16, kind) || v8_type(c, ANEW(v->string[0]), kind))
		return 1;
	if (ANEW(v->type) >= V8_STRING)
		return 2;
	v->characters = ANEW(v->string[1]) >> 32;
	if (ANEW(v->characters) > V8_CHARACTERS_MOST)
		v->characters = 0;
	return 0;
}

/* Appends the characters of a string that is in one piece, as many as are wanted and have room.
 * Those of another width than the first piece's are left out, and all behind them. 1: it ends. */
INLINE long v8_piece(struct walk *c, __u64 text, __u64 length, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u32 width = ANEW(v->type) & V8_ONE_BYTE ? 1 : 2, at, n;

	if (!ANEW(v->width))
		v->width = width;
	if (!text || ANEW(v->width) != width || ANEW(v->from) >= length)
		return 1;
	length -= ANEW(v->from);
	if (length > ANEW(v->left))
		length = v->left;
	n = (__u32)length * width;
	at = (__u32)v->bytes;
	if (n > V8_TEXT_MOST || n > (__u32)v->room - at)
		n = ((__u32)v->room - at) & ~1u;
	FORGET(n);
	FORGET(at);
	at &= KWALK_CODE_WORDS * 8 - 1;
	if (n > V8_TEXT_MOST ||
	    (n && walk_read(c, text + v->from * width, (char *)p->told.text + at, n, kind)))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	v->bytes += n;
	v->left -= n / width;
	v->from = 0;
	return n < length * width;
}

/* What comes behind the piece that was appended. 1: nothing. */
INLINE long v8_next_piece(struct v8 *v)
{
	__u32 n = (__u32)ANEW(v->n_later);

	if (!ANEW(v->left) || !n || (__u32)v->n_parts - n >= V8_LATER)
		return 1;
	v->n_later = n - 1;
	v->at = v->later[(n - 1) & (V8_LATER - 1)];
	return 0;
}

/* One step through the pieces of the string v8->at: 1 ends it. */
INLINE long v8_text_step(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 shape, text = 0;
	__u32 n;

	v->result = 1;
	if (v8_string_read(c, v->at, kind))
		return 1;
	v->result = 0;
	if (ANEW(v->type) >= V8_STRING)
		return 1;
	shape = 1u << (ANEW(v->type) & V8_SHAPE);
	if (shape & (1u << V8_CONS | 1u << V8_SLICED | 1u << V8_THIN)) {
		if (shape & 1u << V8_SLICED)
			v->from += ANEW(v->string[3]) >> V8_SHIFT;
		if (shape & 1u << V8_CONS) {
			n = (__u32)v->n_later;
			v->later[n & (V8_LATER - 1)] = v->string[3];
			v->n_later = n + 1;
			if (n >= ANEW(v->n_parts))
				v->n_parts = n + 1;
		}
		v->at = v->string[2];
		return 0;
	}
	if (shape & 1u << V8_SEQUENTIAL)
		text = v->at - V8_TAG + V8_CHARACTERS;
	if (shape & 1u << V8_EXTERNAL && !(ANEW(v->type) & V8_UNCACHED))
		text = v->string[3];
	if (!(ANEW(v->string[1]) >> 32)) /* an empty piece */
		return v8_next_piece(v);
	if (v8_piece(c, text, ANEW(v->string[1]) >> 32, kind)) {
		v->result = ANEW(p->out.end) == KWALK_RUNTIME_FAULT;
		return 1;
	}
	return v8_next_piece(v);
}

RUNTIME_LOOP(v8_text_step, V8_STRING_STEPS)

/* Puts the string that v8_string found into what is told; of no characters: 11 that stand for it.
 * What is in more or deeper pieces than are followed is cut. */
INLINE long v8_text(struct walk *c, __u64 string, struct kwalk_code_text *text, const __u32 first,
                    const __u32 most, __u64 none, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u32 n;

	v->at = string;
	v->left = v->characters;
	v->bytes = first;
	v->room = first + most;
	v->from = v->width = v->n_later = v->n_parts = 0;
	if (ANEW(v->left)) {
		v8_text_step_all(c, kind);
		if (ANEW(v->result))
			return 1;
	}
	n = (__u32)ANEW(v->bytes) - first;
	FORGET(n);
	if (!n || n > most) {
		*text = (struct kwalk_code_text){ .bytes = 11, .width = 1 };
		p->told.text[first / 8] = none;
		p->told.text[first / 8 + 1] = none == V8_NO_FILE ? V8_NO_FILE_END : V8_NO_NAME_END;
		p->hash = runtime_mix(p->hash, none);
		return 0;
	}
	text->bytes = (__u16)n;
	text->width = (__u8)v->width;
	text->cut = ANEW(v->left) != 0;
	if (n < most)
		p->told.text[first / 8 + (n >> 3 & (most / 8 - 1))] &= (1ull << (n & 7) * 8) - 1;
	p->hash = runtime_mix(p->hash, v->characters << 8 | v->width);
	p->word = first / 8;
	bpf_loop((n + 7) >> 3, runtime_mix_word, c, 0);
	return 0;
}

/* ---- functions ---- */

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

/* ---- where its source is ---- */

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
