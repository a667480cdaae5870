// SPDX-License-Identifier: MIT
/*
 * sqlite_compact.c: see sqlite.h: what is to be compacted. The older windows are, the longer they
 * become; the steps are multiples of each other, so that one step is all of some earlier ones. One
 * call does a bounded piece, in one transaction: readers go on meanwhile, and see the store before
 * or after.
 *
 * An epoch to which windows are still being put by another process may be compacted: that writer
 * finds its epoch gone and begins another.
 */
#include "store/sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "store/sqlite_merge.h"

#define MINUTE_NS (60ULL * 1000000000)
#define HOUR_NS (60 * MINUTE_NS)
#define DAY_NS (24 * HOUR_NS)
/* Nodes of a piece: as many as a writer's list has, so that memory is bounded likewise. */
#define NODES_MOST 500000u
/* Pages: fewer that are free stay, and this part of all. */
#define FREE_LEAST 256
#define FREE_PART 8
#define FREE_AT_ONCE "2048"

/* From an age on, windows are of this length. */
static const struct compact_step {
	uint64_t age_ns, step_ns;
} compact_steps[] = {
	{ 7 * DAY_NS, SQLITE_STEP_MOST_NS },
	{ DAY_NS, 10 * MINUTE_NS },
	{ 10 * MINUTE_NS, MINUTE_NS },
};

/* An epoch, as far as it matters here. */
struct compact_epoch {
	int64_t id, names;
	char *instance;
	uint64_t step_ns, wanted_ns;
};

struct sqlite_compacting {
	const struct sqlite_store *s;
	struct compact_epoch *epochs; /* by names */
	size_t n, capacity;
};

static uint64_t compact_wanted(uint64_t last_ns, uint64_t now_ns)
{
	for (size_t i = 0; i < sizeof(compact_steps) / sizeof(compact_steps[0]); i++)
		if (now_ns >= last_ns && now_ns - last_ns >= compact_steps[i].age_ns)
			return compact_steps[i].step_ns;
	return 0;
}

static void compact_free(struct sqlite_compacting *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->epochs[i].instance);
	free(c->epochs);
}

/* Finds the epochs whose windows can become longer, and those of a store of version 3 that are as
 * long as they become; not this writer's own. -errno. */
static int compact_find(struct sqlite_compacting *c, uint64_t now_ns, struct seam_error *err)
{
	sqlite3_stmt *statement = sqlite_prepare(
	        c->s,
	        "SELECT id, names, instance, step_ns, (SELECT max(from_ns) FROM windows "
	        "WHERE epoch = epochs.id) AS last, EXISTS (SELECT 1 FROM windows CROSS JOIN "
	        "counts ON counts.window = windows.id WHERE windows.epoch = epochs.id) FROM "
	        "epochs WHERE id <> ?1 AND last IS NOT NULL ORDER BY names, id",
	        err);
	int r;

	if (!statement)
		return -err->code;
	sqlite3_bind_int64(statement, 1, c->s->epoch);
	while ((r = sqlite_step(c->s, statement, err)) > 0) {
		const char *instance = (const char *)sqlite3_column_text(statement, 2);
		struct compact_epoch e = {
			.id = sqlite3_column_int64(statement, 0),
			.names = sqlite3_column_int64(statement, 1),
			.step_ns = (uint64_t)sqlite3_column_int64(statement, 3),
			.wanted_ns = compact_wanted((uint64_t)sqlite3_column_int64(statement, 4),
			                            now_ns),
		};

		/* Counts as an older version had them are written anew. */
		if (e.step_ns && e.wanted_ns <= e.step_ns && sqlite3_column_int64(statement, 5))
			e.wanted_ns = e.step_ns;
		else if (e.wanted_ns <= e.step_ns)
			continue;
		e.instance = strdup(instance ? instance : "");
		r = e.instance ? ARRAY_ROOM(&c->epochs, &c->capacity, c->n + 1) : -ENOMEM;
		if (r < 0) {
			free(e.instance);
			break;
		}
		c->epochs[c->n++] = e;
	}
	sqlite3_finalize(statement);
	return r;
}

/* How many nodes an epoch has. -errno. */
static int64_t compact_nodes(const struct sqlite_store *s, int64_t epoch, struct seam_error *err)
{
	const int64_t list[] = { SQLITE_BLOCK_ID(epoch, BLOCKS_NODES, 0),
		                 SQLITE_BLOCK_ID(epoch + 1, 0, 0) };
	int64_t end;
	int r = sqlite_run(s,
	                   "SELECT id + n FROM blocks WHERE id >= ?1 AND id < ?2 "
	                   "ORDER BY id DESC LIMIT 1",
	                   list, 2, &end, err);

	return r < 0 ? r : end ? end - list[0] : 0;
}

/* Merges the first epoch that was found and those behind it that go with it, as far as they are few
 * enough. -errno. */
static int compact_first(const struct sqlite_compacting *c, uint64_t day_bytes,
                         struct store_compacted *ret, struct seam_error *err)
{
	const struct compact_epoch *first = c->epochs;
	struct sqlite_merge_source *sources = calloc(c->n, sizeof(*sources));
	struct sqlite_merge_opts o = { .sources = sources,
		                       .names = first->names,
		                       .instance = first->instance,
		                       .step_ns = first->wanted_ns };
	int64_t nodes = 0, more;

	if (!sources)
		return -ENOMEM;
	/* Somebody chose to have what is in an imported recording. */
	if (day_bytes && strncmp(first->instance, "import:", 7) != 0)
		o.hour_bytes = day_bytes / 24 + 1;
	for (const struct compact_epoch *e = first; o.n < c->n; e++) {
		if (e->names != first->names || e->wanted_ns != first->wanted_ns ||
		    strcmp(e->instance, first->instance) != 0)
			break;
		more = compact_nodes(c->s, e->id, err);
		if (more < 0 || (o.n && nodes + more > NODES_MOST))
			break;
		nodes += more;
		sources[o.n++] = (struct sqlite_merge_source){ e->id, e->step_ns != 0 };
	}
	more = o.n ? sqlite_merge(c->s, &o, ret, err) : -err->code;
	if (more >= 0)
		more = sqlite_join_names(c->s, o.names, err);
	free(sources);
	return (int)more;
}

/* What is written anew leaves pages of the old: some are given back where there are many, but not
 * all, as the next windows need some. */
static int compact_vacuum(const struct sqlite_store *s, struct seam_error *err)
{
	int64_t pages, free_pages;

	if (sqlite_run(s, "PRAGMA page_count", NULL, 0, &pages, err) < 0 ||
	    sqlite_run(s, "PRAGMA freelist_count", NULL, 0, &free_pages, err) < 0)
		return -err->code;
	if (free_pages <= FREE_LEAST || free_pages <= pages / FREE_PART)
		return 0;
	return sqlite_do(s, "PRAGMA incremental_vacuum(" FREE_AT_ONCE ")", err);
}

/* Does one piece, the oldest names first. */
int sqlite_compact(void *store, uint64_t now_ns, uint64_t day_bytes, struct store_compacted *ret,
                   struct seam_error *err)
{
	struct sqlite_store *s = store;
	struct sqlite_compacting c = { .s = s };
	struct store_compacted done = { 0 };
	struct seam_error why = { 0 };
	int r = sqlite_do(c.s, "BEGIN IMMEDIATE", &why);
	bool begun = r >= 0;

	if (r >= 0)
		r = compact_find(&c, now_ns, &why);
	if (r >= 0 && c.n) {
		r = compact_first(&c, day_bytes, &done, &why);
		r = r < 0 ? r : 1;
	}
	if (r >= 0 && sqlite_do(c.s, "COMMIT", &why) < 0)
		r = -why.code;
	else if (r >= 0)
		begun = false;
	if (r > 0 && compact_vacuum(c.s, &why) < 0)
		r = -why.code;
	if (r < 0 && begun)
		sqlite3_exec(c.s->db, "ROLLBACK", NULL, NULL, NULL);
	if (r > 0)
		sqlite_trim_log(s);
	compact_free(&c);
	if (r == -EBADMSG && !why.code)
		r = seam_error_set(&why, EBADMSG, c.s->path, SEAM_NO_OFFSET, NULL,
		                   "the store is damaged: what it says of its stacks makes no "
		                   "sense");
	if (r >= 0) {
		ret->windows += done.windows;
		ret->into += done.into;
		ret->folded += done.folded;
	} else if (err) {
		*err = why;
	}
	return r;
}
