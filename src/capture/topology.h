/* SPDX-License-Identifier: MIT */
/*
 * topology.h: which CPUs share a package, a die, a core; as the kernel's lists have it ("0-3,8").
 */
#ifndef SEAM_CAPTURE_TOPOLOGY_H
#define SEAM_CAPTURE_TOPOLOGY_H

#include <stdint.h>

#include "base/arena.h"

/* One of the distinct lists each, in the order of the first CPU that has it. */
struct topology_lists {
	const char **at; /* in the arena */
	uint32_t n;
};

struct topology_cpu {
	int32_t core, package, die; /* ids; -1: not known, or the CPU is off */
};

struct topology {
	struct topology_lists packages, dies, cores;
	struct topology_cpu *cpus; /* in the arena; all that are possible, by number */
	uint32_t n_cpus;           /* 0: nothing is known */
	struct arena arena;
};

/* sys: NULL for the running system's. At most TOPOLOGY_CPUS_MAX CPUs. */
#define TOPOLOGY_CPUS_MAX 8192u
void topology_read(struct topology *ret, uint32_t n_cpus, const char *sys);
void topology_free(struct topology *t);

#endif
