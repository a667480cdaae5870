/* SPDX-License-Identifier: MIT */
/*
 * load_cgroup.h: the names of the control groups of a recording: samples say them by number,
 * records say what the numbers mean. A number whose group went and came again is the last one's.
 */
#ifndef SEAM_AGGREGATE_LOAD_CGROUP_H
#define SEAM_AGGREGATE_LOAD_CGROUP_H

#include <seam/stitch.h>

#include "base/intern.h"
#include "base/map.h"
#include "samples/recording.h"

struct load_cgroups {
	struct map by_id;    /* number -> in paths */
	struct intern paths; /* 0: none */
};

/* Reads the records. -errno. */
int load_cgroups_learn(struct load_cgroups *c, struct recording *rec);
void load_cgroups_free(struct load_cgroups *c);
/* The number in paths of a sample's control group; 0: it is not known; PROFILE_NOT_KEPT: the sample
 * does not say. */
uint32_t load_cgroups_of(const struct load_cgroups *c, const struct seam_sample *sample);
const char *load_cgroups_path(const struct load_cgroups *c, uint32_t cgroup);

#endif
