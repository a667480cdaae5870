// SPDX-License-Identifier: MIT
/*
 * stored.c: see stored.h.
 *
 * Times are given as people give them (-1h, 14:02) and meant on the wall clock, because a store's
 * windows come from many machines.
 */
#include "input/stored.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/when.h"
#include "input/unknown.h"

/* Keeps an option's text; stored_settle looks what it means. An option given twice means its last
 * value. */
void stored_option(struct stored *s, const struct options *o, int id)
{
	switch (id) {
	case STORED_URL:
		s->url = o->arg;
		break;
	case STORED_FROM:
		s->from = o->arg;
		break;
	case STORED_TO:
		s->to = o->arg;
		break;
	case STORED_WHERE:
		s->where = o->arg;
		break;
	default:
		s->by = o->arg;
		break;
	}
}

bool stored_asked(const struct stored *s)
{
	return s->url != NULL;
}

/* 0 or -EINVAL, after saying which forms there are. */
static int stored_time(const struct cmd *cmd, const char *option, const char *text, uint64_t now_ns,
                       uint64_t *ret)
{
	if (when_parse(text, now_ns, ret) >= 0)
		return 0;
	cmd_error(cmd,
	          "%s: '%s' is no time; they are now, -1h30m, 14:02, 2026-11-20, "
	          "2026-11-20T14:02Z, @1795000000",
	          option, text);
	return -EINVAL;
}

/* Fills the query. Without --store the other options have no meaning. */
int stored_settle(struct stored *s, const struct cmd *cmd)
{
	uint64_t now_ns;
	size_t at = 0;
	int r;

	if (!s->url && (s->from || s->to || s->where || (s->by && !s->also_by))) {
		cmd_error(cmd, "%s needs --store",
		          s->from    ? "--from"
		          : s->to    ? "--to"
		          : s->where ? "--where"
		                     : "--by");
		return -EINVAL;
	}
	now_ns = when_now_ns();
	if (stored_time(cmd, "--from", s->from ? s->from : "-1h", now_ns, &s->query.from_ns) < 0 ||
	    stored_time(cmd, "--to", s->to ? s->to : "now", now_ns, &s->query.to_ns) < 0)
		return -EINVAL;
	if (s->query.from_ns >= s->query.to_ns) {
		cmd_error(cmd, "--from is not before --to");
		return -EINVAL;
	}
	s->query.by = s->by;
	r = s->where ? labels_filter_parse(&s->filter, s->where, &at) : 0;
	if (r == -EINVAL)
		cmd_error(cmd, "--where: '%s' is no list of LABEL=VALUE", s->where + at);
	else if (r < 0)
		cmd_error(cmd, "out of memory");
	if (s->where)
		s->query.where = &s->filter;
	return r < 0 ? -EINVAL : 0;
}

bool stored_ready(struct stored *s, const struct cmd *cmd, const char *other)
{
	if (stored_settle(s, cmd) < 0)
		return false;
	if (stored_asked(s) && other)
		cmd_error(cmd, "--store does not go with %s", other);
	return !stored_asked(s) || !other;
}

/* More than one may be in it, by commas, as --where has them. */
int stored_label(struct labels *labels, const struct cmd *cmd, const char *text)
{
	struct labels_filter f = { 0 };
	const char *key, *value;
	size_t at = 0;
	int r = labels_filter_parse(&f, text, &at);
	const struct labels terms = { f.terms };

	for (at = 0; r >= 0 && labels_next(&terms, &at, &key, &value);)
		r = labels_set(labels, key, value);
	labels_filter_free(&f);
	if (r == -EINVAL)
		cmd_error(cmd, "--label: '%s' is no LABEL=VALUE", text);
	else if (r == -E2BIG)
		cmd_error(cmd, "--label: '%s' is more than the labels of a window may be", text);
	else if (r < 0)
		cmd_error(cmd, "out of memory");
	return r < 0 ? -EINVAL : 0;
}

/* Makes the directories of a path, for their owner alone. What goes wrong is told by who opens the
 * file. */
static void stored_make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
}

/* The store that is used without a URL: the system's for root, else one in the user's state
 * directory (XDG). The caller frees it. NULL: out of memory. */
char *stored_default(bool make)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *url = NULL;
	int n;

	if (!geteuid() || ((!state || *state != '/') && (!home || *home != '/')))
		n = asprintf(&url, "sqlite:/var/lib/seam/seam.db");
	else if (state && *state == '/')
		n = asprintf(&url, "sqlite:%s/seam/seam.db", state);
	else
		n = asprintf(&url, "sqlite:%s/.local/state/seam/seam.db", home);
	if (n < 0)
		return NULL;
	if (make)
		stored_make_directories(url + strlen("sqlite:"));
	return url;
}

/* Says why an answer has nothing. Three things look alike in an empty report: a new store, times
 * without windows, a filter that fits nothing. */
static void stored_say_empty(const struct stored *s, const struct cmd *cmd, struct store *store,
                             const struct store_found *f)
{
	struct buf unknown = { 0 };
	char a[WHEN_TEXT_MAX], b[WHEN_TEXT_MAX], c[WHEN_TEXT_MAX], d[WHEN_TEXT_MAX];

	when_text(s->query.from_ns, a);
	when_text(s->query.to_ns, b);
	when_text(f->held_first_ns, c);
	when_text(f->held_last_ns, d);
	if (!f->held_last_ns)
		cmd_error(cmd, "%s: nothing was put into this store yet", s->url);
	else if (!f->windows)
		cmd_error(cmd, "%s: no window begins from %s to %s; the store has %s to %s", s->url,
		          a, b, c, d);
	else {
		if (s->where)
			unknown_text(store, &s->query, &unknown);
		cmd_error(cmd, "%s: no series from %s to %s is %s%s; 'seam store ls' lists them",
		          s->url, a, b, s->where ? s->where : "there", buf_text(&unknown));
		buf_free(&unknown);
	}
}

/* Asks the store and keeps the answer. The store is closed again: *ret holds all it needs. Returns
 * an exit code. */
int stored_load(const struct stored *s, const struct cmd *cmd, unsigned keep, struct answer *ret)
{
	struct seam_error err = { 0 };
	struct store *store;
	int r = store_open(&store, s->url, STORE_READ, &err);

	/* An answer is made of lists that are freed and needed again, epoch by epoch: of a day's
	 * report more than half of the CPU time went into getting pages anew. */
	heap_large();
	if (r >= 0) {
		r = answer_load(ret, store, &s->query, keep, &err);
		if (r >= 0 && !ret->found.series)
			stored_say_empty(s, cmd, store, &ret->found);
		store_close(store);
	}
	if (r < 0) {
		cmd_error(cmd, "%s", cmd_reason(&err, r));
		return r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	return EXIT_OK;
}

size_t stored_args(const struct stored *s, const char **args)
{
	const char *const with[][2] = { { "--store", s->url },
		                        { "--from", s->from },
		                        { "--to", s->to },
		                        { "--where", s->where } };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		if (with[i][1]) {
			args[n++] = with[i][0];
			args[n++] = with[i][1];
		}
	return n;
}

/* Both filters hold: terms of one key are added to it. */
int stored_repeats(const struct stored *s, struct store *store, const char *option,
                   const char *where, size_t most, struct repeats *ret, struct seam_error *err)
{
	struct labels_filter filter = { 0 };
	struct store_query q = s->query;
	size_t at = 0;
	int r = s->where ? labels_filter_parse(&filter, s->where, &at) : 0;

	if (r >= 0)
		r = labels_filter_parse(&filter, where, &at);
	if (r == -EINVAL)
		seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		               "%s: '%s' is no list of LABEL=VALUE", option, where + at);
	q.where = &filter;
	if (r >= 0)
		r = repeats_load(ret, store, &q, most, err);
	labels_filter_free(&filter);
	return r;
}

void stored_free(struct stored *s)
{
	labels_filter_free(&s->filter);
}
