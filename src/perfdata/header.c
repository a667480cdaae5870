// SPDX-License-Identifier: MIT
/*
 * header.c: see header.h.
 *
 * Invariant: it reads no byte behind n, and says of nothing that it is in the file: whoever follows
 * a section checks it against the file's size. A header exists in three forms: version 1 (2.6.3x),
 * the file of version 2, and a pipe's, which has magic and size only.
 */
#include "perfdata/header.h"

#include <errno.h>
#include <string.h>

#include "base/cursor.h"

static struct header_section header_section(struct cursor *c)
{
	struct header_section s;

	s.offset = cursor_u64(c);
	s.size = cursor_u64(c);
	return s;
}

/* In version 1 the magic is a text and does not show the byte order; the size of the header
 * does. */
static bool header_magic(const void *bytes, struct header *h)
{
	uint64_t magic, size;

	memcpy(&magic, bytes, 8);
	memcpy(&size, (const unsigned char *)bytes + 8, 8);
	h->version = 2;
	if (magic == HEADER_MAGIC || magic == __builtin_bswap64(HEADER_MAGIC)) {
		h->swap = magic != HEADER_MAGIC;
		return true;
	}
	h->version = 1;
	/* The size is small, so in the wrong byte order it is beyond 32 bits. */
	h->swap = size > UINT32_MAX;
	return !memcmp(bytes, "PERFFILE", 8);
}

/* Features are a bitmap of the writer's unsigned longs. A 32-bit big-endian writer orders its words
 * differently from a 64-bit one; HOSTNAME is in every file, so its bit tells which it was. */
static void header_features(struct cursor *c, struct header *h)
{
	const uint64_t hostname = 1ULL << 3;

	for (size_t i = 0; i < 4; i++)
		h->features[i] = cursor_u64(c);
	if (h->features[0] & hostname || !(h->features[0] >> 32 & hostname))
		return;
	for (size_t i = 0; i < 4; i++)
		h->features[i] = h->features[i] >> 32 | h->features[i] << 32;
}

/* Decodes the header of a file or a stream in either byte order; a stream's has only magic and
 * size. Whether the sections lie in the file is for the caller to check. */
int header_decode(const void *bytes, size_t n, const char *path, struct header *ret,
                  struct seam_error *err)
{
	struct header h = { 0 };
	struct cursor c;

	if (n < HEADER_SIZE_PIPE)
		return seam_error_set(err, EBADMSG, path, 0, "header",
		                      "%zu bytes, need %u: not a perf.data file", n,
		                      HEADER_SIZE_PIPE);
	if (!header_magic(bytes, &h))
		return seam_error_set(err, EBADMSG, path, 0, "header",
		                      "no perf magic: not a perf.data file");
	c = cursor_of(bytes, n, h.swap);
	cursor_bytes(&c, 8);
	h.size = cursor_u64(&c);
	h.pipe = h.size == HEADER_SIZE_PIPE;
	if (h.pipe) {
		*ret = h;
		return 0;
	}
	/* 4096 bytes leave room for headers of the future; the fields are at the front. */
	if (h.size < HEADER_SIZE_V1 || h.size > 4096)
		return seam_error_set(err, EBADMSG, path, 8, "header",
		                      "says it is %llu bytes long, which none is",
		                      (unsigned long long)h.size);
	/* The caller of a stream reads on and calls again. */
	if (n < h.size && n < HEADER_SIZE)
		return seam_error_set(err, EAGAIN, path, n, "header", "cut: %zu of %llu bytes", n,
		                      (unsigned long long)h.size);
	h.attr_size = cursor_u64(&c);
	h.attrs = header_section(&c);
	h.data = header_section(&c);
	h.event_types = header_section(&c);
	/* Version 1 has no features. */
	if (h.size >= HEADER_SIZE)
		header_features(&c, &h);
	*ret = h;
	return 0;
}
