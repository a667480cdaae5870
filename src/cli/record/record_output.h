/* SPDX-License-Identifier: MIT */
/*
 * record_output.h: the name of the file that is written: what was there before moves to NAME.old,
 * and comes back when nothing was recorded after all.
 */
#ifndef SEAM_CLI_RECORD_OUTPUT_H
#define SEAM_CLI_RECORD_OUTPUT_H

#include <stdbool.h>

struct record_output {
	const char *path;
	char *old;    /* where the file that was there is now; NULL: none was */
	bool created; /* by us, a regular file: may be removed again */
};

/* Moves an older, not empty regular file out of the way. -errno of rename. */
int record_output_rotate(struct record_output *out, const char *path);
/* Removes the new file and puts the old one back. */
void record_output_abandon(struct record_output *out);
void record_output_free(struct record_output *out);

#endif
