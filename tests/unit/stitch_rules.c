// SPDX-License-Identifier: MIT
/*
 * stitch_rules.c: the rules one by one, at their edges: what a chain's words say, which flags let
 * an event receive deferred records, when two records are one. Each line here was a survivor of
 * scripts/mutate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stitch/rules.h"

#define K SEAM_CONTEXT_KERNEL
#define U SEAM_CONTEXT_USER
#define D SEAM_CONTEXT_USER_DEFERRED

struct split_row {
	const char *name;
	uint16_t misc;
	uint64_t n, words[8];
	enum rules_kind kind;
	uint64_t n_kernel, n_user, user_first, cookie;
};

static void test_split(void **state)
{
	static const struct split_row rows[] = {
		{ "kernel, then user",
		  SEAM_MISC_KERNEL,
		  5,
		  { K, 1, 2, U, 3 },
		  RULES_AT_ONCE,
		  3,
		  1,
		  3,
		  0 },
		{ "kernel, then a cookie",
		  SEAM_MISC_KERNEL,
		  4,
		  { K, 1, D, 77 },
		  RULES_DEFERRED,
		  2,
		  0,
		  0,
		  77 },
		{ "a marker and no cookie",
		  SEAM_MISC_KERNEL,
		  3,
		  { K, 1, D },
		  RULES_CUT_COOKIE,
		  2,
		  0,
		  0,
		  0 },
		{ "a cookie of 0 is none",
		  SEAM_MISC_KERNEL,
		  4,
		  { K, 1, D, 0 },
		  RULES_CUT_COOKIE,
		  2,
		  0,
		  0,
		  0 },
		{ "user mode without a marker",
		  SEAM_MISC_USER,
		  2,
		  { 5, 6 },
		  RULES_AT_ONCE,
		  0,
		  2,
		  5,
		  0 },
		{ "a first word that is a marker is none of the user's",
		  SEAM_MISC_USER,
		  3,
		  { U, 5, 6 },
		  RULES_AT_ONCE,
		  0,
		  2,
		  5,
		  0 },
		{ "the lowest marker is one",
		  SEAM_MISC_USER,
		  2,
		  { SEAM_CONTEXT_MAX, 5 },
		  RULES_NO_USER,
		  2,
		  0,
		  0,
		  0 },
		{ "below it is an address",
		  SEAM_MISC_USER,
		  2,
		  { SEAM_CONTEXT_MAX - 1, 5 },
		  RULES_AT_ONCE,
		  0,
		  2,
		  SEAM_CONTEXT_MAX - 1,
		  0 },
		{ "markers as padding, and a cookie",
		  SEAM_MISC_KERNEL,
		  7,
		  { K, 1, U, K, 2, D, 99 },
		  RULES_DEFERRED,
		  5,
		  0,
		  0,
		  99 },
		{ "markers as padding, in front of the user's",
		  SEAM_MISC_KERNEL,
		  6,
		  { K, 1, U, U, 3, 4 },
		  RULES_AT_ONCE,
		  2,
		  2,
		  3,
		  0 },
		{ "nothing", SEAM_MISC_KERNEL, 0, { 0 }, RULES_NO_CHAIN, 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct split_row *row = &rows[i];
		struct seam_sample sample = {
			.callchain = { .bytes = (const unsigned char *)row->words, .n = row->n },
		};
		struct rules_parts parts;

		rules_split(&sample, row->misc, &parts);
		if (parts.kind != row->kind || parts.kernel.n != row->n_kernel ||
		    parts.user.n != row->n_user || parts.cookie != row->cookie)
			fail_msg("%s: kind %d, kernel %d, user %d, cookie %d", row->name,
			         (int)parts.kind, (int)parts.kernel.n, (int)parts.user.n,
			         (int)parts.cookie);
		if (row->n_user)
			assert_int_equal(seam_u64s_at(&parts.user, 0), row->user_first);
	}
	(void)state;
}

/* One event with these flags. */
static enum rules_output output_of(uint64_t flags)
{
	struct seam_attr attr = { .flags = flags };
	struct seam_events *events = NULL;
	enum rules_output output;

	assert_int_equal(seam_events_new(&events), 0);
	assert_true(seam_events_add(events, &attr, "e", NULL, 0, NULL) >= 0);
	output = rules_output(events);
	seam_events_free(events);
	return output;
}

/* The kernel finds the event by its side-band list: each of these flags puts it there, by itself.
 * */
static void test_output(void **state)
{
	static const uint64_t sideband[] = {
		SEAM_ATTR_MMAP,      SEAM_ATTR_MMAP_DATA,      SEAM_ATTR_MMAP2,
		SEAM_ATTR_COMM,      SEAM_ATTR_COMM_EXEC,      SEAM_ATTR_TASK,
		SEAM_ATTR_KSYMBOL,   SEAM_ATTR_CONTEXT_SWITCH, SEAM_ATTR_TEXT_POKE,
		SEAM_ATTR_BPF_EVENT,
	};

	for (size_t i = 0; i < sizeof(sideband) / sizeof(*sideband); i++) {
		assert_int_equal(output_of(SEAM_ATTR_DEFER_OUTPUT | sideband[i]), RULES_OUTPUT_YES);
		assert_int_equal(output_of(sideband[i]), RULES_OUTPUT_NONE);
	}
	assert_int_equal(output_of(SEAM_ATTR_DEFER_OUTPUT), RULES_OUTPUT_DEAF);
	assert_int_equal(output_of(SEAM_ATTR_DEFER_OUTPUT | SEAM_ATTR_INHERIT), RULES_OUTPUT_DEAF);
	assert_true(rules_no_output(RULES_OUTPUT_NONE, 1));
	assert_true(rules_no_output(RULES_OUTPUT_DEAF, 0));
	assert_false(rules_no_output(RULES_OUTPUT_DEAF, 1));
	assert_false(rules_no_output(RULES_OUTPUT_YES, 0));
	(void)state;
}

/* Two deferred records of one cookie are one told twice if they are closer than an hour, and not
 * further. */
static void test_told_twice(void **state)
{
	const struct rules_who a = { .when = 1000, .pid = 7, .tid = 8 };
	struct rules_who b = a;

	b.when = a.when + RULES_REUSE_NS - 1;
	assert_true(rules_same_deferred(&a, &b));
	assert_true(rules_same_deferred(&b, &a));
	b.when++;
	assert_false(rules_same_deferred(&a, &b));
	assert_false(rules_same_deferred(&b, &a));
	b = a;
	b.tid++;
	assert_false(rules_same_deferred(&a, &b));
	b = a;
	b.pid++;
	assert_false(rules_same_deferred(&a, &b));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_told_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
