/* SPDX-License-Identifier: MIT */
/*
 * perl_names.bpf.h: what stands where in Perl's structs, and from a sub, a format or other code to
 * its name, its file and its line. Names are those of the sub alone, with CvFILE, not the file of
 * the statement; one of another file is none of the sub's lines.
 */
#ifndef SEAM_CAPTURE_RUNTIME_PERL_NAMES_BPF_H
#define SEAM_CAPTURE_RUNTIME_PERL_NAMES_BPF_H

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
	__u32 n_contexts; /* frames before those that stand for loops that were met */
	__u32 unused;
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

#endif
