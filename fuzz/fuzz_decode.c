// SPDX-License-Identifier: MIT
/*
 * fuzz_decode.c: attrs, and records against them, from bytes that nobody checked: decode, print as
 * text, print as JSON, and encode what was decoded.
 *
 * Input: u8 control (bit 0: the other byte order), u8 number of events (at most 4), then for each a
 * u8 size and an attr of that many bytes, then records one after the other. Each record is copied
 * into a block of exactly its size, so that any read outside of it is seen.
 *
 *	clang -fsanitize=fuzzer,address,undefined -Iinclude -Isrc fuzz/fuzz_decode.c \
 *		src/abi/[a-z]*.c src/base/[a-z]*.c -lm -o fuzz_decode
 *	./fuzz_decode -dict=fuzz/decode.dict fuzz/corpus/decode
 *
 * tests/unit/abi_corpus.c runs the corpus as an ordinary test, and makes its seeds.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include <seam/record.h>

#include "abi/encode.h"
#include "abi/print.h"
#include "base/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_events(struct cursor *c, struct seam_events *events, bool swap)
{
	unsigned n = cursor_u8(c) % 5;

	for (unsigned i = 0; i < n; i++) {
		size_t size = cursor_u8(c);
		const unsigned char *bytes = cursor_bytes(c, size);
		uint64_t id = i + 1;
		struct seam_attr attr;

		if (!bytes || seam_attr_decode(bytes, size, swap, &attr, NULL) < 0)
			continue;
		if (seam_events_add(events, &attr, "e", &id, 1, NULL) < 0)
			abort();
	}
}

/* What decodes must be printable, and a sample must encode, unless it is too large by padding. */
static void fuzz_record(const struct seam_events *events, const struct seam_record *record)
{
	struct seam_error err = { 0 };
	struct seam_decoded d = { .sz = sizeof(d) };
	struct buf out = { 0 };
	int r = seam_record_decode(events, record, &d, &err);

	if ((r < 0) != (err.code != 0) || (r < 0 && (-r != err.code || !err.text[0])))
		abort();
	if (print_record(&out, events, record, NULL, NULL) != r)
		abort();
	if (print_record_json(&out, events, record, NULL, NULL) != r)
		abort();
	buf_clear(&out);
	if (r >= 0 && record->type == SEAM_RECORD_SAMPLE &&
	    encode_sample(&out, &d.event->attr, record->misc, &d.sample) == -EINVAL)
		abort();
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size, false);
	struct seam_events *events;

	if (seam_events_new(&events) < 0)
		abort();
	c.swap = cursor_u8(&c) & 1;
	fuzz_events(&c, events, c.swap);
	while (cursor_left(&c) >= 8) {
		struct seam_record record = { .bytes = c.at,
			                      .offset = cursor_offset(&c),
			                      .swap = c.swap };
		unsigned char *copy;

		record.type = cursor_u32(&c);
		record.misc = cursor_u16(&c);
		record.size = cursor_u16(&c);
		if (record.size < 8 || record.size - 8 > cursor_left(&c))
			record.size = (uint32_t)cursor_left(&c) + 8;
		cursor_bytes(&c, record.size - 8);
		copy = malloc(record.size);
		if (!copy)
			abort();
		memcpy(copy, record.bytes, record.size);
		record.bytes = copy;
		fuzz_record(events, &record);
		free(copy);
	}
	seam_events_free(events);
	return 0;
}
