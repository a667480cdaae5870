// SPDX-License-Identifier: MIT
/* thread.c: a thread inherits the mask of signals of the one that starts it. */
#include <signal.h>

#include "base/thread.h"

int thread_start(pthread_t *ret, void *(*run)(void *ctx), void *ctx)
{
	static const int own[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP };
	sigset_t outside, before;
	int r;

	sigfillset(&outside);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&outside, own[i]);
	/* What is blocked already stays so. */
	r = pthread_sigmask(SIG_BLOCK, &outside, &before);
	if (r)
		return -r;
	r = pthread_create(ret, NULL, run, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}
