/* SPDX-License-Identifier: MIT */
/*
 * ruby.bpf.h: from a thread to Ruby's frames, by the offsets of the process's version
 * (runtimes/ruby_layout.h).
 *
 * A thread's variable has its execution context, a fiber's if one runs. Control frames lie side by
 * side from the newest one on; functions of Ruby that are written in C have some, too. Each call of
 * the loop runs the frames up to one that says so (VM_FRAME_FLAG_FINISH), and its caller, vm_exec,
 * has a tag on the C stack, for exceptions: the tags are a chain, in which vm_exec's are told by
 * the place where they go on. A tag says where its function's part of the stack ends: just below it
 * is the return address of the loop's call, which is the mark. What such a call is entered with has
 * its frame before its tag, and loses it before its tag.
 */
#ifndef SEAM_CAPTURE_RUNTIME_RUBY_BPF_H
#define SEAM_CAPTURE_RUNTIME_RUBY_BPF_H

#define RUNTIME_FRAMES ruby_frames
#define RUNTIME_OWN_WORDS 192u
#define RUNTIME_UNDESCRIBED ruby_undescribed

#include "capture/runtime/runtime.bpf.h"
#include "capture/runtime/ruby_names.bpf.h"
#include "capture/runtime/ruby_known.bpf.h"

#define RUBY_STACK_MOST (1ull << 27) /* words */
#define RUBY_FRAME_FORM 0x7fff0001u  /* VM_FRAME_MAGIC_* */
#define RUBY_FRAME_C 0x55550001u
#define RUBY_FRAME_DUMMY 0x79990001u
#define RUBY_FRAME_FINISH 0x20u
#define RUBY_FRAME_NO_CODE 0x80u /* CFRAME: written in C, or none */
#define RUBY_LOCAL 2u            /* VM_ENV_FLAG_LOCAL */
#define RUBY_ENVIRONMENTS 32u    /* blocks within each other */
#define RUBY_PLACES 54u          /* of an index of lines: those whose ranks are there at once */
#define RUBY_LINE_SIZE 12u

/* YJIT's code of 3.1: r13 has the newest frame, r12 the context, whose frame is at 16. */
#define RUBY_JIT_FRAME 13
#define RUBY_JIT_CODE 128u             /* bytes that are looked at */
#define RUBY_JIT_PUSHES 0x40ed8349u    /* sub $0x40, %r13 */
#define RUBY_JIT_PUSHES_C 0x246c8349u  /* subq $0x40, 0x10(%r12) */
#define RUBY_JIT_IMMEDIATE 0xb848u     /* movabs, %rax */
#define RUBY_JIT_FILLS 0x10458949u     /* mov %rax, 0x10(%r13): the code */
#define RUBY_JIT_SUBTRACTS 0x08e88348u /* sub $8, %rax */
#define RUBY_JIT_FILLS_C 0x20418948u   /* mov %rax, 0x20(%rcx): its variables */

/* ---- lines ---- */

INLINE __u32 ruby_ones(__u64 v)
{
	v -= v >> 1 & 0x5555555555555555ull;
	v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (__u32)(v * 0x0101010101010101ull >> 56);
}

/* Which row of the lines has a place in the code: rows begin where bits are set. */
INLINE long ruby_row(struct walk *c, __u64 index, __u64 place, __u32 *row, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 bits = 0, ranks;
	__u32 piece;

	if (place < RUBY_PLACES) {
		if (runtime_u64(c, index + place / 9 * 8, &bits, kind))
			return 1;
		*row = (__u32)(bits >> place % 9 * 7) & 127;
		return 0;
	}
	place -= RUBY_PLACES;
	if (walk_read(c, index + RUBY_PLACES / 9 * 8 + place / 512 * 80, r->block, sizeof(r->block),
	              kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	piece = (__u32)(place % 512 / 64);
	ranks = ANEW(r->block[1]);
	FORGET(piece);
	bits = ANEW(r->block[2 + (piece & 7)]) << (63 - place % 64);
	*row = (__u32)ANEW(r->block[0]) + ruby_ones(bits);
	if (piece)
		*row += (__u32)(ranks >> ((piece - 1) & 7) * 9) & 511;
	return 0;
}

/* The line of the frame: its place is behind the instruction that it is at. */
INLINE long ruby_line(struct walk *c, __u64 pc, __u32 *line, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 place = (pc - RUBY_BODY(r, 8)) / 8, n = (__u32)RUBY_BODY(r, AT(body_lines) + 16);
	__u32 row = 1;

	if (ANEW(r->line_pc) == pc) {
		*line = r->line;
		return 0;
	}
	*line = 0;
	place -= place != 0;
	if (!n || !pc || place >= RUBY_BODY(r, 0) >> 32)
		return 0;
	if (n > 1 && ruby_row(c, RUBY_BODY(r, AT(body_lines) + 24), place, &row, kind))
		return 1;
	if (!row || row > n)
		return 0;
	if (walk_read(c, RUBY_BODY(r, AT(body_lines)) + (row - 1ull) * RUBY_LINE_SIZE, &r->line, 4,
	              kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	*line = ANEW(r->line);
	r->line_pc = pc;
	return 0;
}

/* ---- frames ---- */

/* Looks for the method that a block is of: outwards, up to the method's own variables. */
INLINE long ruby_outwards(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 flags = ANEW(r->env[2]);

	r->method = r->env[0];
	if (flags & RUBY_LOCAL)
		return 1;
	if (ANEW(r->method) && !ruby_is(c, r->method, RUBY_METHOD, kind))
		return 1;
	r->method = 0;
	r->ep = r->env[1] & ~3ull;
	if (walk_read(c, ANEW(r->ep) - 16, r->env, sizeof(r->env), kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	return 0;
}

RUNTIME_LOOP(ruby_outwards, RUBY_ENVIRONMENTS)

/* Reads the code of a frame, if it is not the one that was read last. */
INLINE long ruby_body(struct walk *c, __u64 iseq, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);

	if (iseq == ANEW(r->iseq))
		return 0;
	r->iseq = r->line_pc = 0;
	if (ruby_is(c, iseq, RUBY_CODE, kind))
		return runtime_end(p, ANEW(p->out.end) == KWALK_RUNTIME_FAULT
		                              ? KWALK_RUNTIME_FAULT
		                              : KWALK_RUNTIME_BUILDING);
	if (walk_read(c, ANEW(r->head[2]), r->body, RUBY_BODY_SIZE, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	r->iseq = iseq;
	return 0;
}

/* What a frame runs is told once in a walk: of code, and of the method that it is part of. */
INLINE long ruby_met(struct walk *c, __u64 what, const int of_c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	/* Both are addresses, of which many lie equally far from each other. */
	__u64 code = runtime_mix(runtime_mix(config.seed, what), ANEW(r->method)) | 1;
	struct runtime_met *m = runtime_met(p, code);

	if (m->code == code) {
		p->told.key = m->key;
		r->nameless = (__u32)m->what;
		return 0;
	}
	p->told.key = 0;
	r->nameless = 0;
	if (of_c ? ruby_name_c(c, kind) : ruby_name(c, kind))
		return 1;
	m->what = r->nameless;
	runtime_meet(p, m, code);
	return 0;
}

/* A frame of Ruby code. */
INLINE long ruby_user(struct walk *c, __u64 iseq, __u64 pc, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u32 line;

	r->method = 0;
	ruby_outwards_all(c, kind);
	if (ANEW(p->out.end))
		return 1;
	if (ruby_put_known(p, iseq, pc))
		return 0;
	if (ruby_body(c, iseq, kind) || ruby_met(c, iseq, 0, kind) || ruby_line(c, pc, &line, kind))
		return 1;
	ruby_know(p, ANEW(r->is), line);
	runtime_put(p, p->told.key, line, RUNTIME_FRAME_CODE);
	return 0;
}

/* A frame of a method that is written in C. */
INLINE long ruby_of_c(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);

	r->method = r->env[0];
	if (ruby_put_known(p, 0, 0))
		return 0;
	if (ruby_met(c, 0, 1, kind))
		return 1;
	ruby_know(p, ANEW(r->is), 0);
	if (p->told.key)
		runtime_put(p, p->told.key, 0, RUNTIME_FRAME_CODE);
	return 0;
}

/* Reads the frame that r->frame is at. They lie side by side, so some are read at once. */
INLINE long ruby_frame(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 frame = ANEW(r->frame), at = frame - ANEW(r->ahead_at);
	__u32 word;

	if (at + sizeof(r->frame_words) > ANEW(r->ahead_bytes) || at > RUBY_AHEAD) {
		r->ahead_at = frame;
		r->ahead_bytes = at = 0;
		if (kind == WALK_TASK || ANEW(r->end) - frame < RUBY_AHEAD ||
		    bpf_probe_read_user(r->ahead, RUBY_AHEAD, (void *)frame)) {
			if (walk_read(c, frame, r->ahead, sizeof(r->frame_words), kind))
				return 1;
		} else {
			r->ahead_bytes = RUBY_AHEAD;
		}
	}
	word = (__u32)at >> 3;
	for (__u32 i = 0; i < sizeof(r->frame_words) / 8; i++) {
		__u32 from = word + i;

		FORGET(from);
		((volatile __u64 *)r->frame_words)[i] = ANEW(r->ahead[from & (RUBY_AHEAD / 8 - 1)]);
	}
	return 0;
}

/* Takes one frame and goes to the one that called it. */
INLINE long ruby_step(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 iseq, pc;
	__u32 flags;

	if (runtime_full(p, kind))
		return 1;
	if (ANEW(r->frame) >= ANEW(r->end))
		return runtime_end(p, KWALK_RUNTIME_COMPLETE);
	if (ruby_frame(c, kind) ||
	    walk_read(c, ANEW(r->frame_words[4]) - 16, r->env, sizeof(r->env), kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	pc = ANEW(r->frame_words[0]);
	iseq = ANEW(r->frame_words[2]);
	flags = (__u32)ANEW(r->env[2]);
	r->flags = flags;
	if ((flags & RUBY_FRAME_FORM) == RUBY_FRAME_C) {
		if (ruby_of_c(c, kind))
			return 1;
	} else if (!(flags & RUBY_FRAME_NO_CODE) && (flags & RUBY_FRAME_FORM) != RUBY_FRAME_DUMMY) {
		/* A JIT's code may not have said yet where it is. */
		if (iseq && ruby_user(c, iseq, pc, kind))
			return 1;
		if (ANEW(r->flags) & RUBY_FRAME_FINISH) {
			runtime_loop(p, 0);
			r->loops++;
		}
	}
	r->frame += AT(frame_size);
	return 0;
}

RUNTIME_LOOP(ruby_step, KWALK_RUNTIME_ROOM)

/* ---- the calls of the loop ---- */

/* An address as setjmp keeps it: glibc hides it. */
INLINE __u64 ruby_plain(struct runtime_walk *p, __u64 v)
{
	return AT(tag_mangled) ? (v >> 17 | v << 47) ^ ANEW(RUBY(p)->guard) : v;
}

/* Takes one tag. If it is vm_exec's, its mark is the next call's. */
INLINE long ruby_tag(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 pc, sp;
	__u32 i;

	if (!ANEW(r->tag))
		return 1;
	if (runtime_u64(c, ANEW(r->tag) + AT(tag_pc), &pc, kind) ||
	    runtime_u64(c, ANEW(r->tag) + AT(tag_sp), &sp, kind) ||
	    runtime_u64(c, ANEW(r->tag) + AT(tag_previous), &r->tag, kind))
		return 1;
	if (ruby_plain(p, pc) - ADDRESS(RUBY_CALL) >= AT(call_bytes))
		return 0;
	r->tags++;
	if (r->skip) {
		r->skip--;
		return 0;
	}
	i = ANEW(r->next) - 1;
	if (i >= KWALK_RUNTIME_ROOM)
		return 0;
	FORGET(i);
	i &= KWALK_RUNTIME_ROOM - 1;
	p->frames[i].key = ruby_plain(p, sp) - 8;
	r->next = p->frames[i].at;
	return 0;
}

RUNTIME_LOOP(ruby_tag, KWALK_RUNTIME_ROOM)

/* Goes through the tags of the context; the first `skip` of vm_exec's are of no frame. */
INLINE void ruby_tags(struct walk *c, __u32 skip, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);

	r->tag = r->context[3];
	r->tags = 0;
	r->skip = skip;
	r->next = p->entries;
	ruby_tag_all(c, kind);
}

/* Moves a frame to where the first call's were. */
static long ruby_move(__u32 n, void *ctx)
{
	struct runtime_walk *p = ((struct walk *)ctx)->runtime;
	__u32 by = ANEW(RUBY(p)->drop), from = n + by;

	if (from >= ANEW(p->out.n))
		return 1;
	FORGET(from);
	FORGET(n);
	from &= KWALK_RUNTIME_ROOM - 1;
	n &= KWALK_RUNTIME_ROOM - 1;
	p->frames[n] = p->frames[from];
	if (p->frames[n].what == RUNTIME_FRAME_LOOP && p->frames[n].at)
		p->frames[n].at -= by;
	return 0;
}

/* The newest frames are there, and their call has not begun. */
INLINE void ruby_drop(struct walk *c)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u32 first = ANEW(p->entries) & (KWALK_RUNTIME_ROOM - 1);

	r->drop = first;
	first = (first - 1) & (KWALK_RUNTIME_ROOM - 1);
	p->entries = p->frames[first].at;
	if (ANEW(p->entries))
		p->entries -= ANEW(r->drop);
	bpf_loop(KWALK_RUNTIME_ROOM, ruby_move, c, 0);
	p->out.n -= ANEW(r->drop);
}

/* Each call that the frames tell of has its tag; but the newest may have only one of both. */
INLINE void ruby_marks(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);

	p->out.end = KWALK_RUNTIME_NONE;
	ruby_tags(c, 0, kind);
	if (ANEW(p->out.end))
		return;
	if (ANEW(r->tags) == ANEW(r->loops) + 1) {
		ruby_tags(c, 1, kind);
	} else if (ANEW(r->tags) + 1 == ANEW(r->loops)) {
		ruby_drop(c);
		ruby_tags(c, 0, kind);
	} else if (ANEW(r->tags) != ANEW(r->loops)) {
		p->out.end = KWALK_RUNTIME_BUILDING;
	}
	if (!ANEW(p->out.end))
		p->out.end = ANEW(r->tag) ? KWALK_RUNTIME_LIMIT : KWALK_RUNTIME_COMPLETE;
}

/* ---- the thread ---- */

/* The execution context that the thread runs; 0: it runs none. True: the walk has ended. */
INLINE long ruby_current(struct walk *c, __u64 *ret, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 at = ANEW(p->thread) + AT(current), vector;

	if (AT(access) == RUBY_ACCESS_MODULE) {
		if (walk_read(c, ADDRESS(RUBY_CURRENT), r->head, 16, kind))
			return runtime_end(p, KWALK_RUNTIME_FAULT);
		if (runtime_u64(c, ANEW(p->thread) + 8, &vector, kind) ||
		    runtime_u64(c, vector + ANEW(r->head[0]) * 16, &at, kind))
			return 1;
		*ret = 0;
		if (at == ~0ull || !at) /* the thread has not asked for it yet */
			return 0;
		at += ANEW(r->head[1]);
	} else if (AT(access) == RUBY_ACCESS_INITIAL) {
		if (runtime_u64(c, ADDRESS(RUBY_CURRENT), &at, kind))
			return 1;
		at += ANEW(p->thread);
	}
	return runtime_u64(c, at, ret, kind);
}

/* The instructions that fill a new frame in, with the one before each: C has such ones, too. */
INLINE int ruby_fills(struct ruby *r, __u32 i, __u32 code)
{
	__u32 then = *(volatile __u32 *)&r->body[i + 4],
	      there = *(volatile __u32 *)&r->body[i + 10];

	if (!i && (code == RUBY_JIT_FILLS || code == RUBY_JIT_FILLS_C))
		return 1;
	return ((code & 0xffff) == RUBY_JIT_IMMEDIATE && there == RUBY_JIT_FILLS) ||
	       (code == RUBY_JIT_SUBTRACTS && then == RUBY_JIT_FILLS_C);
}

static long ruby_unfilled_at(__u32 i, void *ctx)
{
	struct ruby *r = RUBY(((struct walk *)ctx)->runtime);
	__u32 code;

	if (i > RUBY_JIT_CODE - 14)
		return 1;
	code = *(volatile __u32 *)&r->body[i];
	r->found = ruby_fills(r, i, code);
	return r->found || code == RUBY_JIT_PUSHES || code == RUBY_JIT_PUSHES_C;
}

/*
 * The newest frame may be one that is there, but not filled in: of 3.1 YJIT's code counts it first,
 * and what stands there is an older one's. Then what comes next in the code fills it in, and not
 * only behind the place where one more is counted. Its caller is still at the call.
 */
INLINE void ruby_newest(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 newest = ANEW(c->w->regs[RUBY_JIT_FRAME]);

	if (kind == WALK_TASK || (newest != r->frame && newest != r->frame + AT(frame_size)))
		return;
	r->found = 0;
	if (walk_read(c, c->w->regs[REG_IP], r->body, RUBY_JIT_CODE, kind)) {
		p->out.end = KWALK_RUNTIME_FAULT; /* what cannot be read does not say */
		return;
	}
	bpf_loop(RUBY_JIT_CODE, ruby_unfilled_at, c, 0);
	if (ANEW(r->found))
		r->frame += AT(frame_size);
}

/* All frames of the thread: those of the fiber that it runs. */
INLINE void ruby_frames(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 context;

	p->whole = 1;
	r->walk = p->walk;
	r->file = r->iseq = r->line_pc = r->method = r->ahead_bytes = 0;
	r->loops = 0;
	if (ANEW(r->names_pid) != ANEW(p->out.pid)) {
		r->names_pid = p->out.pid;
		r->name_path = r->name_attached = 0;
	}
	if (ruby_current(c, &context, kind) || !context)
		return;
	ruby_begin_epoch(c, kind);
	if (walk_read(c, context, r->context, sizeof(r->context), kind) ||
	    (AT(tag_mangled) && runtime_u64(c, ANEW(p->thread) + 0x30, &r->guard, kind))) {
		runtime_end(p, KWALK_RUNTIME_FAULT);
		return;
	}
	r->frame = r->context[2];
	r->end = ANEW(r->context[0]) + ANEW(r->context[1]) * 8;
	if (!ANEW(r->context[0]) || ANEW(r->context[1]) > RUBY_STACK_MOST ||
	    ANEW(r->frame) - ANEW(r->context[0]) > ANEW(r->context[1]) * 8) {
		/* A thread, or a fiber, that begins or ends has no stack. */
		if (ANEW(r->context[0]))
			p->out.end = KWALK_RUNTIME_BUILDING;
		return;
	}
	ruby_newest(c, kind);
	if (!ANEW(p->out.end))
		ruby_step_all(c, kind);
	if (ANEW(p->out.end) == KWALK_RUNTIME_COMPLETE)
		ruby_marks(c, kind);
}

/* ---- the native frames of YJIT's code ---- */

#define RUBY_JIT_VERSION 0x0301u   /* whose code it is */
#define RUBY_JIT_NEAR (1ull << 20) /* from vm_exec, at most: calls of such code */
#define RUBY_JIT_HAS_FRAME 32u     /* r13, r12 and rbx are saved, above them is where it returns */

/* Whether the call that returns to ra is one of YJIT's code by its two arguments, the context and
 * the newest frame, which is read from it: mov 0x10(%reg),%rsi; perhaps mov %reg,%rdi; call *%reg.
 */
INLINE int ruby_calls_jit(struct walk *c, __u64 ra, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 code;

	if (ra - ADDRESS(RUBY_CALL) + RUBY_JIT_NEAR > 2 * RUBY_JIT_NEAR ||
	    walk_read(c, ra - 8, &r->jit_code, 8, kind))
		return 0;
	code = ANEW(r->jit_code);
	if ((code >> 48 & 0xf8ff) != 0xd0ff)
		return 0;
	return (code >> 24 & 0xfff8ff) == 0x10708b ||
	       ((code & 0xfff8ff) == 0x10708b && (code >> 24 & 0xc7ffff) == 0xc78948);
}

/* From the stack pointer to the caller's: while execution is where three registers are saved or
 * taken back, only some of them are on the stack, and in all other code of YJIT all are. */
INLINE __u64 ruby_jit_frame(struct walk *c, const int kind)
{
	struct ruby *r = RUBY(c->runtime);
	__u64 code;

	if (!c->w->exact || walk_read(c, c->w->regs[REG_IP], &r->jit_code, 8, kind))
		return RUBY_JIT_HAS_FRAME;
	code = ANEW(r->jit_code);
	/* push %r13; push %r12; push %rbx; mov %rdi,%r12 */
	if ((code & 0xffffffffff) == 0x5354415541)
		return RUBY_JIT_HAS_FRAME - 24;
	if ((code & 0xffffffffffff) == 0xfc8949535441)
		return RUBY_JIT_HAS_FRAME - 16;
	if ((code & 0xffffffff) == 0xfc894953)
		return RUBY_JIT_HAS_FRAME - 8;
	/* pop %rbx; pop %r12; pop %r13; perhaps mov $n,%eax; ret */
	if ((code & 0xffffffff) == 0x5d415c41)
		return RUBY_JIT_HAS_FRAME - 8;
	if ((code & 0xffff) == 0x5d41)
		return RUBY_JIT_HAS_FRAME - 16;
	if ((code & 0xff) == 0xc3 || (code & 0xff00000000ff) == 0xc300000000b8)
		return RUBY_JIT_HAS_FRAME - 24;
	return RUBY_JIT_HAS_FRAME;
}

/* The caller's value of a register that was saved there, unless it has it already. */
INLINE void ruby_jit_saved(struct walker *w, const __u32 number, __u64 at)
{
	if (at < w->regs[REG_SP])
		return;
	w->regs[number] = at;
	w->saved |= 1u << number;
	w->known |= 1u << number;
}

/* Whether the frame ends there. */
INLINE int ruby_jit_returns(struct walk *c, __u64 cfa, const int kind)
{
	struct ruby *r = RUBY(c->runtime);

	return !walk_read(c, cfa - 8, &r->jit_word, 8, kind) &&
	       ruby_calls_jit(c, ANEW(r->jit_word), kind);
}

/* Code that YJIT of 3.1 made is entered by a call from vm_exec, or the loop, and has one frame
 * however many methods it runs: they go from one to the other by jumps. While a hash or a regular
 * expression is made it keeps that twice on the stack. */
INLINE long ruby_undescribed(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u64 cfa;

	if (!(w->at.flags & KWALK_MAY_GUESS) || !p || !ANEW(p->walk) ||
	    ANEW(RUBY(p)->walk) != ANEW(p->walk) || AT(version) != RUBY_JIT_VERSION)
		return 0;
	cfa = w->regs[REG_SP] + ruby_jit_frame(c, kind);
	if (!ruby_jit_returns(c, cfa, kind)) {
		cfa += 16;
		if (!ruby_jit_returns(c, cfa, kind))
			return 0;
	}
	ruby_jit_saved(w, 13, cfa - 16);
	ruby_jit_saved(w, 12, cfa - 24);
	ruby_jit_saved(w, 3, cfa - 32);
	w->cfa = cfa;
	w->ip = RUBY(p)->jit_word;
	w->fp = w->regs[REG_FP];
	w->exact = 0;
	walk_leave(w);
	return 1;
}

#endif
