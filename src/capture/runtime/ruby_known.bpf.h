/* SPDX-License-Identifier: MIT */
/*
 * ruby_known.bpf.h: what Ruby's code is known by (runtime_known.bpf.h).
 *
 * Ruby numbers none of its code, but its garbage collections. Code, and the method that it is part
 * of, are objects, which a frame that runs keeps alive. What was not marked by a collection is
 * given up before the next one begins, and what one has marked, not before the next one has begun.
 * So what ran behind the marks of a collection has its address alone up to the next one, whose
 * number is another: number and addresses say which code it is. Where the marks are being made, or
 * objects moved, nothing is kept.
 *
 * A class that has no name yet may get one: then its methods are not kept either.
 */
#ifndef SEAM_CAPTURE_RUNTIME_RUBY_KNOWN_BPF_H
#define SEAM_CAPTURE_RUNTIME_RUBY_KNOWN_BPF_H

#include "capture/runtime/runtime_known.bpf.h"

#define RUBY_GC_MODE 3u     /* bits of what is done now: */
#define RUBY_GC_NONE 0u     /* nothing */
#define RUBY_GC_SWEEPS 2u   /* what was not marked is given up, step by step */
#define RUBY_GC_WORKS 0xe0u /* at this moment; objects are moved */

/* Which collection was the last one, and whether what runs now stays up to the next one. */
INLINE void ruby_begin_epoch(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 at = ADDRESS(RUBY_MACHINE), count;
	__u32 mode;
	__u8 state;

	r->epoch = 0;
	r->stays = 0;
	if (kind != WALK_NOW || !AT(gc_count) || bpf_probe_read_user(&at, 8, (void *)at) ||
	    (AT(gc_words) > 1 && bpf_probe_read_user(&at, 8, (void *)at)) ||
	    bpf_probe_read_user(&at, 8, (void *)(at + AT(gc_heap))) ||
	    bpf_probe_read_user(&count, 8, (void *)(at + AT(gc_count))) ||
	    bpf_probe_read_user(&state, 1, (void *)(at + AT(gc_state))))
		return;
	mode = state & RUBY_GC_MODE;
	r->epoch = runtime_mix(runtime_whose(p), count) | 1;
	r->stays = !(state & RUBY_GC_WORKS) && (mode == RUBY_GC_NONE || mode == RUBY_GC_SWEEPS);
}

/* Of code at a place in it, or of a method that is written in C: both have r->method. */
INLINE __u64 ruby_identity(struct runtime_walk *p, __u64 code, __u64 pc)
{
	struct ruby *r = RUBY(p);
	__u64 is = ANEW(r->epoch);

	if (!is)
		return 0;
	is = runtime_mix(is, code);
	is = runtime_mix(is, ANEW(r->method));
	return runtime_mix(is, pc) | 1;
}

/* Takes a frame of code that is known. False: it is not, and r->is is what it will be known by. The
 * verifier goes through it once, and not in each state of the walk. */
ONCE int ruby_put_known(struct runtime_walk *p, __u64 code, __u64 pc)
{
	if (!p)
		return 0;
	RUBY(p)->is = ruby_identity(p, code, pc);
	if (!runtime_is_known(p, ANEW(RUBY(p)->is)))
		return 0;
	runtime_put(p, p->told.key, p->known, RUNTIME_FRAME_CODE);
	return 1;
}

INLINE void ruby_know(struct runtime_walk *p, __u64 is, __u32 line)
{
	if (ANEW(RUBY(p)->stays) && !ANEW(RUBY(p)->nameless))
		runtime_know(p, is, line);
}

#endif
