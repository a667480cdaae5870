// SPDX-License-Identifier: MIT
// agent_clock.c: see agent_parts.h: what time it is, and how much of it the agent itself took.
#include <sys/resource.h>
#include <time.h>

#include "agent/agent_parts.h"

uint64_t agent_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t agent_cpu_ns(const struct agent *a)
{
	uint64_t readers_ns = ask_peeks(a->ask).cpu_ns;
	struct rusage u;

	if (a->peek)
		readers_ns += peek_counts(a->peek).cpu_ns;

	if (getrusage(RUSAGE_SELF, &u) < 0)
		return 0;
	return readers_ns + (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}
