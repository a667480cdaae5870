/* SPDX-License-Identifier: MIT */
/*
 * header.h: the fixed head of a perf.data file: magic, sections, feature bits. Pure: bytes in,
 * values out. Knows both byte orders, versions 1 and 2, and the 16-byte head of a pipe. Does not
 * check that sections lie inside the file: that needs the file.
 */
#ifndef SEAM_PERFDATA_HEADER_H
#define SEAM_PERFDATA_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/error.h>

#define HEADER_MAGIC 0x32454c4946524550ULL /* "PERFILE2" on a little-endian machine */
#define HEADER_SIZE 104u                   /* of a file */
#define HEADER_SIZE_V1 72u                 /* without feature bits: the first perfs */
#define HEADER_SIZE_PIPE 16u

struct header_section {
	uint64_t offset, size; /* bytes */
};

struct header {
	bool swap;
	bool pipe;
	unsigned version;   /* 1 or 2 */
	uint64_t size;      /* of the header itself */
	uint64_t attr_size; /* of one entry of attrs: the attr and the section of its ids */
	struct header_section attrs, data, event_types;
	uint64_t features[4]; /* bit n of the 256: features[n / 64] >> n % 64 */
};

/*
 * From the first n bytes of an input; HEADER_SIZE are enough. -EBADMSG: it is not perf.data, or
 * shorter than its header. -EAGAIN: a file's header, of which only n < HEADER_SIZE bytes were
 * given.
 */
int header_decode(const void *bytes, size_t n, const char *path, struct header *ret,
                  struct seam_error *err);

/*
 * event_types.offset while seam records: "seamopen". That section is empty, and nobody has read it
 * since Linux 3.x. So data.size can be true at every flush, which perf needs to read the file of a
 * recorder that was killed (it reads nothing of one whose data.size is 0), and a reader can still
 * tell.
 */
#define HEADER_OPEN 0x6e65706f6d616573ULL

static inline bool header_is_open(const struct header *h)
{
	return h->event_types.offset == HEADER_OPEN && !h->event_types.size;
}

static inline bool header_has(const struct header *h, unsigned feature)
{
	return feature < 256 && h->features[feature / 64] >> (feature % 64) & 1;
}

#endif
