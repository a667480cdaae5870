// SPDX-License-Identifier: MIT
// fleet_quality.c: what is told of a window beside its samples, into counts and back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/quality.h"
#include "profile/origin.h"

/* A load with one event and a profile. */
static void begin(struct load *load, uint64_t period)
{
	uint32_t event;

	assert_int_equal(profile_new(&load->profile, 0), 0);
	event = profile_event(load->profile, "cpu-clock");
	assert_int_equal(origin_add_period(profile_origin(load->profile), event, period), 0);
}

/* What a store would answer of these counts: of one name, their sum. */
static void answer(struct store_found *found, const struct quality *q)
{
	struct quality all = *q;
	const struct store_count *counts;
	size_t n;

	all.counts = (struct buf){ 0 };
	assert_int_equal(quality_end(&all, &counts, &n), 0);
	found->counts = calloc(n, sizeof(*found->counts));
	for (size_t i = 0; i < n; i++) {
		size_t j = 0;

		while (j < found->n_counts && strcmp(found->counts[j].name, counts[i].name) != 0)
			j++;
		if (j == found->n_counts)
			found->counts[found->n_counts++] =
			        (struct store_count){ strdup(counts[i].name), 0 };
		found->counts[j].value += counts[i].value;
	}
	buf_free(&all.counts);
}

static void what_was_told_comes_back(void **state)
{
	struct load a = { 0 }, b = { 0 }, back = { 0 };
	struct load_partial one = { .object = (char *)"/bin/a", .file = "a.dwo", .samples = 3 };
	struct load_partial two[] = {
		{ .object = (char *)"/bin/b", .file = "b\x1f.dwo", .samples = 9 },
		{ .object = (char *)"/bin/a", .file = "a.dwo", .samples = 2 }
	};
	struct store_found found = { 0 };
	struct quality q = { 0 };

	begin(&a, 1000);
	a.partial = &one;
	a.n_partial = 1;
	a.guessed = 4;
	begin(&b, 1000);
	b.partial = two;
	b.n_partial = 2;
	b.guessed = 1;
	quality_add_load(&q, &a);
	quality_add_load(&q, &b);
	answer(&found, &q);
	begin(&back, 0);
	assert_int_equal(quality_restore(&back, &found), 0);
	assert_int_equal(back.guessed, 5);
	assert_int_equal(back.n_partial, 2);
	assert_string_equal(back.partial[0].object, "/bin/b");
	assert_string_equal(back.partial[1].file, "a.dwo");
	assert_int_equal(back.partial[1].samples, 5);
	quality_free(&q);
	store_found_free(&found);
	profile_free(a.profile);
	profile_free(b.profile);
	load_free(&back);
}

/* Windows of two rates have no period in common; those of one have. */
static void periods_are_those_of_all(void **state)
{
	for (uint64_t other = 1000; other <= 2000; other += 1000) {
		struct load a = { 0 }, b = { 0 }, back = { 0 };
		struct store_found found = { 0 };
		struct quality q = { 0 };
		uint32_t event;

		begin(&a, 1000);
		begin(&b, other);
		quality_add_load(&q, &a);
		quality_add_load(&q, &b);
		answer(&found, &q);
		assert_int_equal(profile_new(&back.profile, 0), 0);
		event = profile_event(back.profile, "cpu-clock");
		assert_int_equal(quality_restore(&back, &found), 0);
		assert_int_equal(origin_period_of(profile_origin_of(back.profile), event),
		                 other == 1000 ? 1000 : 0);
		quality_free(&q);
		store_found_free(&found);
		profile_free(a.profile);
		profile_free(b.profile);
		load_free(&back);
	}
}

/* Names of a store are anything. */
static void nonsense_is_passed_over(void **state)
{
	static const char *const names[] = { "partial\x1f",
		                             "partial\x1fx",
		                             "period\x1f",
		                             ("period\x1f"
		                              "0\x1f"
		                              "cpu-clock"),
		                             ("period\x1f"
		                              "7\x1fnobody"),
		                             "agent.windows_at_hz." };
	struct store_count counts[6];
	const struct store_found found = { .counts = counts, .n_counts = 6 };
	struct load load = { 0 };
	struct buf out = { 0 };

	for (size_t i = 0; i < 6; i++)
		counts[i] = (struct store_count){ names[i], 1 };
	begin(&load, 5);
	assert_int_equal(quality_restore(&load, &found), 0);
	assert_int_equal(load.n_partial, 0);
	quality_text(&found, &out);
	assert_string_equal(buf_text(&out), "windows: 1 at  Hz\n");
	buf_free(&out);
	load_free(&load);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_told_comes_back),
		cmocka_unit_test(periods_are_those_of_all),
		cmocka_unit_test(nonsense_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
