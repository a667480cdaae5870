/* SPDX-License-Identifier: MIT */
/*
 * again.bpf.h: a walk at once that goes on by what the last one of its thread saw (steps.bpf.h), as
 * far as that is still so, and keeps what it saw itself. It gives what a walk without that gives.
 */
#ifndef SEAM_CAPTURE_BPF_AGAIN_BPF_H
#define SEAM_CAPTURE_BPF_AGAIN_BPF_H

#include "capture/bpf/maps.bpf.h"

#ifdef RUNTIME_FILE
INLINE void again_walk(struct walk *c, __u32 tid, __u64 now_ns)
{
	c->w->steps_from = STEPS_ROOM;
	bpf_loop(KWALK_FRAMES_MAX + 1, walk_step_now, c, 0);
}
#else

/* How often a walk goes on by itself where a word has changed, before it asks no more. */
#define AGAIN_ROUNDS 8u
#define AGAIN_FRAMES 4 /* that are compared by one call */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STEPS_THREADS);
	__type(key, __u32);
	__type(value, struct steps);
} steps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct steps_now);
} steps_nows SEC(".maps");

/* Before the walk: what may be met. */
INLINE void again_begin(struct walker *w, const struct steps *s, __u64 now_ns)
{
	w->odd = w->noted = w->steps_met = w->full = 0;
	w->steps_past = 0;
	w->steps_at = w->steps_from = STEPS_ROOM;
	/* The list of functions that are watched for their return changes without a word of the
	 * stack. */
	w->full = ANEW(w->trampoline) != 0;
	if (!ANEW(w->full) && w->mappings && s->mappings == w->mappings &&
	    now_ns - s->time_ns < STEPS_NS && s->first < STEPS_ROOM)
		w->steps_at = s->first;
}

/* Frames that are kept: compares what the step of each read, and goes to the next. 1: there is
 * none, or a word is not what it was; then steps_at says how far all was. */
static long again_follow(__u32 i, void *ctx)
{
	struct walk *c = ctx;
	struct walker *w = c->w;
	struct walk_window *window = c->window;
	const struct steps_one *one, *next;
	__u32 at = ANEW(w->steps_at), n = ANEW(w->n);
	__u64 pc, address, word;

#pragma unroll
	for (int k = 0; k < AGAIN_FRAMES; k++) {
		one = &c->steps->at[at & STEPS_INDEX];
		next = &c->steps->at[(at + 1) & STEPS_INDEX];
		pc = one->pc;
		FORGET(n);
		c->frames[n & (WALK_ROOM - 1)] = pc;
		n += pc != 0;
		w->n = n;
		if (at >= STEPS_ROOM - 1) {
			w->steps_at = STEPS_ROOM;
			return 1;
		}
		address = one->fp_at; /* below the return address */
		if (address && (WALK_WORD(w, window, address, word) || word != next->fp))
			return 1;
		address = next->sp - 8;
		if (WALK_WORD(w, window, address, word) || word != next->pc)
			return 1;
		w->steps_at = ++at;
	}
	return 0;
}

/* A rule asked for a register that short rules do not follow: the walk begins anew and follows
 * all. */
INLINE void again_in_full(struct walker *w)
{
	w->full = 1;
	w->n = w->guessed = 0;
	w->end = KWALK_LIMIT;
	w->at.start = w->at.end = 0;
	walker_registers(w);
	w->odd = w->noted = w->steps_met = 0;
	w->steps_at = STEPS_ROOM;
}

/* Walks until a state is met that is kept, and follows what is kept from there. 0: that has changed
 * somewhere, and the walk is to go on where it was. */
static long again_round(__u32 i, void *ctx)
{
	struct walk *c = ctx;
	struct walker *w = c->w;
	__u32 to;

	bpf_loop(KWALK_FRAMES_MAX + 1, walk_step_now, c, 0);
	if (!ANEW(w->steps_met)) {
		if (ANEW(w->full) || w->end != KWALK_BAD_RULE)
			return 1;
		again_in_full(w);
		return 0;
	}
	w->steps_from = w->steps_at;
	w->noted = w->n;
	bpf_loop(STEPS_ROOM, again_follow, c, 0);
	to = ANEW(w->steps_at);
	if (to == STEPS_ROOM) {
		w->end = KWALK_COMPLETE;
		w->steps_at = w->steps_from;
		return 1;
	}
	w->n = w->noted;
	w->steps_from = STEPS_ROOM;
	w->steps_past = i + 2 >= AGAIN_ROUNDS ? STEPS_LAST : c->steps->at[to & STEPS_INDEX].sp;
	return 0;
}

/* Keeps the steps of a walk that found the outermost frame: those that it met stay where they are,
 * its own come before them. */
ONCE int again_keep(struct walker *w, struct steps *s, const struct steps_now *now, __u64 now_ns)
{
	__u32 base, n, odd;

	if (!w || !s || !now || ANEW(w->end) != KWALK_COMPLETE || !w->mappings ||
	    ANEW(w->trampoline))
		return 0;
	base = ANEW(w->steps_from);
	odd = ANEW(w->odd);
	n = ANEW(w->noted);
	if (n < odd)
		return 0;
	n -= odd;
	if (n > base) { /* the outermost */
		odd += n - base;
		n = base;
	}
	FORGET(n);
	FORGET(base);
	FORGET(odd);
	if (n > STEPS_ROOM || base > STEPS_ROOM || odd > STEPS_ROOM)
		return 0;
	base -= n;
	FORGET(base);
	if (base > STEPS_ROOM)
		return 0;
	s->time_ns = now_ns;
	s->mappings = w->mappings;
	s->first = base;
	s->at[STEPS_ROOM].sp = STEPS_LAST;
	if (n)
		bpf_probe_read_kernel(&s->at[base], n * sizeof(s->at[0]), &now->at[odd]);
	return 0;
}

/* The walk of a sample. */
INLINE void again_walk(struct walk *c, __u32 tid, __u64 now_ns)
{
	__u32 which = tid & (STEPS_THREADS - 1), zero = 0;
	struct steps *last = bpf_map_lookup_elem(&steps, &which);
	struct steps_now *now = bpf_map_lookup_elem(&steps_nows, &zero);

	if (!last || !now)
		return;
	c->steps = last;
	c->now = now;
	again_begin(c->w, last, now_ns);
	bpf_loop(AGAIN_ROUNDS, again_round, c, 0);
	again_keep(c->w, last, now, now_ns);
}
#endif

#endif
