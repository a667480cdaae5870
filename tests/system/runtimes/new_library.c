// SPDX-License-Identifier: MIT
/*
 * new_library.c: a function for an interpreter to call, in a library that is new, with a table of
 * its own: PAD bytes stand before its code. It needs no header of the interpreter's.
 */
#include <time.h>

#define KEEP __attribute__((noinline, noclone))

__asm__(".text\n.fill " PAD ", 1, 0x90\n");

static double spent(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

KEEP void new_library_work(void)
{
	double end = spent() + 0.004;

	while (spent() < end)
		__asm__ volatile("");
}

void new_library(void *interpreter, void *function)
{
	(void)interpreter;
	(void)function;
	new_library_work();
	__asm__ volatile("");
}
