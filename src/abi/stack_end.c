// SPDX-License-Identifier: MIT
/* stack_end.c: see stack_end.h. The table's rows are those of stack_ends.def. Numbers that this
 * version does not know are taken for a stack that is cut: a report that called it whole would be
 * wrong. */
#include "abi/stack_end.h"

/* Whether a part of the stack is missing. */
enum stack_end_half {
	WHOLE,
	CUT
};

static const struct {
	const char *name, *text;
	enum stack_end_half half;
} ends[STACK_ENDS] = {
#define STACK_END(number, id, name, half, text) [number] = { name, text, half },
#include "abi/stack_ends.def"
};

bool stack_end_is_cut(enum stack_end end)
{
	return end >= STACK_ENDS || ends[end].half == CUT;
}

const char *stack_end_name(enum stack_end end)
{
	return end < STACK_ENDS && ends[end].name ? ends[end].name : "unknown";
}

const char *stack_end_text(enum stack_end end)
{
	return end < STACK_ENDS && ends[end].text
	               ? ends[end].text
	               : "cut off: for a reason that this version does not know";
}
