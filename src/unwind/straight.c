// SPDX-License-Identifier: MIT
/*
 * straight.c: see straight.h. Follows the stack pointer, and where the caller's frame pointer is,
 * from instruction to instruction.
 *
 * Code that is made at run time seldom has unwind information. From where execution stopped, this
 * file goes on through the code as the CPU would, up to the return: what it pops and adds on the
 * way tells where the return address lies. It knows only the instructions that epilogues and leaves
 * are made of, and no other: at the first that it does not know it gives up. A conditional jump is
 * passed over: had it been made, execution would go another way to a return of its own.
 *
 * Invariant: an answer is right or there is none. The work is bounded by the code that is given.
 */
#include "unwind/straight.h"

#include <string.h>

const struct frametab straight_table;

/* The state of the walk through the code: where it is, and what sp and fp are by now. */
/* An instruction's place in the code that is left. */
struct straight {
	const unsigned char *at, *end;
	bool exact;
	/* The stack pointer: offset from what sp, or fp, was at the pc. */
	bool by_fp;
	int64_t sp;
	/* The frame pointer: as it was, saved at an offset of the same kind, or an offset itself.
	 * */
	enum {
		FP_SAME,
		FP_SAVED,
		FP_OFFSET
	} fp;
	int64_t fp_at;
	bool pushed; /* the code itself saved the frame pointer, there: */
	int64_t pushed_at;
};

/* Takes bytes if they come next. */
static bool straight_is(struct straight *s, const char *bytes, size_t n)
{
	if ((size_t)(s->end - s->at) < n || memcmp(s->at, bytes, n) != 0)
		return false;
	s->at += n;
	return true;
}

#define IS(s, bytes) straight_is(s, bytes, sizeof(bytes) - 1)

/* Takes bytes and the number that follows them. */
static bool straight_number(struct straight *s, const char *bytes, size_t n, size_t size,
                            int32_t *ret)
{
	if ((size_t)(s->end - s->at) < n + size || memcmp(s->at, bytes, n) != 0)
		return false;
	s->at += n;
	memcpy(ret, s->at, size);
	if (size == 1)
		*ret = (signed char)s->at[0];
	s->at += size;
	return true;
}

#define NUMBER(s, bytes, size, ret) straight_number(s, bytes, sizeof(bytes) - 1, size, ret)

/* A pop of what the code itself pushed gives the old value back; else the caller's was saved
 * there. */
static bool straight_pop_fp(struct straight *s)
{
	if (s->pushed && s->pushed_at == s->sp) {
		s->fp = FP_SAME;
		s->pushed = false;
	} else {
		s->fp = FP_SAVED;
		s->fp_at = s->sp;
	}
	s->sp += 8;
	return true;
}

/* mov %rbp,%rsp */
static bool straight_sp_is_fp(struct straight *s)
{
	if (s->fp == FP_SAVED)
		return false;
	if (s->fp == FP_SAME && (s->by_fp || s->pushed))
		return false;
	s->by_fp = s->by_fp || s->fp == FP_SAME;
	s->sp = s->fp == FP_SAME ? 0 : s->fp_at;
	return true;
}

/* What a function begins with. */
static bool straight_begins(struct straight *s)
{
	int32_t by;

	if (IS(s, "\xf3\x0f\x1e\xfa")) /* endbr64 */
		return true;
	if (NUMBER(s, "\x48\x83\xec", 1, &by) || NUMBER(s, "\x48\x81\xec", 4, &by)) {
		s->sp -= by;
		return true;
	}
	/* push %rbp: only where it still has the caller's value. */
	if (s->fp == FP_SAME && !s->pushed && !s->by_fp && IS(s, "\x55")) { /* push %rbp */
		s->sp -= 8;
		s->pushed = true;
		s->pushed_at = s->sp;
		return true;
	}
	/* mov %rsp,%rbp, in its two spellings */
	if (IS(s, "\x48\x89\xe5") || IS(s, "\x48\x8b\xec")) {
		s->fp = FP_OFFSET;
		s->fp_at = s->sp;
		return true;
	}
	/* A call leaves the stack as it was. Of registers it leaves those that a function must
	 * preserve; where ours was saved it cannot know. */
	if (s->end - s->at >= 2 && s->at[0] == 0xff && (s->at[1] & 0xf8) == 0xd0) {
		s->at += 2;
		return true;
	}
	return NUMBER(s, "\xe8", 4, &by);
}

/* A jump that is not made leaves all as it was, and where it is made nobody asks. */
static bool straight_passes(struct straight *s)
{
	int32_t by;

	if (s->end - s->at >= 2 && (s->at[0] & 0xf0) == 0x70) {
		s->at += 2;
		return true;
	}
	if (s->end - s->at >= 6 && s->at[0] == 0x0f && (s->at[1] & 0xf0) == 0x80) {
		s->at += 2;
		return NUMBER(s, "", 4, &by);
	}
	return false;
}

/* inc and dec of a register of 64 bits other than rsp and rbp: Erlang counts so before it
 * returns. */
static bool straight_counts(struct straight *s)
{
	if (s->end - s->at < 3 || (s->at[0] != 0x48 && s->at[0] != 0x49) || s->at[1] != 0xff ||
	    (s->at[2] & 0xf0) != 0xc0 ||
	    (s->at[0] == 0x48 && ((s->at[2] & 7) == 4 || (s->at[2] & 7) == 5)))
		return false;
	s->at += 3;
	return true;
}

/* What a function ends with, but for the return. */
static bool straight_ends(struct straight *s)
{
	int32_t by;

	if (NUMBER(s, "\x48\x83\xc4", 1, &by) || NUMBER(s, "\x48\x81\xc4", 4, &by) ||
	    NUMBER(s, "\x48\x8d\x64\x24", 1, &by) || NUMBER(s, "\x48\x8d\xa4\x24", 4, &by)) {
		s->sp += by;
		return true;
	}
	if (IS(s, "\x5d")) /* pop %rbp */
		return straight_pop_fp(s);
	if (IS(s, "\xc9")) /* leave */
		return straight_sp_is_fp(s) && straight_pop_fp(s);
	if (IS(s, "\x48\x89\xec") || IS(s, "\x48\x8b\xe5"))
		return straight_sp_is_fp(s);
	if (IS(s, "\x59") || IS(s, "\x5a")) { /* pop %rcx, %rdx: room that is given back */
		s->sp += 8;
		return true;
	}
	if (straight_passes(s) || straight_counts(s))
		return true;
	return IS(s, "\x90") || IS(s, "\x66\x90") || IS(s, "\xc5\xf8\x77"); /* nop, vzeroupper */
}

/* ret, rep ret (for old branch predictors) and bnd ret (MPX). */
static bool straight_returns(struct straight *s)
{
	return IS(s, "\xc3") || IS(s, "\xf3\xc3") || IS(s, "\xf2\xc3");
}

/* The rule for the pc at which the walk began. False: the code came to a return, but with something
 * unproven. */
static bool straight_put(const struct straight *s, struct frametab_rule *ret)
{
	int64_t cfa = s->sp + 8;

	/* What lies below sp was not left there by a caller, so it does not count. */
	if (s->fp == FP_OFFSET || s->pushed || cfa > INT32_MAX || (!s->by_fp && s->sp < 0) ||
	    (!s->by_fp && s->fp == FP_SAVED && s->fp_at < 0))
		return false;
	*ret = (struct frametab_rule){ .cfa = s->by_fp ? FRAMETAB_CFA_FP : FRAMETAB_CFA_SP,
		                       .cfa_off = (int32_t)cfa,
		                       .ra = FRAMETAB_AT_CFA,
		                       .ra_off = -8 };
	if (s->fp == FP_SAVED) {
		ret->fp = FRAMETAB_AT_CFA;
		ret->fp_off = (int32_t)(s->fp_at - cfa);
	}
	return true;
}

/* The bounds keep sums in 32 bits, whatever the code adds. */
static bool straight_x86_64(struct straight *s, struct frametab_rule *ret)
{
	while (s->at < s->end && s->sp > INT16_MIN && s->sp < INT32_MAX / 2) {
		if (straight_returns(s))
			return straight_put(s, ret);
		if (!straight_ends(s) && !(s->exact && straight_begins(s)))
			return false;
	}
	return false;
}

/* ldp x29, x30, [sp], #n; then perhaps autiasp or autibsp; ret. Where a call returned to: x30 is
 * the call's own. */
static bool straight_aarch64(const unsigned char *code, size_t n, struct frametab_rule *ret)
{
	uint32_t words[3] = { 0 };
	size_t i = 1;
	int32_t by;

	memcpy(words, code, n < sizeof(words) ? n : sizeof(words));
	by = (int32_t)(words[0] >> 15 & 0x7f) * 8;
	if ((words[0] & ~(0x7fu << 15)) != 0xa8c07bfd || by < 16 || by >= 512)
		return false;
	if (words[1] == 0xd50323bf || words[1] == 0xd50323ff)
		i++;
	if (words[i] != 0xd65f03c0)
		return false;
	*ret = (struct frametab_rule){ .cfa = FRAMETAB_CFA_SP,
		                       .cfa_off = by,
		                       .fp = FRAMETAB_AT_CFA,
		                       .fp_off = -by,
		                       .ra = FRAMETAB_AT_CFA,
		                       .ra_off = 8 - by,
		                       .flags = i > 1 ? FRAMETAB_MANGLED_RA : 0 };
	return true;
}

/* Whether `leave` or `pop %rbp` is in front of code[at]. A byte like the first may also name
 * registers, as in xor %ecx,%ecx: with these bytes before it. */
static bool straight_left(const unsigned char *code, size_t at)
{
	static const unsigned char names[] = { 0x31, 0x33, 0x84, 0x85, 0x89, 0x8b,
		                               0xd1, 0xd3, 0xf7, 0xfe, 0xff };

	if (!at || (code[at - 1] != 0xc9 && code[at - 1] != 0x5d))
		return false;
	return code[at - 1] == 0x5d || at == 1 || !memchr(names, code[at - 2], sizeof(names));
}

/* jmp to an offset or through a register or memory: the tail call of a function that has no frame
 * any more. */
static bool straight_jumps(const unsigned char *code, size_t n)
{
	if (n >= 2 && (code[0] == 0xeb || code[0] == 0xe9))
		return true;
	return n >= 2 && code[0] == 0xff && (code[1] >> 3 & 7) == 4;
}

/* Where push %rbp stands in front of mov %rsp,%rbp, at the begin of a function; SIZE_MAX: it does
 * not begin so. */
static size_t straight_frame_at(const unsigned char *code, size_t n)
{
	size_t at = n >= 4 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0; /* endbr64 */

	return n - at >= 4 && (!memcmp(code + at, "\x55\x48\x89\xe5", 4) ||
	                       !memcmp(code + at, "\x55\x48\x8b\xec", 4))
	               ? at
	               : SIZE_MAX;
}

bool straight_keeps_fp(uint32_t machine, const unsigned char *code, size_t n)
{
	return machine == FRAMETAB_X86_64 && straight_frame_at(code, n) != SIZE_MAX;
}

/* A jump out of the function counts only directly behind what takes the frame away. */
bool straight_edge(uint32_t machine, const unsigned char *code, size_t n, size_t at,
                   struct frametab_rule *ret)
{
	size_t frame = straight_frame_at(code, n);
	bool pushed;

	if (machine != FRAMETAB_X86_64 || frame == SIZE_MAX || at >= n)
		return false;
	pushed = at == frame + 1;
	if (at > frame && !pushed &&
	    !(straight_left(code, at) && straight_jumps(code + at, n - at)))
		return false;
	*ret = (struct frametab_rule){ .cfa = FRAMETAB_CFA_SP,
		                       .cfa_off = pushed ? 16 : 8,
		                       .ra = FRAMETAB_AT_CFA,
		                       .ra_off = -8 };
	if (pushed) {
		ret->fp = FRAMETAB_AT_CFA;
		ret->fp_off = -16;
	}
	return true;
}

bool straight_rule(uint32_t machine, const unsigned char *code, size_t n, bool exact,
                   struct frametab_rule *ret)
{
	struct straight s = { .at = code,
		              .end = code + (n < STRAIGHT_BYTES ? n : STRAIGHT_BYTES),
		              .exact = exact };

	if (machine == FRAMETAB_AARCH64)
		return !exact && n >= 8 && straight_aarch64(code, n, ret);
	return machine == FRAMETAB_X86_64 && straight_x86_64(&s, ret);
}
