// SPDX-License-Identifier: MIT
// cpus.c: see cpus.h.
#include "base/cpus.h"

#include <limits.h>
#include <unistd.h>

/* At least 1: sysconf may not know. */
unsigned cpus_online(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > INT_MAX ? INT_MAX : (unsigned)n;
}
