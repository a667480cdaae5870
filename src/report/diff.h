/* SPDX-License-Identifier: MIT */
/*
 * diff.h: recordings side by side, and how they differ: diff_table.c brings their rows together,
 * diff_names.c sees objects that got another name, diff_show.c writes.
 *
 * A thing is a distinct combination of event and sort keys, by text: recordings have nothing else
 * in common. Each recording is loaded and let go before the next; its profile stays until all are
 * known.
 */
#ifndef SEAM_REPORT_DIFF_H
#define SEAM_REPORT_DIFF_H

#include "base/intern.h"
#include "report/report.h"
#include "profile/builds.h"
#include "profile/noise.h"

#define DIFF_RUNS_MAX 64u /* per side */

struct diff_cell {
	uint64_t weight, samples;
};

enum diff_verdict {
	DIFF_SAME,   /* the interval holds 1 */
	DIFF_FASTER, /* for sure less */
	DIFF_SLOWER, /* for sure more */
};

struct diff_row {
	uint32_t thing;
	struct noise noise;
	double base, next; /* by weight: shares, or counts per run */
	double share;      /* the larger of both sides' shares */
	enum diff_verdict verdict;
	bool gated; /* --fail-if-slower looks at it */
	bool fails; /* for sure slower than allowed */
	bool may;   /* slower than allowed, but noise could be all of it */
};

struct diff {
	struct report keys; /* only for its sort keys */
	const char *paths[2];
	const char *run_word; /* what a run is: "host"; NULL: a recording */
	bool children, absolute;
	bool color;       /* for a terminal that has colours */
	bool keeps_sides; /* side is wanted */
	bool limit_given; /* percent_limit is not only the default */
	double percent_limit, confidence;
	struct noise_limits limits; /* of the rows' intervals */
	double fail_above;          /* percent; < 0: no gate */
	struct buf wanted;          /* const char *: --symbol */

	size_t n_runs[2];
	size_t runs; /* of both sides: base first */
	struct intern things, events;
	struct profile *profiles[2 * DIFF_RUNS_MAX]; /* by run, until they are summed up */
	struct profile *side[2];                     /* all runs of a side, if they are wanted */
	struct builds builds;                        /* of all of them */
	uint32_t *thing_event;                       /* by thing */
	size_t things_capacity;
	struct diff_cell *cells;  /* thing * runs + run */
	struct diff_cell *wholes; /* event * runs + run */
	size_t events_capacity;
	size_t n_events; /* that both sides have samples of */
	uint64_t samples[2], whole_stacks[2];
	struct diff_row *rows; /* by amount of change, descending */
	size_t n_rows, n_gated, n_fails, n_may;
};

/* ---- diff_table.c ---- */

/* Takes the profile out of load, as that of the run with this number. -ENOMEM. */
int diff_add_run(struct diff *d, struct load *load, size_t run);
/* To be called when all are loaded: compares them and fills rows. -ENOMEM. */
int diff_compare(struct diff *d);
/* After that: the event after e (0: the first) that only one side has samples of, which is not
 * compared; 0: there are no more. */
uint32_t diff_one_sided(const struct diff *d, uint32_t e);
void diff_free(struct diff *d);
/* The value that a thing has in a column. place: the column's index among those asked for, in
 * ascending order. */
const char *diff_value(const struct diff *d, uint32_t thing, size_t place);
const char *diff_event(const struct diff *d, uint32_t thing);
/* The place of a column among a thing's values. */
size_t diff_place(const struct diff *d, enum rollup_column column);

/* ---- diff_names.c ---- */

/* To be called after diff_compare: adds a line if functions would be found again by name alone. */
void diff_hint_names(const struct diff *d, struct buf *out);

/* ---- diff_show.c: -ENOMEM ---- */

void diff_text(const struct diff *d, struct buf *out);
/* What the text says above and below its rows. */
void diff_about(const struct diff *d, struct buf *out);
void diff_json(const struct diff *d, struct buf *out);
void diff_csv(const struct diff *d, struct buf *out);

#endif
