// SPDX-License-Identifier: MIT
/*
 * blocks.c: see blocks.h.
 *
 * The bytes that a store keeps: numbers as LEB128, lists packed with zstd where that is shorter.
 * They may come from a file that somebody else has written to: sizes are bounded before memory is
 * taken, and numbers are below BLOCKS_THINGS_MAX.
 */
#include "store/stacks/blocks.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/leb.h"

/* zstd's. Of a simulated day's nodes 19 made 2 % less, and took three times as long. */
static const int blocks_levels[] = { [BLOCKS_QUICK] = 6, [BLOCKS_WELL] = 12 };

enum {
	BLOCKS_PLAIN,
	BLOCKS_ZSTD
};

/* An unsigned number as LEB128: seven bits a byte, the least first. */
void blocks_put_number(struct buf *to, uint64_t v)
{
	unsigned char bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (unsigned char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
	} while (v);
	buf_put(to, bytes, n);
}

/* The first byte says in which form the rest is. -ENOMEM. */
int blocks_pack(struct buf *to, struct buf *plain, enum blocks_level level)
{
	size_t bound = ZSTD_compressBound(plain->n), n;
	unsigned char *packed = plain->failed ? NULL : malloc(bound);

	if (!packed)
		return -ENOMEM;
	n = ZSTD_compress(packed, bound, plain->bytes, plain->n, blocks_levels[level]);
	/* Four bytes or less saved are not worth unpacking. */
	if (ZSTD_isError(n) || n + 4 >= plain->n) {
		buf_put(to, &(char){ BLOCKS_PLAIN }, 1);
		buf_put(to, plain->bytes, plain->n);
	} else {
		buf_put(to, &(char){ BLOCKS_ZSTD }, 1);
		blocks_put_number(to, plain->n);
		buf_put(to, packed, n);
	}
	free(packed);
	return to->failed ? -ENOMEM : 0;
}

/* The size is looked at before any memory is taken. -EBADMSG, -ENOMEM. */
int blocks_unpack(struct buf *to, const void *bytes, size_t n)
{
	struct cursor c = cursor_of(bytes, n, false);
	uint8_t form = cursor_u8(&c);
	uint64_t size;
	void *room;
	size_t got;

	if (c.failed || form > BLOCKS_ZSTD)
		return -EBADMSG;
	if (form == BLOCKS_PLAIN)
		return buf_put(to, c.at, cursor_left(&c));
	size = leb_unsigned(&c);
	if (c.failed || size > BLOCKS_BYTES_MAX)
		return -EBADMSG;
	room = buf_reserve(to, size);
	if (!room)
		return -ENOMEM;
	got = ZSTD_decompress(room, size, c.at, cursor_left(&c));
	if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
		return -ENOMEM;
	if (ZSTD_isError(got) || got != size)
		return -EBADMSG;
	to->n += size;
	return 0;
}

/* ---- counts ---- */

/* Reads the counts of one state: what a sample weighs, how many there are, then for each the
 * distance of its node from the last one's, doubled; plus 1 and the samples where they are not one.
 * -EBADMSG, or what each returned. */
static int blocks_each_of_state(struct cursor *c,
                                int (*each)(void *ctx, const struct blocks_count *count), void *ctx)
{
	uint64_t state = leb_unsigned(c), weight = leb_unsigned(c), left = leb_unsigned(c);
	uint64_t node = 0;
	int r = 0;

	if (state >= BLOCKS_THINGS_MAX)
		return -EBADMSG;
	for (; left && !c->failed && r >= 0; left--) {
		struct blocks_count count = { .state = (uint32_t)state, .samples = 1 };
		uint64_t step = leb_unsigned(c);

		node += step >> 1;
		if (step & 1)
			count.samples = leb_unsigned(c);
		if (__builtin_mul_overflow(count.samples, weight, &count.weight))
			return -EBADMSG;
		if (!weight)
			/* weight 0 means that each count has its own. */
			count.weight = leb_unsigned(c);
		if (c->failed || node >= BLOCKS_THINGS_MAX)
			return -EBADMSG;
		count.node = (uint32_t)node;
		r = each(ctx, &count);
	}
	return r < 0 ? r : c->failed ? -EBADMSG : 0;
}

/* Calls each with every count. */
int blocks_each_count(const void *bytes, size_t n, unsigned *unit,
                      int (*each)(void *ctx, const struct blocks_count *count), void *ctx)
{
	struct cursor c = cursor_of(bytes, n, false);
	int r = 0;

	*unit = (unsigned)leb_unsigned(&c);
	if (c.failed)
		return -EBADMSG;
	while (cursor_left(&c) && r >= 0)
		r = blocks_each_of_state(&c, each, ctx);
	return r;
}
