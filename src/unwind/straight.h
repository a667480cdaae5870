/* SPDX-License-Identifier: MIT */
/*
 * straight.h: the rule at an address from the code that stands there, where nothing describes it:
 * code made at run time.
 *
 * Invariant: a rule is given only where every instruction from the address to the function's return
 * is known, and none of them jumps elsewhere in any case: then it is as true as unwind information.
 * So are trampolines understood (CPython's -X perf: sub, call, add, ret), with frame pointers and
 * without, and the ends of other functions. All other code has no rule.
 */
#ifndef SEAM_UNWIND_STRAIGHT_H
#define SEAM_UNWIND_STRAIGHT_H

#include <stdbool.h>
#include <stddef.h>

#include "unwind/frametab.h"

#define STRAIGHT_BYTES 64u /* of code that are worth reading: no more is looked at */

/*
 * code: the bytes from the pc on. exact: execution stopped there. Else the pc is a return address;
 * what looks like the begin of a function there belongs to the next one, behind a call that does
 * not return. False: no rule can be given.
 */
bool straight_rule(uint32_t machine, const unsigned char *code, size_t n, bool exact,
                   struct frametab_rule *ret);

/* Whether a function's code begins with the making of a frame that rbp points to. */
bool straight_keeps_fp(uint32_t machine, const unsigned char *code, size_t n);
/*
 * The rule where execution stopped at code[at], of a function of n bytes that keeps a frame
 * pointer, while it has no frame: before that is made, and at a jump to another function behind
 * `leave` or `pop %rbp`. False: it has one, or it cannot be told.
 */
bool straight_edge(uint32_t machine, const unsigned char *code, size_t n, size_t at,
                   struct frametab_rule *ret);

/* A table without rows, for a walk_place whose rule is one of these. */
extern const struct frametab straight_table;

#endif
