/* SPDX-License-Identifier: MIT */
/* states.h: what is known of each enum seam_stitch_state: the rows of states.def. */
#ifndef SEAM_STITCH_STATES_H
#define SEAM_STITCH_STATES_H

#include <seam/stitch.h>

struct states_fact {
	const char *name, *text;
	const char *hint; /* NULL: none */
	enum states_half {
		STATES_WHOLE,
		STATES_CUT,
		STATES_NONE,
	} part;
};

/* By enum seam_stitch_state. */
extern const struct states_fact states_facts[SEAM_STITCH_STATES];

#endif
