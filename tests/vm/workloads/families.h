// SPDX-License-Identifier: MIT
/* The families that several workloads share. Which system call belongs to which:
 * tests/vm/truth.py. */
#ifndef SEAM_TESTS_VM_FAMILIES_H
#define SEAM_TESTS_VM_FAMILIES_H

#include <poll.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "truth.h"

#define MAYBE static __attribute__((unused))

MAYBE int zero_fd = -1;
MAYBE __thread char zero_buffer[1 << 18];
MAYBE volatile unsigned long spun;

/* zero: one long read of /dev/zero, many kernel samples of one cookie. */
FRAME __attribute__((unused)) void zero_leaf(long times)
{
	for (long i = 0; i < times; i++)
		syscall_here(SYS_pread64, zero_fd, (long)zero_buffer, sizeof(zero_buffer), 0, 0, 0);
}

/* fault: fresh memory, touched page by page. */
FRAME __attribute__((unused)) void fault_leaf(long pages)
{
	long size = pages * 4096;
	char *area = (char *)syscall_here(SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
	                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (long at = 0; at < size; at += 4096)
		((volatile char *)area)[at] = 1;
	syscall_here(SYS_munmap, (long)area, size, 0, 0, 0, 0);
}

/* spin: user mode only. */
FRAME __attribute__((unused)) void spin_leaf(long turns)
{
	for (long i = 0; i < turns; i++)
		spun += (unsigned long)(i * i);
}

/*
 * wait: a poll that burns time in the kernel before it sleeps, because it has thousands of
 * descriptors to look at. So a sleeper surely has samples that wait for its return. The argument is
 * the sleep in milliseconds, -1 for ever. wait_prepare has so many descriptors looked at that one
 * look takes WAIT_NS, on however fast a host.
 */
enum {
	WAIT_FDS = 6000,
	WAIT_FDS_MOST = 500000,
	WAIT_NS = 2000000,
};
MAYBE struct pollfd wait_fds[WAIT_FDS_MOST];
MAYBE nfds_t wait_n = WAIT_FDS;
FRAME __attribute__((unused)) void wait_leaf(long ms)
{
	syscall_here(SYS_poll, (long)wait_fds, (long)wait_n, ms, 0, 0, 0);
}

MAYBE int wait_prepare(void)
{
	struct rlimit files = { WAIT_FDS_MOST + 100, WAIT_FDS_MOST + 100 };
	uint64_t took_ns = 0;
	int never[2];

	if (setrlimit(RLIMIT_NOFILE, &files) || pipe(never))
		return -1;
	for (int i = 0; i < WAIT_FDS_MOST; i++)
		wait_fds[i] = (struct pollfd){ .fd = never[0], .events = POLLIN };
	while (took_ns < WAIT_NS && wait_n * 2 <= WAIT_FDS_MOST) {
		uint64_t from_ns = cpu_ns();

		poll(wait_fds, wait_n, 0);
		took_ns = cpu_ns() - from_ns;
		if (took_ns < WAIT_NS)
			wait_n *= 2;
	}
	return 0;
}

#endif
