/* SPDX-License-Identifier: MIT */
/*
 * noise.h: how sure a difference between two sampled shares is.
 *
 * Samples are counted, not measured: of n samples k hit a function, and k varies from run to run
 * even when the program does not. One recording per side gives the noise of counting alone
 * (binomial); several show how much runs differ beyond that, and widen the interval by it. Nothing
 * here knows of what was not recorded: another machine, another load, a warm cache.
 */
#ifndef SEAM_PROFILE_NOISE_H
#define SEAM_PROFILE_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One recording: k of n samples. */
struct noise_run {
	uint64_t k, n;
};

/* How far out an interval reaches. It is the same for all rows of a table, and takes a hundred
 * times as long as the rest: it is kept from one to the next. Zero-initialise. */
struct noise_limits {
	double chance; /* of what; 0: nothing is kept */
	unsigned df;
	double normal, student;
};

struct noise_opts {
	double confidence; /* 0.95 */
	size_t tests;      /* how many such questions are asked at once (Bonferroni); 0 is 1 */
	bool counts;       /* compare k per run instead of k / n */
	struct noise_limits *limits; /* NULL: they are found anew each time */
};

struct noise {
	double base, next;  /* shares, or counts per run */
	double margin;      /* of next - base, to either side */
	double ratio;       /* next / base; a count of 0 is taken as half a sample */
	double least, most; /* of the ratio */
	double dispersion;  /* how many times counting noise the runs vary; 1: not more */
};

/* Both sides have at least one run. */
void noise_compare(const struct noise_run *base, size_t n_base, const struct noise_run *next,
                   size_t n_next, const struct noise_opts *opts, struct noise *ret);
/* The value that a variable of Student's distribution with df degrees of freedom (0: the normal
 * distribution) exceeds in amount with this chance, 0 < chance < 1. */
double noise_quantile(double chance, unsigned df);

#endif
