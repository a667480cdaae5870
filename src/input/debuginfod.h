/* SPDX-License-Identifier: MIT */
/*
 * debuginfod.h: files that are not here, from the servers that --debuginfod names. Nothing is asked
 * without it. Debian's libdebuginfod is loaded when it is asked for first, so that nobody else
 * waits for it; it keeps what it fetched in ~/.cache/debuginfod_client.
 */
#ifndef SEAM_INPUT_DEBUGINFOD_H
#define SEAM_INPUT_DEBUGINFOD_H

#include <pthread.h>
#include <time.h>

#include "cmd/cmd.h"
#include "image/image.h"

/* Zero-initialise to start; lives until the command ends. */
struct debuginfod {
	const struct cmd *cmd;
	unsigned limit_s; /* for all files together; 0: 60 */
	struct image_fetch fetch;
	pthread_mutex_t lock; /* of all below: one file at a time */
	void *library, *client;
	struct timespec spent_from; /* of the file that is being fetched */
	double spent_s;
	bool over; /* the limit was reached, and said */
};

/* Finds the library and the servers (urls; NULL: $DEBUGINFOD_URLS). NULL: there are none, and it
 * was said on stderr. */
const struct image_fetch *debuginfod_start(struct debuginfod *d, const struct cmd *cmd,
                                           const char *urls);

/* To be called after the last file was fetched; also for one that was never started. */
void debuginfod_stop(struct debuginfod *d);

#endif
