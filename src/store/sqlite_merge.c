// SPDX-License-Identifier: MIT
/*
 * sqlite_merge.c: see sqlite_merge.h. Stacks of all sources go into one tree, which is sorted; then
 * windows are read in order of time, those of a step together, and written with the new numbers of
 * their nodes. Names, events, states and series keep their numbers. Nothing is summed up that a
 * reader would not have summed up.
 */
#include "store/sqlite_merge.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/leb.h"
#include "store/parts/sqlite_beside.h"
#include "store/sqlite_counts.h"
#include "store/stacks/folded.h"
#include "store/stacks/lookup.h"
#include "store/stacks/sorted.h"

#define MINUTE_NS (60ULL * 1000000000)
/* What a node and a count take, with names, pages and the nodes that stand for what was folded: of
 * a simulated hour of 64 CPUs somewhat less. And of all bytes, what nodes have at least. */
#define NODE_BYTES 1.1
#define COUNT_BYTES 1
#define NODES_PART 3

struct merge_window {
	int64_t id;
	uint64_t from_ns, to_ns;
	size_t source;
};

/* A count with what it is of. */
struct merge_count {
	uint64_t series, event;
	struct blocks_count count;
};

struct sqlite_merging {
	const struct sqlite_store *s;
	const struct sqlite_merge_opts *o;
	struct seam_error *err;
	int64_t epoch;       /* that is made */
	uint32_t **new_node; /* by source, then by its node */
	uint32_t *n_nodes;   /* of each source: the highest that is needed */
	struct pool tree;    /* of all; then the numbers of its nodes in sorted order */
	uint32_t *number;
	uint32_t *samples; /* by node of the tree; then with all below it */
	size_t samples_capacity;
	struct blocks_node *sorted;   /* the tree as it is written */
	uint64_t folded;              /* samples */
	bool folds;                   /* more than its sources did */
	uint64_t n_read;              /* counts, before those of a step are added up */
	struct merge_window *windows; /* of all, in order of time */
	size_t n_windows, windows_capacity;
	/* of the step that is made */
	struct merge_count *counts;
	size_t n_counts, counts_capacity, source;
	uint64_t series, event; /* of the group that is read */
	struct map names;       /* of the windows' own counts: string -> value */
	/* of the source that is read */
	struct lookup_stacks stacks;
	uint32_t *met; /* samples by its node */
	size_t met_capacity;
	sqlite3_stmt *fetch;
	struct sqlite_counts reading;
	struct sqlite_beside beside;
};

/* ---- stacks ---- */

/* A lookup_fetch of nodes. */
static int merge_fetch(void *ctx, enum blocks_kind kind, uint32_t id, uint32_t *first, uint32_t *n,
                       const void **bytes, size_t *size)
{
	const struct sqlite_merging *m = ctx;
	const int64_t list = SQLITE_BLOCK_ID(m->o->sources[m->source].id, kind, 0);
	int got;

	sqlite3_reset(m->fetch);
	sqlite3_bind_int64(m->fetch, 1, list + id);
	sqlite3_bind_int64(m->fetch, 2, list);
	got = sqlite_step(m->s, m->fetch, m->err);
	if (got <= 0)
		return got < 0 ? got : -ENOENT;
	*first = (uint32_t)(sqlite3_column_int64(m->fetch, 0) - list);
	*n = (uint32_t)sqlite3_column_int64(m->fetch, 1);
	return sqlite_blob(m->fetch, 2, bytes, size);
}

/* A counted_reader's group: all are wanted. */
static int merge_any_group(void *ctx, const struct counted_head *head)
{
	struct sqlite_merging *m = ctx;

	m->series = head->series;
	m->event = head->event;
	return 1;
}

static int merge_need(void *ctx, const struct blocks_count *count)
{
	struct sqlite_merging *m = ctx;
	int r = lookup_stacks_need(&m->stacks, count->node);

	m->n_read++;
	if (r >= 0)
		r = ARRAY_ROOM_ZEROED(&m->met, &m->met_capacity, (size_t)count->node + 1);
	if (r >= 0)
		folded_add(&m->met[count->node], count->samples);
	return r;
}

/* Marks the nodes that windows of the source have: some may have been forgotten. */
static int merge_need_nodes(struct sqlite_merging *m)
{
	const struct counted_reader to = { merge_any_group, merge_need, m };
	sqlite3_stmt *statement =
	        sqlite_prepare(m->s, "SELECT id FROM windows WHERE epoch = ?1", m->err);
	int r;

	if (!statement)
		return -m->err->code;
	sqlite3_bind_int64(statement, 1, m->o->sources[m->source].id);
	while ((r = sqlite_step(m->s, statement, m->err)) > 0) {
		r = sqlite_counts_each(&m->reading, sqlite3_column_int64(statement, 0), &to,
		                       m->err);
		if (r < 0)
			break;
	}
	sqlite3_finalize(statement);
	return r;
}

/* Puts the nodes of the source into the tree. Parents come first, as their numbers are less. */
static int merge_put_nodes(struct sqlite_merging *m)
{
	const uint32_t n = m->stacks.list.highest;
	uint32_t *to = calloc((size_t)n + 1, sizeof(*to));

	m->new_node[m->source] = to;
	m->n_nodes[m->source] = n;
	for (uint32_t id = 1; id <= n && to; id++) {
		const struct blocks_node *node = &m->stacks.nodes[id];
		const struct blocks_node put = { to[node->parent], node->frame };

		if (!node->frame)
			continue;
		to[id] = pool_put(&m->tree, &put);
		if (to[id] >= BLOCKS_THINGS_MAX ||
		    ARRAY_ROOM_ZEROED(&m->samples, &m->samples_capacity, (size_t)to[id] + 1) < 0)
			return -ENOMEM;
		if (id < m->met_capacity)
			folded_add(&m->samples[to[id]], m->met[id]);
	}
	return to ? 0 : -ENOMEM;
}

/* Reads the stacks of one source. -errno. */
static int merge_source(struct sqlite_merging *m)
{
	struct lookup names;
	int r;

	lookup_start(&names, merge_fetch, m);
	m->stacks.sorted = m->o->sources[m->source].sorted;
	r = merge_need_nodes(m);
	if (r >= 0)
		r = lookup_stacks_load(&names, &m->stacks);
	if (r >= 0)
		r = merge_put_nodes(m);
	lookup_free(&names);
	lookup_stacks_free(&m->stacks);
	free(m->met);
	m->met = NULL;
	m->met_capacity = 0;
	return r;
}

/* Folds the stacks that were met least, if there are too many nodes for their time. -ENOMEM. */
static int merge_fold(struct sqlite_merging *m, uint32_t most)
{
	uint32_t *to = calloc((size_t)m->tree.n + 1, sizeof(*to));
	int r = to ? folded_fold(&m->tree, m->samples, most, to) : -ENOMEM;

	for (size_t i = 0; i < m->o->n && r > 0; i++)
		for (uint32_t id = 1; id <= m->n_nodes[i]; id++)
			m->new_node[i][id] = to[m->new_node[i][id]];
	free(to);
	m->folds = r > 0;
	return r < 0 ? r : 0;
}

/* Writes a block of sorted nodes. -errno. */
static int merge_put_block(struct sqlite_merging *m, const struct blocks_node *nodes,
                           uint32_t first, uint32_t n)
{
	const int64_t numbers[] = { SQLITE_BLOCK_ID(m->epoch, BLOCKS_NODES, first), n };
	struct buf plain = { 0 }, packed = { 0 };
	int r = sorted_put(&plain, nodes, first, n);

	if (r >= 0)
		r = blocks_pack(&packed, &plain, BLOCKS_WELL);
	if (r >= 0)
		r = sqlite_insert_blob(m->s, "INSERT INTO blocks (id, n, data) VALUES (?1, ?2, ?3)",
		                       numbers, 2, &packed, m->err);
	buf_free(&plain);
	buf_free(&packed);
	return r;
}

/* Sorts the tree and writes it. -errno. */
static int merge_put_tree(struct sqlite_merging *m)
{
	const uint32_t n = m->tree.n;
	struct blocks_node *nodes = calloc((size_t)n + 1, sizeof(*nodes));
	struct blocks_node *sorted = calloc((size_t)n + 1, sizeof(*sorted));
	int r = nodes && sorted ? 0 : -ENOMEM;

	m->sorted = sorted;
	m->number = calloc((size_t)n + 1, sizeof(*m->number));
	if (!m->number)
		r = -ENOMEM;
	for (uint32_t id = 1; id <= n && r >= 0; id++)
		nodes[id] = *(const struct blocks_node *)pool_at(&m->tree, id);
	pool_free(&m->tree);
	if (r >= 0)
		r = sorted_numbers(m->number, nodes, n);
	for (uint32_t id = 1; id <= n && r >= 0; id++)
		sorted[m->number[id]] =
		        (struct blocks_node){ m->number[nodes[id].parent], nodes[id].frame };
	free(nodes);
	for (uint32_t first = 1; first <= n && r >= 0; first += SORTED_BLOCK)
		r = merge_put_block(m, sorted, first,
		                    n - first < SORTED_BLOCK ? n - first + 1 : SORTED_BLOCK);
	return r;
}

/* ---- windows ---- */

/* By time. */
static int merge_windows_order(const void *a, const void *b)
{
	const struct merge_window *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Finds the windows of a source. -errno. */
static int merge_find_windows_of(struct sqlite_merging *m, size_t source)
{
	sqlite3_stmt *statement =
	        sqlite_prepare(m->s, "SELECT id, from_ns, to_ns FROM windows WHERE epoch = ?1",
	                       m->err);
	int r;

	if (!statement)
		return -m->err->code;
	sqlite3_bind_int64(statement, 1, m->o->sources[source].id);
	while ((r = sqlite_step(m->s, statement, m->err)) > 0) {
		r = ARRAY_ROOM(&m->windows, &m->windows_capacity, m->n_windows + 1);
		if (r < 0)
			break;
		m->windows[m->n_windows++] = (struct merge_window){
			.id = sqlite3_column_int64(statement, 0),
			.from_ns = (uint64_t)sqlite3_column_int64(statement, 1),
			.to_ns = (uint64_t)sqlite3_column_int64(statement, 2),
			.source = source
		};
	}
	sqlite3_finalize(statement);
	return r;
}

/* The same of all sources, by time. -errno. */
static int merge_find_windows(struct sqlite_merging *m)
{
	int r = 0;

	for (size_t i = 0; i < m->o->n && r >= 0; i++)
		r = merge_find_windows_of(m, i);
	if (m->n_windows)
		qsort(m->windows, m->n_windows, sizeof(*m->windows), merge_windows_order);
	return r;
}

/* Notes a count with its node's new number. */
static int merge_take_count(void *ctx, const struct blocks_count *count)
{
	struct sqlite_merging *m = ctx;
	struct merge_count *to;

	if (count->node > m->n_nodes[m->source])
		return -EBADMSG;
	if (ARRAY_ROOM(&m->counts, &m->counts_capacity, m->n_counts + 1) < 0)
		return -ENOMEM;
	to = &m->counts[m->n_counts++];
	*to = (struct merge_count){ .series = m->series, .event = m->event, .count = *count };
	to->count.node = m->number[m->new_node[m->source][count->node]];
	if (m->sorted[to->count.node].frame == BLOCKS_FOLDED)
		m->folded += count->samples;
	return 0;
}

/* Reads all counts of a window. -errno. */
static int merge_take_counts(struct sqlite_merging *m, const struct merge_window *w)
{
	const struct counted_reader to = { merge_any_group, merge_take_count, m };

	m->source = w->source;
	return sqlite_counts_each(&m->reading, w->id, &to, m->err);
}

/* Adds a window's own counts to those of its step. */
static int merge_take_names(struct sqlite_merging *m, struct cursor c)
{
	while (cursor_left(&c)) {
		uint64_t name = leb_unsigned(&c), value = leb_unsigned(&c);
		uint64_t *slot = map_slot(&m->names, name, NULL);

		if (!slot || c.failed)
			return slot ? -EBADMSG : -ENOMEM;
		*slot += value;
	}
	return 0;
}

/* Adds the begins of a window to those of its step, the last of which is *at. */
static int merge_take_begins(const struct merge_window *w, struct cursor c, uint64_t *at,
                             struct buf *begins)
{
	if (*at != w->from_ns)
		blocks_put_number(begins, w->from_ns - *at);
	*at = w->from_ns;
	while (cursor_left(&c)) {
		uint64_t step = leb_unsigned(&c);

		if (c.failed || step > SQLITE_STEP_MOST_NS)
			return -EBADMSG;
		blocks_put_number(begins, step);
		*at += step;
	}
	return 0;
}

/* A column's bytes. -ENOMEM. */
static int merge_blob(sqlite3_stmt *statement, int column, struct cursor *ret)
{
	const void *bytes;
	size_t n;
	int r = sqlite_blob(statement, column, &bytes, &n);

	*ret = cursor_of(bytes, n, false);
	return r;
}

/* Adds all of a window to its step. -errno. */
static int merge_take_window(struct sqlite_merging *m, const struct merge_window *w, uint64_t *at,
                             struct buf *begins)
{
	sqlite3_stmt *statement =
	        sqlite_prepare(m->s, "SELECT data, begins FROM windows WHERE id = ?1", m->err);
	struct cursor names = { 0 }, other_begins;
	int r;

	if (!statement)
		return -m->err->code;
	sqlite3_bind_int64(statement, 1, w->id);
	r = sqlite_step(m->s, statement, m->err);
	if (r > 0)
		r = merge_blob(statement, 0, &names);
	if (r >= 0)
		r = merge_take_names(m, names);
	if (r >= 0)
		r = merge_blob(statement, 1, &other_begins);
	if (r >= 0)
		r = merge_take_begins(w, other_begins, at, begins);
	sqlite3_finalize(statement);
	return r < 0 ? r : merge_take_counts(m, w);
}

/* By what they are of, then by stack. */
static int merge_counts_order(const void *a, const void *b)
{
	const struct merge_count *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->count.state != y->count.state)
		return x->count.state < y->count.state ? -1 : 1;
	return (x->count.node > y->count.node) - (x->count.node < y->count.node);
}

static bool merge_same_group(const struct merge_count *a, const struct merge_count *b)
{
	return a->series == b->series && a->event == b->event;
}

/* Adds counts of one stack up. They are sorted. */
static void merge_sum(struct sqlite_merging *m)
{
	size_t n = 0;

	if (m->n_counts)
		qsort(m->counts, m->n_counts, sizeof(*m->counts), merge_counts_order);
	for (size_t i = 0; i < m->n_counts; i++) {
		if (n && !merge_counts_order(&m->counts[n - 1], &m->counts[i])) {
			m->counts[n - 1].count.samples += m->counts[i].count.samples;
			m->counts[n - 1].count.weight += m->counts[i].count.weight;
		} else {
			m->counts[n++] = m->counts[i];
		}
	}
	m->n_counts = n;
}

/* Writes the counts of a step, a group for each series and event. -errno. */
static int merge_put_counts(struct sqlite_merging *m, int64_t window)
{
	struct blocks_count *counts = calloc(m->n_counts + 1, sizeof(*counts));
	struct counted_group *groups = NULL;
	size_t n = 0, capacity = 0;
	int r = counts ? 0 : -ENOMEM;

	merge_sum(m);
	for (size_t i = 0; i < m->n_counts && r >= 0; i++) {
		const struct merge_count *c = &m->counts[i];

		counts[i] = c->count;
		if (!i || !merge_same_group(c - 1, c)) {
			r = ARRAY_ROOM(&groups, &capacity, n + 1);
			if (r < 0)
				break;
			groups[n++] = (struct counted_group){ c->series, c->event, &counts[i], 0 };
		}
		groups[n - 1].n++;
	}
	if (r >= 0)
		r = sqlite_put_counts(m->s, window, groups, n, BLOCKS_WELL, m->err);
	free(counts);
	free(groups);
	return r;
}

static int merge_name_order(const void *a, const void *b)
{
	const struct map_slot *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Writes the sums of the windows' own counts, by their names' numbers. -ENOMEM. */
static int merge_names(const struct sqlite_merging *m, struct buf *data)
{
	struct map_slot *slots = calloc(m->names.n + 1, sizeof(*slots));
	size_t n = 0;

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; map_next(&m->names, &i, &slots[n].key, &slots[n].value);)
		n++;
	if (n)
		qsort(slots, n, sizeof(*slots), merge_name_order);
	for (size_t i = 0; i < n; i++) {
		blocks_put_number(data, slots[i].key);
		blocks_put_number(data, slots[i].value);
	}
	free(slots);
	return data->failed ? -ENOMEM : 0;
}

/* Inserts the window that n others become. -errno. */
static int merge_insert_window(const struct sqlite_merging *m, const struct merge_window *first,
                               uint64_t to_ns, const struct buf *data, const struct buf *begins)
{
	sqlite3_stmt *statement =
	        sqlite_prepare(m->s,
	                       "INSERT INTO windows (epoch, from_ns, to_ns, data, begins) "
	                       "VALUES (?1, ?2, ?3, ?4, ?5)",
	                       m->err);
	int r;

	if (!statement)
		return -m->err->code;
	sqlite3_bind_int64(statement, 1, m->epoch);
	sqlite3_bind_int64(statement, 2, (int64_t)first->from_ns);
	sqlite3_bind_int64(statement, 3, (int64_t)to_ns);
	sqlite3_bind_blob(statement, 4, data->n ? (const void *)data->bytes : "", (int)data->n,
	                  SQLITE_STATIC);
	sqlite3_bind_blob(statement, 5, begins->n ? (const void *)begins->bytes : "",
	                  (int)begins->n, SQLITE_STATIC);
	r = sqlite_step(m->s, statement, m->err);
	sqlite3_finalize(statement);
	return r;
}

/* Writes what windows that became one have beside them beside that one, if all have. -errno. */
static int merge_put_beside(struct sqlite_merging *m, const struct merge_window *w, size_t n,
                            int64_t window)
{
	struct summing sums = { 0 };
	int r = 1;

	for (size_t i = 0; i < n && r > 0; i++) {
		struct summed one = { 0 };

		r = sqlite_beside_open(&m->beside, w[i].id, &one, m->err);
		if (r > 0 && summing_add(&sums, &one) < 0)
			r = -ENOMEM;
		summed_free(&one);
	}
	if (r > 0)
		r = sqlite_put_beside(m->s, window, w->from_ns, &sums, m->err);
	summing_free(&sums);
	return r < 0 ? r : 0;
}

/* Makes one window of n that begin in the same step. -errno. */
static int merge_step(struct sqlite_merging *m, const struct merge_window *w, size_t n)
{
	struct buf data = { 0 }, begins = { 0 };
	uint64_t at = w->from_ns, to_ns = w->to_ns;
	int64_t made;
	int r = 0;

	m->n_counts = 0;
	for (size_t i = 0; i < n && r >= 0; i++) {
		to_ns = w[i].to_ns > to_ns ? w[i].to_ns : to_ns;
		r = merge_take_window(m, &w[i], &at, &begins);
	}
	if (r >= 0)
		r = merge_names(m, &data);
	if (r >= 0)
		r = begins.failed ? -ENOMEM : merge_insert_window(m, w, to_ns, &data, &begins);
	made = sqlite3_last_insert_rowid(m->s->db);
	if (r >= 0)
		r = merge_put_counts(m, made);
	/* Of what is folded now, sums would tell more than stacks do. */
	if (r >= 0 && !m->folds)
		r = merge_put_beside(m, w, n, made);
	map_free(&m->names);
	buf_free(&data);
	buf_free(&begins);
	return r;
}

/* Writes the windows of all sources anew. -errno. */
static int merge_windows(struct sqlite_merging *m, struct store_compacted *ret)
{
	const uint64_t step = m->o->step_ns;
	int r = 0;

	for (size_t from = 0, n; from < m->n_windows && r >= 0; from += n) {
		const struct merge_window *w = &m->windows[from];

		for (n = 1; from + n < m->n_windows && w[n].from_ns / step == w->from_ns / step;)
			n++;
		r = merge_step(m, w, n);
		ret->into++;
	}
	ret->windows += m->n_windows;
	return r;
}

/* ---- the whole ---- */

/* Folds what is too much for the time in which it was met. -ENOMEM. */
static int merge_cap(struct sqlite_merging *m)
{
	uint64_t ns = MINUTE_NS, bytes, counts = m->n_read * COUNT_BYTES, most;

	if (!m->o->hour_bytes || !m->n_windows)
		return 0;
	for (size_t i = 0; i < m->n_windows; i++)
		if (m->windows[i].to_ns > m->windows->from_ns + ns)
			ns = m->windows[i].to_ns - m->windows->from_ns;
	bytes = (uint64_t)((double)m->o->hour_bytes * (double)ns / (60.0 * MINUTE_NS));
	most = bytes - (counts < bytes ? counts : bytes);
	most = most > bytes / NODES_PART ? most : bytes / NODES_PART;
	most = (uint64_t)((double)most / NODE_BYTES);
	return m->tree.n > most ? merge_fold(m, (uint32_t)most) : 0;
}

/* What was merged goes. -errno. */
static int merge_drop(struct sqlite_merging *m)
{
	int r = 0;

	for (size_t i = 0; i < m->o->n && r >= 0; i++) {
		const int64_t *id = &m->o->sources[i].id;

		r = sqlite_run(m->s,
		               "DELETE FROM counts WHERE window IN "
		               "(SELECT id FROM windows WHERE epoch = ?1)",
		               id, 1, NULL, m->err);
		if (r >= 0)
			r = sqlite_run(m->s,
			               "DELETE FROM counted WHERE id IN (SELECT counted.id FROM "
			               "windows CROSS JOIN counted ON " SQLITE_PIECES_OF(
			                       "windows.id") " WHERE windows.epoch = ?1)",
			               id, 1, NULL, m->err);
		if (r >= 0)
			r = sqlite_run(m->s, "DELETE FROM windows WHERE epoch = ?1", id, 1, NULL,
			               m->err);
		if (r >= 0)
			r = sqlite_drop_epoch(m->s, *id, m->err);
	}
	return r;
}

static void merge_free(struct sqlite_merging *m)
{
	for (size_t i = 0; m->new_node && i < m->o->n; i++)
		free(m->new_node[i]);
	free(m->new_node);
	free(m->n_nodes);
	pool_free(&m->tree);
	free(m->number);
	free(m->samples);
	free(m->met);
	free(m->sorted);
	free(m->windows);
	free(m->counts);
	map_free(&m->names);
	sqlite3_finalize(m->fetch);
	sqlite_counts_end(&m->reading);
	sqlite_beside_end(&m->beside);
}

/* The new epoch has its row before the old ones go, so that their names stay. */
int sqlite_merge(const struct sqlite_store *s, const struct sqlite_merge_opts *o,
                 struct store_compacted *ret, struct seam_error *err)
{
	struct sqlite_merging m = { .s = s, .o = o, .err = err };
	int r;

	m.tree.size = sizeof(struct blocks_node);
	m.new_node = calloc(o->n + 1, sizeof(*m.new_node));
	m.n_nodes = calloc(o->n + 1, sizeof(*m.n_nodes));
	m.fetch = sqlite_prepare(s,
	                         "SELECT id, n, data FROM blocks WHERE id <= ?1 AND id >= ?2 "
	                         "ORDER BY id DESC LIMIT 1",
	                         err);
	r = !m.new_node || !m.n_nodes ? -ENOMEM : m.fetch ? 0 : -err->code;
	if (r >= 0)
		r = sqlite_counts_start(&m.reading, s, err);
	if (r >= 0)
		r = sqlite_beside_start(&m.beside, s, err);
	for (m.source = 0; m.source < o->n && r >= 0; m.source++)
		r = merge_source(&m);
	/* A statement that was used holds its rows until it is reset. */
	sqlite3_reset(m.fetch);
	if (r >= 0)
		r = merge_find_windows(&m);
	if (r >= 0)
		r = merge_cap(&m);
	if (r >= 0)
		r = sqlite_add_epoch(s, o->instance, m.n_windows ? m.windows->from_ns : 0, o->names,
		                     o->step_ns, &m.epoch, err);
	if (r >= 0)
		r = merge_put_tree(&m);
	if (r >= 0)
		r = merge_windows(&m, ret);
	if (r >= 0)
		r = merge_drop(&m);
	if (r >= 0 && m.folded) {
		/* Whether a trigger is to let go of parts, which were made of what its sources
		 * had (sqlite_parts.h). */
		if (!m.folds)
			r = sqlite_run(s, "UPDATE epochs SET folded = -1 WHERE id = ?1", &m.epoch,
			               1, NULL, err);
	}
	if (r >= 0 && m.folded) {
		const int64_t numbers[] = { m.epoch, (int64_t)m.folded };

		r = sqlite_run(s, "UPDATE epochs SET folded = ?2 WHERE id = ?1", numbers, 2, NULL,
		               err);
		ret->folded += m.folded;
	}
	merge_free(&m);
	return r;
}
