// SPDX-License-Identifier: MIT
// site_news.c: see site.h. Written by the thread that reads the recordings, told by those that
// answer.
#include "serve/site.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

#define SITE_SAID 50u         /* messages that are kept */
#define SITE_SAID_BYTES 4096u /* of each of them */

void site_news_start(struct site_news *n)
{
	*n = (struct site_news){ .phase = SITE_READS };
	pthread_mutex_init(&n->lock, NULL);
}

void site_news_progress(struct site_news *n, const char *step, uint64_t done, uint64_t total)
{
	pthread_mutex_lock(&n->lock);
	snprintf(n->step, sizeof(n->step), "%s", step);
	n->done = done;
	n->total = total;
	pthread_mutex_unlock(&n->lock);
}

void site_news_say(struct site_news *n, const char *text)
{
	pthread_mutex_lock(&n->lock);
	if (n->n_said < SITE_SAID) {
		buf_put(&n->said, text, strnlen(text, SITE_SAID_BYTES));
		buf_put(&n->said, "", 1);
		n->n_said++;
	}
	pthread_mutex_unlock(&n->lock);
}

void site_news_end(struct site_news *n, enum site_phase phase)
{
	pthread_mutex_lock(&n->lock);
	n->phase = phase;
	pthread_mutex_unlock(&n->lock);
}

enum site_phase site_news_phase(struct site_news *n, bool *seen)
{
	enum site_phase phase;

	pthread_mutex_lock(&n->lock);
	phase = n->phase;
	*seen = n->is_seen;
	pthread_mutex_unlock(&n->lock);
	return phase;
}

/* What is not yet so cannot have been seen. */
void site_news_seen(struct site_news *n)
{
	pthread_mutex_lock(&n->lock);
	n->is_seen = n->phase == SITE_FAILED;
	pthread_mutex_unlock(&n->lock);
}

/* Messages that were lost for want of memory are not told. */
static void site_news_put_said(const struct site_news *n, struct json *j)
{
	json_key(j, "said");
	json_open(j, '[');
	for (size_t at = 0; !n->said.failed && at < n->said.n;) {
		const char *text = (const char *)n->said.bytes + at;

		json_string(j, text);
		at += strlen(text) + 1;
	}
	json_close(j, ']');
}

/* All that is known, at one moment. */
void site_news_put(struct site_news *n, const char *title, struct buf *to)
{
	static const char *const phases[] = { "reading", "ready", "failed" };
	struct json j = { .out = to };

	pthread_mutex_lock(&n->lock);
	json_open(&j, '{');
	json_key(&j, "title");
	json_string(&j, title);
	json_key(&j, "phase");
	json_string(&j, phases[n->phase]);
	json_key(&j, "step");
	json_string(&j, n->step);
	json_key(&j, "done");
	json_u64(&j, n->done);
	json_key(&j, "total");
	json_u64(&j, n->total);
	site_news_put_said(n, &j);
	json_close(&j, '}');
	pthread_mutex_unlock(&n->lock);
}

void site_news_free(struct site_news *n)
{
	buf_free(&n->said);
	pthread_mutex_destroy(&n->lock);
}
