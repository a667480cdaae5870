/* SPDX-License-Identifier: MIT */
/*
 * groups.h: in which control group each process is, read from /proc when it is first asked for and
 * kept for a while, so that processes that have ended meanwhile are known, too.
 */
#ifndef SEAM_FLEET_GROUPS_H
#define SEAM_FLEET_GROUPS_H

#include "base/intern.h"
#include "base/map.h"

/* Zero-initialise; groups_free. */
struct groups {
	struct map by_pid; /* pid -> path's number in paths */
	struct intern paths;
	unsigned age; /* windows */
};

/* NULL: not known. Valid until groups_age or groups_free. */
const char *groups_of(void *groups, uint32_t pid);
/* Between two windows: forgets all now and then, so that memory stays bounded and the number of a
 * process that has ended is asked for anew. */
void groups_age(struct groups *g);
void groups_free(struct groups *g);

#endif
