// SPDX-License-Identifier: MIT
/*
 * workload.c: programs to be sampled by perf's own shell tests (scripts/perf-shell-tests). The
 * functions have the names that those tests look for. It runs for the seconds of its second
 * operand.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 16

volatile sig_atomic_t workload_stop;
volatile unsigned long workload_count;

void inlineloop(void);
void noploop(void);
void leafloop(void);
void test_loop(void);
void *thfunc(void *arg);
void brstack_bar(void);
void brstack_foo(void);
void brstack_bench(void);
void brstack(void);

__attribute__((noinline)) void noploop(void)
{
	while (!workload_stop)
		workload_count++;
}

__attribute__((noinline)) void leafloop(void)
{
	while (!workload_stop)
		workload_count++;
}

__attribute__((noinline)) void test_loop(void)
{
	while (!workload_stop)
		workload_count++;
}

__attribute__((noinline)) void *thfunc(void *arg)
{
	test_loop();
	return arg;
}

__attribute__((noinline)) void brstack_bar(void)
{
	workload_count++;
}

__attribute__((noinline)) void brstack_foo(void)
{
	brstack_bar();
	workload_count++;
}

__attribute__((noinline)) void brstack_bench(void)
{
	void (*volatile foo)(void) = brstack_foo;

	foo();
	brstack_foo();
	brstack_bar();
}

__attribute__((noinline)) void brstack(void)
{
	while (!workload_stop)
		brstack_bench();
}

/* The loop in n threads, of which this is one. */
static void threads(unsigned n)
{
	pthread_t id[THREADS_MAX];

	for (unsigned i = 1; i < n; i++)
		if (pthread_create(&id[i], NULL, thfunc, NULL))
			exit(1);
	test_loop();
	for (unsigned i = 1; i < n; i++)
		pthread_join(id[i], NULL);
}

static void on_alarm(int signal)
{
	workload_stop = signal;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	double seconds = argc > 2 && atof(argv[2]) > 0 ? atof(argv[2]) : 1;
	int n = argc > 3 ? atoi(argv[3]) : 2;

	signal(SIGALRM, on_alarm);
	if (seconds >= 1)
		alarm((unsigned)seconds);
	else
		ualarm((unsigned)(seconds * 1e6), 0);
	if (!strcmp(name, "noploop"))
		noploop();
	else if (!strcmp(name, "leafloop"))
		leafloop();
	else if (!strcmp(name, "thloop"))
		threads(n > 0 && n <= THREADS_MAX ? (unsigned)n : 2);
	else if (!strcmp(name, "brstack"))
		brstack();
	else if (!strcmp(name, "inlineloop"))
		inlineloop();
	else {
		fprintf(stderr, "perf-workload: no workload '%s'\n", name);
		return 1;
	}
	return 0;
}
