// SPDX-License-Identifier: MIT
// sqlite_read.c: see sqlite.h: answers. Counts are added up by the store's own numbers first, epoch
// by epoch, then epochs that share their names become one list of stacks (joined.h), and names are
// looked up once for it. All in one transaction, so that what is forgotten or compacted meanwhile
// is still there.
#include "store/sqlite_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/leb.h"
#include "base/sums.h"
#include "store/found.h"
#include "store/parts/sqlite_beside.h"
#include "store/parts/sqlite_parts.h"
#include "store/stacks/innermost.h"
#include "store/stacks/joined.h"
#include "store/stacks/lookup.h"
#include "store/stacks/named.h"
#include "store/stacks/unstacked.h"

/* Whose counts are added up: the same comm and label. */
struct sqlite_group_key {
	uint32_t comm, label; /* interned */
	uint32_t event;       /* string << 1 | unit */
	uint32_t state;       /* string */
	uint32_t slice;
	uint32_t series[2]; /* its number's halves, where sums are made; else 0 */
};

/* What the span has of one epoch. */
struct sqlite_epoch {
	int64_t id, names;
	struct lookup_stacks stacks;
};

/* Lists that wait to be joined, and their nodes (of 8 bytes, and 8 while they are joined): when
 * there are more, they become one, which waits for the next. */
#define SQLITE_LISTS 64u
#define SQLITE_NODES (16u << 20)

/* One answer. Numbers of names mean something where `names` is the same, numbers of nodes within
 * one epoch. */
struct sqlite_reading {
	const struct sqlite_store *s;
	const struct store_query *q;
	void (*label)(const struct labels *l, const char *by, struct buf *out);
	struct profile *into;
	struct store_found *found;
	struct seam_error *err;
	struct intern texts;         /* comms and labels */
	struct sqlite_epoch *epochs; /* by names */
	size_t n_epochs, capacity;
	/* of epochs with the same names */
	int64_t names;
	sqlite3_stmt *fetch;
	struct sqlite_counts counts_of;
	struct lookup lookup;
	struct map series; /* id -> comm << 32 | label of those that are wanted */
	struct pool groups;
	struct map counts;  /* string -> value */
	uint64_t folded;    /* samples of stacks that were folded */
	struct named named; /* the frames of the function that is asked for */
	struct joined lists[SQLITE_LISTS];
	size_t n_lists, n_nodes;
	struct sqlite_parts parts; /* in place of the counts of windows that are in one */
	bool summable;             /* sums will do: no stack or line is asked for */
	bool heads;                /* likewise, and no frame */
	struct sqlite_beside beside;
	struct summed *summed; /* what parts and windows have that are taken so */
	size_t n_summed, summed_room;
	/* Where sums are made: of these names alone. NULL: a profile is. */
	struct summing *sums_to;
	int64_t only;
	/* of one epoch */
	struct sqlite_epoch *epoch;
	struct sums sums;      /* by groups of the names */
	uint32_t group, state; /* of the counts that are read; group 0: not known */
	/* of the row that is read */
	uint64_t at, series_id; /* comm << 32 | label */
	uint32_t event, slice;
};

/* The store contradicts itself. */
static int sqlite_bad(const struct sqlite_reading *r)
{
	return seam_error_set(r->err, EBADMSG, r->s->path, SEAM_NO_OFFSET, NULL,
	                      "the store is damaged: what it says of its stacks makes no sense");
}

/* ---- an epoch's lists ---- */

/* A lookup_fetch: the last block that begins at the thing or in front of it. */
static int sqlite_fetch(void *ctx, enum blocks_kind kind, uint32_t id, uint32_t *first, uint32_t *n,
                        const void **bytes, size_t *size)
{
	const struct sqlite_reading *r = ctx;
	const int64_t list =
	        SQLITE_BLOCK_ID(kind == BLOCKS_NODES ? r->epoch->id : r->names, kind, 0);
	int got;
	int64_t from;

	/* A statement that was used must be reset before it is used again. */
	sqlite3_reset(r->fetch);
	sqlite3_bind_int64(r->fetch, 1, list + id);
	sqlite3_bind_int64(r->fetch, 2, list);
	got = sqlite_step(r->s, r->fetch, r->err);
	if (got <= 0)
		return got < 0 ? got : -ENOENT;
	from = sqlite3_column_int64(r->fetch, 0) - list;
	*first = (uint32_t)from;
	*n = (uint32_t)sqlite3_column_int64(r->fetch, 1);
	return sqlite_blob(r->fetch, 2, bytes, size);
}

/* ---- series ---- */

/* Takes a series if the query's filter wants it, with the values of the labels that rows are
 * grouped by. */
static int sqlite_read_one_series(struct sqlite_reading *r, int64_t id, struct labels *labels)
{
	const char *comm = labels_get(labels, "comm");
	struct buf label = { 0 };
	uint32_t c, l;

	/* A filter is about labels, so it is asked once for a series and not for each of its
	 * counts. */
	if (!labels_match(r->q->where, labels))
		return 0;
	if (r->q->by)
		r->label(labels, r->q->by, &label);
	c = intern_text(&r->texts, comm ? comm : "");
	l = label.failed ? INTERN_FAILED : intern_text(&r->texts, buf_text(&label));
	buf_free(&label);
	if (c == INTERN_FAILED || l == INTERN_FAILED)
		return -ENOMEM;
	r->found->series++;
	return map_put(&r->series, (uint64_t)id, (uint64_t)c << 32 | l);
}

/* Finds the series of the names that are asked for. -errno. */
static int sqlite_read_series(struct sqlite_reading *r)
{
	sqlite3_stmt *statement =
	        sqlite_prepare(r->s, "SELECT id, labels FROM series WHERE epoch = ?1", r->err);
	int rc;

	if (!statement)
		return -r->err->code;
	sqlite3_bind_int64(statement, 1, r->names);
	while ((rc = sqlite_step(r->s, statement, r->err)) > 0) {
		struct labels labels = { 0 };
		const void *bytes;
		size_t n;

		rc = sqlite_blob(statement, 1, &bytes, &n);
		if (rc >= 0)
			rc = labels_take(&labels, bytes, n);
		if (rc >= 0)
			rc = sqlite_read_one_series(r, sqlite3_column_int64(statement, 0), &labels);
		labels_free(&labels);
		if (rc < 0)
			break;
	}
	sqlite3_finalize(statement);
	return rc == -EBADMSG ? sqlite_bad(r) : rc;
}

/* ---- counts ---- */

/* The group of the counts that are read: the same for all of one row and state. POOL_FAILED. */
static uint32_t sqlite_group(struct sqlite_reading *r, uint32_t state)
{
	/* What rows of the answer have in common. */
	const uint64_t id = r->sums_to ? r->series_id : 0;
	const struct sqlite_group_key key = { (uint32_t)(r->at >> 32),
		                              (uint32_t)r->at,
		                              r->event,
		                              state,
		                              r->slice,
		                              { (uint32_t)(id >> 32), (uint32_t)id } };

	if (lookup_need(&r->lookup, BLOCKS_STRINGS, state) < 0)
		return POOL_FAILED;
	return pool_put(&r->groups, &key);
}

/* Adds a count to those of its stack, which is looked up later, when all are known. -ENOMEM,
 * -EBADMSG. */
static int sqlite_add(void *ctx, const struct blocks_count *count)
{
	struct sqlite_reading *r = ctx;
	struct sums_row row = { .node = count->node,
		                .samples = count->samples,
		                .weight = count->weight };
	int rc;

	if (!r->group || r->state != count->state) {
		r->group = sqlite_group(r, count->state);
		r->state = count->state;
	}
	if (r->group == POOL_FAILED)
		return -ENOMEM;
	row.group = r->group;
	rc = lookup_stacks_need(&r->epoch->stacks, count->node);
	return rc < 0 ? rc : sums_add(&r->sums, &row);
}

/* A counted_reader's group: it is wanted if its series is. */
static int sqlite_read_group(void *ctx, const struct counted_head *head)
{
	struct sqlite_reading *r = ctx;
	int rc;

	if (!map_get(&r->series, head->series, &r->at))
		return 0;
	/* The number comes from the file: a string's begins at 1, and one that is too large would
	 * not fit into the lists. */
	if (head->event < 2 || head->event >= (uint64_t)2 * BLOCKS_THINGS_MAX)
		return -EBADMSG;
	r->event = (uint32_t)head->event;
	r->series_id = head->series;
	r->group = 0;
	rc = lookup_need(&r->lookup, BLOCKS_STRINGS, r->event >> 1);
	return rc < 0 ? rc : 1;
}

/* A statement about windows of the query's span: ?1 and ?2 its ends, ?3 the epoch. */
static sqlite3_stmt *sqlite_prepare_span(const struct sqlite_reading *r, const char *sql)
{
	sqlite3_stmt *statement = sqlite_prepare(r->s, sql, r->err);

	if (statement) {
		sqlite_bind_span(statement, r->q);
		sqlite3_bind_int64(statement, 3, r->epoch ? r->epoch->id : 0);
	}
	return statement;
}

/* ---- windows ---- */

/* Adds a window's counts to those of its epoch, and its time to what was found. */
static int sqlite_read_window(struct sqlite_reading *r, sqlite3_stmt *statement)
{
	uint64_t from = (uint64_t)sqlite3_column_int64(statement, 0);
	uint64_t to = (uint64_t)sqlite3_column_int64(statement, 1);
	struct store_found *f = r->found;
	const void *data;
	struct cursor c;
	size_t n;

	if (sqlite_blob(statement, 2, &data, &n) < 0)
		return -ENOMEM;
	c = cursor_of(data, n, false);
	if (!f->windows++ || from < f->first_ns)
		f->first_ns = from;
	if (to > f->last_ns)
		f->last_ns = to;
	/* The data is pairs of numbers: a count's name, and its value. */
	while (cursor_left(&c)) {
		uint64_t name = leb_unsigned(&c), value = leb_unsigned(&c), *slot;
		int rc;

		if (c.failed || name >= BLOCKS_THINGS_MAX)
			return -EBADMSG;
		rc = lookup_need(&r->lookup, BLOCKS_STRINGS, (uint32_t)name);
		slot = map_slot(&r->counts, name, NULL);
		if (rc < 0 || !slot)
			return rc < 0 ? rc : -ENOMEM;
		*slot += value;
	}
	return 0;
}

/* In which part of the span something begins. */
static uint32_t sqlite_slice(const struct sqlite_reading *r, uint64_t from_ns)
{
	return r->q->slice_ns ? (uint32_t)((from_ns - r->q->from_ns) / r->q->slice_ns)
	                      : PROFILE_NOT_KEPT;
}

/* ---- sums ---- */

/* A frame of a part is needed. -ENOMEM. */
static int sqlite_need_place(struct sqlite_reading *r, uint32_t place)
{
	const uint32_t id = place - SUMMED_FRAMES + 1;

	if (place < SUMMED_FRAMES || lookup_needs(&r->lookup, BLOCKS_FRAMES, id))
		return 0;
	return lookup_need(&r->lookup, BLOCKS_FRAMES, id);
}

/* Looks which frames are asked for of a part's group. -errno; -EBADMSG. */
static int sqlite_need_places(struct sqlite_reading *r, const struct summed_piece *piece)
{
	struct cursor tops = piece->tops, nameless = piece->nameless, totals = piece->totals.places;
	struct summed_top top = { 0 };
	struct summed_nameless unnamed = { 0 };
	uint32_t place = 0;
	unsigned has;
	int rc = 0;

	while (rc >= 0 && summed_next_top(&tops, &top))
		rc = sqlite_need_place(r, top.place);
	while (rc >= 0 && summed_next_nameless(&nameless, &unnamed))
		rc = sqlite_need_place(r, unnamed.place);
	/* Each frame that is on a stack has a total. */
	while (rc >= 0 && summed_next_place(&totals, &place, &has))
		rc = sqlite_need_place(r, place);
	if (rc >= 0 && (tops.failed || nameless.failed || totals.failed))
		rc = -EBADMSG;
	return rc;
}

/* Takes what a part has of one series, event and state, if it is wanted. -errno. */
static int sqlite_take_piece(struct sqlite_reading *r, struct summed_piece *piece)
{
	const struct counted_head head = { piece->head.series, piece->head.event, 0 };
	int rc = sqlite_read_group(r, &head);

	if (rc <= 0)
		return rc;
	piece->group = sqlite_group(r, piece->head.state);
	return piece->group == POOL_FAILED ? -ENOMEM : sqlite_need_places(r, piece);
}

/* Takes what is wanted of sums of a time, which are the reading's then. -errno. */
static int sqlite_take_summed(struct sqlite_reading *r, struct summed *sums, uint64_t from_ns)
{
	int rc = ARRAY_ROOM(&r->summed, &r->summed_room, r->n_summed + 1);

	r->slice = sqlite_slice(r, from_ns);
	for (size_t k = 0; k < sums->n && rc >= 0; k++)
		rc = sqlite_take_piece(r, &sums->pieces[k]);
	if (rc < 0)
		return rc;
	r->summed[r->n_summed++] = *sums;
	*sums = (struct summed){ 0 };
	return 0;
}

/* Takes the parts that are in the span. -errno. */
static int sqlite_take_parts(struct sqlite_reading *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->parts.n && rc >= 0; i++)
		rc = sqlite_take_summed(r, &r->parts.sums[i], r->parts.of[i].from_ns);
	return rc;
}

/* Takes what a window has beside it, if that will do. 1; 0: its counts are to be read; -errno. */
static int sqlite_take_beside(struct sqlite_reading *r, sqlite3_stmt *window)
{
	struct summed sums = { 0 };
	int rc = r->summable ? sqlite_beside_open(&r->beside, sqlite3_column_int64(window, 3),
	                                          &sums, r->err)
	                     : 0;

	if (rc <= 0)
		return rc;
	rc = r->sums_to ? summing_add(r->sums_to, &sums)
	                : sqlite_take_summed(r, &sums, (uint64_t)sqlite3_column_int64(window, 0));
	summed_free(&sums);
	return rc < 0 ? rc : 1;
}

/* Finds the parts of these epochs' names that can stand for windows of the span. -errno. */
static int sqlite_find_parts(struct sqlite_reading *r, const struct sqlite_epoch *epochs, size_t n)
{
	int rc = 0;

	if (!r->summable || r->sums_to)
		return 0;
	r->parts.heads = r->heads;
	rc = sqlite_parts_find(&r->parts, r->s, r->names, r->q, r->err);
	for (size_t i = 0; i < n && r->parts.n && rc >= 0; i++)
		rc = sqlite_parts_check(&r->parts, r->s, epochs[i].id, r->err);
	return rc < 0 ? rc : sqlite_parts_load(&r->parts, r->s, r->err);
}

/* ---- windows of an epoch ---- */

/* Reads what was counted in a window, unless sums beside it will do. -errno. */
static int sqlite_read_counts(struct sqlite_reading *r, sqlite3_stmt *statement)
{
	const struct counted_reader to = { sqlite_read_group, sqlite_add, r };
	int rc = sqlite_take_beside(r, statement);

	if (rc)
		return rc;
	r->slice = sqlite_slice(r, (uint64_t)sqlite3_column_int64(statement, 0));
	return sqlite_counts_each(&r->counts_of, sqlite3_column_int64(statement, 3), &to, r->err);
}

/* Reads the windows of one epoch. -errno. */
static int sqlite_read_windows(struct sqlite_reading *r)
{
	sqlite3_stmt *statement =
	        sqlite_prepare_span(r, "SELECT from_ns, to_ns, data, id FROM windows "
	                               "WHERE from_ns >= ?1 AND from_ns < ?2 AND epoch = ?3");
	int rc;

	if (!statement)
		return -r->err->code;
	while ((rc = sqlite_step(r->s, statement, r->err)) > 0) {
		rc = sqlite_read_window(r, statement);
		if (rc >= 0 &&
		    !sqlite_parts_have(&r->parts, (uint64_t)sqlite3_column_int64(statement, 0)))
			rc = sqlite_read_counts(r, statement);
		if (rc < 0)
			break;
	}
	sqlite3_finalize(statement);
	return rc;
}

/* ---- into the profile ---- */

/* Names a group as rows of the profile have it. -ENOMEM. */
static int sqlite_group_to_key(struct sqlite_reading *r, const struct sqlite_group_key *g,
                               struct profile_key *ret)
{
	struct profile *p = r->into;
	struct profile_key key = { .cpu = PROFILE_NOT_KEPT,
		                   .slice = g->slice,
		                   .cgroup = PROFILE_NOT_KEPT,
		                   .label = PROFILE_NOT_KEPT };
	uint32_t comm = profile_string(p, intern_get(&r->texts, g->comm));

	key.event = profile_event_in(p, lookup_text(&r->lookup, g->event >> 1),
	                             g->event & 1 ? PROFILE_NANOSECONDS : PROFILE_COUNT);
	key.task = comm == PROFILE_FAILED ? comm : profile_task(p, comm, 0, 0);
	key.state = found_state(p, lookup_text(&r->lookup, g->state));
	if (profile_keeps(p) & PROFILE_KEEP_LABEL)
		key.label = profile_string(p, intern_get(&r->texts, g->label));
	if (key.event == PROFILE_FAILED || key.task == PROFILE_FAILED ||
	    key.state == PROFILE_FAILED)
		return -ENOMEM;
	*ret = key;
	return 0;
}

/* Where rows of a list go. */
struct sqlite_rows {
	struct profile_key key; /* of the group */
	uint32_t group;
	uint32_t nodes_before; /* that the profile had; UINT32_MAX: rows must be looked for */
	bool first;            /* it had no rows */
	struct pool keys;      /* of groups: two that are the same have the same rows */
};

/* Goes over to another group. -errno. */
static int sqlite_rows_of(struct sqlite_reading *r, struct sqlite_rows *rows, uint32_t group)
{
	int rc = sqlite_group_to_key(r, pool_at(&r->groups, group), &rows->key);
	const size_t n = rows->keys.n;

	if (rc < 0)
		return rc;
	rows->group = group;
	rows->key.node = PROFILE_ROOT;
	if (pool_put(&rows->keys, &rows->key) == POOL_FAILED)
		return -ENOMEM;
	if (rows->keys.n == n)
		rows->nodes_before = UINT32_MAX;
	return 0;
}

/* A list has a row once, so where its stack is new in the profile, it is new. -ENOMEM. */
static int sqlite_add_row(struct sqlite_reading *r, struct sqlite_rows *rows,
                          const struct sums_row *row, uint32_t node)
{
	const bool is_new = rows->nodes_before != UINT32_MAX && !r->lookup.alike &&
	                    (rows->first || node > rows->nodes_before);

	rows->key.node = node;
	return (is_new ? profile_add_new : profile_add)(r->into, &rows->key, row->samples,
	                                                row->weight);
}

/* Adds the rows of a list to the profile, whose nodes are made first: in the order of the list, so
 * that an answer is the same each time. -errno. */
static int sqlite_add_rows(struct sqlite_reading *r, struct joined *j)
{
	struct lookup_stacks stacks = { .sorted = true, .list.highest = j->n, .nodes = j->nodes };
	struct sqlite_rows rows = { .nodes_before = (uint32_t)profile_n_nodes(r->into),
		                    .first = !profile_n_rows(r->into),
		                    .keys.size = sizeof(struct profile_key) };
	int rc = lookup_make(&r->lookup, &stacks, r->into);

	if (rc >= 0)
		rc = profile_room(r->into, j->sums.n);
	for (size_t i = 0; i < j->sums.n && rc >= 0; i++) {
		const struct sums_row *row = &j->sums.rows[i];

		if (rows.group != row->group)
			rc = sqlite_rows_of(r, &rows, row->group);
		if (lookup_is_folded(&stacks, row->node))
			r->folded += row->samples;
		if (rc >= 0)
			rc = sqlite_add_row(r, &rows, row, lookup_node(&stacks, row->node));
	}
	pool_free(&rows.keys);
	j->nodes = NULL; /* they went with the stacks */
	lookup_stacks_free(&stacks);
	return rc;
}

/* Adds the rows of all lists, without their stacks. -errno. */
static int sqlite_add_flat(struct sqlite_reading *r)
{
	const uint32_t n = r->groups.n;
	struct profile_key *keys = calloc((size_t)n + 1, sizeof(*keys));
	const struct unstacked_from from = {
		r->lists, r->n_lists, r->summed, r->n_summed, { keys, n }
	};
	int rc = keys ? 0 : -ENOMEM;

	for (uint32_t group = 1; group <= n && rc >= 0; group++)
		rc = sqlite_group_to_key(r, pool_at(&r->groups, group), &keys[group]);
	if (rc >= 0)
		rc = unstacked_add(r->q->flat, r->into, &r->lookup, &from, &r->folded);
	free(keys);
	return rc;
}

/* Adds all lists to the sums that are made. -errno. */
static int sqlite_add_sums(struct sqlite_reading *r)
{
	struct summed_head *heads = calloc((size_t)r->groups.n + 1, sizeof(*heads));
	const struct summing_stacks stacks = {
		r->q->flat, r->into, &r->lookup, r->lists, r->n_lists, heads,
	};
	int rc = heads ? 0 : -ENOMEM;

	for (uint32_t group = 1; group <= r->groups.n && rc >= 0; group++) {
		const struct sqlite_group_key *g = pool_at(&r->groups, group);

		heads[group] = (struct summed_head){ (uint64_t)g->series[0] << 32 | g->series[1],
			                             g->event, g->state };
	}
	if (rc >= 0)
		rc = summing_add_stacks(r->sums_to, &stacks);
	free(heads);
	return rc;
}

/* Adds all counts of windows, whose names are known only now. */
static int sqlite_add_counts(const struct sqlite_reading *r)
{
	uint64_t name, value;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && map_next(&r->counts, &i, &name, &value);)
		rc = found_add_count(r->found, lookup_text(&r->lookup, (uint32_t)name), value);
	return rc;
}

/* ---- the whole ---- */

/* What belongs to epochs of the same names; the next ones begin anew. */
static void sqlite_reading_clear(struct sqlite_reading *r)
{
	lookup_free(&r->lookup);
	map_free(&r->series);
	pool_free(&r->groups);
	map_free(&r->counts);
	named_free(&r->named);
	sqlite_parts_free(&r->parts);
	for (size_t i = 0; i < r->n_summed; i++)
		summed_free(&r->summed[i]);
	r->n_summed = 0;
	for (size_t i = 0; i < SQLITE_LISTS; i++)
		joined_free(&r->lists[i]);
	r->n_lists = r->n_nodes = 0;
}

/* What the span has of one epoch. Numbers that are met are noted first, then all are looked up at
 * once. */
static int sqlite_read_epoch(struct sqlite_reading *r, struct sqlite_epoch *e)
{
	int rc;

	r->epoch = e;
	rc = sqlite_read_windows(r);
	if (rc >= 0)
		rc = lookup_stacks_load(&r->lookup, &e->stacks);
	if (rc >= 0 && r->q->innermost)
		rc = innermost_take(&e->stacks, &r->sums);
	else if (rc >= 0 && r->q->function)
		rc = named_take(&r->named, &r->lookup, &e->stacks, &r->sums);
	if (rc >= 0)
		rc = joined_take(&r->lists[r->n_lists], &e->stacks, &r->sums);
	lookup_stacks_free(&e->stacks);
	if (rc < 0)
		return rc;
	r->n_nodes += r->lists[r->n_lists++].n;
	if (r->n_lists < SQLITE_LISTS && r->n_nodes < SQLITE_NODES)
		return 0;
	rc = joined_all(r->lists, r->n_lists);
	r->n_lists = 1;
	/* What is left counts for nothing, so that it is not walked over for each list again. */
	r->n_nodes = 0;
	return rc;
}

/* What the span has of n epochs with the same names, which are fetched once. */
static int sqlite_read_names(struct sqlite_reading *r, struct sqlite_epoch *epochs, size_t n)
{
	int rc;

	r->names = epochs->names;
	lookup_start(&r->lookup, sqlite_fetch, r);
	r->lookup.functions = r->summable;
	r->groups = (struct pool){ .size = sizeof(struct sqlite_group_key) };
	rc = sqlite_read_series(r);
	if (rc >= 0 && r->q->function)
		rc = named_find(&r->named, &r->lookup, r->q->function);
	if (rc >= 0)
		rc = sqlite_find_parts(r, epochs, n);
	if (rc >= 0)
		rc = sqlite_take_parts(r);
	for (size_t i = 0; i < n && rc >= 0; i++)
		rc = sqlite_read_epoch(r, &epochs[i]);
	if (rc >= 0 && !r->q->flat)
		rc = joined_all(r->lists, r->n_lists);
	if (rc >= 0)
		rc = lookup_load(&r->lookup);
	/* Only now can anything be added, by the profile's own numbers. */
	if (rc >= 0)
		rc = r->sums_to   ? sqlite_add_sums(r)
		     : r->q->flat ? sqlite_add_flat(r)
		                  : sqlite_add_rows(r, &r->lists[0]);
	if (rc >= 0)
		rc = sqlite_add_counts(r);
	sqlite_reading_clear(r);
	return rc == -EBADMSG && !r->err->code ? sqlite_bad(r) : rc;
}

/* From when to when the store has windows. */
static int sqlite_read_held(struct sqlite_reading *r)
{
	sqlite3_stmt *statement =
	        sqlite_prepare(r->s,
	                       "SELECT (SELECT min(from_ns) FROM windows), to_ns FROM windows "
	                       "ORDER BY from_ns DESC LIMIT 1",
	                       r->err);
	int rc = statement ? sqlite_step(r->s, statement, r->err) : -r->err->code;

	if (rc > 0) {
		r->found->held_first_ns = (uint64_t)sqlite3_column_int64(statement, 0);
		r->found->held_last_ns = (uint64_t)sqlite3_column_int64(statement, 1);
	}
	sqlite3_finalize(statement);
	return rc < 0 ? rc : 0;
}

/* The epochs that have windows in the span, by their names, then by themselves. */
static int sqlite_read_epochs(struct sqlite_reading *r)
{
	/* ?3 is the epoch of the other statements, and 0 here. */
	sqlite3_stmt *statement = sqlite_prepare_span(
	        r, "SELECT id, names, step_ns FROM epochs WHERE id IN (SELECT epoch FROM windows "
	           "WHERE from_ns >= ?1 AND from_ns < ?2) AND ?3 = 0 ORDER BY names, id");
	int rc;

	if (!statement)
		return -r->err->code;
	while ((rc = sqlite_step(r->s, statement, r->err)) > 0) {
		if (r->sums_to && sqlite3_column_int64(statement, 1) != r->only)
			continue;
		rc = ARRAY_ROOM(&r->epochs, &r->capacity, r->n_epochs + 1);
		if (rc < 0)
			break;
		r->epochs[r->n_epochs++] = (struct sqlite_epoch){
			.id = sqlite3_column_int64(statement, 0),
			.names = sqlite3_column_int64(statement, 1),
			.stacks = { .sorted = sqlite3_column_int64(statement, 2) != 0,
			            .innermost = r->q->innermost },
		};
	}
	sqlite3_finalize(statement);
	return rc;
}

/* Reads all epochs, those of the same names together. -errno. */
static int sqlite_read_all(struct sqlite_reading *r)
{
	int rc = sqlite_read_held(r);

	if (rc >= 0)
		rc = sqlite_read_epochs(r);
	for (size_t from = 0, n; from < r->n_epochs && rc >= 0; from += n) {
		for (n = 1;
		     from + n < r->n_epochs && r->epochs[from + n].names == r->epochs[from].names;)
			n++;
		rc = sqlite_read_names(r, &r->epochs[from], n);
	}
	if (rc >= 0 && r->folded)
		rc = found_add_count(r->found, STORE_FOLDED, r->folded);
	return rc;
}

/* Reads what the query asks for, in the transaction of the caller. -errno. */
static int sqlite_reading_run(struct sqlite_reading *r)
{
	enum summed_way way;
	int rc;

	r->summable = r->sums_to || (r->q->flat && unstacked_way(r->q->flat->columns, &way));
	r->heads = !r->sums_to && r->summable && !unstacked_tells_frames(r->q->flat->columns);
	r->fetch = sqlite_prepare(r->s,
	                          "SELECT id, n, data FROM blocks WHERE id <= ?1 AND "
	                          "id >= ?2 ORDER BY id DESC LIMIT 1",
	                          r->err);
	rc = r->fetch ? sqlite_counts_start(&r->counts_of, r->s, r->err) : -r->err->code;
	if (rc >= 0)
		rc = sqlite_beside_start(&r->beside, r->s, r->err);
	r->beside.heads = r->heads;
	if (rc >= 0)
		rc = sqlite_read_all(r);
	sqlite3_finalize(r->fetch);
	sqlite_counts_end(&r->counts_of);
	sqlite_beside_end(&r->beside);
	free(r->summed);
	sums_free(&r->sums);
	intern_free(&r->texts);
	free(r->epochs);
	return rc;
}

/* Reads what the query asks for into the profile. */
int sqlite_read_by(const struct sqlite_store *s, const struct store_query *q,
                   void (*label)(const struct labels *l, const char *by, struct buf *out),
                   struct profile *into, struct store_found *ret, struct seam_error *err)
{
	struct seam_error why = { 0 };
	struct sqlite_reading r = {
		.s = s, .q = q, .label = label, .into = into, .found = ret, .err = &why
	};
	int rc;

	/* One transaction sees one state of the store, however long it takes. */
	if (sqlite3_exec(r.s->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		rc = sqlite_fail(r.s, &why);
	else
		rc = sqlite_reading_run(&r);
	/* Nothing was written: this ends the view of that one state. */
	sqlite3_exec(r.s->db, "COMMIT", NULL, NULL, NULL);
	if (rc < 0 && err)
		*err = why;
	return rc;
}

/* The profile that is made has frames alone, and is of no use behind that. */
int sqlite_read_sums(const struct sqlite_store *s, const struct store_query *q, int64_t names,
                     struct summing *to, struct seam_error *err)
{
	struct store_found found = { 0 };
	struct sqlite_reading r = {
		.s = s, .q = q, .label = labels_values, .found = &found, .err = err
	};
	int rc = profile_new(&r.into, 0);

	r.sums_to = to;
	r.only = names;
	if (rc >= 0)
		rc = sqlite_reading_run(&r);
	store_found_free(&found);
	profile_free(r.into);
	return rc;
}

int sqlite_read(void *store, const struct store_query *q, struct profile *into,
                struct store_found *ret, struct seam_error *err)
{
	return sqlite_read_by(store, q, labels_values, into, ret, err);
}
