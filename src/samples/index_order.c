// SPDX-License-Identifier: MIT
// index_order.c: see index_order.h. A run is opened when it begins before all that are open, so
// that the heap holds as many as overlap at one time: about two for each ring, however long the
// recording.
#include "samples/index_order.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* By time, then in the order of the file. */
static bool index_run_is_before(const struct sample_index_run *a, const struct sample_index_run *b)
{
	return a->time < b->time || (a->time == b->time && a->at->index < b->at->index);
}

static int index_run_compare(const void *pa, const void *pb)
{
	return index_run_is_before(pa, pb) ? -1 : index_run_is_before(pb, pa);
}

/* Cuts a block of the index into runs of ascending times. -ENOMEM. */
static int index_runs_of_block(struct index_order *o, const struct sample_entry *entry,
                               const struct sample_entry *end)
{
	while (entry < end) {
		uint64_t time = sample_index_time(entry), last = time;
		struct sample_index_run *run;

		if (ARRAY_ROOM(&o->runs, &o->capacity, o->n + 1) < 0)
			return -ENOMEM;
		run = &o->runs[o->n++];
		*run = (struct sample_index_run){ .time = time, .at = entry };
		while (++entry < end && (time = sample_index_time(entry)) >= last)
			last = time;
		run->end = entry;
	}
	return 0;
}

/* Begins to go over the index by time. -ENOMEM. */
int index_order_start(struct index_order *o, const struct sample_index *index)
{
	const struct sample_entry *block;
	int r = 0;

	for (size_t b = 0, n; r >= 0 && (n = sample_index_block(index, b, &block)); b++) {
		r = index_runs_of_block(o, block, block + n);
		o->index += n;
		sample_index_rest(index, b, 1);
	}
	if (r >= 0 && o->n)
		qsort(o->runs, o->n, sizeof(*o->runs), index_run_compare);
	return r;
}

/* Puts a run where it belongs, at i or below it. */
static void index_open_sink(struct index_order *o, size_t i, struct sample_index_run run)
{
	size_t child;

	while ((child = 2 * i + 1) < o->n_open) {
		if (child + 1 < o->n_open &&
		    index_run_is_before(&o->open[child + 1], &o->open[child]))
			child++;
		if (!index_run_is_before(&o->open[child], &run))
			break;
		o->open[i] = o->open[child];
		i = child;
	}
	o->open[i] = run;
}

/* Opens the next run, which comes before all that are open. */
static int index_open_next(struct index_order *o)
{
	size_t i = o->n_open;

	if (ARRAY_ROOM(&o->open, &o->open_capacity, o->n_open + 1) < 0)
		return -ENOMEM;
	for (o->n_open++; i; i = (i - 1) / 2)
		o->open[i] = o->open[(i - 1) / 2];
	o->open[0] = o->runs[o->next++];
	return 0;
}

/* A run that has more entries goes back among the open ones. 1 and *ret; 0: that was the last;
 * -ENOMEM. */
int index_order_next(struct index_order *o, const struct sample_entry **ret)
{
	struct sample_index_run run;

	if (o->next < o->n && (!o->n_open || index_run_is_before(&o->runs[o->next], &o->open[0])) &&
	    index_open_next(o) < 0)
		return -ENOMEM;
	if (!o->n_open)
		return 0;
	run = o->open[0];
	*ret = run.at++;
	if (run.at < run.end)
		run.time = sample_index_time(run.at);
	else
		run = o->open[--o->n_open];
	if (o->n_open)
		index_open_sink(o, 0, run);
	return 1;
}

void index_order_free(struct index_order *o)
{
	free(o->runs);
	free(o->open);
	*o = (struct index_order){ 0 };
}
