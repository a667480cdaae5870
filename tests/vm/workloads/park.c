// SPDX-License-Identifier: MIT
/*
 * park PROCESSES MS: sleepers (sleepers.h) that poll for MS milliseconds; with MS = -1 they poll
 * for ever, so they are asleep when a recording ends.
 */
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
	if (argc > 2)
		ms = atol(argv[2]);
	if (wait_prepare() < 0)
		return 2;
	return sleepers(argc > 1 ? atoi(argv[1]) : 8, sleep_once);
}
