/* SPDX-License-Identifier: MIT */
/*
 * synth_cgroup.h: names of the control groups that exist: CGROUP records as the kernel gives them
 * for new ones. A sample says its group by number.
 */
#ifndef SEAM_CAPTURE_SYNTH_CGROUP_H
#define SEAM_CAPTURE_SYNTH_CGROUP_H

#include "base/buf.h"
#include "capture/synth.h"

#define SYNTH_CGROUPS_MAX 65536u

/* Of the hierarchy that samples tell of; nothing where it is not mounted. proc is a descriptor.
 * At most SYNTH_CGROUPS_MAX. -ENOMEM. */
int synth_cgroup_records(const struct synth_opts *opts, int proc, struct buf *out,
                         struct synth_counts *counts);

#endif
