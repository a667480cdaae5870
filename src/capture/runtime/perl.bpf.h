/* SPDX-License-Identifier: MIT */
/*
 * perl.bpf.h: from a thread of Perl to the contexts of its subs, by the offsets of the process's
 * version (runtimes/perl_layout.h). A sub is where the innermost statement is, or the one in which
 * its context was pushed: that of the next one outwards. perl_names.bpf.h says what it is called.
 *
 * No context says where on the C stack the call of the loop is that runs it. But one with no op to
 * return to was entered by a call; so calls of the loop are sent as they are met in the native
 * stack, with what called them, and runtimes/perl_match.c brings both together. A loop whose caller
 * has a struct jmpenv of its own goes on with the contexts of the one outwards (S_docatch): it is
 * left out.
 *
 * While a sub is entered or left its context is not whole.
 */
#ifndef SEAM_CAPTURE_RUNTIME_PERL_BPF_H
#define SEAM_CAPTURE_RUNTIME_PERL_BPF_H

#define RUNTIME_FRAMES perl_frames
#define RUNTIME_PASSES perl_pass
#define RUNTIME_LEFT perl_left
#define RUNTIME_OWN_WORDS 1152u

#include "capture/runtime/perl_names.bpf.h"

/* ---- contexts ---- */

/* How the context with no op to return to is run. The last op of a block that is run by a loop of
 * its own has none either. */
INLINE long perl_called(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u32 at = (__u32)ANEW(pl->at), outer, by = PERL_BY_CALL;

	if (at) {
		if (walk_read(c, ANEW(pl->contexts) + (at - 1) * (__u64)PERL_CONTEXT_SIZE, pl->head,
		              8, kind))
			return runtime_end(p, KWALK_RUNTIME_FAULT);
		outer = HALF(pl->head, 0);
		if (!(outer & PERL_TYPE) || (outer & PERL_TYPE) == PERL_DEFER ||
		    ((outer & PERL_TYPE) == PERL_SUB && outer & (PERL_REGEX | PERL_REGEX_FAKE)))
			by = PERL_BY_DOUBT;
	}
	pl->by = 1 + by;
	return 0;
}

/* Whether the newest context is one that is being entered: no statement of it has run, and the op
 * that calls it is still at work. */
INLINE int perl_is_entering(struct runtime_walk *p)
{
	struct perl *pl = PL(p);

	if (ANEW(pl->any) || WORD(pl->context, 16) != ANEW(pl->innermost))
		return 0;
	return (ANEW(pl->op_type) == AT(op_entersub) || !ANEW(pl->op_type)) &&
	       WORD(pl->context, 48) == ANEW(pl->op_next);
}

/* The context is of a sub, or a format. One that is being left has no code any more. */
INLINE long perl_sub(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u32 type = HALF(pl->context, 0);

	pl->code = WORD(pl->context, 72);
	pl->then = WORD(pl->context, 16);
	if (!ANEW(pl->code) || perl_is_entering(p))
		return 0;
	if (type & PERL_REGEX_FAKE)
		pl->then = pl->statement;
	else
		pl->take = 1;
	if (!(type & PERL_MULTICALL))
		return WORD(pl->context, 48) ? 0 : perl_called(c, kind);
	pl->sorted = 1;
	pl->by = 1 + (ANEW(pl->stack_type) == PERL_SORT || type & PERL_REGEX ? PERL_BY_INSIDE
	                                                                     : PERL_BY_OUTSIDE);
	return 0;
}

/* The context is of an eval: of a text or a file, that is of code outside of subs; a block is no
 * function. */
INLINE long perl_eval(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u32 type = HALF(pl->context, 0);

	if (type & PERL_EVAL_BLOCK)
		return 0;
	pl->code = 0;
	pl->told_by = pl->statement;
	pl->one = PERL_WORD_EVAL;
	pl->two = 0;
	if (WORD(pl->context, 64)) {
		pl->one = PERL_WORD_DO;
		if (type >> 23 != AT(op_dofile)) {
			pl->one = PERL_WORD_REQUIRE;
			pl->two = ')';
		}
	}
	pl->take = 1;
	pl->then = WORD(pl->context, 16);
	return WORD(pl->context, 48) ? 0 : perl_called(c, kind);
}

/* Goes to a stack of contexts. Its newest may be one of a sub that is being left: then the
 * statement is no longer one of the next sub's. */
INLINE long perl_stack(struct walk *c, __u64 stack, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u32 type;
	__s32 top, at;

	if (walk_read(c, stack, pl->body, PERL_STACK_SIZE, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	pl->contexts = WORD(pl->body, 8);
	pl->previous = WORD(pl->body, 16);
	pl->stack_type = HALF(pl->body, 44);
	pl->sorted = 0;
	top = (__s32)HALF(pl->body, 32);
	at = (__s32)HALF(pl->body, 40);
	pl->top = top;
	pl->at = at;
	if (top > PERL_MOST || top < -1 || at < -1 || at > top)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (at == top)
		return 0;
	if (walk_read(c, ANEW(pl->contexts) + (__u32)top * (__u64)PERL_CONTEXT_SIZE, pl->head,
	              sizeof(pl->head), kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	type = HALF(pl->head, 0) & PERL_TYPE;
	if ((type == PERL_SUB || type == PERL_FORMAT) &&
	    (ANEW(pl->any) || (ANEW(pl->op_type) && ANEW(pl->op_type) != AT(op_entersub))))
		pl->then = WORD(pl->head, 16);
	return 0;
}

/* The main program: of the file of its first statement. */
INLINE long perl_main(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u64 op;
	__u32 type;

	if (perl_variable(c, AT(main), &op, kind))
		return 1;
	for (int i = 0; i < 2 && op; i++) {
		if (walk_read(c, op, pl->cop, 40, kind))
			return runtime_end(p, KWALK_RUNTIME_FAULT);
		type = HALF(pl->cop, 32) & 511;
		if (type == AT(op_nextstate) || type == AT(op_dbstate))
			break;
		op = WORD(pl->cop, 0);
	}
	pl->code = 0;
	pl->told_by = op;
	pl->one = PERL_WORD_MAIN;
	pl->two = 0;
	pl->take = pl->last = 1;
	pl->by = 1 + PERL_BY_MAIN;
	return 0;
}

/* Behind the outermost context of a stack. The block of a sort is a part of the sub around it. */
INLINE long perl_outwards(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);

	pl->any = ANEW(pl->begun);
	pl->begun = 1;
	if (ANEW(pl->stack_type) == PERL_SORT && ANEW(pl->top) >= 0 && !ANEW(pl->sorted))
		runtime_put(p, PERL_BY_INSIDE, 0, RUNTIME_FRAME_LOOP);
	return ANEW(pl->previous) ? perl_stack(c, pl->previous, kind) : perl_main(c, kind);
}

/* Looks at one context of a sub, format or eval, and at the next one outwards then. */
INLINE long perl_context(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u32 type;
	__s32 at = ANEW(pl->at);

	if (walk_read(c, ANEW(pl->contexts) + (__u32)at * (__u64)PERL_CONTEXT_SIZE, pl->context,
	              PERL_CONTEXT_SIZE, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	type = HALF(pl->context, 0) & PERL_TYPE;
	if (type == PERL_SUB || type == PERL_FORMAT) {
		if (perl_sub(c, kind))
			return 1;
	} else if (type != PERL_EVAL_CONTEXT || perl_eval(c, kind)) {
		return type == PERL_EVAL_CONTEXT || runtime_end(p, KWALK_RUNTIME_BUILDING);
	}
	pl->at = (__s32)HALF(pl->context, 56);
	return pl->at < at ? 0 : runtime_end(p, KWALK_RUNTIME_BUILDING);
}

/* Takes one context, or goes to the next stack of them. */
INLINE long perl_step(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);

	if (runtime_full(p, kind))
		return 1;
	pl->take = pl->by = pl->last = 0;
	pl->took = ANEW(pl->at) >= 0;
	pl->then = pl->statement;
	if (ANEW(pl->at) < 0 ? perl_outwards(c, kind) : perl_context(c, kind))
		return 1;
	if (ANEW(pl->take) && perl_take(c, kind))
		return 1;
	pl->any |= !!ANEW(pl->took);
	pl->statement = pl->then;
	if (ANEW(pl->by))
		runtime_put(p, ANEW(pl->by) - 1, 0, RUNTIME_FRAME_LOOP);
	return ANEW(pl->last) ? runtime_end(p, KWALK_RUNTIME_COMPLETE) : 0;
}

/* One more of the places on the C stack to which exceptions jump. */
INLINE long perl_jump(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u32 n = (__u32)ANEW(pl->n_jumps);

	if (!ANEW(pl->next))
		return 1;
	if (n >= PERL_JUMPS)
		return runtime_end(p, KWALK_RUNTIME_LIMIT);
	FORGET(n);
	pl->jumps[n & (PERL_JUMPS - 1)] = pl->next;
	pl->n_jumps = n + 1;
	return runtime_u64(c, pl->next, &pl->next, kind);
}

RUNTIME_LOOP(perl_step, KWALK_RUNTIME_ROOM)
RUNTIME_LOOP(perl_jump, PERL_JUMPS + 1)

/* ---- the thread ---- */

/* Finds the thread's interpreter: false, if it has none, or p->out.end says why. */
INLINE int perl_find(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u64 block = p->thread + PERL_KEYS, loop;
	__u32 key;

	if (!AT(threaded)) {
		pl->base = ADDRESS(PERL_LOOP);
		return p->out.pid == p->out.tid;
	}
	pl->base = 0;
	if (walk_read(c, ADDRESS(PERL_KEY), &key, 4, kind))
		return !runtime_end(p, KWALK_RUNTIME_FAULT);
	if (key >= PERL_KEYS_EACH * PERL_KEYS_EACH)
		return 0;
	if (key >= PERL_KEYS_EACH &&
	    (runtime_u64(c, p->thread + PERL_KEY_TABLES + key / PERL_KEYS_EACH * 8, &block, kind) ||
	     !block))
		return 0;
	if (runtime_u64(c, block + key % PERL_KEYS_EACH * 16 + 8, &pl->base, kind) ||
	    !ANEW(pl->base))
		return 0;
	if (perl_variable(c, AT(loop), &loop, kind))
		return 0;
	if (!loop) /* one that is being made of another one, which the thread has still to run */
		return !runtime_end(p, KWALK_RUNTIME_BUILDING);
	return loop == ADDRESS(PERL_LOOP) || !runtime_end(p, KWALK_RUNTIME_UNKNOWN);
}

/* What the interpreter is at. */
INLINE long perl_begin(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u64 stack;

	pl->any = 0;
	pl->op_type = PERL_NO_OP;
	if (perl_variable(c, AT(stacks), &stack, kind))
		return 1;
	if (!stack)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (perl_variable(c, AT(cop), &pl->innermost, kind) ||
	    perl_variable(c, AT(op), &pl->op, kind))
		return 1;
	pl->statement = pl->innermost;
	if (ANEW(pl->op)) {
		if (walk_read(c, pl->op, pl->cop, 40, kind))
			return runtime_end(p, KWALK_RUNTIME_FAULT);
		pl->op_next = WORD(pl->cop, 0);
		pl->op_type = HALF(pl->cop, 32) & 511;
		/* A statement begins by making itself the innermost. */
		if (ANEW(pl->op_type) == AT(op_nextstate) || ANEW(pl->op_type) == AT(op_dbstate))
			pl->statement = pl->op;
	}
	pl->at = -1;
	pl->previous = stack;
	pl->stack_type = pl->begun = 0;
	return 0;
}

/* The thread's subs. */
INLINE void perl_frames(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);

	pl->n_jumps = pl->at_jump = 0;
	pl->called = 0;
	p->whole = 1;
	p->pass = RUNTIME_PASS_OWN;
	p->loop = ADDRESS(PERL_LOOP);
	p->loop_bytes = AT(loop_bytes);
	p->cold_bytes = 0;
	if (!perl_find(c, kind) || perl_variable(c, AT(jump), &pl->next, kind))
		return;
	perl_jump_all(c, kind);
	if (ANEW(p->out.end) || perl_begin(c, kind))
		return;
	p->out.end = KWALK_RUNTIME_LIMIT; /* unless the steps come to an end */
	perl_step_all(c, kind);
	pl->n_contexts = p->out.n;
}

/* ---- the native stack ---- */

/* Who called the loop: the function at pc, which has a place for exceptions to jump to or not.
 * PERL_BY_DOUBT: the loop goes on with what that outwards of it runs. */
INLINE __u32 perl_by(struct runtime_walk *p, __u64 pc, int jump)
{
	if (pc - ADDRESS(PERL_CALL) < AT(call_bytes) || pc - ADDRESS(PERL_EVAL) < AT(eval_bytes) ||
	    pc - ADDRESS(PERL_OVERLOAD) < AT(overload_bytes))
		return PERL_BY_CALL;
	if (pc - ADDRESS(PERL_RUN) < AT(run_bytes))
		return PERL_BY_MAIN;
	if (jump)
		return PERL_BY_DOUBT;
	return pc - ADDRESS(PERL_LOOP) - AT(text) < AT(text_bytes) ? PERL_BY_INSIDE
	                                                           : PERL_BY_OUTSIDE;
}

/* Whether a place for exceptions to jump to is in the frame below sp, or there was one that the
 * frames before have not passed. */
INLINE int perl_has_jump(struct perl *pl, __u64 sp)
{
	int has = 0;

	for (int i = 0; i < 4; i++) {
		__u32 at = (__u32)ANEW(pl->at_jump);

		if (at >= ANEW(pl->n_jumps))
			break;
		FORGET(at);
		if (ANEW(pl->jumps[at & (PERL_JUMPS - 1)]) >= sp)
			break;
		pl->at_jump = at + 1;
		has = 1;
	}
	return has;
}

/* The native frame number n was walked. */
INLINE void perl_pass(struct runtime_walk *p, __u32 n, __u64 pc, __u64 sp)
{
	struct perl *pl = PL(p);
	int jump;
	__u32 by, at;

	if (ANEW(p->out.end) != KWALK_RUNTIME_COMPLETE)
		return;
	jump = perl_has_jump(pl, sp);
	if (ANEW(pl->called)) {
		by = perl_by(p, pc, jump);
		at = ANEW(p->out.n);
		if (at >= KWALK_RUNTIME_ROOM - 2) {
			p->out.end = KWALK_RUNTIME_LIMIT;
		} else if (by != PERL_BY_DOUBT) {
			runtime_put(p, by, 0, RUNTIME_FRAME_MET);
			FORGET(at);
			p->frames[at & (KWALK_RUNTIME_ROOM - 1)].native =
			        (__u16)(ANEW(pl->called) - 1);
		}
	}
	pl->called = runtime_in_loop(p, pc) ? n + 1 : 0;
}

struct perl_jumps {
	struct runtime_walk *p;
};

static long perl_left_one(__u32 i, void *ctx)
{
	struct runtime_walk *p = ((struct perl_jumps *)ctx)->p;

	if (i >= ANEW(PL(p)->n_jumps))
		return 1;
	runtime_put(p, ANEW(PL(p)->jumps[i & (PERL_JUMPS - 1)]), 0, RUNTIME_FRAME_JUMP);
	return 0;
}

/* Loops are met by the recorder: all of them, by the places that exceptions jump to. */
INLINE void perl_left(struct runtime_walk *p)
{
	struct perl_jumps c = { p };

	if (ANEW(PL(p)->n_contexts) + ANEW(PL(p)->n_jumps) >= KWALK_RUNTIME_ROOM - 2) {
		p->out.end = KWALK_RUNTIME_LIMIT;
		return;
	}
	p->out.n = ANEW(PL(p)->n_contexts);
	bpf_loop(PERL_JUMPS, perl_left_one, &c, 0);
}

#endif
