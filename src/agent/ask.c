// SPDX-License-Identifier: MIT
/*
 * ask.c: see ask.h.
 *
 * Most processes of a build are gone when their window ends, and what is not asked of them while
 * they run nobody can tell. So a process is asked when its first sample comes out of the rings,
 * which is within a tenth of a second. A program that is replaced is asked again with its next
 * sample; the number of a process that ended may be another one's.
 *
 * News wait in order, in a queue of ASK_MOST. Where it is full, the asking thread is held, and what
 * it missed nobody knows any more: then all answers are forgotten, for one of them may be another
 * process's. The lock of the queue is held for some instructions only, by either side.
 */
#include "agent/ask.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/thread.h"

struct ask_news {
	uint32_t pid;
	enum window_news news;
};

struct ask {
	struct process processes;
	struct process_opts opts; /* of these */
	struct peek *peek;
	struct map met; /* pids that were told since the last window; of who reads the rings */
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t come;
	struct ask_news *waiting, *taken; /* ASK_MOST each; taken: by the thread */
	size_t n;
	bool wanted; /* somebody waits to be asked, or the queue is half full */
	bool missed, ends;
};

/* ---- the asking thread ---- */

/* Takes all that waits; 0: the end. missed: there was more. */
static size_t ask_take(struct ask *a, bool *missed)
{
	struct ask_news *taken = a->taken;
	size_t n;

	pthread_mutex_lock(&a->lock);
	while (!a->wanted && !a->ends)
		pthread_cond_wait(&a->come, &a->lock);
	n = a->ends ? 0 : a->n;
	a->taken = a->waiting;
	a->waiting = taken;
	*missed = a->missed;
	a->n = 0;
	a->wanted = a->missed = false;
	pthread_mutex_unlock(&a->lock);
	return n;
}

static bool ask_ends(struct ask *a)
{
	bool ends;

	pthread_mutex_lock(&a->lock);
	ends = a->ends;
	pthread_mutex_unlock(&a->lock);
	return ends;
}

/* Without memory a process is asked when its window ends. */
static void ask_one(struct ask *a, const struct ask_news *news)
{
	switch (news->news) {
	case WINDOW_SAMPLED:
		process_meet(&a->processes, news->pid);
		break;
	case WINDOW_REPLACED:
		process_replaced(&a->processes, news->pid);
		break;
	case WINDOW_BEGAN:
		process_forget(&a->processes, news->pid);
		break;
	}
}

static void *ask_thread(void *arg)
{
	struct ask *a = arg;
	bool missed;
	size_t n;

	while ((n = ask_take(a, &missed))) {
		if (missed)
			process_free(&a->processes);
		for (size_t i = 0; i < n && !ask_ends(a); i++)
			ask_one(a, &a->taken[i]);
	}
	return NULL;
}

/* ---- who reads the rings ---- */

/* Puts news behind the others. False: there was no room, and all that waited is dropped. */
static bool ask_put(struct ask *a, const struct ask_news *news)
{
	bool full, wakes;

	pthread_mutex_lock(&a->lock);
	full = a->n == ASK_MOST;
	if (full)
		a->n = 0;
	a->missed |= full;
	a->waiting[a->n++] = *news;
	/* Without it each program that starts would wake the thread. */
	wakes = !a->wanted && (news->news == WINDOW_SAMPLED || a->n > ASK_MOST / 2);
	a->wanted |= wakes;
	pthread_mutex_unlock(&a->lock);
	if (wakes)
		pthread_cond_signal(&a->come);
	return !full;
}

/* A process is told once in a window, and again when it is another one. */
void ask_hear(void *ask, enum window_news news, uint32_t pid)
{
	const struct ask_news heard = { pid, news };
	struct ask *a = ask;
	bool is_new = true;

	if (news == WINDOW_SAMPLED)
		map_slot(&a->met, pid, &is_new);
	else
		map_del(&a->met, pid);
	if (is_new && !ask_put(a, &heard))
		map_free(&a->met);
}

void ask_window(struct ask *a)
{
	map_free(&a->met);
	process_age(&a->processes);
}

/* ---- who names ---- */

int ask_labels(void *ask, uint32_t pid, const char *path, struct labels *l)
{
	struct ask *a = ask;

	return process_labels(&a->processes, pid, path, l);
}

bool ask_was_gone(struct ask *a, uint32_t pid)
{
	process_meet(&a->processes, pid);
	return process_was_gone(&a->processes, pid);
}

void ask_forget(struct ask *a)
{
	process_free(&a->processes);
}

/* ---- all of it ---- */

struct peek_counts ask_peeks(struct ask *a)
{
	return a && a->peek ? peek_counts(a->peek) : (struct peek_counts){ 0 };
}

/* Starts the thread that asks. */
int ask_new(struct ask **ret, const struct process_opts *o, unsigned held_ms)
{
	const struct peek_opts peek = { .limit_ms = held_ms };
	struct ask *a = calloc(1, sizeof(*a));
	int error = -ENOMEM;

	if (!a)
		return -ENOMEM;
	*a = (struct ask){ .processes = { .opts = &a->opts, PROCESS_LOCK },
		           .opts = o ? *o : (struct process_opts){ 0 },
		           .lock = PTHREAD_MUTEX_INITIALIZER,
		           .come = PTHREAD_COND_INITIALIZER,
		           .waiting = calloc(ASK_MOST, sizeof(*a->waiting)),
		           .taken = calloc(ASK_MOST, sizeof(*a->taken)) };
	if (a->waiting && a->taken)
		error = peek_new(&a->peek, &peek);
	a->opts.peek = a->peek;
	if (!error)
		error = thread_start(&a->thread, ask_thread, a);
	if (error) {
		peek_free(a->peek);
		free(a->waiting);
		free(a->taken);
		free(a);
		return error;
	}
	*ret = a;
	return 0;
}

void ask_free(struct ask *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->ends = true;
	pthread_mutex_unlock(&a->lock);
	pthread_cond_signal(&a->come);
	pthread_join(a->thread, NULL);
	process_free(&a->processes);
	peek_free(a->peek);
	map_free(&a->met);
	free(a->waiting);
	free(a->taken);
	free(a);
}
