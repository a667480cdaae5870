// SPDX-License-Identifier: MIT
/*
 * park PROCESSES MS: sleepers. Each process reads a little, then polls for MS milliseconds, again
 * and again; with MS = -1 it polls for ever, so it is asleep when a recording ends. They begin when
 * a line comes on standard input, so that a recorder sees them fall asleep, and are killed at its
 * end. Says "ready" when all are made.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "families.h"

FAMILY(zero)
FAMILY(wait)

static int ready[2], go[2];

FRAME void sleeper(long ms)
{
	char byte = 0;

	if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
		_exit(2);
	for (;;) {
		zero_30(1);
		wait_30(ms);
	}
}

int main(int argc, char **argv)
{
	int processes = argc > 1 ? atoi(argv[1]) : 8;
	long ms = argc > 2 ? atol(argv[2]) : -1;
	struct rlimit files = { WAIT_FDS + 100, WAIT_FDS + 100 };
	pid_t child[256];
	int never[2];
	char byte = 0;

	if (setrlimit(RLIMIT_NOFILE, &files) || pipe(never) || pipe(ready) || pipe(go))
		return 2;
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < WAIT_FDS; i++)
		wait_fds[i] = (struct pollfd){ .fd = never[0], .events = POLLIN };
	for (int i = 0; i < processes && i < 256; i++) {
		child[i] = fork();
		if (!child[i])
			sleeper(ms);
		if (read(ready[0], &byte, 1) != 1)
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
