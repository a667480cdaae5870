// SPDX-License-Identifier: MIT
// walk_end.c: why a walk ended, in words. Knows no walk.
#include "unwind/walk.h"

static const struct {
	const char *name, *text;
} walk_ends[WALK_ENDS] = {
#define WALK_END(number, id, name, text) [number] = { name, text },
#include "unwind/walk_ends.def"
};

/* Numbers are 0, 1, 2 ... */
enum {
	WALK_END_ROWS = 0
#define WALK_END(...) +1
#include "unwind/walk_ends.def"
};
_Static_assert((int)WALK_END_ROWS == (int)WALK_ENDS, "walk_ends.def");

const char *walk_end_name(enum walk_end end)
{
	return (unsigned)end < WALK_ENDS ? walk_ends[end].name : "unknown";
}

const char *walk_end_text(enum walk_end end)
{
	return (unsigned)end < WALK_ENDS ? walk_ends[end].text : "unknown";
}
