/* SPDX-License-Identifier: MIT */
/*
 * walk.bpf.h: registers and user memory -> return addresses, by the unwind tables in the arena. The
 * same rules as unwind/walk.c applies, and the same order of checks, so that both give the same
 * frames. Does not know who asks.
 */
#ifndef SEAM_CAPTURE_WALK_WALK_BPF_H
#define SEAM_CAPTURE_WALK_WALK_BPF_H

#include "capture/walk/rules.bpf.h"

/* The current frame's value of register w->number. */
INLINE long walk_register(struct walk *c, __u64 *ret, const int kind)
{
	struct walker *w = c->w;
	__u32 number = ANEW(w->number) & 31, bit = 1u << number;

	if (!(w->known & bit))
		return walk_end(w, KWALK_BAD_RULE);
	if (w->saved & bit) {
		if (walk_word(c, w->regs[number], &w->regs[number], 0, kind))
			return walk_end(w, KWALK_FAULT);
		w->saved &= ~bit;
	}
	*ret = w->regs[number];
	return 0;
}

/* Computes the canonical frame address of the current frame by its rule. 0; 1: the walk has
 * ended. */
INLINE long walk_cfa(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	__u32 how;

	if ((ANEW(w->head) & 255) > FRAMETAB_CFA_PLT)
		return walk_end(w, KWALK_BAD_RULE);
	ANEW(w->number) = REG_SP;
	how = 1u << (ANEW(w->head) & 7);
	if (how & (1u << FRAMETAB_CFA_FP | 1u << FRAMETAB_CFA_DEREF_FP))
		ANEW(w->number) = REG_FP;
	how = 1u << (ANEW(w->head) & 7);
	if (how & (1u << FRAMETAB_CFA_REG | 1u << FRAMETAB_CFA_DEREF_REG))
		ANEW(w->number) = ANEW(w->head) >> 8 & 255;
	if (walk_register(c, &w->cfa, kind))
		return 1;
	w->cfa += w->off;
	if ((ANEW(w->head) & 255) == FRAMETAB_CFA_PLT && (w->pc & 15) >= ANEW(w->add))
		w->cfa += 8;
	how = 1u << (ANEW(w->head) & 7);
	if (!(how & (1u << FRAMETAB_CFA_DEREF_SP | 1u << FRAMETAB_CFA_DEREF_FP |
	             1u << FRAMETAB_CFA_DEREF_REG)))
		return 0;
	/* A guessed callee has taken the frame at [fp] (walker_took_frame of unwind/walk.c). */
	if ((ANEW(w->head) & 255) == FRAMETAB_CFA_DEREF_FP && !ANEW(w->off) && ANEW(w->guessed) &&
	    ANEW(w->cfa) != ANEW(w->regs[REG_SP])) {
		w->cfa += w->add;
		return 0;
	}
	if (walk_word(c, w->cfa, &w->cfa, 0, kind))
		return walk_end(w, KWALK_FAULT);
	w->cfa += w->add;
	return 0;
}

/* The caller's value of the frame pointer or the pc, whose kind is at `shift` in the rule's head;
 * not for FRAMETAB_AT_SAME and FRAMETAB_AT_UNDEFINED. */
INLINE long walk_at(struct walk *c, const int shift, __u64 *off, __u64 *ret, const int kind)
{
	struct walker *w = c->w;
	__u32 how = 1u << (ANEW(w->head) >> shift & 15);

	if (how & (1u << FRAMETAB_AT_EXPR | 1u << FRAMETAB_AT_VAL_EXPR))
		return walk_end(w, KWALK_BAD_RULE);
	*ret = w->cfa;
	how = 1u << (ANEW(w->head) >> shift & 15);
	if (how & (1u << FRAMETAB_AT_SP | 1u << FRAMETAB_AT_FP | 1u << FRAMETAB_AT_REG)) {
		ANEW(w->number) = REG_SP;
		if ((ANEW(w->head) >> shift & 15) == FRAMETAB_AT_FP)
			ANEW(w->number) = REG_FP;
		if ((ANEW(w->head) >> shift & 15) == FRAMETAB_AT_REG)
			ANEW(w->number) = (__u32)ANEW(*off);
		if (walk_register(c, ret, kind))
			return 1;
		if ((ANEW(w->head) >> shift & 15) == FRAMETAB_AT_REG)
			return 0;
	}
	*ret += ANEW(*off);
	if ((ANEW(w->head) >> shift & 15) == FRAMETAB_AT_VAL_CFA)
		return 0;
	if (walk_word(c, *ret, ret, shift == 24, kind))
		return walk_end(w, KWALK_FAULT);
	return 0;
}

/* Where this frame saved its caller's registers. Branch-free but for the whole; and no mask that is
 * 0 or -1 meets a constant, for Linux 6.19 goes both ways there: five of them were 150,000
 * instructions. */
ONCE int walk_saves(struct walker *w)
{
	static const int numbers[FRAMETAB_SAVED_X86_64] = { 3, 12, 13, 14, 15 };
	__u32 bits;
	__u64 base, from;

	if (!w || !(ANEW(w->head) >> 48))
		return 0;
	bits = ANEW(w->head) >> 48;
	from = w->at.saves + (__u64)w->saves * 2;
	w->frame[0] = w->cfa;
	if (ANEW(w->head) >> 32 & FRAMETAB_SAVES_AT_SP)
		w->frame[0] = w->regs[REG_SP];
	base = ANEW(w->frame[0]);
#pragma unroll
	for (int i = 0; i < (int)FRAMETAB_SAVED_X86_64; i++) {
		__u64 save = arena_u16_wide(from), has = bits >> i & 1, mask = -has;
		__u32 unknown = (__u32)(((save ^ (__u16)FRAMETAB_SAVE_UNKNOWN) - 1) >> 63);
		__u32 bit = (__u32)has << numbers[i];
		__u64 place = base + (((save ^ 0x8000) - 0x8000) << 3);

		w->regs[numbers[i]] = (w->regs[numbers[i]] & ~mask) | (place & mask);
		w->saved |= bit;
		w->known = (w->known & ~bit) | (bit & ~(unknown << numbers[i]));
		from += has << 1;
	}
	return 0;
}

/* To the caller: its pc, stack pointer and frame pointer are in w->ip, w->cfa, w->fp. */
INLINE void walk_leave(struct walker *w)
{
	w->regs[REG_SP] = w->cfa;
	w->regs[REG_FP] = w->fp;
	w->regs[REG_IP] = w->ip;
	w->first = 0;
	w->saved &= REGS_CALLEE;
	w->known &= REGS_CALLEE | 1u << REG_FP | 1u << REG_SP | 1u << REG_IP;
}

/* ---- uretprobes: the return address on the stack is a trampoline's, the task's own list has the
 * right one ---- */

#define TRAMPOLINE_BYTES 64u /* at most: a breakpoint, or a system call with its pushes */
#define STEPPED_BYTES 128u   /* of a copied instruction's slot */
#define INSTANCES_MAX 64     /* the kernel's own limit of nested ones */

/* Notes for the walk where the kernel has put return addresses of its own, and takes back where a
 * copied instruction runs. */
INLINE void walk_instances(struct walker *w)
{
	struct task_struct *task = (void *)w->task;
	struct xol_area *area = BPF_CORE_READ(task, mm, uprobes_state.xol_area);
	__u64 stepped;

	w->trampoline = w->instance = 0;
	if (!area || !bpf_core_field_exists(struct return_instance, orig_ret_vaddr))
		return;
	w->trampoline = BPF_CORE_READ(area, vaddr);
	w->instance = (__u64)BPF_CORE_READ(task, utask, return_instances);
	/* Where a breakpoint replaced an instruction its copy runs elsewhere; all else is as in its
	 * own place. */
	stepped = BPF_CORE_READ(task, utask, xol_vaddr);
	if (stepped && w->user.rip - stepped < STEPPED_BYTES) {
		w->user.rip += BPF_CORE_READ(task, utask, vaddr) - stepped;
		w->regs[REG_IP] = w->user.rip;
	}
}

/* Looks at one instance: 1 if it is that of w->slot, or none is left. Older functions stand higher
 * on the stack. */
static long walk_instance(__u32 i, void *ctx)
{
	struct walker *w = ((struct walk *)ctx)->w;
	struct return_instance *r = (void *)w->instance;

	if (!r || BPF_CORE_READ(r, stack) >= w->slot)
		return 1;
	w->instance = (__u64)BPF_CORE_READ(r, next);
	return 0;
}

/* The return address that belongs at an address of the stack, or at the next one above (next); 0:
 * the list does not know. */
ONCE __u64 walk_original(struct walker *w, __u64 slot, int next)
{
	struct walk c = { .w = w };
	struct return_instance *r;

	if (!w)
		return 0;
	w->slot = slot;
	bpf_loop(INSTANCES_MAX, walk_instance, &c, 0);
	r = (void *)ANEW(w->instance);
	if (!r || (!next && BPF_CORE_READ(r, stack) != ANEW(w->slot)))
		return 0;
	ANEW(w->slot) = BPF_CORE_READ(r, stack);
	return BPF_CORE_READ(r, orig_ret_vaddr);
}

/* On the way out of the kernel, that system call has done its work: the stack pointer is as it left
 * it. False: something else comes next than the rest of the trampoline. */
INLINE int walk_trampoline_left(struct walker *w)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct pt_regs *now = (void *)bpf_task_pt_regs(task);
	__u64 rip = 0;

	return !bpf_probe_read_kernel(&rip, 8, &now->rip) && rip == w->user.rip &&
	       !bpf_probe_read_kernel(&w->regs[REG_SP], 8, &now->rsp);
}

/*
 * In the trampoline itself: the function has returned. Up to the system call that asks where to,
 * the list knows; in it, the address leaves the list before it is on the stack, and nothing but its
 * being there, which rcx shows, tells that. Then the trampoline pops two registers and returns.
 */
INLINE long walk_trampoline(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	__u64 ip;

	w->off = ~0ull;
	if (walk_read(c, w->regs[REG_IP], &w->head, 8, kind))
		return walk_end(w, KWALK_WATCHED);
	if ((ANEW(w->head) & 0xff) == 0xc3) /* ret */
		w->off = 0;
	if ((ANEW(w->head) & 0xffff) == 0xc359) /* pop %rcx */
		w->off = 8;
	if ((ANEW(w->head) & 0xffffffff) == 0xc3595b41) /* pop %r11 */
		w->off = 16;
	if (kind == WALK_SLEEP && ANEW(w->off) == 16) {
		if (!walk_trampoline_left(w))
			return walk_end(w, KWALK_WATCHED);
	} else if (ANEW(w->off) >= 16) {
		ip = walk_original(w, w->regs[REG_SP] - 8, 1);
		if (ip && ANEW(w->slot) <= w->regs[REG_SP] + 16) {
			w->ip = ip;
			w->cfa = ANEW(w->slot) + 8;
			goto leave;
		}
		if (ANEW(w->off) != 16 || w->user.orig_rax != ~0ull || w->user.rcx != w->user.rip)
			return walk_end(w, KWALK_WATCHED);
	}
	w->cfa = w->regs[REG_SP] + ANEW(w->off) + 8;
	if (walk_read(c, w->cfa - 8, &w->ip, 8, kind) || w->ip == ANEW(w->trampoline))
		return walk_end(w, KWALK_WATCHED);
leave:
	w->fp = w->regs[REG_FP];
	w->exact = 0;
	walk_leave(w);
	return 0;
}

/* Frame pointers are kept here, so that 0 is the end of their chain. */
INLINE int walk_is_chain(struct walker *w)
{
	return w->by_fp || w->at.flags & KWALK_KEEPS_FP;
}

/* No table may be asked: [fp] is the caller's fp, [fp + 8] the return address. */
INLINE long walk_guess(struct walk *c, __u32 end, const int kind)
{
	struct walker *w = c->w;
	__u64 fp = w->regs[REG_FP];

	if (!(w->known & 1u << REG_FP) || fp < w->regs[REG_SP] || fp & 7)
		return walk_end(w, !fp && w->known & 1u << REG_FP && walk_is_chain(w)
		                           ? KWALK_COMPLETE
		                           : end);
	if (walk_read(c, fp, w->frame, 16, kind))
		return walk_end(w, KWALK_FAULT);
	if (!w->frame[1])
		return walk_end(w, walk_is_chain(w) ? KWALK_COMPLETE : end);
	w->cfa = fp + 16;
	if (w->frame[1] == ANEW(w->trampoline)) {
		w->frame[1] = walk_original(w, fp + 8, 0);
		if (!w->frame[1])
			return walk_end(w, KWALK_WATCHED);
	}
	if (!w->by_fp && !walk_find(w, w->frame[1] - 1))
		return walk_end(w, end);
	w->fp = w->frame[0];
	w->ip = w->frame[1];
	w->exact = 0;
	w->guessed = 1;
	w->known &= ~REGS_CALLEE;
	walk_leave(w);
	return 0;
}

/*
 * Code that no table describes may say itself what it does next: a call that returned to `add
 * $n,%rsp`, `pop %rbp` or both, and then `ret`, as trampolines have it (CPython's -X perf) and the
 * ends of many functions. That is as sure as a rule (unwind/straight.c, of which this is the part
 * that trampolines need). 0: it is other code, nothing was done; 1: done; 2: the walk ended.
 */
INLINE long walk_by_code(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	__u64 code, popped;

	if (w->exact || walk_read(c, w->regs[REG_IP], &w->head, 8, kind))
		return 0;
	w->off = 0;
	code = ANEW(w->head);
	if ((code & 0xffffff) == 0xc48348) {
		w->off = code >> 24 & 255;
		w->head = code >> 32;
	}
	code = ANEW(w->head);
	w->add = 8;
	if ((code & 0xff) == 0x5d) {
		w->add = 16;
		w->head = code >> 8;
	}
	if ((ANEW(w->head) & 0xff) != 0xc3 || ANEW(w->off) > 127)
		return 0;
	w->cfa = w->regs[REG_SP] + ANEW(w->off) + ANEW(w->add);
	if (walk_read(c, w->cfa - 16, w->frame, 16, kind))
		return walk_end(w, KWALK_FAULT) + 1;
	if (!w->frame[1] || w->frame[1] == ANEW(w->trampoline) || !walk_find(w, w->frame[1] - 1))
		return 0;
	w->fp = w->regs[REG_FP];
	popped = ANEW(w->add) >> 4 & 1;
	if (popped) {
		w->fp = w->frame[0];
		w->known |= 1u << REG_FP;
	}
	w->ip = w->frame[1];
	walk_leave(w);
	return 1;
}

/* ---- steps that are kept ---- */

/* Whether the walk has come into a state that is kept: then the frames from there on are compared
 * instead of walked. */
ONCE int walk_meets(struct walker *w, const struct steps *s)
{
	__u32 at;
	__u64 sp;

	if (!w || !s)
		return 0;
	at = ANEW(w->steps_at);
	sp = ANEW(w->regs[REG_SP]);
	/* Steps come with rising stack pointers. Where there are more that the walk has passed, it
	 * meets one some frames later. */
#pragma unroll
	for (int i = 0; i < 4; i++)
		at += (__u32)((s->at[at & STEPS_INDEX].sp - sp) >> 63);
	ANEW(w->steps_at) = at;
	if (at >= STEPS_ROOM || s->at[at & STEPS_INDEX].sp != sp || sp <= ANEW(w->steps_past) ||
	    s->at[at & STEPS_INDEX].pc != ANEW(w->regs[REG_IP]) ||
	    s->at[at & STEPS_INDEX].fp != ANEW(w->regs[REG_FP]) || ANEW(w->first) ||
	    ANEW(w->exact) || !(ANEW(w->known) & 1u << REG_FP) ||
	    ANEW(w->n) + STEPS_ROOM - at > ANEW(w->most))
		return 0;
	w->steps_met = 1;
	return 1;
}

/* Notes the state in front of the step of frame number n, which may not be kept unless it turns out
 * to be plain. */
INLINE void walk_note(struct walk *c, __u32 n)
{
	struct walker *w = c->w;
	struct steps_one *one;

	if (!WALK_NOTES(c))
		return;
	FORGET(n);
	one = &WALK_NOTES(c)->at[n & STEPS_INDEX];
	one->pc = w->regs[REG_IP];
	one->sp = w->regs[REG_SP];
	one->fp = w->regs[REG_FP];
	one->fp_at = 0;
	w->odd_before = w->odd;
	w->odd = w->noted = n + 1;
}

/* The step that was noted last goes by the rule in w->head, and read its return address where
 * ra_off says. It may be kept if it used no more than pc, stack pointer and frame pointer, and is
 * not of a signal's frame, nor of what a signal interrupted. */
INLINE int walk_is_plain(struct walker *w)
{
	__u64 head = ANEW(w->head), odd;

	odd = ~(1ull << FRAMETAB_CFA_SP | 1ull << FRAMETAB_CFA_FP | 1ull << FRAMETAB_CFA_PLT) >>
	              (head & 15) &
	      1;
	odd |= ~(1ull << FRAMETAB_AT_SAME | 1ull << FRAMETAB_AT_CFA) >> (head >> 16 & 15) & 1;
	odd |= (head >> 24 & 255) ^ FRAMETAB_AT_CFA;
	odd |= ANEW(w->ra_off) + 8;
	odd |= head >> 32 & (FRAMETAB_SIGNAL_FRAME | FRAMETAB_OTHER_STACK);
	odd |= ANEW(w->first) | ANEW(w->exact) | ((ANEW(w->known) >> REG_FP & 1) ^ 1);
	return !odd;
}

/* It read the frame pointer there; 0: nowhere. */
INLINE void walk_note_plain(struct walker *w, struct steps_now *now, __u64 fp_at)
{
	w->odd = w->odd_before;
	now->at[(ANEW(w->noted) - 1) & STEPS_INDEX].fp_at = fp_at;
}

/* A plain step whose return address is 0 leads to the end, and so does each that reads the same. */
INLINE void walk_note_outermost(struct walker *w, struct steps_now *now, __u64 cfa)
{
	struct steps_one *one = &now->at[ANEW(w->noted) & STEPS_INDEX];

	walk_note_plain(w, now, 0);
	one->pc = one->fp_at = one->fp = 0;
	one->sp = cfa;
	w->noted++;
}

/* Moves to the caller by the rule at this offset of the arena. 0; 1: the walk has ended. */
INLINE long walk_by_rule(struct walk *c, __u64 rule, const int kind)
{
	struct walker *w = c->w;
	__u64 offs = arena_u64(RULE_AT(rule, cfa_off)), where = arena_u64(RULE_AT(rule, fp_off));
	__u32 how, left_alone;

	/* The parts of a rule as docs/unwind-table.md lays them out; offsets are signed. */
	w->head = arena_u64(rule);
	w->saves = arena_u32(RULE_AT(rule, saves));
	w->off = (__u64)((__s64)(offs << 32) >> 32);
	w->add = (__u64)((__s64)offs >> 32);
	w->fp_off = (__u64)((__s64)(where << 32) >> 32);
	w->ra_off = (__u64)((__s64)where >> 32);
	how = ANEW(w->head) >> 24 & 255;
	if (how == FRAMETAB_AT_UNDEFINED) {
		if (WALK_NOTES(c) && !w->first && !w->exact)
			walk_note_plain(w, WALK_NOTES(c), 0);
		return walk_end(w, KWALK_COMPLETE);
	}
	if (how == FRAMETAB_AT_SAME)
		return walk_end(w, KWALK_BAD_RULE);
	if (walk_cfa(c, kind) || walk_at(c, 24, &w->ra_off, &w->ip, kind))
		return 1;
	if (!w->ip) {
		if (WALK_NOTES(c) && walk_is_plain(w))
			walk_note_outermost(w, WALK_NOTES(c), w->cfa);
		return walk_end(w, KWALK_COMPLETE);
	}
	/* A uretprobe took the return address: the task's own list has it. */
	if (w->ip == ANEW(w->trampoline)) {
		w->ip = walk_original(w, w->cfa - 8, 0);
		if (!w->ip)
			return walk_end(w, KWALK_WATCHED);
	}
	w->fp = w->regs[REG_FP];
	how = ANEW(w->head) >> 16 & 255;
	if (how > FRAMETAB_AT_UNDEFINED) {
		if (walk_at(c, 16, &w->fp_off, &w->fp, kind))
			return 1;
		w->known |= 1u << REG_FP;
	} else if (how == FRAMETAB_AT_UNDEFINED) {
		w->known &= ~(1u << REG_FP);
	}
	walk_saves(w);
	if (WALK_NOTES(c) && walk_is_plain(w))
		walk_note_plain(w, WALK_NOTES(c),
		                (ANEW(w->head) >> 16 & 255) == FRAMETAB_AT_CFA ? w->cfa + w->fp_off
		                                                               : 0);
	w->exact = ANEW(w->head) >> 32 & FRAMETAB_SIGNAL_FRAME;
	/* Except out of a signal's handler, or where the rule says that the stack is another one, a
	 * caller's stack pointer is above the callee's. */
	if (!(ANEW(w->head) >> 32 & (FRAMETAB_SIGNAL_FRAME | FRAMETAB_OTHER_STACK)) &&
	    (w->cfa < w->regs[REG_SP] || (w->cfa == w->regs[REG_SP] && !w->first)))
		return walk_end(w, KWALK_NO_PROGRESS);
	/* As in unwind/walk.c: assembler's rules may ask for what the first frame left alone. */
	left_alone = ANEW(w->exact) || !w->first || w->guessed ? 0 : w->known & REGS_CALLER;
	walk_leave(w);
	w->known |= left_alone;
	return 0;
}

/* Reads a word of the stack into ret, mostly without a call. */
#define WALK_WORD(w, window, address, ret)                                       \
	((((address)&7) | ((address)-ANEW((w)->window_at) >= (w)->window_bytes)) \
	         ? walk_word_now(w, window, address, &(w)->word, 1) ||           \
	                   (((ret) = ANEW((w)->word)), 0)                        \
	         : (((ret) = (window)->words[(address) >> 3 & (WALK_WINDOW - 1)]), 0))

/*
 * Moves to the caller by a rule that has a short form. It gives what walk_by_rule gives, but for
 * callee-saved registers, which are not known then: where one is asked for the walk is made again
 * (`full`). 0; 1: the walk has ended; 2: nothing was done.
 */
ONCE int walk_by_short(struct walker *w, struct walk_window *window, struct steps_now *now)
{
	__u64 sp, fp, cfa, ip, slot;
	__u32 bits, known, plain;

	if (!w || !window || !now)
		return 2;
	bits = walk_short(w);
	known = ANEW(w->known);
	if (!(bits & SHORT_IS) || (bits & SHORT_FP && !(known & 1u << REG_FP)))
		return 2;
	sp = w->regs[REG_SP];
	fp = w->regs[REG_FP];
	cfa = (bits & SHORT_FP ? fp : sp) + SHORT_CFA(bits);
	if (cfa <= sp)
		return 2;
	/* The lower word first, so that what is read around each serves for both. */
	slot = SHORT_SLOT(bits) ? cfa - SHORT_SLOT(bits) * 8 : 0;
	if (slot && WALK_WORD(w, window, slot, fp))
		return 2;
	if (WALK_WORD(w, window, cfa - 8, ip))
		return (int)walk_end(w, KWALK_FAULT);
	plain = !w->first && !w->exact && known & 1u << REG_FP;
	if (!ip) {
		if (plain)
			walk_note_outermost(w, now, cfa);
		return (int)walk_end(w, KWALK_COMPLETE);
	}
	if (slot)
		known |= 1u << REG_FP;
	if (plain)
		walk_note_plain(w, now, slot);
	w->known = (known & (1u << REG_FP)) | 1u << REG_SP | 1u << REG_IP |
	           (w->first && !w->guessed ? known & REGS_CALLER : 0);
	w->saved = 0;
	w->regs[REG_SP] = w->cfa = cfa;
	w->regs[REG_FP] = w->fp = fp;
	w->regs[REG_IP] = w->ip = ip;
	w->first = w->exact = 0;
	return 0;
}

/* Code between two functions that nobody described: perhaps all is as it was before it, by another
 * rule. Not in the child of a clone. */
INLINE __u64 walk_like(struct walker *w, __u64 rule)
{
	if (!w->first || !w->regs[0])
		return 0;
	w->guessed = 1;
	w->known &= ~REGS_CALLEE;
	return w->at.rules + arena_u32_wide(rule + 28) * 32;
}

/* These for the walk that does not fault, of which each sample has one. */
ONCE int walk_trampoline_now(struct walker *w)
{
	struct walk c = { .w = w };

	return w ? (int)walk_trampoline(&c, WALK_NOW) : 1;
}

ONCE int walk_guess_now(struct walker *w, __u32 end)
{
	struct walk c = { .w = w };

	return w ? (int)walk_guess(&c, end, WALK_NOW) : 1;
}

ONCE int walk_by_code_now(struct walker *w)
{
	struct walk c = { .w = w };

	return w ? (int)walk_by_code(&c, WALK_NOW) : 2;
}

ONCE int walk_by_rule_now(struct walker *w, struct walk_window *window, __u64 rule WALK_NOTES_TAKEN)
{
	struct walk c = { .w = w, .window = window };

	WALK_NOTES_IN(&c);
	return w ? (int)walk_by_rule(&c, rule, WALK_NOW) : 1;
}

#ifdef RUNTIME_UNDESCRIBED
/* Of a runtime that makes code: looks at a native frame of code without unwind information, and
 * makes the step if it knows the code. Returns as walk_by_code does. */
INLINE long RUNTIME_UNDESCRIBED(struct walk *c, const int kind);
#endif

#ifdef RUNTIME_OWN_CODE
/* Whether an interpreter made the code there; its own step to the caller. */
INLINE int runtime_is_code(struct walk *c, __u64 pc);
INLINE long runtime_code(struct walk *c, const int kind);
#else
INLINE int runtime_is_code(struct walk *c, __u64 pc)
{
	return 0;
}

INLINE long runtime_code(struct walk *c, const int kind)
{
	return 1;
}
#endif

/* Writes down the current frame and moves to its caller: by rule, by the code itself, or by frame
 * pointer where that is allowed. 0; 1: the walk has ended, and w->end says why. */
INLINE long walk_step(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	__u64 rule;
	__u32 n = w->n;
	long how = 0;
	int own;

	if (RUNTIME_WALKED && n)
		runtime_pass(c->runtime, n - 1, w);
	w->steps_met = 0;
	if (n >= w->most || n >= KWALK_FRAMES_MAX)
		return walk_end(w, KWALK_LIMIT);
	if (WALK_STEPS(c) &&
	    WALK_STEPS(c)->at[ANEW(w->steps_at) & STEPS_INDEX].sp <= w->regs[REG_SP] &&
	    walk_meets(w, WALK_STEPS(c)))
		return 1;
	w->pc = w->regs[REG_IP] - !w->exact;
	own = !w->by_fp && runtime_is_code(c, w->pc);
	w->found = own || (!w->by_fp && walk_find(w, w->pc));
	/* What execution stopped at is a frame in any case; any other word only where something is
	 * mapped. */
	if (n && !w->by_fp && !ANEW(w->found))
		return walk_end(w, KWALK_NO_MAPPING);
	FORGET(n);
	c->frames[n & (WALK_ROOM - 1)] = w->regs[REG_IP];
	w->n = n + 1;
	walk_note(c, n);
	if (w->first && ANEW(w->trampoline) && w->pc - w->trampoline < TRAMPOLINE_BYTES)
		return kind == WALK_NOW ? walk_trampoline_now(w) : walk_trampoline(c, kind);
	if (w->by_fp)
		return kind == WALK_NOW ? walk_guess_now(w, KWALK_NO_PROGRESS)
		                        : walk_guess(c, KWALK_NO_PROGRESS, kind);
	if (own)
		return runtime_code(c, kind);
	if (!ANEW(w->found))
		return walk_end(w, KWALK_NO_MAPPING);
	if (kind == WALK_NOW && WALK_NOTES(c) && !ANEW(w->full)) {
		int moved = walk_by_short(w, c->window, WALK_NOTES(c));

		if (moved != 2)
			return moved;
	}
	rule = walk_rule(w, w->pc);
	if (rule && arena_u64(rule) >> 32 & FRAMETAB_LIKE)
		rule = walk_like(w, rule);
	if (rule && (arena_u64(rule) & 255))
		return kind == WALK_NOW ? walk_by_rule_now(w, c->window, rule WALK_NOTES_GIVEN(c))
		                        : walk_by_rule(c, rule, kind);
#ifdef RUNTIME_UNDESCRIBED
	how = RUNTIME_UNDESCRIBED(c, kind);
#endif
	/* V8's object has code of assemblers, too. */
	if (!how && (RUNTIME_KIND == RUNTIME_V8 || w->at.flags & KWALK_MAY_GUESS))
		how = kind == WALK_NOW ? walk_by_code_now(w) : walk_by_code(c, kind);
	if (how)
		return how - 1;
	if (kind == WALK_NOW && w->at.flags & KWALK_TOLD)
		return walk_guess_now(w, KWALK_BAD_RULE); /* the recorder goes on */
	if (w->at.flags & (KWALK_MAY_GUESS | KWALK_KEEPS_FP) ||
	    (rule && arena_u64(rule) >> 32 & FRAMETAB_KEEPS_FP))
		return kind == WALK_NOW
		               ? walk_guess_now(w, w->at.n_pages ? KWALK_NO_RULE : KWALK_NO_TABLE)
		               : walk_guess(c, w->at.n_pages ? KWALK_NO_RULE : KWALK_NO_TABLE,
		                            kind);
	return walk_end(w, w->at.n_pages ? KWALK_NO_RULE : KWALK_NO_TABLE);
}

/* A loop's body returns 0 or 1, which the verifier does not know of a function. */
INLINE long walk_step_ends(long r)
{
	FORGET(r);
	return r & 1;
}

static long walk_step_now(__u32 i, void *c)
{
	return walk_step_ends(walk_step(c, WALK_NOW));
}

static long walk_step_sleep(__u32 i, void *c)
{
	return walk_step_ends(walk_step(c, WALK_SLEEP));
}

static long walk_step_task(__u32 i, void *c)
{
	return walk_step_ends(walk_step(c, WALK_TASK));
}

#endif
