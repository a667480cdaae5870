// SPDX-License-Identifier: MIT
/*
 * base_thread.c: a thread takes no signal that comes from outside, and keeps those that it causes
 * itself; whoever starts it has the mask of before.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/thread.h"

static void *mask_of_thread(void *ctx)
{
	pthread_sigmask(SIG_SETMASK, NULL, ctx);
	return NULL;
}

static void signals_from_outside(void **state)
{
	static const int outside[] = { SIGINT,  SIGTERM, SIGHUP,   SIGQUIT, SIGCHLD,
		                       SIGALRM, SIGPIPE, SIGWINCH, SIGUSR1, SIGUSR2 };
	static const int own[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP };
	sigset_t there, usr2, after;
	pthread_t thread;

	(void)state;
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	sigaddset(&usr2, SIGFPE);
	pthread_sigmask(SIG_SETMASK, &usr2, NULL);
	assert_int_equal(thread_start(&thread, mask_of_thread, &there), 0);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_true(sigismember(&there, outside[i]));
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		assert_int_equal(sigismember(&there, own[i]), own[i] == SIGFPE);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_true(sigismember(&after, SIGUSR2));
	assert_false(sigismember(&after, SIGCHLD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_from_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
