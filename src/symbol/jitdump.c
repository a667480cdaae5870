// SPDX-License-Identifier: MIT
// jitdump.c: jit-PID.dump, in which JIT compilers tell code as they make, move and replace it. Names are taken, and
// times where one piece of code stands in another's place: such code has no name without a time. Trust is
// perfmap.c's: whose file it may be.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "symbol/object.h"

#define MAGIC 0x4a695444u
#define HEADER_LEAST 40u
#define RECORD_HEADER 16u

enum record {
	RECORD_LOAD,
	RECORD_MOVE,
};

#define FLAG_ARCH_TIMESTAMP 1u /* of the header: times are the processor's */

struct code {
	struct symbol_jit_code told;
	uint32_t rank;  /* in the file */
	bool ambiguous; /* what is at its addresses depends on the time */
};

struct reading {
	struct buf codes;    /* struct code */
	struct map by_index; /* code_index -> offset of its name in the file + 1 */
	const unsigned char *bytes;
	size_t n;
	uint64_t time_ns; /* of the record */
	uint64_t bad;     /* records that make no sense */
	bool other_clock;
};

static int put(struct reading *r, uint64_t start, uint64_t size, const char *name)
{
	struct code code = {
		.told = { .time_ns = r->time_ns, .start = start, .size = size, .name = name },
		.rank = (uint32_t)(r->codes.n / sizeof(code))
	};

	if (!size || size > UINT64_MAX - start || !*name) {
		r->bad++;
		return 0;
	}
	return buf_put(&r->codes, &code, sizeof(code));
}

static int take_load(struct reading *r, struct cursor *c)
{
	uint64_t address, size, index, *slot;
	const char *name;

	cursor_u64(c); /* pid and tid as the compiler's namespace has them */
	cursor_u64(c); /* vma */
	address = cursor_u64(c);
	size = cursor_u64(c);
	index = cursor_u64(c);
	name = cursor_string(c);
	if (c->failed || !name) {
		r->bad++;
		return 0;
	}
	slot = map_slot(&r->by_index, index, NULL);
	if (!slot)
		return -ENOMEM;
	*slot = (uint64_t)((const unsigned char *)name - r->bytes) + 1;
	return put(r, address, size, name);
}

static int take_move(struct reading *r, struct cursor *c)
{
	uint64_t address, size, index, name;

	cursor_u64(c);
	cursor_u64(c);
	cursor_u64(c); /* where it was: samples from before the move are still there */
	address = cursor_u64(c);
	size = cursor_u64(c);
	index = cursor_u64(c);
	if (c->failed || !map_get(&r->by_index, index, &name)) {
		r->bad++;
		return 0;
	}
	return put(r, address, size, (const char *)r->bytes + name - 1);
}

static int take_records(struct reading *r, struct cursor *c)
{
	int rc = 0;

	while (rc >= 0 && cursor_left(c) >= RECORD_HEADER) {
		uint32_t id = cursor_u32(c), total = cursor_u32(c);
		const unsigned char *body;
		struct cursor record;

		r->time_ns = cursor_u64(c);
		if (total < RECORD_HEADER || total - RECORD_HEADER > cursor_left(c))
			break; /* it is still being written, or was cut */
		body = cursor_bytes(c, total - RECORD_HEADER);
		record = cursor_of(body, total - RECORD_HEADER, c->swap);
		if (id == RECORD_LOAD)
			rc = take_load(r, &record);
		else if (id == RECORD_MOVE)
			rc = take_move(r, &record);
	}
	return rc;
}

static int read_dump(struct reading *r, const void *bytes, size_t n)
{
	struct cursor c = cursor_of(bytes, n, false);
	uint32_t magic = cursor_u32(&c), header;

	r->bytes = bytes;
	r->n = n;
	if (magic == __builtin_bswap32(MAGIC))
		c.swap = true;
	else if (c.failed || magic != MAGIC)
		return -EBADMSG;
	cursor_u32(&c); /* version: 1, and later ones only add */
	header = cursor_u32(&c);
	cursor_u64(&c); /* machine, padding */
	cursor_u32(&c); /* pid */
	cursor_u64(&c); /* time */
	r->other_clock = cursor_u64(&c) & FLAG_ARCH_TIMESTAMP;
	if (c.failed || header < HEADER_LEAST || !cursor_seek(&c, header))
		return -EBADMSG;
	return take_records(r, &c);
}

static void reading_free(struct reading *r)
{
	buf_free(&r->codes);
	map_free(&r->by_index);
}

static int order_by_start(const void *pa, const void *pb)
{
	const struct code *a = pa, *b = pb;

	if (a->told.start != b->told.start)
		return a->told.start < b->told.start ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int order_by_time(const void *pa, const void *pb)
{
	const struct code *a = pa, *b = pb;

	if (a->told.time_ns != b->told.time_ns)
		return a->told.time_ns < b->told.time_ns ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static bool is_same(const struct code *a, const struct code *b)
{
	return a->told.start == b->told.start && a->told.size == b->told.size &&
	       !strcmp(a->told.name, b->told.name);
}

/* Pieces that overlap hang together; where all of these are the same, told again, nothing was replaced. */
static void find_ambiguous(struct reading *r)
{
	struct code *codes = (void *)r->codes.bytes;
	size_t n = r->codes.n / sizeof(*codes), first = 0;

	if (n)
		qsort(codes, n, sizeof(*codes), order_by_start);
	while (first < n) {
		uint64_t end = codes[first].told.start + codes[first].told.size;
		bool same = true;
		size_t i = first + 1;

		for (; i < n && codes[i].told.start < end; i++) {
			uint64_t to = codes[i].told.start + codes[i].told.size;

			same = same && is_same(&codes[i], &codes[first]);
			end = to > end ? to : end;
		}
		for (size_t k = first; k < i; k++)
			codes[k].ambiguous = !same;
		first = i;
	}
}

int jitdump_take(struct symbol_object *object, const void *bytes, size_t n)
{
	struct reading r = { 0 };
	int rc = read_dump(&r, bytes, n);
	const struct code *codes;

	if (rc >= 0)
		find_ambiguous(&r);
	codes = (const void *)r.codes.bytes;
	for (size_t i = 0; i < r.codes.n / sizeof(*codes) && rc >= 0; i++) {
		const struct symbol_jit_code *c = &codes[i].told;
		struct table_symbol symbol = { .start = c->start,
			                       .end = c->start + c->size,
			                       .rank = codes[i].rank,
			                       .bind = TABLE_GLOBAL };

		object->ambiguous |= codes[i].ambiguous;
		if (!codes[i].ambiguous)
			rc = table_put(&object->table, &symbol, c->name, strlen(c->name), "");
	}
	object->bad_lines += r.bad;
	reading_free(&r);
	return rc < 0 ? rc : 0;
}

int symbol_jit_replaced(const struct symbol_opts *opts, uint32_t pid, const char *path,
                        int (*each)(void *ctx, const struct symbol_jit_code *code), void *ctx)
{
	struct buf where = { 0 }, bytes = { 0 };
	struct reading r = { 0 };
	struct code *codes;
	int rc = opts->foreign && !opts->map_dir
	                 ? -ENOENT
	                 : perfmap_read_jitdump(opts, pid, path, &where, &bytes);

	if (rc >= 0)
		rc = read_dump(&r, bytes.bytes, bytes.n);
	if (rc >= 0 && r.other_clock)
		rc = -ENOTSUP;
	if (rc >= 0)
		find_ambiguous(&r);
	codes = (void *)r.codes.bytes;
	if (rc >= 0 && r.codes.n)
		qsort(codes, r.codes.n / sizeof(*codes), sizeof(*codes), order_by_time);
	for (size_t i = 0; i < r.codes.n / sizeof(*codes) && rc >= 0; i++)
		if (codes[i].ambiguous)
			rc = each(ctx, &codes[i].told);
	reading_free(&r);
	buf_free(&where);
	buf_free(&bytes);
	return rc < 0 ? rc : 0;
}
