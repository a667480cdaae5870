// SPDX-License-Identifier: MIT
/*
 * store.c: see store.h: which kind of store a URL means, and what all kinds share.
 *
 * A kind of store is a struct store_backend. Whatever a backend needs is behind `of`.
 */
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/backend.h"
#include "store/spooled.h"

struct store {
	const struct store_backend *backend;
	void *of; /* the backend's own */
};

static const struct store_backend *const store_backends[] = {
	&sqlite_backend, &clickhouse_backend, &pyroscope_backend,        &parca_backend,
	&coroot_backend, &otlp_backend,       &coroot_clickhouse_backend
};

#define STORE_BACKENDS (sizeof(store_backends) / sizeof(store_backends[0]))

/* The backend of a URL's scheme, and what follows the colon. */
static const struct store_backend *store_backend_of(const char *url, const char **rest)
{
	size_t n = strcspn(url, ":");

	for (size_t i = 0; i < STORE_BACKENDS; i++) {
		const char *scheme = store_backends[i]->scheme;

		if (url[n] && strlen(scheme) == n && !memcmp(url, scheme, n)) {
			*rest = url + n + 1;
			return store_backends[i];
		}
	}
	return NULL;
}

/* The URL is of no kind. -EINVAL. */
static int store_unknown(const char *url, struct seam_error *err)
{
	char kinds[400] = "";

	for (size_t i = 0, n = 0; i < STORE_BACKENDS && n < sizeof(kinds); i++)
		n += (size_t)snprintf(kinds + n, sizeof(kinds) - n, "%s%s", i ? ", " : "",
		                      store_backends[i]->help);
	return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
	                      "'%s' is no store: stores are %s", url, kinds);
}

/* Kinds that have nothing to make beforehand are opened to write, and closed. */
int store_make(const char *url, const struct store_init *o, struct seam_error *err)
{
	const char *rest;
	const struct store_backend *backend = store_backend_of(url, &rest);
	struct store *s;
	int r;

	if (!backend)
		return store_unknown(url, err);
	if (backend->init)
		return backend->init(rest, o, err);
	if (backend->remote || o->only_say)
		return 0; /* the server has what it needs */
	r = store_open(&s, url, STORE_WRITE, err);
	if (r >= 0)
		store_close(s);
	return r;
}

/* Looks for the kind, and lets it open the rest of the URL. */
int store_open(struct store **ret, const char *url, enum store_mode mode, struct seam_error *err)
{
	const char *rest;
	const struct store_backend *backend = store_backend_of(url, &rest);
	struct store *s;
	int r;

	if (!backend)
		return store_unknown(url, err);
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	if (backend->remote && mode == STORE_AGENT) {
		s->backend = &spooled_backend;
		r = spooled_open(&s->of, backend, rest, err);
	} else {
		s->backend = backend;
		r = backend->open(&s->of, rest, mode, err);
	}
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	s->backend->close(s->of);
	free(s);
}

bool store_news(struct store *s, char *text, size_t room)
{
	return s->backend == &spooled_backend && spooled_news(s->of, text, room);
}

/* The window's strings need not outlive the call. */
int store_put(struct store *s, const struct store_window *w, struct seam_error *err)
{
	return s->backend->put(s->of, w, err);
}

int64_t store_forget(struct store *s, uint64_t from_ns, uint64_t bytes, struct seam_error *err)
{
	return s->backend->forget(s->of, from_ns, bytes, err);
}

int store_compact(struct store *s, uint64_t now_ns, uint64_t day_bytes, struct store_compacted *ret,
                  struct seam_error *err)
{
	if (s->backend->compact)
		return s->backend->compact(s->of, now_ns, day_bytes, ret, err);
	return seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL,
	                      "stores of the kind %s: need no compaction", s->backend->scheme);
}

int store_read(struct store *s, const struct store_query *q, struct profile *into,
               struct store_found *ret, struct seam_error *err)
{
	return s->backend->read(s->of, q, into, ret, err);
}

int store_list(struct store *s, const struct store_query *q, struct store_listing *ret,
               struct seam_error *err)
{
	const struct store_query all = { .to_ns = UINT64_MAX };

	return s->backend->list(s->of, q ? q : &all, ret, err);
}

void store_listing_free(struct store_listing *l)
{
	for (size_t i = 0; i < l->n; i++)
		labels_free(&l->series[i].labels);
	free(l->series);
	*l = (struct store_listing){ 0 };
}

static int store_no_roll_up(const struct store *s, struct seam_error *err)
{
	return seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL,
	                      "stores of the kind %s: have no roll-up by hour: 'seam report "
	                      "--store' answers",
	                      s->backend->scheme);
}

int store_roll_up(struct store *s, const struct store_query *q, uint64_t now_ns, unsigned most,
                  struct store_rolled *ret, struct seam_error *err)
{
	return s->backend->roll_up ? s->backend->roll_up(s->of, q, now_ns, most, ret, err)
	                           : store_no_roll_up(s, err);
}

/* Of the labels the roll-up has these alone. */
static int store_check_labels(const struct store_query *q, struct seam_error *err)
{
	const struct labels_filter none = { 0 };
	const struct labels terms = { q->where ? q->where->terms : none.terms };
	const char *key, *value;

	for (size_t at = 0; labels_next(&terms, &at, &key, &value);)
		if (strcmp(key, "service") != 0 && strcmp(key, "version") != 0)
			return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
			                      "hours are kept by service and version, not by %s: "
			                      "'seam report --store' answers",
			                      key);
	return 0;
}

int store_functions(struct store *s, const struct store_query *q, unsigned limit,
                    struct store_functions *ret, struct seam_error *err)
{
	int r;

	if (!s->backend->functions)
		return store_no_roll_up(s, err);
	r = store_check_labels(q, err);
	return r < 0 ? r : s->backend->functions(s->of, q, limit, ret, err);
}

void store_functions_free(struct store_functions *f)
{
	for (size_t i = 0; i < f->n; i++) {
		for (size_t j = 0; j < f->events[i].n; j++) {
			free(f->events[i].functions[j].name);
			free(f->events[i].functions[j].object);
		}
		free(f->events[i].functions);
		free(f->events[i].type);
	}
	free(f->events);
	*f = (struct store_functions){ 0 };
}
