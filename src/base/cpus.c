// SPDX-License-Identifier: MIT
// cpus.c: see cpus.h.
#include "base/cpus.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <unistd.h>

#define CPUS_MOST (1 << 20)

/* The kernel refuses a set that is smaller than its own, whose size it does not tell: sizes are
 * tried up to CPUS_MOST. Where it tells nothing, the CPUs that are online. */
unsigned cpus_usable(void)
{
	long online;

	for (int size = 1024; size <= CPUS_MOST; size *= 2) {
		cpu_set_t *set = CPU_ALLOC(size);
		size_t bytes = CPU_ALLOC_SIZE(size);
		int n = -1, refused = 0;

		if (set && !sched_getaffinity(0, bytes, set))
			n = CPU_COUNT_S(bytes, set);
		else
			refused = set && errno == EINVAL;
		CPU_FREE(set);
		if (n > 0)
			return (unsigned)n;
		if (!refused)
			break;
	}
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online < 1 ? 1 : online > INT_MAX ? INT_MAX : (unsigned)online;
}
