/* SPDX-License-Identifier: MIT */
/*
 * abi_fixture.h: one record of one event, decoded from a heap block of exactly its size, so that a
 * read past the end is seen by the sanitizer. Included behind cmocka.h.
 */
#ifndef SEAM_TESTS_ABI_FIXTURE_H
#define SEAM_TESTS_ABI_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include <seam/record.h>

#include "abi/record.h"
#include "base/buf.h"

struct fixture {
	struct seam_events *events;
	struct seam_attr attr;
	struct buf bytes;
	unsigned char *copy; /* exactly sized */
	struct seam_record record;
	struct seam_decoded d;
	struct seam_error err;
};

static inline void fixture_free(struct fixture *f)
{
	seam_events_free(f->events);
	buf_free(&f->bytes);
	free(f->copy);
	*f = (struct fixture){ 0 };
}

/* Decodes the first n bytes of f->bytes from a block of exactly n. */
static inline int fixture_decode(struct fixture *f, size_t n, bool swap)
{
	struct {
		uint32_t type;
		uint16_t misc, size;
	} h;

	free(f->copy);
	f->copy = malloc(n);
	memcpy(f->copy, f->bytes.bytes, n);
	memcpy(&h, f->bytes.bytes, sizeof(h));
	f->record = (struct seam_record){ .type = swap ? __builtin_bswap32(h.type) : h.type,
		                          .misc = swap ? __builtin_bswap16(h.misc) : h.misc,
		                          .swap = swap,
		                          .size = (uint32_t)n,
		                          .offset = 0x1a38,
		                          .bytes = f->copy };
	f->err = (struct seam_error){ 0 };
	return record_decode(f->events, &f->record, &f->d, &f->err);
}

/* ---- records other than samples ---- */

#define ALL_IDS                                                                        \
	(SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_ID | SEAM_SAMPLE_STREAM_ID | \
	 SEAM_SAMPLE_CPU | SEAM_SAMPLE_IDENTIFIER)

static const struct seam_attr with_trailer = { .sample_type = ALL_IDS,
	                                       .flags =
	                                               SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_BUILD_ID,
	                                       .read_format = 31 - 8 };
static const struct seam_id an_id = {
	.pid = 51, .tid = 52, .time_ns = 53, .id = 54, .stream_id = 55, .cpu = 56
};

static inline struct fixture fixture_new(const struct seam_attr *attr)
{
	struct fixture f = { .attr = *attr };
	uint64_t id = 54;

	assert_int_equal(seam_events_new(&f.events), 0);
	assert_int_equal(seam_events_add(f.events, attr, "e", &id, 1, NULL), 0);
	return f;
}

#endif
