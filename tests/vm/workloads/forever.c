// SPDX-License-Identifier: MIT
/*
 * forever PROCESSES: sleepers (sleepers.h) of four kinds, that wait for what never comes: a futex,
 * an epoll set, a pipe, a nap of a day.
 */
#include <linux/futex.h>
#include <sys/epoll.h>

#include "sleepers.h"

static int never[2], set;
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

FAMILY(futex)
FAMILY(epoll)
FAMILY(pipe)
FAMILY(nap)

static void sleep_once(int which)
{
	static void (*const kinds[])(long) = { futex_30, epoll_30, pipe_30, nap_30 };

	kinds[which % 4](86400);
}

int main(int argc, char **argv)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (pipe(never))
		return 2;
	set = epoll_create1(0);
	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, never[0], &event))
		return 2;
	return sleepers(argc > 1 ? atoi(argv[1]) : 8, sleep_once);
}
