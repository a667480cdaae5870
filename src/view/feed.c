// SPDX-License-Identifier: MIT
/*
 * feed.c: see feed.h. One lock, and an eventfd for who waits in poll(2).
 *
 * Invariant: what is under the lock is moved, never worked on: a key is answered while a profile is
 * made.
 */
#include "view/feed.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"

struct feed {
	pthread_mutex_t lock;
	int fd; /* eventfd */
	pthread_t thread;
	bool started, joined;
	int (*work)(void *ctx, struct feed *f);
	void *ctx;
	atomic_bool stopped;

	/* Under the lock. */
	struct view_news news;
	struct buf state;
	bool ended;
	int result;
};

int feed_new(struct feed **ret)
{
	struct feed *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->fd < 0) {
		free(f);
		return -errno;
	}
	pthread_mutex_init(&f->lock, NULL);
	*ret = f;
	return 0;
}

/* Wakes who waits for something new. */
static void feed_wake(struct feed *f)
{
	/* Fails only when the counter is full: then it is readable anyway. */
	(void)!eventfd_write(f->fd, 1);
}

static void *feed_thread(void *arg)
{
	struct feed *f = arg;
	int result = f->work(f->ctx, f);

	pthread_mutex_lock(&f->lock);
	f->ended = true;
	f->result = result;
	pthread_mutex_unlock(&f->lock);
	feed_wake(f);
	return NULL;
}

int feed_start(struct feed *f, int (*work)(void *ctx, struct feed *f), void *ctx)
{
	int r;

	f->work = work;
	f->ctx = ctx;
	r = thread_start(&f->thread, feed_thread, f);
	f->started = r >= 0;
	return r;
}

/* CLOCK_MONOTONIC. */
static long long feed_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int feed_join(struct feed *f)
{
	if (f->started && !f->joined)
		pthread_join(f->thread, NULL);
	f->joined = true;
	return f->result;
}

int feed_end(struct feed *f)
{
	atomic_store(&f->stopped, true);
	return feed_join(f);
}

bool feed_end_within(struct feed *f, int ms)
{
	long long end = feed_now_ms() + ms, left = ms;
	int result;

	atomic_store(&f->stopped, true);
	while (f->started && !feed_ended(f, &result)) {
		struct pollfd p = { .fd = f->fd, .events = POLLIN };
		eventfd_t n;

		if (left <= 0)
			return false;
		if (poll(&p, 1, (int)left) > 0)
			(void)!eventfd_read(f->fd, &n);
		left = end - feed_now_ms();
	}
	return true;
}

void feed_free(struct feed *f)
{
	if (!f)
		return;
	view_news_free(&f->news);
	buf_free(&f->state);
	close(f->fd);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

void feed_put(struct feed *f, struct view_news *news)
{
	struct view_news old;

	pthread_mutex_lock(&f->lock);
	old = f->news;
	f->news = *news;
	pthread_mutex_unlock(&f->lock);
	*news = (struct view_news){ 0 };
	view_news_free(&old);
	feed_wake(f);
}

void feed_state(struct feed *f, const char *text)
{
	pthread_mutex_lock(&f->lock);
	buf_clear(&f->state);
	buf_put_text(&f->state, text);
	pthread_mutex_unlock(&f->lock);
	feed_wake(f);
}

bool feed_stopped(struct feed *f)
{
	return atomic_load(&f->stopped);
}

int feed_fd(const struct feed *f)
{
	return f->fd;
}

bool feed_ended(struct feed *f, int *result)
{
	bool ended;

	pthread_mutex_lock(&f->lock);
	ended = f->ended;
	*result = f->result;
	pthread_mutex_unlock(&f->lock);
	return ended;
}

/* Each state that is said wakes, too, so it looks again until the time is over. */
void feed_wait(struct feed *f, int ms)
{
	long long end = feed_now_ms() + ms, left = ms;
	bool there = false;

	while (!there && left > 0) {
		struct pollfd p = { .fd = f->fd, .events = POLLIN };
		eventfd_t n;

		if (poll(&p, 1, (int)left) > 0)
			(void)!eventfd_read(f->fd, &n);
		pthread_mutex_lock(&f->lock);
		there = f->ended || f->news.profile;
		pthread_mutex_unlock(&f->lock);
		left = end - feed_now_ms();
	}
	/* Whoever polls the descriptor next finds what is there. */
	feed_wake(f);
}

int feed_take(struct feed *f, struct view_news *news, struct buf *state)
{
	eventfd_t n;

	(void)!eventfd_read(f->fd, &n);
	buf_clear(state);
	pthread_mutex_lock(&f->lock);
	*news = f->news;
	f->news = (struct view_news){ 0 };
	buf_put(state, f->state.bytes, f->state.n);
	pthread_mutex_unlock(&f->lock);
	return state->failed ? -ENOMEM : 0;
}
