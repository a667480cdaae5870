// SPDX-License-Identifier: MIT
/*
 * coroot.c: see push.h: a window as rows of the tables of profiles that Coroot keeps in ClickHouse,
 * as they are: profiling_stacks, profiling_samples and profiling_profiles.
 *
 * A window is one insert into profiling_samples, behind those of what it names. That table adds a
 * second copy up. A stack is a list of texts "function file:line", leaf first, and its number is
 * their FNV-1a.
 */
#include "push/push.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "export/export.h"
#include "export/proto.h"

#define FNV_BASIS 0xcbf29ce484222325ULL
#define FNV_PRIME 0x100000001b3ULL
#define DAYS_MOST 36500u
#define TEXT_MOST 65536u

/* A window on its way. */
struct coroot {
	const struct push_window *w;
	const struct push_part *part;
	struct buf
	        *frames;  /* of the part, by the profile's number: its text; empty: not made yet */
	struct buf stack; /* texts of one stack, as RowBinary */
	struct buf type;
	struct map stacks;   /* which were written: hashes of service and stack */
	struct map profiles; /* hashes of service and type */
	struct buf stack_rows, sample_rows, profile_rows;
};

/* Time on CPUs has the name by which Coroot's own agent sends it, so that it is shown as that. */
void coroot_type(const struct profile *p, uint32_t event, struct buf *to)
{
	const char *name = profile_event_name(p, event);

	if (profile_event_unit(p, event) == PROFILE_NANOSECONDS && strncmp(name, "offcpu", 6) != 0)
		buf_put_text(to, "ebpf:cpu:nanoseconds");
	else
		buf_printf(to, "seam:%s:%s", name, export_unit(p, event));
}

static uint64_t coroot_fnv(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *b = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ b[i]) * FNV_PRIME;
	return hash;
}

/* A text of RowBinary. */
static void coroot_text(struct buf *row, const char *text)
{
	size_t n = strnlen(text, TEXT_MOST);

	proto_varint(row, n);
	buf_put(row, text, n);
}

/* The text of a frame, made once. NULL: out of memory. */
static const struct buf *coroot_frame(struct coroot *c, uint32_t id)
{
	const struct profile *p = c->part->profile;
	const struct profile_frame *f = profile_frame_at(p, id);
	struct buf *text = &c->frames[id];

	if (!text->n) {
		export_frame_name(p, id, text);
		buf_printf(text, " %s:%u", f->file ? profile_text(p, f->file) : "", f->line);
	}
	return text->failed ? NULL : text;
}

/* Puts a stack's texts into c->stack, and its number into *hash. -ENOMEM. */
static int coroot_stack(struct coroot *c, uint32_t leaf, uint64_t *hash)
{
	const struct profile *p = c->part->profile;
	size_t n = 0;

	for (uint32_t node = leaf; node != PROFILE_ROOT; node = profile_node_at(p, node).parent)
		n++;
	buf_clear(&c->stack);
	proto_varint(&c->stack, n);
	*hash = FNV_BASIS;
	for (uint32_t node = leaf; node != PROFILE_ROOT; node = profile_node_at(p, node).parent) {
		const struct buf *text = coroot_frame(c, profile_node_at(p, node).frame);
		size_t most;

		if (!text)
			return -ENOMEM;
		most = text->n < TEXT_MOST ? text->n : TEXT_MOST;
		proto_varint(&c->stack, most);
		buf_put(&c->stack, text->bytes, most);
		*hash = coroot_fnv(*hash, text->bytes, most);
	}
	return c->stack.failed ? -ENOMEM : 0;
}

/* 1: nobody had this key yet; 0; -ENOMEM. */
static int coroot_first(struct map *seen, uint64_t key)
{
	bool is_new;

	return map_slot(seen, key, &is_new) ? is_new : -ENOMEM;
}

/* Appends the row of the stack in c->stack, if it was not written for this service. -ENOMEM. */
static int coroot_stack_row(struct coroot *c, const char *service, uint64_t hash)
{
	int r = coroot_first(&c->stacks, coroot_fnv(hash, service, strlen(service)));

	if (r <= 0)
		return r;
	coroot_text(&c->stack_rows, service);
	buf_put_u64(&c->stack_rows, hash);
	buf_put_u64(&c->stack_rows, c->w->to_ns);
	return buf_put(&c->stack_rows, c->stack.bytes, c->stack.n);
}

static int coroot_profile_row(struct coroot *c, const char *service, const char *type)
{
	uint64_t key = coroot_fnv(FNV_BASIS, service, strlen(service) + 1);
	int r = coroot_first(&c->profiles, coroot_fnv(key, type, strlen(type)));

	if (r <= 0)
		return r;
	coroot_text(&c->profile_rows, service);
	coroot_text(&c->profile_rows, type);
	return buf_put_u64(&c->profile_rows, c->w->to_ns);
}

/* All labels but the service, as a Map. */
static void coroot_labels(struct buf *row, const struct push_part *part)
{
	size_t n = 0;

	for (size_t i = 0; i < part->n_labels; i++)
		n += strcmp(part->labels[i].key, "service") != 0;
	proto_varint(row, n);
	for (size_t i = 0; i < part->n_labels; i++) {
		const char *key = part->labels[i].key;

		if (!strcmp(key, "service"))
			continue;
		coroot_text(row, !strcmp(key, "container") ? "container.id" : key);
		coroot_text(row, part->labels[i].value);
	}
}

/* Appends what the tables get of one row of the part's profile. -ENOMEM. */
static int coroot_row(struct coroot *c, const struct profile_row *row)
{
	const char *service = push_service(c->part), *type;
	struct buf *to = &c->sample_rows;
	uint64_t hash;
	int r = coroot_stack(c, row->key.node, &hash);

	buf_clear(&c->type);
	coroot_type(c->part->profile, row->key.event, &c->type);
	type = buf_text(&c->type);
	if (r >= 0)
		r = coroot_stack_row(c, service, hash);
	if (r >= 0)
		r = coroot_profile_row(c, service, type);
	coroot_text(to, service);
	coroot_text(to, type);
	buf_put_u64(to, c->w->from_ns);
	buf_put_u64(to, c->w->to_ns);
	coroot_labels(to, c->part);
	buf_put_u64(to, hash);
	buf_put_u64(to, row->weight > INT64_MAX ? INT64_MAX : row->weight);
	return c->type.failed || to->failed ? -ENOMEM : r;
}

/* Appends the rows of a part. -ENOMEM. */
static int coroot_part(struct coroot *c, const struct push_part *part)
{
	size_t n = profile_n_frames(part->profile) + 1;
	int r = 0;

	c->part = part;
	c->frames = calloc(n, sizeof(*c->frames));
	if (!c->frames)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < profile_n_rows(part->profile); i++)
		r = coroot_row(c, profile_row_at(part->profile, i));
	for (size_t i = 0; i < n; i++)
		buf_free(&c->frames[i]);
	free(c->frames);
	return r < 0 ? r : 0;
}

/* ---- requests ---- */

/* The path of a URL is a database: "/name", as "name.". -EINVAL. */
static int coroot_database(struct buf *to, const struct push_server *s, struct seam_error *err)
{
	const char *name = s->path + (*s->path == '/');
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	if (name[n])
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "'%s' is no name of a database: letters, digits and '_'",
		                      name);
	buf_put(to, name, n);
	return n ? buf_put_text(to, ".") : 0;
}

/* Inserts rows, into "profiling_stacks (...)". */
static int coroot_insert(const struct push_server *s, const char *what, const struct buf *rows,
                         bool *unsure, struct seam_error *err)
{
	struct buf sql = { 0 }, path = { 0 };
	int r;

	buf_put_text(&sql, "INSERT INTO ");
	r = coroot_database(&sql, s, err);
	buf_printf(&sql, "%s FORMAT RowBinary", what);
	buf_put_text(&path, "/?query=");
	http_escape(&path, buf_text(&sql));
	if (r >= 0 && (rows->failed || sql.failed || path.failed))
		r = -ENOMEM;
	if (r >= 0) {
		const struct http_request q = {
			.path = buf_text(&path), .body = rows->bytes, .n = rows->n, .gzip = true
		};

		r = push_post(s, &q, unsure, err);
	}
	buf_free(&sql);
	buf_free(&path);
	return r;
}

/* Sends all rows. Samples go last: until then all can be sent again. */
int coroot_tables(const struct push_server *s, struct push_window *w, bool *unsure,
                  struct seam_error *err)
{
	struct coroot c = { .w = w };
	bool any; /* what these insert is replaced by a second copy */
	int r = 0;

	if (w->to_ns > INT64_MAX)
		return seam_error_set(
		        err, ERANGE, NULL, SEAM_NO_OFFSET, NULL,
		        "a window ends after 2262, which Coroot's times do not reach");
	for (size_t i = w->done; i < w->n_parts && r >= 0; i++)
		r = coroot_part(&c, &w->parts[i]);
	if (r >= 0 && w->done < w->n_parts)
		r = coroot_insert(s, "profiling_stacks (ServiceName, Hash, LastSeen, Stack)",
		                  &c.stack_rows, &any, err);
	if (r >= 0 && w->done < w->n_parts)
		r = coroot_insert(s, "profiling_profiles (ServiceName, Type, LastSeen)",
		                  &c.profile_rows, &any, err);
	if (r >= 0 && w->done < w->n_parts)
		r = coroot_insert(s,
		                  "profiling_samples (ServiceName, Type, Start, End, Labels, "
		                  "StackHash, Value)",
		                  &c.sample_rows, unsure, err);
	if (r >= 0)
		w->done = w->n_parts;
	buf_free(&c.stack);
	buf_free(&c.type);
	buf_free(&c.stack_rows);
	buf_free(&c.sample_rows);
	buf_free(&c.profile_rows);
	map_free(&c.stacks);
	map_free(&c.profiles);
	return r;
}

/* ---- tables ---- */

/* As Coroot makes them, for a server that Coroot has not come to yet. */
static const struct coroot_table {
	const char *name, *columns, *rest, *ttl;
} coroot_tables_are[] = {
	{ "profiling_stacks",
	  "ServiceName LowCardinality(String) CODEC(ZSTD(1)), Hash UInt64 CODEC(ZSTD(1)), LastSeen "
	  "DateTime64(9) CODEC(Delta, ZSTD(1)), Stack Array(String) CODEC(ZSTD(1))",
	  "ENGINE = ReplacingMergeTree PARTITION BY toDate(LastSeen) ORDER BY (ServiceName, Hash)",
	  "LastSeen" },
	{ "profiling_samples",
	  "ServiceName LowCardinality(String) CODEC(ZSTD(1)), Type LowCardinality(String) "
	  "CODEC(ZSTD(1)), Start DateTime64(9) CODEC(Delta, ZSTD(1)), End DateTime64(9) "
	  "CODEC(Delta, ZSTD(1)), Labels Map(LowCardinality(String), String) CODEC(ZSTD(1)), "
	  "StackHash UInt64 CODEC(ZSTD(1)), Value Int64 CODEC(ZSTD(1))",
	  "ENGINE = MergeTree PARTITION BY toDate(Start) ORDER BY (ServiceName, Type, "
	  "toUnixTimestamp(Start), toUnixTimestamp(End))",
	  "Start" },
	{ "profiling_profiles",
	  "ServiceName LowCardinality(String) CODEC(ZSTD(1)), Type LowCardinality(String) "
	  "CODEC(ZSTD(1)), LastSeen DateTime64(9) CODEC(Delta, ZSTD(1))",
	  "ENGINE = ReplacingMergeTree ORDER BY (ServiceName, Type)", "LastSeen" },
};

/* Appends the statement that makes table number i. 1; 0: there is none of this number. -EINVAL. */
int coroot_create(struct buf *sql, const struct push_server *s, size_t i, unsigned keep_days,
                  struct seam_error *err)
{
	const struct coroot_table *t = &coroot_tables_are[i];
	int r;

	if (i >= sizeof(coroot_tables_are) / sizeof(coroot_tables_are[0]))
		return 0;
	buf_put_text(sql, "CREATE TABLE IF NOT EXISTS ");
	r = coroot_database(sql, s, err);
	buf_printf(sql, "%s (%s) %s", t->name, t->columns, t->rest);
	if (keep_days)
		buf_printf(sql, " TTL toDateTime(%s) + toIntervalDay(%u)", t->ttl,
		           keep_days < DAYS_MOST ? keep_days : DAYS_MOST);
	return r < 0 ? r : sql->failed ? -ENOMEM : 1;
}

/* Runs a statement. */
int coroot_run(const struct push_server *s, const struct buf *sql, struct seam_error *err)
{
	const struct http_request q = {
		.path = "/", .content_type = "text/plain", .body = sql->bytes, .n = sql->n
	};
	bool unsure;

	return push_post(s, &q, &unsure, err);
}
