// SPDX-License-Identifier: MIT
/*
 * first_pass.c: see first_pass.h. Every record is decoded once, in the order of the file, and given
 * to all who must know of it before the first sample can be judged: proc/ (what is mapped, names),
 * stitch/ (deferred records, execs, losses), the sample index. What the recording counts of itself
 * is counted here, too.
 *
 * Where the bytes of the file stay in memory, stretches of records (runs) of at most RUN_MAX are
 * noted: threads take them one by one when records are decoded again.
 *
 * Invariant: a record that cannot be decoded is counted, and changes nothing else.
 */
#include "samples/first_pass.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "abi/context.h"
#include "abi/record.h"
#include "abi/redecode.h"
#include "base/cursor.h"
#include "perfdata/feature.h"
#include "perfdata/window.h"
#include "samples/hit.h"
#include "samples/sample_index.h"
#include "samples/walk_result.h"
#include "stitch/rules.h"

#define RUN_MAX (1u << 20) /* bytes: the unit of work of the second pass */

/* The file is not held in memory (perfdata/window.h), so its stacks are not looked at often. The
 * innermost frames are few, and met often. */
void first_pass_large(struct first_pass *l)
{
	l->rec->large = true;
	l->rec->index->way = l->rec->index->innermost ? INTERN_COPY
	                     : l->once                ? INTERN_FAR
	                                              : INTERN_ONCE;
	stitch_kept(l->rec->stitch, l->rec->index->way);
}

/* Gives back what was looked at of a large file because stacks were met again. */
static void first_pass_met_again(struct first_pass *l)
{
	const size_t again = atomic_load_explicit(&l->rec->index->again, memory_order_relaxed) +
	                     stitch_met_again(l->rec->stitch);

	recording_looked_at(l->rec, &l->looked_at, (again - l->again) * WINDOW_AROUND);
	l->again = again;
}

/* Begins a new run of records with this one. -ENOMEM. */
static int first_pass_add_run(struct first_pass *l, const struct seam_record *record)
{
	struct recording *rec = l->rec;

	if (ARRAY_ROOM(&rec->runs, &l->runs_capacity, rec->n_runs + 1) < 0)
		return -ENOMEM;
	/* Of a compressed file it is not known before. */
	if (!rec->large && window_large(rec->reader))
		first_pass_large(l);
	l->run = &rec->runs[rec->n_runs++];
	*l->run = (struct recording_run){
		.bytes = record->bytes,
		.n = record->size,
		.offset = record->offset,
		.first_index = record->index,
		.records = 1,
		.swap = record->swap,
	};
	return 0;
}

/* Whether a record lies right behind a run, in memory and in the file. */
static bool first_pass_is_behind(const struct recording_run *run, const struct seam_record *record)
{
	if (record->bytes != run->bytes + run->n || record->swap != run->swap ||
	    run->n + record->size > RUN_MAX || record->index != run->first_index + run->records)
		return false;
	/* Records that were inside one compressed record all have its offset. */
	if (record->offset == run->offset + run->n)
		return !run->one_offset;
	return record->offset == run->offset && (run->one_offset || run->records == 1);
}

/* Adds a record to the last run, if it lies right behind it; else begins a new run. */
static int first_pass_place(struct first_pass *l, const struct seam_record *record)
{
	struct recording_run *run = l->run;

	if (record->type >= SEAM_RECORD_USER_FIRST)
		return 0; /* some have a payload behind them; the second pass needs none */
	if (!record->stable) {
		l->rec->stable = false;
		return 0;
	}
	if (!run || !first_pass_is_behind(run, record))
		return first_pass_add_run(l, record);
	run->one_offset = record->offset == run->offset;
	run->n += record->size;
	run->records++;
	return 0;
}

/* Kernel code was added or removed, so what is at a kernel address depends on the time. */
static int first_pass_kernel_change(struct first_pass *l, uint64_t time_ns, uint64_t start,
                                    uint64_t len)
{
	struct recording *rec = l->rec;
	uint64_t *changes;

	if (!time_ns)
		return 0; /* synthesized: was there before the first sample */
	if (ARRAY_ROOM(&rec->kernel_changes, &l->changes_capacity, rec->n_kernel_changes + 1) < 0)
		return -ENOMEM;
	changes = rec->kernel_changes;
	/* In a stream the list is searched while it grows, so it must ascend. */
	if (rec->in_order && rec->n_kernel_changes && time_ns < changes[rec->n_kernel_changes - 1])
		time_ns = changes[rec->n_kernel_changes - 1]; /* it came late */
	changes[rec->n_kernel_changes++] = time_ns;
	return kernel_code_note(&rec->kernel_code, start, len);
}

/* Events beyond those that are counted one by one are counted together, as the last of them. */
static inline void first_pass_event(struct recording *rec, const struct seam_event *event)
{
	size_t last = sizeof(rec->counts.event_samples) / sizeof(rec->counts.event_samples[0]) - 1;

	rec->counts.event_samples[event->index < last ? event->index : last]++;
}

/* A sample that reads its group counts for each member that has a share in it. */
static int first_pass_group(struct first_pass *l, const struct seam_decoded *d)
{
	struct recording *rec = l->rec;
	struct member member;
	uint64_t i = 0;
	int r;

	rec->counts.group_samples++;
	while ((r = members_next(&l->members, rec->events, &d->sample, &i, &member)) > 0)
		first_pass_event(rec, member.event);
	return r;
}

/* Counts a sample, and notes the recording's first and last time. -ENOMEM. */
static inline int first_pass_sample(struct first_pass *l, const struct seam_decoded *d)
{
	struct recording *rec = l->rec;
	uint64_t time_ns = d->id.time_ns;
	int r = 0;

	if (members_of(&d->sample))
		r = first_pass_group(l, d);
	else
		first_pass_event(rec, d->sample.event);
	if (r < 0 || !(d->id.has & SEAM_SAMPLE_TIME))
		return r;
	if (time_ns < rec->first_ns)
		rec->first_ns = time_ns;
	if (time_ns > rec->last_ns)
		rec->last_ns = time_ns;
	return 0;
}

/* Counts why the stack of a sample or of a deferred record ended. Only recordings whose recorder
 * walked the stacks say it. */
static void first_pass_end(struct recording *rec, const struct seam_decoded *d)
{
	const struct seam_record *record = d->record;
	enum stack_end end = stack_end_of(record->misc);

	if (record->type == SEAM_RECORD_SAMPLE && d->sample.event &&
	    walk_result_said(&d->sample.event->attr)) /* the bits say something else there */
		return;
	if (record->type == SEAM_RECORD_SAMPLE && end == STACK_END_DEFERRED)
		return;
	rec->counts.ends[end]++;
	rec->counts.guessed += !!(record->misc & STACK_END_GUESSED);
	rec->counts.runtime_ends[runtime_end_of(record->misc)]++;
}

/* A process that began before the recording has a COMM of time 0. */
static int first_pass_began(struct recording *rec, const struct seam_decoded *d)
{
	uint64_t *slot;
	bool is_new;

	if (!d->comm.exec || !(d->id.has & SEAM_SAMPLE_TIME) || !d->id.time_ns)
		return 0;
	slot = map_slot(&rec->began, d->comm.pid, &is_new);
	if (slot && (is_new || d->id.time_ns < *slot))
		*slot = d->id.time_ns;
	return slot ? 0 : -ENOMEM;
}

/* Records that say nothing of these are ignored. -ENOMEM. */
int first_pass_side_band(struct first_pass *l, const struct seam_decoded *d)
{
	int r = 0;

	if (l->rec->no_spaces)
		return 0;
	switch (d->record->type) {
	case SEAM_RECORD_KSYMBOL:
		if (context_is(d->record, &d->ksymbol))
			return contexts_learn(&l->rec->contexts, d);
		r = first_pass_kernel_change(l, proc_time(d), d->ksymbol.addr, d->ksymbol.len);
		break;
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
		if (d->mmap.pid == PROC_KERNEL)
			r = first_pass_kernel_change(l, proc_time(d), d->mmap.addr, d->mmap.len);
		else
			r = jit_note(&l->jit, &d->mmap);
		if (r >= 0)
			r = file_identity_learn(&l->rec->file_identity, d);
		break;
	case SEAM_RECORD_COMM:
		r = first_pass_began(l->rec, d);
		break;
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
		break;
	default:
		return 0;
	}
	return r < 0 ? r : proc_learn(l->rec->procs, d);
}

static void first_pass_lost_samples(struct recording_counts *c, const struct seam_decoded *d)
{
	uint16_t misc = d->record->misc;

	if (misc & SEAM_MISC_LOST_TASKS) {
		c->lost_tasks += d->lost.lost;
		return;
	}
	c->lost_samples += d->lost.lost;
	if (misc & SEAM_MISC_LOST_BESIDE)
		c->lost_beside += d->lost.lost;
	if (misc & SEAM_MISC_LOST_SKIPPED)
		c->skipped_samples += d->lost.lost;
}

/* Counts a sound record. */
static inline int first_pass_account(struct first_pass *l, uint32_t type,
                                     const struct seam_decoded *d)
{
	struct recording *rec = l->rec;
	int r = 0;

	switch (type) {
	case SEAM_RECORD_SAMPLE:
		r = first_pass_sample(l, d);
		/* Registers of a kind that is not known are counted: nobody can walk from them. */
		rec->counts.unknown_regs += d->sample.regs_user.abi > SEAM_REGS_ABI_MAX ||
		                            d->sample.regs_intr.abi > SEAM_REGS_ABI_MAX;
		if (stack_end_of(d->record->misc) != STACK_END_NOT_SAID)
			first_pass_end(rec, d);
		break;
	case SEAM_RECORD_LOST:
		rec->counts.lost += d->lost.lost;
		break;
	case SEAM_RECORD_LOST_SAMPLES:
		first_pass_lost_samples(&rec->counts, d);
		break;
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
		if (stack_end_of(d->record->misc) != STACK_END_NOT_SAID)
			first_pass_end(rec, d);
		break;
	case SEAM_RECORD_KSYMBOL: /* a stream's records are put into order only now */
		if (context_is(d->record, &d->ksymbol))
			r = contexts_learn_text(&rec->contexts, &d->ksymbol);
		break;
	default:
		break;
	}
	return r;
}

/* Gives a sample to the stitcher, then to the index with what the stitcher made of it. */
static inline int first_pass_teach_sample(struct first_pass *l, const struct seam_decoded *d)
{
	struct recording *rec = l->rec;
	struct stitch_learned learned;
	int r = stitch_learn_sample(rec->stitch, d, &learned);

	if (r >= 0 && rec->index->tally.on)
		r = sample_tally_add(&rec->index->tally, d, &learned);
	if (r)
		return r < 0 ? r : 0;
	r = sample_index_add(rec->index, d, &learned);
	if (rec->large)
		first_pass_met_again(l);
	return r;
}

/* Whether the words of stacks say how their walks ended: then they are needed also where no stack
 * is. A stream may bring more events. */
static bool first_pass_said(struct first_pass *l)
{
	size_t n = seam_events_count(l->rec->events);

	for (; l->events < n; l->events++)
		l->said |= walk_result_said(&seam_events_at(l->rec->events, l->events)->attr);
	return l->said;
}

/* Leaves of the chain of a deferred record what will be asked for: whether it is empty. */
static void first_pass_no_words(struct seam_u64s *ips)
{
	static const unsigned char nothing[8];

	*ips = rules_addresses(*ips);
	if (ips->n)
		*ips = (struct seam_u64s){ .bytes = nothing, .n = 1, .swap = ips->swap };
}

/* Teaches the deferred record that was decoded last. */
static inline int first_pass_teach_deferred(struct first_pass *l)
{
	struct seam_u64s *ips = &l->deferred.decoded.deferred.ips, whole = *ips, none = { 0 };
	int r;

	if (l->rec->index->no_stacks && !first_pass_said(l))
		first_pass_no_words(ips);
	else if (l->rec->index->innermost)
		hit_cut(ips, &none); /* markers may stand in front of the first address */
	r = seam_stitch_learn(l->rec->stitch, &l->deferred.decoded, NULL);
	*ips = whole; /* the next record is decoded over this one */
	return r;
}

/* Gives a decoded record to those that learn from it: the process table, the stitcher, or both. */
static inline int first_pass_teach(struct first_pass *l, uint32_t type,
                                   const struct seam_decoded *d)
{
	int r;

	switch (type) {
	case SEAM_RECORD_SAMPLE:
		return first_pass_teach_sample(l, d);
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
		return first_pass_teach_deferred(l);
	case SEAM_RECORD_LOST:
	case SEAM_RECORD_LOST_SAMPLES:
		return seam_stitch_learn(l->rec->stitch, d, NULL);
	case SEAM_RECORD_COMM:
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
		r = first_pass_side_band(l, d);
		return r < 0 ? r : seam_stitch_learn(l->rec->stitch, d, NULL);
	default:
		return first_pass_side_band(l, d);
	}
}

/* Learns the build-ids of a BUILD_ID feature or record, of objects whose mappings do not say them.
 * -ENOMEM. */
int first_pass_build_ids(struct recording *rec, const void *bytes, size_t n, bool swap)
{
	struct cursor c = cursor_of(bytes, n, swap);
	struct feature_build_id id;

	while (feature_next_build_id(&c, &id) > 0) {
		int r = proc_learn_build_id(rec->procs, id.filename, id.build_id, id.size);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Whether the type has a name: others are counted, and reported. */
static bool first_pass_is_known(uint32_t type)
{
	return seam_record_name(type) != NULL;
}

/* Counts a record by its type. */
static void first_pass_tally(struct recording *rec, uint32_t type)
{
	rec->counts.records++;
	if (type < RECORDING_TYPES)
		rec->counts.type[type]++;
	else
		rec->counts.other++;
}

/* Counts a record that could not be decoded. -ENOMEM if that was the reason, else 0. */
static int first_pass_unsound(struct recording *rec, const struct seam_record *record, int r,
                              const struct seam_error *why)
{
	if (r == -ENOMEM)
		return r;
	if (r == -EOPNOTSUPP) {
		rec->counts.unknown++;
		return 0;
	}
	rec->counts.undecoded++;
	rec->counts.undecoded_samples += record->type == SEAM_RECORD_SAMPLE;
	/* The first reason is kept, to be told. */
	if (!rec->first_error.code)
		rec->first_error = *why;
	return 0;
}

/* For a record that is unsound, or not the kernel's, ret holds nothing of use. -ENOMEM. */
int first_pass_count(struct first_pass *l, const struct seam_record *record,
                     struct seam_decoded *ret)
{
	struct recording *rec = l->rec;
	struct seam_error why; /* filled on failure only: it is large */
	int r;

	first_pass_tally(rec, record->type);
	/* A stream has build-ids in such records, a file in its header (recording_seal). */
	if (record->type == SEAM_RECORD_HEADER_BUILD_ID) {
		r = first_pass_build_ids(rec, record->bytes, record->size, record->swap);
		return r < 0 ? r : 0;
	}
	if (record->type >= SEAM_RECORD_USER_FIRST) {
		rec->counts.unknown += !first_pass_is_known(record->type);
		return 0;
	}
	r = record_decode(rec->events, record, ret, &why);
	if (r < 0)
		return first_pass_unsound(rec, record, r, &why);
	r = first_pass_account(l, record->type, ret);
	return r < 0 ? r : 1;
}

/* The same for one of the two types that nearly all records have, which is also taught. It is
 * inlined for each of the two, so that no test of the type is left. */
__attribute__((always_inline)) static inline int first_pass_again(struct first_pass *l,
                                                                  const struct seam_record *record,
                                                                  uint32_t type,
                                                                  struct first_pass_place *last)
{
	struct recording *rec = l->rec;
	struct seam_error why;
	int r;

	first_pass_tally(rec, type);
	r = redecode_decode(rec->events, record, type, &last->event, &last->decoded, &why);
	if (r < 0)
		return first_pass_unsound(rec, record, r, &why);
	r = first_pass_account(l, type, &last->decoded);
	return r < 0 ? r : first_pass_teach(l, type, &last->decoded);
}

/* Takes one record of the file: notes where it is, counts it and teaches it. -errno. */
int first_pass_record(struct first_pass *l, const struct seam_record *record)
{
	struct seam_decoded d;
	int r = first_pass_place(l, record);

	if (r < 0)
		return r;
	if (record->type == SEAM_RECORD_SAMPLE)
		return first_pass_again(l, record, SEAM_RECORD_SAMPLE, &l->sample);
	if (record->type == SEAM_RECORD_CALLCHAIN_DEFERRED)
		return first_pass_again(l, record, SEAM_RECORD_CALLCHAIN_DEFERRED, &l->deferred);
	r = first_pass_count(l, record, &d);
	return r > 0 ? first_pass_teach(l, record->type, &d) : r;
}

void first_pass_free(struct first_pass *l)
{
	members_free(&l->members);
	jit_free(&l->jit);
}
