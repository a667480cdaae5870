/* SPDX-License-Identifier: MIT */
/*
 * stack_end.h: why a user stack ended that was walked by unwind tables during the recording. The
 * reason is kept in bits of the record's misc that the kernel leaves 0 in SAMPLE and
 * CALLCHAIN_DEFERRED and that other readers ignore. The numbers are part of the file format.
 */
#ifndef SEAM_ABI_STACK_END_H
#define SEAM_ABI_STACK_END_H

#include <stdbool.h>
#include <stdint.h>

enum stack_end {
#define STACK_END(number, id, ...) STACK_END_##id = (number),
#include "abi/stack_ends.def"
	STACK_ENDS = 16, /* all that four bits can say */
};

#define STACK_END_SHIFT 4
/* Some frames were found by frame pointer, in code without unwind information. */
#define STACK_END_GUESSED (1u << 8)

static inline uint16_t stack_end_misc(enum stack_end end, bool guessed)
{
	return (uint16_t)((uint32_t)end << STACK_END_SHIFT | (guessed ? STACK_END_GUESSED : 0));
}

static inline enum stack_end stack_end_of(uint16_t misc)
{
	return (enum stack_end)(misc >> STACK_END_SHIFT & (STACK_ENDS - 1));
}

/* A name for JSON ("complete", "no_mapping"), which does not change. "unknown" for a number of a
 * newer version. */
const char *stack_end_name(enum stack_end end);
const char *stack_end_text(enum stack_end end); /* for people */
bool stack_end_is_cut(enum stack_end end);      /* a part of the stack is missing */

#endif
