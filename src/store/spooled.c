// SPDX-License-Identifier: MIT
/*
 * spooled.c: see spooled.h. The spool has windows as packed.h writes them, which need nothing of
 * one another: whichever is dropped, the others are whole.
 */
#include "store/spooled.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/blake2.h"
#include "base/error.h"
#include "base/thread.h"
#include "net/remote.h"
#include "spool/spool.h"
#include "store/packed.h"

#define SPOOL_MB 1024u
#define WAIT_MOST_S 60u
#define REFUSED_TRIES 3u /* of a window that the server does not take */
#define CLOSE_S 5u       /* that the end waits for what is still to be sent */
#define BEHIND 12u       /* windows more than there were: the server takes them too slowly */

struct spooled {
	const struct store_backend *backend;
	void *of; /* the backend's own: the thread's */
	char *url;
	struct spool *spool;
	pthread_t thread;
	bool running;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	bool more, stop;
	bool failing;             /* the last window was not taken */
	bool behind;              /* it was said that the server is too slow */
	uint64_t behind_at;       /* with so many windows that wait it is said, or again */
	struct timespec deadline; /* of the end */
	char news[700];
};

/* ---- what is said ---- */

static void spooled_say(struct spooled *s, const char *text)
{
	pthread_mutex_lock(&s->lock);
	snprintf(s->news, sizeof(s->news), "%s", text);
	pthread_mutex_unlock(&s->lock);
}

bool spooled_news(void *spooled, char *text, size_t room)
{
	struct spooled *s = spooled;
	bool has;

	pthread_mutex_lock(&s->lock);
	has = *s->news;
	snprintf(text, room, "%s", s->news);
	*s->news = 0;
	pthread_mutex_unlock(&s->lock);
	return has;
}

static void spooled_say_failure(struct spooled *s, const char *why, bool dropped)
{
	struct spool_counts counts;
	char text[700];

	spool_counts(s->spool, &counts);
	snprintf(text, sizeof(text), "%s: %.400s; %s (%llu windows, %.1f MB)", s->backend->scheme,
	         why, dropped ? "a window is dropped" : "windows wait in the spool",
	         (unsigned long long)counts.pieces, (double)counts.bytes / 1e6);
	spooled_say(s, text);
}

/* Where a server takes windows more slowly than they come nothing fails, but the spool fills. That
 * is said once, again when twice as many wait, and when none does. taken: a window was, by the
 * server; else one came. */
static void spooled_look(struct spooled *s, bool taken)
{
	struct spool_counts counts;

	spool_counts(s->spool, &counts);
	pthread_mutex_lock(&s->lock);
	if (taken && s->failing) {
		snprintf(s->news, sizeof(s->news), "the store is written again");
		s->failing = false;
		s->behind_at = counts.pieces + BEHIND;
	} else if (taken && s->behind && !counts.pieces) {
		snprintf(s->news, sizeof(s->news), "%s: no window waits any more",
		         s->backend->scheme);
		s->behind = false;
	} else if (!taken && !s->failing && counts.pieces >= s->behind_at) {
		snprintf(s->news, sizeof(s->news),
		         "%s: the server takes windows more slowly than they come; %llu wait in "
		         "the spool (%.1f MB)",
		         s->backend->scheme, (unsigned long long)counts.pieces,
		         (double)counts.bytes / 1e6);
		s->behind = true;
		s->behind_at = 2 * counts.pieces;
	}
	if (taken && !s->behind && counts.pieces + BEHIND < s->behind_at)
		s->behind_at = counts.pieces + BEHIND;
	pthread_mutex_unlock(&s->lock);
}

/* ---- the thread ---- */

/* Puts one window of the spool. What was dropped before it is counted in it. */
static int spooled_send(struct spooled *s, const struct buf *bytes, struct seam_error *err)
{
	struct packed_window p;
	struct spool_counts told;
	int r = packed_read(&p, bytes->bytes, bytes->n, 4);

	spool_counts(s->spool, &told);
	if (r >= 0 && told.dropped) {
		p.counts[p.w.n_counts++] =
		        (struct store_count){ "spool.dropped_windows", told.dropped };
		p.counts[p.w.n_counts++] =
		        (struct store_count){ "spool.dropped_samples", told.dropped_weight };
		p.counts[p.w.n_counts++] =
		        (struct store_count){ "lost_samples", told.dropped_weight };
		p.counts[p.w.n_counts++] =
		        (struct store_count){ "lost_beside", told.dropped_weight };
	}
	if (r == -EBADMSG)
		seam_error_set(err, EBADMSG, NULL, SEAM_NO_OFFSET, NULL,
		               "a window of the spool is damaged");
	if (r >= 0)
		r = s->backend->put(s->of, &p.w, err);
	if (r >= 0)
		spool_told(s->spool, &told);
	packed_free(&p);
	return r;
}

/* Waits for a window, or until a try is due. False: the end. */
static bool spooled_wait(struct spooled *s, unsigned seconds)
{
	struct timespec until;
	bool go;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += seconds;
	pthread_mutex_lock(&s->lock);
	if (!seconds)
		while (!s->more && !s->stop)
			pthread_cond_wait(&s->wake, &s->lock);
	else
		while (!s->stop && pthread_cond_timedwait(&s->wake, &s->lock, &until) != ETIMEDOUT)
			;
	s->more = false;
	go = !s->stop;
	pthread_mutex_unlock(&s->lock);
	return go;
}

/* Whether the end has come, and has no time any more. */
static bool spooled_late(struct spooled *s)
{
	struct timespec now;
	bool late;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&s->lock);
	late = s->stop && (now.tv_sec > s->deadline.tv_sec || (now.tv_sec == s->deadline.tv_sec &&
	                                                       now.tv_nsec >= s->deadline.tv_nsec));
	pthread_mutex_unlock(&s->lock);
	return late;
}

/* What becomes of a window that was not taken. How many seconds to wait. */
static unsigned spooled_failed(struct spooled *s, int r, unsigned tries, bool sent,
                               const struct seam_error *err)
{
	unsigned wait = 1, asked = s->backend->wait_s ? s->backend->wait_s(s->of) : 0;
	bool refused = (r == -EBADMSG || r == -ERANGE) && tries >= REFUSED_TRIES;
	/* Where a second copy would count twice, what may have arrived is not sent again. */
	bool drop = refused || (sent && !s->backend->again);

	for (unsigned i = 1; i < tries && wait < WAIT_MOST_S; i++)
		wait *= 2;
	if (wait > WAIT_MOST_S)
		wait = WAIT_MOST_S;
	if (drop)
		spool_drop(s->spool);
	else
		spool_back(s->spool);
	pthread_mutex_lock(&s->lock);
	s->failing = true;
	pthread_mutex_unlock(&s->lock);
	if (tries == 1 || drop)
		spooled_say_failure(s, error_reason(err, r), drop);
	return drop && refused ? 0 : asked > wait ? asked : wait;
}

/* Hands windows on until the end. */
static void *spooled_thread(void *arg)
{
	struct spooled *s = arg;
	unsigned tries = 0, wait = 0;

	while (!spooled_late(s)) {
		struct seam_error err = { 0 };
		struct buf bytes = { 0 };
		int r = spool_first(s->spool, &bytes);

		if (!r) {
			buf_free(&bytes);
			if (!spooled_wait(s, 0))
				break;
			continue;
		}
		if (r > 0)
			r = spooled_send(s, &bytes, &err);
		buf_free(&bytes);
		if (r >= 0) {
			spool_done(s->spool);
			spooled_look(s, true);
			tries = 0;
			continue;
		}
		wait = spooled_failed(s, r, ++tries, s->backend->sent && s->backend->sent(s->of),
		                      &err);
		if (!wait)
			tries = 0;
		if (wait && !spooled_wait(s, wait))
			break;
	}
	return NULL;
}

/* ---- opening ---- */

/* Where the spool of a URL is where it does not say: beside the default store. For free(). */
static char *spooled_path(const char *url)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	unsigned long long id = blake2_number(url, strlen(url), "spool", 5);
	char *path = NULL;
	int n;

	if (!geteuid())
		n = asprintf(&path, "/var/lib/seam/spool/%016llx", id);
	else if (state && *state == '/')
		n = asprintf(&path, "%s/seam/spool/%016llx", state, id);
	else
		n = asprintf(&path, "%s/.local/state/seam/spool/%016llx", home ? home : "", id);
	return n < 0 ? NULL : path;
}

/* Opens the spool that the URL's options name. */
static int spooled_open_spool(struct spooled *s, const char *rest, struct seam_error *err)
{
	struct remote t = { 0 };
	unsigned long long mb = 0;
	char *path = NULL;
	int r = remote_parse(&t, rest, s->backend->options, err);

	if (r < 0)
		return r;
	r = remote_number(&t, "spool-mb", SPOOL_MB, 1u << 20, &mb, err);
	if (r >= 0) {
		const char *given = remote_option(&t, "spool");

		path = given ? strdup(given) : spooled_path(s->url);
		r = path ? spool_open(&s->spool, path, mb << 20, !s->backend->again, err) : -ENOMEM;
	}
	free(path);
	remote_free(&t);
	return r;
}

static void spooled_free(struct spooled *s)
{
	if (s->of)
		s->backend->close(s->of);
	spool_close(s->spool);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s->url);
	free(s);
}

static int spooled_start(struct spooled *s)
{
	int r = thread_start(&s->thread, spooled_thread, s);

	s->running = r >= 0;
	return r;
}

/* What an earlier run left is no fault of the server's. */
static void spooled_begin(struct spooled *s)
{
	struct spool_counts counts;

	spool_counts(s->spool, &counts);
	s->behind_at = counts.pieces + BEHIND;
}

/* Opens the store and its spool, and begins to hand on what an earlier run left. */
int spooled_open(void **ret, const struct store_backend *backend, const char *rest,
                 struct seam_error *err)
{
	struct spooled *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;
	int r;

	if (!s)
		return -ENOMEM;
	s->backend = backend;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attr);
	pthread_condattr_destroy(&attr);
	r = asprintf(&s->url, "%s:%s", backend->scheme, rest) < 0 ? -ENOMEM : 0;
	if (r < 0)
		s->url = NULL;
	if (r >= 0)
		r = backend->open(&s->of, rest, STORE_AGENT, err);
	if (r >= 0)
		r = spooled_open_spool(s, rest, err);
	if (r >= 0)
		spooled_begin(s);
	if (r >= 0)
		r = spooled_start(s);
	if (r < 0)
		spooled_free(s);
	else
		*ret = s;
	return r;
}

/* What cannot be sent in some seconds waits for the next run. */
static void spooled_close(void *spooled)
{
	struct spooled *s = spooled;

	if (s->running) {
		pthread_mutex_lock(&s->lock);
		clock_gettime(CLOCK_MONOTONIC, &s->deadline);
		s->deadline.tv_sec += CLOSE_S;
		s->stop = true;
		pthread_cond_signal(&s->wake);
		pthread_mutex_unlock(&s->lock);
		if (s->backend->hurry)
			s->backend->hurry(s->of, CLOSE_S);
		pthread_join(s->thread, NULL);
	}
	spooled_free(s);
}

/* 1: the window is safe on the disk; -errno: it is not. */
static int spooled_put(void *spooled, const struct store_window *w, struct seam_error *err)
{
	struct spooled *s = spooled;
	struct buf bytes = { 0 };
	uint64_t samples = 0;
	int r = packed_write(&bytes, w);

	for (size_t i = 0; i < profile_n_rows(w->profile); i++)
		samples += profile_row_at(w->profile, i)->samples;
	if (r >= 0)
		r = spool_put(s->spool, bytes.bytes, bytes.n, samples, err);
	buf_free(&bytes);
	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	s->more = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	spooled_look(s, false);
	return 1;
}

/* The server keeps windows as long as it likes. */
static int64_t spooled_forget(void *spooled, uint64_t from_ns, uint64_t bytes,
                              struct seam_error *err)
{
	(void)spooled;
	(void)from_ns;
	(void)bytes;
	(void)err;
	return 0;
}

const struct store_backend spooled_backend = {
	.close = spooled_close,
	.put = spooled_put,
	.forget = spooled_forget,
};
