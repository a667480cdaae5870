/* SPDX-License-Identifier: MIT */
/*
 * series.h: which series the rows of a profile belong to: the labels of each, from what the profile
 * knows of a sample's task and control group.
 *
 *	comm, exe (path of the program), build_id     of the task; kernel threads have no program
 *	what processes say of themselves              process.h, or of the control group that the
 *	                                              recording names (base/labels.h)
 *	pid, tid                                      when asked
 *	service, version                              the first of: rules, what processes say;
 *	                                              then of service: unit (without its kind),
 *	                                              container, the program's name; of version: the
 *	                                              first digits of build_id
 *
 * What all have (host, kernel, what the user says) is given, and wins.
 */
#ifndef SEAM_FLEET_SERIES_H
#define SEAM_FLEET_SERIES_H

#include "fleet/rules.h"
#include "profile/profile.h"
#include "base/labels.h"

struct series {
	struct labels *labels; /* n */
	size_t n;
	uint32_t *of_row; /* by row of the profile */
};

/* What is known of processes beside what the profile says. */
struct series_processes {
	/* Adds labels. path: of the control group, NULL: the profile does not know it. NULL: nobody
	 * is asked, and only a path gives labels. */
	int (*labels)(void *ctx, uint32_t pid, const char *path, struct labels *l);
	void *ctx;
	const struct rules *rules; /* NULL: none */
	bool pid, tid;             /* labels, too: the profile must keep them */
};

/* The profile should keep PROFILE_KEEP_PID, _PROGRAM and _CGROUP. processes may be NULL.
 * -ENOMEM. */
int series_split(struct series *ret, const struct profile *p, const struct labels *all,
                 const struct series_processes *processes);
void series_free(struct series *s);

#endif
