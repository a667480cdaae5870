/* SPDX-License-Identifier: MIT */
/* marks.h: the functions that the user has marked, by what they are called: they are the same in
 * every pane, whatever samples it shows. Zero-initialise to start. */
#ifndef SEAM_VIEW_MARKS_H
#define SEAM_VIEW_MARKS_H

#include <stdbool.h>
#include <stddef.h>

struct marks {
	struct mark {
		char *object, *symbol;
	} * mark;
	size_t n, capacity;
};

/* Marks a function, or takes its mark away. object: "": it is not told apart; symbol: "": it has no
 * name. -ENOMEM. */
int marks_toggle(struct marks *m, const char *object, const char *symbol);
bool marks_has(const struct marks *m, const char *object, const char *symbol);
void marks_free(struct marks *m);

#endif
