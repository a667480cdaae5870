// SPDX-License-Identifier: MIT
/*
 * pane_columns.c: how wide the columns of a table of names are on a screen.
 *
 * Invariant: the column that rows are told apart by keeps room before the others do.
 */
#include "view/pane.h"

#define GAP 2     /* columns between two names */
#define LEAST 8   /* columns that a name keeps */
#define KEPT 16   /* columns that a function's name keeps, with its mark */
#define NARROW 80 /* columns of a screen */

/* What the other columns take, none of them more than `most`. */
static unsigned pane_columns_sum(const unsigned *width, size_t n, size_t kept, unsigned most)
{
	unsigned sum = 0;

	for (size_t k = 0; k < n; k++)
		if (k != kept && width[k])
			sum += (width[k] < most ? width[k] : most) + GAP;
	return sum;
}

/* Others take at most a fifth of the screen, less of a narrow one; then they give way, first all of
 * them as far as LEAST, then whole ones from the left. The last one takes what is left. */
void pane_columns(unsigned *width, size_t n, size_t kept, unsigned screen, unsigned room)
{
	unsigned least = width[kept] < KEPT ? width[kept] : KEPT;
	unsigned most = screen / (screen < NARROW ? 7 : 5), left;

	least = least < room ? least : room;
	most = most < LEAST ? LEAST : most;
	while (most > LEAST && pane_columns_sum(width, n, kept, most) + least > room)
		most--;
	for (size_t k = 0; k < n; k++)
		if (k != kept && pane_columns_sum(width, n, kept, most) + least > room)
			width[k] = 0;
	for (size_t k = 0; k < n; k++)
		if (k != kept && width[k] > most)
			width[k] = most;
	left = room - pane_columns_sum(width, n, kept, most);
	if (kept + 1 == n || width[kept] > left)
		width[kept] = left;
	if (kept + 1 < n && width[n - 1])
		width[n - 1] += left - width[kept];
}
