// SPDX-License-Identifier: MIT
/*
 * offcpu_work.c: what bench/offcpu.py measures: "pingpong N": N bytes to a child and back,
 * processor time and time per switch in us; "threads N": pthread_create, median us.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double used_us(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6 +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static int pass(int from, int to, int n)
{
	char c = 0;

	for (int i = 0; i < n; i++)
		if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1)
			return 1;
	return 0;
}

static int pingpong(int n)
{
	int there[2], back[2], failed = 0;
	double begin = now_us();
	char c;

	if (pipe(there) < 0 || pipe(back) < 0)
		return 1;
	if (fork() == 0) {
		while (n-- && read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			;
		_exit(0);
	}
	failed = pass(back[0], there[1], n);
	wait(NULL);
	printf("%.3f %.3f\n", (used_us(RUSAGE_SELF) + used_us(RUSAGE_CHILDREN)) / n / 2,
	       (now_us() - begin) / n / 2);
	return failed;
}

static void *nothing(void *p)
{
	return p;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int threads(int n)
{
	double *us = calloc((size_t)n, sizeof(*us));

	for (int i = 0; us && i < n; i++) {
		double begin = now_us();
		pthread_t t;

		if (pthread_create(&t, NULL, nothing, NULL))
			return 1;
		us[i] = now_us() - begin;
		pthread_join(t, NULL);
	}
	if (!us)
		return 1;
	qsort(us, (size_t)n, sizeof(*us), compare);
	printf("%.3f\n", us[n / 2]);
	free(us);
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (n <= 0)
		return 2;
	return strcmp(argv[1], "threads") ? pingpong(n) : threads(n);
}
