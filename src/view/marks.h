/* SPDX-License-Identifier: MIT */
/* marks.h: the functions that the user has marked, by what they are called: they are the same in
 * every pane, whatever samples it shows. Zero-initialise to start. */
#ifndef SEAM_VIEW_MARKS_H
#define SEAM_VIEW_MARKS_H

#include "profile/profile.h"

struct marks {
	struct mark {
		char *object, *symbol;
	} * mark;
	size_t n, capacity;
};

/* Marks a function, or takes its mark away. -ENOMEM. */
int marks_toggle(struct marks *m, const struct profile *p, uint32_t object, uint32_t symbol);
bool marks_has(const struct marks *m, const struct profile *p, uint32_t object, uint32_t symbol);
void marks_free(struct marks *m);

#endif
