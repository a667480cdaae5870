// SPDX-License-Identifier: MIT
// noise.c: see noise.h. Intervals of a ratio of proportions on the logarithmic scale (Katz). Where
// there are several runs a second one is made of how they differ (Pearson's dispersion, Student's
// t), and the wider of the two is taken: a few runs that happen to agree do not make the counts any
// surer, and a small dispersion of a few runs is itself unsure.
#include "profile/noise.h"

#include <math.h>

/* The chance that |t| <= x, as a finite sum for whole df. With df 0 it is the normal distribution.
 * The series is that of Abramowitz and Stegun, 26.7.3 and 4. */
static double noise_within(double x, unsigned df)
{
	double angle, cosine, term, sum;

	if (!df)
		return erf(x / sqrt(2));
	angle = atan(x / sqrt(df));
	cosine = cos(angle);
	term = sum = df == 1 ? 0 : df % 2 ? cosine : 1;
	for (unsigned i = df % 2 ? 3 : 2; i + 1 < df; i += 2) {
		term *= cosine * cosine * (i - 1) / i;
		sum += term;
	}
	return df % 2 ? (angle + sin(angle) * sum) * 2 / M_PI : sin(angle) * sum;
}

/* Which |t| is passed with this chance: by bisection, which is exact enough after a hundred
 * halvings. */
double noise_quantile(double chance, unsigned df)
{
	double low = 0, high = 1;

	while (1 - noise_within(high, df) > chance && high < 1e12)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (1 - noise_within(middle, df) > chance)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The runs of one side together. chi2: how much they differ among each other. */
struct noise_side {
	double k, n, runs;
	double chi2;
};

/* With counts the runs are compared by their numbers (a Poisson process each), otherwise by their
 * shares of all samples (a binomial one). */
static struct noise_side noise_sum(const struct noise_run *runs, size_t n, bool counts)
{
	struct noise_side s = { .runs = (double)n };
	double share, expected, variance, off;

	for (size_t i = 0; i < n; i++) {
		s.k += (double)runs[i].k;
		s.n += (double)runs[i].n;
	}
	share = s.n > 0 ? s.k / s.n : 0;
	for (size_t i = 0; i < n && s.k > 0; i++) {
		expected = counts ? s.k / s.runs : share * (double)runs[i].n;
		variance = counts ? expected : expected * (1 - share);
		off = (double)runs[i].k - expected;
		s.chi2 += variance > 0 ? off * off / variance : 0;
	}
	return s;
}

/* The share of k, or its mean per run. */
static double noise_share(const struct noise_side *s, double k, bool counts)
{
	double of = counts ? s->runs : s->n;

	return of > 0 ? k / of : 0;
}

/* Finds the limits of a chance of error, if they are not those that are kept. */
static void noise_reach(struct noise_limits *l, double chance, unsigned df)
{
	if (l->chance == chance && l->df == df)
		return;
	l->chance = chance;
	l->df = df;
	l->normal = noise_quantile(chance, 0);
	l->student = df ? noise_quantile(chance, df) : 0;
}

/* Fills the shares of both sides, their ratio, and within which bounds the ratio lies at this
 * confidence. opts->tests divides the chance of error among so many comparisons. */
void noise_compare(const struct noise_run *base, size_t n_base, const struct noise_run *next,
                   size_t n_next, const struct noise_opts *opts, struct noise *ret)
{
	struct noise_side a = noise_sum(base, n_base, opts->counts);
	struct noise_side b = noise_sum(next, n_next, opts->counts);
	/* A count of 0 would have a ratio of 0 or infinity: half a sample stands for it. */
	double ka = a.k > 0 ? a.k : 0.5, kb = b.k > 0 ? b.k : 0.5, spread, variance, q;
	unsigned df = (unsigned)(n_base + n_next - 2);
	/* Of a hundred functions that are compared at 95 %, five would differ by chance
	 * (Bonferroni). */
	double chance = (1 - opts->confidence) / (opts->tests ? (double)opts->tests : 1);
	struct noise_limits own = { 0 }, *limits = opts->limits ? opts->limits : &own;

	ret->dispersion = df ? (a.chi2 + b.chi2) / df : 1;
	noise_reach(limits, chance, df);
	/* The wider of the two intervals. */
	q = fmax(limits->normal, limits->student * sqrt(ret->dispersion));
	if (!(ret->dispersion > 1))
		ret->dispersion = 1;
	ret->base = noise_share(&a, a.k, opts->counts);
	ret->next = noise_share(&b, b.k, opts->counts);
	variance = opts->counts ? ka / (a.runs * a.runs) + kb / (b.runs * b.runs)
	                        : ret->base * (1 - ret->base) / fmax(a.n, 1) +
	                                  ret->next * (1 - ret->next) / fmax(b.n, 1);
	ret->margin = q * sqrt(variance);
	ret->ratio = noise_share(&b, kb, opts->counts) / noise_share(&a, ka, opts->counts);
	variance = 1 / ka + 1 / kb;
	/* A share's own size makes it surer: of a function that has nearly all samples little can
	 * change. */
	if (!opts->counts)
		variance -= 1 / fmax(a.n, ka) + 1 / fmax(b.n, kb);
	/* Beyond a factor of 10^8 nothing is known; larger powers say no more. */
	spread = exp(fmin(q * sqrt(fmax(variance, 0)), 20));
	ret->least = ret->ratio / spread;
	ret->most = ret->ratio * spread;
}
