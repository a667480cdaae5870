// SPDX-License-Identifier: MIT
/*
 * pattern.c: threads that do one thing each, for tests/system/offcpu.sh. For each is printed "NAME
 * TID INNER-NS OUTER-NS CPU-NS": its life as it saw it itself, from its first instruction to its
 * last; as its creator saw it, from before it was made until it was joined; and its time on the
 * CPU by a task-clock event of its own. The event counts from after one switch of threads until
 * before the next one. The kernel's count of CPU time holds the switches as well, and with them
 * what the recorder does there: 6 us each, more than half of the life of a thread that only naps.
 *
 *	pattern ROUNDS
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

static int rounds;
static volatile unsigned long sum;

static uint64_t ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A running task-clock event of this thread: of user space alone where the kernel is not ours. */
static int clock_open(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
		                        .size = sizeof(attr),
		                        .config = PERF_COUNT_SW_TASK_CLOCK };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EACCES) {
		attr.exclude_kernel = 1;
		fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd;
}

KEEP static void spin(unsigned ms)
{
	uint64_t end = ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000ull;

	while (ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 1000; i++)
			sum += (unsigned long)i;
	NO_TAIL_CALL();
}

KEEP static void nap(unsigned ms)
{
	struct timespec t = { 0, ms * 1000000l };

	nanosleep(&t, NULL);
	NO_TAIL_CALL();
}

KEEP static void wait_futex(unsigned ms)
{
	struct timespec t = { 0, ms * 1000000l };
	int word = 0;

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
	NO_TAIL_CALL();
}

KEEP static void write_disk(int fd)
{
	char block[65536];

	memset(block, (int)sum, sizeof(block));
	if (pwrite(fd, block, sizeof(block), 0) < 0 || fsync(fd) < 0)
		perror("write");
	NO_TAIL_CALL();
}

KEEP static void spinner(void)
{
	for (int i = 0; i < rounds; i++)
		spin(10);
}

KEEP static void sleeper(void)
{
	for (int i = 0; i < rounds; i++)
		nap(10);
}

KEEP static void mixed(void)
{
	for (int i = 0; i < rounds; i++) {
		spin(5);
		wait_futex(5);
	}
}

/* Away for less than any sample is made for. */
KEEP static void short_naps(void)
{
	struct timespec t = { 0, 100000 };

	for (int i = 0; i < rounds * 20; i++)
		nanosleep(&t, NULL);
	NO_TAIL_CALL();
}

KEEP static void writer(void)
{
	int fd = open("pattern.block", O_CREAT | O_RDWR, 0600);

	for (int i = 0; i < rounds; i++)
		write_disk(fd);
	close(fd);
}

static const struct {
	const char *name;
	void (*work)(void);
} works[] = { { "spinner", spinner },
	      { "sleeper", sleeper },
	      { "mixed", mixed },
	      { "short", short_naps },
	      { "writer", writer } };
#define WORKS (sizeof(works) / sizeof(works[0]))

static struct life {
	pthread_t thread;
	long tid;
	uint64_t begin, inner, outer, cpu;
} lives[WORKS];

static void *run(void *at)
{
	struct life *l = at;
	uint64_t begin = ns(CLOCK_MONOTONIC);
	int clock = clock_open();

	l->tid = syscall(SYS_gettid);
	pthread_setname_np(pthread_self(), works[l - lives].name);
	works[l - lives].work();
	if (read(clock, &l->cpu, sizeof(l->cpu)) != sizeof(l->cpu))
		perror("task-clock");
	close(clock);
	l->inner = ns(CLOCK_MONOTONIC) - begin;
	return NULL;
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? atoi(argv[1]) : 20;
	for (size_t i = 0; i < WORKS; i++) {
		lives[i].begin = ns(CLOCK_MONOTONIC);
		pthread_create(&lives[i].thread, NULL, run, &lives[i]);
	}
	for (size_t i = 0; i < WORKS; i++) {
		struct life *l = &lives[i];

		pthread_join(l->thread, NULL);
		l->outer = ns(CLOCK_MONOTONIC) - l->begin;
		printf("%s %ld %llu %llu %llu\n", works[i].name, l->tid,
		       (unsigned long long)l->inner, (unsigned long long)l->outer,
		       (unsigned long long)l->cpu);
	}
	nap(50); /* what is left of the threads is gone before the recording ends */
	return 0;
}
