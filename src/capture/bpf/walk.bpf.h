/* SPDX-License-Identifier: MIT */
/*
 * walk.bpf.h: registers and user memory -> return addresses, by the unwind tables in the arena. The same rules as
 * unwind/walk.c applies, and the same order of checks, so that both give the same frames.
 *
 * Knows the table's form (docs/unwind-table.md) and the verifier's taste: all state is in a map value, which the verifier takes
 * for unknown, so that a loop body converges in one pass; searches have a fixed number of steps and no branches. State on the
 * stack and branches cost 178,000 verified instructions on Linux 6.18 and more than the limit on 6.19; this costs thousands.
 *
 * Does not know who asks: memory is read by `kind`, which is a constant in each of the three loops.
 */
#ifndef SEAM_CAPTURE_BPF_WALK_BPF_H
#define SEAM_CAPTURE_BPF_WALK_BPF_H

#include "kernel.bpf.h"
#include "shared.h"

enum walk_kind {
	WALK_NOW,   /* the current task, without faulting */
	WALK_SLEEP, /* the current task, from where pages may be brought in */
	WALK_TASK,  /* another task that sleeps */
};

struct walker {
	__u64 ip, sp, fp;
	__u64 regs[32]; /* as they were at the sample, by DWARF number; the rest is never known */
	__u64 saved[8]; /* callee-saved registers: the value, or the address where it was saved */
	__u32 saved_at, saved_known; /* a bit each */
	__u32 fp_known;
	__u32 exact; /* ip is where execution stopped, not a return address */
	__u32 first; /* all of regs holds for this frame */
	__u32 n, end, guessed, most;
	__u32 by_fp;
	__u32 mappings, n_mappings; /* of the process, in the arena */
	struct live_mapping at;     /* the mapping that was found last */
};

/* What a loop's body is given. */
struct walk {
	struct walker *w;
	__u64 *frames; /* room for LIVE_FRAMES_MAX and one more: 512 */
	struct task_struct *task;
};

#define WALK_ROOM 512u

enum { /* rule.cfa */
	CFA_NONE,
	CFA_SP,
	CFA_FP,
	CFA_REG,
	CFA_DEREF_SP,
	CFA_DEREF_FP,
	CFA_DEREF_REG,
	CFA_PLT,
};
enum { /* rule.fp, rule.ra */
	AT_SAME,
	AT_UNDEFINED,
	AT_CFA,
	AT_SP,
	AT_FP,
	AT_REG,
	AT_EXPR,
	AT_VAL_EXPR,
	AT_VAL_CFA,
};
#define RULE_SIGNAL 1u
#define RULE_SAVES_AT_SP 4u
#define RULE_BITS 22
#define SAVE_UNKNOWN 0x8000u

INLINE long walk_end(struct walker *w, __u32 end)
{
	w->end = end;
	return 1;
}

INLINE long walk_read(struct walk *c, __u64 address, __u64 *ret, __u32 n, const int kind)
{
	if (kind == WALK_NOW)
		return bpf_probe_read_user(ret, n, (void *)address);
	if (kind == WALK_TASK)
		return bpf_copy_from_user_task(ret, n, (void *)address, c->task, 0);
	return bpf_copy_from_user(ret, n, (void *)address);
}

/* The mapping of pc into w->at. Branch-free: the number of mappings that begin at or below pc. */
INLINE int walk_find(struct walker *w, __u64 pc)
{
	__u32 low = 0, n = w->n_mappings;
	__u64 at;

	if (pc >= w->at.start && pc < w->at.end)
		return 1;
#pragma unroll
	for (int i = 0; i < 16; i++) {
		__u32 half = (n + 1) >> 1;
		__u64 start = arena_u64(w->mappings + (__u64)(low + half) * sizeof(w->at) -
		                        sizeof(w->at));

		/* user addresses are below 2^63, so the sign tells */
		low += half & (__u32)((__s64)(start - pc - 1) >> 63);
		n -= half;
	}
	if (!low)
		return 0;
	at = w->mappings + (__u64)(low - 1) * sizeof(w->at);
	if (pc >= arena_u64(at + 8))
		return 0;
	w->at.start = arena_u64(at);
	w->at.end = arena_u64(at + 8);
	w->at.base = arena_u64(at + 16);
	w->at.n_pages = arena_u32(at + 24);
	w->at.rules = arena_u32(at + 28);
	w->at.index = arena_u32(at + 32);
	w->at.rows = arena_u32(at + 36);
	w->at.saves = arena_u32(at + 40);
	w->at.flags = arena_u32(at + 44);
	return 1;
}

/* The offset of the rule for pc in w->at; 0: there is none. */
INLINE __u64 walk_rule(struct walker *w, __u64 pc)
{
	__u64 address = pc - w->at.base, page = address >> 10, rows = w->at.rows;
	__u32 key = (__u32)(address & 1023) << RULE_BITS | ((1u << RULE_BITS) - 1);
	__u32 at, n, a = 0;

	if (page >= w->at.n_pages)
		return 0;
	at = arena_u32(w->at.index + page * 4);
	n = arena_u32(w->at.index + page * 4 + 4) - at;
	rows += (__u64)at * 4;
#pragma unroll
	for (int i = 0; i < 11; i++) {
		__u32 half = (n + 1) >> 1;
		__u64 row = arena_u32_wide(rows + (__u64)(a + half) * 4 - 4);

		a += half & (__u32)((__s64)(row - key - 1) >> 63);
		n -= half;
	}
	if (!(at + a))
		return 0;
	a = arena_u32(rows + (__u64)a * 4 - 4) & ((1u << RULE_BITS) - 1);
	return a ? w->at.rules + (__u64)a * 32 : 0;
}

/* The current frame's value of a register. */
INLINE long walk_register(struct walk *c, __u32 number, __u64 *ret, const int kind)
{
	struct walker *w = c->w;
	__u32 i = number == 3 ? 0 : number - 11, bit = 1u << (i & 7);

	if (number == 7) {
		*ret = w->sp;
		return 0;
	}
	if (number == 6 && w->fp_known) {
		*ret = w->fp;
		return 0;
	}
	if (number == 16) {
		*ret = w->ip;
		return 0;
	}
	if (w->first && number < 16 && number != 6) {
		FORGET(number);
		*ret = w->regs[number & 31];
		return 0;
	}
	if (i >= LIVE_SAVED || !(w->saved_known & bit))
		return walk_end(w, LIVE_BAD_RULE);
	FORGET(i);
	*ret = w->saved[i & 7];
	if (!(w->saved_at & bit))
		return 0;
	if (walk_read(c, *ret, ret, 8, kind))
		return walk_end(w, LIVE_FAULT);
	FORGET(i);
	w->saved[i & 7] = *ret;
	w->saved_at &= ~bit;
	return 0;
}

INLINE long walk_cfa(struct walk *c, __u64 head, __u64 offs, __u64 pc, __u64 *cfa, const int kind)
{
	__u32 how = head & 255, number = 7;
	__u64 off = (__u64)(__s64)(int)offs, add = (__u64)((__s64)offs >> 32);

	if (how == CFA_FP || how == CFA_DEREF_FP)
		number = 6;
	if (how == CFA_REG || how == CFA_DEREF_REG)
		number = head >> 8 & 255;
	if (how > CFA_PLT)
		return walk_end(c->w, LIVE_BAD_RULE);
	if (walk_register(c, number, cfa, kind))
		return 1;
	*cfa += off;
	if (how == CFA_PLT)
		*cfa += (pc & 15) >= add ? 8 : 0;
	if (how < CFA_DEREF_SP || how == CFA_PLT)
		return 0;
	if (walk_read(c, *cfa, cfa, 8, kind))
		return walk_end(c->w, LIVE_FAULT);
	*cfa += add;
	return 0;
}

/* The caller's value of the frame pointer or the pc; not for AT_SAME and AT_UNDEFINED. */
INLINE long walk_at(struct walk *c, __u32 how, __u64 off, __u64 cfa, __u64 *ret, const int kind)
{
	struct walker *w = c->w;
	__u64 from = cfa;

	if (how == AT_REG)
		return walk_register(c, (__u32)off, ret, kind);
	if (how == AT_EXPR || how == AT_VAL_EXPR || (how == AT_FP && !w->fp_known))
		return walk_end(w, LIVE_BAD_RULE);
	if (how == AT_SP)
		from = w->sp;
	if (how == AT_FP)
		from = w->fp;
	*ret = from + off;
	if (how == AT_VAL_CFA)
		return 0;
	if (walk_read(c, *ret, ret, 8, kind))
		return walk_end(w, LIVE_FAULT);
	return 0;
}

/* Where this frame saved its caller's registers. Branch-free but for the whole. */
INLINE void walk_saves(struct walker *w, __u64 head, __u64 cfa, __u32 first)
{
	__u32 saved = head >> 48, at = w->saved_at, known = w->saved_known;
	__u64 base = head >> 32 & RULE_SAVES_AT_SP ? w->sp : cfa;
	__u64 from = w->at.saves + (__u64)first * 2;

	if (!saved)
		return;
#pragma unroll
	for (int i = 0; i < (int)LIVE_SAVED; i++) {
		__u64 save = arena_u16_wide(from), mask = -(__u64)(saved >> i & 1);
		__u32 bit = (__u32)mask & 1u << i, sure = -(__u32)(save != SAVE_UNKNOWN);
		__u64 place = base + (((save ^ 0x8000) - 0x8000) << 3);

		w->saved[i] = (w->saved[i] & ~mask) | (place & mask);
		at |= bit;
		known = (known & ~bit) | (bit & sure);
		from += mask & 2;
	}
	w->saved_at = at;
	w->saved_known = known;
}

/* No table may be asked: [fp] is the caller's fp, [fp + 8] the return address. */
INLINE long walk_guess(struct walk *c, __u32 end, const int kind)
{
	struct walker *w = c->w;
	__u64 frame[2];

	if (!w->fp_known || w->fp < w->sp || w->fp & 7)
		return walk_end(w, w->by_fp && !w->fp ? LIVE_COMPLETE : end);
	if (walk_read(c, w->fp, frame, 16, kind))
		return walk_end(w, LIVE_FAULT);
	if (!frame[1])
		return walk_end(w, w->by_fp ? LIVE_COMPLETE : end);
	if (!w->by_fp && !walk_find(w, frame[1] - 1))
		return walk_end(w, end);
	w->sp = w->fp + 16;
	w->fp = frame[0];
	w->ip = frame[1];
	w->saved_known = 0;
	w->exact = w->first = 0;
	w->guessed = 1;
	return 0;
}

INLINE long walk_by_rule(struct walk *c, __u64 rule, __u64 pc, const int kind)
{
	struct walker *w = c->w;
	__u64 head = arena_u64(rule), where = arena_u64(rule + 16), cfa, ip, fp = w->fp;
	__u32 fp_how = head >> 16 & 255, ra_how = head >> 24 & 255, known = w->fp_known;
	__u32 is_signal = head >> 32 & RULE_SIGNAL;

	if (ra_how == AT_UNDEFINED)
		return walk_end(w, LIVE_COMPLETE);
	if (ra_how == AT_SAME)
		return walk_end(w, LIVE_BAD_RULE);
	if (walk_cfa(c, head, arena_u64(rule + 8), pc, &cfa, kind))
		return 1;
	if (walk_at(c, ra_how, (__u64)((__s64)where >> 32), cfa, &ip, kind))
		return 1;
	if (!ip)
		return walk_end(w, LIVE_COMPLETE);
	if (fp_how == AT_UNDEFINED) {
		known = 0;
	} else if (fp_how != AT_SAME) {
		if (walk_at(c, fp_how, (__u64)(__s64)(int)where, cfa, &fp, kind))
			return 1;
		known = 1;
	}
	walk_saves(w, head, cfa, arena_u32(rule + 24));
	if (!is_signal && (cfa < w->sp || (cfa == w->sp && !w->first)))
		return walk_end(w, LIVE_NO_PROGRESS);
	w->sp = cfa;
	w->fp = fp;
	w->ip = ip;
	w->fp_known = known;
	w->exact = is_signal;
	w->first = 0;
	return 0;
}

INLINE long walk_step(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	__u64 pc, rule;
	__u32 n = w->n;

	if (n >= w->most || n >= LIVE_FRAMES_MAX)
		return walk_end(w, LIVE_LIMIT);
	FORGET(n);
	c->frames[n & (WALK_ROOM - 1)] = w->ip;
	w->n = n + 1;
	if (w->by_fp)
		return walk_guess(c, LIVE_NO_PROGRESS, kind);
	pc = w->ip - !w->exact;
	if (!walk_find(w, pc))
		return walk_end(w, LIVE_NO_MAPPING);
	rule = walk_rule(w, pc);
	if (rule && (arena_u64(rule) & 255))
		return walk_by_rule(c, rule, pc, kind);
	if (w->at.flags & LIVE_MAY_GUESS)
		return walk_guess(c, w->at.n_pages ? LIVE_NO_RULE : LIVE_NO_TABLE, kind);
	return walk_end(w, w->at.n_pages ? LIVE_NO_RULE : LIVE_NO_TABLE);
}

static long walk_step_now(__u32 i, void *c)
{
	return walk_step(c, WALK_NOW);
}

static long walk_step_sleep(__u32 i, void *c)
{
	return walk_step(c, WALK_SLEEP);
}

static long walk_step_task(__u32 i, void *c)
{
	return walk_step(c, WALK_TASK);
}

#endif
