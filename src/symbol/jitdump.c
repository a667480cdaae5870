// SPDX-License-Identifier: MIT
/*
 * jitdump.c: jit-PID.dump, in which JIT compilers write code as they make, move and replace it.
 * Reads names, and times where one piece of code stands in another's place: such code has no name
 * without a time. What the dump says of lines and of unwinding is located here, and read by
 * jitlines.c and tables/jit_tables.c. perfmap.c decides whether the file is trusted.
 *
 * The format is perf's (jitdump specification): a header, then records of id, size and time. The
 * writer is a process that was recorded, and may be hostile or be killed while it writes: each
 * record is read through a cursor of its own, and what makes no sense is counted.
 */
#include "symbol/jitdump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "symbol/object.h"
#include "symbol/process_file.h"

#define MAGIC 0x4a695444u
#define HEADER_LEAST 40u
#define RECORD_HEADER 16u

enum record {
	RECORD_LOAD,
	RECORD_MOVE,
	RECORD_DEBUG_INFO,
	RECORD_CLOSE,
	RECORD_UNWINDING,
};

/* With this flag times cannot be compared with those of samples. */
#define FLAG_ARCH_TIMESTAMP 1u /* of the header: times are the processor's */

static size_t jitdump_count(const struct jitdump *d)
{
	return d->codes.n / sizeof(struct jitdump_code);
}

/* Adds a piece of code. 1: it is the last of codes now; 0: it makes no sense. -ENOMEM. */
static int jitdump_put(struct jitdump *d, struct jitdump_code *code)
{
	code->told.time_ns = d->time_ns;
	code->told.number = (uint32_t)jitdump_count(d);
	if (!code->told.size || code->told.size > UINT64_MAX - code->told.start ||
	    !*code->told.name) {
		d->bad++;
		return 0;
	}
	return buf_put(&d->codes, code, sizeof(*code)) < 0 ? -ENOMEM : 1;
}

/* Attaches the lines that were announced for code at this address, now that the code has come.
 * lines: the position of the record's body in the dump, as told_lines has it. */
static void jitdump_take_told_lines(struct jitdump *d, struct jitdump_code *code)
{
	struct cursor c = cursor_of(d->bytes, d->n, d->swap);
	uint64_t at;

	if (!map_get(&d->told_lines, code->told.start, &at))
		return;
	map_del(&d->told_lines, code->told.start);
	/* Back to the size in the record's own header: id (4), size (4), time (8). */
	cursor_seek(&c, at - RECORD_HEADER + 4);
	code->n_lines = cursor_u32(&c) - RECORD_HEADER;
	code->lines = d->bytes + at;
}

/* Takes a piece of code as the JIT compiler has made it: place, size, name, and what was told
 * before about its lines and its unwinding. A record that makes no sense is counted in d->bad. */
static int jitdump_take_load(struct jitdump *d, struct cursor *c)
{
	struct jitdump_code code = { 0 };
	uint64_t index;
	int rc;

	/* What was told of unwinding belongs to the next piece of code, whoever that is. */
	code.frames = d->frames;
	code.n_frames = d->n_frames;
	d->frames = NULL;
	cursor_u64(c); /* pid and tid as the compiler's namespace has them */
	cursor_u64(c); /* vma */
	code.told.start = code.lines_start = cursor_u64(c);
	code.told.size = cursor_u64(c);
	index = cursor_u64(c);
	code.told.name = cursor_string(c);
	if (c->failed || !code.told.name) {
		d->bad++;
		return 0;
	}
	/* A compiler may leave the bytes out. */
	code.bytes = code.told.size <= cursor_left(c) ? c->at : NULL;
	jitdump_take_told_lines(d, &code);
	rc = jitdump_put(d, &code);
	return rc > 0 ? map_put(&d->by_index, index, jitdump_count(d) - 1) : rc;
}

/* Takes the new place of code that was told before. Its bytes, lines and unwinding hold there as
 * well if its size is the same. */
static int jitdump_take_move(struct jitdump *d, struct cursor *c)
{
	struct jitdump_code code = { 0 };
	uint64_t address, size, index, number;

	cursor_u64(c);
	cursor_u64(c);
	cursor_u64(c); /* where it was: samples from before the move are still there */
	address = cursor_u64(c);
	size = cursor_u64(c);
	index = cursor_u64(c);
	if (c->failed || !map_get(&d->by_index, index, &number)) {
		d->bad++;
		return 0;
	}
	code = ((const struct jitdump_code *)(const void *)d->codes.bytes)[number];
	/* A JIT compiler may move code and cut it; then nothing that was told of it holds. */
	if (size != code.told.size)
		code.bytes = code.lines = code.frames = NULL;
	code.moved = true;
	code.told.start = address;
	code.told.size = size;
	return jitdump_put(d, &code);
}

/* The record of a piece's lines. It comes before the code, though not always right before it where
 * several threads write, or one writes many at once (as LLVM's PerfSupportPlugin does), so it is
 * found by the address. A later one for the same address replaces it. */
static int jitdump_take_debug_info(struct jitdump *d, struct cursor *c)
{
	uint64_t address = cursor_u64(c);

	if (c->failed) {
		d->bad++;
		return 0;
	}
	return map_put(&d->told_lines, address, (uint64_t)(c->start - d->bytes));
}

/* The record of a piece's unwind information, which comes right before the code. Behind its
 * .eh_frame is a search table, which one function does not need. */
static int jitdump_take_unwinding(struct jitdump *d, struct cursor *c)
{
	uint64_t size = cursor_u64(c), header = cursor_u64(c);

	cursor_u64(c); /* bytes of it that are mapped in the process */
	d->frames = NULL;
	if (c->failed || header > size || size > cursor_left(c)) {
		d->bad++;
		return 0;
	}
	d->n_frames = (size_t)(size - header);
	d->frames = d->n_frames ? c->at : NULL;
	return 0;
}

/* Reads the records one after the other. The file may still be written to: it ends at the first
 * record that is not whole. */
static int jitdump_take_records(struct jitdump *d, struct cursor *c)
{
	int rc = 0;

	while (rc >= 0 && cursor_left(c) >= RECORD_HEADER) {
		uint32_t id = cursor_u32(c), total = cursor_u32(c);
		const unsigned char *body;
		struct cursor record;

		d->time_ns = cursor_u64(c);
		if (total < RECORD_HEADER || total - RECORD_HEADER > cursor_left(c))
			break; /* it is still being written, or was cut */
		body = cursor_bytes(c, total - RECORD_HEADER);
		record = cursor_of(body, total - RECORD_HEADER, c->swap);
		if (id == RECORD_LOAD)
			rc = jitdump_take_load(d, &record);
		else if (id == RECORD_MOVE)
			rc = jitdump_take_move(d, &record);
		else if (id == RECORD_DEBUG_INFO)
			rc = jitdump_take_debug_info(d, &record);
		else if (id == RECORD_UNWINDING)
			rc = jitdump_take_unwinding(d, &record);
	}
	return rc;
}

/* Reads the header, in either byte order, and then all records. -EBADMSG: it is no jitdump.
 * -ENOMEM. */
static int jitdump_read_dump(struct jitdump *d, const void *bytes, size_t n)
{
	struct cursor c = cursor_of(bytes, n, false);
	uint32_t magic = cursor_u32(&c), header;

	d->bytes = bytes;
	d->n = n;
	if (magic == __builtin_bswap32(MAGIC))
		c.swap = true;
	else if (c.failed || magic != MAGIC)
		return -EBADMSG;
	cursor_u32(&c); /* version: 1, and later ones only add */
	header = cursor_u32(&c);
	d->swap = c.swap;
	d->machine = cursor_u32(&c);
	cursor_u32(&c); /* padding */
	cursor_u32(&c); /* pid */
	cursor_u64(&c); /* time */
	d->other_clock = cursor_u64(&c) & FLAG_ARCH_TIMESTAMP;
	if (c.failed || header < HEADER_LEAST || !cursor_seek(&c, header))
		return -EBADMSG;
	return jitdump_take_records(d, &c);
}

void jitdump_free(struct jitdump *d)
{
	buf_free(&d->codes);
	map_free(&d->by_index);
	map_free(&d->told_lines);
}

/* By address; pieces of one address in the order of the file. */
static int jitdump_order_by_start(const void *pa, const void *pb)
{
	const struct jitdump_code *a = pa, *b = pb;

	if (a->told.start != b->told.start)
		return a->told.start < b->told.start ? -1 : 1;
	return a->told.number < b->told.number ? -1 : a->told.number > b->told.number;
}

/* In the order in which code came into being. */
static int jitdump_order_by_time(const void *pa, const void *pb)
{
	const struct jitdump_code *a = pa, *b = pb;

	if (a->told.time_ns != b->told.time_ns)
		return a->told.time_ns < b->told.time_ns ? -1 : 1;
	return a->told.number < b->told.number ? -1 : a->told.number > b->told.number;
}

/* Whether two pieces are the same: a compiler may write a piece again. */
static bool jitdump_is_same(const struct jitdump_code *a, const struct jitdump_code *b)
{
	return a->told.start == b->told.start && a->told.size == b->told.size &&
	       !strcmp(a->told.name, b->told.name);
}

/* Marks code whose address alone does not name it. Pieces that overlap form a group. If all of a
 * group are the same piece, written again, nothing was replaced. */
static void jitdump_find_ambiguous(struct jitdump *d)
{
	struct jitdump_code *codes = (void *)d->codes.bytes;
	size_t n = jitdump_count(d), first = 0;

	if (n)
		qsort(codes, n, sizeof(*codes), jitdump_order_by_start);
	while (first < n) {
		uint64_t end = codes[first].told.start + codes[first].told.size;
		bool same = true;
		size_t i = first + 1;

		for (; i < n && codes[i].told.start < end; i++) {
			uint64_t to = codes[i].told.start + codes[i].told.size;

			same = same && jitdump_is_same(&codes[i], &codes[first]);
			end = to > end ? to : end;
		}
		for (size_t k = first; k < i; k++)
			codes[k].ambiguous = !same;
		first = i;
	}
}

/* Reads a whole dump. The bytes must stay: names and code point into them. On failure nothing is
 * left to free. */
int jitdump_read(struct jitdump *d, const void *bytes, size_t n)
{
	int rc;

	*d = (struct jitdump){ 0 };
	rc = jitdump_read_dump(d, bytes, n);
	if (rc < 0) {
		jitdump_free(d);
		return rc;
	}
	jitdump_find_ambiguous(d);
	return 0;
}

/* Reads the bytes of a process's jitdump. A recording of another machine has them in its archive
 * only. */
int jitdump_open(struct buf *ret, struct symbol_cache *cache, uint32_t pid)
{
	const struct symbol_opts *opts = &cache->opts;
	const char *dump = process_file_jitdump_of(cache, pid);
	struct buf path = { 0 };
	int r = dump && (!opts->foreign || opts->map_dir)
	                ? process_file_jitdump(opts, pid, dump, &path, ret)
	                : -ENOENT;

	buf_free(&path);
	return r;
}

/* Code that shared its address with other code, at different times, is left out and noted in
 * object->ambiguous. symbol_jit_replaced gives it with its times. */
int jitdump_take(struct symbol_object *object, const void *bytes, size_t n)
{
	struct jitdump d;
	int rc = jitdump_read(&d, bytes, n);
	const struct jitdump_code *codes;

	if (rc < 0)
		return rc;
	codes = (const void *)d.codes.bytes;
	for (size_t i = 0; i < jitdump_count(&d) && rc >= 0; i++) {
		const struct symbol_jit_code *c = &codes[i].told;
		struct table_symbol symbol = { .start = c->start,
			                       .end = c->start + c->size,
			                       .rank = c->number,
			                       .bind = TABLE_GLOBAL };

		/* Later code wins where two pieces of the same name overlap. */
		object->ambiguous |= codes[i].ambiguous;
		if (!codes[i].ambiguous)
			rc = table_put(&object->table, &symbol, c->name, strlen(c->name), "");
	}
	object->bad_lines += d.bad;
	jitdump_free(&d);
	return rc < 0 ? rc : 0;
}

/* Reads the dump anew on each call; nothing of it is kept. each is called in order of time; it
 * stops the walk by an error, which is returned. -ENOTSUP: the dump's times are of another
 * clock. */
int symbol_jit_replaced(const struct symbol_opts *opts, uint32_t pid, const char *path,
                        int (*each)(void *ctx, const struct symbol_jit_code *code), void *ctx)
{
	struct buf where = { 0 }, bytes = { 0 };
	struct jitdump d = { 0 };
	struct jitdump_code *codes;
	int rc = opts->foreign && !opts->map_dir
	                 ? -ENOENT
	                 : process_file_jitdump(opts, pid, path, &where, &bytes);

	if (rc >= 0)
		rc = jitdump_read(&d, bytes.bytes, bytes.n);
	if (rc >= 0 && d.other_clock)
		rc = -ENOTSUP;
	codes = (void *)d.codes.bytes;
	if (rc >= 0 && d.codes.n)
		qsort(codes, jitdump_count(&d), sizeof(*codes), jitdump_order_by_time);
	for (size_t i = 0; i < jitdump_count(&d) && rc >= 0; i++)
		if (codes[i].ambiguous)
			rc = each(ctx, &codes[i].told);
	jitdump_free(&d);
	buf_free(&where);
	buf_free(&bytes);
	return rc < 0 ? rc : 0;
}
