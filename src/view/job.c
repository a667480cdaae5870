// SPDX-License-Identifier: MIT
// job.c: see job.h. What the work fills is read when its thread has ended, so there is no lock.
#include "view/job.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct job {
	int (*work)(void *ctx);
	void *ctx;
	int done; /* eventfd */
	pthread_t thread;
	int result;
};

static void *job_thread(void *arg)
{
	struct job *j = arg;

	j->result = j->work(j->ctx);
	/* Fails only when the counter is full: then it is readable anyway. */
	(void)!eventfd_write(j->done, 1);
	return NULL;
}

/* All signals are blocked in the thread. */
int job_start(struct job **ret, int (*work)(void *ctx), void *ctx)
{
	struct job *j = calloc(1, sizeof(*j));
	sigset_t all, before;
	int r;

	if (!j)
		return -ENOMEM;
	j->work = work;
	j->ctx = ctx;
	j->done = eventfd(0, EFD_CLOEXEC);
	r = j->done < 0 ? -errno : 0;
	if (r >= 0) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		r = -pthread_create(&j->thread, NULL, job_thread, j);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (r < 0) {
		if (j->done >= 0)
			close(j->done);
		free(j);
		return r;
	}
	*ret = j;
	return 0;
}

int job_fd(const struct job *j)
{
	return j->done;
}

int job_end(struct job *j)
{
	int result;

	pthread_join(j->thread, NULL);
	result = j->result;
	close(j->done);
	free(j);
	return result;
}
