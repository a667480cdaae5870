/* SPDX-License-Identifier: MIT */
/*
 * output.h: the name of the file that is written: what was there before moves to NAME.old,
 * and comes back when nothing was recorded after all.
 */
#ifndef SEAM_RECORDER_OUTPUT_H
#define SEAM_RECORDER_OUTPUT_H

#include <stdbool.h>

struct output {
	const char *path;
	char *old;    /* where the file that was there is now; NULL: none was */
	bool created; /* by us, a regular file: may be removed again */
};

/* Moves an older, not empty regular file out of the way. -errno of rename. */
int output_rotate(struct output *out, const char *path);
/* Removes the new file and puts the old one back. */
void output_abandon(struct output *out);
void output_free(struct output *out);

#endif
