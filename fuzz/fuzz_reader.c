// SPDX-License-Identifier: MIT
/*
 * fuzz_reader.c: bytes as a file, and as the same bytes through a pipe: all records of both, twice
 * where that can be, every feature as text, names of all events. Checks besides crashes: a second
 * pass gives the same records; a stable record's bytes are still the same at the end; what is
 * delivered is whole; order gives back every record exactly once.
 *
 *	clang -fsanitize=fuzzer,address,undefined -Iinclude -Isrc fuzz/fuzz_reader.c \
 *		src/perfdata/[a-z]*.c src/abi/[a-z]*.c src/base/[a-z]*.c -lzstd -lm -o fuzz_reader
 *	./fuzz_reader -dict=fuzz/reader.dict fuzz/corpus/reader
 *
 * tests/unit/perfdata_corpus.c runs the corpus as an ordinary test.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <seam/reader.h>

#include "abi/record.h"
#include "base/buf.h"
#include "base/map.h"
#include "perfdata/feature.h"
#include "perfdata/order.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t fuzz_hash(const struct seam_record *r, uint64_t seed)
{
	if (r->size < 8)
		abort();
	return map_hash_bytes(r->bytes, r->size, seed ^ r->type ^ r->offset << 8);
}

/* A hash over all records; with order, each goes through it. */
static uint64_t fuzz_pass(struct seam_reader *reader, struct order *order, uint64_t *n)
{
	const struct seam_events *events = seam_reader_events(reader);
	struct seam_record r, out;
	struct seam_decoded d;
	uint64_t hash = 0;

	for (*n = 0; seam_reader_next(reader, &r, NULL) > 0; ++*n) {
		bool timed =
		        record_decode(events, &r, &d, NULL) >= 0 && d.id.has & SEAM_SAMPLE_TIME;

		if (r.index != *n)
			abort();
		hash = fuzz_hash(&r, hash);
		if (!order)
			continue;
		if (order_push(order, timed ? d.id.time_ns : ORDER_NO_TIME, &r) < 0)
			abort();
		if (r.type == SEAM_RECORD_FINISHED_ROUND)
			order_round(order);
		while (order_pop(order, &out, NULL) > 0)
			fuzz_hash(&out, 0);
	}
	return hash;
}

static void fuzz_order(struct order *order, uint64_t n)
{
	struct order_counts counts;
	struct seam_record out;

	order_finish(order);
	while (order_pop(order, &out, NULL) > 0)
		fuzz_hash(&out, 0);
	order_counts(order, &counts);
	if (counts.popped != n || counts.pushed != n)
		abort();
}

static void fuzz_features(struct seam_reader *reader)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct feature_context context = { .full = true, .cpus = 4 };
	const struct seam_events *events = seam_reader_events(reader);
	struct buf out = { 0 };

	seam_reader_info(reader, &info);
	context.swap = info.swapped;
	context.events = events;
	for (unsigned f = 0; f < SEAM_FEATURE_MAX; f++) {
		struct seam_bytes bytes;

		if (seam_reader_feature(reader, f, &bytes))
			feature_text(f, &bytes, &context, &out);
		seam_reader_feature_string(reader, f);
	}
	for (size_t i = 0; i < seam_events_count(events); i++) {
		if (!seam_events_at(events, i)->name[0])
			abort();
	}
	if (seam_reader_damaged(reader) != (seam_reader_damage(reader, 0) != NULL))
		abort();
	buf_free(&out);
}

static void fuzz_memory(const uint8_t *data, size_t size)
{
	struct seam_reader *reader;
	struct seam_error err = { 0 };
	struct order *order;
	uint64_t first, n, again;
	int rc = seam_reader_open_memory(&reader, data, size, NULL, NULL, &err);

	if (rc < 0) {
		if (!err.code || !err.text[0])
			abort();
		return;
	}
	if (order_new(&order, NULL) < 0)
		abort();
	first = fuzz_pass(reader, order, &n);
	fuzz_order(order, n);
	order_free(order);
	fuzz_features(reader);
	if (seam_reader_rewind(reader) < 0 || fuzz_pass(reader, NULL, &again) != first ||
	    again != n)
		abort();
	seam_reader_close(reader);
}

/* Through a pipe, so that no more than a pipe holds. */
static void fuzz_stream(const uint8_t *data, size_t size)
{
	struct seam_reader *reader;
	struct order *order;
	uint64_t n;
	int fds[2];

	if (size > 60000 || pipe(fds) < 0)
		return;
	if (write(fds[1], data, size) != (ssize_t)size)
		abort();
	close(fds[1]);
	if (seam_reader_open_fd(&reader, fds[0], NULL, NULL, NULL) >= 0) {
		if (order_new(&order, NULL) < 0)
			abort();
		fuzz_pass(reader, order, &n);
		fuzz_order(order, n);
		order_free(order);
		fuzz_features(reader);
		if (seam_reader_rewind(reader) != -ESPIPE)
			abort();
		seam_reader_close(reader);
	}
	close(fds[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_memory(data, size);
	fuzz_stream(data, size);
	return 0;
}
