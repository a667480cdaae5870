// SPDX-License-Identifier: MIT
/*
 * sample_tally.c: see sample_tally.h. Invariant: a sample is counted here, or given by
 * samples_each, and never both. What a walk or a group would say is not known here, nor which
 * object ended a recorder's walk: such samples are left to samples_each.
 */
#include "samples/sample_tally.h"

#include <errno.h>

#include "abi/members.h"
#include "base/array.h"
#include "samples/called.h"
#include "samples/recording.h"
#include "samples/sample_index.h"
#include "samples/walk_result.h"

/* Counts a sample of the event in its state. -ENOMEM. */
static int sample_tally_put(struct sample_tally *t, uint32_t event, enum seam_stitch_state state,
                            uint64_t period)
{
	if (event >= t->n_rows && ARRAY_ROOM_ZEROED(&t->rows, &t->n_rows, (size_t)event + 1) < 0)
		return -ENOMEM;
	t->rows[event].samples[state]++;
	t->rows[event].weight[state] += period;
	return 0;
}

/* Whether the marks of a recorder's walk say that it ended for want of information: the object
 * where it ended is counted, too. */
static bool sample_tally_asks_where(const struct seam_attr *attr, uint16_t misc)
{
	struct walk_result result;

	return walk_result_get(attr, misc, &result) && result.kind == WALK_RESULT_WALKED &&
	       result.end == WALK_NO_INFO;
}

/* Counts the sample in its state, and what the marks of a recorder's walk say of it. */
int sample_tally_add(struct sample_tally *t, const struct seam_decoded *d,
                     const struct stitch_learned *said)
{
	const struct seam_event *event = d->sample.event;
	int r;

	if (!t->on || said->parts.kind == RULES_DEFERRED || said->parts.kind == RULES_STACK_COPY ||
	    members_of(&d->sample) || sample_tally_asks_where(&event->attr, d->record->misc))
		return 0;
	walk_result_count(&t->recorded, &event->attr, d->record->misc);
	r = sample_tally_put(t, event->index, stitch_own(&t->counts, said->parts.kind),
	                     d->sample.period);
	return r < 0 ? r : 1;
}

/* Judges entry by entry, in the order of the file. What needs a walk, a group's counters or the
 * marks of a recorder's walk is left to samples_each as a whole. */
int sample_tally_rest(struct recording *rec)
{
	const struct sample_index *index = rec->index;
	struct sample_tally *t = &rec->index->tally;
	const struct sample_entry *e;
	struct stitch_verdict verdict;
	size_t n;
	int r = 0;

	if (!t->on || index->flags & (SAMPLE_INDEX_COPY | SAMPLE_INDEX_GROUP))
		return 0;
	for (size_t i = 0; i < seam_events_count(rec->events); i++)
		if (walk_result_said(&seam_events_at(rec->events, i)->attr))
			return 0;
	for (size_t block = 0; r >= 0 && (n = sample_index_block(index, block, &e)); block++) {
		for (const struct sample_entry *end = e + n; e < end && r >= 0; e++) {
			const struct sample_index_who *who = pool_at(&index->whos, e->who);
			const struct stitch_summary summary = sample_index_summary(e, who);

			if (stitch_resolve_summary(rec->stitch, &summary, &t->counts, &verdict))
				r = sample_tally_put(t, who->event, verdict.state, e->period);
		}
		sample_index_rest(index, block, 2);
		stitch_rest(rec->stitch);
	}
	return r < 0 ? r : 1;
}
