// SPDX-License-Identifier: MIT
/*
 * storm N: N short processes, at most 8 at once, and more until the one that makes them had
 * MAKER_NS of CPU time. Each works for CHILD_NS of it and ends, one in four by SIGKILL in the
 * middle of a long read: what is pending at an exit must not be lost.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "families.h"

#define CHILD_NS 5000000u
#define MAKER_NS 40000000u

FAMILY(zero)
FAMILY(fault)

/* The child is made inside the chain and returns through it, as its parent does. */
static volatile pid_t made;
FRAME void make_leaf(long unused)
{
	(void)unused;
	made = (pid_t)syscall_here(SYS_fork, 0, 0, 0, 0, 0, 0);
}
FAMILY(make)

FRAME void die_leaf(long unused)
{
	(void)unused;
	syscall_here(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}
FAMILY(die)

int main(int argc, char **argv)
{
	int total = argc > 1 ? atoi(argv[1]) : 50, running = 0;

	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < total || cpu_ns() < MAKER_NS; i++) {
		if (running == 8 && wait(NULL) > 0)
			running--;
		make_30(0);
		if (!made) {
			do {
				zero_30(2);
				fault_30(32);
			} while (cpu_ns() < CHILD_NS); /* of a new task: from 0 on */
			zero_30(i % 4 ? 2 : 100000);
			die_30(0);
		}
		running++;
		if (i % 4 == 0) {
			usleep(5000);
			kill(made, SIGKILL);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
