// SPDX-License-Identifier: MIT
/*
 * gzip.c: see gzip.h. All bytes are there before the first is compressed, so libdeflate can do it,
 * which takes less than half of zlib's time. One member: some readers take the first alone.
 */
#include "export/gzip.h"

#include <errno.h>
#include <libdeflate.h>

int gzip_put(const struct buf *bytes, int level, struct buf *to)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
	size_t most = c ? libdeflate_gzip_compress_bound(c, bytes->n) : 0, n = 0;
	unsigned char *room = c ? buf_reserve(to, most) : NULL;

	if (room)
		n = libdeflate_gzip_compress(c, bytes->bytes, bytes->n, room, most);
	libdeflate_free_compressor(c);
	if (!n)
		return -ENOMEM;
	to->n += n;
	return 0;
}
