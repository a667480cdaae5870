// SPDX-License-Identifier: MIT
// gzip.c: see gzip.h.
#include "net/gzip.h"

#include <errno.h>
#include <libdeflate.h>

#define LEVEL 4 /* a level more costs an agent more than it saves on the wire */

int gzip_pack(struct buf *to, const void *bytes, size_t n)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);
	size_t bound = c ? libdeflate_gzip_compress_bound(c, n) : 0;
	void *room = c ? buf_reserve(to, bound) : NULL;
	size_t packed = room ? libdeflate_gzip_compress(c, bytes, n, room, bound) : 0;

	to->n += packed;
	libdeflate_free_compressor(c);
	return packed ? 0 : -ENOMEM;
}

/* The last four bytes say how long it is unpacked; libdeflate holds them to it. */
int gzip_unpack(struct buf *to, const unsigned char *bytes, size_t n, size_t most)
{
	struct libdeflate_decompressor *d;
	size_t size = 0, got = 0;
	bool right = false;
	void *room;

	if (n < 4)
		return -EBADMSG;
	for (size_t i = 4; i > 0; i--)
		size = size << 8 | bytes[n - 5 + i];
	if (size > most)
		return -EBADMSG;
	d = libdeflate_alloc_decompressor();
	room = d ? buf_reserve(to, size) : NULL;
	if (room)
		right = libdeflate_gzip_decompress(d, bytes, n, room, size, &got) ==
		        LIBDEFLATE_SUCCESS;
	to->n += right ? got : 0;
	libdeflate_free_decompressor(d);
	return !room ? -ENOMEM : right ? 0 : -EBADMSG;
}
