/* SPDX-License-Identifier: MIT */
/*
 * v8_calls.bpf.h: where a call returns in code that V8 gave up. V8 makes such a call return to one
 * of its own instead, behind all of the code: one for each call. Its table of the code's calls has
 * both places, and both ascend in it. What the table does not say is not known.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_CALLS_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_CALLS_BPF_H

#include "capture/runtime/v8_object.bpf.h"

#define V8_GIVES_UP 0x55ff41u /* call *n(%r13) */
#define V8_CALLS_MOST (1u << 20)
#define V8_CALLS_STEPS 96u

/* Whether a frame may be of code that was given up: what it returns to is such a call. -1: that
 * cannot be read now. */
INLINE int v8_given_up(struct walk *c, const int kind)
{
	struct v8 *v = V8(c->runtime);

	if (walk_read(c, c->w->regs[REG_IP], v->head, 8, kind)) {
		c->runtime->out.end = KWALK_RUNTIME_FAULT;
		return -1;
	}
	return (ANEW(v->head[0]) & 0xffffff) == V8_GIVES_UP;
}

/*
 * The head of the table, which is behind the instructions: how many calls it has and how long what
 * it says of one is. Of each: where it returns, a number, where it returns if the code is given up
 * (1 + the offset; 0: nowhere), and what is of no use here. 0: it is no such table.
 */
INLINE int v8_calls(struct walk *c, const struct v8_known *code, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 at = code->start + code->size, count = V8_AT(calls_count);
	__u32 form, place, number, more;

	if (walk_read(c, at + count, v->head, 8, kind)) {
		p->out.end = KWALK_RUNTIME_FAULT;
		return 0;
	}
	v->call_n = (__u32)ANEW(v->head[0]);
	form = v->head[0] >> 32;
	more = form >> 1 & 7;
	place = form >> 4 & 7;
	number = form >> 7 & 7;
	if (!(form & 1) || !place || place > 4 || !number || number > 4 || more > 4 ||
	    !ANEW(v->call_n) || v->call_n > V8_CALLS_MOST)
		return 0;
	v->call_places = place;
	v->call_given_up = place + number;
	v->call_bytes = 2 * place + number + more + (ANEW(code->maglev) ? 1 : 0);
	v->calls = at + (ANEW(code->maglev) ? 16 : count + 8);
	return 1;
}

/* Reads what the table says of one call: v->call_at and v->call_up. 1: it cannot be read now. */
INLINE long v8_call(struct walk *c, __u32 i, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u32 up = ANEW(v->call_given_up), n = ANEW(v->call_places) + up;
	__u64 mask = (1ull << ANEW(v->call_places) * 8) - 1;

	FORGET(n);
	FORGET(up);
	up &= 15;
	if (n > 12)
		return 1;
	if (walk_read(c, v->calls + (__u64)i * v->call_bytes, v->call, n, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	v->call_at = (__u32)(*(volatile __u64 *)v->call & mask);
	v->call_up = (__u32)(*(volatile __u64 *)(v->call + up) & mask);
	return 0;
}

/* A step towards the call that returns to 1 + v->at, if that was given up. Calls that do not are
 * passed over. */
INLINE long v8_call_seek(struct walk *c, const int kind)
{
	struct v8 *v = V8(c->runtime);
	__u32 middle = v->call_low + (v->call_high - v->call_low) / 2, i = middle + v->call_skip;

	if (v->call_low >= v->call_high)
		return 1;
	if (i >= v->call_high) {
		v->call_high = middle;
		v->call_skip = 0;
		return 0;
	}
	if (v8_call(c, i, kind))
		return 1;
	if (!ANEW(v->call_up)) {
		v->call_skip++;
		return 0;
	}
	if (ANEW(v->call_up) == ANEW(v->at)) {
		v->call_found = 1;
		return 1;
	}
	if (ANEW(v->call_up) < ANEW(v->at))
		v->call_low = i + 1;
	else
		v->call_high = middle;
	v->call_skip = 0;
	return 0;
}

RUNTIME_LOOP(v8_call_seek, V8_CALLS_STEPS)

/* Where the call whose frame it is would return in this code, had that not been given up; `at`, if
 * it was not; 0: that is not known, or the walk has ended. */
INLINE __u32 v8_returns_to(struct walk *c, const struct v8_known *code, __u32 at, const int kind)
{
	struct v8 *v = V8(c->runtime);

	if (!v8_calls(c, code, kind) || v8_call(c, v->call_n - 1, kind))
		return 0;
	if (ANEW(v->call_at) >= at)
		return at;
	v->at = at + 1ull;
	v->call_low = v->call_skip = v->call_found = 0;
	v->call_high = v->call_n;
	v8_call_seek_all(c, kind);
	return ANEW(v->call_found) && ANEW(v->call_at) < at ? v->call_at : 0;
}

ONCE int v8_returns_to_now(struct walker *w, struct runtime_walk *p, __u32 at)
{
	struct walk c = { .w = w, .runtime = p };

	return w && p ? (int)v8_returns_to(&c, &V8(p)->given_up, at, WALK_NOW) : 0;
}

#endif
