// SPDX-License-Identifier: MIT
/* perfdata_order.c: rings drained in rounds, made up at random: what comes out is a permutation, in
 * order, equal times in the order of the file; what is late is counted; memory stays in bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "perfdata/order.h"

#define RECORDS 20000u

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

/* A record that carries its number; 24 to 88 bytes. */
static struct seam_record make_record(unsigned char *bytes, uint64_t number, bool stable)
{
	uint16_t size = (uint16_t)(24 + number % 9 * 8);
	const uint32_t type = SEAM_RECORD_SAMPLE;

	memset(bytes, 0, 96);
	memcpy(bytes, &type, 4);
	memcpy(bytes + 6, &size, 2);
	memcpy(bytes + 8, &number, 8);
	return (struct seam_record){ .type = type,
		                     .size = size,
		                     .bytes = bytes,
		                     .stable = stable,
		                     .offset = number * 100,
		                     .index = number + 7 };
}

struct check {
	unsigned char seen[RECORDS];
	uint64_t times[RECORDS];
	uint64_t n, last_time, last_number, disorder;
};

static void take(struct order *o, struct check *c)
{
	struct seam_record r;
	uint64_t time, number;

	while (order_pop(o, &r, &time) > 0) {
		memcpy(&number, r.bytes + 8, 8);
		assert_true(number < RECORDS);
		assert_int_equal(r.size, 24 + number % 9 * 8);
		assert_int_equal(r.offset, number * 100);
		assert_int_equal(r.index, number + 7);
		assert_int_equal(c->seen[number]++, 0);
		if (time != ORDER_NO_TIME) {
			assert_int_equal(time, c->times[number]);
			if (c->n && time < c->last_time)
				c->disorder++;
			else if (c->n && time == c->last_time)
				assert_true(number > c->last_number);
			if (!c->n || time >= c->last_time) {
				c->last_time = time;
				c->last_number = number;
			}
		}
		c->n++;
	}
}

/* Up to 8 rings; each round drains them one by one. late: of 1000 records, how many are too old. */
static void run(const struct order_opts *opts, bool stable, bool rounds, unsigned late,
                struct order_counts *counts)
{
	unsigned char(*bytes)[96] = calloc(RECORDS, 96), scratch[96];
	struct check *c = calloc(1, sizeof(*c));
	uint64_t now = 1000000, n = 0, n_rings = 1 + random_below(8);
	struct order *o;

	assert_non_null(bytes);
	assert_non_null(c);
	assert_int_equal(order_new(&o, opts), 0);
	while (n < RECORDS) {
		for (uint64_t ring = 0; ring < n_rings; ring++) {
			uint64_t t = now + random_below(50);

			for (uint64_t k = random_below(60); k && n < RECORDS; k--, n++) {
				bool too_old = random_below(1000) < late;
				struct seam_record r =
				        make_record(stable ? bytes[n] : scratch, n, stable);

				c->times[n] = too_old ? t - 500000 : t;
				assert_int_equal(order_push(o, c->times[n], &r), 0);
				memset(scratch, 0xee, sizeof(scratch));
				t += random_below(3);
				take(o, c);
			}
		}
		now += 130;
		if (rounds)
			assert_int_equal(order_round(o), 0);
		take(o, c);
	}
	assert_int_equal(order_finish(o), 0);
	take(o, c);
	order_counts(o, counts);
	assert_int_equal(c->n, RECORDS);
	assert_int_equal(counts->pushed, RECORDS);
	assert_int_equal(counts->popped, RECORDS);
	assert_int_equal(counts->late, c->disorder);
	order_free(o);
	free(bytes);
	free(c);
}

static void rounds_give_order(void **state)
{
	struct order_counts counts;

	(void)state;
	for (seed = 1; seed < 20; seed++) {
		uint64_t start = seed;

		run(NULL, start % 2, true, 0, &counts);
		assert_int_equal(counts.late, 0);
		assert_int_equal(counts.forced, 0);
		assert_true(counts.peak_bytes < 4u << 20);
		seed = start;
	}
}

static void without_rounds_all_is_sorted(void **state)
{
	const struct order_opts sort = { .sort = true };
	struct order_counts counts;

	(void)state;
	for (uint64_t start = 1; start < 8; start++) {
		seed = start;
		run(NULL, true, false, 100, &counts);
		assert_int_equal(counts.late, 0);
		seed = start;
		run(&sort, false, true, 100, &counts);
		assert_int_equal(counts.late, 0);
	}
}

static void late_records_are_counted(void **state)
{
	struct order_counts counts;

	(void)state;
	seed = 3;
	run(NULL, false, true, 5, &counts);
	assert_true(counts.late > 10);
	assert_true(counts.late < RECORDS / 20);
}

/* Without rounds and with little memory, the oldest go early: nothing is lost. */
static void memory_is_bounded(void **state)
{
	const struct order_opts small = { .max_bytes = 2u << 20 };
	struct order_counts counts;

	(void)state;
	seed = 4;
	run(&small, false, false, 0, &counts);
	assert_true(counts.forced > 0);
	assert_true(counts.peak_bytes < 6u << 20);
}

static void untimed_records_go_first(void **state)
{
	unsigned char a[96], b[96];
	struct seam_record timed = make_record(a, 1, true), untimed = make_record(b, 2, false), r;
	struct order *o;
	uint64_t time;

	(void)state;
	assert_int_equal(order_new(&o, NULL), 0);
	assert_int_equal(order_push(o, 5, &timed), 0);
	assert_int_equal(order_push(o, ORDER_NO_TIME, &untimed), 0);
	assert_int_equal(order_pop(o, &r, &time), 1);
	assert_int_equal(r.offset, 200);
	assert_int_equal(time, ORDER_NO_TIME);
	assert_int_equal(order_pop(o, &r, &time), 0);
	assert_int_equal(order_finish(o), 0);
	assert_int_equal(order_pop(o, &r, &time), 1);
	assert_int_equal(r.offset, 100);
	order_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_give_order),
		cmocka_unit_test(without_rounds_all_is_sorted),
		cmocka_unit_test(late_records_are_counted),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(untimed_records_go_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
