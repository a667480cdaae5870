// SPDX-License-Identifier: MIT
// consumers.cc: what consumers.sh and tests/windows/run record: inlined calls, a template, functions that call one another and themselves, two threads
// of different names. argv[1]: milliseconds of CPU time for each thread.
#include <pthread.h>
#include <stdlib.h>
#include "work.h"

static volatile uint64_t sum;
static unsigned milliseconds;

static inline __attribute__((always_inline)) void deepest(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sum = sum + i; // the hot line
}
static inline __attribute__((always_inline)) void middle(uint64_t n)
{
	deepest(n);
	sum = sum + 1;
}
__attribute__((noinline, noclone)) static void add_rows(uint64_t n)
{
	middle(n);
	sum = sum + 2;
}
namespace space {
template <typename T> __attribute__((noinline)) void outer(T n)
{
	add_rows(n);
	sum = sum + 3;
}
}
__attribute__((noinline, noclone)) static void odd(int depth, uint64_t n);
__attribute__((noinline, noclone)) static void even(int depth, uint64_t n)
{
	if (depth)
		odd(depth - 1, n);
	for (uint64_t i = 0; i < n; i++)
		sum = sum ^ i;
}
__attribute__((noinline, noclone)) static void odd(int depth, uint64_t n)
{
	if (depth)
		even(depth - 1, n);
	for (uint64_t i = 0; i < n; i++)
		sum = sum + (i ^ 5);
}
__attribute__((noinline, noclone)) static void itself(int depth, uint64_t n)
{
	if (depth)
		itself(depth - 1, n);
	for (uint64_t i = 0; i < n; i++)
		sum = sum - i;
}
static void *work(void *name)
{
	if (name)
		pthread_setname_np(pthread_self(), (const char *)name);
	for (uint64_t end = work_until(milliseconds); work_goes_on(end);) {
		space::outer<unsigned long>(work_loops(100000));
		even(5, work_loops(10000));
		itself(4, work_loops(10000));
	}
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t other;

	milliseconds = argc > 1 ? (unsigned)atoi(argv[1]) : 300;
	pthread_create(&other, 0, work, (void *)"other");
	work(0);
	pthread_join(other, 0);
	return 0;
}
