// SPDX-License-Identifier: MIT
// jitdump.c: jit-PID.dump, in which JIT compilers tell code as they make, move and replace it. Only names
// are taken: of several functions that were at an address, the one that came last has it, as in perf
// maps. Trust is perfmap.c's: whose file it may be.
#include <errno.h>
#include <stdio.h>
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

struct reading {
	struct symbol_object *object;
	struct map by_index; /* code_index -> offset of its name in the file + 1 */
	const unsigned char *bytes;
	size_t n;
	uint32_t rank;
};

static int put(struct reading *r, uint64_t start, uint64_t size, const char *name)
{
	struct table_symbol symbol = {
		.start = start, .end = start + size, .rank = r->rank++, .bind = TABLE_GLOBAL
	};

	if (!size || size > UINT64_MAX - start || !*name) {
		r->object->bad_lines++;
		return 0;
	}
	return table_put(&r->object->table, &symbol, name, strlen(name), "");
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
		r->object->bad_lines++;
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
		r->object->bad_lines++;
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

		cursor_u64(c); /* time */
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

int jitdump_take(struct symbol_object *object, const void *bytes, size_t n)
{
	struct reading r = { .object = object, .bytes = bytes, .n = n };
	struct cursor c = cursor_of(bytes, n, false);
	uint32_t magic = cursor_u32(&c), header;
	int rc;

	if (magic == __builtin_bswap32(MAGIC))
		c.swap = true;
	else if (c.failed || magic != MAGIC)
		return -EBADMSG;
	cursor_u32(&c); /* version: 1, and later ones only add */
	header = cursor_u32(&c);
	if (c.failed || header < HEADER_LEAST || !cursor_seek(&c, header))
		return -EBADMSG;
	rc = take_records(&r, &c);
	map_free(&r.by_index);
	return rc;
}
