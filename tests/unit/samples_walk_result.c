// SPDX-License-Identifier: MIT
// How walks ended, in the misc of samples: the numbers of docs/format.md, and nothing read where
// nothing was said.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "samples/sample_end.h"
#include "samples/walk_result.h"

static const struct seam_attr unwound = { .sample_type = SEAM_SAMPLE_IP | SEAM_SAMPLE_CALLCHAIN,
	                                  .sample_stack_user = 8192 };
static const struct seam_attr kept = { .sample_type = SEAM_SAMPLE_IP | SEAM_SAMPLE_CALLCHAIN |
	                                              SEAM_SAMPLE_STACK_USER,
	                               .sample_stack_user = 8192 };
static const struct seam_attr ordinary = { .sample_type = SEAM_SAMPLE_IP | SEAM_SAMPLE_CALLCHAIN };

/* Literal, because files hold them: code << 7 | guessed << 6 | detail << 3 | cpumode 2. */
static void numbers_of_the_file(void **state)
{
	static const struct {
		struct walk_result result;
		uint16_t misc;
		const char *name;
	} table[] = {
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_COMPLETE }, 0x082, "complete" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_COMPLETE, .guessed = true },
		  0x0c2,
		  "complete" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_TRUNCATED, .needed = 5 },
		  0x12a,
		  "truncated" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_TRUNCATED, .unreadable = true },
		  0x102,
		  "truncated" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_NO_INFO }, 0x182, "no_unwind_info" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_NO_INFO, .unmapped = true },
		  0x18a,
		  "no_unwind_info" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_BAD_RULE }, 0x202, "bad_rule" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_BAD_MEMORY }, 0x282, "bad_memory" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_BELOW_SP }, 0x302, "below_sp" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_OTHER_STACK }, 0x382, "other_stack" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_NO_PROGRESS }, 0x402, "no_progress" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_LIMIT }, 0x482, "limit" },
		{ { .kind = WALK_RESULT_WALKED, .end = WALK_WATCHED }, 0x502, "watched" },
		{ { .kind = WALK_RESULT_LATE }, 0x802, "late" },
		{ { .kind = WALK_RESULT_IN_EXEC }, 0x882, "in_exec" },
		{ { .kind = WALK_RESULT_NO_REGISTERS }, 0x902, "no_registers" },
		{ { .kind = WALK_RESULT_NO_STACK }, 0x982, "no_stack" },
		{ { .kind = WALK_RESULT_TOO_LONG }, 0xa02, "too_long" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct walk_result o;

		assert_int_equal(walk_result_put(&unwound, 2, &table[i].result), table[i].misc);
		assert_true(walk_result_get(&unwound, table[i].misc, &o));
		assert_int_equal(o.kind, table[i].result.kind);
		assert_int_equal(o.end, table[i].result.end);
		assert_int_equal(o.guessed, table[i].result.guessed);
		assert_int_equal(o.unreadable, table[i].result.unreadable);
		assert_int_equal(o.unmapped, table[i].result.unmapped);
		assert_int_equal(o.needed, table[i].result.needed);
		assert_string_equal(walk_result_name(&o), table[i].name);
	}
}

static void the_kernels_bits_stay(void **state)
{
	const struct walk_result late = { .kind = WALK_RESULT_LATE }, none = { 0 };

	assert_int_equal(walk_result_put(&unwound, 0xf007, &late), 0xf807);
	assert_int_equal(walk_result_put(&unwound, 0xffff, &none), 0xf007);
	assert_int_equal(walk_result_put(&kept, 0x4002, &late), 0x4002);
	assert_int_equal(walk_result_put(&ordinary, 0x4002, &late), 0x4002);
}

/* Whatever stands in misc, an event whose samples were not unwound while recording says nothing. */
static void only_where_it_was_said(void **state)
{
	struct walk_result o;

	for (unsigned misc = 0; misc < 65536; misc++) {
		unsigned code = misc >> 7 & 31;
		bool known = (code >= 1 && code <= 10) || (code >= 16 && code <= 20);

		assert_false(walk_result_get(&kept, (uint16_t)misc, &o));
		assert_false(walk_result_get(&ordinary, (uint16_t)misc, &o));
		assert_int_equal(walk_result_get(&unwound, (uint16_t)misc, &o), known);
	}
}

static void classes_hold_their_bytes(void **state)
{
	assert_int_equal(walk_result_needed_class(1), 1);
	assert_int_equal(walk_result_needed_class(1024), 1);
	assert_int_equal(walk_result_needed_class(1025), 2);
	assert_int_equal(walk_result_needed_class(8200), 5);
	assert_int_equal(walk_result_needed_class(32768), 6);
	assert_int_equal(walk_result_needed_class(32769), 7);
	assert_int_equal(walk_result_needed_class(UINT64_MAX), 7);
}

static void every_sample_is_counted_once(void **state)
{
	const struct walk_result cut = { .kind = WALK_RESULT_WALKED,
		                         .end = WALK_TRUNCATED,
		                         .needed = 6 };
	const struct walk_result late = { .kind = WALK_RESULT_LATE };
	struct walk_result_counts c = { 0 }, sum = { 0 };

	walk_result_count(&c, &unwound, walk_result_put(&unwound, 2, &cut));
	walk_result_count(&c, &unwound, walk_result_put(&unwound, 1, &late));
	walk_result_count(&c, &unwound, 2);
	walk_result_count(&c, &unwound, 31 << 7 | 2); /* of a version to come */
	walk_result_count(&c, &kept, 0x802);
	walk_result_add(&sum, &c);
	walk_result_add(&sum, &c);
	assert_int_equal(sum.samples, 8);
	assert_int_equal(sum.kind[WALK_RESULT_WALKED], 2);
	assert_int_equal(sum.kind[WALK_RESULT_LATE], 2);
	assert_int_equal(sum.kind[WALK_RESULT_NOT_SAID], 4);
	assert_int_equal(sum.end[WALK_TRUNCATED], 2);
	assert_int_equal(sum.needed[6], 2);
	assert_int_equal(sum.copy_bytes, 8192);
}

/* The end that is said, and nothing of stacks that are whole, or of which nothing is said. */
static void ends_of_samples(void **state)
{
	const struct seam_event copies = { .attr = unwound }, other = { .attr = ordinary };
	const struct walk torn = { .end = WALK_NO_PROGRESS }, whole = { .end = WALK_COMPLETE };
	const uint16_t deferred = stack_end_misc(STACK_END_DEFERRED, false);
	const uint16_t fault = stack_end_misc(STACK_END_FAULT, true);

	assert_int_equal(sample_end_of(&other, &whole, fault, 0), 0);
	assert_string_equal(sample_end_name(sample_end_of(&other, &torn, 0, 0)), "no_progress");
	assert_int_equal(sample_end_of(&copies, NULL, 0x082, 0), 0);
	assert_int_equal(sample_end_of(&copies, NULL, 0x982, 0), 0); /* it has no stack */
	assert_int_equal(sample_end_of(&copies, NULL, 2, 0), 0);
	assert_string_equal(sample_end_name(sample_end_of(&copies, NULL, 0x12a, 0)), "truncated");
	assert_string_equal(sample_end_text(sample_end_of(&copies, NULL, 0x802, 0)),
	                    "not unwound: the recorder could not keep up");
	assert_int_equal(sample_end_of(&other, NULL, 2, 0), 0);
	assert_string_equal(sample_end_name(sample_end_of(&other, NULL, fault | 2, 0)), "fault");
	assert_string_equal(sample_end_text(sample_end_of(&other, NULL, deferred, fault)),
	                    "stack that could not be read");
	assert_int_equal(sample_end_of(&other, NULL, deferred, 0), 0);
	assert_true(sample_end_is_limit(sample_end_of(&copies, NULL, 0x482, 0)));
	assert_false(sample_end_is_limit(sample_end_of(&copies, NULL, 0x402, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_the_file),
		cmocka_unit_test(the_kernels_bits_stay),
		cmocka_unit_test(only_where_it_was_said),
		cmocka_unit_test(classes_hold_their_bytes),
		cmocka_unit_test(every_sample_is_counted_once),
		cmocka_unit_test(ends_of_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
