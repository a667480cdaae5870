// SPDX-License-Identifier: MIT
/*
 * stream.c: see stream.h. Which facts each record brings, when a sample is decided, what is let go
 * when memory is short. What the facts mean is rules.c's.
 *
 * A sample goes into the queue (queue.c) and leaves it at the front, when it is decided. Most are
 * decided as they come. One that carries a cookie, and whose deferred record was not seen, waits in
 * the entry of its task and cookie (waiting.c), until one of these:
 *
 *	its deferred record comes            it is stitched
 *	its task is seen past the kernel     no record came within the grace after it: the
 *	entry (a sign), or exits             record was lost, or there was none to write
 *	the tid has a new owner              the same, at once
 *	memory is short                      it is given up, the oldest first
 *	the end                              by what is known then
 *
 * Deferred records are kept (deferred.c) for samples that come behind them. When a task has entered
 * the kernel again, only late samples can ask for the older one: it is superseded and goes after
 * the grace.
 *
 * Invariant: every sample in the queue is either decided or waits in exactly one entry. Time goes
 * by what records say (now: the newest of them), never by a clock.
 */
#include "stitch/stream.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* So many hashes of one moment are compared one by one; more go into a map. */
#define STREAM_FEW (sizeof(((struct stream_moment *)0)->few) / sizeof(uint64_t))
#define STREAM_MOMENT_MOST 65536u /* samples of one moment that are compared */

void stream_start(struct stream *st, size_t max_bytes)
{
	*st = (struct stream){ .max_bytes = max_bytes ? max_bytes : STREAM_MAX_BYTES };
	deferred_start(&st->deferred);
	waiting_start(&st->waiting);
}

void stream_free(struct stream *st)
{
	queue_free(&st->queue);
	deferred_free(&st->deferred);
	waiting_free(&st->waiting);
	map_free(&st->moment.more);
	free(st->words);
}

/* What the bound is about: bytes in use. stream_peak is about bytes that were asked of the system.
 */
static size_t stream_held(const struct stream *st)
{
	return st->queue.bytes + deferred_bytes(&st->deferred) + waiting_bytes(&st->waiting);
}

static void stream_peak(struct stream *st)
{
	const struct waiting *w = &st->waiting;
	size_t n = st->queue.block_bytes + st->deferred.slab.arena.bytes +
	           st->deferred.cells.arena.bytes + map_bytes(&st->deferred.by_cookie) +
	           w->entries.arena.bytes + w->tasks.arena.bytes + w->processes.arena.bytes +
	           map_bytes(&w->by_cookie) + map_bytes(&w->by_tid) + map_bytes(&w->by_pid) +
	           map_bytes(&st->moment.more) + st->n_words * 8;

	if (n > st->counts.peak_bytes)
		st->counts.peak_bytes = n;
}

/* ---- deciding ---- */

/* Counted when decided, not when delivered: the counts are whole after stream_finish. */
static void stream_decide(struct stream *st, struct hold *h, enum seam_stitch_state state)
{
	h->state = state;
	h->decided = true;
	st->counts.samples++;
	st->counts.state[state]++;
}

/* A record that crosses an exec decides the sample, too: as one whose words are another program's.
 */
static void stream_decide_by(struct stream *st, struct hold *h, struct deferred_record *a,
                             enum rules_match match)
{
	h->deferred = a;
	deferred_claim(a);
	stream_decide(st, h, rules_matched(match));
	st->counts.empty_answers += match != RULES_CROSSED && !a->n;
}

/* Decides a sample for which no deferred record will come. ended: when its task was gone, or
 * RULES_NEVER. */
static void stream_decide_unanswered(struct stream *st, struct hold *h, bool mismatch,
                                     uint64_t ended)
{
	struct rules_unanswered facts = {
		.no_output = rules_no_output(st->output, st->counts.deferred_records),
		.when = h->when,
		.seen_past = h->passed ? h->when : RULES_NEVER,
		.ended = ended,
		.last_lost = st->losses.last,
	};

	st->counts.tid_mismatches += mismatch;
	stream_decide(st, h, rules_unanswered(&facts));
}

/* ---- kept deferred records ---- */

/* The task forgets this record as its last one. It may be all that kept the task here. */
static void stream_loosen(struct stream *st, struct deferred_record *a)
{
	struct waiting_task *task = a->task;

	a->task = NULL;
	if (!task)
		return;
	task->last_deferred = NULL;
	waiting_task_put(&st->waiting, task);
}

/* Ends the time in which samples can find it, and lets go what it kept alive. */
static void stream_drop(struct stream *st, struct deferred_record *a)
{
	stream_loosen(st, a);
	waiting_process_put(&st->waiting, a->process);
	a->process = NULL;
	deferred_drop(&st->deferred, a);
}

/* From now on only samples that come late may ask for this record. */
static void stream_supersede(struct stream *st, struct deferred_record *a)
{
	stream_loosen(st, a);
	deferred_supersede(&st->deferred, a, st->now);
}

/* The time to wait for the deferred records of an entry is over. */
static void stream_limit(struct stream *st, struct waiting_entry *e)
{
	bool dead = e->task->exited && e->task->exit_when + DEFERRED_GRACE_NS < st->now;
	uint64_t ended = e->task->exited ? e->task->exit_when : RULES_NEVER;

	while (e->first && (e->first->passed || dead))
		stream_decide_unanswered(st, waiting_take(e), e->mismatch, ended);
	waiting_unlimit(&st->waiting, e);
	if (!e->first)
		waiting_close(&st->waiting, e);
	else if (e->task->exited)
		waiting_limit(&st->waiting, e, st->now);
}

/* Decides what waited longer than its limit, now that time has passed. Both lists are in the order
 * of their deadlines, so that only their beginnings are looked at: the cost is what expires, not
 * what waits. */
static void stream_expire(struct stream *st)
{
	struct waiting_entry *e;
	struct deferred_record *a;

	while ((e = st->waiting.limit_first) && e->deadline < st->now)
		stream_limit(st, e);
	while ((a = st->deferred.end_first) && a->superseded < st->now)
		stream_drop(st, a);
}

/* ---- records ---- */

/* True when this very sample came before (rules_again); -ENOMEM. */
static int stream_duplicate(struct stream *st, const struct seam_decoded *d)
{
	struct stream_moment *m = &st->moment;
	uint64_t when = rules_when(d), hash;
	struct rules_parts parts;
	bool is_new;

	rules_split(&d->sample, d->record->misc, &parts);
	if (!rules_again(d, &parts))
		return 0;
	hash = map_hash_bytes(d->record->bytes, d->record->size, 0);
	/* A copy has the very time of its sample: with the next time all of the last moment is
	 * forgotten. */
	if (when != m->when) {
		map_free(&m->more);
		m->n = 0;
		m->when = when;
	}
	for (size_t i = 0; i < m->n && i < STREAM_FEW; i++)
		if (m->few[i] == hash)
			return 1;
	if (m->n < STREAM_FEW) {
		m->few[m->n++] = hash;
		return 0;
	}
	/* A made-up stream may hold any number of one time. What is above the bound is not
	 * remembered: copies of those count as samples. */
	if (m->n >= STREAM_MOMENT_MOST)
		return map_get(&m->more, hash, NULL);
	if (!map_slot(&m->more, hash, &is_new))
		return -ENOMEM;
	m->n += is_new;
	return !is_new;
}

/* The tid has a new owner, so nothing more will come of the old task: decides its samples and frees
 * the task. */
static void stream_end_task(struct stream *st, struct waiting_task *task, uint64_t when)
{
	struct deferred_record *a = task->last_deferred;
	struct waiting_entry *e, *next;

	if (a) {
		a->reborn = true;
		a->task = NULL;
		task->last_deferred = NULL;
		deferred_supersede(&st->deferred, a, st->now);
	}
	if (!task->entries) {
		waiting_task_put(&st->waiting, task);
		return;
	}
	for (e = task->entries; e; e = next) {
		next = e->next;
		while (e->first)
			stream_decide_unanswered(st, waiting_take(e), e->mismatch, when);
		waiting_close(&st->waiting, e); /* the last one takes the task along */
	}
}

/* True when a task that exited is seen in another kernel entry: then the tid has a new owner, whose
 * FORK was not recorded. */
static bool stream_reborn(const struct waiting_task *task, uint64_t cookie)
{
	if (!task->exited || (task->last_deferred && task->last_deferred->cookie == cookie))
		return false;
	for (const struct waiting_entry *e = task->entries; e; e = e->next)
		if (e->cookie == cookie)
			return false;
	return true;
}

/* Applies what a sample shows about its task's earlier kernel entries and deferred records: they
 * are over. */
static void stream_sign(struct stream *st, const struct hold *h, uint32_t tid)
{
	bool deferred = h->parts.kind == RULES_DEFERRED, past;
	struct waiting_task *task;

	task = tid != UINT32_MAX ? waiting_task(&st->waiting, tid, false) : NULL;
	if (!task)
		return;
	if (deferred && stream_reborn(task, h->parts.cookie)) {
		stream_end_task(st, task, task->exit_when);
		return;
	}
	if (h->when > task->seen)
		task->seen = h->when;
	if (task->current && !task->exited) {
		if (deferred)
			past = task->current->cookie != h->parts.cookie;
		else /* two in user mode may have hit in the same interrupt */
			past = rules_user_mode(h->misc) &&
			       !rules_user_mode(task->current->last->misc);
		if (past)
			waiting_pass(&st->waiting, task, st->now);
	}
	/* It is in another kernel entry, so that its last record serves only late samples. */
	if (deferred && task->last_deferred && task->last_deferred->cookie != h->parts.cookie)
		stream_supersede(st, task->last_deferred); /* may free the task */
}

/* Lets a sample wait under its cookie. If it cannot wait, it is decided here and now. mismatch: a
 * deferred record with this cookie was there, but of another task. */
static int stream_wait(struct stream *st, struct hold *h, const struct rules_who *who,
                       bool mismatch)
{
	struct waiting_entry *e;
	int r;

	if (st->output == RULES_OUTPUT_NONE) {
		stream_decide_unanswered(st, h, mismatch, RULES_NEVER);
		return 0;
	}
	r = waiting_open(&st->waiting, h->parts.cookie, who, &e);
	if (r == -EOVERFLOW) {
		stream_decide_unanswered(st, h, true, RULES_NEVER);
		return 0;
	}
	if (r < 0) { /* the sample is in the queue: it must not stay undecided */
		stream_decide(st, h, SEAM_STITCH_GAVE_UP);
		return r;
	}
	e->mismatch |= mismatch;
	waiting_add(e, h);
	if (who->tid != UINT32_MAX) {
		e->task->current = e;
		if (h->when > e->task->seen)
			e->task->seen = h->when;
	}
	return 0;
}

/* Takes a sample: decides it at once if its user part is there or cannot come, otherwise lets it
 * wait for its deferred record. */
static int stream_sample(struct stream *st, const struct seam_decoded *d)
{
	static const enum seam_stitch_state own[] = {
		[RULES_NO_CHAIN] = SEAM_STITCH_NO_CALLCHAIN,
		[RULES_STACK_COPY] = SEAM_STITCH_STACK_COPY,
		[RULES_NO_USER] = SEAM_STITCH_KERNEL_ONLY,
		[RULES_AT_ONCE] = SEAM_STITCH_IMMEDIATE,
		[RULES_CUT_COOKIE] = SEAM_STITCH_NO_COOKIE,
	};
	struct rules_who who = rules_who(d);
	enum rules_match match;
	struct deferred_record *a;
	struct hold *h;
	int r = stream_duplicate(st, d);

	if (r > 0)
		st->counts.duplicate_samples++;
	if (r)
		return r < 0 ? r : 0;
	r = queue_push(&st->queue, d, &h);
	if (r < 0) {
		st->moment.n = 0; /* it did not come: the next one like it is no duplicate */
		map_free(&st->moment.more);
		return r;
	}
	st->counts.deferred_samples +=
	        h->parts.kind == RULES_DEFERRED || h->parts.kind == RULES_CUT_COOKIE;
	/* The signs come first: they are about what was there before this sample. */
	stream_sign(st, h, who.tid);
	if (h->parts.kind != RULES_DEFERRED) {
		stream_decide(st, h, own[h->parts.kind]);
		return 0;
	}
	a = deferred_find(&st->deferred, h->parts.cookie);
	if (a) {
		bool exec = a->process && a->process->pid == who.pid && a->process->has_exec &&
		            a->process->last_exec >= a->who.when;

		match = rules_match(&who, &a->who, exec, a->reborn);
		/* Even a mismatch is a claim: somebody asked for the cookie. */
		a->claimed = true;
		if (match != RULES_MISMATCH) {
			stream_decide_by(st, h, a, match);
			return 0;
		}
	}
	return stream_wait(st, h, &who, a != NULL);
}

/* Decides all samples of an entry that this deferred record serves. */
static void stream_serve(struct stream *st, struct waiting_entry *e, struct deferred_record *a)
{
	const struct waiting_process *p = e->process;

	a->claimed = true;
	while (e->first) {
		struct rules_who who = { .when = e->first->when,
			                 .pid = p->pid,
			                 .tid = e->task->tid };
		bool exec = p->has_exec && p->last_exec >= who.when && p->pid != UINT32_MAX;
		enum rules_match match = rules_match(&who, &a->who, exec, false);

		if (match == RULES_MISMATCH) {
			e->mismatch = true;
			return;
		}
		stream_decide_by(st, waiting_take(e), a, match);
	}
	waiting_close(&st->waiting, e);
}

/* Takes a deferred record: keeps it for later samples with its cookie, and serves those that wait.
 * It also ends the wait for earlier deferred records of its task. */
static int stream_deferred(struct stream *st, const struct seam_decoded *d)
{
	struct rules_who who = rules_who(d);
	struct deferred_record *a = deferred_find(&st->deferred, d->deferred.cookie);
	struct waiting_entry *e, *same;
	struct waiting_task *task;

	if (a && rules_same_deferred(&a->who, &who)) {
		st->counts.duplicate_records++;
		return 0;
	}
	/* It is another task's, or the counter of cookies wrapped. The stream keeps one record per
	 * cookie, the newer one. */
	if (a)
		stream_drop(st, a);
	a = deferred_keep(&st->deferred, d);
	if (!a)
		return -ENOMEM;
	st->counts.deferred_records++;
	a->process = waiting_process(&st->waiting, who.pid, true);
	if (a->process)
		a->process->users++;
	task = who.tid != UINT32_MAX ? waiting_task(&st->waiting, who.tid, true) : NULL;
	if (task) {
		struct deferred_record *before = task->last_deferred;

		task->last_deferred = a;
		a->task = task;
		/* The task has no more samples to come: the record is kept for a while only. */
		if (task->exited)
			deferred_supersede(&st->deferred, a, st->now);
		if (who.when > task->seen)
			task->seen = who.when;
		/* The task entered the kernel again: samples with the earlier cookie can only be
		 * late ones. */
		if (before) {
			before->task = NULL;
			deferred_supersede(&st->deferred, before, st->now);
		}
	}
	for (e = waiting_entry(&st->waiting, d->deferred.cookie); e; e = same) {
		same = e->same;
		stream_serve(st, e, a);
	}
	/* Without memory for task or process the record is kept and may serve samples, but execs
	 * and signs would be missed: the caller is told. */
	return (a->process || who.pid == UINT32_MAX) && (task || who.tid == UINT32_MAX) ? 0
	                                                                                : -ENOMEM;
}

/* The task is dying. Its deferred record may still come: the kernel writes it behind the EXIT
 * record. */
static void stream_exit(struct stream *st, uint32_t tid, uint64_t when)
{
	struct waiting_task *task = waiting_task(&st->waiting, tid, false);

	if (!task || tid == UINT32_MAX || task->seen > when || task->exited)
		return;
	task->exited = true;
	task->exit_when = when;
	for (struct waiting_entry *e = task->entries; e; e = e->next)
		waiting_limit(&st->waiting, e, st->now);
	if (task->last_deferred)
		deferred_supersede(&st->deferred, task->last_deferred, st->now);
}

/* A FORK of a tid that is known: its old owner is gone, whether its EXIT was recorded or not. One
 * that is older than what was seen of the task was made for the task itself. */
static void stream_fork(struct stream *st, uint32_t tid, uint64_t when)
{
	struct waiting_task *task = waiting_task(&st->waiting, tid, false);

	if (task && tid != UINT32_MAX && task->seen <= when)
		stream_end_task(st, task, task->exited ? task->exit_when : when);
}

/* Takes any record. Those that say nothing about stacks are ignored. */
static int stream_record(struct stream *st, const struct seam_decoded *d)
{
	struct waiting_process *process;

	switch (d->record->type) {
	case SEAM_RECORD_SAMPLE:
		return stream_sample(st, d);
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
		return stream_deferred(st, d);
	case SEAM_RECORD_COMM:
		process = d->comm.exec ? waiting_process(&st->waiting, d->comm.pid, false) : NULL;
		if (process) { /* else nothing of before the exec is left that could cross it */
			process->has_exec = true;
			process->last_exec = rules_when(d);
		}
		return 0;
	case SEAM_RECORD_FORK:
		stream_fork(st, d->task.tid, rules_task_when(d));
		return 0;
	case SEAM_RECORD_EXIT:
		stream_exit(st, d->task.tid, rules_task_when(d));
		return 0;
	case SEAM_RECORD_LOST:
	case SEAM_RECORD_LOST_SAMPLES:
		rules_lose(&st->losses, d);
		return 0;
	default:
		return 0;
	}
}

/* ---- the bound ---- */

/* Two things can be let go. First kept deferred records, the oldest first, while they take more
 * than a quarter of the bound, or are too many. Then samples that wait: the front of the queue is
 * given up, because all behind it must wait for it. What is decided and not yet taken does not
 * count: the caller frees that by taking it. */
static void stream_bound(struct stream *st)
{
	struct queue *q = &st->queue;

	/* Deferred records go first, because without one only late samples lose their user part. */
	while (st->deferred.oldest && (st->deferred.n_kept > DEFERRED_KEPT_MOST ||
	                               (stream_held(st) > st->max_bytes &&
	                                deferred_bytes(&st->deferred) > st->max_bytes / 4)))
		stream_drop(st, st->deferred.oldest);
	for (queue_advance(q); q->front && stream_held(st) - q->ready_bytes > st->max_bytes;
	     queue_advance(q)) {
		struct waiting_entry *e = q->front->entry;

		waiting_take(e); /* the oldest of the queue is the oldest of its entry */
		stream_decide(st, q->front, SEAM_STITCH_GAVE_UP);
		if (!e->first)
			waiting_close(&st->waiting, e);
	}
}

/* What the last stream_next gave out was valid until now. */
static void stream_release(struct stream *st)
{
	if (!st->delivered)
		return;
	if (st->delivered->deferred)
		deferred_release(&st->deferred, st->delivered->deferred);
	queue_pop(&st->queue);
	st->delivered = NULL;
}

/* -EAGAIN: memory is at its bound and decided samples are there; the record was not taken. Take
 * samples with stream_next and feed the record again. -EINVAL: after stream_finish. */
int stream_feed(struct stream *st, const struct seam_decoded *d)
{
	uint64_t when = rules_when(d);
	int r;

	if (st->finished)
		return -EINVAL;
	stream_release(st);
	queue_advance(&st->queue);
	/* The caller must take samples now: feeding more would break the bound. */
	if (st->queue.ready_bytes && stream_held(st) > st->max_bytes)
		return -EAGAIN;
	if (when > st->now)
		st->now = when;
	/* Time first: what this record would answer too late must be decided before it. */
	stream_expire(st);
	r = stream_record(st, d);
	stream_peak(st);
	stream_bound(st);
	return r;
}

/* 1 and the next sample in the order of feeding, or 0 while the oldest one still waits. *ret is
 * valid until the next call on the stream. */
int stream_next(struct stream *st, struct seam_stitched *ret)
{
	struct deferred_record *a;
	struct hold *h;

	stream_release(st);
	queue_advance(&st->queue);
	h = st->queue.first;
	if (!h || !h->decided)
		return 0;
	a = h->deferred;
	/* The words lie in cells; the caller gets them in one piece. */
	if (a && ARRAY_ROOM(&st->words, &st->n_words, a->n) < 0)
		return -ENOMEM;
	*ret = (struct seam_stitched){ .sz = sizeof(*ret),
		                       .sample = h->sample,
		                       .offset = h->offset,
		                       .misc = h->misc,
		                       .state = h->state,
		                       .cookie = h->parts.cookie,
		                       .kernel = h->parts.kernel,
		                       .user = h->parts.user };
	if (a) {
		ret->deferred_time_ns = a->who.when & RULES_UNTIMED ? 0 : a->who.when;
		ret->deferred_misc = a->misc;
	}
	/* After an exec the record is another program's: its words are not this sample's. */
	if (a && a->n && h->state != SEAM_STITCH_CROSSED_EXEC) {
		deferred_words(a, st->words);
		ret->user = (struct seam_u64s){ .bytes = (unsigned char *)st->words, .n = a->n };
	}
	st->delivered = h;
	return 1;
}

/* Nothing more will come, so each sample that waits is decided by what is known of its task. */
int stream_finish(struct stream *st)
{
	if (st->finished)
		return 0;
	st->finished = true;
	for (queue_advance(&st->queue); st->queue.front; queue_advance(&st->queue)) {
		struct waiting_entry *e = st->queue.front->entry;
		uint64_t ended = e->task->exited ? e->task->exit_when : RULES_NEVER;

		stream_decide_unanswered(st, waiting_take(e), e->mismatch, ended);
		if (!e->first)
			waiting_close(&st->waiting, e);
	}
	while (st->deferred.oldest)
		stream_drop(st, st->deferred.oldest);
	stream_peak(st);
	return 0;
}

/* A kept record may still be claimed, so that unclaimed ones are only those that were dropped. */
void stream_counts(const struct stream *st, struct seam_stitch_counts *ret)
{
	*ret = st->counts;
	ret->unclaimed_records = st->deferred.unclaimed;
	ret->lost = st->losses.lost;
	ret->lost_samples = st->losses.lost_samples;
}
