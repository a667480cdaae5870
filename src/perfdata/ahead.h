/* SPDX-License-Identifier: MIT */
/*
 * ahead.h: maps the next piece of a file in a thread of its own while this one is read.
 *
 * Only advice to the kernel is given: no byte is read here, so a file that is cut meanwhile, or a
 * thread that cannot be started, costs time and nothing else. One piece at a time.
 */
#ifndef SEAM_PERFDATA_AHEAD_H
#define SEAM_PERFDATA_AHEAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise to start. */
struct ahead {
	pthread_t thread;
	bool started;
	const unsigned char *bytes;
	size_t n;
};

/* Waits for the piece before, and begins with this piece of a mapped input. */
void ahead_start(struct ahead *a, const unsigned char *bytes, size_t n);
/* Waits until no thread runs any more. True if exactly this piece was begun: it is mapped now. */
bool ahead_wait(struct ahead *a, const unsigned char *bytes, size_t n);

#endif
