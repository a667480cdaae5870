/* SPDX-License-Identifier: MIT */
/*
 * hotspot.bpf.h: stacks through code that HotSpot made, by the offsets of the process's version
 * (runtimes/hotspot_layout.h). Where the native walk comes to such code it asks here. So stacks are
 * whole without frame pointers, and each frame of a method says which one.
 *
 * A return address is in a finished frame, always. Where execution stopped in the interpreter, or
 * in one of HotSpot's pieces of assembler, registers say how far the frame is. What cannot be told
 * ends the walk.
 */
#ifndef SEAM_CAPTURE_RUNTIME_HOTSPOT_BPF_H
#define SEAM_CAPTURE_RUNTIME_HOTSPOT_BPF_H

#include "capture/runtime/hotspot_frame.bpf.h"

#define HOTSPOT_NEAR 4096u    /* bytes: so close to the stack pointer is a caller's */
#define HOTSPOT_STUB 0x20000u /* bytes of one piece of assembler at most */

/* What stands below the frame pointer of an interpreted method, in words. */
#define FRAME_SENDER 1
#define FRAME_METHOD 3
#define FRAME_LOCALS 7
#define FRAME_BYTECODE 8

/* ---- the interpreter ---- */

/* Names the method of an interpreter's frame. bytecode: where it is. 1: there is none, and nothing
 * was done. */
INLINE long hotspot_interprets(struct walk *c, __u64 method, __u64 bytecode, __u64 other,
                               const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u32 end = p->out.end;
	__u64 begin;

	if (hotspot_konst(c, method, kind)) {
		/* a page that may come is waited for */
		if (ANEW(p->sleeps) || !config.defers)
			p->out.end = end;
		return 1;
	}
	begin = HS(p)->konst + AT(const_bytes);
	if (bytecode - begin >= KONST2(const_code))
		bytecode = other;
	hotspot_name(c, method,
	             bytecode - begin < KONST2(const_code) ? (__u32)(bytecode - begin)
	                                                   : HOTSPOT_NO_BCI,
	             kind);
	return 0;
}

/* Whether w->cfa can be the stack pointer of the caller of a frame at fp. Linkers of method handles
 * take an argument or two from the stack, so that the frame begins that much above it. */
INLINE int hotspot_sender(struct walker *w, __u64 fp)
{
	if (w->cfa < fp || w->cfa - fp > HOTSPOT_FRAME * 16 || w->cfa & 7)
		return 1;
	if (w->cfa < fp + 16)
		w->cfa = fp + 16;
	return 0;
}

/* By the interpreter's frame at fp. Its caller's stack pointer is kept there: arguments and locals
 * lie between. */
INLINE long hotspot_frame(struct walk *c, __u64 bytecode, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u64 fp = w->regs[REG_FP], *words = HS(p)->words;

	if (!(w->known & 1u << REG_FP) || fp < w->regs[REG_SP] ||
	    fp - w->regs[REG_SP] > HOTSPOT_FRAME * 8 || fp & 7)
		return walk_end(w, KWALK_NO_RULE);
	if (walk_read(c, fp - FRAME_BYTECODE * 8, words, sizeof(HS(p)->words), kind))
		return walk_end(w, KWALK_FAULT);
	w->frame[0] = hotspot_link(p, fp, words[FRAME_BYTECODE]);
	w->frame[1] = words[FRAME_BYTECODE + 1];
	w->cfa = hotspot_link(p, fp, words[FRAME_BYTECODE - FRAME_SENDER]);
	if (hotspot_sender(w, fp) || hotspot_meets(c, words[0]))
		return walk_end(w, KWALK_NO_RULE);
	if (hotspot_interprets(c, words[FRAME_BYTECODE - FRAME_METHOD], bytecode, words[0], kind))
		return walk_end(w, KWALK_NO_RULE);
	return hotspot_leave(c, w->frame[1], w->cfa, w->frame[0], kind);
}

/*
 * Where a method begins, its frame is not there yet: r13 is the caller's stack pointer, rbx the
 * method. The return address is at the stack pointer, below the frame pointer that was pushed, or
 * in rax while room is made for locals.
 */
INLINE long hotspot_entered(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u64 sp = w->regs[REG_SP], fp = w->regs[REG_FP], ip = HS(p)->stack[0];

	if (ANEW(HS(p)->what) == HOTSPOT_BLOB_INTERPRETER)
		hotspot_interprets(c, w->regs[3], 0, 0, kind);
	if (fp >= sp && fp < w->regs[13]) {
		if (walk_read(c, fp, w->frame, 16, kind))
			return walk_end(w, KWALK_FAULT);
		return hotspot_leave(c, w->frame[1], w->regs[13], w->frame[0], kind);
	}
	if (ip == fp && hotspot_is_code(c, HS(p)->stack[1]))
		ip = HS(p)->stack[1];
	else if (!hotspot_is_code(c, ip))
		ip = w->regs[0];
	if (!hotspot_is_code(c, ip))
		return walk_end(w, KWALK_NO_RULE);
	return hotspot_leave(c, ip, w->regs[13], fp, kind);
}

/* A frame of which not all words are there yet: until its own is the method is in rbx. */
INLINE long hotspot_grows(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	__u64 fp = w->regs[REG_FP], method = w->regs[3];

	if (fp - w->regs[REG_SP] >= FRAME_METHOD * 8 &&
	    walk_read(c, fp - FRAME_METHOD * 8, &method, 8, kind))
		return walk_end(w, KWALK_FAULT);
	if (fp - w->regs[REG_SP] < FRAME_SENDER * 8)
		return walk_end(w, KWALK_NO_RULE);
	if (walk_read(c, fp, w->frame, 16, kind) ||
	    walk_read(c, fp - FRAME_SENDER * 8, &w->cfa, 8, kind))
		return walk_end(w, KWALK_FAULT);
	if (hotspot_sender(w, fp))
		return walk_end(w, KWALK_NO_RULE);
	hotspot_interprets(c, method, 0, 0, kind);
	return hotspot_leave(c, w->frame[1], w->cfa, w->frame[0], kind);
}

/* Where execution stopped in the interpreter. r13 is the bytecode, but at the ends of a method. */
INLINE long hotspot_interpreter(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u64 r13 = w->regs[13], sp = w->regs[REG_SP];

	if (!w->first)
		return hotspot_frame(c, 0, kind);
	if (hotspot_look(c, kind))
		return walk_end(w, KWALK_FAULT);
	if (r13 > sp && r13 - sp <= HOTSPOT_NEAR)
		return hotspot_entered(c, kind);
	if (w->regs[REG_FP] - sp < FRAME_BYTECODE * 8)
		return hotspot_grows(c, kind);
	/* leave, pop %r13, mov %rbx,%rsp, jmp *%r13 */
	if (CODE(0) == 0x41 && CODE(1) == 0x5d && hotspot_is_code(c, HS(p)->stack[0]) &&
	    w->regs[3] > sp && w->regs[3] - sp <= HOTSPOT_NEAR)
		return hotspot_leave(c, HS(p)->stack[0], w->regs[3], w->regs[REG_FP], kind);
	if (hotspot_is_code(c, r13) && w->regs[REG_IP] - r13 >= 64 && w->regs[3] >= sp &&
	    w->regs[3] - sp <= HOTSPOT_NEAR)
		return hotspot_leave(c, r13, w->regs[3] + (w->regs[3] == sp), w->regs[REG_FP],
		                     kind);
	return hotspot_frame(c, r13, kind);
}

/* ---- assembler's pieces ---- */

/* Whether before this address there is a call of this blob's code near pc: of a number behind it,
 * or of one that was loaded into r10. Pieces jump to others. */
INLINE int hotspot_calls(struct walk *c, __u64 ip, __u64 *target, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u64 pc = c->w->regs[REG_IP];
	unsigned char *code = HS(p)->before;

	if (!hotspot_is_code(c, ip) || walk_read(c, ip - 16, code, 16, kind))
		return 0;
	*target = 0;
	if (ANEW(code[11]) == 0xe8)
		*target = ip + (__u64)(__s64) * (volatile __s32 *)&code[12];
	if (ANEW(code[3]) == 0x49 && ANEW(code[4]) == 0xba && ANEW(code[13]) == 0x41 &&
	    ANEW(code[14]) == 0xff && ANEW(code[15]) == 0xd2)
		*target = *(volatile __u64 *)&code[5];
	return *target - HS(p)->begin < HS(p)->size &&
	       pc - *target + HOTSPOT_STUB < HOTSPOT_STUB * 2;
}

/*
 * Between interpreter and compiled code arguments are moved. The return address is taken from the
 * stack into rax, room is made, and it is put back. The stack pointer of a compiled caller is a
 * multiple of 16: while it is not, the return address is where it was put by the call, or put back
 * for compiled code. Else r13 is the caller's stack pointer, or where the return address is; it is
 * an older one until it was set behind the pop. A caller that is interpreted goes by its frame
 * pointer.
 */
INLINE long hotspot_adapter(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u64 sp = w->regs[REG_SP], ip = HS(p)->stack[0], cfa = w->regs[13];

	/* pop %rax; mov (%rsp),%rax */
	if (CODE(0) != 0x58 && !(CODE(0) == 0x48 && CODE(1) == 0x8b && CODE(2) == 0x04) &&
	    hotspot_is_code(c, w->regs[0]))
		ip = w->regs[0];
	if (!hotspot_is_code(c, ip))
		return walk_end(w, KWALK_NO_RULE);
	if (sp & 8 && ip == HS(p)->stack[0])
		cfa = sp;
	else if ((CODE(0) == 0x49 && CODE(1) == 0x89 && CODE(2) == 0xe5) ||
	         (CODE(0) == 0x4c && CODE(1) == 0x8b && CODE(2) == 0xec))
		cfa = sp; /* popped; mov %rsp,%r13 comes */
	cfa = (cfa + 8) & ~15ull;
	if (cfa - sp > HOTSPOT_NEAR)
		return walk_end(w, KWALK_NO_RULE);
	return hotspot_leave(c, ip, cfa, w->regs[REG_FP], kind);
}

/*
 * Registers are pushed, four one after the other, and in newer versions room for three and one more
 * is made behind them. So many words are above the return address, which says whether it is one.
 * The caller has pushed both classes, and pops them when it goes on.
 */
INLINE long hotspot_subtype(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u64 at = w->regs[REG_IP] - HS(p)->begin, *words = HS(p)->words, target;

	if (walk_read(c, w->regs[REG_SP], words, 9 * 8, kind))
		return walk_end(w, KWALK_FAULT);
	if (at == 1 || (CODE(0) == 0x5f && CODE(1) == 0xc3))
		at = 1;
	else if (at == 2 || (CODE(0) == 0x5e && CODE(1) == 0x5f))
		at = 2;
	else if (at == 3 || (CODE(0) == 0x59 && CODE(1) == 0x5e))
		at = 3;
	else
		at = 4;
	words[9] = at == 1 ? words[1] : at == 2 ? words[2] : at == 3 ? words[3] : words[4];
	if (at == 4 && !hotspot_calls(c, ANEW(words[9]), &target, kind)) {
		at = 8;
		words[9] = words[8];
	}
	FORGET(at);
	if (!hotspot_calls(c, ANEW(words[9]), &target, kind) || target != ANEW(HS(p)->begin) ||
	    walk_read(c, ANEW(words[9]), &target, 8, kind))
		return walk_end(w, KWALK_NO_RULE);
	if ((target & 0xff) == 0x41) /* of a register that is newer */
		target >>= 8;
	if ((target & 0xf8) != 0x58)
		return walk_end(w, KWALK_NO_RULE);
	return hotspot_leave(c, ANEW(words[9]), w->regs[REG_SP] + at * 8 + 24, w->regs[REG_FP],
	                     kind);
}

/* Execution stopped in code without a frame of known size: whoever called it shows. */
INLINE long hotspot_stub_at_pc(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u64 fp = w->regs[REG_FP], sp = w->regs[REG_SP], target, code = 0;

	if (hotspot_look(c, kind))
		return walk_end(w, KWALK_FAULT);
	/* A frame pointer that was set up by the piece that was called. */
	if (fp >= sp && fp - sp <= HOTSPOT_NEAR && !(fp & 7)) {
		if (hotspot_words(c, fp, kind))
			return walk_end(w, KWALK_FAULT);
		if (hotspot_calls(c, ANEW(w->frame[1]), &target, kind) &&
		    !walk_read(c, target, &code, 4, kind) &&
		    (code == 0xec8b4855 || code == 0xe5894855))
			return hotspot_by_fp(c, kind);
	}
	if (hotspot_calls(c, HS(p)->stack[0], &target, kind))
		return hotspot_by_sp(c, 0, 0, kind);
	if (HS(p)->stack[0] == fp && hotspot_calls(c, HS(p)->stack[1], &target, kind))
		return hotspot_by_sp(c, 8, 1, kind);
	if (ANEW(HS(p)->what) == HOTSPOT_BLOB_SUBTYPE)
		return hotspot_subtype(c, kind);
	return walk_end(w, KWALK_NO_RULE);
}

/* Execution stopped on the way from one kind of code to another. */
INLINE long hotspot_between(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u32 what = ANEW(HS(p)->what);
	__u64 sp = w->regs[REG_SP];

	if (hotspot_look(c, kind))
		return walk_end(w, KWALK_FAULT);
	if (what == HOTSPOT_BLOB_MOVER || what == HOTSPOT_BLOB_LEAF)
		return hotspot_by_sp(c, 0, 0, kind);
	if (what == HOTSPOT_BLOB_ADAPTER)
		return hotspot_adapter(c, kind);
	if (w->first && w->regs[13] > sp && w->regs[13] - sp <= HOTSPOT_NEAR)
		return hotspot_entered(c, kind);
	return hotspot_stub_at_pc(c, kind);
}

/* Leaves a piece that is neither a method's nor the interpreter's. */
INLINE long hotspot_stub(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;

	/* Where nothing says from where on its frame is whole, that is only where it calls: it
	 * saves all registers first, and takes them back before it returns. */
	if (ANEW(HS(p)->frame) - 2 < HOTSPOT_FRAME &&
	    (!w->exact || ANEW(HS(p)->complete) <= HS(p)->size))
		return hotspot_sized(c, kind);
	if (w->exact)
		return ANEW(HS(p)->what) >= HOTSPOT_BLOB_ADAPTER ? hotspot_between(c, kind)
		                                                 : hotspot_stub_at_pc(c, kind);
	/* The frames outwards of here wait on the heap, up to the one that mounted the thread. */
	if (ANEW(HS(p)->what) == HOTSPOT_BLOB_MOUNT) {
		if (!ANEW(HS(p)->link_done))
			p->out.end = KWALK_RUNTIME_AWAY;
		HS(p)->link_done = 0;
	}
	return hotspot_by_fp(c, kind);
}

/* A frame in HotSpot's code: names it and goes to its caller. 1: the walk has ended. */
INLINE long hotspot_step_once(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	long how = kind == WALK_NOW ? hotspot_blob_now(w, p) : hotspot_blob(c, w->pc, kind);
	__u32 what;

	if (how != KWALK_COMPLETE)
		return walk_end(w, how);
	what = ANEW(HS(p)->what);
	/* Where a method itself runs nobody takes frames off the stack. */
	if (w->first && w->exact &&
	    (what == HOTSPOT_BLOB_METHOD || what == HOTSPOT_BLOB_INTERPRETER))
		HS(p)->n_met = MET;
	what = ANEW(HS(p)->what);
	if (what == HOTSPOT_BLOB_METHOD || what == HOTSPOT_BLOB_NATIVE)
		return hotspot_compiled(c, kind);
	what = ANEW(HS(p)->what);
	if (what == HOTSPOT_BLOB_INTERPRETER)
		return hotspot_interpreter(c, kind);
	if (ANEW(HS(p)->link_mask))
		return walk_end(w, KWALK_NO_RULE);
	hotspot_meets(c, w->regs[REG_IP]);
	what = ANEW(HS(p)->what);
	if (what == HOTSPOT_BLOB_MOUNT && !w->exact && !ANEW(HS(p)->link_done) &&
	    !(kind == WALK_NOW ? hotspot_chunk_begin_now(w, p) : hotspot_chunk_begin(c, kind)))
		return 0;
	/* Outwards of the frames on the heap the barrier is no frame: nobody called it. */
	what = ANEW(HS(p)->what);
	if (what == HOTSPOT_BLOB_MOUNT && ANEW(HS(p)->link_done) &&
	    ANEW(p->out.end) != KWALK_RUNTIME_AWAY) {
		HS(p)->link_done = 0;
		w->n--;
		return hotspot_by_fp(c, kind);
	}
	if (kind == WALK_NOW)
		hotspot_name_stub_now(w, p);
	else
		hotspot_name_stub(c, kind);
	return hotspot_stub(c, kind);
}

/* The same. What of the heap cannot be understood is left out, from the beginning on. */
INLINE long hotspot_step(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	long r = hotspot_step_once(c, kind);

	if (!r || !ANEW(HS(p)->link_mask) ||
	    (kind == WALK_NOW && c->w->end == KWALK_FAULT && (ANEW(p->sleeps) | config.defers)))
		return r;
	hotspot_chunk_leave_out(c);
	return 0;
}

ONCE int hotspot_step_now(struct walker *w, struct runtime_walk *p, struct walk_window *window)
{
	struct walk c = { .w = w, .runtime = p, .window = window };

	return w && p ? (int)hotspot_step(&c, WALK_NOW) : 1;
}

ONCE int hotspot_step_task(struct walker *w, struct runtime_walk *p,
                           struct task_struct *task TRUSTED)
{
	struct walk c = { .w = w, .runtime = p, .task = task };

	return w && p ? (int)hotspot_step(&c, WALK_TASK) : 1;
}

INLINE long hotspot_step_sleep(struct walk *c)
{
	long r;

	runtime_keep_step(c);
	r = hotspot_step_now(c->w, c->runtime, c->window);
	if (runtime_brought(c))
		return 0;
	if (r && ANEW(HS(c->runtime)->link_mask)) {
		hotspot_chunk_leave_out(c);
		return 0;
	}
	return r;
}

INLINE int runtime_is_code(struct walk *c, __u64 pc)
{
	return hotspot_is_code(c, pc);
}

INLINE long runtime_code(struct walk *c, const int kind)
{
	if (kind == WALK_NOW)
		return hotspot_step_now(c->w, c->runtime, c->window);
	return kind == WALK_SLEEP ? hotspot_step_sleep(c)
	                          : hotspot_step_task(c->w, c->runtime, c->task);
}

#endif
