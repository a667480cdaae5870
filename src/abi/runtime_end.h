/* SPDX-License-Identifier: MIT */
/*
 * runtime_end.h: how the walk over a thread's frames of an interpreter ended, in the same records
 * and in the same way as stack_end.h: bits of misc that the kernel leaves 0 there and that other
 * readers ignore. Only a record that says why its native stack ended says this. The numbers are
 * part of the file format.
 */
#ifndef SEAM_ABI_RUNTIME_END_H
#define SEAM_ABI_RUNTIME_END_H

#include <stdbool.h>
#include <stdint.h>

enum runtime_end {
#define RUNTIME_END(number, id, ...) RUNTIME_END_##id = (number),
#include "abi/runtime_ends.def"
	RUNTIME_ENDS = 16, /* all that four bits can say */
};

#define RUNTIME_END_SHIFT 9

static inline uint16_t runtime_end_misc(enum runtime_end end)
{
	return (uint16_t)((uint32_t)end << RUNTIME_END_SHIFT);
}

static inline enum runtime_end runtime_end_of(uint16_t misc)
{
	return (enum runtime_end)(misc >> RUNTIME_END_SHIFT & (RUNTIME_ENDS - 1));
}

/* As of stack_end.h. */
const char *runtime_end_name(enum runtime_end end);
const char *runtime_end_text(enum runtime_end end);
bool runtime_end_lacks(enum runtime_end end); /* functions of the interpreter may be missing */

#endif
