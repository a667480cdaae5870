// SPDX-License-Identifier: MIT
// capture_ring.c: a ring in memory, filled as a kernel fills it, against a copy of what went in:
// wrapping, whole records only, tails given back, failing sinks, loss counts, unsound headers.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "abi/record_at.h"
#include "base/buf.h"
#include "capture/ring.h"
#include <seam/record.h>

#define PAGE 4096u
#define SIZE 8192u

static _Alignas(8) unsigned char memory[PAGE + SIZE];

static uint64_t *word(size_t offset)
{
	return (uint64_t *)(void *)(memory + offset);
}

#define HEAD (*word(RING_HEAD_OFFSET))
#define TAIL (*word(RING_TAIL_OFFSET))

// Writes a record of `size` bytes as the kernel would; false: no room.
static bool produce(struct buf *copy, uint32_t type, uint16_t size, uint64_t fill)
{
	unsigned char record[65536];
	struct {
		uint32_t type;
		uint16_t misc, size;
	} h = { type, 0, size };

	if (SIZE - (HEAD - TAIL) < size)
		return false;
	memcpy(record, &h, 8);
	for (size_t i = 8; i + 8 <= size; i += 8)
		memcpy(record + i, &fill, 8);
	for (size_t i = 0; i < size; i++)
		memory[PAGE + ((HEAD + i) & (SIZE - 1))] = record[i];
	HEAD += size;
	assert_int_equal(buf_put(copy, record, size), 0);
	return true;
}

struct sink {
	struct buf all;
	unsigned calls, fail_at; // fail the n-th call, from 1; 0: never
};

static int take(void *ctx, const void *bytes, size_t n)
{
	struct sink *s = ctx;
	struct seam_record r;

	if (++s->calls == s->fail_at)
		return -ENOSPC;
	// Whole records, always.
	for (size_t at = 0; at < n; at += r.size)
		assert_true(record_at((const unsigned char *)bytes + at, n - at, &r));
	return buf_put(&s->all, bytes, n);
}

static void start(struct ring *r, uint64_t position)
{
	memset(memory, 0, sizeof(memory));
	HEAD = TAIL = position;
	assert_int_equal(ring_over(r, memory, PAGE, SIZE), 0);
}

static void same(const struct buf *a, const struct buf *b)
{
	assert_int_equal(a->n, b->n);
	if (a->n)
		assert_memory_equal(a->bytes, b->bytes, a->n);
}

static void what_goes_in_comes_out(void **state)
{
	// Positions beyond 2^32 and at the wrap of u64 are positions like any other.
	static const uint64_t starts[] = { 0, SIZE - 8, 1ULL << 32, UINT64_MAX - 1000 * 8 + 1 };

	srand(1);
	for (size_t i = 0; i < 4; i++) {
		struct buf copy = { 0 };
		struct sink sink = { 0 };
		struct ring r;
		uint64_t records = 0;

		start(&r, starts[i] & ~7ULL);
		for (int round = 0; round < 2000; round++) {
			while (rand() % 8 &&
			       produce(&copy, 1 + (uint32_t)(rand() % 21),
			               (uint16_t)(8 * (1 + rand() % (rand() % 16 ? 20 : 900))), 0))
				records++;
			assert_true(ring_drain(&r, take, &sink) >= 0);
			assert_true(TAIL == HEAD);
		}
		same(&copy, &sink.all);
		assert_int_equal(r.counts.records, records);
		assert_int_equal(r.counts.bytes, copy.n);
		assert_true(r.counts.wrapped > 100);
		assert_int_equal(r.counts.bad_bytes, 0);
		assert_true(r.counts.peak_bytes <= SIZE);
		buf_free(&copy);
		buf_free(&sink.all);
		ring_unmap(&r);
	}
}

static void the_largest_record_wraps_whole(void **state)
{
	static unsigned char big[PAGE + 131072] __attribute__((aligned(8)));
	struct sink sink = { 0 };
	struct ring r;
	uint16_t size = 65528;

	assert_int_equal(ring_over(&r, big, PAGE, 131072), 0);
	*(uint64_t *)(void *)(big + RING_TAIL_OFFSET) = 131072 - 16;
	*(uint64_t *)(void *)(big + RING_HEAD_OFFSET) = 131072 - 16 + size;
	memcpy(big + PAGE + 131072 - 16 + 6, &size, 2);
	assert_int_equal(ring_drain(&r, take, &sink), size);
	assert_int_equal(r.counts.wrapped, 1);
	buf_free(&sink.all);
	ring_unmap(&r);
}

static void contiguous_records_are_one_span(void **state)
{
	struct buf copy = { 0 };
	struct sink sink = { 0 };
	struct ring r;

	start(&r, 0);
	for (int i = 0; i < 100; i++)
		assert_true(produce(&copy, SEAM_RECORD_SAMPLE, 40, 7));
	assert_int_equal(ring_pending(&r), 4000);
	assert_int_equal(ring_drain(&r, take, &sink), 4000);
	assert_int_equal(sink.calls, 1);
	assert_int_equal(r.counts.samples, 100);
	assert_int_equal(ring_drain(&r, take, &sink), 0);
	assert_int_equal(sink.calls, 1);
	same(&copy, &sink.all);
	buf_free(&copy);
	buf_free(&sink.all);
	ring_unmap(&r);
}

static void a_failing_sink_loses_nothing(void **state)
{
	struct buf copy = { 0 };
	struct sink sink = { .fail_at = 2 };
	struct ring r;

	// Three spans: up to the wrap, the record that wraps, the rest.
	start(&r, SIZE - 64);
	assert_true(produce(&copy, SEAM_RECORD_SAMPLE, 40, 1));
	assert_true(produce(&copy, SEAM_RECORD_SAMPLE, 40, 2));
	assert_true(produce(&copy, SEAM_RECORD_SAMPLE, 40, 3));
	assert_int_equal(ring_drain(&r, take, &sink), -ENOSPC);
	assert_int_equal(sink.all.n, 40);
	assert_int_equal(HEAD - TAIL, 80);
	assert_int_equal(r.counts.records, 1);
	assert_int_equal(ring_drain(&r, take, &sink), 80);
	same(&copy, &sink.all);
	assert_int_equal(r.counts.records, 3);
	buf_free(&copy);
	buf_free(&sink.all);
	ring_unmap(&r);
}

static void loss_is_counted(void **state)
{
	struct buf copy = { 0 };
	struct sink sink = { 0 };
	struct ring r;

	start(&r, SIZE - 24);
	assert_true(produce(&copy, SEAM_RECORD_LOST, 48, 17)); // its count lies behind the wrap
	assert_true(produce(&copy, SEAM_RECORD_LOST, 24, 3));
	assert_true(produce(&copy, SEAM_RECORD_LOST_SAMPLES, 16, 5));
	assert_true(produce(&copy, SEAM_RECORD_CALLCHAIN_DEFERRED, 24, 0));
	assert_true(produce(&copy, SEAM_RECORD_LOST, 8, 9)); // too short to say how many
	assert_int_equal(ring_drain(&r, take, &sink), copy.n);
	assert_int_equal(r.counts.lost, 20);
	assert_int_equal(r.counts.lost_samples, 5);
	assert_int_equal(r.counts.deferred, 1);
	buf_free(&copy);
	buf_free(&sink.all);
	ring_unmap(&r);
}

// A time that is over: nothing is given, all is counted, and the kernel has its room again.
static void what_waits_too_long_is_counted(void **state)
{
	struct ring r;
	struct buf in = { 0 };
	struct sink out = { 0 };

	(void)state;
	start(&r, SIZE - 40);
	assert_true(produce(&in, SEAM_RECORD_SAMPLE, 64, 1));
	assert_true(produce(&in, SEAM_RECORD_EXIT, 32, 2));
	assert_true(produce(&in, SEAM_RECORD_LOST_SAMPLES, 16, 7));
	assert_true(produce(&in, SEAM_RECORD_SAMPLE, 64, 3));
	assert_int_equal(ring_drain_until(&r, &(uint64_t){ 1 }, take, &out), 0);
	assert_int_equal(out.calls, 0);
	assert_int_equal(TAIL, HEAD);
	assert_int_equal(r.counts.cut, 4);
	assert_int_equal(r.counts.cut_samples, 2);
	assert_int_equal(r.counts.lost_samples, 7);
	assert_int_equal(r.counts.samples, 0);
	// A time that is to come takes nothing away.
	buf_clear(&in);
	assert_true(produce(&in, SEAM_RECORD_SAMPLE, 64, 4));
	assert_int_equal(ring_drain_until(&r, &(uint64_t){ UINT64_MAX }, take, &out), 64);
	same(&in, &out.all);
	assert_int_equal(r.counts.cut, 4);
	buf_free(&in);
	buf_free(&out.all);
	ring_unmap(&r);
}

struct late {
	struct sink sink;
	uint64_t until_ns;
};

static int take_until(void *ctx, const void *bytes, size_t n)
{
	struct late *l = ctx;

	l->until_ns = 1; // as a signal handler sets it
	return take(&l->sink, bytes, n);
}

// The word to stop comes while a ring is read: what was not given then is counted.
static void a_time_that_is_set_meanwhile_counts(void **state)
{
	struct ring r;
	struct buf in = { 0 };
	struct late out = { 0 };

	(void)state;
	start(&r, SIZE - 128);
	for (uint64_t i = 1; i <= 4; i++)
		assert_true(produce(&in, SEAM_RECORD_SAMPLE, 64, i));
	assert_int_equal(ring_drain_until(&r, &out.until_ns, take_until, &out), 128);
	assert_int_equal(out.sink.calls, 1);
	assert_int_equal(out.sink.all.n, 128);
	assert_int_equal(r.counts.samples, 2);
	assert_int_equal(r.counts.cut_samples, 2);
	assert_int_equal(TAIL, HEAD);
	buf_free(&in);
	buf_free(&out.sink.all);
	ring_unmap(&r);
}

static void an_unsound_header_ends_the_ring(void **state)
{
	static const uint16_t sizes[] = { 0, 7, 4096 };

	for (size_t i = 0; i < 3; i++) {
		struct buf copy = { 0 };
		struct sink sink = { 0 };
		struct ring r;

		start(&r, 0);
		assert_true(produce(&copy, SEAM_RECORD_SAMPLE, 40, 1));
		memcpy(memory + PAGE + 40 + 6, &sizes[i], 2);
		HEAD += 64;
		assert_int_equal(ring_drain(&r, take, &sink), 40 + 64);
		same(&copy, &sink.all);
		assert_int_equal(r.counts.bad_bytes, 64);
		assert_true(TAIL == HEAD);
		buf_free(&copy);
		buf_free(&sink.all);
		ring_unmap(&r);
	}
}

static void sizes_are_powers_of_two(void **state)
{
	struct ring r;

	assert_int_equal(ring_over(&r, memory, PAGE, 0), -EINVAL);
	assert_int_equal(ring_over(&r, memory, PAGE, 12288), -EINVAL);
	assert_int_equal(ring_map(&r, -1, 0, 3), -EINVAL);
	assert_int_equal(ring_map(&r, -1, 0, SIZE_MAX / 2 + 1), -EINVAL);
	assert_int_equal(ring_map(&r, -1, 0, 1), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_in_comes_out),
		cmocka_unit_test(the_largest_record_wraps_whole),
		cmocka_unit_test(contiguous_records_are_one_span),
		cmocka_unit_test(a_failing_sink_loses_nothing),
		cmocka_unit_test(loss_is_counted),
		cmocka_unit_test(what_waits_too_long_is_counted),
		cmocka_unit_test(a_time_that_is_set_meanwhile_counts),
		cmocka_unit_test(an_unsound_header_ends_the_ring),
		cmocka_unit_test(sizes_are_powers_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
