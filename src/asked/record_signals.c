// SPDX-License-Identifier: MIT
/*
 * record_signals.c: knows signal handlers and nothing else. Its globals are what a handler can
 * reach; only async-signal-safe calls are made there. Handlers run in the thread that frees the
 * recorder (base/thread.h), so never beside that.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "asked/record_signals.h"
#include "recorder/hurry.h"

#define RECORD_AGAIN_NS 300000000ll /* shells and timeout(1) send some signals twice at once */

/* Written by the handlers, read by the loop: sig_atomic_t is all that a handler may write. */
static volatile sig_atomic_t signals_asked;
static volatile sig_atomic_t signals_sent;
static struct timespec signals_first;
static struct recorder *volatile signals_recorder;
static void (*volatile signals_leave)(void);

/* Handles SIGINT, SIGTERM and SIGHUP. The first one asks for an end; one that comes more than
 * RECORD_AGAIN_NS later ends the program at once. Makes async-signal-safe calls only. */
static void signals_ask(int number, siginfo_t *info, void *context)
{
	struct recorder *recorder = signals_recorder;
	struct timespec now;
	int error = errno;
	long long since;

	(void)context;
	clock_gettime(CLOCK_MONOTONIC, &now);
	since = (now.tv_sec - signals_first.tv_sec) * 1000000000ll +
	        (now.tv_nsec - signals_first.tv_nsec);
	if (!signals_asked) {
		/* signals_asked is set last: whoever sees it finds the others set. */
		signals_first = now;
		signals_sent = info->si_code <= 0; /* SI_USER, SI_QUEUE, SI_TKILL */
		signals_asked = number;
		if (recorder)
			recorder_ends(recorder);
		else
			hurry_begin();
	} else if (since > RECORD_AGAIN_NS) {
		if (signals_leave)
			signals_leave();
		_exit(128 + number);
	}
	if (recorder)
		recorder_wake(recorder);
	/* What was interrupted must not find another errno. */
	errno = error;
}

/* SIGCHLD: the command may have ended. */
static void signals_child(int number)
{
	struct recorder *recorder = signals_recorder;
	int error = errno;

	(void)number;
	if (recorder) {
		recorder_child_ended(recorder);
		recorder_wake(recorder);
	}
	errno = error;
}

/* The recorder may be waiting in poll(2) when a signal comes; the handlers wake it. */
void record_signals_catch(void)
{
	struct sigaction ask = { .sa_sigaction = signals_ask, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction child = { .sa_handler = signals_child,
		                   .sa_flags = SA_RESTART | SA_NOCLDSTOP };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	const int asking[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(asking) / sizeof(asking[0]); i++) {
		struct sigaction before;

		/* SIGHUP that is ignored (nohup) stays ignored. SIGINT is caught also if it is
		 * ignored, as shells do for what runs in the background: a script that sends it
		 * means it. */
		sigaction(asking[i], NULL, &before);
		if (before.sa_handler != SIG_IGN || asking[i] != SIGHUP)
			sigaction(asking[i], &ask, NULL);
	}
	sigaction(SIGCHLD, &child, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

/* From now on signals wake this recorder; NULL: none, before it is freed. */
void record_signals_wake(struct recorder *recorder)
{
	signals_recorder = recorder;
}

/* With SA_RESETHAND the handler is removed when it runs, so that the signal that is raised here
 * does what it does by default. */
static void signals_quit(int number)
{
	int error = errno;

	signals_leave();
	raise(number);
	errno = error;
}

/* leave gives back what must not stay as it is (top's terminal). It is called in a signal
 * handler. */
void record_signals_leave(void (*leave)(void))
{
	struct sigaction quit = { .sa_handler = signals_quit, .sa_flags = SA_RESETHAND };

	signals_leave = leave;
	sigaction(SIGQUIT, &quit, NULL);
}

/* The signal that asked for an end, or 0. *was_sent: a process sent it, and not the terminal. */
int record_signals_asked(bool *was_sent)
{
	*was_sent = signals_sent;
	return signals_asked;
}
