// SPDX-License-Identifier: MIT
// Unit tests of unwind/rows.c: functions come into order, however they are added: in runs, out of
// order, at one start, a few behind many that are in order. What was added first stays.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "unwind/rows.h"
#include "rnd.h"

#define TEXT_AT 0x1000u
#define TEXT_SIZE 0x40000000u
#define MOST 4000u

static int by_start(const void *pa, const void *pb)
{
	const struct rows_function *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* Adds a function with two rows, unless it is covered. */
static void add(struct rows *r, uint64_t start, uint64_t end)
{
	struct rows_rule rule = { .rule = { .cfa = FRAMETAB_CFA_SP, .cfa_off = 8 } };

	if (!rows_begin(r, start, end))
		return;
	rows_add(r, start, &rule);
	rule.rule.cfa_off = 16;
	rows_add(r, start + 1, &rule);
	rows_end(r);
}

/* Adds so many functions: one of `out` begins anywhere, the others behind each other. */
static void add_some(struct rows *r, uint32_t n, uint32_t out, uint64_t space)
{
	uint64_t at = TEXT_AT + rnd(64);

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t start = rnd(out) ? at : TEXT_AT + 4 * rnd((uint32_t)(space / 4));

		add(r, start, start + 2 + rnd(24));
		at = start + rnd(30);
		if (at > TEXT_AT + TEXT_SIZE / 2)
			at = TEXT_AT;
	}
}

/* Seals, and compares with what the same functions become when they are sorted by what is beyond
 * doubt. */
static void seal(struct rows *r)
{
	const size_t n = r->n_functions;
	struct rows_function *f = malloc((n + 1) * sizeof(*f));
	size_t kept = 0;

	assert_non_null(f);
	memcpy(f, r->functions, n * sizeof(*f));
	qsort(f, n, sizeof(*f), by_start);
	for (size_t i = 0; i < n; i++) {
		if (kept && f[i].start == f[kept - 1].start)
			continue;
		if (kept && f[i].start < f[kept - 1].end)
			f[kept - 1].end = f[i].start;
		f[kept++] = f[i];
	}
	rows_seal(r);
	assert_int_equal(r->failed, 0);
	assert_int_equal(r->n_functions, kept);
	for (size_t i = 0; i < kept; i++) {
		assert_int_equal(r->functions[i].start, f[i].start);
		assert_int_equal(r->functions[i].end, f[i].end);
		assert_int_equal(r->functions[i].first, f[i].first);
	}
	free(f);
}

static void any_order(void **state)
{
	const struct compile_input in = { .machine = FRAMETAB_X86_64,
		                          .ranges = { { TEXT_AT, TEXT_AT + TEXT_SIZE } },
		                          .n_ranges = 1 };

	(void)state;
	for (unsigned turn = 0; turn < 300; turn++) {
		const uint64_t space = 64ULL << rnd(24);
		struct rows r;

		rows_init(&r, &in);
		rows_expect(&r, rnd(1000000));
		for (unsigned source = 0; source < 4; source++) {
			add_some(&r, rnd(2 + MOST / (1 + rnd(400))), 1 + rnd(100), space);
			seal(&r);
		}
		rows_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(any_order) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
