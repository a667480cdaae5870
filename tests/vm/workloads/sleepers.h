/* SPDX-License-Identifier: MIT */
/*
 * Sleepers in processes of their own. They begin together, when a line comes on standard input, so
 * that a recorder sees them fall asleep; says "ready" when all wait for that. At the end of
 * standard input they are killed.
 */
#ifndef SEAM_TESTS_VM_SLEEPERS_H
#define SEAM_TESTS_VM_SLEEPERS_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "families.h"

FAMILY(zero)

enum {
	SLEEPERS_MAX = 256,
	ZERO_NS = 5000000 /* of reading before each sleep: some samples */
};

/* The exit status. Each reads a little, then sleeps, again and again: sleep_once(which), which from
 * 0. */
static int sleepers(int processes, void (*sleep_once)(int which))
{
	int ready[2], go[2];
	pid_t child[SLEEPERS_MAX];
	char byte = 0;

	if (processes < 1 || processes > SLEEPERS_MAX || pipe(ready) || pipe(go))
		return 2;
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < processes; i++) {
		child[i] = fork();
		if (!child[i]) {
			if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
				_exit(2);
			for (uint64_t from_ns;;) {
				from_ns = cpu_ns();
				do
					zero_30(1);
				while (cpu_ns() < from_ns + ZERO_NS);
				sleep_once(i);
			}
		}
		if (child[i] < 0 || read(ready[0], &byte, 1) != 1)
			return 2;
	}
	puts("ready");
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		return 2;
	for (int i = 0; i < processes; i++)
		if (write(go[1], &byte, 1) != 1)
			return 2;
	while (read(0, &byte, 1) == 1)
		;
	for (int i = 0; i < processes; i++)
		kill(child[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}

#endif
