/* SPDX-License-Identifier: MIT */
/*
 * strangers.h: leaves records about strangers out of a recording whose events are every CPU's
 * and whose target is chosen in the kernel. What is said of a process waits until it is known whose
 * it is: to the end of the round, for its FORK may be in another ring; and where tasks are chosen
 * by what they are, until one of its tasks is, or the process ends.
 */
#ifndef SEAM_RECORDER_STRANGERS_H
#define SEAM_RECORDER_STRANGERS_H

#include "base/buf.h"
#include "base/map.h"
#include "capture/ring.h"

struct strangers {
	/* Whether a process is or was a target, as far as is known yet. */
	bool (*is_followed)(void *ctx, uint32_t pid);
	void *follow_ctx;
	bool inherit, chosen; /* by what tasks are: --uid, --comm, --cgroup */
	struct map known;     /* pids whose records belong into the file */
	struct buf waiting;   /* records about others, until the end of the round */
	struct map held; /* pid -> struct buf *: what was said of those that may be chosen later */
	capture_write write;
	void *write_ctx;
};

/* A capture_write: whole records; those of the target go to write, now or later. */
int strangers_write(void *ctx, const void *bytes, size_t n);
void strangers_free(struct strangers *b);

#endif
