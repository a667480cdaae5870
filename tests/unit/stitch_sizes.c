// SPDX-License-Identifier: MIT
// stitch_sizes.c: structs that cross libseam's border keep to the size that their caller set, in
// both directions.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <seam/seam.h>

#include "base/sized.h"

/* A caller that was compiled when the counts ended behind `samples`, and what lies behind its
 * struct. */
struct small {
	struct {
		size_t sz;
		uint64_t samples;
	} counts;
	uint64_t guard[64];
};

static struct small small_new(void)
{
	struct small s = { .counts.sz = sizeof(s.counts) };

	memset(s.guard, 0xa5, sizeof(s.guard));
	return s;
}

static void assert_guarded(const struct small *s)
{
	for (size_t i = 0; i < sizeof(s->guard) / 8; i++)
		assert_int_equal(s->guard[i], 0xa5a5a5a5a5a5a5a5);
}

static void adds_within_the_smaller(void **state)
{
	struct small to = small_new(), from = small_new();
	struct seam_stitch_counts whole = { .sz = sizeof(whole), .samples = 5, .lost = 7 };

	to.counts.samples = 2;
	from.counts.samples = 3;
	assert_int_equal(seam_stitch_counts_add((void *)&to, (void *)&from), 0);
	assert_int_equal(to.counts.samples, 5);
	assert_int_equal(seam_stitch_counts_add((void *)&to, &whole), 0);
	assert_int_equal(to.counts.samples, 10);
	assert_int_equal(to.counts.sz, sizeof(to.counts));
	assert_guarded(&to);
	assert_int_equal(seam_stitch_counts_add(&whole, (void *)&from), 0);
	assert_int_equal(whole.samples, 8);
	assert_int_equal(whole.lost, 7);
	whole.sz = 0;
	assert_int_equal(seam_stitch_counts_add(&whole, (void *)&from), -EINVAL);
	assert_int_equal(whole.samples, 8);
}

static void larger_counts_are_zeroed(void **state)
{
	struct {
		struct seam_stitch_counts counts;
		uint64_t newer[2];
	} c = { .counts.sz = sizeof(c), .newer = { 1, 2 } };
	struct seam_stitch *st = NULL;

	assert_int_equal(seam_stitch_new(&st, NULL), 0);
	assert_int_equal(seam_stitch_counts(st, &c.counts), 0);
	assert_int_equal(c.newer[0] | c.newer[1], 0);
	assert_int_equal(c.counts.sz, sizeof(c));
	c.counts.sz = 0;
	assert_int_equal(seam_stitch_counts(st, &c.counts), -EINVAL);
	seam_stitch_free(st);
}

/* A file of one sample without a callchain: resolve counts it in a struct that knows of no more
 * than `samples`. */
static void resolves_into_the_smaller(void **state)
{
	const struct seam_record record = { .type = SEAM_RECORD_SAMPLE, .stable = true };
	struct seam_decoded d = { .record = &record };
	struct small counts = small_new();
	struct seam_stitch *st = NULL;
	struct seam_stitched out;

	assert_int_equal(seam_stitch_new(&st, NULL), 0);
	assert_int_equal(seam_stitch_learn(st, &d, NULL), 0);
	assert_int_equal(seam_stitch_seal(st), 0);
	assert_int_equal(seam_stitch_resolve(st, &d, (void *)&counts, &out), 1);
	assert_int_equal(counts.counts.samples, 1);
	assert_guarded(&counts);
	counts.counts.sz = 0;
	assert_int_equal(seam_stitch_resolve(st, &d, (void *)&counts, &out), -EINVAL);
	seam_stitch_free(st);
}

static void unknown_options_are_refused(void **state)
{
	struct {
		struct seam_stitch_opts opts;
		uint64_t newer;
	} o = { .opts.sz = sizeof(o) };
	struct {
		struct seam_reader_opts opts;
		uint64_t newer;
	} ro = { .opts.sz = sizeof(ro), .newer = 1 };
	struct {
		struct seam_writer_opts opts;
		uint64_t newer;
	} wo = { .opts.sz = sizeof(wo), .newer = 1 };
	struct seam_stitch *st = NULL;
	struct seam_reader *reader = NULL;
	struct seam_writer *writer = NULL;
	struct seam_error err = { 0 };

	assert_int_equal(seam_stitch_new(&st, &o.opts), 0); /* larger, but nothing is set there */
	seam_stitch_free(st);
	o.newer = 1;
	assert_int_equal(seam_stitch_new(&st, &o.opts), -E2BIG);
	o.opts.sz = 0;
	assert_int_equal(seam_stitch_new(&st, &o.opts), -EINVAL);
	assert_int_equal(seam_reader_open_memory(&reader, "", 0, NULL, &ro.opts, &err), -E2BIG);
	assert_int_equal(err.code, E2BIG);
	assert_int_equal(seam_writer_open(&writer, "/nowhere/file", NULL, &wo.opts, &err), -E2BIG);
	assert_null(reader);
	assert_null(writer);
}

static void sized_copies_what_both_know(void **state)
{
	struct {
		size_t sz;
		uint64_t a, b;
	} from = { sizeof(from), 1, 2 }, to = { 0 };

	from.sz = sizeof(from.sz) + sizeof(from.a);
	assert_int_equal(sized_take(&to, sizeof(to), &from), 0);
	assert_int_equal(to.a, 1);
	assert_int_equal(to.b, 0);
	to.sz = sizeof(to);
	assert_int_equal(sized_give(&to, &from, sizeof(from.sz) + sizeof(from.a)), 0);
	assert_int_equal(to.sz, sizeof(to));
	assert_int_equal(to.b, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_within_the_smaller),
		cmocka_unit_test(larger_counts_are_zeroed),
		cmocka_unit_test(resolves_into_the_smaller),
		cmocka_unit_test(unknown_options_are_refused),
		cmocka_unit_test(sized_copies_what_both_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
