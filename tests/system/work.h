/* SPDX-License-Identifier: MIT */
/*
 * work.h: work for programs that tests record, measured in CPU time. Samples come by CPU time, so a
 * program that counts its loops instead is done before the first sample on a fast machine, and
 * never on a loaded one. Use:
 *
 *	for (uint64_t end = work_until(500); work_goes_on(end);)
 *		function_to_be_sampled(work_loops(100000));
 *
 * The function works for as many loops as are good for a millisecond or so, and does not look at
 * the clock. How many they are must not matter: SEAM_TEST_WORK, a factor (0.1, 10), makes every
 * such count another one, to show that.
 */
#ifndef SEAM_TESTS_SYSTEM_WORK_H
#define SEAM_TESTS_SYSTEM_WORK_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define WORK_INLINE static inline __attribute__((always_inline, unused))

/* The CPU time of this thread, in nanoseconds; work_cpu_of: of another thread or process, by its
 * clock. */
WORK_INLINE uint64_t work_cpu_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

WORK_INLINE uint64_t work_cpu(void)
{
	return work_cpu_of(CLOCK_THREAD_CPUTIME_ID);
}

/* The end of so many milliseconds of this thread's CPU time from now on, for work_goes_on. */
WORK_INLINE uint64_t work_until(double ms)
{
	return work_cpu() + (uint64_t)(ms * 1e6);
}

WORK_INLINE int work_goes_on(uint64_t end)
{
	return work_cpu() < end;
}

/* n, or what SEAM_TEST_WORK makes of it; at least 1. */
WORK_INLINE unsigned work_loops(unsigned n)
{
	const char *factor = getenv("SEAM_TEST_WORK");
	double loops = factor ? n * atof(factor) : n;

	return loops < 1 ? 1 : (unsigned)loops;
}

#endif
