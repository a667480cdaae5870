/* SPDX-License-Identifier: MIT */
/*
 * series.h: which series the rows of a profile belong to: the labels of each, from what the profile
 * knows of a sample's task and control group.
 *
 *	comm, exe (path of the program), build_id     of the task; kernel threads have no program
 *	unit, container, pod                          of the control group (store/labels.h)
 *	service                                       the first of unit (without its kind),
 *	                                              container, the program's name
 *	version                                       the first digits of build_id
 *
 * What all have (host, kernel) is given.
 */
#ifndef SEAM_FLEET_SERIES_H
#define SEAM_FLEET_SERIES_H

#include "profile/profile.h"
#include "store/labels.h"

struct series {
	struct labels *labels; /* n */
	size_t n;
	uint32_t *of_row; /* by row of the profile */
};

/* Where a recording does not say the control groups: the path of a process's, NULL: not known. */
struct series_cgroups {
	const char *(*of)(void *ctx, uint32_t pid);
	void *ctx;
};

/* The profile should keep PROFILE_KEEP_PID, _PROGRAM and _CGROUP. cgroups may be NULL. -ENOMEM. */
int series_split(struct series *ret, const struct profile *p, const struct labels *all,
                 const struct series_cgroups *cgroups);
void series_free(struct series *s);

#endif
