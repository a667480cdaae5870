// SPDX-License-Identifier: MIT
/* The families that several workloads share. Which system call belongs to which:
 * tests/vm/truth.py. */
#ifndef SEAM_TESTS_VM_FAMILIES_H
#define SEAM_TESTS_VM_FAMILIES_H

#include <poll.h>
#include <stddef.h>
#include <sys/mman.h>

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
 * the sleep in milliseconds, -1 for ever.
 */
enum {
	WAIT_FDS = 6000
};
MAYBE struct pollfd wait_fds[WAIT_FDS];
FRAME __attribute__((unused)) void wait_leaf(long ms)
{
	syscall_here(SYS_poll, (long)wait_fds, WAIT_FDS, ms, 0, 0, 0);
}

#endif
