// SPDX-License-Identifier: MIT
/*
 * index.c: see index.h. It gathers facts; rules.c judges them.
 *
 * Learning takes records in any order, from one thread. Facts are kept by what they belong to:
 * deferred records by cookie, samples, births and ends by tid (track.c), execs by pid (times.c).
 * Sealing puts each of these lists in order of time. What needs two kinds of facts at once is
 * answered afterwards, when all of them are known.
 *
 * Records are named by numbers, not by pointers: the arrays move while they grow. Numbers are
 * stored plus one where 0 stands for none.
 *
 * Invariant: after index_seal nothing in the index changes, and any number of threads may resolve.
 */
#include "stitch/index.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define INDEX_CARRIED (1u << 31) /* a sample carries this cookie */
#define INDEX_HELD 8u            /* blocks of answers that are in memory: 20 MiB */
/* The most deferred records under one cookie: they are of different tasks, or hours apart. Only a
 * made-up file has more. */
#define INDEX_SAME_COOKIE 8u

/* The deferred record of a number, which is below n_deferred. */
static struct index_deferred *index_deferred(const struct index *ix, uint32_t number)
{
	return blocks_at(&ix->deferred, number);
}

/* The item that a map names by key, made when new; NULL: out of memory. */
static void *index_item(struct map *by_key, uint64_t key, struct index_items *items, size_t size)
{
	bool is_new;
	uint64_t *number;

	if (items->n == UINT32_MAX ||
	    array_grow_zeroed(&items->at, &items->capacity, (size_t)items->n + 1, size) < 0)
		return NULL;
	number = map_slot(by_key, key, &is_new);
	if (!number)
		return NULL;
	if (is_new)
		*number = items->n++;
	return (unsigned char *)items->at + *number * size;
}

static struct track *index_track_at(const struct index *ix, uint64_t number)
{
	return (struct track *)ix->tracks.at + number;
}

static struct times *index_execs_at(const struct index *ix, uint64_t number)
{
	return (struct times *)ix->execs.at + number;
}

/* Frees everything that the index holds; it may be used again from its beginning. */
void index_free(struct index *ix)
{
	chains_free(&ix->chains);
	blocks_free(&ix->deferred);
	tracks_free(&ix->points);
	for (uint32_t i = 0; i < ix->tracks.n; i++)
		track_free(index_track_at(ix, i));
	free(ix->tracks.at);
	for (uint32_t i = 0; i < ix->execs.n; i++)
		times_free(index_execs_at(ix, i));
	free(ix->execs.at);
	cookies_free(&ix->cookies);
	map_free(&ix->track_of);
	map_free(&ix->execs_of);
	map_free(&ix->duplicates);
	*ix = (struct index){ 0 };
}

/* As index_track, for a task that is not among the last ones. */
static struct track *index_track_find(struct index *ix, uint32_t tid)
{
	uint32_t last = tid % INDEX_TRACKS;
	struct track *track = index_item(&ix->track_of, tid, &ix->tracks, sizeof(struct track));

	if (track) {
		ix->last[last].tid = tid;
		ix->last[last].track = (uint32_t)(track - index_track_at(ix, 0)) + 1;
	}
	return track;
}

/* The track of a task, made when new; NULL: out of memory. The pointer is valid until the next
 * track is made. */
static inline struct track *index_track(struct index *ix, uint32_t tid)
{
	uint32_t last = tid % INDEX_TRACKS;

	if (ix->last[last].track && ix->last[last].tid == tid)
		return index_track_at(ix, ix->last[last].track - 1);
	return index_track_find(ix, tid);
}

/* Of a stack copy whose bytes do not stay, so many are hashed: they hold the innermost frames,
 * which differ first. */
#define INDEX_STACK_HEAD 256u

/*
 * What tells a sample from others of the same task and time: a reference to all its bytes, which
 * are read only if there are such others. Where the bytes do not stay, it is a hash, which covers
 * only the beginning of a stack copy: reading 8 to 64 KiB of each sample would cost more than
 * unwinding it.
 */
static uint64_t index_seen(struct index *ix, const struct seam_decoded *d)
{
	const unsigned char *bytes = d->record->bytes;
	const struct seam_bytes *stack = &d->sample.stack_user;
	size_t head, tail;
	uint64_t h;

	if (d->record->stable && !((uintptr_t)bytes & TRACK_BYTES)) {
		ix->swap = d->record->swap;
		return (uintptr_t)bytes | TRACK_BYTES;
	}
	if (stack->n <= INDEX_STACK_HEAD)
		return map_hash_bytes(bytes, d->record->size, 0) & ~TRACK_BYTES;
	head = (size_t)(stack->bytes - bytes) + INDEX_STACK_HEAD;
	tail = (size_t)(stack->bytes - bytes) + (size_t)stack->n;
	h = map_hash_bytes(bytes, head, 0);
	return map_hash_bytes(bytes + tail, d->record->size - tail, h) & ~TRACK_BYTES;
}

/* Notes which cookie the sample carries, and adds the sample to its task's track. *ret says how its
 * callchain is divided, so that the caller need not do it again. */
int index_learn_sample(struct index *ix, const struct seam_decoded *d, struct stitch_learned *ret)
{
	struct rules_who who = rules_who(d);
	struct track_point point = { .index = (uint32_t)d->record->index,
		                     .entry = rules_user_mode(d->record->misc) };
	struct track *track;
	uint32_t *slot;

	/* A track's point has 32 bits for the record's number. */
	if (d->record->index > UINT32_MAX)
		return -EOVERFLOW;
	rules_split(&d->sample, d->record->misc, &ret->parts);
	ret->slot = 0;
	if (ret->parts.kind == RULES_DEFERRED) {
		slot = cookies_slot(&ix->cookies, ret->parts.cookie);
		if (!slot)
			return -ENOMEM;
		ret->slot = cookies_place_of(&ix->cookies, slot);
		/* The first sample with this cookie claims all its deferred records that came
		 * before it. */
		if (!(*slot & INDEX_CARRIED))
			for (uint32_t n = *slot; n; n = index_deferred(ix, n - 1)->next)
				ix->claimed++;
		*slot |= INDEX_CARRIED;
	}
	point.when = who.when;
	point.seen = rules_again(d, &ret->parts) ? index_seen(ix, d) : 0;
	/* No sign for any other: one in kernel mode without a cookie, and any where no answer is
	 * waited for. */
	if (!point.seen && !ret->parts.cookie && (!point.entry || ix->output == RULES_OUTPUT_NONE))
		return 0;
	track = index_track(ix, who.tid);
	if (!track || track_add(&ix->points, track, (uint32_t)(track - index_track_at(ix, 0)),
	                        point, ret->parts.cookie) < 0)
		return -ENOMEM;
	return 0;
}

/* Keeps a deferred record under its cookie. One that is already there, of the same task at about
 * the same time, is counted as a duplicate. One too many under a cookie is refused, so that a
 * made-up file cannot make the search long. */
static int index_learn_deferred(struct index *ix, const struct seam_decoded *d)
{
	struct rules_who who = rules_who(d), other;
	struct index_deferred *a;
	unsigned same = 0;
	uint32_t *slot, first;

	slot = cookies_slot(&ix->cookies, d->deferred.cookie);
	if (!slot)
		return -ENOMEM;
	first = *slot & ~INDEX_CARRIED;
	for (uint32_t n = first; n; n = a->next, same++) {
		a = index_deferred(ix, n - 1);
		other = (struct rules_who){ .when = a->when, .pid = a->pid, .tid = a->tid };
		if (!rules_same_deferred(&other, &who))
			continue;
		ix->duplicate_records++;
		return 0;
	}
	/* The last two are the limits of an entry's fields. */
	if (same >= INDEX_SAME_COOKIE || ix->n_deferred == INDEX_CARRIED - 1 ||
	    d->deferred.ips.n >= CHAINS_SWAP) {
		ix->refused++;
		return 0;
	}
	ix->deferred.size = sizeof(*a);
	ix->deferred.held = INDEX_HELD;
	a = blocks_add(&ix->deferred);
	if (!a)
		return -ENOMEM;
	*a = (struct index_deferred){ .when = who.when,
		                      .pid = who.pid,
		                      .tid = who.tid,
		                      .misc = d->record->misc,
		                      .next = first };
	if (chains_put(&ix->chains, &d->deferred.ips, d->record->stable, &a->chain, &a->n) < 0)
		return -ENOMEM;
	*slot = (*slot & INDEX_CARRIED) | ++ix->n_deferred;
	ix->claimed += !!(*slot & INDEX_CARRIED);
	return 0;
}

/* Learns a record that is neither a sample nor a deferred record; few are. */
static int index_learn_few(struct index *ix, const struct seam_decoded *d)
{
	struct times *execs;
	struct track *track;

	switch (d->record->type) {
	/* Only a COMM that says exec ends a program; others are changes of a name. */
	case SEAM_RECORD_COMM:
		if (!d->comm.exec)
			return 0;
		execs = index_item(&ix->execs_of, d->comm.pid, &ix->execs, sizeof(*execs));
		return execs ? times_add(execs, rules_when(d)) : -ENOMEM;
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
		track = index_track(ix, d->task.tid);
		if (!track)
			return -ENOMEM;
		return times_add(d->record->type == SEAM_RECORD_FORK ? &track->births
		                                                     : &track->exits,
		                 rules_task_when(d));
	case SEAM_RECORD_LOST:
	case SEAM_RECORD_LOST_SAMPLES:
		rules_lose(&ix->losses, d);
		return 0;
	default:
		return 0;
	}
}

/* Any record. Samples that need what was found in them call index_learn_sample instead. */
int index_learn(struct index *ix, const struct seam_decoded *d)
{
	struct stitch_learned sample;

	if (d->record->type == SEAM_RECORD_CALLCHAIN_DEFERRED)
		return index_learn_deferred(ix, d);
	if (d->record->type == SEAM_RECORD_SAMPLE)
		return index_learn_sample(ix, d, &sample);
	return index_learn_few(ix, d);
}

/* What the index holds from the system, for peak_bytes. It walks all tracks: call it once. */
static size_t index_bytes(const struct index *ix)
{
	size_t n = cookies_bytes(&ix->cookies) + map_bytes(&ix->track_of) +
	           map_bytes(&ix->execs_of) + map_bytes(&ix->duplicates) +
	           intern_held(&ix->chains.words) + blocks_bytes(&ix->deferred) +
	           blocks_bytes(&ix->points.points) + blocks_bytes(&ix->points.users) +
	           map_bytes(&ix->points.places) + ix->tracks.capacity * sizeof(struct track) +
	           ix->execs.capacity * sizeof(struct times);

	for (uint32_t i = 0; i < ix->tracks.n; i++)
		n += times_bytes(&index_track_at(ix, i)->exits) +
		     times_bytes(&index_track_at(ix, i)->births);
	for (uint32_t i = 0; i < ix->execs.n; i++)
		n += times_bytes(index_execs_at(ix, i));
	return n;
}

/* Tasks whose neighbourhood is kept while sealing. Records of one task come near each other, so
 * that few are looked up twice. */
#define INDEX_TASKS 256u

/* What lies around a task's deferred records in time: the execs of its process, and its own births.
 * For one task after the other. */
struct index_around {
	uint32_t pid, tid;
	struct times *execs, *births; /* NULL: none */
	uint64_t low, high;           /* nothing lies between them; low 0: nor before */
};

/* Starts a task: low and high are 0, so that the first record sets them. */
static void index_around_task(const struct index *ix, struct index_around *k,
                              const struct index_deferred *a)
{
	uint64_t at;

	*k = (struct index_around){ .pid = a->pid, .tid = a->tid };
	if (map_get(&ix->execs_of, a->pid, &at))
		k->execs = index_execs_at(ix, at);
	if (map_get(&ix->track_of, a->tid, &at))
		k->births = &index_track_at(ix, at)->births;
}

/* Moves [low, high] to the gap between events in which `when` lies. All later records in the same
 * gap need no search. */
static void index_around_time(struct index_around *k, uint64_t when)
{
	uint64_t before = when, after = UINT64_MAX - when;

	if (k->execs)
		times_quiet(k->execs, when, &before, &after);
	if (k->births)
		times_quiet(k->births, when, &before, &after);
	k->low = when - before;
	k->high = when + after;
}

/* 32 bits of nanoseconds are 4.3 s: longer than that makes no difference, because then the search
 * decides. */
static uint32_t index_short(uint64_t ns)
{
	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* Stores for each deferred record of a block how long nothing happened around it, so that most
 * samples need no search. */
static void index_quiet(const struct index *ix, struct index_deferred *deferred, uint32_t n,
                        struct index_around *around)
{
	for (struct index_deferred *a = deferred; a < deferred + n; a++) {
		struct index_around *k = &around[a->tid % INDEX_TASKS];

		/* Without a tid or a time nothing is proven quiet: both lengths stay 0 and each
		 * sample searches. */
		if (a->tid == UINT32_MAX || a->when & RULES_UNTIMED)
			continue;
		if (k->tid != a->tid || k->pid != a->pid)
			index_around_task(ix, k, a);
		if (a->when <= k->low || a->when >= k->high)
			index_around_time(k, a->when);
		a->quiet_before = index_short(a->when - k->low);
		a->quiet_after = index_short(k->high - a->when);
	}
}

/* For all deferred records, block by block. */
static void index_quiet_all(struct index *ix)
{
	struct index_around around[INDEX_TASKS];

	memset(around, 0xff, sizeof(around)); /* of no task that is known */
	for (uint32_t i = 0; i < ix->n_deferred; i += BLOCKS_THINGS) {
		uint32_t left = ix->n_deferred - i;

		blocks_wanted(&ix->deferred, i / BLOCKS_THINGS);
		index_quiet(ix, index_deferred(ix, i), left < BLOCKS_THINGS ? left : BLOCKS_THINGS,
		            around);
		blocks_rest(&ix->deferred, 0, SIZE_MAX);
	}
}

/* Ends learning: puts all facts in order of time, finds duplicate samples, and computes around each
 * deferred record how long its task was undisturbed. After this, index_resolve may be called by
 * many threads. */
int index_seal(struct index *ix)
{
	uint64_t i;
	int r = chains_settle(&ix->chains);

	if (r < 0)
		return r;
	/* Records without a tid are of no task: they are no sign for any sample. */
	if (map_get(&ix->track_of, UINT32_MAX, &i)) {
		struct track *t = index_track_at(ix, i);

		t->nobody = true;
		times_free(&t->exits);
		times_free(&t->births);
	}
	for (uint32_t k = 0; k < ix->tracks.n; k++) {
		times_sort(&index_track_at(ix, k)->exits);
		times_sort(&index_track_at(ix, k)->births);
	}
	r = tracks_seal(&ix->points, ix->tracks.at, ix->tracks.n, ix->swap, &ix->duplicates);
	for (uint32_t k = 0; k < ix->execs.n; k++)
		times_sort(index_execs_at(ix, k));
	if (r >= 0)
		index_quiet_all(ix);
	/* Duplicates are few or none. A bit per 64 neighbouring indices keeps nearly all samples
	 * from a lookup. */
	for (size_t walk = 0; map_next(&ix->duplicates, &walk, &i, NULL);)
		ix->maybe_duplicate[i / 64 % 64] |= 1ULL << i % 64;
	ix->peak_bytes = index_bytes(ix) + ix->points.peak_bytes;
	return r;
}

/* NULL: nothing is known of this task. Records without a tid are never one task. */
static const struct track *index_track_of(const struct index *ix, uint32_t tid)
{
	uint64_t at;

	return tid != UINT32_MAX && map_get(&ix->track_of, tid, &at) ? index_track_at(ix, at)
	                                                             : NULL;
}

/* Whether it is sure that nothing lies between a sample and a deferred record that could separate
 * them: they are of the same task, and neither an exec nor a birth is near. */
static bool index_quiet_between(const struct rules_who *sample, const struct index_deferred *a)
{
	bool later = a->when >= sample->when;
	uint64_t apart = later ? a->when - sample->when : sample->when - a->when;

	return sample->tid == a->tid && sample->pid == a->pid && !(sample->when & RULES_UNTIMED) &&
	       apart < (later ? a->quiet_before : a->quiet_after);
}

/* Decides whether a deferred record belongs to a sample, with what happened between the two. */
static enum rules_match index_match(const struct index *ix, const struct rules_who *sample,
                                    const struct index_deferred *a)
{
	const struct rules_who deferred = { .when = a->when, .pid = a->pid, .tid = a->tid };
	bool exec = false, reborn = false, later = a->when >= sample->when;
	uint64_t from = later ? sample->when : a->when;
	uint64_t to = later ? a->when : sample->when, execs;
	const struct track *track;

	if (index_quiet_between(sample, a))
		return rules_in_turn(sample->when, a->when);
	track = index_track_of(ix, sample->tid);
	if (sample->pid != UINT32_MAX && map_get(&ix->execs_of, sample->pid, &execs))
		exec = times_within(index_execs_at(ix, execs), from, to);
	/* The record that names a birth comes before anything that the new task does. A birth at
	 * the very time of the later one is this task's own. */
	if (track && to > from)
		reborn = times_within(&track->births, from, to - 1);
	return rules_match(sample, &deferred, exec, reborn);
}

/* Among the deferred records of a cookie, the matching one that is nearest to the sample in time;
 * NULL: none matches. n: the number of the first. */
static const struct index_deferred *index_find(const struct index *ix, const struct rules_who *who,
                                               uint32_t n, enum rules_match *match, bool *mismatch)
{
	const struct index_deferred *best = NULL, *a;
	uint64_t nearest = RULES_NEVER;

	*mismatch = false;
	a = n ? index_deferred(ix, n - 1) : NULL;
	if (a && !a->next && index_quiet_between(who, a)) { /* almost all */
		*match = rules_in_turn(who->when, a->when);
		return a;
	}
	for (; n; n = a->next) {
		enum rules_match m;
		uint64_t apart;

		a = index_deferred(ix, n - 1);
		m = index_match(ix, who, a);
		apart = a->when > who->when ? a->when - who->when : who->when - a->when;
		if (m == RULES_MISMATCH) {
			*mismatch = true;
		} else if (!best || apart < nearest) {
			best = a;
			nearest = apart;
			*match = m;
		}
	}
	return best;
}

/* The state of a sample whose cookie has no deferred record. */
static enum seam_stitch_state index_unanswered(const struct index *ix, const struct rules_who *who,
                                               uint32_t index)
{
	struct rules_unanswered facts = { .no_output = rules_no_output(ix->output, ix->n_deferred),
		                          .when = who->when,
		                          .seen_past = RULES_NEVER,
		                          .ended = RULES_NEVER,
		                          .last_lost = ix->losses.last };
	const struct track *track = index_track_of(ix, who->tid);
	uint64_t at;

	if (track) {
		facts.seen_past = tracks_seen_past(&ix->points, index);
		facts.ended = times_from(&track->exits, who->when);
		/* A FORK that gives the tid to another task proves as well that this task is
		 * gone. */
		at = times_from(&track->births, who->when);
		facts.ended = at < facts.ended ? at : facts.ended;
	}
	return rules_unanswered(&facts);
}

/* Decides the state of a sample with a cookie. n: the number + 1 of the cookie's first deferred
 * record; 0: there is none. */
static void index_judge(const struct index *ix, const struct rules_who *who, uint32_t index,
                        uint32_t n, struct stitch_verdict *ret, struct seam_stitch_counts *counts)
{
	enum rules_match match = RULES_MISMATCH;
	const struct index_deferred *a;
	bool mismatch;

	a = index_find(ix, who, n & ~INDEX_CARRIED, &match, &mismatch);
	if (!a) {
		counts->tid_mismatches += mismatch;
		ret->state = index_unanswered(ix, who, index);
		return;
	}
	ret->state = rules_matched(match);
	ret->deferred_time_ns = a->when & RULES_UNTIMED ? 0 : a->when;
	ret->deferred_misc = a->misc;
	/* The words were taken after the exec: they name addresses of another program. */
	if (match == RULES_CROSSED)
		return;
	ret->chain = a->chain;
	ret->n = a->n & ~CHAINS_SWAP;
	ret->swap = a->n & CHAINS_SWAP;
	counts->empty_answers += !ret->n;
}

/* The words of a verdict, as they are in the file; none without a deferred record. They live as
 * long as the index. */
static struct seam_u64s index_words(const struct index *ix, const struct stitch_verdict *verdict)
{
	struct seam_u64s words = { .n = verdict->n, .swap = verdict->swap };

	if (words.n)
		words.bytes = (const unsigned char *)intern_get(&ix->chains.words, verdict->chain);
	return words;
}

static bool index_is_duplicate(const struct index *ix, uint64_t index)
{
	return ix->maybe_duplicate[index / 64 % 64] >> index % 64 & 1 &&
	       map_get(&ix->duplicates, index, NULL);
}

/* The state that a sample's own chain gives, where no deferred record is needed. */
static enum seam_stitch_state index_own(enum rules_kind kind)
{
	static const enum seam_stitch_state own[] = {
		[RULES_NO_CHAIN] = SEAM_STITCH_NO_CALLCHAIN,
		[RULES_STACK_COPY] = SEAM_STITCH_STACK_COPY,
		[RULES_NO_USER] = SEAM_STITCH_KERNEL_ONLY,
		[RULES_AT_ONCE] = SEAM_STITCH_IMMEDIATE,
		[RULES_CUT_COOKIE] = SEAM_STITCH_NO_COOKIE,
	};

	return own[kind];
}

/* The counts that a sample adds in any case, whatever its state is. */
static void index_count(struct seam_stitch_counts *counts, enum rules_kind kind,
                        enum seam_stitch_state state)
{
	counts->samples++;
	counts->state[state]++;
	counts->deferred_samples += kind == RULES_DEFERRED || kind == RULES_CUT_COOKIE;
}

enum seam_stitch_state index_own_counted(struct seam_stitch_counts *counts, enum rules_kind kind)
{
	enum seam_stitch_state state = index_own(kind);

	index_count(counts, kind, state);
	return state;
}

/* The same as index_resolve, from what learning kept (summary.h). false: a copy, counted here. */
bool index_resolve_summary(const struct index *ix, const struct stitch_summary *summary,
                           struct seam_stitch_counts *counts, struct stitch_verdict *ret)
{
	if (index_is_duplicate(ix, summary->index)) {
		counts->duplicate_samples++;
		return false;
	}
	*ret = (struct stitch_verdict){ 0 };
	if (summary->kind == RULES_DEFERRED)
		index_judge(ix, &summary->who, summary->index,
		            cookies_at(&ix->cookies, summary->slot), ret, counts);
	else
		ret->state = index_own(summary->kind);
	index_count(counts, summary->kind, ret->state);
	return true;
}

/* Decides what became of the sample's user part, and fills *ret and *counts. counts may be NULL.
 * ret points into the sample's record and into the index. */
int index_resolve(const struct index *ix, const struct seam_decoded *d,
                  struct seam_stitch_counts *counts, struct seam_stitched *ret)
{
	struct stitch_verdict verdict = { 0 };
	struct seam_stitch_counts nobody;
	uint64_t index = d->record->index;
	struct rules_parts parts;
	struct rules_who who;

	if (!counts) {
		nobody = (struct seam_stitch_counts){ .sz = sizeof(nobody) };
		counts = &nobody;
	}
	if (index_is_duplicate(ix, index)) {
		counts->duplicate_samples++;
		return 0;
	}
	rules_split(&d->sample, d->record->misc, &parts);
	if (parts.kind == RULES_DEFERRED) {
		who = rules_who(d);
		index_judge(ix, &who, (uint32_t)index, cookies_get(&ix->cookies, parts.cookie),
		            &verdict, counts);
	} else {
		verdict.state = index_own(parts.kind);
	}
	ret->sample = d->sample;
	ret->offset = d->record->offset;
	ret->misc = d->record->misc;
	ret->cookie = parts.cookie;
	ret->kernel = parts.kernel;
	ret->user = verdict.n ? index_words(ix, &verdict) : parts.user;
	ret->state = verdict.state;
	ret->deferred_time_ns = verdict.deferred_time_ns;
	ret->deferred_misc = verdict.deferred_misc;
	index_count(counts, parts.kind, ret->state);
	return 1;
}

void index_rest(const struct index *ix)
{
	blocks_rest(&ix->deferred, 0, SIZE_MAX);
	tracks_rest(&ix->points);
}

/* Records that were refused were in the file: they count as deferred records that nobody
 * claimed. */
void index_counts(const struct index *ix, struct seam_stitch_counts *ret)
{
	ret->deferred_records = ix->n_deferred + ix->refused;
	ret->unclaimed_records = ret->deferred_records - ix->claimed;
	ret->duplicate_records = ix->duplicate_records;
	ret->lost = ix->losses.lost;
	ret->lost_samples = ix->losses.lost_samples;
	ret->peak_bytes = ix->peak_bytes;
}
