/* SPDX-License-Identifier: MIT */
/*
 * perl.bpf.h: from a thread of Perl to the contexts of its subs, by the offsets of the process's
 * version (runtimes/perl_layout.h), and what the subs are called. A sub is where the innermost
 * statement is, or the one in which its context was pushed: that of the next one outwards.
 *
 * No context says where on the C stack the call of the loop is that runs it. But one with no op to
 * return to was entered by a call; so calls of the loop are sent as they are met in the native
 * stack, with what called them, and runtimes/perl_match.c brings both together. A loop whose caller
 * has a struct jmpenv of its own goes on with the contexts of the one outwards (S_docatch): it is
 * left out.
 *
 * While a sub is entered or left its context is not whole. Names are those of the sub alone, with
 * CvFILE, not the file of the statement; one of another file is none of the sub's lines.
 */
#ifndef SEAM_CAPTURE_RUNTIME_PERL_BPF_H
#define SEAM_CAPTURE_RUNTIME_PERL_BPF_H

#define RUNTIME_FRAMES perl_frames
#define RUNTIME_PASSES perl_pass
#define RUNTIME_OWN_WORDS 1152u

#include "capture/runtime/runtime.bpf.h"
#include "runtimes/perl_layout.h"

#define PERL_JUMPS 1024u /* a power of two */
#define PERL_MOST (1 << 24)
#define PERL_NAME_MOST (1u << 16)

/* glibc's struct pthread: what pthread_getspecific() gives for the first keys, and the tables of
 * the others */
#define PERL_KEYS 0x310
#define PERL_KEY_TABLES 0x510
#define PERL_KEYS_EACH 32u

/* bytes into the structs of all versions that are known, and their sizes */
#define PERL_STACK_SIZE 56 /* PERL_SI */
#define PERL_CONTEXT_SIZE 104
#define PERL_CODE_SIZE 104 /* XPVCV */
#define PERL_COP_SIZE 56   /* to cop_file */
#define PERL_COP_LINE 36
#define PERL_COP_FILE 48
#define PERL_GLOB_EFFECTIVE 56 /* gp_egv */
#define PERL_GLOB_NAME 32      /* and behind it the stash */
#define PERL_STASH_NAMES 32    /* xhv_name_u; xhv_name_count is 28 behind it */

/* types of contexts, and their flags */
#define PERL_TYPE 15
#define PERL_SUB 9
#define PERL_FORMAT 10
#define PERL_EVAL_CONTEXT 11
#define PERL_DEFER 13
#define PERL_MULTICALL 0x10
#define PERL_REGEX 0x40      /* of a sub: code in a regular expression */
#define PERL_REGEX_FAKE 0x80 /* likewise, which is part of the sub around it */
#define PERL_EVAL_BLOCK 0xc0 /* of an eval: of a block, not of a text or a file */
#define PERL_SORT 3          /* type of a stack */

/* flags of values: the type, and what it has */
#define PERL_IS_CODE 13
#define PERL_IS_FORMAT 14
#define PERL_IS_GLOB 0x8009
#define PERL_GLOB_FLAGS 0xc0ff
#define PERL_IS_STASH 0x200000c
#define PERL_STASH_FLAGS 0x20000ff
#define PERL_CODE_NAMED 0x8000 /* flags of code */
#define PERL_CODE_LEXICAL 0x10000
#define PERL_CODE_C 8
#define PERL_NAME_UTF8 1

#define PERL_NO_OP 0xffffu

struct perl {
	__u64 base; /* what the offsets of variables are from */
	__u64 contexts, previous;
	__u64 statement; /* in which the sub is that comes next */
	__u64 innermost, op, op_next;
	__u64 code, package, name, next, bytes, file;
	/* of code outside of subs: where its file is told, and what it is called */
	__u64 told_by, one, two;
	__u64 n_jumps, at_jump;
	__s32 at, top;
	__u32 stack_type, op_type, any, sorted, line, called, begun;
	/* of a step: whether there is code to take, what statement is next, 1 + who calls the loop
	 * for it, and whether it is the last */
	__u32 take, by, last, took;
	__u64 then;
	unsigned char head[24];
	unsigned char context[PERL_CONTEXT_SIZE];
	unsigned char body[PERL_CODE_SIZE];
	unsigned char cop[PERL_COP_SIZE];
	__u64 jumps[PERL_JUMPS]; /* struct jmpenv on the C stack, the innermost first */
};

_Static_assert(sizeof(struct perl) <= RUNTIME_OWN_WORDS * 8, "RUNTIME_OWN_WORDS");

#define PL(p) ((struct perl *)(p)->own)
#define AT(field) ANEW(((struct perl_layout *)p->process.of.layout)->field)
#define ADDRESS(field) ANEW(p->process.of.address[field])
#define WORD(bytes, at) (*(volatile __u64 *)&(bytes)[at])
#define HALF(bytes, at) (*(volatile __u32 *)&(bytes)[at])

/* A variable of the interpreter. */
INLINE long perl_variable(struct walk *c, __u64 at, __u64 *ret, const int kind)
{
	return runtime_u64(c, ANEW(PL(c->runtime)->base) + at, ret, kind);
}

/* ---- texts ---- */

/* Mixes a word of a text that a 0 ends into p->hash. */
static long perl_path_word(__u32 i, void *ctx)
{
	struct runtime_walk *p = ((struct walk *)ctx)->runtime;
	const __u64 ones = 0x0101010101010101ull;
	__u64 word, end, kept;

	if (i >= KWALK_CODE_FILE / 8)
		return 1;
	word = p->told.text[i];
	end = (word - ones) & ~word & ones << 7; /* the lowest bit is that of the first 0 */
	if (!end) {
		p->hash = runtime_mix(p->hash, word);
		PL(p)->bytes += 8;
		return 0;
	}
	kept = ((end & -end) >> 7) - 1;
	p->hash = runtime_mix(p->hash, word & kept);
	PL(p)->bytes += (kept & ones) * ones >> 56;
	p->told.file.cut = 0;
	return 1;
}

/* Reads such a text, the name of a file, into what is told; p->hash is its own. It is all on the
 * page if what is behind that cannot be read. */
INLINE long perl_path(struct walk *c, __u64 address, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u32 n = 4096 - (address & 4095);

	p->told.file = (struct kwalk_code_text){ .cut = 1 };
	p->hash = config.seed;
	pl->bytes = 0;
	if (!address) {
		p->told.file.cut = 0;
		return 0;
	}
	if (!walk_read(c, address, p->told.text, KWALK_CODE_FILE, kind)) {
		n = KWALK_CODE_FILE;
	} else {
		FORGET(n);
		if (n >= KWALK_CODE_FILE)
			return runtime_end(p, KWALK_RUNTIME_FAULT);
		p->told.text[n >> 3 & (KWALK_CODE_FILE / 8 - 1)] = 0;
		if (walk_read(c, address, p->told.text, n, kind))
			return runtime_end(p, KWALK_RUNTIME_FAULT);
	}
	bpf_loop(KWALK_CODE_FILE / 8, perl_path_word, c, 0);
	if (n < KWALK_CODE_FILE && ANEW(pl->bytes) >= n)
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	p->told.file.bytes = (__u16)ANEW(pl->bytes);
	return 0;
}

/* Reads a name (HEK). */
INLINE long perl_name(struct walk *c, __u64 name, struct kwalk_code_text *text, const __u32 first,
                      const __u32 most, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u32 n;

	if (walk_read(c, name, pl->head, 8, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	n = HALF(pl->head, 4);
	if (n > PERL_NAME_MOST)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (walk_read(c, name + 8 + n + 1, pl->head, 1, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	return runtime_text(c, name + 8, n, !(HALF(pl->head, 0) & PERL_NAME_UTF8), text, first,
	                    most, kind);
}

/* A name of ours: of one word that a 0 ends, or of two, of which the second has one letter. */
INLINE void perl_word(struct runtime_walk *p, __u64 one, __u64 two)
{
	p->told.name = (struct kwalk_code_text){ .bytes = two ? 9 : one >> 32 ? 6 : 4 };
	p->told.scope.bytes = 0;
	p->told.text[KWALK_CODE_FILE / 8] = one;
	p->told.text[KWALK_CODE_FILE / 8 + 1] = two;
	p->hash = runtime_mix(runtime_mix(p->hash, one), two);
}

#define PERL_WORD_MAIN 0x296e69616d28ull        /* "(main)" */
#define PERL_WORD_EVAL 0x296c61766528ull        /* "(eval)" */
#define PERL_WORD_DO 0x296f6428ull              /* "(do)" */
#define PERL_WORD_REQUIRE 0x6572697571657228ull /* "(require", and ")" */
#define PERL_WORD_UNKNOWN 0x6e776f6e6b6e7528ull /* "(unknown", and ")" */

/* ---- subs ---- */

/* Reads the head of a value, and the beginning of what it is of. */
INLINE long perl_value(struct walk *c, __u64 at, __u32 flags, __u32 is, __u32 from, __u32 n,
                       const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);

	if (walk_read(c, at, pl->head, sizeof(pl->head), kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	if ((HALF(pl->head, 12) & flags) != is)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (walk_read(c, WORD(pl->head, 0) + from, pl->body, n, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	return 0;
}

/* The name of a glob, and its package: of the effective one, as caller() has it. */
INLINE long perl_glob(struct walk *c, __u64 glob, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);

	if (perl_value(c, glob, PERL_GLOB_FLAGS, PERL_IS_GLOB, PERL_GLOB_NAME, 16, kind))
		return 1;
	pl->name = WORD(pl->body, 0);
	pl->package = WORD(pl->body, 8);
	if (!WORD(pl->head, 16))
		return 0;
	if (runtime_u64(c, WORD(pl->head, 16) + PERL_GLOB_EFFECTIVE, &pl->next, kind))
		return 1;
	if (!ANEW(pl->next) || ANEW(pl->next) == glob)
		return 0;
	if (perl_value(c, pl->next, PERL_GLOB_FLAGS, PERL_IS_GLOB, PERL_GLOB_NAME, 16, kind))
		return 1;
	pl->name = WORD(pl->body, 0);
	pl->package = WORD(pl->body, 8);
	return 0;
}

/* The name of the package at pl->package: the scope of what is told. */
INLINE long perl_package(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);

	p->told.scope.bytes = 0;
	if (!ANEW(pl->package))
		return 0;
	if (perl_value(c, pl->package, PERL_STASH_FLAGS, PERL_IS_STASH, PERL_STASH_NAMES, 32, kind))
		return 1;
	pl->next = WORD(pl->body, 0);
	if (ANEW(pl->next) && HALF(pl->body, 28) && runtime_u64(c, ANEW(pl->next), &pl->next, kind))
		return 1;
	if (!ANEW(pl->next))
		return 0;
	return perl_name(c, pl->next, &p->told.scope, KWALK_CODE_FILE + KWALK_CODE_NAME,
	                 KWALK_CODE_SCOPE, kind);
}

/* The name of the code in pl->body. */
INLINE long perl_names(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u32 flags = HALF(pl->body, 92);

	pl->name = WORD(pl->body, 56);
	if (!ANEW(pl->name)) {
		perl_word(p, PERL_WORD_UNKNOWN, ')');
		return 0;
	}
	if (flags & PERL_CODE_NAMED)
		pl->package = flags & PERL_CODE_LEXICAL ? 0 : WORD(pl->body, 32);
	else if (perl_glob(c, pl->name, kind))
		return 1;
	if (perl_name(c, pl->name, &p->told.name, KWALK_CODE_FILE, KWALK_CODE_NAME, kind))
		return 1;
	return perl_package(c, kind);
}

/* The first line: of the statement with which the code at pl->code begins. */
INLINE long perl_first_line(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u64 start = WORD(pl->body, 40);
	__u32 type;

	p->told.first_line = 0;
	if (!start)
		return 0;
	if (walk_read(c, start, pl->cop, 40, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	type = HALF(pl->cop, 32) & 511;
	if (type == AT(op_nextstate) || type == AT(op_dbstate))
		p->told.first_line = HALF(pl->cop, PERL_COP_LINE);
	return 0;
}

/* ---- statements ---- */

/* Reads a statement's line, and where its file's name is (pl->next). */
INLINE long perl_cop(struct walk *c, __u64 cop, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);

	pl->line = 0;
	pl->next = 0;
	if (!cop)
		return 0;
	if (walk_read(c, cop, pl->cop, PERL_COP_SIZE, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	pl->line = HALF(pl->cop, PERL_COP_LINE);
	pl->next = WORD(pl->cop, PERL_COP_FILE);
	if (AT(threaded) || !ANEW(pl->next))
		return 0;
	/* There it is a glob, "_<" and the name. */
	if (perl_value(c, pl->next, PERL_GLOB_FLAGS, PERL_IS_GLOB, PERL_GLOB_NAME, 8, kind))
		return 1;
	pl->next = WORD(pl->body, 0) + 8 + 2;
	return 0;
}

/* ---- code ---- */

INLINE long perl_tell(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;

	p->told.key = p->hash;
	return runtime_told(p) ? 0 : runtime_tell(c, 0, 0, RUNTIME_LINES_GIVEN, kind);
}

/* Reads what the code at pl->code is. */
INLINE long perl_body(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	__u32 type;

	if (walk_read(c, pl->code, pl->head, sizeof(pl->head), kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	type = HALF(pl->head, 12) & 255;
	if (type != PERL_IS_CODE && type != PERL_IS_FORMAT)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (walk_read(c, WORD(pl->head, 0), pl->body, PERL_CODE_SIZE, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	if (HALF(pl->body, 92) & PERL_CODE_C)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	pl->next = WORD(pl->body, 64);
	return perl_first_line(c, kind);
}

/* The key of the code at pl->code, or of that outside of subs, and which file it is of. Of a sub
 * once in a walk. */
INLINE long perl_key(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	struct runtime_met *m = runtime_met(p, ANEW(pl->code));

	if (ANEW(pl->code) && m->code == ANEW(pl->code)) {
		p->told.key = m->key;
		pl->file = m->what;
		return 0;
	}
	p->told.first_line = 0;
	if ((ANEW(pl->code) ? perl_body(c, kind) : perl_cop(c, pl->told_by, kind)) ||
	    perl_path(c, pl->next, kind))
		return 1;
	pl->file = p->hash;
	p->hash = runtime_mix(runtime_mix(p->hash, p->out.pid), p->told.first_line);
	if (!ANEW(pl->code))
		perl_word(p, pl->one, pl->two);
	else if (perl_names(c, kind))
		return 1;
	if (perl_tell(c, kind))
		return 1;
	if (ANEW(pl->code)) {
		m->what = pl->file;
		runtime_meet(p, m, pl->code);
	}
	return 0;
}

/* Takes the code at pl->code, or that outside of subs, with the line of the statement if that is of
 * the same file. */
INLINE long perl_take(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct perl *pl = PL(p);
	struct runtime_met *m;
	__u64 key;

	if (perl_key(c, kind) || perl_cop(c, pl->statement, kind))
		return 1;
	key = p->told.key;
	m = runtime_met(p, ANEW(pl->next));
	if (m->code != ANEW(pl->next)) {
		if (perl_path(c, pl->next, kind))
			return 1;
		runtime_meet(p, m, pl->next);
		m->what = p->hash;
	}
	/* goto has put the sub into the place of another, whose statement it is */
	if (m->what != ANEW(pl->file) || (!ANEW(pl->any) && ANEW(pl->op_type) == AT(op_goto)))
		pl->line = 0;
	runtime_put(p, key, ANEW(pl->line), RUNTIME_FRAME_CODE);
	return 0;
}

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
	if (perl_variable(c, AT(loop), &loop, kind) || !loop)
		return 0;
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
	if (perl_variable(c, AT(stacks), &stack, kind) || !stack ||
	    perl_variable(c, AT(cop), &pl->innermost, kind) ||
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

#endif
