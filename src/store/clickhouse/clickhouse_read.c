// SPDX-License-Identifier: MIT
/*
 * clickhouse_read.c: see clickhouse_reading.h: answers. Once the counts are there, the stacks of
 * the same rows are asked for, and their frames. What a stack's row says is looked up by its
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
#include "store/clickhouse/clickhouse_reading.h"
#include "store/found.h"

/* Bytes of a statement: ClickHouse's limit is 256 kB, unless it is told. */
#define STATEMENT_BYTES 200000u
/* Frames of a statement that has their hashes as one text: it is told (clickhouse_sql.c). A list of
 * as many numbers would cost the server more than twice as much. */
#define STATEMENT_HASHES 500000u
#define STATE_OF_MISSING "not_in_store"

/* ---- stacks ---- */

/* Numbers the frames of a stack. -ENOMEM. */
static int clickhouse_take_path(struct clickhouse_reading *r, struct cursor *frames, uint64_t n,
                                struct clickhouse_chain *chain)
{
	if (ARRAY_ROOM(&r->path, &r->path_capacity, r->n_path + n) < 0)
		return -ENOMEM;
	chain->first = r->n_path;
	chain->n = (uint32_t)n;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t hash = cursor_u64(frames);
		uint32_t frame = pool_put(&r->frames, &hash);

		if (frame == POOL_FAILED)
			return -ENOMEM;
		r->path[r->n_path++] = frame;
	}
	return 0;
}

/* Reads stacks; those that the answer does not need are passed over: they are of other rows. */
static int clickhouse_take_stacks(struct clickhouse_reading *r, struct cursor *c)
{
	uint32_t n = r->stacks.n;

	while (cursor_left(c)) {
		const unsigned char *stack = cursor_bytes(c, CLICKHOUSE_STACK);
		const char *state = clickhouse_text(c, &r->text);
		struct clickhouse_chain chain = { .known = true, .node = PROFILE_FAILED };
		uint64_t n_frames = leb_unsigned(c);
		struct cursor frames = *c;
		uint32_t id;

		cursor_array(c, n_frames, 8);
		if (c->failed || n_frames > UINT32_MAX)
			return -EBADMSG;
		id = pool_put(&r->stacks, stack);
		if (id == POOL_FAILED)
			return -ENOMEM;
		if (id > n)
			continue;
		chain.state = found_state(r->into, state);
		if (chain.state == PROFILE_FAILED ||
		    clickhouse_take_path(r, &frames, n_frames, &chain) < 0)
			return -ENOMEM;
		r->chains[id] = chain;
	}
	return 0;
}

/* Whether most stacks of the hours, services and hosts that are asked are the answer's: then all of
 * them cost less than to look for each. */
static bool clickhouse_wants_all(const struct store_query *q)
{
	const uint64_t hour = 3600000000000u;
	uint64_t from = q->from_ns / hour * hour, to = q->to_ns;

	if (to % hour && to <= UINT64_MAX - hour)
		to += hour - to % hour;
	return clickhouse_filter_is_places(q->where) && q->to_ns - q->from_ns >= (to - from) / 2;
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
	if (clickhouse_wants_all(r->q))
		return;
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

/* Reads one frame into the profile. -ENOMEM, -EBADMSG. */
static int clickhouse_take_frame(struct clickhouse_reading *r, struct cursor *c, uint32_t *ret)
{
	struct profile *p = r->into;
	struct profile_frame f = { 0 };
	struct buf object = { 0 };
	const char *text = clickhouse_text(c, &r->text);

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
	if (c->failed || f.kind >= PROFILE_KINDS)
		return -EBADMSG;
	if (f.symbol == PROFILE_FAILED || f.file == PROFILE_FAILED || f.object == PROFILE_FAILED)
		return -ENOMEM;
	*ret = profile_frame(p, &f);
	return *ret == PROFILE_FAILED ? -ENOMEM : 0;
}

/* Finds where in the answer each frame is, behind its hash. They are made when they are met, so
 * that the profile has them in the order of its rows. */
static int clickhouse_take_frames(struct clickhouse_reading *r, struct cursor *c)
{
	uint32_t n = r->frames.n;

	while (cursor_left(c)) {
		uint64_t hash = cursor_u64(c);
		size_t at = cursor_offset(c);
		uint32_t id;

		for (int i = 0; i < 2; i++) /* symbol, file */
			cursor_bytes(c, leb_unsigned(c));
		cursor_u32(c);
		for (int i = 0; i < 2; i++) /* object, build-id */
			cursor_bytes(c, leb_unsigned(c));
		cursor_bytes(c, 5);
		if (c->failed)
			return -EBADMSG;
		id = pool_put(&r->frames, &hash);
		if (id == POOL_FAILED)
			return -ENOMEM;
		/* Others are of stacks that were put meanwhile. */
		if (id <= n)
			r->frames_at[id] = at + 1;
	}
	return 0;
}

/* A frame of the profile, by its number here. One that the store lost has no name. -ENOMEM,
 * -EBADMSG. */
static int clickhouse_made(struct clickhouse_reading *r, uint32_t id, uint32_t *ret)
{
	const struct buf *body = &r->answer.body;
	size_t at = r->frames_at[id];
	int rc = 0;

	if (!r->made[id] && at) {
		struct cursor c = cursor_of(body->bytes + at - 1, body->n - (at - 1), false);

		rc = clickhouse_take_frame(r, &c, &r->made[id]);
	} else if (!r->made[id]) {
		r->made[id] = profile_frame(r->into, &(struct profile_frame){ 0 });
		rc = r->made[id] == PROFILE_FAILED ? -ENOMEM : 0;
	}
	*ret = r->made[id];
	return rc;
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
	static const char digits[] = "0123456789ABCDEF";

	buf_put_text(sql, "GLOBAL IN (SELECT reinterpretAsUInt64(substring(unhex('");
	for (uint32_t id = 1; id <= r->frames.n; id++) {
		const unsigned char *hash = pool_at(&r->frames, id);
		char text[16];

		for (size_t i = 0; i < 8; i++) {
			text[2 * i] = digits[hash[i] >> 4];
			text[2 * i + 1] = digits[hash[i] & 15];
		}
		buf_put(sql, text, sizeof(text));
	}
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
	r->frames_at = calloc((size_t)r->frames.n + 1, sizeof(*r->frames_at));
	if (!r->made || !r->frames_at)
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
	buf_put_text(&sql, ")" STACKS_LOCAL);
	return clickhouse_ask(r, &sql, clickhouse_take_frames);
}

/* ---- into the profile ---- */

/* The node of a stack, which is made once. -ENOMEM, -EBADMSG. */
static int clickhouse_node(struct clickhouse_reading *r, struct clickhouse_chain *chain)
{
	uint32_t node = PROFILE_ROOT, frame;

	if (chain->node != PROFILE_FAILED)
		return 0;
	for (uint32_t i = chain->n; i--;) {
		int rc = clickhouse_made(r, r->path[chain->first + i], &frame);

		if (rc < 0)
			return rc;
		node = profile_node(r->into, node, frame);
		if (node == PROFILE_FAILED)
			return -ENOMEM;
	}
	chain->node = node;
	return 0;
}

/* Adds all sums. A stack that the store does not have any more is empty, and its state says so. */
static int clickhouse_add(struct clickhouse_reading *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->n_sums && rc >= 0; i++) {
		const struct clickhouse_pair *pair = pool_at(&r->pairs, (uint32_t)i + 1);
		const struct clickhouse_row_key *k = pool_at(&r->keys, pair->key);
		struct clickhouse_chain *chain = &r->chains[pair->stack];
		struct profile_key key = { .event = k->event,
			                   .label = k->label,
			                   .state = chain->state,
			                   .cpu = PROFILE_NOT_KEPT,
			                   .slice = k->slice,
			                   .cgroup = PROFILE_NOT_KEPT };

		if (!chain->known)
			key.state = found_state(r->into, STATE_OF_MISSING);
		else if ((rc = clickhouse_node(r, chain)) < 0)
			break;
		key.node = chain->known ? chain->node : PROFILE_ROOT;
		key.task = profile_task(r->into, k->comm, 0, 0);
		if (key.task == PROFILE_FAILED || key.state == PROFILE_FAILED)
			return -ENOMEM;
		rc = profile_add(r->into, &key, r->sums[i].samples, r->sums[i].weight);
	}
	return rc == -EBADMSG ? clickhouse_bad(r->c, r->err) : rc;
}

static void clickhouse_reading_free(struct clickhouse_reading *r)
{
	buf_free(&r->where);
	buf_free(&r->services);
	buf_free(&r->text);
	pool_free(&r->keys);
	pool_free(&r->stacks);
	pool_free(&r->pairs);
	pool_free(&r->frames);
	free(r->sums);
	free(r->chains);
	free(r->path);
	free(r->frames_at);
	free(r->made);
	http_answer_free(&r->answer);
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
		                        .pairs = { .size = sizeof(struct clickhouse_pair) },
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
