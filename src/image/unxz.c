// SPDX-License-Identifier: MIT
/* unxz.c: unpacks xz into a buffer, bounded in output and in the decoder's own memory: a file of
 * some KB can unfold into GB. */
#include <errno.h>
#include <lzma.h>
#include <string.h>

#include "image/elf.h"

#define CHUNK 65536u
#define DECODER_MEMORY (128ULL << 20) /* xz -9 needs 65 MiB */

bool unxz_is(const void *bytes, size_t n)
{
	static const unsigned char magic[6] = { 0xfd, '7', 'z', 'X', 'Z', 0 };

	return n >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic));
}

/* -E2BIG: beyond the limit, with at most one chunk more in the buffer. */
static int unxz_run(lzma_stream *stream, uint64_t limit, struct buf *out)
{
	size_t start = out->n;
	lzma_ret r;

	do {
		if (out->n - start > limit)
			return -E2BIG;
		stream->next_out = buf_reserve(out, CHUNK);
		if (!stream->next_out)
			return -ENOMEM;
		stream->avail_out = CHUNK;
		r = lzma_code(stream, LZMA_FINISH);
		out->n += CHUNK - stream->avail_out;
	} while (r == LZMA_OK);
	return r == LZMA_STREAM_END ? 0 : r == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

/* -ENOMEM, -E2BIG, or -EBADMSG: damaged, or it would take more than DECODER_MEMORY. */
int unxz(const void *bytes, size_t n, uint64_t limit, struct buf *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	int r;

	if (lzma_stream_decoder(&stream, DECODER_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = bytes;
	stream.avail_in = n;
	r = unxz_run(&stream, limit, out);
	lzma_end(&stream);
	return r;
}
