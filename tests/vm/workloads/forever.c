// SPDX-License-Identifier: MIT
/*
 * forever PROCESSES: sleepers of four kinds, in processes of their own: each reads a little, then waits for what never comes: a
 * futex, an epoll set, a pipe, a nap of a day. They begin when a line comes on standard input, so that a recorder sees them
 * fall asleep, and are killed at its end. Says "ready" when all are made.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "families.h"

static int go[2], never[2], set;
static unsigned word;

FRAME void futex_leaf(long unused)
{
	(void)unused;
	syscall_here(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}

FRAME void epoll_leaf(long unused)
{
	struct epoll_event event;

	(void)unused;
	syscall_here(SYS_epoll_pwait, set, (long)&event, 1, -1, 0, 0);
}

FRAME void pipe_leaf(long unused)
{
	char byte;

	(void)unused;
	syscall_here(SYS_read, never[0], (long)&byte, 1, 0, 0, 0);
}

FRAME void nap_leaf(long seconds)
{
	struct timespec nap = { .tv_sec = seconds };

	syscall_here(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&nap, 0, 0, 0);
}

FAMILY(zero)
FAMILY(futex)
FAMILY(epoll)
FAMILY(pipe)
FAMILY(nap)

static void sleeper(int kind)
{
	static void (*const kinds[])(long) = { futex_30, epoll_30, pipe_30, nap_30 };
	char byte;

	if (read(go[0], &byte, 1) != 1)
		_exit(2);
	for (;;) {
		zero_30(1);
		kinds[kind](86400);
	}
}

int main(int argc, char **argv)
{
	int processes = argc > 1 ? atoi(argv[1]) : 8;
	struct epoll_event event = { .events = EPOLLIN };
	pid_t child[256];
	char byte = 0;

	if (pipe(never) || pipe(go))
		return 2;
	set = epoll_create1(0);
	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, never[0], &event))
		return 2;
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < processes && i < 256; i++) {
		child[i] = fork();
		if (!child[i])
			sleeper(i % 4);
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
