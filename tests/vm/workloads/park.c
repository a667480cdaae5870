// SPDX-License-Identifier: MIT
/*
 * park PROCESSES MS: sleepers (sleepers.h) that poll for MS milliseconds; with MS = -1 they poll
 * for ever, so they are asleep when a recording ends.
 */
#include <sys/resource.h>

#include "sleepers.h"

FAMILY(wait)

static long ms = -1;

static void sleep_once(int which)
{
	(void)which;
	wait_30(ms);
}

int main(int argc, char **argv)
{
	struct rlimit files = { WAIT_FDS + 100, WAIT_FDS + 100 };
	int never[2];

	if (argc > 2)
		ms = atol(argv[2]);
	if (setrlimit(RLIMIT_NOFILE, &files) || pipe(never))
		return 2;
	for (int i = 0; i < WAIT_FDS; i++)
		wait_fds[i] = (struct pollfd){ .fd = never[0], .events = POLLIN };
	return sleepers(argc > 1 ? atoi(argv[1]) : 8, sleep_once);
}
