// SPDX-License-Identifier: MIT
/*
 * clickhouse_read.c: see clickhouse.h: answers. The server adds counts up by stack; then the stacks
 * of the same rows are asked for, and their frames. What a stack's row says is looked up by its
 * hash, so it does not matter that windows come in meanwhile.
 *
 * Nothing that the server says is trusted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/leb.h"
#include "base/pool.h"
#include "store/clickhouse/clickhouse.h"
#include "store/found.h"

/* Bytes of a statement: ClickHouse's limit is 256 kB, unless it is told. */
#define STATEMENT_BYTES 200000u
/* Frames of a statement that has their hashes as one text: it is told (clickhouse_sql.c). A list of
 * as many numbers would cost the server more than twice as much. */
#define STATEMENT_HASHES 500000u
#define SERVICES_BYTES 50000u /* of a list of services, which a statement may have three times */
#define STATE_OF_MISSING "not_in_store"

/* The key of rows of an answer: what profile_key has of it. */
struct clickhouse_row_key {
	uint32_t event;       /* of the profile */
	uint32_t comm, label; /* strings of the profile */
	uint32_t slice;
};

/* A row of an answer, whose stack is not known yet. */
struct clickhouse_sum {
	uint32_t key, stack; /* ids in keys and stacks */
	uint64_t samples, weight;
};

/* A stack: its frames are numbers of `frames`, leaf first, from `first` on. */
struct clickhouse_chain {
	bool known;
	uint32_t state; /* of the profile */
	size_t first;
	uint32_t n;
};

struct clickhouse_reading {
	struct clickhouse *c;
	const struct store_query *q;
	struct profile *into;
	struct store_found *found;
	struct seam_error *err;
	size_t n_by;
	struct buf where;    /* the condition of the query, with its time */
	struct buf services; /* that it lets through, as a list for IN; empty: too many, or none */
	struct buf text;
	struct pool keys;   /* struct clickhouse_row_key */
	struct pool stacks; /* CLICKHOUSE_STACK bytes */
	struct clickhouse_sum *sums;
	size_t n_sums, sums_capacity;
	struct clickhouse_chain *chains; /* by stack */
	struct pool frames;              /* uint64_t: hashes */
	uint32_t *path;                  /* of chains */
	size_t n_path, path_capacity;
	uint32_t *made; /* by frame: the profile's; 0: not there */
};

/* ---- windows ---- */

static int clickhouse_take_windows(struct clickhouse_reading *r, struct cursor *c)
{
	struct store_found *f = r->found;
	uint64_t n = cursor_u64(c), from = cursor_u64(c), to = cursor_u64(c);

	if (c->failed || from > INT64_MAX || to > INT64_MAX)
		return -EBADMSG;
	f->windows = n;
	f->first_ns = f->held_first_ns = n ? from : 0;
	f->last_ns = f->held_last_ns = n ? to : 0;
	return 0;
}

static int clickhouse_take_window_counts(struct clickhouse_reading *r, struct cursor *c)
{
	while (cursor_left(c)) {
		const char *name = clickhouse_text(c, &r->text);

		if (found_add_count(r->found, name, cursor_u64(c)) < 0)
			return -ENOMEM;
		if (c->failed)
			return -EBADMSG;
	}
	return 0;
}

/* Asks, and takes the answer. The statement is given up. -EBADMSG. */
static int clickhouse_ask(struct clickhouse_reading *r, struct buf *sql,
                          int (*take)(struct clickhouse_reading *r, struct cursor *c))
{
	struct http_answer answer;
	int rc = clickhouse_query(r->c, sql, &answer, r->err);
	struct cursor c = cursor_of(answer.body.bytes, answer.body.n, false);

	if (rc >= 0)
		rc = take(r, &c);
	if (rc >= 0 && c.failed)
		rc = -EBADMSG;
	http_answer_free(&answer);
	buf_free(sql);
	return rc == -EBADMSG && !r->err->code ? clickhouse_bad(r->c, r->err) : rc;
}

static int clickhouse_take_held(struct clickhouse_reading *r, struct cursor *c)
{
	r->found->held_first_ns = cursor_u64(c);
	r->found->held_last_ns = cursor_u64(c);
	return 0;
}

/* How many series of each service there are. */
static int clickhouse_take_series(struct clickhouse_reading *r, struct cursor *c)
{
	bool fits = true;

	while (cursor_left(c)) {
		const char *service = clickhouse_text(c, &r->text);

		r->found->series += cursor_u64(c);
		if (c->failed)
			return -EBADMSG;
		if (!fits)
			continue;
		buf_put_text(&r->services, r->services.n ? ", " : "");
		clickhouse_sql_text(&r->services, service);
		fits = r->services.n < SERVICES_BYTES;
	}
	if (!fits)
		buf_clear(&r->services);
	return r->services.failed ? -ENOMEM : 0;
}

static void clickhouse_from_windows(struct clickhouse_reading *r, struct buf *sql,
                                    const char *arrays)
{
	clickhouse_sql_table(r->c, sql, "seam_windows");
	buf_printf(sql, " FINAL%s WHERE type = '' AND service = '' AND ", arrays);
	clickhouse_span_sql(sql, r->q);
}

/* The windows of the span and what they count: the server adds it up, as a fleet has a window for
 * each host and ten seconds. Counts come in the order in which windows had them first. */
static int clickhouse_read_span(struct clickhouse_reading *r)
{
	struct buf sql = { 0 };
	int rc;

	buf_put_text(&sql, "SELECT count(), min(from_ns), max(to_ns) FROM ");
	clickhouse_from_windows(r, &sql, "");
	buf_put_text(&sql, " FORMAT RowBinary");
	rc = clickhouse_ask(r, &sql, clickhouse_take_windows);
	if (rc < 0 || !r->found->windows)
		return rc;
	buf_put_text(&sql, "SELECT one_name, sum(one_value) FROM ");
	clickhouse_from_windows(r, &sql,
	                        " ARRAY JOIN count_names AS one_name, count_values AS one_value, "
	                        "arrayEnumerate(count_names) AS place");
	buf_put_text(&sql, " GROUP BY one_name ORDER BY min(from_ns), argMin(place, from_ns), "
	                   "one_name FORMAT RowBinary");
	return clickhouse_ask(r, &sql, clickhouse_take_window_counts);
}

/* What the span has, what else the store has where that is nothing, and how many series the filter
 * lets through. */
static int clickhouse_read_windows(struct clickhouse_reading *r)
{
	struct buf sql = { 0 };
	int rc = clickhouse_read_span(r);

	if (rc >= 0 && !r->found->windows) {
		buf_put_text(&sql, "SELECT min(from_ns), max(to_ns) FROM ");
		clickhouse_sql_table(r->c, &sql, "seam_windows");
		buf_put_text(&sql, " WHERE type = '' AND service = '' FORMAT RowBinary");
		rc = clickhouse_ask(r, &sql, clickhouse_take_held);
	}
	if (rc < 0)
		return rc;
	buf_put_text(&sql, "SELECT service, uniqExact(" CLICKHOUSE_SERIES ") FROM ");
	clickhouse_sql_table(r->c, &sql, "seam_windows");
	buf_printf(&sql, " WHERE %s GROUP BY service FORMAT RowBinary", buf_text(&r->where));
	rc = clickhouse_ask(r, &sql, clickhouse_take_series);
	/* What the index begins with: a host has few services. */
	if (r->services.n)
		buf_printf(&r->where, " AND service IN (%s)", buf_text(&r->services));
	return rc < 0 || !r->where.failed ? rc : -ENOMEM;
}

/* ---- counts ---- */

/* Reads what a row is counted under. -ENOMEM, -EBADMSG. */
static int clickhouse_take_key(struct clickhouse_reading *r, struct cursor *c, uint32_t *ret)
{
	struct clickhouse_row_key key = { .label = PROFILE_NOT_KEPT, .slice = PROFILE_NOT_KEPT };
	struct buf type = { 0 }, label = { 0 };
	unsigned unit;

	clickhouse_text(c, &type);
	unit = cursor_u8(c);
	key.event = unit > PROFILE_NANOSECONDS ? PROFILE_FAILED
	                                       : profile_event_in(r->into, buf_text(&type), unit);
	if (unit > PROFILE_NANOSECONDS)
		cursor_fail(c);
	key.comm = profile_string(r->into, clickhouse_text(c, &r->text));
	if (r->q->slice_ns)
		key.slice = cursor_u32(c);
	for (size_t i = 0; i < r->n_by && !c->failed; i++) {
		const char *value = clickhouse_text(c, &r->text);

		buf_put_text(&label, i ? ", " : "");
		buf_put_text(&label, *value ? value : "-");
	}
	if (profile_keeps(r->into) & PROFILE_KEEP_LABEL)
		key.label = profile_string(r->into, buf_text(&label));
	buf_free(&type);
	buf_free(&label);
	if (c->failed)
		return -EBADMSG;
	*ret = key.event == PROFILE_FAILED || key.comm == PROFILE_FAILED ? POOL_FAILED
	                                                                 : pool_put(&r->keys, &key);
	return *ret == POOL_FAILED ? -ENOMEM : 0;
}

/* Reads rows: a key, a stack, samples and weight. */
static int clickhouse_take_counts(struct clickhouse_reading *r, struct cursor *c)
{
	while (cursor_left(c)) {
		struct clickhouse_sum sum;
		const unsigned char *stack;
		int rc = clickhouse_take_key(r, c, &sum.key);

		if (rc < 0)
			return rc;
		stack = cursor_bytes(c, CLICKHOUSE_STACK);
		sum.samples = cursor_u64(c);
		sum.weight = cursor_u64(c);
		if (c->failed)
			return -EBADMSG;
		sum.stack = pool_put(&r->stacks, stack);
		if (sum.stack == POOL_FAILED ||
		    ARRAY_ROOM(&r->sums, &r->sums_capacity, r->n_sums + 1) < 0)
			return -ENOMEM;
		r->sums[r->n_sums++] = sum;
	}
	return 0;
}

static int clickhouse_by_column(void *ctx, size_t i, const char *key)
{
	struct buf *sql = ctx;

	clickhouse_label_sql(sql, key);
	return buf_printf(sql, " AS by%zu, ", i);
}

static int clickhouse_by_name(void *ctx, size_t i, const char *key)
{
	(void)key;
	return buf_printf(ctx, "by%zu, ", i);
}

static int clickhouse_by_count(void *ctx, size_t i, const char *key)
{
	(void)key;
	*(size_t *)ctx = i + 1;
	return 0;
}

/* Counts are added up by the server. In an order, so that an answer is the same each time. */
static int clickhouse_read_counts(struct clickhouse_reading *r)
{
	const char *const clauses[] = { " GROUP BY", " ORDER BY" };
	struct buf sql = { 0 };
	int rc = clickhouse_each_by(r->q->by, clickhouse_by_count, &r->n_by);

	if (rc < 0)
		return rc;
	buf_put_text(&sql, "SELECT type, unit, comm, ");
	if (r->q->slice_ns)
		buf_printf(&sql, "toUInt32(intDiv(from_ns - %llu, %llu)) AS slice, ",
		           (unsigned long long)r->q->from_ns, (unsigned long long)r->q->slice_ns);
	clickhouse_each_by(r->q->by, clickhouse_by_column, &sql);
	buf_put_text(&sql,
	             "one_stack, sum(one_samples), sum(one_weight + one_samples * weight_each) "
	             "FROM ");
	clickhouse_sql_table(r->c, &sql, "seam_windows");
	buf_printf(&sql,
	           " FINAL ARRAY JOIN stacks AS one_stack, samples AS one_samples, weights AS "
	           "one_weight WHERE %s",
	           buf_text(&r->where));
	for (size_t i = 0; i < 2; i++) {
		buf_printf(&sql, "%s type, unit, comm, %s", clauses[i],
		           r->q->slice_ns ? "slice, " : "");
		clickhouse_each_by(r->q->by, clickhouse_by_name, &sql);
		buf_put_text(&sql, "one_stack");
	}
	buf_put_text(&sql, " FORMAT RowBinary");
	return clickhouse_ask(r, &sql, clickhouse_take_counts);
}

/* ---- stacks ---- */

/* -ENOMEM, -EBADMSG. */
static int clickhouse_take_path(struct clickhouse_reading *r, struct cursor *c,
                                struct clickhouse_chain *chain)
{
	uint64_t n = leb_unsigned(c);
	struct cursor frames = *c;

	if (!cursor_array(c, n, 8) || n > UINT32_MAX)
		return c->failed ? -EBADMSG : n ? -EBADMSG : 0;
	if (ARRAY_ROOM(&r->path, &r->path_capacity, r->n_path + n) < 0)
		return -ENOMEM;
	chain->first = r->n_path;
	chain->n = (uint32_t)n;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t hash = cursor_u64(&frames);
		uint32_t frame = pool_put(&r->frames, &hash);

		if (frame == POOL_FAILED)
			return -ENOMEM;
		r->path[r->n_path++] = frame;
	}
	return 0;
}

/* Reads stacks; those that the answer does not need were put meanwhile. */
static int clickhouse_take_stacks(struct clickhouse_reading *r, struct cursor *c)
{
	uint32_t n = r->stacks.n;

	while (cursor_left(c)) {
		const unsigned char *stack = cursor_bytes(c, CLICKHOUSE_STACK);
		const char *state = clickhouse_text(c, &r->text);
		struct clickhouse_chain chain = { .known = true };
		uint32_t id;
		int rc;

		if (c->failed)
			return -EBADMSG;
		id = pool_put(&r->stacks, stack);
		chain.state = found_state(r->into, state);
		if (id == POOL_FAILED || chain.state == PROFILE_FAILED)
			return -ENOMEM;
		rc = clickhouse_take_path(r, c, &chain);
		if (rc < 0)
			return rc;
		if (id <= n)
			r->chains[id] = chain;
	}
	return 0;
}

/* FROM and WHERE of the answer's stacks. The same rows say which: of a cluster, each server looks
 * for those of its own. They are where the rows' hours, services and hosts say. */
static void clickhouse_from_stacks(struct clickhouse_reading *r, struct buf *sql)
{
	clickhouse_sql_table(r->c, sql, "seam_stacks");
	buf_put_text(sql, " WHERE ");
	clickhouse_hours_sql(sql, r->q);
	clickhouse_filter_places_sql(sql, r->q->where);
	if (r->services.n) {
		buf_printf(sql, " AND service IN (%s)", buf_text(&r->services));
	} else {
		buf_put_text(sql, " AND service IN (SELECT service FROM ");
		clickhouse_sql_table(r->c, sql, "seam_windows");
		buf_printf(sql, " WHERE %s)", buf_text(&r->where));
	}
	buf_put_text(sql, " AND stack IN (SELECT one_stack FROM ");
	clickhouse_sql_table(r->c, sql, "seam_windows");
	buf_printf(sql, " ARRAY JOIN stacks AS one_stack WHERE %s)", buf_text(&r->where));
}

#define STACKS_LOCAL " SETTINGS distributed_product_mode = 'local' FORMAT RowBinary"

/* Each stack once, of whichever host: any() of arrays would cost the server four times as much. */
static int clickhouse_read_stacks(struct clickhouse_reading *r)
{
	struct buf sql = { 0 };

	r->chains = calloc((size_t)r->stacks.n + 1, sizeof(*r->chains));
	if (!r->chains)
		return -ENOMEM;
	if (!r->stacks.n)
		return 0;
	buf_put_text(&sql, r->q->innermost ? "SELECT stack, state, arraySlice(frames, 1, 1) FROM "
	                                   : "SELECT stack, state, frames FROM ");
	clickhouse_from_stacks(r, &sql);
	buf_put_text(&sql, " LIMIT 1 BY stack" STACKS_LOCAL);
	return clickhouse_ask(r, &sql, clickhouse_take_stacks);
}

/* ---- frames ---- */

/* Reads one frame into the profile. 0: out of memory, or the cursor failed. */
static uint32_t clickhouse_take_frame(struct clickhouse_reading *r, struct cursor *c)
{
	struct profile *p = r->into;
	struct profile_frame f = { 0 };
	struct buf object = { 0 };
	const char *text = clickhouse_text(c, &r->text);
	uint32_t made;

	f.symbol = *text ? profile_string(p, text) : 0;
	text = clickhouse_text(c, &r->text);
	f.file = *text ? profile_string(p, text) : 0;
	f.line = cursor_u32(c);
	clickhouse_text(c, &object);
	text = clickhouse_text(c, &r->text);
	if (object.n)
		f.object = profile_object(p, buf_text(&object), *text ? text : NULL);
	f.kind = cursor_u8(c);
	f.depth = cursor_u32(c);
	buf_free(&object);
	if (f.kind >= PROFILE_KINDS)
		cursor_fail(c);
	if (c->failed || f.symbol == PROFILE_FAILED || f.file == PROFILE_FAILED ||
	    f.object == PROFILE_FAILED)
		return 0;
	made = profile_frame(p, &f);
	return made == PROFILE_FAILED ? 0 : made;
}

/* Reads frames, each behind its hash. */
static int clickhouse_take_frames(struct clickhouse_reading *r, struct cursor *c)
{
	uint32_t n = r->frames.n;

	while (cursor_left(c)) {
		uint64_t hash = cursor_u64(c);
		uint32_t id = pool_put(&r->frames, &hash);
		uint32_t made = clickhouse_take_frame(r, c);

		if (c->failed)
			return -EBADMSG;
		if (!made || id == POOL_FAILED)
			return -ENOMEM;
		/* Others are of stacks that were put meanwhile. */
		if (id <= n)
			r->made[id] = made;
	}
	return 0;
}

static uint64_t clickhouse_frame_hash(const struct clickhouse_reading *r, uint32_t id)
{
	uint64_t hash;

	memcpy(&hash, pool_at(&r->frames, id), sizeof(hash));
	return hash;
}

/* Which frames, by their hashes. False: they are too many for a list. */
static bool clickhouse_frames_listed(struct clickhouse_reading *r, struct buf *sql)
{
	buf_put_text(sql, "IN (");
	for (uint32_t id = 1; id <= r->frames.n && sql->n < STATEMENT_BYTES; id++) {
		buf_put_text(sql, id > 1 ? "," : "");
		buf_put_decimal(sql, clickhouse_frame_hash(r, id));
	}
	return sql->n < STATEMENT_BYTES;
}

/* The same as one text, which the server takes apart: each hash is 16 digits, its first byte in
 * front. */
static void clickhouse_frames_text(struct clickhouse_reading *r, struct buf *sql)
{
	buf_put_text(sql, "GLOBAL IN (SELECT reinterpretAsUInt64(substring(unhex('");
	for (uint32_t id = 1; id <= r->frames.n; id++)
		buf_printf(sql, "%016llX",
		           (unsigned long long)__builtin_bswap64(clickhouse_frame_hash(r, id)));
	buf_printf(sql, "'), number * 8 + 1, 8)) FROM numbers(%u)", r->frames.n);
}

/* The same, of all frames of the stacks: the server has to find these a second time for that. */
static void clickhouse_frames_of_stacks(struct clickhouse_reading *r, struct buf *sql)
{
	buf_put_text(sql, r->q->innermost ? "GLOBAL IN (SELECT frames[1] FROM "
	                                  : "GLOBAL IN (SELECT arrayJoin(frames) FROM ");
	clickhouse_from_stacks(r, sql);
}

/* Asks for frames in one statement, as their hashes lie anywhere: each would read most of the
 * table. */
static int clickhouse_read_frames(struct clickhouse_reading *r)
{
	const bool modern = r->c->server >= CLICKHOUSE_MODERN;
	struct buf sql = { 0 };
	size_t n;

	r->made = calloc((size_t)r->frames.n + 1, sizeof(*r->made));
	if (!r->made)
		return -ENOMEM;
	if (!r->frames.n)
		return 0;
	buf_put_text(&sql, "SELECT frame, name, file, line, object, build_id, kind, depth FROM ");
	clickhouse_sql_table(r->c, &sql, "seam_frames");
	buf_put_text(&sql, " WHERE frame ");
	n = sql.n;
	if (modern && r->frames.n <= STATEMENT_HASHES) {
		clickhouse_frames_text(r, &sql);
	} else if (modern || !clickhouse_frames_listed(r, &sql)) {
		sql.n = sql.failed ? sql.n : n;
		clickhouse_frames_of_stacks(r, &sql);
	}
	buf_put_text(&sql, ") ORDER BY frame" STACKS_LOCAL);
	return clickhouse_ask(r, &sql, clickhouse_take_frames);
}

/* ---- into the profile ---- */

/* The node of a stack. A frame that the store lost is one without a name. PROFILE_FAILED. */
static uint32_t clickhouse_node(struct clickhouse_reading *r, const struct clickhouse_chain *chain)
{
	uint32_t node = PROFILE_ROOT;

	for (uint32_t i = chain->n; i-- && node != PROFILE_FAILED;) {
		uint32_t frame = r->made[r->path[chain->first + i]];

		if (!frame)
			frame = profile_frame(r->into, &(struct profile_frame){ 0 });
		node = frame == PROFILE_FAILED ? frame : profile_node(r->into, node, frame);
	}
	return node;
}

/* Adds all rows. A stack that the store does not have any more is empty, and its state says so. */
static int clickhouse_add(struct clickhouse_reading *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->n_sums && rc >= 0; i++) {
		const struct clickhouse_sum *sum = &r->sums[i];
		const struct clickhouse_row_key *k = pool_at(&r->keys, sum->key);
		const struct clickhouse_chain *chain = &r->chains[sum->stack];
		struct profile_key key = { .event = k->event,
			                   .label = k->label,
			                   .state = chain->state,
			                   .cpu = PROFILE_NOT_KEPT,
			                   .slice = k->slice,
			                   .cgroup = PROFILE_NOT_KEPT };

		key.task = profile_task(r->into, k->comm, 0, 0);
		key.node = clickhouse_node(r, chain);
		if (!chain->known)
			key.state = found_state(r->into, STATE_OF_MISSING);
		if (key.task == PROFILE_FAILED || key.node == PROFILE_FAILED ||
		    key.state == PROFILE_FAILED)
			return -ENOMEM;
		rc = profile_add(r->into, &key, sum->samples, sum->weight);
	}
	return rc;
}

static void clickhouse_reading_free(struct clickhouse_reading *r)
{
	buf_free(&r->where);
	buf_free(&r->services);
	buf_free(&r->text);
	pool_free(&r->keys);
	pool_free(&r->stacks);
	pool_free(&r->frames);
	free(r->sums);
	free(r->chains);
	free(r->path);
	free(r->made);
}

/* Asks one thing after the other; each tells what the next one needs. */
int clickhouse_read(void *store, const struct store_query *q, struct profile *into,
                    struct store_found *ret, struct seam_error *err)
{
	struct seam_error why = { 0 };
	struct clickhouse_reading r = { .c = store,
		                        .q = q,
		                        .into = into,
		                        .found = ret,
		                        .err = &why,
		                        .keys = { .size = sizeof(struct clickhouse_row_key) },
		                        .stacks = { .size = CLICKHOUSE_STACK },
		                        .frames = { .size = sizeof(uint64_t) } };
	int rc = clickhouse_ready(r.c, &why);

	clickhouse_where_sql(&r.where, q);
	if (rc >= 0)
		rc = r.where.failed ? -ENOMEM : clickhouse_read_windows(&r);
	if (rc >= 0)
		rc = clickhouse_read_counts(&r);
	if (rc >= 0)
		rc = clickhouse_read_stacks(&r);
	if (rc >= 0)
		rc = clickhouse_read_frames(&r);
	if (rc >= 0)
		rc = clickhouse_add(&r);
	clickhouse_reading_free(&r);
	if (rc < 0 && err)
		*err = why;
	return rc;
}
