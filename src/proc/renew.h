/* SPDX-License-Identifier: MIT */
/*
 * renew.h: which tasks ended, so that a live table can be made anew without them (proc_renew).
 *
 * A process ended when its leader and every task of it that is known have exited. One whose EXIT
 * was lost is kept until its pid is used again.
 */
#ifndef SEAM_PROC_RENEW_H
#define SEAM_PROC_RENEW_H

#include <stdint.h>

#include "base/map.h"

/* Zero-initialise. Live tables only. */
struct renew_tasks {
	struct map alive;   /* tid -> pid, of tasks whose FORK was learned */
	struct map running; /* pid -> how many of them */
	struct map ended;   /* tid -> when */
	uint64_t newest;    /* time of what was learned */
};

void renew_free(struct renew_tasks *tasks);
/* All: 0 or -ENOMEM. */
int renew_begin(struct renew_tasks *tasks, uint32_t pid, uint32_t tid);
int renew_end(struct renew_tasks *tasks, uint32_t pid, uint32_t tid, uint64_t time);
/* Notes that a task was seen doing what only a running one does. */
void renew_seen(struct renew_tasks *tasks, uint32_t pid, uint64_t time);

#endif
