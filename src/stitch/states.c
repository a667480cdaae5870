// SPDX-License-Identifier: MIT
// states.c: see states.h.
#include "stitch/states.h"

/* The part says how much of a stack such a sample has: reports count by it. */
const struct states_fact states_facts[SEAM_STITCH_STATES] = {
#define STATE(id, called, is, words, helps) \
	[SEAM_STITCH_##id] = { .name = called, .text = words, .hint = helps, .part = STATES_##is },
#include "stitch/states.def"
};

/* Each state of the public header has a row, and the rows stand in the header's order. */
enum {
#define STATE(id, ...) STATES_ROW_##id,
#include "stitch/states.def"
	STATES_ROWS,
};
#define STATE(id, ...) \
	_Static_assert((int)SEAM_STITCH_##id == (int)STATES_ROW_##id, "states.def: " #id);
#include "stitch/states.def"
_Static_assert((int)STATES_ROWS == (int)SEAM_STITCH_STATES, "states.def: a state has no row");

/* For values of a newer library as well: a caller may pass any number. */
const char *seam_stitch_state_name(enum seam_stitch_state state)
{
	return (unsigned)state < SEAM_STITCH_STATES ? states_facts[state].name : "unknown";
}

const char *seam_stitch_state_text(enum seam_stitch_state state)
{
	return (unsigned)state < SEAM_STITCH_STATES ? states_facts[state].text : "unknown";
}
