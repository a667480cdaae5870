// SPDX-License-Identifier: MIT
/* labels.c: see labels.h. Nothing that a set says is trusted: it is read as far as it has the form
 * that it should have, and a text without that form is the value of the key "label". */
#include "export/labels.h"

#include <errno.h>
#include <string.h>

#include "abi/context.h"

/* The text of a number that a profile keeps, or NULL: it has none. */
static const char *labels_kept(const struct profile *p, unsigned keep, uint32_t id)
{
	const char *text =
	        profile_keeps(p) & keep && id && id != PROFILE_NOT_KEPT ? profile_text(p, id) : "";

	return *text ? text : NULL;
}

/* Calls each() for the labels of a set. */
static int labels_of_set(const char *set,
                         int (*each)(void *ctx, const char *key, const char *value), void *ctx)
{
	struct context_label l;
	struct buf key = { 0 }, value = { 0 };
	int r = strchr(set, '\t') ? 0 : each(ctx, "label", set);

	while (r >= 0 && context_next(&set, &l)) {
		buf_clear(&key);
		buf_clear(&value);
		context_plain(&key, l.key, l.key_n);
		context_plain(&value, l.value, l.value_n);
		r = key.failed || value.failed ? -ENOMEM
		                               : each(ctx, buf_text(&key), buf_text(&value));
	}
	buf_free(&key);
	buf_free(&value);
	return r;
}

int labels_each(const struct profile *p, const struct profile_key *key,
                int (*each)(void *ctx, const char *key, const char *value), void *ctx)
{
	const char *trace = labels_kept(p, PROFILE_KEEP_TRACE, key->trace);
	const char *span = labels_kept(p, PROFILE_KEEP_SPAN, key->span);
	const char *set = labels_kept(p, PROFILE_KEEP_LABEL, key->label);
	int r = trace ? each(ctx, "trace", trace) : 0;

	if (r >= 0 && span)
		r = each(ctx, "span", span);
	if (r >= 0 && set)
		r = labels_of_set(set, each, ctx);
	return r;
}

static int labels_put(void *ctx, const char *key, const char *value)
{
	struct buf *to = ctx;

	if (to->n)
		buf_put(to, " ", 1);
	buf_put_text(to, key);
	buf_put(to, "=", 1);
	buf_put_text(to, value);
	return to->failed ? -ENOMEM : 0;
}

int labels_text(const struct profile *p, const struct profile_key *key, struct buf *to)
{
	return labels_each(p, key, labels_put, to);
}

bool labels_equal(const struct profile_key *a, const struct profile_key *b)
{
	return a->trace == b->trace && a->span == b->span && a->label == b->label;
}
