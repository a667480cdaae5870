// SPDX-License-Identifier: MIT
/*
 * clickhouse_put.c: see clickhouse.h: a window as rows.
 *
 * Hashes are of what a thing is, so every writer of a fleet has the same one for the same thing. A
 * frame is sent once by a writer, and again on another day, so that the server's TTL finds it in
 * use; a stack once for an hour, service and host, by which it is looked for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/blake2.h"
#include "store/stacks/blocks.h"
#include "store/clickhouse/clickhouse.h"

#define SENT_MAX 200000u /* frames, and stacks, that are known to be sent: about 14 MB */
#define DAY_S 86400u
#define HOUR_S 3600u

/* Labels that are columns; the others are in arrays. */
static const char *const clickhouse_labels[] = { "service", "version", "host", "comm" };

#define CLICKHOUSE_COLUMNS 4u

struct clickhouse_count {
	unsigned char stack[CLICKHOUSE_STACK];
	uint64_t samples, weight;
};

/* Counts of one series and event. */
struct clickhouse_group {
	uint32_t series, event;
	struct clickhouse_count *counts;
	size_t n, capacity;
};

struct clickhouse_putting {
	struct clickhouse *c;
	const struct store_window *w;
	uint32_t time_s;
	uint64_t *frames; /* by the profile's number: a hash; 0: not yet made */
	struct clickhouse_group *groups;
	size_t n_groups, groups_capacity;
	struct map by_series; /* series << 32 | event -> index of groups, plus 1 */
	struct buf stack_rows, frame_rows, rows;
	struct buf path; /* hashes of the frames of one stack, leaf first */
};

static const char *clickhouse_label(const struct labels *l, const char *key)
{
	const char *value = labels_get(l, key);

	return value ? value : "";
}

/* 1: it is new; 0: it was sent; -ENOMEM. */
static int clickhouse_new(struct map *sent, uint64_t key)
{
	bool is_new;
	uint64_t *slot = map_slot(sent, key, &is_new);

	return slot ? is_new : -ENOMEM;
}

/* ---- frames and stacks ---- */

/* Appends the row of a frame that the server may not have. */
static void clickhouse_frame_row(struct clickhouse_putting *p, const struct profile_frame *f,
                                 uint64_t hash)
{
	const struct profile *profile = p->w->profile;
	const struct profile_object *o = f->object ? profile_object_at(profile, f->object) : NULL;
	struct buf *row = &p->frame_rows;

	buf_put_u64(row, hash);
	clickhouse_put_text(row, f->symbol ? profile_text(profile, f->symbol) : "");
	clickhouse_put_text(row, f->file ? profile_text(profile, f->file) : "");
	buf_put_u32(row, f->line);
	clickhouse_put_text(row, o ? profile_text(profile, o->path) : "");
	clickhouse_put_text(row, o && o->build_id ? profile_text(profile, o->build_id) : "");
	buf_put(row, &(unsigned char){ (unsigned char)f->kind }, 1);
	buf_put_u32(row, f->depth);
	buf_put_u32(row, p->time_s);
}

/* The hash of a frame: of its row. 0: out of memory. */
static uint64_t clickhouse_frame(struct clickhouse_putting *p, uint32_t id)
{
	const struct profile_frame *f = profile_frame_at(p->w->profile, id);
	size_t at = p->frame_rows.n;
	uint64_t hash;
	int r;

	if (p->frames[id])
		return p->frames[id];
	clickhouse_frame_row(p, f, 0);
	if (p->frame_rows.failed)
		return 0;
	/* Without the hash's own place, and when it was seen. */
	hash = blake2_number(p->frame_rows.bytes + at + 8, p->frame_rows.n - at - 12, "frame", 5);
	hash += !hash;
	r = clickhouse_new(&p->c->sent, hash);
	if (r < 0)
		return 0;
	if (r)
		memcpy(p->frame_rows.bytes + at, &hash, sizeof(hash));
	else
		p->frame_rows.n = at;
	p->frames[id] = hash;
	return hash;
}

/* The hash of a row's stack and of how it ended; its frames are in p->path then. -ENOMEM. */
static int clickhouse_stack(struct clickhouse_putting *p, const struct profile_row *row,
                            unsigned char ret[CLICKHOUSE_STACK])
{
	const struct profile *profile = p->w->profile;
	const char *state = profile_state_at(profile, row->key.state)->name;
	unsigned char digest[BLAKE2_BYTES];
	struct blake2 b;

	buf_clear(&p->path);
	for (uint32_t node = row->key.node; node != PROFILE_ROOT;) {
		struct profile_node n = profile_node_at(profile, node);
		uint64_t frame = clickhouse_frame(p, n.frame);

		if (!frame)
			return -ENOMEM;
		buf_put_u64(&p->path, frame);
		node = n.parent;
	}
	if (p->path.failed)
		return -ENOMEM;
	blake2_start(&b);
	blake2_add(&b, state, strlen(state) + 1);
	blake2_add(&b, p->path.bytes, p->path.n);
	blake2_end(&b, digest);
	memcpy(ret, digest, CLICKHOUSE_STACK);
	return 0;
}

/* Appends the row of the stack in p->path, if the server may not have it for this hour, service and
 * host. -ENOMEM. */
static int clickhouse_stack_row(struct clickhouse_putting *p, const struct profile_row *row,
                                const struct labels *labels,
                                const unsigned char stack[CLICKHOUSE_STACK])
{
	const char *service = clickhouse_label(labels, "service");
	const char *host = clickhouse_label(labels, "host");
	unsigned char digest[BLAKE2_BYTES];
	struct blake2 b;
	uint64_t key;
	int r;

	blake2_start(&b);
	blake2_add(&b, stack, CLICKHOUSE_STACK);
	blake2_add(&b, service, strlen(service) + 1);
	blake2_add(&b, host, strlen(host));
	blake2_end(&b, digest);
	memcpy(&key, digest, sizeof(key));
	r = clickhouse_new(&p->c->sent_stacks, key);
	if (r <= 0)
		return r;
	buf_put_u32(&p->stack_rows, p->time_s / HOUR_S * HOUR_S);
	clickhouse_put_text(&p->stack_rows, service);
	clickhouse_put_text(&p->stack_rows, host);
	buf_put(&p->stack_rows, stack, CLICKHOUSE_STACK);
	clickhouse_put_text(&p->stack_rows, profile_state_at(p->w->profile, row->key.state)->name);
	blocks_put_number(&p->stack_rows, p->path.n / 8);
	return buf_put(&p->stack_rows, p->path.bytes, p->path.n);
}

/* ---- counts ---- */

/* The group of a series and event, made if it is new. NULL: out of memory. */
static struct clickhouse_group *clickhouse_group_of(struct clickhouse_putting *p, uint32_t series,
                                                    uint32_t event)
{
	uint64_t *slot = map_slot(&p->by_series, (uint64_t)series << 32 | event, NULL);

	if (!slot)
		return NULL;
	if (!*slot) {
		if (ARRAY_ROOM(&p->groups, &p->groups_capacity, p->n_groups + 1) < 0)
			return NULL;
		p->groups[p->n_groups] =
		        (struct clickhouse_group){ .series = series, .event = event };
		*slot = ++p->n_groups;
	}
	return &p->groups[*slot - 1];
}

static int clickhouse_count_order(const void *a, const void *b)
{
	return memcmp(((const struct clickhouse_count *)a)->stack,
	              ((const struct clickhouse_count *)b)->stack, CLICKHOUSE_STACK);
}

/* Rows of several processes with one stack become one count. */
static void clickhouse_group_join(struct clickhouse_group *g)
{
	size_t n = 0;

	qsort(g->counts, g->n, sizeof(*g->counts), clickhouse_count_order);
	for (size_t i = 0; i < g->n; i++) {
		if (n && !clickhouse_count_order(&g->counts[n - 1], &g->counts[i])) {
			g->counts[n - 1].samples += g->counts[i].samples;
			g->counts[n - 1].weight += g->counts[i].weight;
		} else {
			g->counts[n++] = g->counts[i];
		}
	}
	g->n = n;
}

/* Sorts the profile's rows into groups. -ENOMEM. */
static int clickhouse_groups(struct clickhouse_putting *p)
{
	const struct store_window *w = p->w;

	for (size_t i = 0; i < profile_n_rows(w->profile); i++) {
		const struct profile_row *row = profile_row_at(w->profile, i);
		uint32_t series = w->row_series ? w->row_series[i] : 0;
		struct clickhouse_group *g = clickhouse_group_of(p, series, row->key.event);
		struct clickhouse_count *count;
		int r;

		if (!g || ARRAY_ROOM(&g->counts, &g->capacity, g->n + 1) < 0)
			return -ENOMEM;
		count = &g->counts[g->n];
		count->samples = row->samples;
		count->weight = row->weight;
		r = clickhouse_stack(p, row, count->stack);
		if (r >= 0)
			r = clickhouse_stack_row(p, row, &w->series[series], count->stack);
		if (r < 0)
			return r;
		g->n++;
	}
	for (size_t i = 0; i < p->n_groups; i++)
		clickhouse_group_join(&p->groups[i]);
	return 0;
}

/* ---- rows ---- */

static bool clickhouse_is_column(const char *key)
{
	for (size_t i = 0; i < CLICKHOUSE_COLUMNS; i++)
		if (!strcmp(clickhouse_labels[i], key))
			return true;
	return false;
}

/* The columns in front of the counts. labels NULL: the window's own row; host is its host. */
static void clickhouse_row_head(struct clickhouse_putting *p, const char *type, unsigned unit,
                                const struct labels *labels, const char *host)
{
	const char *key, *value;
	struct buf *row = &p->rows;
	size_t n = 0;

	buf_put_u32(row, p->time_s);
	buf_put_u64(row, p->w->from_ns);
	buf_put_u64(row, p->w->to_ns);
	clickhouse_put_text(row, type);
	buf_put(row, &(unsigned char){ (unsigned char)unit }, 1);
	for (size_t i = 0; i < CLICKHOUSE_COLUMNS; i++)
		clickhouse_put_text(row, labels   ? clickhouse_label(labels, clickhouse_labels[i])
		                         : i == 2 ? host
		                                  : "");
	clickhouse_put_text(row, p->w->instance);
	for (size_t at = 0; labels && labels_next(labels, &at, &key, &value);)
		n += !clickhouse_is_column(key);
	blocks_put_number(row, n);
	for (size_t at = 0; labels && labels_next(labels, &at, &key, &value);)
		if (!clickhouse_is_column(key))
			clickhouse_put_text(row, key);
	blocks_put_number(row, n);
	for (size_t at = 0; labels && labels_next(labels, &at, &key, &value);)
		if (!clickhouse_is_column(key))
			clickhouse_put_text(row, value);
}

/* A row of one series and event. */
static void clickhouse_row(struct clickhouse_putting *p, const struct clickhouse_group *g)
{
	const struct profile *profile = p->w->profile;
	uint64_t each =
	        g->n && g->counts[0].samples ? g->counts[0].weight / g->counts[0].samples : 0;
	struct buf *row = &p->rows;

	clickhouse_row_head(p, profile_event_name(profile, g->event),
	                    profile_event_unit(profile, g->event), &p->w->series[g->series], "");
	blocks_put_number(row, g->n);
	for (size_t i = 0; i < g->n; i++)
		buf_put(row, g->counts[i].stack, CLICKHOUSE_STACK);
	blocks_put_number(row, g->n);
	for (size_t i = 0; i < g->n; i++)
		buf_put_u64(row, g->counts[i].samples);
	/* Most samples of an event weigh the same: zeros take no room. */
	buf_put_u64(row, each);
	blocks_put_number(row, g->n);
	for (size_t i = 0; i < g->n; i++)
		buf_put_u64(row, g->counts[i].weight - each * g->counts[i].samples);
	blocks_put_number(row, 0);
	blocks_put_number(row, 0);
}

/* The row of the window itself. */
static void clickhouse_row_of_window(struct clickhouse_putting *p)
{
	const struct store_window *w = p->w;
	struct buf *row = &p->rows;

	clickhouse_row_head(p, "", 0, NULL,
	                    w->n_series ? clickhouse_label(&w->series[0], "host") : "");
	for (int i = 0; i < 2; i++)
		blocks_put_number(row, 0);
	buf_put_u64(row, 0);
	blocks_put_number(row, 0);
	blocks_put_number(row, w->n_counts);
	for (size_t i = 0; i < w->n_counts; i++)
		clickhouse_put_text(row, w->counts[i].name);
	blocks_put_number(row, w->n_counts);
	for (size_t i = 0; i < w->n_counts; i++)
		buf_put_u64(row, w->counts[i].value);
}

/* ---- the whole ---- */

/* 1: a window of this instance that begins then is there; 0; -errno. */
static int clickhouse_has(struct clickhouse_putting *p, struct seam_error *err)
{
	struct buf sql = { 0 };

	buf_put_text(&sql, "SELECT count() > 0 FROM ");
	clickhouse_sql_table(p->c, &sql, "seam_windows");
	buf_printf(&sql,
	           " WHERE type = '' AND service = '' AND time = toDateTime(%u) AND "
	           "from_ns = %llu AND instance = ",
	           p->time_s, (unsigned long long)p->w->from_ns);
	clickhouse_sql_text(&sql, p->w->instance);
	buf_put_text(&sql, " FORMAT TabSeparated");
	return clickhouse_is(p->c, &sql, err);
}

/* What a window refers to goes first. */
static int clickhouse_send(struct clickhouse_putting *p, struct seam_error *err)
{
	unsigned char digest[BLAKE2_BYTES];
	char hex[BLAKE2_HEX];
	struct blake2 b;
	int r = clickhouse_insert(p->c,
	                          "seam_frames (frame, name, file, line, object, build_id, kind, "
	                          "depth, seen)",
	                          NULL, &p->frame_rows, err);

	if (r >= 0)
		r = clickhouse_insert(p->c,
		                      "seam_stacks (hour, service, host, stack, state, frames)",
		                      NULL, &p->stack_rows, err);
	blake2_start(&b);
	blake2_add(&b, p->rows.bytes, p->rows.n);
	blake2_end(&b, digest);
	if (r >= 0)
		r = clickhouse_insert(p->c,
		                      "seam_windows (time, from_ns, to_ns, type, unit, service, "
		                      "version, host, comm, instance, label_keys, label_values, "
		                      "stacks, samples, weight_each, weights, count_names, "
		                      "count_values)",
		                      blake2_hex(digest, hex), &p->rows, err);
	return r;
}

/* Makes all rows. */
static int clickhouse_rows(struct clickhouse_putting *p)
{
	struct clickhouse *c = p->c;
	int r;

	if (c->sent.n > SENT_MAX || c->sent_day != p->time_s / DAY_S)
		map_free(&c->sent);
	if (c->sent_stacks.n > SENT_MAX || c->sent_hour != p->time_s / HOUR_S)
		map_free(&c->sent_stacks);
	c->sent_day = p->time_s / DAY_S;
	c->sent_hour = p->time_s / HOUR_S;
	r = clickhouse_groups(p);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->n_groups; i++)
		clickhouse_row(p, &p->groups[i]);
	clickhouse_row_of_window(p);
	return p->rows.failed ? -ENOMEM : 0;
}

static void clickhouse_putting_free(struct clickhouse_putting *p)
{
	for (size_t i = 0; i < p->n_groups; i++)
		free(p->groups[i].counts);
	free(p->groups);
	free(p->frames);
	map_free(&p->by_series);
	buf_free(&p->stack_rows);
	buf_free(&p->frame_rows);
	buf_free(&p->rows);
	buf_free(&p->path);
}

/* 1; 0: it is there already. After a failure nothing is taken to be sent. */
int clickhouse_put(void *store, const struct store_window *w, struct seam_error *err)
{
	struct clickhouse_putting p = { .c = store, .w = w };
	struct seam_error why = { 0 };
	int r;

	if (w->from_ns / 1000000000 > UINT32_MAX)
		return seam_error_set(err, ERANGE, NULL, SEAM_NO_OFFSET, NULL,
		                      "a window begins after 2106, which ClickHouse's times do not "
		                      "reach");
	p.time_s = (uint32_t)(w->from_ns / 1000000000);
	p.frames = calloc(profile_n_frames(w->profile) + 1, sizeof(*p.frames));
	r = p.frames ? clickhouse_ready(p.c, &why) : -ENOMEM;
	if (r >= 0 && p.c->looks)
		r = clickhouse_has(&p, &why);
	if (!r) {
		r = clickhouse_rows(&p);
		if (r >= 0)
			r = clickhouse_send(&p, &why);
		r = r < 0 ? r : 1;
	} else if (r > 0) {
		r = 0;
	}
	if (r < 0) {
		map_free(&p.c->sent);
		map_free(&p.c->sent_stacks);
		p.c->known = false;
		if (err)
			*err = why;
	}
	clickhouse_putting_free(&p);
	return r;
}
