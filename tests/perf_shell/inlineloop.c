// SPDX-License-Identifier: MIT
/*
 * inlineloop.c: two functions that are inlined into a third.
 *
 * perf's shell test addr2line_inlines looks for this file's name, for lines 20 to 29 in the two and
 * for lines 30 to 39 in the third: nothing here may move.
 */
#include <signal.h>

extern volatile sig_atomic_t workload_stop;
extern volatile unsigned long workload_count;
void inlineloop(void);
// clang-format off




static inline __attribute__((always_inline)) void leaf(void)
{
	workload_count++;
}

static inline __attribute__((always_inline)) void middle(void)
{
	leaf();
}


__attribute__((noinline)) void inlineloop(void)
{
	while (!workload_stop)
		middle();
}
