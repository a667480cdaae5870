// SPDX-License-Identifier: MIT
/*
 * inflate.c: see inflate.h. The only file that knows zstd's decoder.
 *
 * One decoder lives as long as the reader: frames may span records. Invariant: no more than
 * INFLATE_MOST bytes come of one payload, whatever its frame says.
 */
#include "perfdata/inflate.h"

#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

void inflate_free(struct inflate *z)
{
	ZSTD_freeDStream(z->stream);
	*z = (struct inflate){ 0 };
}

/* Forgets the frame that it was in. Called at a new section, and before another pass. */
void inflate_reset(struct inflate *z)
{
	if (z->stream)
		ZSTD_DCtx_reset(z->stream, ZSTD_reset_session_only);
}

static int inflate_start(struct inflate *z)
{
	if (!z->stream)
		z->stream = ZSTD_createDStream();
	return z->stream ? 0 : -ENOMEM;
}

/* Unpacks the next piece of the zstd stream. A frame may span payloads, so they must come in the
 * order of the file. On failure z->reason says in words what is wrong. What was unpacked before the
 * fault stays in out. */
int inflate_more(struct inflate *z, const void *payload, size_t n, struct buf *out)
{
	ZSTD_inBuffer in = { payload, n, 0 };
	/* zstd says which step is best: then a block always fits. */
	size_t start = out->n, step = ZSTD_DStreamOutSize();

	if (inflate_start(z) < 0) {
		z->reason = "out of memory";
		return -ENOMEM;
	}
	for (;;) {
		ZSTD_outBuffer dst = { buf_reserve(out, step), step, 0 };
		size_t rc;

		if (!dst.dst) {
			z->reason = "out of memory";
			return -ENOMEM;
		}
		rc = ZSTD_decompressStream(z->stream, &dst, &in);
		if (ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation) {
			z->reason = "out of memory";
			return -ENOMEM;
		}
		if (ZSTD_isError(rc)) {
			z->reason = "not sound zstd data";
			return -EBADMSG;
		}
		out->n += dst.pos;
		if (out->n - start > INFLATE_MOST) {
			z->reason = "it unpacks to more than 64 MiB";
			return -E2BIG;
		}
		/* Done when all input is taken and the decoder had room to spare. */
		if (in.pos == in.size && dst.pos < dst.size)
			return 0;
	}
}
