// SPDX-License-Identifier: MIT
// sqlite_called.c: see sqlite_called.h: blocks of names. All are walked over where an hour is put:
// one after the other, so that memory is that of one. The last one is filled up before another
// begins.
#include "store/sqlite_called.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/leb.h"
#include "store/stacks/blocks.h"

#define CALLED_BLOCK 4096u /* functions */
/* A function's hour is not written anew each time. */
#define CALLED_HOURS 24

/* A block that is read, or that becomes one. */
struct called_block {
	int64_t id;
	size_t n;
	uint64_t seen[CALLED_BLOCK];
	struct buf plain;
	bool changed; /* seen */
};

/* A walk over the functions of a block. */
struct called_walk {
	struct cursor c;
	struct buf name, object; /* of the one that is met */
};

struct called_blocks {
	const struct sqlite_store *s;
	struct seam_error *err;
	sqlite3_stmt *read;
	struct called_block block;
};

/* ---- blocks ---- */

static int called_start(struct called_blocks *b, const struct sqlite_store *s,
                        struct seam_error *err)
{
	*b = (struct called_blocks){ .s = s, .err = err };
	b->read = sqlite_prepare(
	        s,
	        "SELECT id, n, seen, data FROM rolled_functions WHERE id > ?1 ORDER BY id LIMIT 1",
	        err);
	return b->read ? 0 : -err->code;
}

static void called_end(struct called_blocks *b)
{
	sqlite3_finalize(b->read);
	buf_free(&b->block.plain);
}

/* Unpacks a column. -EBADMSG; -ENOMEM. */
static int called_unpack(sqlite3_stmt *statement, int column, struct buf *to)
{
	const void *bytes;
	size_t n;
	int r = sqlite_blob(statement, column, &bytes, &n);

	buf_clear(to);
	return r < 0 ? r : blocks_unpack(to, bytes, n);
}

/* Goes to the next block; its names are left packed, if they are not asked for. 1; 0: that was the
 * last; -errno. Between two the table may change. */
static int called_next(struct called_blocks *b, bool names)
{
	struct called_block *of = &b->block;
	struct cursor c;
	int r;

	sqlite3_reset(b->read);
	sqlite3_bind_int64(b->read, 1, of->id);
	r = sqlite_step(b->s, b->read, b->err);
	if (r <= 0)
		return r;
	of->changed = false;
	of->id = sqlite3_column_int64(b->read, 0);
	if (sqlite3_column_int64(b->read, 1) < 1 ||
	    sqlite3_column_int64(b->read, 1) > CALLED_BLOCK || of->id < 1 ||
	    of->id > INT64_MAX - CALLED_BLOCK)
		return -EBADMSG;
	of->n = (size_t)sqlite3_column_int64(b->read, 1);
	r = called_unpack(b->read, 2, &of->plain);
	c = cursor_of(of->plain.bytes, of->plain.n, false);
	for (size_t i = 0; i < of->n && r >= 0; i++)
		of->seen[i] = leb_unsigned(&c);
	if (r >= 0 && c.failed)
		r = -EBADMSG;
	if (r >= 0 && names)
		r = called_unpack(b->read, 3, &of->plain);
	return r < 0 ? r : 1;
}

/* The next function of a block. -EBADMSG; -ENOMEM. */
static int called_walk_next(struct called_walk *w)
{
	const uint64_t shared = leb_unsigned(&w->c), n = leb_unsigned(&w->c);
	const unsigned char *bytes = cursor_bytes(&w->c, n);
	uint64_t object;

	if (w->c.failed || shared > w->name.n)
		return -EBADMSG;
	w->name.n = shared;
	buf_put(&w->name, bytes, n);
	object = leb_unsigned(&w->c);
	if (object) {
		bytes = cursor_bytes(&w->c, object - 1);
		buf_clear(&w->object);
		if (bytes)
			buf_put(&w->object, bytes, object - 1);
	}
	return w->c.failed ? -EBADMSG : w->name.failed || w->object.failed ? -ENOMEM : 0;
}

static struct called_walk called_walk(const struct called_block *block)
{
	return (struct called_walk){ .c = cursor_of(block->plain.bytes, block->plain.n, false) };
}

static void called_walk_end(struct called_walk *w)
{
	buf_free(&w->name);
	buf_free(&w->object);
}

/* Appends a function behind that of the last name and object; NULL: there is none. */
static void called_append(struct buf *to, const char *last_name, const char *last_object,
                          const char *name, const char *object)
{
	size_t shared = 0;

	while (last_name && last_name[shared] && last_name[shared] == name[shared])
		shared++;
	blocks_put_number(to, shared);
	blocks_put_number(to, strlen(name + shared));
	buf_put_text(to, name + shared);
	if (last_object && !strcmp(last_object, object)) {
		blocks_put_number(to, 0);
		return;
	}
	blocks_put_number(to, strlen(object) + 1);
	buf_put_text(to, object);
}

/* Writes a block: all of it, or only the hours. -errno. */
static int called_write(const struct called_blocks *b, struct called_block *block, bool all)
{
	struct buf plain = { 0 }, seen = { 0 }, data = { 0 };
	sqlite3_stmt *put = sqlite_prepare(
	        b->s,
	        all ? "INSERT OR REPLACE INTO rolled_functions (id, n, seen, data) VALUES "
	              "(?1, ?2, ?3, ?4)"
	            : "UPDATE rolled_functions SET seen = ?3 WHERE id = ?1 AND n = ?2",
	        b->err);
	int r = put ? 0 : -b->err->code;

	for (size_t i = 0; i < block->n; i++)
		blocks_put_number(&plain, block->seen[i]);
	if (r >= 0)
		r = blocks_pack(&seen, &plain, BLOCKS_WELL);
	if (r >= 0 && all)
		r = blocks_pack(&data, &block->plain, BLOCKS_WELL);
	if (r >= 0) {
		sqlite3_bind_int64(put, 1, block->id);
		sqlite3_bind_int64(put, 2, (int64_t)block->n);
		sqlite3_bind_blob(put, 3, seen.bytes, (int)seen.n, SQLITE_STATIC);
		if (all)
			sqlite3_bind_blob(put, 4, data.bytes, (int)data.n, SQLITE_STATIC);
		r = sqlite_step(b->s, put, b->err);
	}
	sqlite3_finalize(put);
	buf_free(&plain);
	buf_free(&seen);
	buf_free(&data);
	return r;
}

/* ---- putting ---- */

struct called_putting {
	struct called *functions;
	struct map by_hash; /* -> index, + 1 */
	uint64_t seen;      /* of the hour */
};

static uint64_t called_hash(const void *name, size_t name_n, const void *object, size_t object_n)
{
	return map_hash_bytes(object, object_n, map_hash_bytes(name, name_n, 0));
}

/* The function that is met, if it is one of those that are put; NULL. */
static struct called *called_find(const struct called_putting *p, struct called_walk *w)
{
	struct called *f;
	uint64_t at;

	if (!map_get(&p->by_hash,
	             called_hash(w->name.bytes, w->name.n, w->object.bytes, w->object.n), &at))
		return NULL;
	f = &p->functions[at - 1];
	return strcmp(f->name, buf_text(&w->name)) || strcmp(f->object, buf_text(&w->object)) ? NULL
	                                                                                      : f;
}

/* Finds those that a block has. That they are still met is said there once a day. -EBADMSG;
 * -ENOMEM. */
static int called_match(const struct called_putting *p, struct called_block *block)
{
	struct called_walk w = called_walk(block);
	int r = 0;

	for (size_t i = 0; i < block->n && r >= 0; i++) {
		struct called *f;

		r = called_walk_next(&w);
		f = r >= 0 && block->seen[i] ? called_find(p, &w) : NULL;
		if (!f)
			continue;
		f->id = block->id + (int64_t)i;
		if (block->seen[i] + CALLED_HOURS >= p->seen)
			continue;
		block->seen[i] = p->seen;
		block->changed = true;
	}
	called_walk_end(&w);
	return r;
}

/* New ones stand by object, then by name. */
static int called_order(const void *pa, const void *pb)
{
	const struct called *a = *(struct called *const *)pa, *b = *(struct called *const *)pb;
	const int order = strcmp(a->object, b->object);

	return order ? order : strcmp(a->name, b->name);
}

/* Puts n functions behind the last block, which is the one that was read last. -errno. */
static int called_put_new(struct called_blocks *b, const struct called_putting *p,
                          struct called **of, size_t n)
{
	struct called_block *block = &b->block;
	const struct called *last = NULL;
	int r = 0;

	qsort(of, n, sizeof(*of), called_order);
	for (size_t i = 0; i < n && r >= 0; i++) {
		if (!block->id || block->n == CALLED_BLOCK) {
			if (last)
				r = called_write(b, block, true);
			block->id = block->id ? block->id + CALLED_BLOCK : 1;
			block->n = 0;
			buf_clear(&block->plain);
			last = NULL;
		}
		of[i]->id = block->id + (int64_t)block->n;
		block->seen[block->n++] = p->seen;
		called_append(&block->plain, last ? last->name : NULL, last ? last->object : NULL,
		              of[i]->name, of[i]->object);
		last = of[i];
	}
	return r < 0 || !last ? r : called_write(b, block, true);
}

/* Makes it known by its hash which functions are put. -ENOMEM. */
static int called_known(struct called_putting *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct called *f = &p->functions[i];

		f->id = 0;
		if (map_put(&p->by_hash,
		            called_hash(f->name, strlen(f->name), f->object, strlen(f->object)),
		            i + 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Blocks are looked through, then the rest is put behind them. */
int sqlite_called_put(const struct sqlite_store *s, struct called *functions, size_t n,
                      int64_t hour, struct seam_error *err)
{
	struct called_putting p = { .functions = functions, .seen = (uint64_t)hour + 1 };
	struct called **fresh = calloc(n + 1, sizeof(struct called *));
	struct called_blocks *b = malloc(sizeof(*b));
	size_t n_fresh = 0;
	int r = fresh && b ? called_start(b, s, err) : -ENOMEM;

	if (r >= 0)
		r = called_known(&p, n);
	while (r >= 0 && (r = called_next(b, true)) > 0) {
		r = called_match(&p, &b->block);
		if (r >= 0 && b->block.changed)
			r = called_write(b, &b->block, false);
	}
	for (size_t i = 0; i < n && r >= 0; i++)
		if (!functions[i].id)
			fresh[n_fresh++] = &functions[i];
	if (r >= 0 && n_fresh)
		r = called_put_new(b, &p, fresh, n_fresh);
	if (b)
		called_end(b);
	map_free(&p.by_hash);
	free(fresh);
	free(b);
	return r;
}

/* ---- naming ---- */

/* NULL: out of memory. */
static char *called_text(struct buf *b)
{
	return strdup(buf_text(b));
}

/* Names those of a block: functions from *at on. -EBADMSG; -ENOMEM. */
static int called_name_block(const struct called_block *block, struct store_function **functions,
                             size_t n, size_t *at)
{
	struct called_walk w = called_walk(block);
	int r = 0;

	for (size_t i = 0; i < block->n && r >= 0; i++) {
		const uint64_t id = (uint64_t)block->id + i;

		r = called_walk_next(&w);
		for (; *at < n && functions[*at]->id <= id && r >= 0; (*at)++) {
			struct store_function *f = functions[*at];

			if (f->id < id || !block->seen[i])
				continue;
			f->name = called_text(&w.name);
			f->object = called_text(&w.object);
			r = f->name && f->object ? 0 : -ENOMEM;
		}
	}
	called_walk_end(&w);
	return r;
}

/* Only blocks that have one of them are unpacked. */
int sqlite_called_name(const struct sqlite_store *s, struct store_function **functions, size_t n,
                       struct seam_error *err)
{
	struct called_blocks *b = malloc(sizeof(*b));
	int r = b ? called_start(b, s, err) : -ENOMEM;
	size_t at = 0;

	while (r >= 0 && at < n && (r = called_next(b, false)) > 0) {
		const uint64_t id = (uint64_t)b->block.id;

		while (at < n && functions[at]->id < id)
			at++;
		if (at == n || functions[at]->id >= id + b->block.n)
			continue;
		r = called_unpack(b->read, 3, &b->block.plain);
		if (r >= 0)
			r = called_name_block(&b->block, functions, n, &at);
	}
	if (b)
		called_end(b);
	free(b);
	return r;
}

/* ---- forgetting ---- */

/* Writes a block without the names of those that were let go. -errno. */
static int called_empty(const struct called_blocks *b, struct called_block *block)
{
	struct called_walk w = called_walk(block);
	struct buf plain = { 0 }, name = { 0 }, object = { 0 };
	int r = 0;

	for (size_t i = 0; i < block->n && r >= 0; i++) {
		r = called_walk_next(&w);
		if (r < 0)
			break;
		called_append(&plain, i ? buf_text(&name) : NULL, i ? buf_text(&object) : NULL,
		              block->seen[i] ? buf_text(&w.name) : "",
		              block->seen[i] ? buf_text(&w.object) : "");
		buf_clear(&name);
		buf_clear(&object);
		if (!block->seen[i])
			continue;
		buf_put_text(&name, buf_text(&w.name));
		buf_put_text(&object, buf_text(&w.object));
	}
	buf_free(&block->plain);
	block->plain = plain;
	if (r >= 0)
		r = called_write(b, block, true);
	buf_free(&name);
	buf_free(&object);
	called_walk_end(&w);
	return r;
}

/* Lets go of those of a block that were not met from `seen` on. A block is written anew where they
 * are a quarter of it, and goes where they are all. -errno. */
static int called_forget_block(struct called_blocks *b, uint64_t seen)
{
	struct called_block *block = &b->block;
	size_t stay = 0, go = 0;
	int r;

	for (size_t i = 0; i < block->n; i++) {
		if (block->seen[i] >= seen)
			stay++;
		else
			go += block->seen[i] != 0;
	}
	if (!stay)
		return sqlite_run(b->s, "DELETE FROM rolled_functions WHERE id = ?1", &block->id, 1,
		                  NULL, b->err);
	if (go * 4 < stay + go)
		return 0;
	for (size_t i = 0; i < block->n; i++)
		if (block->seen[i] < seen)
			block->seen[i] = 0;
	r = called_unpack(b->read, 3, &block->plain);
	return r < 0 ? r : called_empty(b, block);
}

/* Block by block; most stay as they are. */
int sqlite_called_forget(const struct sqlite_store *s, int64_t hour, struct seam_error *err)
{
	struct called_blocks *b = malloc(sizeof(*b));
	const uint64_t seen = hour > CALLED_HOURS ? (uint64_t)(hour - CALLED_HOURS) + 1 : 1;
	int r = b ? called_start(b, s, err) : -ENOMEM;

	while (r >= 0 && (r = called_next(b, false)) != 0) {
		if (r > 0)
			r = called_forget_block(b, seen);
		/* One that makes no sense is of no use, and must not keep a window out. */
		if (r == -EBADMSG)
			r = sqlite_run(s, "DELETE FROM rolled_functions WHERE id = ?1",
			               &b->block.id, 1, NULL, err);
		if (r < 0)
			break;
	}
	if (b)
		called_end(b);
	free(b);
	return r;
}
