// SPDX-License-Identifier: MIT
/*
 * runtime_end.c: see runtime_end.h. The table's rows are those of runtime_ends.def. Of a number
 * that this version does not know, functions may be missing: a report must not call them all
 * there.
 */
#include "abi/runtime_end.h"

/* Whether functions may be missing. */
enum runtime_end_half {
	WHOLE,
	LACKS
};

static const struct {
	const char *name, *text;
	enum runtime_end_half half;
} ends[RUNTIME_ENDS] = {
#define RUNTIME_END(number, id, name, half, text) [number] = { name, text, half },
#include "abi/runtime_ends.def"
};

bool runtime_end_lacks(enum runtime_end end)
{
	return end >= RUNTIME_ENDS || !ends[end].name || ends[end].half == LACKS;
}

const char *runtime_end_name(enum runtime_end end)
{
	return end < RUNTIME_ENDS && ends[end].name ? ends[end].name : "unknown";
}

const char *runtime_end_text(enum runtime_end end)
{
	return end < RUNTIME_ENDS && ends[end].text
	               ? ends[end].text
	               : "for a reason that this version does not know";
}
