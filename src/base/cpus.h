/* SPDX-License-Identifier: MIT */
/* cpus.h: how many threads are worth starting. */
#ifndef SEAM_BASE_CPUS_H
#define SEAM_BASE_CPUS_H

/* The CPUs that this process may run on (taskset, cpusets of containers), at least 1. */
unsigned cpus_usable(void);

/* As many threads as were asked for; 0: one for each of these CPUs. */
static inline unsigned cpus_for(unsigned threads)
{
	return threads ? threads : cpus_usable();
}

#endif
