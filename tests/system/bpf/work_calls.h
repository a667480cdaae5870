/* SPDX-License-Identifier: MIT */
/*
 * work_calls.h: system calls that take many samples each, or that others make. A part of work.c,
 * which has what all use.
 */
#ifndef SEAM_TESTS_BPF_WORK_CALLS_H
#define SEAM_TESTS_BPF_WORK_CALLS_H

#include <fcntl.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define ZEROS ((size_t)64 << 20)
#define ZEROS_PARTS 16

/* -- uring -- */

static void uring_read(int fd, char *ring, struct io_uring_params *p, struct io_uring_sqe *entries,
                       int zero, char *to)
{
	unsigned *tail = (unsigned *)(ring + p->sq_off.tail);
	unsigned at = *tail & *(unsigned *)(ring + p->sq_off.ring_mask);

	entries[at] = (struct io_uring_sqe){ .opcode = IORING_OP_READ,
		                             .fd = zero,
		                             .addr = (unsigned long)to,
		                             .len = 16 << 20,
		                             .flags = IOSQE_ASYNC };
	((unsigned *)(ring + p->sq_off.array))[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	*(unsigned *)(ring + p->cq_off.head) += 1;
}

static void uring(void)
{
	struct io_uring_params p = { .flags = 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 8, &p), zero = open("/dev/zero", O_RDONLY);
	size_t size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe) + 4096;
	double end = now() + seconds;
	char *ring, *to = malloc(16 << 20);
	struct io_uring_sqe *entries;

	if (fd < 0 || !(p.features & IORING_FEAT_SINGLE_MMAP))
		exit(77);
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	entries = mmap(NULL, p.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED,
	               fd, IORING_OFF_SQES);
	if (ring == MAP_FAILED || (void *)entries == MAP_FAILED)
		exit(77);
	while (now() < end)
		uring_read(fd, ring, &p, entries, zero, to);
}

/* -- migrate, longsys, naps -- */

/* Up to ZEROS_PARTS times 64 MB, in one system call. */
KEEP static void read_zeros(int fd, size_t n)
{
	struct iovec parts[ZEROS_PARTS];
	static char *to;
	int k = 0;

	/* Not of malloc, which may write to all of it (MALLOC_PERTURB_): that is user code. */
	if (!to)
		to = mmap(NULL, ZEROS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (to == MAP_FAILED)
		exit(2);
	for (; n && k < ZEROS_PARTS; k++) {
		parts[k] = (struct iovec){ to, n < ZEROS ? n : ZEROS };
		n -= parts[k].iov_len;
	}
	if (preadv(fd, parts, k, 0) < 0)
		exit(2);
	NO_TAIL_CALL();
}

KEEP static void migrate_here(int fd, int i)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)i % (size_t)sysconf(_SC_NPROCESSORS_ONLN), &set);
	read_zeros(fd, 1 << 20);
	sched_setaffinity(0, sizeof(set), &set);
	read_zeros(fd, 1 << 20);
	NO_TAIL_CALL();
}

static void migrate(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	double end = now() + seconds;

	for (int i = 0; now() < end; i++)
		migrate_here(fd, i);
}

static void longsys(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	double end = now() + seconds, fastest;
	size_t n = ZEROS;

	read_zeros(fd, n); /* the pages are there */
	/* So much that this machine needs a dozen periods of a sample for it, also when nothing
	 * holds it up. */
	do {
		fastest = seconds;
		for (int k = 0; k < 3; k++) {
			double took = -now();

			read_zeros(fd, n);
			took += now();
			if (took < fastest)
				fastest = took;
		}
	} while (fastest < 0.003 && (n *= 2) < ZEROS * ZEROS_PARTS);
	while (now() < end)
		read_zeros(fd, n);
}

KEEP static int deepsys_descend(int n)
{
	int r = n;

	if (n)
		r += deepsys_descend(n - 1);
	else
		longsys();
	NO_TAIL_CALL();
	return r;
}

static void deepsys(void)
{
	deepsys_descend(300);
}

KEEP static void naps_one(int i)
{
	int fd = open("/dev/zero", O_RDONLY);

	for (;;) {
		read_zeros(fd, 1 << 20);
		usleep((unsigned)(500 + i * 700));
	}
}

static void naps(void)
{
	pid_t children[16];

	for (int i = 0; i < 16; i++) {
		children[i] = fork();
		if (!children[i])
			naps_one(i);
	}
	for (double had = 0; had < seconds;) {
		usleep(10000);
		had = 0;
		for (int i = 0; i < 16; i++) {
			clockid_t clock;

			if (clock_getcpuclockid(children[i], &clock) == 0)
				had += (double)work_cpu_of(clock) / 1e9;
		}
	}
	for (int i = 0; i < 16; i++)
		kill(children[i], SIGKILL);
	for (int i = 0; i < 16; i++)
		waitpid(children[i], NULL, 0);
}

#endif
