// SPDX-License-Identifier: MIT
/*
 * samples_reader.c: see samples_reader.h.
 *
 * Invariant: samples are given in the order in which they were taken, each whole, and the same
 * whether it waited or not.
 *
 * Makes samples of entries for one thread. What holds of a who (task, CPU, event) for a while is
 * its moment: name, spaces and the filter's answer are looked up when it ends. Samples whose
 * records are needed wait until several are there, so that their memory is fetched together.
 */
#include "samples/samples_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "abi/redecode.h"
#include "samples/hit.h"

/* Bytes that memory is read by. */
#define LINE 64u
enum {
	KERNEL_NOT_ASKED, /* of samples_reader.kernel_parts */
	KERNEL_LASTS,
	KERNEL_CHANGES
};
#define HEAD 512u   /* bytes: of a sample with registers, up to its copy of the stack */
#define WORDS 1024u /* bytes: about what the words of a deep stack take */

/* The flags of whos whose samples need their records decoded. */
static unsigned samples_reader_flags(const struct samples_opts *opts, bool walks)
{
	return (opts->needs & SAMPLES_MEMBERS ? SAMPLE_INDEX_GROUP : 0) |
	       (opts->needs & SAMPLES_CALLS ? SAMPLE_INDEX_CALLED : 0) |
	       (walks ? SAMPLE_INDEX_COPY : 0);
}

/* Whether any sample's record is needed for what is asked. */
bool samples_reader_needs_bytes(const struct recording *rec, const struct samples_opts *opts)
{
	struct unwound_opts walk = { .sz = sizeof(walk) };
	bool walks = opts->needs & SAMPLES_COPIES && unwound_opts_of(rec, &walk);

	return opts->needs & SAMPLES_RECORD ||
	       rec->index->flags & samples_reader_flags(opts, walks);
}

/* The consumer's ctx is that of all threads until its start gives another. */
int samples_reader_new(struct samples_reader **ret, struct recording *rec,
                       const struct samples_opts *opts, const struct samples_consumer *consumer,
                       struct tables *tables)
{
	struct samples_reader *r = calloc(1, sizeof(*r)); /* large: not on the stack */
	struct unwound_opts walk = { .sz = sizeof(walk) };
	int rc;

	*ret = r;
	if (!r)
		return -ENOMEM;
	r->rec = rec;
	r->opts = opts;
	r->consumer = consumer;
	r->thread = consumer->ctx;
	r->counts.stitch.sz = sizeof(r->counts.stitch);
	r->decodes = samples_reader_flags(opts, tables);
	r->all = opts->needs & SAMPLES_RECORD;
	r->waits = r->all || rec->index->flags & r->decodes;
	r->moments = calloc((size_t)rec->index->whos.n + 1, sizeof(*r->moments));
	rc = r->moments ? stacks_base_of(&r->base, &rec->index->stacks, rec->stitch) : -ENOMEM;
	if (rc >= 0 && rec->n_kernel_changes) {
		size_t most = r->base.n[0] > r->base.n[1] ? r->base.n[0] : r->base.n[1];

		r->kernel_parts = calloc(most + 1, 2);
		rc = r->kernel_parts ? 0 : -ENOMEM;
	}
	if (rc < 0)
		return rc;
	for (size_t i = 0; i <= rec->index->whos.n; i++) /* nothing is known of any moment */
		r->moments[i].at.from_ns = r->moments[i].user_at.from_ns = UINT64_MAX;
	if (opts->filter.labels)
		r->labelled = calloc(rec->contexts.sets.n + 1, 1); /* NULL: each is asked */
	if (!tables || !unwound_opts_of(rec, &walk))
		return 0;
	walk.tables = tables;
	return unwound_new(&r->unwound, &walk);
}

void samples_reader_free(struct samples_reader *r)
{
	if (!r)
		return;
	unwound_free(r->unwound);
	members_free(&r->members);
	free(r->moments);
	free(r->labelled);
	free(r->kernel_parts);
	free(r);
}

/* Tells the consumer that this thread is done. */
int samples_reader_end(struct samples_reader *r)
{
	return r->consumer->end ? r->consumer->end(r->thread, &r->counts, r->unwound) : 0;
}

/* ---- which ---- */

/* Both ends belong to a span. */
static bool samples_reader_holds(const struct proc_span *span, uint64_t time_ns)
{
	return time_ns >= span->from_ns && time_ns <= span->to_ns;
}

/* Whether a sample is wanted: by its time, and by what the filter's function says. */
bool samples_filter_takes(const struct samples_filter *f, const struct seam_event *event,
                          const struct seam_id *id, const char *comm)
{
	bool in_time = !f->n_times;

	for (size_t i = 0; i < f->n_times && !in_time; i++)
		in_time = id->has & SEAM_SAMPLE_TIME &&
		          samples_reader_holds(&f->times[i], id->time_ns);
	return in_time && (!f->takes || f->takes(f->ctx, event, id, comm));
}

bool samples_filter_labels(const struct samples_filter *filter, const struct contexts *contexts,
                           uint32_t context)
{
	return !filter->labels ||
	       (context && contexts_match(contexts_text(contexts, context), filter->labels));
}

/* The same, asked once for each set. */
static bool samples_reader_labelled(struct samples_reader *r, uint32_t context)
{
	enum {
		NOT_ASKED,
		TAKEN,
		LEFT_OUT
	};
	unsigned char *known = r->labelled ? &r->labelled[context] : NULL;

	if (!r->opts->filter.labels)
		return true;
	if (!known)
		return samples_filter_labels(&r->opts->filter, &r->rec->contexts, context);
	if (*known == NOT_ASKED)
		*known = samples_filter_labels(&r->opts->filter, &r->rec->contexts, context)
		                 ? TAKEN
		                 : LEFT_OUT;
	return *known == TAKEN;
}

/* For whom the sample's thread worked. */
static uint32_t samples_reader_context(const struct samples_reader *r,
                                       const struct sample_index_who *who, uint64_t time_ns)
{
	return r->rec->contexts.n_lists && who->has & SEAM_SAMPLE_TIME
	               ? contexts_at(&r->rec->contexts, who->tid,
	                             who->has & SEAM_SAMPLE_CPU ? who->cpu : 0, time_ns)
	               : 0;
}

/* Looks up the thread's name, the kernel's address space and what the filter says, for a time. */
static void samples_reader_look(const struct samples_reader *r, const struct sample_index_who *who,
                                uint64_t time_ns, struct samples_moment *m)
{
	const struct samples_filter *f = &r->opts->filter;
	const struct seam_id id = {
		.has = who->has, .pid = who->pid, .tid = who->tid, .cpu = who->cpu
	};

	m->at = (struct proc_span){ .to_ns = UINT64_MAX };
	m->comm = proc_comm_span(r->rec->procs, who->pid, who->tid, time_ns, &m->at);
	m->kernel_space = recording_kernel_span(r->rec, time_ns, &m->at);
	m->event = seam_events_at(r->rec->events, who->event);
	m->taken = !f->takes || f->takes(f->ctx, m->event, &id, m->comm);
	m->number++;
}

/* Looks up the address space of a user part. */
static void samples_reader_look_user(const struct samples_reader *r,
                                     const struct sample_index_who *who, uint64_t time_ns,
                                     struct samples_moment *m)
{
	m->user_at = (struct proc_span){ .to_ns = UINT64_MAX };
	m->user_space = proc_space_span(r->rec->procs, who->pid, time_ns, &m->user_at);
	m->number++;
}

/* The same for an entry's time alone; a moment keeps the rest. */
static bool samples_reader_in_time(const struct samples_filter *f,
                                   const struct sample_index_who *who,
                                   const struct sample_entry *entry)
{
	for (size_t i = 0; i < f->n_times && who->has & SEAM_SAMPLE_TIME; i++)
		if (samples_reader_holds(&f->times[i], entry->time_ns))
			return true;
	return !f->n_times;
}

/* ---- an entry as a sample ---- */

/* The kernel's space of a sample: one for all times, unless code came or went where it was. */
static uint32_t samples_reader_kernel(const struct samples_reader *r, const struct sample *s,
                                      uint32_t space)
{
	const struct kernel_code *code = &r->rec->kernel_code;
	unsigned char *known = &r->kernel_parts[s->kernel_number];
	struct seam_u64s words;

	if (*known == KERNEL_NOT_ASKED) {
		words = stacks_base_words(&r->base, s->kernel_number);
		*known = kernel_code_changes_any(code, &words) ? KERNEL_CHANGES : KERNEL_LASTS;
	}
	return *known == KERNEL_CHANGES || (s->apart && kernel_code_changes(code, s->ip))
	               ? space
	               : RECORDING_KERNEL;
}

/* Fills the parts of the sample, by number, and where it hit. */
static void samples_reader_parts(const struct samples_reader *r, const struct sample_entry *entry,
                                 const struct sample_index_who *who,
                                 const struct stitch_verdict *verdict, struct sample *s)
{
	const struct sample_index *index = r->rec->index;

	s->base = &r->base;
	s->kernel_number = entry->kernel;
	s->apart = entry->kernel & (SAMPLE_INDEX_NO_KERNEL | SAMPLE_INDEX_APART);
	if (s->apart) {
		s->kernel_number = sample_index_kernel(index, entry);
		s->ip = sample_index_word(index, entry->kernel & SAMPLE_INDEX_IPS);
	}
	s->user_number =
	        who->kind == RULES_AT_ONCE ? entry->user : stacks_base_chain(&r->base, verdict);
	s->kernel.n = s->user.n = 0;
	s->lasting = true;
}

/* Makes a sample of its entry alone, with what the stitcher decided and what holds at this moment
 * of its thread. What only the record knows stays empty. */
static void samples_reader_fill(const struct samples_reader *r, const struct sample_entry *entry,
                                const struct sample_index_who *who,
                                const struct stitch_verdict *verdict,
                                const struct samples_moment *m, struct sample *s)
{
	s->event = m->event;
	s->id = (struct seam_id){ .has = who->has,
		                  .pid = who->pid,
		                  .tid = who->tid,
		                  .cpu = who->cpu,
		                  .time_ns = entry->time_ns };
	s->index = entry->index;
	s->period = entry->period;
	/* A file without times is ordered by its records' numbers, for proc/ as well
	 * (proc_time). */
	s->proc_ns = who->has & SEAM_SAMPLE_TIME ? entry->time_ns : entry->index;
	s->deferred_time_ns = verdict->deferred_time_ns;
	s->misc = who->misc;
	s->deferred_misc = verdict->deferred_misc;
	s->state = verdict->state;
	s->user_space = m->user_space;
	s->kernel_space = m->kernel_space;
	s->comm = m->comm;
	s->walk = NULL;
	s->again = false;
	s->who = entry->who;
	s->moment = m->number;
	s->decoded = NULL;
	s->cookie = 0;
	samples_reader_parts(r, entry, who, verdict, s);
	if (r->kernel_parts)
		s->kernel_space = samples_reader_kernel(r, s, m->kernel_space);
}

/* Counts a sample that is given, and notes the first and the last time. */
static void samples_reader_taken(struct samples_reader *r, const struct sample *s)
{
	struct sample_counts *c = &r->counts;

	c->taken++;
	if (!(s->id.has & SEAM_SAMPLE_TIME))
		return;
	if (!c->last_ns || s->id.time_ns < c->first_ns)
		c->first_ns = s->id.time_ns;
	if (s->id.time_ns > c->last_ns)
		c->last_ns = s->id.time_ns;
}

/* Decodes the sample's record, and asks for the memory that its walk will read. */
static int samples_reader_decode(struct samples_reader *r, struct samples_waiting *w)
{
	struct rules_parts parts;
	int rc = redecode_decode(r->rec->events, &w->record, SEAM_RECORD_SAMPLE, &w->last,
	                         &w->decoded, NULL);

	if (rc < 0) /* it was decoded in the first pass: the file was changed since */
		return rc;
	w->sample.decoded = &w->decoded;
	if (r->all) {
		rules_split(&w->decoded.sample, w->record.misc, &parts);
		w->sample.cookie = parts.kind == RULES_DEFERRED ? parts.cookie : 0;
	}
	if (w->sample.state != SEAM_STITCH_STACK_COPY &&
	    !(r->decodes & SAMPLE_INDEX_CALLED && called_event(w->decoded.sample.event)))
		return 0;
	w->stitched = (struct seam_stitched){ .sample = w->decoded.sample,
		                              .misc = w->record.misc,
		                              .state = w->sample.state };
	if (r->unwound)
		unwound_ask(r->unwound, &w->stitched);
	return 0;
}

/* Fills a sample that waited. 1: it must be given; 0: it is not wanted. */
static int samples_reader_prepare(struct samples_reader *r, struct samples_waiting *w)
{
	const struct sample_entry *entry = w->entry;
	const struct sample_index_who *who = pool_at(&r->rec->index->whos, entry->who);
	const struct stitch_summary summary = sample_index_summary(entry, who);
	struct samples_moment *m = &r->moments[entry->who];
	bool timed = who->has & SEAM_SAMPLE_TIME;
	uint64_t time_ns = timed ? entry->time_ns : entry->index, user_ns;
	struct stitch_verdict verdict;
	uint32_t context;
	bool taken;
	int rc;

	/* What holds for this who is looked up again only when its time is over. */
	if (!samples_reader_holds(&m->at, time_ns))
		samples_reader_look(r, who, time_ns, m);
	/* Members of a group are filtered one by one, later: here their counters must be
	 * followed. */
	taken = who->flags & r->decodes & SAMPLE_INDEX_GROUP ||
	        (m->taken && samples_reader_in_time(&r->opts->filter, who, entry));
	context = samples_reader_context(r, who, time_ns);
	taken = taken && (who->flags & r->decodes & SAMPLE_INDEX_GROUP ||
	                  samples_reader_labelled(r, context));
	/* What is not taken still counts in the stitcher's figures, for consumers that take these
	 * at the end. */
	if (!taken && !r->consumer->end)
		return 0;
	if (!stitch_resolve_summary(r->rec->stitch, &summary, &r->counts.stitch, &verdict))
		return 0;
	if (!taken) {
		r->counts.not_taken++;
		return 0;
	}
	/* A deferred stack belongs to the mappings of the time at which it was taken. */
	user_ns = timed && verdict.deferred_time_ns ? verdict.deferred_time_ns : time_ns;
	if (!samples_reader_holds(&m->user_at, user_ns))
		samples_reader_look_user(r, who, user_ns, m);
	samples_reader_fill(r, entry, who, &verdict, m, &w->sample);
	w->sample.context = context;
	if (w->decodes) {
		rc = samples_reader_decode(r, w);
		if (rc < 0)
			return rc == -ENOMEM ? rc : 0;
	}
	return 1;
}

/* ---- what is in the record ---- */

/* Gives one sample for each member that has a share in it. Counters are followed also if samples
 * are not taken. */
static int samples_reader_members(struct samples_reader *r, struct samples_waiting *w)
{
	struct sample *s = &w->sample;
	struct member member;
	uint64_t i = 0;
	int rc;

	while ((rc = members_next(&r->members, r->rec->events, &w->decoded.sample, &i, &member)) >
	       0) {
		s->event = member.event;
		s->period = member.period;
		if (!samples_filter_takes(&r->opts->filter, s->event, &s->id, s->comm) ||
		    !samples_reader_labelled(r, s->context)) {
			r->counts.not_taken++;
			continue;
		}
		samples_reader_taken(r, s);
		rc = r->consumer->sample(r->thread, s, r->out);
		if (rc)
			return rc;
		s->again = true;
	}
	return rc;
}

/* Takes the user part from the record. */
static int samples_reader_user(struct samples_reader *r, struct samples_waiting *w)
{
	struct sample *s = &w->sample;
	int rc;

	if (s->state == SEAM_STITCH_STACK_COPY) {
		rc = r->unwound ? unwound_sample(r->unwound, s->user_space, &w->stitched) : 0;
		if (rc <= 0)
			return rc;
		s->walk = unwound_last(r->unwound);
	} else {
		w->stitched.user = sample_user(s);
		if (!called_sample(&w->stitched, r->words))
			return 0;
	}
	s->user = w->stitched.user;
	/* These words last until the next walk only, so they have no number. */
	s->user_number = 0;
	s->lasting = false;
	return 0;
}

/* Takes what is in the record only, then hands the sample on. */
static int samples_reader_give(struct samples_reader *r, struct samples_waiting *w)
{
	struct sample *s = &w->sample;
	int rc = 0;

	if (w->decodes &&
	    (s->state == SEAM_STITCH_STACK_COPY ||
	     (r->decodes & SAMPLE_INDEX_CALLED && called_event(w->decoded.sample.event))))
		rc = samples_reader_user(r, w);
	if (rc < 0)
		return rc;
	if (r->decodes & SAMPLE_INDEX_GROUP && w->decodes && members_of(&w->decoded.sample))
		return samples_reader_members(r, w);
	samples_reader_taken(r, s);
	return r->consumer->sample(r->thread, s, r->out);
}

/* All are prepared before the first one is given, so that the memory that each needs is on its way
 * when it is used. */
int samples_reader_flush(struct samples_reader *r)
{
	unsigned n = r->n_waiting;
	int rc = 0;

	r->n_waiting = 0;
	for (unsigned i = 0; i < n; i++) {
		rc = samples_reader_prepare(r, &r->waiting[i]);
		if (rc < 0)
			return rc;
		r->waiting[i].wanted = rc > 0;
	}
	for (unsigned i = 0; i < n; i++) {
		rc = r->waiting[i].wanted ? samples_reader_give(r, &r->waiting[i]) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

/* The record of an entry whose bytes last. */
static struct seam_record samples_reader_record(const struct sample_entry *entry,
                                                const struct sample_index_who *who)
{
	bool swap = who->flags & SAMPLE_INDEX_SWAP;
	uint16_t size;

	/* The size stands behind type and misc. */
	memcpy(&size, entry->bytes + 6, 2);
	return (struct seam_record){ .type = SEAM_RECORD_SAMPLE,
		                     .misc = who->misc,
		                     .swap = swap,
		                     .stable = true,
		                     .size = swap ? __builtin_bswap16(size) : size,
		                     .offset = SEAM_NO_OFFSET,
		                     .index = entry->index,
		                     .bytes = entry->bytes };
}

/* Asks for a record's head, and for its end, where a stack copy says its size. */
static void samples_reader_ask(const struct seam_record *record)
{
	unsigned head = record->size < HEAD ? record->size : HEAD;

	for (unsigned at = 0; at < head; at += LINE)
		__builtin_prefetch(record->bytes + at);
	__builtin_prefetch(record->bytes + record->size - 1);
}

/* A sample waits only if records are decoded at all. Where record is not NULL, all that wait are
 * given before this returns, because its bytes do not last. */
int samples_reader_take(struct samples_reader *r, const struct sample_entry *entry,
                        const struct seam_record *record)
{
	struct samples_waiting *w = &r->waiting[r->n_waiting];
	const struct sample_index_who *who;
	int rc;

	w->entry = entry;
	w->decodes = false;
	/* Its words may be those of the file. */
	recording_looked_at(r->rec, &r->looked_at, WORDS);
	/* Nothing is read of the record: the sample is made at once. */
	if (!r->waits) {
		rc = samples_reader_prepare(r, w);
		return rc > 0 ? samples_reader_give(r, w) : rc;
	}
	who = pool_at(&r->rec->index->whos, entry->who);
	w->decodes = r->all || who->flags & r->decodes;
	if (w->decodes) {
		w->record = record ? *record : samples_reader_record(entry, who);
		samples_reader_ask(&w->record);
		if (!record)
			recording_looked_at(r->rec, &r->looked_at, w->record.size);
	}
	return ++r->n_waiting == SAMPLES_READER_WAITING || record ? samples_reader_flush(r) : 0;
}

/* Gives a record that is no sample, behind all that wait. 0 also for one that is unsound. */
int samples_reader_beside(struct samples_reader *r, const struct seam_record *record)
{
	struct seam_decoded decoded;
	int rc = samples_reader_flush(r);

	if (rc)
		return rc;
	rc = record_decode(r->rec->events, record, &decoded, NULL);
	if (rc < 0) /* was counted in the first pass */
		return rc == -ENOMEM ? rc : 0;
	return r->consumer->beside(r->thread, &decoded, r->out);
}
