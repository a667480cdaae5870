// SPDX-License-Identifier: MIT
// abi_redecode.c: a deferred record decoded into the place of another: what decoding afresh says,
// or nothing. (Samples: abi_sample.c.)
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../swap.h"
#include "abi/redecode.h"
#include "abi/encode.h"
#include "abi_fixture.h"

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A deferred record of one of two events, ids 54 and 55, or of neither, 56. */
static void put_answer(struct fixture *f, uint64_t *rng)
{
	const uint64_t ips[4] = { next_random(rng), next_random(rng), 3, 4 };
	const struct seam_callchain_deferred answer = {
		.cookie = next_random(rng),
		.ips = { .bytes = (const unsigned char *)ips, .n = next_random(rng) % 5 }
	};
	struct seam_id id = { .pid = (uint32_t)next_random(rng),
		              .tid = (uint32_t)next_random(rng),
		              .time_ns = next_random(rng),
		              .id = 54 + next_random(rng) % 3,
		              .stream_id = next_random(rng),
		              .cpu = (uint32_t)next_random(rng) };

	buf_clear(&f->bytes);
	assert_int_equal(encode_deferred(&f->bytes, &f->attr, 0, &answer, &id), 0);
}

static void same_answer(const struct seam_decoded *a, const struct seam_decoded *b)
{
	assert_ptr_equal(a->record, b->record);
	assert_ptr_equal(a->event, b->event);
	assert_memory_equal(&a->id, &b->id, sizeof(a->id));
	assert_int_equal(a->deferred.cookie, b->deferred.cookie);
	assert_ptr_equal(a->deferred.ips.bytes, b->deferred.ips.bytes);
	assert_int_equal(a->deferred.ips.n, b->deferred.ips.n);
	assert_int_equal(a->deferred.ips.swap, b->deferred.ips.swap);
}

/* Whole, with a number of addresses that is a lie, or cut. */
static size_t spoil(struct fixture *f, uint64_t *rng)
{
	size_t n = f->bytes.n;
	uint64_t lie = next_random(rng) % 8;

	switch (next_random(rng) % 8) {
	case 0:
		memcpy(f->bytes.bytes + 16, &lie, 8);
		return n;
	case 1:
		lie = UINT64_MAX / (lie + 1);
		memcpy(f->bytes.bytes + 16, &lie, 8);
		return n;
	case 2:
		return 8 + next_random(rng) % (n - 7);
	default:
		return n;
	}
}

static void answer_again(void **state)
{
	unsigned taken = 0, of_another = 0, unsound = 0;
	uint64_t rng = 1711;

	for (int round = 0; round < 3000; round++) {
		const struct seam_attr attr = { .sample_type = next_random(&rng) & ALL_IDS,
			                        .flags = next_random(&rng) % 8
			                                         ? SEAM_ATTR_SAMPLE_ID_ALL
			                                         : 0 };
		struct fixture f = fixture_new(&attr);
		bool swap = next_random(&rng) & 1, two = next_random(&rng) % 4;
		const struct seam_event *last;
		struct seam_decoded into;
		const uint64_t other = 55;
		struct seam_decoded before;
		size_t n;
		int r;

		if (two)
			assert_int_equal(seam_events_add(f.events, &attr, "f", &other, 1, NULL), 1);
		put_answer(&f, &rng);
		assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
		into = f.d;
		last = f.d.event;
		put_answer(&f, &rng);
		if (swap)
			swap_record(f.bytes.bytes, f.bytes.n, &attr);
		n = spoil(&f, &rng);
		r = fixture_decode(&f, n, swap);
		before = into;
		if (last && redecode_deferred(f.events, &f.record, last, &into)) {
			assert_int_equal(r, 0);
			same_answer(&into, &f.d);
			taken++;
		} else {
			assert_true(r < 0 || !last || f.d.event != last);
			assert_memory_equal(&into, &before, sizeof(into));
			unsound += r < 0;
			of_another += !r;
		}
		fixture_free(&f);
	}
	assert_true(taken > 500 && of_another > 500 && unsound > 500);
}

/* What the place holds is said right, whatever comes in turn. */
static void answers_in_turn(void **state)
{
	const struct seam_attr attr = { .sample_type = ALL_IDS, .flags = SEAM_ATTR_SAMPLE_ID_ALL };
	struct fixture f = fixture_new(&attr);
	const struct seam_event *last = NULL;
	struct seam_decoded place;
	unsigned failed = 0;
	uint64_t rng = 5;

	for (int round = 0; round < 1000; round++) {
		size_t n;
		int r;

		put_answer(&f, &rng);
		n = spoil(&f, &rng);
		r = fixture_decode(&f, n, false);
		assert_int_equal(redecode_decode(f.events, &f.record,
		                                 SEAM_RECORD_CALLCHAIN_DEFERRED, &last, &place,
		                                 NULL),
		                 r);
		assert_ptr_equal(last, r < 0 ? NULL : f.d.event);
		if (r < 0)
			assert_ptr_equal(place.record, &f.record);
		else
			same_answer(&place, &f.d);
		failed += r < 0;
	}
	assert_true(failed > 100 && failed < 900);
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answer_again),
		cmocka_unit_test(answers_in_turn),
	};

	return cmocka_run_group_tests_name("abi again", tests, NULL, NULL);
}
