// SPDX-License-Identifier: MIT
// profile_noise.c: the quantiles against published tables; how often an interval holds the truth.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profile/noise.h"

static void quantiles_are_those_of_the_tables(void **state)
{
	static const struct {
		double chance;
		unsigned df;
		double value;
	} table[] = { { 0.05, 0, 1.95996 }, { 0.01, 0, 2.57583 },  { 0.05, 1, 12.7062 },
		      { 0.05, 2, 4.30265 }, { 0.05, 3, 3.18245 },  { 0.05, 4, 2.77645 },
		      { 0.05, 9, 2.26216 }, { 0.05, 10, 2.22814 }, { 0.01, 5, 4.03214 },
		      { 0.10, 30, 1.69726 } };

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_true(fabs(noise_quantile(table[i].chance, table[i].df) - table[i].value) <
		            1e-4);
}

static uint64_t seed = 7;

static double chance(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / 9007199254740992.0;
}

static uint64_t binomial(uint64_t n, double p)
{
	uint64_t k = 0;

	for (uint64_t i = 0; i < n; i++)
		k += chance() < p;
	return k;
}

/* Of 600 comparisons of a program with itself, about 95 % must hold 1; and a real 30 % is seen. */
static void an_interval_holds_the_truth_as_often_as_it_says(void **state)
{
	const struct noise_opts opts = { .confidence = 0.95 };
	unsigned held = 0, seen = 0;

	for (unsigned i = 0; i < 600; i++) {
		struct noise_run a = { .n = 2000 }, b = { .n = 2000 }, c = { .n = 2000 };
		struct noise r;

		a.k = binomial(a.n, 0.2);
		b.k = binomial(b.n, 0.2);
		c.k = binomial(c.n, 0.26);
		noise_compare(&a, 1, &b, 1, &opts, &r);
		held += r.least <= 1 && r.most >= 1;
		noise_compare(&a, 1, &c, 1, &opts, &r);
		seen += r.least > 1;
	}
	assert_in_range(held, 600 * 92 / 100, 600 * 98 / 100);
	assert_true(seen > 600 * 95 / 100);
}

/* Runs that differ among themselves widen the interval; equal ones do not. */
static void several_runs_show_their_own_noise(void **state)
{
	const struct noise_run calm[] = { { 200, 1000 }, { 201, 1000 }, { 199, 1000 } };
	const struct noise_run wild[] = { { 100, 1000 }, { 320, 1000 }, { 180, 1000 } };
	const struct noise_opts one = { .confidence = 0.95 },
	                        many = { .confidence = 0.95, .tests = 50 };
	struct noise a, b, c;

	noise_compare(calm, 3, calm, 3, &one, &a);
	noise_compare(wild, 3, wild, 3, &one, &b);
	noise_compare(calm, 3, calm, 3, &many, &c);
	assert_true(a.dispersion == 1);
	assert_true(b.dispersion > 10);
	assert_true(b.most > a.most && b.least < a.least);
	assert_true(c.most > a.most);
	assert_true(fabs(a.ratio - 1) < 1e-12 && fabs(a.base - 0.2) < 1e-12);
}

/* Runs that differ beyond counting: of n = 1000, k is around 200, sd 40 between runs where counting
 * has 13. */
static uint64_t unsteady(void)
{
	double normal = 0;

	for (int i = 0; i < 12; i++)
		normal += chance();
	return binomial(1000, 0.2 * exp(0.2 * (normal - 6)));
}

/* With few runs a side, and as many questions at once as a gate asks: it is in the tails that an
 * interval by the wrong distribution is too narrow. Of 0.5 % allowed (a tenth of 5 %), at most
 * twice that. */
static void a_few_unsteady_runs_do_not_fool_a_gate(void **state)
{
	const struct noise_opts opts = { .confidence = 0.95, .tests = 10 },
	                        plain = { .confidence = 0.95 };

	for (unsigned side = 2; side <= 4; side++) {
		unsigned wrong = 0, wrong_plain = 0;

		for (unsigned i = 0; i < 2000; i++) {
			struct noise_run runs[8] = { 0 };
			struct noise r;

			for (unsigned k = 0; k < 2 * side; k++)
				runs[k] = (struct noise_run){ unsteady(), 1000 };
			noise_compare(runs, side, runs + side, side, &opts, &r);
			wrong += r.least > 1 || r.most < 1;
			noise_compare(runs, side, runs + side, side, &plain, &r);
			wrong_plain += r.least > 1 || r.most < 1;
		}
		assert_true(wrong <= 2000 / 100);
		assert_true(wrong_plain <= 2000 * 65 / 1000);
	}
}

/* Two recordings of a side that happen to agree say little: no narrower than by counting. */
static void agreement_by_chance_narrows_nothing(void **state)
{
	const struct noise_run alike[] = { { 200, 1000 }, { 200, 1000 } }, whole = { 400, 2000 };
	const struct noise_opts opts = { .confidence = 0.95 };
	struct noise several, one;

	noise_compare(alike, 2, alike, 2, &opts, &several);
	noise_compare(&whole, 1, &whole, 1, &opts, &one);
	assert_true(several.dispersion == 1);
	assert_true(fabs(several.most - one.most) < 1e-9);
}

/* What is kept from one question to the next is of that chance and those runs alone. */
static void limits_that_are_kept_change_nothing(void **state)
{
	const struct noise_run runs[] = {
		{ 90, 1000 }, { 140, 1000 }, { 210, 1000 }, { 160, 1000 }
	};
	struct noise_limits limits = { 0 };

	for (size_t i = 0; i < 24; i++) {
		size_t side = 1 + i / 3 % 2;
		struct noise_opts opts = { .confidence = i % 3 ? 0.95 : 0.99,
			                   .tests = i % 2 ? 10 : 1 };
		struct noise kept, anew;

		noise_compare(runs, side, runs + 2, side, &opts, &anew);
		opts.limits = &limits;
		noise_compare(runs, side, runs + 2, side, &opts, &kept);
		assert_memory_equal(&kept, &anew, sizeof(kept));
	}
}

static void nothing_on_one_side_is_half_a_sample(void **state)
{
	const struct noise_run none = { 0, 1000 }, some = { 100, 1000 };
	const struct noise_opts opts = { .confidence = 0.95 },
	                        counts = { .confidence = 0.95, .counts = true };
	struct noise r;

	noise_compare(&none, 1, &some, 1, &opts, &r);
	assert_true(r.base == 0 && fabs(r.ratio - 200) < 1e-9 && r.least > 1);
	noise_compare(&none, 1, &none, 1, &opts, &r);
	assert_true(r.least < 1 && r.most > 1);
	noise_compare(&some, 1, &some, 1, &counts, &r);
	assert_true(fabs(r.base - 100) < 1e-9 && r.least < 1 && r.most > 1);
	noise_compare(&(struct noise_run){ 0, 0 }, 1, &(struct noise_run){ 0, 0 }, 1, &opts, &r);
	assert_false(r.least > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_those_of_the_tables),
		cmocka_unit_test(an_interval_holds_the_truth_as_often_as_it_says),
		cmocka_unit_test(several_runs_show_their_own_noise),
		cmocka_unit_test(a_few_unsteady_runs_do_not_fool_a_gate),
		cmocka_unit_test(agreement_by_chance_narrows_nothing),
		cmocka_unit_test(limits_that_are_kept_change_nothing),
		cmocka_unit_test(nothing_on_one_side_is_half_a_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
