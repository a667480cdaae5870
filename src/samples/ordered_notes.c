// SPDX-License-Identifier: MIT
// ordered_notes.c: see ordered_notes.h. What comes out is what batch.c makes of the samples
// themselves.
#include "samples/ordered_notes.h"

#include "samples/index_order.h"

void ordered_noted_start(struct ordered_noted *noted, const struct recording *rec)
{
	*noted = (struct ordered_noted){ .rec = rec };
	noted->item.record.type = SEAM_RECORD_SAMPLE;
	noted->item.noted = true;
}

/* What the record said of itself. */
static void ordered_noted_decoded(const struct recording *rec, const struct sample_entry *entry,
                                  const struct sample_index_who *who, struct batch_item *item)
{
	struct seam_decoded *d = &item->decoded;
	/* Whole to each of its places: a copy of what was just written in parts waits for all of
	 * these. */
	const struct seam_id id = { .has = who->has,
		                    .pid = who->pid,
		                    .tid = who->tid,
		                    .cpu = who->cpu,
		                    .time_ns = sample_index_time(entry) };

	item->record.misc = who->misc;
	item->record.index = entry->index;
	d->record = &item->record;
	d->event = d->sample.event = seam_events_at(rec->events, who->event);
	d->id = d->sample.id = item->sample.sample.id = id;
	d->sample.period = entry->weight;
	item->time_ns = id.time_ns;
	item->proc_ns = proc_time(d);
}

/* Its parts, and what became of the user part. */
static void ordered_noted_stitched(const struct recording *rec, const struct sample_entry *entry,
                                   const struct sample_index_who *who,
                                   const struct stitch_verdict *verdict, struct batch_item *item)
{
	const struct stacks *stacks = &rec->index->stacks;
	struct seam_stitched *s = &item->sample;
	bool no_kernel = entry->kernel & SAMPLE_INDEX_NO_KERNEL;

	s->sample.event = item->decoded.sample.event;
	s->sample.period = entry->weight;
	s->sample.ip = no_kernel ? rec->index->ips[entry->kernel & ~SAMPLE_INDEX_NO_KERNEL] : 0;
	s->misc = who->misc;
	s->state = verdict->state;
	s->deferred_time_ns = verdict->deferred_time_ns;
	s->deferred_misc = verdict->deferred_misc;
	s->kernel = stacks_words(stacks, no_kernel ? 0 : entry->kernel);
	s->user = who->kind == RULES_AT_ONCE ? stacks_words(stacks, entry->user)
	                                     : stitch_words(rec->stitch, verdict);
}

const struct batch_item *ordered_noted_item(struct ordered_noted *noted,
                                            const struct sample_entry *entry)
{
	const struct recording *rec = noted->rec;
	const struct sample_index_who *who = pool_at(&rec->index->whos, entry->who);
	const struct stitch_summary summary = sample_index_summary(entry, who);
	struct batch_item *item = &noted->item;
	struct stitch_verdict verdict;

	if (!stitch_resolve_summary(rec->stitch, &summary, &noted->counts, &verdict))
		return NULL;
	ordered_noted_decoded(rec, entry, who, item);
	ordered_noted_stitched(rec, entry, who, &verdict, item);
	recording_recall_spaces(rec, &noted->recall, &item->sample, item->proc_ns,
	                        &item->user_space, &item->kernel_space);
	return item;
}
