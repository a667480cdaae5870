/* SPDX-License-Identifier: MIT */
/*
 * site.h: what a served page asks for, computed when it asks: "" the page; "state" how far the
 * recordings are read and what was said meanwhile; "seen" that it shows why they cannot be; and
 * when they are read (-EAGAIN before) "data" (from, to: of a part of the time; before_from,
 * before_to: of the other recording's) and "source" a function's code (name, object; from, to;
 * tids: spans of thread ids, "17-19.25"; side 1: of the other recording).
 */
#ifndef SEAM_SERVE_SITE_H
#define SEAM_SERVE_SITE_H

#include <pthread.h>

#include "annotate/annotate.h"
#include "export/flame.h"
#include "serve/serve.h"

enum site_phase {
	SITE_READS,  /* the recordings are being read: the page shows how far */
	SITE_READY,  /* all below is there, and does not change any more */
	SITE_FAILED, /* there is nothing to show but what was said */
};

/* How far the owner is: written by one thread, told to the page by another
 * (site_news.c). */
struct site_news {
	pthread_mutex_t lock;
	enum site_phase phase;
	char step[64]; /* what is being done, how much of it, of how much (0: not known) */
	uint64_t done, total;
	struct buf said; /* messages, each with its '\0' */
	unsigned n_said;
	bool is_seen; /* the page shows that it failed */
};

void site_news_start(struct site_news *n);
void site_news_progress(struct site_news *n, const char *step, uint64_t done, uint64_t total);
/* A message for the page. Of very many the first are kept. */
void site_news_say(struct site_news *n, const char *text);
void site_news_end(struct site_news *n, enum site_phase phase);
/* The phase; *seen: the page has shown that it failed. */
enum site_phase site_news_phase(struct site_news *n, bool *seen);
void site_news_seen(struct site_news *n);
/* As JSON: title, phase, step, done, total, said. */
void site_news_put(struct site_news *n, const char *title, struct buf *to);
void site_news_free(struct site_news *n);

/* One page. The owner fills it, and frees what it points to. */
struct site {
	struct site_news news;
	struct flame_side sides[FLAME_SIDES];
	size_t n;
	struct flame_opts opts;
	struct annotate annotate[FLAME_SIDES]; /* of each side */
};

/* As serve_opts.answer; ctx is a struct site. */
int site_answer(void *ctx, const struct serve_request *request, struct serve_answer *ret);

#endif
