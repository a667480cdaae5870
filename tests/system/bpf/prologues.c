/* SPDX-License-Identifier: MIT */
/*
 * prologues.c: calls whose order is known, from main to `leaf`, through functions that begin in
 * different ways, as a compiler makes them. Probes go to their first instructions. Each is called
 * by one only: caller calls wide, that calls saving, that calls small, and that calls leaf.
 */
#include <stdint.h>

#include "work.h"

#define APART __attribute__((noinline, noclone, noipa))

static volatile int sum;

APART int leaf(int n)
{
	return n * 3;
}

/* Needs the stack aligned, and nothing else. */
APART int small(int n)
{
	return leaf(n) + 1;
}

/* Keeps values in all registers that a callee must save. */
APART int saving(int a, int b, int c, int d)
{
	int x = small(a), y = small(b + x), z = small(c + y), w = small(d + z);

	return a * x + b * y + c * z + d * w + x * y * z * w;
}

/* Has more locals than there are registers. */
APART int wide(int n)
{
	volatile int room[40];

	for (int i = 0; i < 40; i++)
		room[i] = i * n;
	return saving(room[3], room[7], room[11], n) + room[n & 31];
}

APART void caller(unsigned n)
{
	while (n--)
		sum += wide((int)n);
}

int main(void)
{
	for (uint64_t end = work_until(400); work_goes_on(end);)
		caller(work_loops(1000));
	return 0;
}
