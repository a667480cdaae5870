// SPDX-License-Identifier: MIT
// job.c: see job.h. What the work fills is read when its thread has ended, so there is no lock.
#include "view/job.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/thread.h"

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
	int r;

	if (!j)
		return -ENOMEM;
	j->work = work;
	j->ctx = ctx;
	j->done = eventfd(0, EFD_CLOEXEC);
	r = j->done < 0 ? -errno : 0;
	if (r >= 0) {
		r = thread_start(&j->thread, job_thread, j);
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
