// SPDX-License-Identifier: MIT
/*
 * damage.c: see damage.h. Never fails for want of memory: what cannot be kept is still counted.
 *
 * Commands print the texts when they end (input/infile.c) and exit with another code. The count is
 * exact; the texts are bounded, so a file with a million faults costs no more than one with
 * DAMAGE_KEPT.
 */
#include "perfdata/damage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void damage_free(struct damage *d)
{
	free(d->kept);
	d->kept = NULL;
}

/* Notes one fault of the file that reading can go on after. All are counted and the first
 * DAMAGE_KEPT are kept in words; with `strict` the first one ends the reading instead. */
int damage_add(struct damage *d, struct seam_error *err, uint64_t offset, const char *what,
               const char *fmt, ...)
{
	char message[400];
	va_list ap;

	/* A second pass over the same file finds the same faults again. */
	if (d->quiet)
		return 0;
	d->total++;
	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	if (!d->kept)
		d->kept = calloc(DAMAGE_KEPT, sizeof(*d->kept));
	if (d->kept && d->n < DAMAGE_KEPT)
		seam_error_set(&d->kept[d->n++], EBADMSG, d->path, offset, what, "%s", message);
	if (!d->strict)
		return 0;
	return seam_error_set(err, EBADMSG, d->path, offset, what, "%s", message);
}
