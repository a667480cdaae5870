// SPDX-License-Identifier: MIT
/*
 * deflate.c: see deflate.h. The only file that knows zstd's encoder.
 *
 * Records of the recording are gathered to DEFLATE_CHUNK bytes and become one frame. A frame
 * depends on no other one, so a reader that lost one can go on with the next.
 */
#include "perfdata/deflate.h"

#include <errno.h>
#include <zstd.h>

#include <seam/record.h>

/* The most that one record can hold: its size is a u16 in steps of 8, and header and data_size take
 * 16 bytes of it. */
#define DEFLATE_PAYLOAD (65528u - 16u)

int deflate_init(struct deflate *d, int level)
{
	*d = (struct deflate){ .level = level };
	d->context = ZSTD_createCCtx();
	return d->context ? 0 : -ENOMEM;
}

void deflate_free(struct deflate *d)
{
	ZSTD_freeCCtx(d->context);
	buf_free(&d->frame);
	*d = (struct deflate){ 0 };
}

/* The older form has no length but the record's own, so nothing may pad it. What follows it in the
 * file is therefore not aligned. */
static void deflate_put_v1(struct buf *out, const unsigned char *payload, size_t n)
{
	buf_put_u32(out, SEAM_RECORD_COMPRESSED);
	buf_put_u16(out, 0);
	buf_put_u16(out, (uint16_t)(8 + n));
	buf_put(out, payload, n);
}

/* COMPRESSED2 states its payload's length, so that padding can follow and all records stay
 * aligned. */
static void deflate_put(struct buf *out, const unsigned char *payload, size_t n)
{
	size_t padded = (n + 7) & ~(size_t)7;

	buf_put_u32(out, SEAM_RECORD_COMPRESSED2);
	buf_put_u16(out, 0);
	buf_put_u16(out, (uint16_t)(16 + padded));
	buf_put_u64(out, n);
	buf_put(out, payload, n);
	buf_put_zeros(out, padded - n);
}

/* Compresses the records into one zstd frame and splits it over as many COMPRESSED records as it
 * takes. Each call makes a frame of its own, so that a reader can start at any of them. */
int deflate_records(struct deflate *d, const void *records, size_t n, struct buf *out)
{
	size_t bound = ZSTD_compressBound(n), size, at = 0;
	void *to;

	buf_clear(&d->frame);
	/* A record's bytes and the output must not be the same memory: the frame is made aside. */
	to = buf_reserve(&d->frame, bound);
	if (!to)
		return -ENOMEM;
	size = ZSTD_compressCCtx(d->context, to, bound, records, n, d->level);
	if (ZSTD_isError(size))
		return -ENOMEM; /* the arguments are sound: nothing else can fail */
	for (; at < size; at += DEFLATE_PAYLOAD) {
		size_t left = size - at < DEFLATE_PAYLOAD ? size - at : DEFLATE_PAYLOAD;

		if (d->v1)
			deflate_put_v1(out, d->frame.bytes + at, left);
		else
			deflate_put(out, d->frame.bytes + at, left);
	}
	return out->failed ? -ENOMEM : 0;
}
