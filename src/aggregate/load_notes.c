// SPDX-License-Identifier: MIT
// load_notes.c: see load_notes.h. What comes out is what load.c makes of the samples themselves.
#include "aggregate/load_notes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/load_number.h"
#include "samples/hit.h"

/* What is known of one sample_index_who, and when: outside of its spans it is looked up again. */
struct load_noted {
	struct proc_span at, user_at; /* of the sample's moment; of the moment of its user part */
	struct stacks_key key;
	uint32_t key_id[SEAM_STITCH_STATES][2]; /* by state and by_tables; 0: not yet */
};

struct load_noter {
	struct sample_index *index;
	const struct recording *rec;
	const struct load_opts *opts;
	struct load_walk_result *result;
	struct seam_stitch_counts *counts;
	struct load_noted *noted; /* by number of the sample_index_who, from 1 on */
	uint32_t *parts;          /* by number of a deferred record's chain; 0: not yet */
	bool *said;               /* by index of the event: walk_result_said */
};

void load_key(struct stacks_key *ret, const struct recording *rec, const struct load_opts *opts,
              const struct seam_id *id, const char *comm, uint32_t event)
{
	unsigned keep = opts->keep;

	memset(ret, 0, sizeof(*ret)); /* its padding, too: it is hashed as bytes */
	ret->comm = comm;
	ret->event = event;
	ret->pid = keep & PROFILE_KEEP_PID ? id->pid : PROFILE_NOT_KEPT;
	/* A nameless thread is shown by its tid, which is then part of its name. */
	ret->tid = keep & PROFILE_KEEP_TID || !comm ? id->tid : PROFILE_NOT_KEPT;
	load_numbers(ret->number, rec, opts, id);
}

static bool load_span_holds(const struct proc_span *span, uint64_t time_ns)
{
	return time_ns >= span->from_ns && time_ns <= span->to_ns;
}

/* Looks up who is meant at a moment, and its kernel. */
static void load_noted_at(const struct load_noter *l, const struct sample_index_who *who,
                          uint64_t time_ns, struct load_noted *ret)
{
	const struct seam_id id = { .has = who->has,
		                    .pid = who->pid,
		                    .tid = who->tid,
		                    .cpu = who->cpu,
		                    .time_ns = time_ns };
	uint64_t quantum = l->opts->slice_ns, user_space = ret->key.user_space;
	const char *comm;

	ret->at = (struct proc_span){ .to_ns = UINT64_MAX };
	comm = proc_comm_span(l->rec->procs, who->pid, who->tid, time_ns, &ret->at);
	load_key(&ret->key, l->rec, l->opts, &id, comm, who->event);
	ret->key.user_space = (uint32_t)user_space;
	ret->key.kernel_space = recording_kernel_span(l->rec, time_ns, &ret->at);
	if (ret->key.number[LOAD_NUMBER_SLICE] != PROFILE_NOT_KEPT) {
		uint64_t from = time_ns / quantum * quantum;

		if (from > ret->at.from_ns)
			ret->at.from_ns = from;
		if (from <= UINT64_MAX - quantum && from + quantum - 1 < ret->at.to_ns)
			ret->at.to_ns = from + quantum - 1;
	}
	memset(ret->key_id, 0, sizeof(ret->key_id));
}

/* Looks up whose mappings a user part has. */
static void load_noted_user(const struct load_noter *l, const struct sample_index_who *who,
                            uint64_t time_ns, struct load_noted *ret)
{
	ret->user_at = (struct proc_span){ .to_ns = UINT64_MAX };
	ret->key.user_space = proc_space_span(l->rec->procs, who->pid, time_ns, &ret->user_at);
	memset(ret->key_id, 0, sizeof(ret->key_id));
}

/* The number of the key of a sample of that state, whose user part is of that moment. */
static int load_noted_key(struct load_noter *l, const struct sample_entry *entry,
                          const struct sample_index_who *who, const struct stitch_verdict *verdict,
                          uint32_t *ret)
{
	struct load_noted *noted = &l->noted[entry->who];
	bool timed = who->has & SEAM_SAMPLE_TIME;
	uint64_t time_ns = timed ? entry->when : entry->index;
	uint64_t user_ns = timed && verdict->deferred_time_ns ? verdict->deferred_time_ns : time_ns;
	bool by_tables =
	        walk_result_by_tables_of(seam_events_at(l->rec->events, who->event), verdict->state,
	                                 who->misc, verdict->deferred_misc);
	uint32_t *id;
	int r = 0;

	if (!load_span_holds(&noted->at, time_ns))
		load_noted_at(l, who, time_ns, noted);
	if (!load_span_holds(&noted->user_at, user_ns))
		load_noted_user(l, who, user_ns, noted);
	id = &noted->key_id[verdict->state][by_tables];
	if (!*id) {
		noted->key.state = (uint16_t)verdict->state;
		noted->key.by_tables = by_tables;
		r = stacks_key_id(&l->index->stacks, &noted->key, id);
	}
	*ret = *id;
	return r;
}

/* How its walk ended, where the recorder walked it. */
static int load_noted_walk_result(const struct load_noter *l, const struct sample_index_who *who,
                                  const struct stacks_same *same, uint32_t user_space)
{
	const struct callchain sample = {
		.event = seam_events_at(l->rec->events, who->event),
		.misc = who->misc,
		.user = stacks_words(&l->index->stacks, same->user),
	};

	return load_walk_result_add(l->result, l->rec, user_space, &sample);
}

/* The number of a deferred record's half. */
static int load_noted_part(struct load_noter *l, const struct stitch_verdict *verdict,
                           uint32_t *ret)
{
	uint32_t *part = &l->parts[verdict->chain];
	int r = 0;

	if (verdict->n && (!*part || (*part & 1) != verdict->swap)) {
		const struct seam_u64s words = stitch_words(l->rec->stitch, verdict);

		r = stacks_part(&l->index->stacks, &words, true, part);
	}
	*ret = *part;
	return r;
}

/* Where a sample without a kernel part hit, if that is not where its user part begins. */
static int load_noted_hit(struct load_noter *l, const struct sample_entry *entry,
                          const struct sample_index_who *who, struct stacks_same *same)
{
	struct stacks *s = &l->index->stacks;
	uint64_t ip = l->index->ips[entry->kernel & ~SAMPLE_INDEX_NO_KERNEL];
	struct seam_u64s user = stacks_words(s, same->user);

	if (!hit_known(seam_events_at(l->rec->events, who->event)) ||
	    (user.n && !hit_elsewhere(ip, who->misc, seam_u64s_at(&user, 0))))
		return 0;
	return stacks_hit(s, ip, who->misc, &same->hit);
}

static int load_note(struct load_noter *l, const struct sample_entry *entry)
{
	const struct sample_index_who *who = pool_at(&l->index->whos, entry->who);
	const struct stitch_summary summary = sample_index_summary(entry, who);
	struct stacks *s = &l->index->stacks;
	struct stacks_same same = { 0 };
	struct stitch_verdict verdict;
	int r;

	if (!stitch_resolve_summary(l->rec->stitch, &summary, l->counts, &verdict))
		return 0;
	r = load_noted_key(l, entry, who, &verdict, &same.key);
	if (r >= 0 && who->kind == RULES_AT_ONCE)
		same.user = entry->user;
	else if (r >= 0)
		r = load_noted_part(l, &verdict, &same.user);
	if (!(entry->kernel & SAMPLE_INDEX_NO_KERNEL))
		same.kernel = entry->kernel;
	else if (r >= 0)
		r = load_noted_hit(l, entry, who, &same);
	if (r >= 0 && l->said[who->event])
		r = load_noted_walk_result(l, who, &same, l->noted[entry->who].key.user_space);
	if (r < 0)
		return r;
	return stacks_put(s, &same, entry->weight,
	                  who->has & SEAM_SAMPLE_TIME ? entry->when : entry->index);
}

static int load_noter_start(struct load_noter *l)
{
	size_t events = seam_events_count(l->rec->events);

	l->noted = calloc((size_t)l->index->whos.n + 1, sizeof(*l->noted));
	l->parts = calloc(stitch_chains(l->rec->stitch), sizeof(*l->parts));
	l->said = calloc(events + 1, sizeof(*l->said));
	if (!l->noted || !l->parts || !l->said)
		return -ENOMEM;
	for (size_t i = 0; i <= l->index->whos.n; i++) /* nothing is known of any moment */
		l->noted[i].at.from_ns = l->noted[i].user_at.from_ns = UINT64_MAX;
	for (size_t i = 0; i < events; i++)
		l->said[i] = walk_result_said(&seam_events_at(l->rec->events, i)->attr);
	return 0;
}

int load_notes(struct sample_index *index, const struct recording *rec,
               const struct load_opts *opts, struct load_walk_result *result,
               struct seam_stitch_counts *counts)
{
	struct load_noter l = {
		.index = index, .rec = rec, .opts = opts, .result = result, .counts = counts
	};
	int r = load_noter_start(&l);
	const struct sample_entry *block;

	for (size_t b = 0, n; r >= 0 && (n = sample_index_block(index, b, &block)); b++)
		for (size_t i = 0; i < n && r >= 0; i++)
			r = load_note(&l, &block[i]);
	free(l.noted);
	free(l.parts);
	free(l.said);
	return r;
}
