/* SPDX-License-Identifier: MIT */
/*
 * hotspot_frame.bpf.h: from a frame of compiled code to its caller. HotSpot says how large the
 * frame is. Where execution stopped it may be half built or gone: the instructions there say that.
 */
#ifndef SEAM_CAPTURE_RUNTIME_HOTSPOT_FRAME_BPF_H
#define SEAM_CAPTURE_RUNTIME_HOTSPOT_FRAME_BPF_H

#include "capture/runtime/hotspot_chunk.bpf.h"

/* To the caller: its pc, stack pointer and frame pointer. Java's code keeps no other register. */
INLINE long hotspot_leave(struct walk *c, __u64 ip, __u64 sp, __u64 fp, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;

	/* Where execution stopped the return address may have been popped already. */
	if (sp < w->regs[REG_SP] || (sp == w->regs[REG_SP] && !w->exact))
		return walk_end(w, KWALK_NO_PROGRESS);
	if (ANEW(HS(p)->link_mask) && sp >= ANEW(HS(p)->chunk_bottom))
		return kind == WALK_NOW ? hotspot_chunk_end_now(w, p, sp)
		                        : hotspot_chunk_end(c, sp, kind);
	if (!ip || (ANEW(HS(p)->link_mask) && !hotspot_is_code(c, ip)))
		return walk_end(w, KWALK_NO_RULE);
	w->ip = ip;
	w->cfa = sp;
	w->fp = fp;
	w->exact = 0;
	walk_leave(w);
	w->known = 1u << REG_FP | 1u << REG_SP | 1u << REG_IP;
	w->saved = 0;
	return 0;
}

/* The return address is at the stack pointer and so many bytes, and if `saved` the caller's frame
 * pointer below it. */
INLINE long hotspot_by_sp(struct walk *c, __u64 bytes, int saved, const int kind)
{
	struct walker *w = c->w;
	__u64 at = w->regs[REG_SP] + bytes;
	__u64 fp = w->regs[REG_FP];

	if (walk_word(c, at, &w->frame[1], 1, kind))
		return walk_end(w, KWALK_FAULT);
	if (saved && walk_word(c, at - 8, &fp, 0, kind))
		return walk_end(w, KWALK_FAULT);
	return hotspot_leave(c, ANEW(w->frame[1]), at + 8, hotspot_link(c->runtime, at - 8, fp),
	                     kind);
}

/* Reads what is at a frame pointer that was set up: the caller's, the return address, and behind
 * them the caller's stack. Where compiled code is asked whether it may go on, -1 comes first. */
INLINE long hotspot_words(struct walk *c, __u64 fp, const int kind)
{
	struct walker *w = c->w;

	w->cfa = fp + 16;
	if (walk_read(c, fp, w->frame, 16, kind))
		return 1;
	if (ANEW(w->frame[1]) != ~0ull)
		return 0;
	w->cfa = fp + 24;
	return walk_read(c, fp + 16, &w->frame[1], 8, kind);
}

/* By frame pointer, where one was set up. */
INLINE long hotspot_by_fp(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	__u64 fp = w->regs[REG_FP];

	if (!(w->known & 1u << REG_FP) || fp < w->regs[REG_SP] ||
	    fp - w->regs[REG_SP] > HOTSPOT_FRAME * 8 || fp & 7)
		return walk_end(w, KWALK_NO_RULE);
	if (hotspot_words(c, fp, kind))
		return walk_end(w, KWALK_FAULT);
	return hotspot_leave(c, ANEW(w->frame[1]), w->cfa, ANEW(w->frame[0]), kind);
}

#define CODE(i) ((__u32)ANEW(HS(p)->code[16 + (i)]))

/* Reads what stands around the pc, and the newest words of the stack. */
INLINE long hotspot_look(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;

	return walk_read(c, c->w->regs[REG_IP] - 16, HS(p)->code, 32, kind) ||
	       walk_read(c, c->w->regs[REG_SP], HS(p)->stack, 16, kind);
}

/* Words that a compiled frame has not yet, or no more, at the pc. */
enum hotspot_state {
	HOTSPOT_WHOLE,
	HOTSPOT_NOT_SAVED, /* whole, but the frame pointer is still the caller's */
	HOTSPOT_PUSHED,    /* the frame pointer, and nothing else */
	HOTSPOT_BARE,      /* nothing but the return address */
};

/* Before the frame is complete: the stack is banged, the frame pointer pushed, the stack pointer
 * moved, perhaps a word compared with the thread's. */
INLINE __u32 hotspot_begins(struct runtime_walk *p)
{
	__u32 now = CODE(0) | CODE(1) << 8 | CODE(2) << 16, pushed = CODE(-1) == 0x55;

	if (now == 0xec8b48 || now == 0xe58948) /* mov %rsp,%rbp */
		return pushed ? HOTSPOT_PUSHED : HOTSPOT_BARE;
	if (now == 0xec8348 || now == 0xec8148) { /* sub $n,%rsp */
		if (CODE(-3) == 0x48 && (CODE(-2) == 0x8b || CODE(-2) == 0x89) &&
		    (CODE(-1) == 0xec || CODE(-1) == 0xe5))
			pushed = 1;
		return pushed ? HOTSPOT_PUSHED : HOTSPOT_BARE;
	}
	if ((now == 0x6c8948 || now == 0xac8948 || now == 0x2c8948) && CODE(3) == 0x24)
		return HOTSPOT_NOT_SAVED; /* mov %rbp,n(%rsp) */
	if (CODE(0) == 0x41 && CODE(1) == 0x81 && (CODE(2) == 0x7f || CODE(2) == 0xbf))
		return HOTSPOT_WHOLE; /* cmpl $n,n(%r15) */
	/* What aligns that, behind sub $n,%rsp and perhaps mov %rbp,n(%rsp). */
	if ((CODE(-4) == 0x48 && CODE(-3) == 0x83 && CODE(-2) == 0xec) ||
	    (CODE(-7) == 0x48 && CODE(-6) == 0x81 && CODE(-5) == 0xec) ||
	    (CODE(-5) == 0x48 && CODE(-4) == 0x89 && CODE(-3) == 0x6c && CODE(-2) == 0x24) ||
	    (CODE(-8) == 0x48 && CODE(-7) == 0x89 && CODE(-6) == 0xac && CODE(-5) == 0x24))
		return HOTSPOT_WHOLE;
	if ((CODE(-8) == 0x41 && CODE(-7) == 0x81 && CODE(-6) == 0x7f) ||
	    (CODE(-10) == 0x41 && CODE(-9) == 0x81 && CODE(-8) == 0x7f) ||
	    (CODE(-11) == 0x41 && CODE(-10) == 0x81 && CODE(-9) == 0xbf) ||
	    (CODE(-13) == 0x41 && CODE(-12) == 0x81 && CODE(-11) == 0xbf))
		return HOTSPOT_WHOLE; /* behind it, perhaps behind the jump as well */
	if (pushed && CODE(0) != 0x55)
		return HOTSPOT_PUSHED;
	return HOTSPOT_BARE;
}

/* Whether the frame may not be complete at the pc. Assembler's pieces do not say; where they begin
 * they are told by their first instructions. */
INLINE int hotspot_is_beginning(struct walk *c)
{
	struct runtime_walk *p = c->runtime;
	__u64 at = c->w->regs[REG_IP] - HS(p)->begin;

	if (ANEW(HS(p)->complete) <= HS(p)->size)
		return at < ANEW(HS(p)->complete);
	return !at || (at <= 8 && CODE(0) == 0x48 &&
	               (CODE(1) == 0x81 || CODE(1) == 0x83 || CODE(1) == 0x89 || CODE(1) == 0x8b));
}

/* Whether the instruction that ends at pc + i adds to the stack pointer. */
INLINE int hotspot_adds(struct runtime_walk *p, const int i)
{
	return (CODE(i - 4) == 0x48 && CODE(i - 3) == 0x83 && CODE(i - 2) == 0xc4) ||
	       (CODE(i - 7) == 0x48 && CODE(i - 6) == 0x81 && CODE(i - 5) == 0xc4);
}

/* Behind that: the stack pointer is moved back, the frame pointer popped, the thread's word looked
 * at, and then it returns. */
INLINE __u32 hotspot_ends(struct runtime_walk *p)
{
	__u32 small = ANEW(HS(p)->frame) == 2;

	if (CODE(0) == 0xc3) /* ret */
		return HOTSPOT_BARE;
	if (ANEW(HS(p)->what) == HOTSPOT_BLOB_NATIVE && CODE(-1) == 0xc9 &&
	    (CODE(0) == 0x49 || CODE(0) == 0x41) && (CODE(1) == 0x83 || CODE(1) == 0x81))
		return HOTSPOT_BARE;                          /* leave; cmp $0,n(%r15) */
	if (CODE(0) == 0x5d && (small || hotspot_adds(p, 0))) /* pop %rbp */
		return HOTSPOT_PUSHED;
	if (CODE(-1) == 0x5d && (small || hotspot_adds(p, -1)))
		return HOTSPOT_BARE;
	if (CODE(0) == 0x49 && CODE(1) == 0x3b && (CODE(2) == 0xa7 || CODE(2) == 0x67))
		return HOTSPOT_BARE; /* cmp n(%r15),%rsp */
	if (CODE(0) == 0x0f && (CODE(1) == 0x87 || CODE(1) == 0x85) && CODE(6) == 0xc3)
		return HOTSPOT_BARE; /* a jump over the ret */
	return HOTSPOT_WHOLE;
}

/* Leaves a frame of known size. */
INLINE long hotspot_sized(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u32 words = ANEW(HS(p)->frame), state = HOTSPOT_WHOLE;

	/* Linkers of method handles have none, and jump on. */
	if (!words && w->exact && ANEW(HS(p)->what) == HOTSPOT_BLOB_NATIVE)
		return hotspot_by_sp(c, 0, 0, kind);
	if (words < 2 || words > HOTSPOT_FRAME)
		return walk_end(w, KWALK_NO_RULE);
	if (w->exact) {
		if (hotspot_look(c, kind))
			return walk_end(w, KWALK_FAULT);
		state = hotspot_is_beginning(c) ? hotspot_begins(p) : hotspot_ends(p);
	}
	FORGET(state);
	w->off = ((__u64)words - 1) * 8;
	w->add = 1;
	if (state == HOTSPOT_BARE)
		w->off = 0;
	if (state == HOTSPOT_PUSHED)
		w->off = 8;
	if (state == HOTSPOT_BARE || state == HOTSPOT_NOT_SAVED)
		w->add = 0;
	return hotspot_by_sp(c, ANEW(w->off), !!ANEW(w->add), kind);
}

/* A frame of a compiled method, or of the code around a native one. */
INLINE long hotspot_compiled(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u64 pc = w->regs[REG_IP];
	__u32 at;

	/* It is to be interpreted: HotSpot has put its own address in the place of this one. */
	if (!w->exact && (pc == HS(p)->deopt[0] || pc == HS(p)->deopt[1]) &&
	    ANEW(HS(p)->orig_pc) < HOTSPOT_FRAME * 8 &&
	    walk_read(c, w->regs[REG_SP] + HS(p)->orig_pc, &pc, 8, kind))
		return walk_end(w, KWALK_FAULT);
	if (hotspot_meets(c, pc))
		return walk_end(w, KWALK_NO_RULE);
	at = (__u32)(pc - HS(p)->begin) & (HOTSPOT_PC_EXACT - 1);
	if (ANEW(HS(p)->what) == HOTSPOT_BLOB_NATIVE)
		at = HOTSPOT_NO_BCI;
	else if (w->exact)
		at |= HOTSPOT_PC_EXACT;
	hotspot_name(c, HS(p)->method, at, kind);
	return hotspot_sized(c, kind);
}

#endif
