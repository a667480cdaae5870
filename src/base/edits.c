// SPDX-License-Identifier: MIT
// edits.c: see edits.h.
#include "base/edits.h"

#include <string.h>

unsigned edits_most(const char *name)
{
	return (unsigned)strlen(name) / 3 + 2;
}

/* By rows of the table of all beginnings. */
unsigned edits_between(const char *a, const char *b)
{
	/* Three rows are enough: a swap looks two rows back. */
	unsigned row[3][EDITS_LONG + 1];
	size_t na = strlen(a), nb = strlen(b);

	if (na > EDITS_LONG || nb > EDITS_LONG)
		return EDITS_LONG;
	for (size_t j = 0; j <= nb; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *older = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned least = before[j - 1] + (a[i - 1] != b[j - 1]);

			if (before[j] + 1 < least)
				least = before[j] + 1;
			if (now[j - 1] + 1 < least)
				least = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    older[j - 2] + 1 < least)
				least = older[j - 2] + 1;
			now[j] = least;
		}
	}
	return row[na % 3][nb];
}
