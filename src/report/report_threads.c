// SPDX-License-Identifier: MIT
/*
 * report_threads.c: report --threads: a row per thread, a column per event. Where all events count
 * time (cpu-clock and what --off-cpu records) they are shown as such, and in the end as what they
 * add up to: with --wall, the thread's life.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/shown.h"
#include "report/report.h"

struct thread_row {
	uint32_t comm, tid;
	uint64_t sum;
	size_t at; /* of its counts, in all */
};

struct report_threads {
	const struct profile *profile;
	uint32_t n_events;
	uint64_t *counts; /* [row * (n_events + 1) + event] */
	struct thread_row *rows;
	size_t n;
	struct map by_thread; /* -> row, before they are sorted */
	bool time;            /* of all events that have samples */
	uint64_t largest;     /* sum: --percent-limit is of it */
};

/* A thread that was renamed has a row for each name. */
static int threads_compare(const void *a, const void *b, void *ctx)
{
	const struct thread_row *x = a, *y = b;
	const struct report_threads *t = ctx;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return strcmp(profile_text(t->profile, x->comm), profile_text(t->profile, y->comm));
}

/* NULL: memory is out. The row of a thread under this name, made where it is new. */
static struct thread_row *threads_row(struct report_threads *t, const struct rollup_row *from)
{
	uint64_t key = (uint64_t)from->value[ROLLUP_TID] << 32 | from->value[ROLLUP_COMM];
	bool is_new;
	uint64_t *at = map_slot(&t->by_thread, key, &is_new);

	if (!at)
		return NULL;
	if (is_new) {
		*at = t->n;
		t->rows[t->n++] = (struct thread_row){ .comm = from->value[ROLLUP_COMM],
			                               .tid = from->value[ROLLUP_TID],
			                               .at = *at * (t->n_events + 1) };
	}
	return &t->rows[*at];
}

/* Sums up the rows of a rollup by thread and event, and sorts the threads. Behind the counts of all
 * threads stand those of the events. -ENOMEM. */
static int threads_build(struct report_threads *t, const struct rollup *from)
{
	t->rows = calloc(from->n + 1, sizeof(*t->rows));
	t->counts = calloc((from->n + 1) * (t->n_events + 1), sizeof(*t->counts));
	if (!t->rows || !t->counts)
		return -ENOMEM;
	t->time = true;
	for (size_t i = 0; i < from->n; i++) {
		uint32_t event = from->rows[i].value[ROLLUP_EVENT];
		struct thread_row *row = threads_row(t, &from->rows[i]);

		if (!row)
			return -ENOMEM;
		t->counts[row->at + event] += from->rows[i].self;
		/* Behind the counts of all rows: what the event has in all decides whether it has a
		 * column. */
		t->counts[from->n * (t->n_events + 1) + event] += from->rows[i].self;
		row->sum += from->rows[i].self;
		t->largest = row->sum > t->largest ? row->sum : t->largest;
		t->time &= profile_event_unit(t->profile, event) == PROFILE_NANOSECONDS;
	}
	qsort_r(t->rows, t->n, sizeof(*t->rows), threads_compare, t);
	return 0;
}

/* Milliseconds, or a count. */
static void threads_value(const struct report_threads *t, uint64_t v, int width, struct buf *out)
{
	char number[32];

	if (t->time)
		shown_printf(out, "  %*.3f", width, (double)v / 1e6);
	else
		shown_printf(out, "  %*s", width, report_number(v, number, sizeof(number)));
}

/* The width of a column, by the event's name; at least wide enough for numbers. */
static int threads_width(const char *event)
{
	int n = (int)shown_length(event);

	return n < 12 ? 12 : n;
}

/* totals: where the counts of the events begin. An event without samples has no column; threads
 * below limit percent of the first one are only counted. */
static void threads_print(const struct report_threads *t, size_t totals, const struct rollup *from,
                          double limit, struct buf *out)
{
	uint64_t hidden = 0;

	if (t->time)
		shown_printf(out, "Threads, ms:\n\n  %12s", "Sum");
	else
		buf_put_text(out, "Threads:\n\n");
	for (uint32_t e = 1; e <= t->n_events; e++)
		if (t->counts[totals + e])
			shown_printf(out, "  %*s", threads_width(profile_event_name(t->profile, e)),
			             profile_event_name(t->profile, e));
	buf_put_text(out, "  Command, TID\n");
	for (size_t i = 0; i < t->n; i++) {
		const struct thread_row *row = &t->rows[i];
		struct rollup_row name = { .value[ROLLUP_COMM] = row->comm };
		char text[32];

		if (report_percent(row->sum, t->largest) < limit) {
			hidden++;
			continue;
		}
		if (t->time)
			threads_value(t, row->sum, 12, out);
		for (uint32_t e = 1; e <= t->n_events; e++)
			if (t->counts[totals + e])
				threads_value(t, t->counts[row->at + e],
				              threads_width(profile_event_name(t->profile, e)),
				              out);
		shown_printf(out, "  %s %" PRIu32 "\n",
		             rollup_text(from, &name, ROLLUP_COMM, text, sizeof(text)), row->tid);
	}
	if (hidden)
		shown_printf(out, "(%" PRIu64 " more threads, below %g %% of the first)\n", hidden,
		             limit);
	buf_put_text(out, "\n");
}

/* Writes a row for each thread with its count of each event, in milliseconds if all events count
 * time. -ENOMEM. */
int report_threads(const struct report *r, struct buf *out)
{
	const struct rollup_opts opts = { .columns = REPORT_THREAD_COLUMNS };
	struct report_threads t = { .profile = r->load.profile,
		                    .n_events = profile_n_events(r->load.profile) };
	struct rollup from;
	int rc = rollup_build(&from, r->load.profile, &opts);

	if (rc < 0)
		return rc;
	rc = threads_build(&t, &from);
	if (rc >= 0)
		threads_print(&t, from.n * (t.n_events + 1), &from, r->percent_limit, out);
	map_free(&t.by_thread);
	free(t.rows);
	free(t.counts);
	rollup_free(&from);
	return rc;
}
