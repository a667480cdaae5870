// SPDX-License-Identifier: MIT
/*
 * kwalk_lock.c: the locks of struct kwalk, and how long the reader waits for them. On a machine
 * that is too busy for a recording, the follower may have one for seconds: after the time to end,
 * what needs it is left out and counted.
 */
#include "capture/bpf/kwalk_parts.h"

#define LOCK_SLICE_NS 5000000

/* A priority is inherited through the locks, because the follower comes before other threads, also
 * if it waits for one of them. */
void lock_make(struct kwalk *l)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&l->turn, &attr);
	pthread_mutex_init(&l->lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

void lock_free(struct kwalk *l)
{
	pthread_mutex_destroy(&l->turn);
	pthread_mutex_destroy(&l->lock);
}

/* The time to end may be set while this waits, so it waits in slices. */
bool lock_soon(struct kwalk *l, pthread_mutex_t *lock)
{
	int r = pthread_mutex_trylock(lock);

	while (r && !kwalk_is_over(l)) {
		struct timespec t;

		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += LOCK_SLICE_NS;
		if (t.tv_nsec >= 1000000000) {
			t.tv_nsec -= 1000000000;
			t.tv_sec++;
		}
		r = pthread_mutex_timedlock(lock, &t);
	}
	return !r;
}
