/* SPDX-License-Identifier: MIT */
/*
 * v8_frame.bpf.h: which function a frame of V8's code runs, and how it is left. The innermost frame
 * may not stand yet or any more: the code at its pc tells.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_FRAME_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_FRAME_BPF_H

#include "capture/runtime/v8_object.bpf.h"

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

#define V8_FRAME_BELOW 40 /* bytes of a frame that are read below its frame pointer */
#define V8_CODE_BEFORE 24
#define V8_ENTRY 0x00505756e5894855ull /* push rbp; mov rbp,rsp; push rsi; push rdi; push rax */
#define V8_ENTRY_MASK 0x00ffffffffffffffull
#define V8_FUNCTION_REGISTER 5 /* rdi: the function that is entered */

INLINE __u64 v8_code(struct v8 *v, const int at)
{
	return *(volatile __u64 *)((char *)v->code + V8_CODE_BEFORE + at);
}

INLINE int v8_enters(struct v8 *v, const int at)
{
	return (v8_code(v, at) & V8_ENTRY_MASK) == V8_ENTRY;
}

/* Compiled functions ask first whether they were given up: mov -n(%rcx),%rbx; testb; jump. */
INLINE int v8_enters_later(struct v8 *v)
{
	return (v8_enters(v, 14) && (v8_code(v, 0) & 0xffffff) == 0x598b48) ||
	       (v8_enters(v, 15) && (v8_code(v, 0) & 0xffffff) == 0x598b48) ||
	       (v8_enters(v, 10) && (v8_code(v, 0) & 0xffff) == 0x43f6) ||
	       (v8_enters(v, 11) && (v8_code(v, 0) & 0xffff) == 0x43f6) ||
	       (v8_enters(v, 6) && (v8_code(v, 0) & 0xffff) == 0x850f) ||
	       (v8_enters(v, 7) && (v8_code(v, 0) & 0xffff) == 0x0574);
}

/* Behind the pop of the frame pointer the arguments are dropped, and it returns. */
INLINE enum v8_stage v8_returns(struct v8 *v)
{
	__u64 at = v8_code(v, 0);

	if ((at & 0xff) == 0xc3 || (at & 0xff) == 0xc2)
		return V8_RETURNS;
	/* cmp $n,%rcx or %r8; jg; ret $n */
	if ((v8_code(v, -1) & 0xff) == 0x5d &&
	    ((at & 0xffffff) == 0xf98348 || (at & 0xffffff) == 0xf88349))
		return V8_RETURNS;
	if ((v8_code(v, -5) & 0xff) == 0x5d && (at & 0xff00ff) == 0xc2007f)
		return V8_RETURNS;
	/* pop %r10; lea; push %r10; ret */
	if ((at & 0xffff) == 0x5a41 && (v8_code(v, 3) & 0xff) == 0x8d)
		return V8_RETURNS;
	if (((at & 0xffffff) == 0x248d48 || (at & 0xffffff) == 0x248d4a) &&
	    (v8_code(v, 4) & 0xffffff) == 0xc35241)
		return V8_POPPED_R10;
	if ((at & 0xffffff) == 0xc35241)
		return V8_POPPED_R10;
	/* leave; pop %rcx; add or lea; push %rcx; ret */
	if ((v8_code(v, -1) & 0xffff) == 0x59c9)
		return V8_RETURNS;
	if ((v8_code(v, -2) & 0xffff) == 0x59c9 || (at & 0xffff) == 0xc351)
		return V8_POPPED_RCX;
	return V8_STANDS;
}

INLINE enum v8_stage v8_stage(struct v8 *v)
{
	if (v8_enters(v, 0) || v8_enters_later(v))
		return V8_ENTERED;
	if (v8_enters(v, -1))
		return V8_PUSHED;
	if (v8_enters(v, -4) || v8_enters(v, -5))
		return V8_LINKED;
	if ((v8_code(v, 0) & 0xffffffff) == 0xe5894855)
		return V8_RETURNS; /* a builtin is entered */
	return v8_returns(v);
}

/* To the caller, whose frame pointer and return address are known. 0: they are none. */
INLINE long v8_leave(struct walk *c, __u64 cfa, __u64 fp, __u64 ip)
{
	struct walker *w = c->w;

	if (!ip || ip == ANEW(w->trampoline) || !walk_find(w, ip - 1))
		return 0;
	w->cfa = cfa;
	w->fp = fp;
	w->ip = ip;
	w->exact = 0;
	w->known &= ~REGS_CALLEE;
	walk_leave(w);
	return 1;
}

/* The innermost frame, by the code at its pc: v8->stage, and where its caller is if the frame does
 * not stand. */
INLINE void v8_first(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	struct v8 *v = V8(c->runtime);
	__u64 sp = w->regs[REG_SP];

	if (walk_read(c, w->regs[REG_IP] - V8_CODE_BEFORE, v->code, 56, kind)) {
		/* Code may end with its last page. */
		__builtin_memset(v->code, 0, sizeof(v->code));
		if (walk_read(c, w->regs[REG_IP] - V8_CODE_BEFORE, v->code, 32, kind))
			return;
	}
	v->stage = v8_stage(v);
	if (ANEW(v->stage) == V8_STANDS)
		return;
	if (walk_read(c, sp, v->top, 16, kind)) {
		v->stage = V8_STANDS;
		return;
	}
	v->leave[0] = sp + 8;
	v->leave[1] = w->regs[REG_FP];
	v->leave[2] = v->top[0];
	if (ANEW(v->stage) == V8_PUSHED) {
		v->leave[0] = sp + 16;
		v->leave[1] = v->top[0];
		v->leave[2] = v->top[1];
	}
	if (ANEW(v->stage) == V8_POPPED_RCX)
		v->leave[2] = w->regs[2];
	if (ANEW(v->stage) == V8_POPPED_R10)
		v->leave[2] = w->regs[10];
}

ONCE int v8_first_now(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };

	if (w && p)
		v8_first(&c, WALK_NOW);
	return 0;
}

/* The function of the frame, v8->closure; 0: it is no function's frame. 1: the walk has ended. */
INLINE long v8_closure(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 fp = w->regs[REG_FP];

	v->closure = 0;
	v->mark = fp;
	if (ANEW(v->stage) != V8_STANDS) {
		v->mark = w->regs[REG_SP];
		if (ANEW(v->stage) < V8_RETURNS)
			v->closure = w->regs[V8_FUNCTION_REGISTER];
		return 0;
	}
	/* What is below the stack pointer is nobody's: other code has anything in the register. */
	if (fp < w->regs[REG_SP] || (ANEW(w->exact) && ANEW(w->first) && fp - 16 < w->regs[REG_SP]))
		return 0;
	if (walk_read(c, fp - V8_FRAME_BELOW, v->frame, sizeof(v->frame), kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	if ((ANEW(v->frame[4]) & V8_TAG_MASK) == V8_TAG)
		v->closure = v->frame[3];
	return 0;
}

#endif
