/* SPDX-License-Identifier: MIT */
/*
 * hotspot_chunk.bpf.h: frames of a virtual thread that wait on HotSpot's heap. When such a
 * thread is mounted again only its newest frames come back to the stack; the oldest of these
 * returns to a barrier, which brings more. The others are in a chunk of stack, an object, and in
 * its parents. There they look as on the stack, but frame pointers and what an interpreter's
 * frame says of its caller's stack pointer are numbers of words, from where they stand.
 *
 * A chunk is believed if the thread's Continuation leads to it and it to the Continuation, if
 * its class is that of chunks, and if its frames end where it says that they end. While frames
 * are taken off the stack or put there they may be in both, or in none: then nothing of the
 * chunk is shown.
 */
#ifndef SEAM_CAPTURE_RUNTIME_HOTSPOT_CHUNK_BPF_H
#define SEAM_CAPTURE_RUNTIME_HOTSPOT_CHUNK_BPF_H

#include "capture/runtime/hotspot_method.bpf.h"

#define CHUNK_WORDS (1u << 24) /* of a chunk's frames at most */
#define MET 3u                 /* newest frames on the stack that are remembered */
#define CHUNK_ENTRIES 9        /* places where a ContinuationEntry is looked for */

/* A word of a frame that leads to another one: on the stack it is an address. */
INLINE __u64 hotspot_link(struct runtime_walk *p, __u64 at, __u64 word)
{
	return (word << (ANEW(HS(p)->link_shift) & 3)) + (at & ANEW(HS(p)->link_mask));
}

/*
 * A frame is met: a place of compiled code, or a bytecode's address. Frames are taken off the
 * stack by HotSpot itself, called by the newest of them. While it does so, and till the stack is
 * gone, the newest frames of the chunk are those of the stack. 1: this is such a one.
 */
INLINE long hotspot_meets(struct walk *c, __u64 place)
{
	struct runtime_walk *p = c->runtime;
	__u32 n = ANEW(HS(p)->n_met);

	if (ANEW(HS(p)->link_mask))
		return c->w->n - ANEW(HS(p)->chunk_n) <= MET &&
		       (ANEW(HS(p)->met[0]) == place || ANEW(HS(p)->met[1]) == place ||
		        ANEW(HS(p)->met[2]) == place);
	FORGET(n);
	if (n >= MET)
		return 0;
	HS(p)->met[n & 3] = place;
	HS(p)->n_met = n + 1;
	return 0;
}

/*
 * A reference that stands in an object, in the word of it that was read. What ZGC notes in a
 * reference is in its lowest bits: one of four, and that many more than 12 are not the
 * address's.
 */
INLINE __u64 hotspot_reference(struct runtime_walk *p, __u64 word, __u32 field)
{
	__u64 color = word >> 12 & 15;

	word = (word >> (field & 4) * 8) & CHUNK(oop_mask);
	if (CHUNK(oop_mask) != ~0ull)
		return word ? CHUNK(oop_base) + (word << (CHUNK(oop_shift) & 7)) : 0;
	if (!(word >> 47)) /* none of ZGC's, or none with such bits */
		return word >> 16 ? word : 0;
	color = (color >> 1) - (color >> 3); /* 1, 2, 4, 8: 0, 1, 2, 3 */
	return word >> (13 + (color & 3));
}

#define CHUNK8(field) PART8(HS(p)->chunk, CHUNK(field))
#define CHUNK4(field) PART4(HS(p)->chunk, CHUNK(field))

/* Reads a chunk. 0: it is one, and of this Continuation. */
INLINE long hotspot_chunk(struct walk *c, __u64 chunk, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u64 sp, bottom;

	if (!chunk || walk_read(c, chunk, HS(p)->chunk, sizeof(HS(p)->chunk), kind))
		return 1;
	/* The collector has moved it. */
	if ((PART1(HS(p)->chunk, 0) & 3) == 3)
		return 1;
	if (((CHUNK8(class_at) >> (CHUNK(class_shift) & 63)) & CHUNK(class_mask)) !=
	    CHUNK(chunk_class))
		return 1;
	if (hotspot_reference(p, CHUNK8(chunk_cont), CHUNK(chunk_cont)) != ANEW(HS(p)->cont))
		return 1;
	sp = CHUNK4(chunk_sp);
	bottom = CHUNK4(chunk_bottom);
	/* An empty one ends where it begins, or with what were arguments. */
	if (bottom > CHUNK4(chunk_size) || CHUNK4(chunk_size) > CHUNK_WORDS || sp < 2 ||
	    sp > CHUNK4(chunk_size))
		return 1;
	HS(p)->chunk_frames = chunk + CHUNK(frames) + sp * 8;
	HS(p)->chunk_bottom = chunk + CHUNK(frames) + bottom * 8;
	HS(p)->chunk_parent = hotspot_reference(p, CHUNK8(chunk_parent), CHUNK(chunk_parent));
	return 0;
}

/* The same, or its parent where it is empty. 1: it is none, or has no frames. */
INLINE long hotspot_chunk_filled(struct walk *c, __u64 chunk, const int kind)
{
	struct runtime_walk *p = c->runtime;

	if (hotspot_chunk(c, chunk, kind))
		return 1;
	if (ANEW(HS(p)->chunk_frames) < ANEW(HS(p)->chunk_bottom))
		return 0;
	return hotspot_chunk(c, ANEW(HS(p)->chunk_parent), kind) ||
	       ANEW(HS(p)->chunk_frames) >= ANEW(HS(p)->chunk_bottom);
}

/* To the newest frame of the chunk that was read. */
INLINE long hotspot_chunk_enter(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;

	if (walk_read(c, ANEW(HS(p)->chunk_frames) - 16, w->frame, 16, kind))
		return walk_end(w, KWALK_FAULT);
	if (!hotspot_is_code(c, ANEW(w->frame[1])))
		return walk_end(w, KWALK_NO_RULE);
	w->ip = ANEW(w->frame[1]);
	w->cfa = ANEW(HS(p)->chunk_frames);
	w->fp = w->cfa - 16 + (ANEW(w->frame[0]) << 3);
	w->exact = 0;
	walk_leave(w);
	w->known = 1u << REG_FP | 1u << REG_SP | 1u << REG_IP;
	w->saved = 0;
	return 0;
}

/* Back to the stack, where the thread was mounted. */
INLINE void hotspot_chunk_left(struct walk *c)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;

	HS(p)->link_mask = HS(p)->link_shift = 0;
	w->ip = ANEW(HS(p)->barrier);
	w->cfa = ANEW(HS(p)->entry);
	w->fp = w->cfa + AT(entry_bytes);
	w->exact = 0;
	walk_leave(w);
	w->known = 1u << REG_FP | 1u << REG_SP | 1u << REG_IP;
	w->saved = 0;
}

/* Behind the oldest frame of a chunk come those of its parent. */
INLINE long hotspot_chunk_end(struct walk *c, __u64 sp, const int kind)
{
	struct runtime_walk *p = c->runtime;

	if (sp != ANEW(HS(p)->chunk_bottom))
		return walk_end(c->w, KWALK_NO_RULE);
	if (ANEW(HS(p)->chunk_parent)) {
		if (hotspot_chunk_filled(c, ANEW(HS(p)->chunk_parent), kind))
			return walk_end(c->w, KWALK_NO_RULE);
		return hotspot_chunk_enter(c, kind);
	}
	HS(p)->link_done = 1;
	hotspot_chunk_left(c);
	return 0;
}

ONCE int hotspot_chunk_end_now(struct walker *w, struct runtime_walk *p, __u64 sp)
{
	struct walk c = { .w = w, .runtime = p };

	return w && p ? (int)hotspot_chunk_end(&c, sp, WALK_NOW) : 1;
}

/* Nothing of the chunks is shown: the walk goes on where the thread was mounted, and says so. */
INLINE void hotspot_chunk_leave_out(struct walk *c)
{
	struct runtime_walk *p = c->runtime;

	hotspot_chunk_left(c);
	c->w->n = ANEW(HS(p)->chunk_n);
	c->w->end = KWALK_LIMIT; /* as long as it goes on */
	c->w->missing_bytes = 0;
	p->out.n = ANEW(HS(p)->chunk_out_n);
	p->out.end = KWALK_RUNTIME_AWAY;
	HS(p)->link_done = 1;
}

/*
 * One place where the ContinuationEntry may be: behind the oldest frame on the stack, and arguments
 * of it. Behind the entry is what mounted the thread. HS(p)->mounted: it is there, by the number of
 * arguments that it states; HS(p)->entry: and it leads to a chunk.
 */
INLINE long hotspot_entry(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u64 at = c->w->regs[REG_SP] + ANEW(HS(p)->tries) * 8, cont = 0, tail = 0;
	__u64 caller = 0, arguments = 0;

	HS(p)->tries++;
	if (walk_read(c, at + AT(entry_bytes) + 8, &caller, 8, kind) || !hotspot_is_code(c, caller))
		return 0;
	if (!ANEW(HS(p)->mounted) && !walk_read(c, at + HOTSPOT_ENTRY_FLAGS, &arguments, 8, kind) &&
	    (__u32)arguments < 2 && at - c->w->regs[REG_SP] - (arguments >> 32) * 8 <= 8)
		HS(p)->mounted = at;
	if (walk_read(c, at + HOTSPOT_ENTRY_CONT, &cont, 8, kind) || !cont || cont & 7 ||
	    walk_read(c, cont + (CHUNK(tail) & ~7u), &tail, 8, kind))
		return 0;
	HS(p)->cont = cont;
	if (hotspot_chunk_filled(c, hotspot_reference(p, tail, CHUNK(tail)), kind))
		return 0;
	HS(p)->entry = at;
	return 1;
}
RUNTIME_LOOP(hotspot_entry, CHUNK_ENTRIES)

/*
 * At the barrier: the newest frame of the thread's chunk comes in its place. 1: there is no
 * barrier, or no chunk that is understood; then the frame pointer is that of what mounted the
 * thread, if that is sure. The barrier's first instruction takes the stack pointer from the
 * thread; other places of that code are in the middle of moving frames.
 */
INLINE long hotspot_chunk_begin(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u64 code = 0;

	HS(p)->barrier = w->regs[REG_IP];
	if (!CHUNK(known) || walk_read(c, w->regs[REG_IP], &code, 4, kind) ||
	    (code & 0xffffff) != 0xa78b49)
		return 1;
	HS(p)->entry = HS(p)->mounted = HS(p)->tries = 0;
	hotspot_entry_all(c, kind);
	w->missing_bytes = 0;
	/* What the oldest frame saved of the frame pointer may be anything. */
	if (ANEW(HS(p)->mounted)) {
		w->regs[REG_FP] = ANEW(HS(p)->mounted) + AT(entry_bytes);
		w->known |= 1u << REG_FP;
	}
	if (!ANEW(HS(p)->entry))
		return 1;
	HS(p)->chunk_n = w->n - 1;
	HS(p)->chunk_out_n = p->out.n;
	if (hotspot_chunk_enter(c, kind))
		return 1;
	HS(p)->link_mask = ~0ull;
	HS(p)->link_shift = 3;
	w->n--;
	return 0;
}

ONCE int hotspot_chunk_begin_now(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };

	return w && p ? (int)hotspot_chunk_begin(&c, WALK_NOW) : 1;
}

#endif
