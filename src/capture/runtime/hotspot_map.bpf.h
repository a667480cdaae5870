/* SPDX-License-Identifier: MIT */
/*
 * hotspot_map.bpf.h: HotSpot's own map of the code that it made: from an address to the piece (a
 * "blob") that it is in, and what that says of itself.
 */
#ifndef SEAM_CAPTURE_RUNTIME_HOTSPOT_MAP_BPF_H
#define SEAM_CAPTURE_RUNTIME_HOTSPOT_MAP_BPF_H

#define RUNTIME_FRAMES hotspot_frames
#define RUNTIME_AGAIN
#define RUNTIME_KNOWN INLINE
#define RUNTIME_OWN_WORDS 192u

#include "capture/runtime/runtime.bpf.h"
#include "capture/runtime/runtime_known.bpf.h"
#include "runtimes/hotspot_layout.h"

#define HOTSPOT_HEAPS_MOST 3
#define HOTSPOT_HOPS 256       /* in the map of a heap */
#define HOTSPOT_HOPS_AHEAD 64u /* bytes of it that are read at once: a power of two */
#define HOTSPOT_FRAME 65536u   /* words of a frame at most */

enum hotspot_blob {
	HOTSPOT_BLOB_NONE,
	HOTSPOT_BLOB_METHOD, /* compiled */
	HOTSPOT_BLOB_NATIVE, /* calls a native method */
	HOTSPOT_BLOB_INTERPRETER,
	HOTSPOT_BLOB_STUB,
	HOTSPOT_BLOB_SUBTYPE, /* whether a class is another's */
	HOTSPOT_BLOB_MOUNT,   /* where virtual threads come and go */
	HOTSPOT_BLOB_ADAPTER, /* between interpreter and compiled code */
	HOTSPOT_BLOB_LINKER,  /* of method handles */
	HOTSPOT_BLOB_MOVER,   /* of a native method's arguments */
	HOTSPOT_BLOB_LEAF,    /* nothing is pushed there */
};

struct hotspot_heap {
	__u64 at, low, high, segments, log2;
};

struct hotspot {
	__u64 low, high; /* all code is between these */
	__u64 call_stub; /* Java's outermost frames return there */
	__u64 whose;     /* what else nmethods are told apart by (runtime_known.bpf.h) */
	__u32 n_heaps, what;
	struct hotspot_heap heap[HOTSPOT_HEAPS_MOST];
	/* whose heaps these are: but for `high` they stay as they are while a process runs */
	__u64 kept_low, kept_high, kept_list;
	__u32 kept_pid, kept_n;
	/* the blob that was found last */
	__u64 blob, begin, size;
	__u32 frame, complete; /* words; bytes from begin on */
	__u64 method, name;    /* its name, a text that ends with 0 */
	__u32 id, orig_pc;
	__u64 deopt[2];
	__u64 segment, map; /* of the search */
	/* The name that says that a blob is a method's: a text of HotSpot's own, which stays. */
	__u64 kept_name, kept_name_whose;
	unsigned char hops[HOTSPOT_HOPS_AHEAD];
	__u64 konst, pool, class, konst_of; /* konst_of: the method in konst_bytes */
	unsigned char code[32];             /* around the pc: from 16 before it on */
	__u64 stack[2];                     /* the newest words */
	__u64 words[10];                    /* of an interpreter's frame */
	unsigned char before[16];           /* what stands before a return address */
	unsigned char head[512];            /* of a blob */
	unsigned char konst_bytes[128];     /* of a ConstMethod */
	unsigned char pool_bytes[128];      /* of its pool */
	/* hotspot_chunk.bpf.h */
	__u64 cont, entry, mounted, barrier; /* of the thread that is mounted; where it was met */
	__u64 chunk_frames, chunk_bottom, chunk_parent;
	__u64 link_mask; /* of the chunk that is walked; 0: it is the stack */
	__u32 link_shift, link_done;
	__u32 chunk_n, chunk_out_n; /* frames before it */
	__u64 met[4];               /* places of the newest frames on the stack; n_met: how many */
	__u32 n_met, tries;
	unsigned char chunk[64]; /* its fields */
};

_Static_assert(sizeof(struct hotspot) <= RUNTIME_OWN_WORDS * 8, "RUNTIME_OWN_WORDS");
_Static_assert(sizeof(struct hotspot_layout) <= RUNTIME_LAYOUT_WORDS * 8, "RUNTIME_LAYOUT_WORDS");

#define HS(p) ((struct hotspot *)(p)->own)
#define AT(field) ANEW(((struct hotspot_layout *)p->process.of.layout)->field)
#define CHUNK(field) ANEW(((struct hotspot_layout *)p->process.of.layout)->chunks.field)
#define ADDRESS(field) ANEW(p->process.of.address[field])

/* Parts of what was read, wherever an offset points. */
#define PART8(bytes, at) (*(volatile __u64 *)&(bytes)[(at) & (sizeof(bytes) - 8) & ~7u])
#define PART4(bytes, at) (*(volatile __u32 *)&(bytes)[(at) & (sizeof(bytes) - 4) & ~3u])
#define PART2(bytes, at) (*(volatile __u16 *)&(bytes)[(at) & (sizeof(bytes) - 2) & ~1u])
#define PART1(bytes, at) (*(volatile __u8 *)&(bytes)[(at) & (sizeof(bytes) - 1)])

/* Before the native walk: where code may be. */
INLINE void hotspot_frames(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;

	HS(p)->n_heaps = 0;
	HS(p)->size = 0;
	HS(p)->konst_of = 0;
	HS(p)->call_stub = 0;
	HS(p)->whose = runtime_whose(p);
	HS(p)->link_mask = HS(p)->link_shift = HS(p)->link_done = HS(p)->n_met = 0;
	HS(p)->met[0] = HS(p)->met[1] = HS(p)->met[2] = 0;
	if (walk_read(c, ADDRESS(HOTSPOT_LOW), &HS(p)->low, 8, kind) ||
	    walk_read(c, ADDRESS(HOTSPOT_HIGH), &HS(p)->high, 8, kind) ||
	    walk_read(c, ADDRESS(HOTSPOT_CALL_STUB), &HS(p)->call_stub, 8, kind)) {
		HS(p)->low = HS(p)->high = 0;
		p->out.end = KWALK_RUNTIME_FAULT;
	}
}

INLINE int hotspot_is_code(struct walk *c, __u64 pc)
{
	struct runtime_walk *p = c->runtime;

	return p && pc - ANEW(HS(p)->low) < ANEW(HS(p)->high) - ANEW(HS(p)->low);
}

INLINE long hotspot_heap(struct walk *c, __u64 list, const int i, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct hotspot_heap *h = &HS(p)->heap[i];
	__u64 heap = 0;
	__u32 log2 = 0;

	if (walk_read(c, list + i * 8, &heap, 8, kind) ||
	    walk_read(c, heap + AT(heap_memory) + AT(space_low), &h->low, 8, kind) ||
	    walk_read(c, heap + AT(heap_segments) + AT(space_low), &h->segments, 8, kind) ||
	    walk_read(c, heap + AT(heap_log2), &log2, 4, kind))
		return 1;
	h->log2 = log2;
	h->at = heap;
	return 0;
}

/* Whether the heaps in place are those of that list of the process. */
INLINE int hotspot_kept(struct runtime_walk *p, __u64 list, __u32 n)
{
	return ANEW(HS(p)->kept_pid) == ANEW(p->out.pid) && ANEW(HS(p)->kept_list) == list &&
	       ANEW(HS(p)->kept_n) == n && ANEW(HS(p)->kept_low) == ANEW(HS(p)->low) &&
	       ANEW(HS(p)->kept_high) == ANEW(HS(p)->high);
}

/* Reads all heaps of the list, of which n are looked at. */
INLINE long hotspot_all_heaps(struct walk *c, __u64 list, __u32 n, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u64 data;

	HS(p)->kept_pid = 0;
	HS(p)->heap[1].at = HS(p)->heap[2].at = 0;
	if (walk_read(c, list + AT(list_data), &data, 8, kind) || hotspot_heap(c, data, 0, kind) ||
	    (n > 1 && hotspot_heap(c, data, 1, kind)) || (n > 2 && hotspot_heap(c, data, 2, kind)))
		return 1;
	HS(p)->kept_list = list;
	HS(p)->kept_n = n;
	HS(p)->kept_low = HS(p)->low;
	HS(p)->kept_high = HS(p)->high;
	HS(p)->kept_pid = p->out.pid;
	return 0;
}

/* Finds which heaps there are, once in a walk, and how far each has grown. */
INLINE long hotspot_heaps(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u64 list;
	__u32 n = 0;

	if (ANEW(HS(p)->n_heaps))
		return 0;
	if (walk_read(c, ADDRESS(HOTSPOT_HEAPS), &list, 8, kind) ||
	    walk_read(c, list + AT(list_length), &n, 4, kind) ||
	    (!hotspot_kept(p, list, n) && hotspot_all_heaps(c, list, n, kind)))
		return 1;
#pragma unroll
	for (int i = 0; i < HOTSPOT_HEAPS_MOST; i++) {
		__u64 at = ANEW(HS(p)->heap[i].at);

		HS(p)->heap[i].high = HS(p)->heap[i].low;
		if (at && walk_read(c, at + AT(heap_memory) + AT(space_high), &HS(p)->heap[i].high,
		                    8, kind))
			return 1;
	}
	HS(p)->n_heaps = 1;
	return 0;
}

/* One byte of the map: how many segments further down the blob may begin. */
INLINE long hotspot_hop(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u8 hop = 0xff;

	if (walk_read(c, HS(p)->map + HS(p)->segment, &hop, 1, kind)) {
		HS(p)->what = KWALK_FAULT;
		return 1;
	}
	if (!hop)
		HS(p)->what = KWALK_COMPLETE;
	if (!hop || hop == 0xff || hop > HS(p)->segment)
		return 1;
	HS(p)->segment -= hop;
	return 0;
}
RUNTIME_LOOP(hotspot_hop, HOTSPOT_HOPS)

/* The same of a blob that begins near by, as most do, by one read. False: it does not. */
INLINE int hotspot_hop_near(struct walk *c)
{
	struct runtime_walk *p = c->runtime;
	const __u32 last = HOTSPOT_HOPS_AHEAD - 1;
	__u64 segment = ANEW(HS(p)->segment);
	__u32 hop;

	if (segment < last || bpf_probe_read_user(HS(p)->hops, HOTSPOT_HOPS_AHEAD,
	                                          (void *)(ANEW(HS(p)->map) + segment - last)))
		return 0;
	hop = PART1(HS(p)->hops, last);
	if (hop > last || PART1(HS(p)->hops, last - hop))
		return 0;
	HS(p)->segment = segment - hop;
	HS(p)->what = KWALK_COMPLETE;
	return 1;
}

/* Finds where the blob of an address begins, with what stands before it, and where its heap ends.
 * KWALK_COMPLETE: it was found. */
INLINE long hotspot_block(struct walk *c, __u64 pc, __u64 *begin, __u64 *end, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct hotspot_heap h = { 0 };

	if (hotspot_heaps(c, kind))
		return KWALK_FAULT;
#pragma unroll
	for (int i = 0; i < HOTSPOT_HEAPS_MOST; i++)
		if (pc - HS(p)->heap[i].low < HS(p)->heap[i].high - HS(p)->heap[i].low) {
			h.low = HS(p)->heap[i].low;
			h.high = HS(p)->heap[i].high;
			h.segments = HS(p)->heap[i].segments;
			h.log2 = HS(p)->heap[i].log2 & 31;
		}
	if (!h.low)
		return KWALK_NO_RULE;
	HS(p)->what = KWALK_NO_RULE;
	HS(p)->map = h.segments;
	HS(p)->segment = (pc - h.low) >> h.log2;
	if (kind != WALK_NOW || !hotspot_hop_near(c))
		hotspot_hop_all(c, kind);
	*begin = h.low + (HS(p)->segment << h.log2);
	*end = h.high;
	return ANEW(HS(p)->what);
}

/* What kind of blob it is: they have names. */
INLINE long hotspot_kind(struct walk *c, __u64 name, __u32 *ret, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u64 text[3] = { 0 };

	if (name == ANEW(HS(p)->kept_name) && ANEW(HS(p)->kept_name_whose) == ANEW(HS(p)->whose)) {
		*ret = HOTSPOT_BLOB_METHOD;
		return 0;
	}
	if (walk_read(c, name, text, 17, kind))
		return 1;
	*ret = HOTSPOT_BLOB_STUB;
	if (text[0] == 0x00646f6874656d6eull) { /* "nmethod" */
		*ret = HOTSPOT_BLOB_METHOD;
		HS(p)->kept_name = name;
		HS(p)->kept_name_whose = HS(p)->whose;
	}
	if (text[0] == 0x6e2065766974616eull) /* "native n" */
		*ret = HOTSPOT_BLOB_NATIVE;
	if (text[0] == 0x6572707265746e49ull &&
	    (text[1] & 0xffffff) == 0x726574) /* "Interpreter" */
		*ret = HOTSPOT_BLOB_INTERPRETER;
	if (text[0] == 0x204932432f433249ull) /* "I2C/C2I " */
		*ret = HOTSPOT_BLOB_ADAPTER;
	if (text[0] == 0x6148646f6874654dull) /* "MethodHa" */
		*ret = HOTSPOT_BLOB_LINKER;
	if (text[0] == 0x732065766974616eull && (text[1] & 0xffffff) == 0x6e6769) /* "native sig" */
		*ret = HOTSPOT_BLOB_MOVER;
	/* vtable chunks, InlineCacheBuffer, flush_icache_stub */
	if (text[0] == 0x6320656c62617476ull || text[0] == 0x6143656e696c6e49ull ||
	    text[0] == 0x63695f6873756c66ull)
		*ret = HOTSPOT_BLOB_LEAF;
	/* slow_subtype_check Runtime1 stub, C1 Runtime slow_subtype_check_blob */
	if (text[0] == 0x6275735f776f6c73ull ||
	    (text[0] == 0x69746e7552203143ull && text[1] == 0x5f776f6c7320656dull))
		*ret = HOTSPOT_BLOB_SUBTYPE;
	/* "StubRoutines (con" */
	if (text[0] == 0x74756f5262757453ull && text[1] == 0x6f63282073656e69ull &&
	    (text[2] & 255) == 'n')
		*ret = HOTSPOT_BLOB_MOUNT;
	return 0;
}

/* A field of the blob in HS(p)->head. */
#define BLOB8(field) PART8(HS(p)->head, before + AT(field))
#define BLOB4(field) PART4(HS(p)->head, before + AT(field))

/* An address in a blob, as this version has it. */
INLINE __u64 hotspot_address(struct runtime_walk *p, __u32 before, __u32 field, __u64 blob)
{
	return AT(relative) ? blob + PART4(HS(p)->head, before + field)
	                    : PART8(HS(p)->head, before + field);
}

/* Takes what is of use from HS(p)->head. */
INLINE void hotspot_fill(struct runtime_walk *p, __u32 before, __u64 blob)
{
	HS(p)->blob = blob;
	HS(p)->frame = BLOB4(blob_frame);
	HS(p)->complete = BLOB4(blob_complete);
	if (AT(complete_short))
		HS(p)->complete =
		        (__u32)(__s32)(__s16)PART2(HS(p)->head, before + AT(blob_complete));
	HS(p)->name = BLOB8(blob_name);
	HS(p)->method = BLOB8(code_method);
	HS(p)->id = BLOB4(code_id);
	HS(p)->orig_pc = BLOB4(code_orig_pc);
	HS(p)->deopt[0] = hotspot_address(p, before, AT(code_deopt), blob);
	HS(p)->deopt[1] = hotspot_address(p, before, AT(code_deopt_mh), blob);
}

/* Finds the blob of an address. KWALK_COMPLETE: it is in HS(p). */
INLINE long hotspot_blob(struct walk *c, __u64 pc, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u32 before = AT(block_bytes), bytes = before + AT(code_bytes) + 8;
	__u64 block = 0, end = 0, begin;
	__u32 what;
	long how;

	if (pc - ANEW(HS(p)->begin) < ANEW(HS(p)->size))
		return KWALK_COMPLETE;
	HS(p)->size = 0;
	how = hotspot_block(c, pc, &block, &end, kind);
	if (how != KWALK_COMPLETE)
		return how;
	if (bytes > end - block)
		bytes = (__u32)(end - block);
	if (bytes > sizeof(HS(p)->head))
		return KWALK_NO_RULE;
	FORGET(bytes);
	if (bytes > sizeof(HS(p)->head) || walk_read(c, block, HS(p)->head, bytes, kind))
		return KWALK_FAULT;
	if (PART1(HS(p)->head, AT(block_used)) != 1)
		return KWALK_NO_RULE;
	if (hotspot_kind(c, BLOB8(blob_name), &what, kind))
		return KWALK_FAULT;
	begin = hotspot_address(p, before, AT(blob_begin), block + before);
	end = hotspot_address(p, before, AT(blob_end), block + before);
	if (pc < begin || pc >= end || begin < block)
		return KWALK_NO_RULE;
	hotspot_fill(p, before, block + before);
	HS(p)->what = what;
	HS(p)->begin = begin;
	HS(p)->size = end - begin;
	return KWALK_COMPLETE;
}

ONCE int hotspot_blob_now(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };

	return w && p ? (int)hotspot_blob(&c, w->pc, WALK_NOW) : KWALK_NO_RULE;
}

#endif
