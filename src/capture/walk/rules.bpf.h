/* SPDX-License-Identifier: MIT */
/*
 * rules.bpf.h: from a pc to the mapping that it is in, and to the rule for it: in the tables and
 * arrays of mappings that the recorder put into the arena, and among the rules that walks found
 * before. Searches have a fixed number of steps and no branches, as the verifier likes them.
 *
 * Knows the table's form (docs/unwind-table.md). Does not apply rules.
 */
#ifndef SEAM_CAPTURE_WALK_RULES_BPF_H
#define SEAM_CAPTURE_WALK_RULES_BPF_H

#include "capture/walk/walker.bpf.h"

/* Finds the mapping of pc and puts it into w->at. Branch-free: counts the mappings that begin at or
 * below pc. */
ONCE int walk_find(struct walker *w, __u64 pc)
{
	__u32 low = 0, n;
	__u64 at;

	if (!w)
		return 0;
	n = w->n_mappings;
	if (pc >= w->at.start && pc < w->at.end)
		return 1;
#pragma unroll
	for (int i = 0; i < 16; i++) {
		__u32 half = (n + 1) >> 1;
		__u64 start = arena_u64(w->mappings + (__u64)(low + half) * sizeof(w->at) -
		                        sizeof(w->at));

		/* user addresses are below 2^63, so the sign tells */
		low += half & (__u32)((__s64)(start - pc - 1) >> 63);
		n -= half;
	}
	if (!low)
		return 0;
	at = w->mappings + (__u64)(low - 1) * sizeof(w->at);
	if (pc >= arena_u64(at + 8))
		return 0;
	w->at.start = arena_u64(at);
	w->at.end = arena_u64(at + 8);
	w->at.base = arena_u64(at + 16);
	w->at.n_pages = arena_u32(at + 24);
	w->at.rules = arena_u32(at + 28);
	w->at.index = arena_u32(at + 32);
	w->at.rows = arena_u32(at + 36);
	w->at.saves = arena_u32(at + 40);
	w->at.flags = arena_u32(at + 44);
	return 1;
}

/* The number of the rule for an address of the table in w->at, which is in this page of it; 0:
 * there is none. */
INLINE __u32 walk_search(struct walker *w, __u64 address, __u64 page)
{
	__u64 rows;
	__u32 key = (__u32)(address & (FRAMETAB_PAGE - 1)) << FRAMETAB_RULE_BITS | WALK_RULE;
	__u32 at, n, a = 0;

	rows = w->at.rows;
	at = arena_u32(w->at.index + page * 4);
	n = arena_u32(w->at.index + page * 4 + 4) - at;
	rows += (__u64)at * 4;
#pragma unroll
	for (int i = 0; i < 11; i++) {
		__u32 half = (n + 1) >> 1;
		__u64 row = arena_u32_wide(rows + (__u64)(a + half) * 4 - 4);

		a += half & (__u32)((__s64)(row - key - 1) >> 63);
		n -= half;
	}
	if (!(at + a))
		return 0;
	return arena_u32(rows + (__u64)a * 4 - 4) & WALK_RULE;
}

/* Where the rule for an address of the table in w->at is remembered, and as what; 0: it is not. Of
 * each, the number of the rule and its short form are remembered apart. */
INLINE __u64 walk_place(const struct walker *w, __u64 address, __u64 form, __u64 *name)
{
	__u64 number = w->at.flags >> KWALK_NUMBER_SHIFT;

	*name = form << (KWALK_KNOWN_ADDRESS - KWALK_KNOWN_BITS + 23) |
	        number << (KWALK_KNOWN_ADDRESS - KWALK_KNOWN_BITS) | address >> KWALK_KNOWN_BITS;
	return number ? KWALK_KNOWN_AT +
	                        ((address + *name * 0x9e3779b1) & ((1u << KWALK_KNOWN_BITS) - 1)) *
	                                8
	              : 0;
}

/* The offset of the rule for pc in w->at; 0: there is none. What was found before is looked at
 * first. */
ONCE __u64 walk_rule(struct walker *w, __u64 pc)
{
	__u64 address, page, name, known, place;

	if (!w)
		return 0;
	address = pc - w->at.base;
	page = address / FRAMETAB_PAGE;
	if (page >= w->at.n_pages)
		return 0;
	place = walk_place(w, address, 0, &name);
	known = place ? arena_u64(place) : 0;
	w->rule = (__u32)known & WALK_RULE;
	if (!place || known >> FRAMETAB_RULE_BITS != name) {
		w->rule = walk_search(w, address, page);
		if (place)
			arena_put_u64(place, name << FRAMETAB_RULE_BITS | w->rule);
	}
	return ANEW(w->rule) ? w->at.rules + (__u64)ANEW(w->rule) * sizeof(struct frametab_rule)
	                     : 0;
}

/*
 * The short form of nearly all rules, in as many bits as a rule's number has: the CFA is the stack
 * pointer or the frame pointer and a few words, the return address lies below it, and the caller's
 * frame pointer is in one of the words below that, or was left alone. Callee-saved registers are
 * not in it.
 */
#define SHORT_IS (1u << 21)                    /* else the rule has no short form */
#define SHORT_FP (1u << 14)                    /* the CFA counts from the frame pointer */
#define SHORT_CFA(bits) ((bits) >> 1 & 0x1ff8) /* bytes */
#define SHORT_SLOT(bits) ((bits)&15)           /* words; 0: left alone */

/* 0: this rule has none. */
INLINE __u32 walk_shorten(__u64 rule)
{
	__u64 head = arena_u64(rule), offs = arena_u64(RULE_AT(rule, cfa_off));
	__u64 where = arena_u64(RULE_AT(rule, fp_off));
	__u32 cfa = (__u32)offs, fp = -(__u32)where, by_fp = (head & 255) == FRAMETAB_CFA_FP;
	__u32 kept = (head >> 16 & 255) == FRAMETAB_AT_CFA;

	if (((head & 255) != FRAMETAB_CFA_SP && !by_fp) || head >> 32 & 0xffff ||
	    (head >> 24 & 255) != FRAMETAB_AT_CFA || (__u32)(where >> 32) != (__u32)-8 || cfa & 7 ||
	    cfa < 8 || cfa > 0x1ff8)
		return 0;
	if (kept ? (fp & 7 || fp < 16 || fp > 15 * 8) : (head >> 16 & 255) != FRAMETAB_AT_SAME)
		return 0;
	return SHORT_IS | (by_fp ? SHORT_FP : 0) | cfa << 1 | (kept ? fp >> 3 : 0);
}

/* The short form of the rule for w->pc in w->at; without SHORT_IS there is none. */
ONCE __u32 walk_short(struct walker *w)
{
	__u64 address, page, name, known, place, rule;

	if (!w)
		return 0;
	address = ANEW(w->pc) - w->at.base;
	page = address / FRAMETAB_PAGE;
	if (page >= w->at.n_pages)
		return 0;
	place = walk_place(w, address, 1, &name);
	if (!place)
		return 0;
	known = arena_u64(place);
	if (known >> FRAMETAB_RULE_BITS == name)
		return (__u32)known & WALK_RULE;
	rule = walk_rule(w, ANEW(w->pc));
	w->rule = rule ? walk_shorten(rule) : 0;
	arena_put_u64(place, name << FRAMETAB_RULE_BITS | (ANEW(w->rule) & WALK_RULE));
	return ANEW(w->rule) & WALK_RULE;
}

#endif
