/* SPDX-License-Identifier: MIT */
/* cgroup_dir.h: a cgroup of the second version by its directory, as the kernel numbers it. */
#ifndef SEAM_CAPTURE_CGROUP_DIR_H
#define SEAM_CAPTURE_CGROUP_DIR_H

#include <stdint.h>

/* A cgroup by its directory, or its path below where cgroup2 is mounted: its number, and how far it
 * is below the root (0). -ENODEV: it is not mounted; -ENOENT ... */
int cgroup_dir_find(const char *name, uint64_t *ret_id, uint32_t *ret_level);

#endif
