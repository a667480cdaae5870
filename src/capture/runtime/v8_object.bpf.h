/* SPDX-License-Identifier: MIT */
/*
 * v8_object.bpf.h: V8's objects, by the offsets of the process's V8 (runtimes/v8_layout.h), and
 * what a walk keeps of them. Each object is asked for its type, and nothing of another walk is
 * believed: objects are moved, but not while their thread stands still.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_OBJECT_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_OBJECT_BPF_H

#include "capture/runtime/runtime.bpf.h"
#include "runtimes/v8_layout.h"

#define V8_TAG 1ull
#define V8_TAG_MASK 3ull
#define V8_SHIFT 32      /* of a small integer */
#define V8_STRING 0x80u  /* types below it are strings' */
#define V8_LATER 16u     /* pieces that wait; a power of two */
#define V8_MAPS 16u      /* a power of two */
#define V8_KNOWN V8_MAPS /* pieces of code of a walk */

/* A piece of compiled code that this walk has met. */
struct v8_known {
	__u64 start, size, key;
	__u64 maglev;
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
	/* is_function: what a frame has in its function's place led to what functions share */
	__u32 start_at, end_at, scope_at, scope_flags, stage, is_function;
	/* Of a table of calls (v8_calls.bpf.h): where the first is, how many there are, how much it
	 * says of one; of that, how much a place is and where the second one is; where it is
	 * looked for, and what is said of the call that was looked at last */
	struct v8_known given_up;
	__u64 calls;
	__u32 call_n, call_bytes, call_places, call_given_up;
	__u32 call_low, call_high, call_skip, call_found, call_at, call_up;
	unsigned char call[24];
};

_Static_assert(sizeof(struct v8) <= RUNTIME_OWN_WORDS * 8, "RUNTIME_OWN_WORDS");
_Static_assert(sizeof(struct v8_layout) <= RUNTIME_LAYOUT_WORDS * 8, "RUNTIME_LAYOUT_WORDS");

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

#endif
