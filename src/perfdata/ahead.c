// SPDX-License-Identifier: MIT
// ahead.c: see ahead.h. A thread for each piece: pieces are megabytes, a start is microseconds.
#include "perfdata/ahead.h"

#include <signal.h>

#include "perfdata/input.h"

static void *ahead_run(void *arg)
{
	const struct ahead *a = arg;

	input_populate(a->bytes, a->n);
	return NULL;
}

void ahead_start(struct ahead *a, const unsigned char *bytes, size_t n)
{
	sigset_t all, before;

	ahead_wait(a, NULL, 0);
	a->bytes = bytes;
	a->n = n;
	/* Signals are for the program's own threads. */
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before))
		return;
	a->started = !pthread_create(&a->thread, NULL, ahead_run, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool ahead_wait(struct ahead *a, const unsigned char *bytes, size_t n)
{
	bool was = a->started;

	if (was)
		pthread_join(a->thread, NULL);
	a->started = false;
	return was && a->bytes == bytes && a->n == n;
}
