// SPDX-License-Identifier: MIT
/*
 * clickhouse.c: see clickhouse.h: what a URL of clickhouse: means, and the backend.
 *
 * An agent may begin while its server is down, so nothing is asked of the server before it is
 * needed; others ask at once whether the store is there.
 */
#include "store/clickhouse/clickhouse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/spooled.h"

static const char *const clickhouse_options[] = { REMOTE_COMMON, SPOOLED_OPTIONS, NULL };

/* The path of a URL is a database: /name. -EINVAL. */
static int clickhouse_database(struct clickhouse *c, struct seam_error *err)
{
	const char *name = c->remote.path + (*c->remote.path == '/');
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	if (name[n])
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "'%s' is no name of a database: letters, digits and '_'",
		                      name);
	if (asprintf(&c->database, "%s%s", name, n ? "." : "") < 0) {
		c->database = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void clickhouse_close(void *store)
{
	struct clickhouse *c = store;

	if (!c)
		return;
	http_close(c->http);
	map_free(&c->sent);
	map_free(&c->sent_stacks);
	remote_free(&c->remote);
	free(c->database);
	free(c);
}

/* rest: a URL of http or https. */
static int clickhouse_open(void **ret, const char *rest, enum store_mode mode,
                           struct seam_error *err)
{
	struct clickhouse *c = calloc(1, sizeof(*c));
	int r = c ? 0 : -ENOMEM;

	if (r >= 0)
		r = remote_parse(&c->remote, rest, clickhouse_options, err);
	if (r >= 0)
		r = clickhouse_database(c, err);
	if (r >= 0)
		r = http_open(&c->http, &c->remote, err);
	if (r >= 0 && mode != STORE_AGENT)
		r = clickhouse_ready(c, err);
	if (r < 0) {
		clickhouse_close(c);
		return r;
	}
	c->looks = mode == STORE_WRITE;
	*ret = c;
	return 0;
}

/* How long windows are kept is the server's: TTL, as init says. One agent of a fleet does not
 * delete what others have put. */
static int64_t clickhouse_forget(void *store, uint64_t from_ns, uint64_t bytes,
                                 struct seam_error *err)
{
	(void)store;
	(void)from_ns;
	(void)bytes;
	(void)err;
	return 0;
}

/* A connection of its own, which does not look for the tables. */
static int clickhouse_init(const char *rest, const struct store_init *o, struct seam_error *err)
{
	void *store;
	int r = clickhouse_open(&store, rest, STORE_AGENT, err);

	if (r < 0)
		return r;
	r = clickhouse_migrate(store, o, err);
	clickhouse_close(store);
	return r;
}

static unsigned clickhouse_wait_s(const void *store)
{
	return http_wait_s(((const struct clickhouse *)store)->http);
}

static void clickhouse_hurry(void *store, unsigned seconds)
{
	http_hurry(((struct clickhouse *)store)->http, seconds);
}

const struct store_backend clickhouse_backend = {
	.scheme = "clickhouse",
	.help = "clickhouse:HTTP-URL",
	.remote = true,
	.again = true,
	.options = clickhouse_options,
	.wait_s = clickhouse_wait_s,
	.hurry = clickhouse_hurry,
	.init = clickhouse_init,
	.open = clickhouse_open,
	.close = clickhouse_close,
	.put = clickhouse_put,
	.forget = clickhouse_forget,
	.read = clickhouse_read,
	.list = clickhouse_list,
	.roll_up = clickhouse_roll_up,
	.functions = clickhouse_functions,
};
