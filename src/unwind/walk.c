// SPDX-License-Identifier: MIT
/*
 * walk.c: applies one rule after the other.
 *
 * One step: find the rule of the pc (walker_locate), compute the CFA, which is the caller's sp
 * (walker_cfa), read the return address and the caller's frame pointer (walker_at), and go on from
 * there (walker_step). Without a rule the frame pointer may lead on, as a guess (walker_guess).
 *
 * Of the registers only sp, fp and pc are kept for every frame, because nearly all rules need no
 * other. Callee-saved registers are followed by where they were saved, and read only when a rule
 * asks for one; with a walk cache (walk_cache.h) even where they were saved is gathered only then,
 * from the steps that were written down.
 *
 * A pc is where execution stopped (frame 0, and what a signal interrupted: `exact`), or a return
 * address, which may lie behind the end of a function whose last instruction is the call. So a rule
 * is looked up at the address before a return address.
 *
 * Invariant: every frame either raises sp or is the first after a signal frame, so a walk over any
 * memory whatever ends after at most max_frames steps. A walk that ends says why.
 */
#include "unwind/walk.h"

#include <errno.h>
#include <string.h>

#include "unwind/expr.h"
#include "unwind/walk_cache.h"

/* Where a callee-saved register's value is. */
struct saved {
	uint64_t value; /* the value itself, or the address where it was saved */
	enum {
		SAVED_VALUE,
		SAVED_AT,
		SAVED_UNKNOWN
	} how;
};

struct walker {
	const struct walk_options *options;
	const struct walk_memory *memory;
	/* of the current frame; only sp, fp, pc (and lr) are kept up to date */
	struct walk_registers regs;
	struct saved saved[FRAMETAB_SAVED_MAX];
	unsigned n_saved;
	unsigned sp, fp, pc, lr; /* DWARF numbers; lr == pc on x86_64 */
	struct walk_place place;
	bool exact; /* the pc is where execution stopped, not a return address */
	/* all of regs is that of this frame: frame 0, or the frame that a signal interrupted */
	bool first;
	bool signalled; /* what may lead to another stack was passed: a signal frame, a rule */
	bool kept; /* the last step was made through a frame of code that keeps frame pointers */
	struct walk *out;
	struct walk_cache *cache;
	struct walk_cache_step *step; /* that is being written; NULL without a cache */
	bool plain;                   /* it read nothing but words so far */
	size_t n_settled;             /* steps of the cache whose saves are in saved */
};

/* The first frame's registers are the sample's: each that is known has its value, the others cannot
 * be had at all. */
static void walker_start(struct walker *w)
{
	bool x86 = w->options->machine == FRAMETAB_X86_64;

	w->sp = x86 ? 7 : 31;
	w->fp = x86 ? 6 : 29;
	w->pc = x86 ? 16 : 32;
	w->lr = x86 ? 16 : 30;
	w->n_saved = frametab_saved_count(w->options->machine);
	for (unsigned i = 0; i < w->n_saved; i++) {
		unsigned number = frametab_saved_register(w->options->machine, i);

		w->saved[i].how = w->regs.known >> number & 1 ? SAVED_VALUE : SAVED_UNKNOWN;
		w->saved[i].value = w->regs.value[number];
	}
	w->exact = w->first = true;
}

/* Ends the walk with its reason, and gives false, so that `return walker_end(...)` reads well. */
static bool walker_end(struct walker *w, enum walk_end end)
{
	w->out->end = end;
	w->out->end_pc = w->regs.value[w->pc];
	return false;
}

#define RED_ZONE 128u /* bytes below sp that are a leaf's own (x86_64) */

/* Which end of the walk it is that memory could not be read. */
static enum walk_end walker_why(const struct walker *w, uint64_t address, int status)
{
	if (status == -ENODATA)
		return WALK_TRUNCATED;
	if (w->signalled)
		return WALK_OTHER_STACK;
	return w->first && w->regs.value[w->sp] - address <= RED_ZONE ? WALK_BELOW_SP
	                                                              : WALK_BAD_MEMORY;
}

/* Reads a word; false ends the walk. A word that a step read is part of what the cache compares. */
static bool walker_read(struct walker *w, uint64_t address, uint64_t *ret)
{
	int status = 0;

	if (!walk_window(w->memory, address, ret))
		status = w->memory->read(w->memory->ctx, address, ret);
	if (status >= 0) {
		if (w->step)
			walk_cache_word(w->step, address, *ret);
		return true;
	}
	w->out->needed = address;
	return walker_end(w, walker_why(w, address, status));
}

static uint64_t walker_strip(const struct walker *w, uint64_t address)
{
	/* aarch64, user addresses: the signature sits above the 48 bits of address, around bit
	 * 55 */
	uint64_t mask = w->options->pac_mask ? w->options->pac_mask : 0xffff000000000000ULL;

	return w->options->machine == FRAMETAB_AARCH64 ? address & ~mask : address;
}

/* Where a frame with this rule saved registers. */
static void walker_saves(struct walker *w, const struct frametab *table,
                         const struct frametab_rule *r, uint64_t sp, uint64_t cfa)
{
	const int16_t *save = table->saves + r->saves;
	uint64_t base = r->flags & FRAMETAB_SAVES_AT_SP ? sp : cfa;

	for (unsigned i = 0, bits = r->saved; bits; i++, bits >>= 1) {
		if (!(bits & 1))
			continue;
		w->saved[i].how = *save == FRAMETAB_SAVE_UNKNOWN ? SAVED_UNKNOWN : SAVED_AT;
		w->saved[i].value = base + (uint64_t)((int64_t)*save * 8);
		save++;
	}
}

/* A rule asks for a saved register, so where all steps until now saved registers must be worked
 * out. */
static void walker_settle(struct walker *w)
{
	const struct walk_cache_step *s;

	w->plain = false;
	for (; w->cache && w->n_settled + 1 < w->cache->now->n; w->n_settled++) {
		s = &w->cache->now->step[w->n_settled];
		walker_saves(w, s->table, s->rule, s->sp, s[1].sp);
	}
}

/*
 * Whether the sample's own value of a register is also that of its frame's caller. No compiler's
 * rule asks for one that a call need not keep. Assembler that does (OpenSSL's AES-GCM has its CFA
 * in rax around calls of its own) says by that that the function which it calls leaves it alone.
 */
static bool walker_left_alone(const struct walker *w, unsigned number)
{
	for (unsigned i = 0; i < w->n_saved; i++)
		if (frametab_saved_register(w->options->machine, i) == number)
			return false;
	return w->options->machine == FRAMETAB_X86_64 && w->out->n == 2 && !w->exact &&
	       w->out->n_sure > w->out->n;
}

/* Gives the current frame's value of a register. False: it is not known, and the walk was ended. */
static bool walker_register(struct walker *w, unsigned number, uint64_t *ret)
{
	if (number < WALK_REGISTERS &&
	    (number == w->sp || number == w->pc || number == w->fp || w->first) &&
	    (w->regs.known >> number & 1)) {
		*ret = w->regs.value[number];
		return true;
	}
	walker_settle(w);
	if (number < WALK_REGISTERS && (w->regs.known >> number & 1) &&
	    walker_left_alone(w, number)) {
		*ret = w->regs.value[number];
		return true;
	}
	for (unsigned i = 0; i < w->n_saved; i++) {
		if (frametab_saved_register(w->options->machine, i) != number ||
		    w->saved[i].how == SAVED_UNKNOWN)
			continue;
		if (w->saved[i].how == SAVED_AT &&
		    !walker_read(w, w->saved[i].value, &w->saved[i].value))
			return false;
		w->saved[i].how = SAVED_VALUE;
		*ret = w->saved[i].value;
		return true;
	}
	return walker_end(w, WALK_BAD_RULE);
}

/* Evaluates a rule's expression for the current frame. Only registers whose values are really known
 * may be used; after the first frame these are sp, pc, fp and those whose saved values can be read.
 * False: the walk has ended, with a reason. */
static bool walker_expression(struct walker *w, int32_t at, bool has_cfa, uint64_t cfa,
                              uint64_t *ret)
{
	const struct frametab *t = w->place.table;
	struct walk_registers regs = w->regs;
	struct expr_machine m = {
		.ctx = w->memory->ctx,
		.read = w->memory->read,
		.registers = regs.value,
	};
	uint16_t n;
	int status;

	walker_settle(w);
	/* In an outer frame a register is known if the walk computed it, or if it was saved. */
	if (!w->first)
		regs.known &= 1ULL << w->sp | 1ULL << w->pc | 1ULL << w->fp;
	for (unsigned i = 0; i < w->n_saved; i++) {
		unsigned number = frametab_saved_register(w->options->machine, i);

		if (w->saved[i].how == SAVED_UNKNOWN || (regs.known >> number & 1))
			continue;
		regs.value[number] = w->saved[i].value;
		/* Either the value itself is kept, or the address where it was saved. */
		if (w->saved[i].how == SAVED_VALUE ||
		    !m.read(m.ctx, w->saved[i].value, &regs.value[number]))
			regs.known |= 1ULL << number;
	}
	m.known = regs.known;
	memcpy(&n, t->exprs + at, 2);
	status = expr_evaluate(&m, t->exprs + at + 2, n, has_cfa, cfa, ret);
	if (status < 0)
		return walker_end(w, status == -EINVAL ? WALK_BAD_RULE : walker_why(w, 0, status));
	return true;
}

/* Whether the callee has made the frame its own that the rule says is at [fp], as Lisp's calling
 * convention has it: then fp is what was saved there already. Behind a callee that keeps
 * fp, as those of C do, fp is where the call found sp. */
static bool walker_took_frame(const struct walker *w, const struct frametab_rule *r)
{
	return r->cfa == FRAMETAB_CFA_DEREF_FP && !r->cfa_off && w->out->n_sure < w->out->n &&
	       w->regs.value[w->fp] != w->regs.value[w->sp];
}

/* Computes the canonical frame address (CFA): the value that sp has after return to the caller.
 * False: the walk has ended, with a reason. */
static bool walker_cfa(struct walker *w, const struct frametab_rule *r, uint64_t *cfa)
{
	uint64_t base, off = (uint64_t)(int64_t)r->cfa_off, add = (uint64_t)(int64_t)r->cfa_add;
	unsigned number = w->sp;

	switch (r->cfa) {
	case FRAMETAB_CFA_FP:
	case FRAMETAB_CFA_DEREF_FP:
		number = w->fp;
		break;
	case FRAMETAB_CFA_REG:
	case FRAMETAB_CFA_DEREF_REG:
		number = r->cfa_reg;
		break;
	case FRAMETAB_CFA_EXPR:
		return walker_expression(w, r->cfa_off, false, 0, cfa);
	default:
		break;
	}
	if (!walker_register(w, number, &base))
		return false;
	switch (r->cfa) {
	case FRAMETAB_CFA_SP:
	case FRAMETAB_CFA_FP:
	case FRAMETAB_CFA_REG:
		*cfa = base + off;
		return true;
	/* An entry of a PLT has 16 bytes; from byte `add` on, one word more is on the stack. */
	case FRAMETAB_CFA_PLT:
		*cfa = base + off + ((w->regs.value[w->pc] & 15) >= add ? 8 : 0);
		return true;
	default:
		*cfa = base;
		if (!walker_took_frame(w, r) && !walker_read(w, base + off, cfa))
			return false;
		*cfa += add;
		return true;
	}
}

/* Gives the caller's value of the frame pointer or the pc. False: the walk has ended.
 * FRAMETAB_AT_SAME and _UNDEFINED are for the caller to handle. */
static bool walker_at(struct walker *w, uint8_t at, int32_t off, uint64_t cfa, uint64_t *ret)
{
	uint64_t by = (uint64_t)(int64_t)off, base;

	switch (at) {
	case FRAMETAB_AT_CFA:
		return walker_read(w, cfa + by, ret);
	case FRAMETAB_AT_SP:
		return walker_read(w, w->regs.value[w->sp] + by, ret);
	case FRAMETAB_AT_FP:
		return walker_register(w, w->fp, &base) && walker_read(w, base + by, ret);
	case FRAMETAB_AT_REG:
		return walker_register(w, (unsigned)off, ret);
	case FRAMETAB_AT_EXPR:
		return walker_expression(w, off, true, cfa, &base) && walker_read(w, base, ret);
	case FRAMETAB_AT_VAL_EXPR:
		return walker_expression(w, off, true, cfa, ret);
	default: /* FRAMETAB_AT_VAL_CFA */
		*ret = cfa + by;
		return true;
	}
}

/* The caller's pc into *ret. False: the walk ended, perhaps because it is complete. */
static bool walker_return_address(struct walker *w, const struct frametab_rule *r, uint64_t cfa,
                                  uint64_t *ret)
{
	/* The outermost frame says so itself: its return address is undefined. */
	if (r->ra == FRAMETAB_AT_UNDEFINED)
		return walker_end(w, WALK_COMPLETE);
	if (r->ra == FRAMETAB_AT_SAME) { /* still in the link register */
		if (w->options->machine == FRAMETAB_X86_64)
			return walker_end(w, WALK_BAD_RULE);
		if (!w->first || !(w->regs.known >> w->lr & 1))
			return walker_end(w, WALK_BAD_RULE);
		*ret = w->regs.value[w->lr];
	} else if (!walker_at(w, r->ra, r->ra_off, cfa, ret)) {
		return false;
	}
	*ret = walker_strip(w, *ret);
	if (!*ret) /* the thread's start cleared it */
		return walker_end(w, WALK_COMPLETE);
	return true;
}

/* Reads a word below sp. If there is no memory the value is not known, which need not matter. */
static bool walker_red_zone(struct walker *w, uint64_t address, uint64_t *ret)
{
	w->plain = false;
	return w->memory->read(w->memory->ctx, address, ret) >= 0;
}

/* Moves from the current frame to its caller by one rule. False: the walk has ended, with a
 * reason. */
static bool walker_step(struct walker *w, const struct frametab_rule *r)
{
	uint64_t cfa, pc, fp = w->regs.value[w->fp], lr = 0;
	bool is_signal = r->flags & FRAMETAB_SIGNAL_FRAME, fp_known = w->regs.known >> w->fp & 1;

	if (r->ra == FRAMETAB_AT_UNDEFINED)
		return walker_end(w, WALK_COMPLETE);
	/* Before the first word of it is read: a copy has one stack. */
	w->signalled |= r->flags & FRAMETAB_OTHER_STACK;
	if (!walker_cfa(w, r, &cfa) || !walker_return_address(w, r, cfa, &pc))
		return false;
	if (r->fp == FRAMETAB_AT_UNDEFINED ||
	    (r->fp == FRAMETAB_AT_CFA &&
	     cfa + (uint64_t)(int64_t)r->fp_off < w->regs.value[w->sp] &&
	     !walker_red_zone(w, cfa + (uint64_t)(int64_t)r->fp_off, &fp)))
		fp_known = false;
	else if (r->fp != FRAMETAB_AT_SAME) {
		if (!walker_at(w, r->fp, r->fp_off, cfa, &fp))
			return false;
		fp_known = true;
	}
	/* aarch64: a signal frame restores the link register too: x30 lies one word behind x29 in
	 * its sigcontext */
	if (is_signal && w->options->machine == FRAMETAB_AARCH64 && r->fp == FRAMETAB_AT_CFA &&
	    !walker_read(w, cfa + (uint64_t)(int64_t)r->fp_off + 8, &lr))
		return false;
	if (!w->step)
		walker_saves(w, w->place.table, r, w->regs.value[w->sp], cfa);
	/* A caller's frame lies above its callee's, except across what may change stacks, as a
	 * signal frame. In the first frame sp may equal the CFA: nothing was pushed, and the return
	 * address is in a register (aarch64). */
	if (r->flags & FRAMETAB_OTHER_STACK)
		w->plain = false;
	else if (!is_signal &&
	         (cfa < w->regs.value[w->sp] || (cfa == w->regs.value[w->sp] && !w->first)))
		return walker_end(w, WALK_NO_PROGRESS);
	w->regs.value[w->sp] = cfa;
	w->regs.value[w->fp] = fp;
	w->regs.value[w->pc] = pc;
	w->regs.known = (w->regs.known & ~(1ULL << w->fp)) | (uint64_t)fp_known << w->fp;
	/* What a signal interrupted was executing there: its pc is no return address. */
	w->exact = is_signal;
	w->signalled |= is_signal;
	w->first = false;
	/* A signal frame restores all registers of what it interrupted. */
	if (is_signal && w->options->machine == FRAMETAB_AARCH64) {
		w->regs.value[w->lr] = lr;
		w->regs.known =
		        1ULL << w->sp | 1ULL << w->pc | 1ULL << w->lr | (uint64_t)fp_known << w->fp;
		w->first = true;
	}
	return true;
}

/* The state in front of the next step. */
/* This is all on which the next step depends, beside the words that it reads: the cache may take a
 * step of the last walk if the states are equal and the words are. */
static struct walk_cache_step walker_state(const struct walker *w)
{
	return (struct walk_cache_step){
		.pc = w->regs.value[w->pc],
		.sp = w->regs.value[w->sp],
		.fp = w->regs.value[w->fp],
		.flags = (uint8_t)((w->regs.known >> w->fp & 1 ? WALK_CACHE_FP_KNOWN : 0) |
		                   (w->exact ? WALK_CACHE_EXACT : 0) |
		                   (w->signalled ? WALK_CACHE_SIGNALLED : 0) |
		                   (w->first ? WALK_CACHE_FIRST : 0)),
	};
}

/* From here on nothing is written down. */
static void walker_leave_cache(struct walker *w)
{
	struct walk_cache_step state = walker_state(w);

	if (w->cache)
		walk_cache_end(w->cache, &state);
	w->cache = NULL;
	w->step = NULL;
}

/* From here on frames are guesses, of which registers beside sp, fp and pc say nothing. */
static void walker_unsure(struct walker *w)
{
	walker_leave_cache(w);
	for (unsigned i = 0; i < w->n_saved; i++)
		w->saved[i].how = SAVED_UNKNOWN;
	if (w->out->n_sure > w->out->n)
		w->out->n_sure = w->out->n;
}

/*
 * Applies a rule to code between two functions that nobody described: perhaps nothing has changed
 * since the rule. Not where DWARF register 0, which holds the result of a system call on all
 * machines, may be 0: that is the child of a clone, whose stack has no return address.
 */
static bool walker_like(struct walker *w, const struct frametab_rule *like)
{
	if (w->options->no_fallback || like->cfa == FRAMETAB_CFA_NONE || !w->first ||
	    !(w->regs.known & 1) || !w->regs.value[0])
		return walker_end(w, WALK_NO_INFO);
	walker_unsure(w);
	return walker_step(w, like);
}

/* Makes a step without unwind information: the caller's fp is at [fp], the return address at [fp +
 * 8]. It is a guess, and counted as one. */
static bool walker_guess(struct walker *w)
{
	uint64_t fp = w->regs.value[w->fp], next, pc;
	struct walk_place there;

	bool kept = w->place.rule && w->place.rule->flags & FRAMETAB_KEEPS_FP;

	if (w->options->no_fallback || !(w->place.may_guess || w->place.keeps_fp || kept) ||
	    !(w->regs.known >> w->fp & 1))
		return walker_end(w, WALK_NO_INFO);
	/* A frame pointer of 0 marks the outermost frame in code that keeps them. */
	if (!fp && (w->place.keeps_fp || w->kept))
		return walker_end(w, WALK_COMPLETE);
	/* A caller's frame lies above, and is aligned. */
	if (fp < w->regs.value[w->sp] || fp % 8)
		return walker_end(w, WALK_NO_INFO);
	if (w->memory->read(w->memory->ctx, fp, &next) < 0 ||
	    w->memory->read(w->memory->ctx, fp + 8, &pc) < 0)
		return walker_end(w, WALK_NO_INFO);
	pc = walker_strip(w, pc);
	if (!pc && w->place.keeps_fp)
		return walker_end(w, WALK_COMPLETE);
	/* A return address must lie in something mapped, else the frame pointer was a number like
	 * another. */
	if (!pc || w->memory->find(w->memory->ctx, pc - 1, &there) < 0)
		return walker_end(w, WALK_NO_INFO);
	walker_unsure(w);
	w->regs.value[w->sp] = fp + 16;
	w->regs.value[w->fp] = next;
	w->regs.value[w->pc] = pc;
	w->exact = w->first = false;
	w->kept = w->place.keeps_fp;
	return true;
}

/* What is at the pc, into w->place. False: nothing is mapped there. */
static bool walker_locate(struct walker *w)
{
	uint64_t pc = w->regs.value[w->pc] - (w->exact ? 0 : 1);

	w->place = (struct walk_place){ 0 };
	return pc <= WALK_ADDRESS && w->memory->find(w->memory->ctx, pc, &w->place) >= 0;
}

/* With marks a caller learns how sure each frame is; the bits are above all addresses. */
static uint64_t walker_frame(const struct walker *w)
{
	uint64_t frame = w->regs.value[w->pc];

	if (!w->options->marks || !w->out->n)
		return frame;
	if (w->exact)
		frame |= WALK_EXACT;
	if (w->out->n_sure <= w->out->n)
		frame |= WALK_GUESSED;
	return frame;
}

/* Takes the steps of the last walk for as long as their words are unchanged. */
static void walker_follow(struct walker *w, uint64_t *frames, size_t most)
{
	struct walk_cache_step state = walker_state(w);
	const struct walk_cache_step *s = walk_cache_find(w->cache, &state);

	if (!s)
		return;
	for (; s->flags & WALK_CACHE_PLAIN && w->out->n < most && walk_cache_holds(s, w->memory);
	     s++) {
		w->exact = s->flags & WALK_CACHE_EXACT;
		w->regs.value[w->pc] = s->pc;
		walk_cache_add(w->cache, s);
		frames[w->out->n] = walker_frame(w);
		if (w->options->sps)
			w->options->sps[w->out->n] = s->sp;
		w->out->n++;
	}
	/* The walk goes on behind the last step that held. */
	w->regs.value[w->pc] = s->pc;
	w->regs.value[w->sp] = s->sp;
	w->regs.value[w->fp] = s->fp;
	w->regs.known = (w->regs.known & ~(1ULL << w->fp)) |
	                (uint64_t)(s->flags & WALK_CACHE_FP_KNOWN) << w->fp;
	w->exact = s->flags & WALK_CACHE_EXACT;
	w->signalled = s->flags & WALK_CACHE_SIGNALLED;
}

/* Writes down the step that is about to be made. */
static void walker_write(struct walker *w)
{
	struct walk_cache_step state = walker_state(w);

	state.table = w->place.table;
	state.rule = w->place.rule;
	w->plain = true;
	w->step = walk_cache_add(w->cache, &state);
}

/* One frame outwards, by what is known of this place, from the surest to the least sure. */
static bool walker_next(struct walker *w)
{
	bool on;

	if (w->place.rule && w->place.rule->flags & FRAMETAB_LIKE)
		return walker_like(w, &w->place.table->rules[w->place.rule->like]);
	if (!w->place.table && w->place.may_guess && w->memory->code)
		w->memory->code(w->memory->ctx, w->regs.value[w->pc], w->exact, &w->place);
	if (!w->place.rule || w->place.rule->cfa == FRAMETAB_CFA_NONE)
		return walker_guess(w);
	if (w->cache)
		walker_write(w);
	on = walker_step(w, w->place.rule);
	if (on && w->step && w->plain && w->step->n_words <= WALK_CACHE_WORDS)
		w->step->flags |= WALK_CACHE_PLAIN;
	return on;
}

/* Memory and objects are reached through `memory` only. frames has room for options->max_frames,
 * and never more than WALK_FRAMES_MAX are written. ret->end says why the walk ended; the first
 * ret->n_sure frames rest on unwind information, the others on guesses. */
void walk_stack(const struct walk_options *options, const struct walk_memory *memory,
                const struct walk_registers *regs, uint64_t *frames, struct walk *ret)
{
	struct walker w = { .options = options,
		            .memory = memory,
		            .regs = *regs,
		            .out = ret,
		            .cache = memory->cache };
	size_t most = options->max_frames < WALK_FRAMES_MAX ? options->max_frames : WALK_FRAMES_MAX;
	bool mapped = true;

	*ret = (struct walk){ .n_sure = SIZE_MAX, .end = WALK_LIMIT };
	walker_start(&w);
	if (w.cache)
		walk_cache_begin(w.cache);
	while (ret->n < most) {
		if (w.cache && ret->n)
			walker_follow(&w, frames, most);
		if (ret->n == most)
			break;
		mapped = walker_locate(&w);
		if (!mapped)
			walker_end(&w, WALK_NO_INFO);
		/* The first frame always counts: the sample hit there. */
		if (mapped || !ret->n) {
			frames[ret->n] = walker_frame(&w);
			if (options->sps)
				options->sps[ret->n] = w.regs.value[w.sp];
			ret->n++;
		}
		if (!mapped || !walker_next(&w))
			break;
	}
	if (options->sps)
		options->sps[ret->n] = w.regs.value[w.sp];
	walker_leave_cache(&w);
	if (ret->n_sure > ret->n)
		ret->n_sure = ret->n;
}
