// SPDX-License-Identifier: MIT
/*
 * live_walk.c: see live_walk.h. A round is done in three passes over its items, which are in order
 * of time:
 *
 *	learn   one thread: what changes mappings is learned; each sample gets the space that its
 *	        process has at that moment, as a number that holds it
 *	walk    all threads: each takes a few items at a time, and writes the samples that it makes
 *	        into a buffer of its own
 *	write   one thread: results and other records are put together again in order
 *
 * Invariant: while samples are walked nothing is learned, so the process table is read without a
 * lock. A walk never goes on beyond the time that was set (live_walk_end_by): what is left then is
 * kept without its user part and says so.
 */
#include "recorder/live_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "abi/record.h"
#include "abi/record_at.h"
#include "base/thread.h"
#include "samples/kernel_trap.h"
#include "samples/walk_result.h"

#define CLAIM 32u        /* items that a thread takes at once */
#define SHARE_LEAST 256u /* fewer items are not worth waking the other threads */

/* -- one sample -- */

/* Keeps only the addresses that may stand in a file, and takes their marks off. Guessed frames
 * stand behind the sure ones. */
static size_t walker_sure(uint64_t *frames, const struct walk *walk)
{
	size_t n = walk_result_keeps(walk);

	for (size_t i = 0; i < n; i++)
		frames[i] &= WALK_ADDRESS;
	return n;
}

/* Counts a walk inside execve that turned out to be whole. The other counts of the walker for these
 * samples (in_exec) are not used. */
static void walker_add_complete(struct unwound_counts *c, const struct walk *walk)
{
	c->samples++;
	c->end[WALK_COMPLETE]++;
	c->frames += walk->n;
	c->guessed += walk->n_sure < walk->n;
	c->guessed_frames += walk->n - walk->n_sure;
}

/* The user addresses of a sample that has registers and a copy: how many, in *user. -ENOMEM. */
static int walker_unwind(struct live_walker *t, const struct live_item *item,
                         const struct seam_sample *s, uint16_t misc, const uint64_t **user,
                         struct walk_result *result)
{
	struct seam_stitched st = { .sample = *s, .misc = misc, .state = SEAM_STITCH_STACK_COPY };
	struct unwound *unwound = item->after_exec ? t->in_exec : t->unwound;
	const struct walk *walk = unwound_last(unwound);
	int r = unwound_sample(unwound, item->space, &st);

	if (r < 0)
		return r;
	/* An exec replaces the mappings in the middle of a kernel entry: what was copied is of one
	 * program, what is mapped may be of the other. Only a walk that comes to its end proves
	 * that both fit. */
	if (item->after_exec && (!r || walk->end != WALK_COMPLETE)) {
		t->counts.in_exec++;
		result->kind = WALK_RESULT_IN_EXEC;
		return 0;
	}
	/* No walk was possible by these registers: the sample keeps its ip. */
	if (!r) {
		result->kind = WALK_RESULT_NO_REGISTERS;
		return 1;
	}
	*result = walk_result_of_walk(walk, s, walked_sample_user_sp(t->walk->machine, s),
	                              !proc_space_find(t->walk->procs, item->space, walk->end_pc));
	t->counts.unreadable += result->unreadable;
	if (item->after_exec)
		walker_add_complete(&t->counts.walks, walk);
	/* st.user is the unwinder's own: marks are taken off in a copy. */
	buf_clear(&t->user);
	if (buf_put(&t->user, st.user.bytes, st.user.n * 8) < 0)
		return -ENOMEM;
	*user = (const uint64_t *)(const void *)t->user.bytes;
	return (int)walker_sure((uint64_t *)(void *)t->user.bytes, walk);
}

/* Asked before each walk: other threads set both limits at any time. */
static bool walk_is_over(const struct live_walk *w)
{
	uint64_t end_ns = __atomic_load_n(&w->end_ns, __ATOMIC_RELAXED);
	struct timespec t;

	if (__atomic_load_n(&w->hurry, __ATOMIC_RELAXED))
		return true;
	if (!end_ns)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec >= end_ns;
}

/* The same for any sample; ip is its user ip, or 0. */
static int walker_user(struct live_walker *t, const struct live_item *item,
                       const struct seam_sample *s, uint16_t misc, const uint64_t *ip,
                       const uint64_t **user, struct walk_result *result)
{
	*user = ip;
	if (s->stack_user.n > t->counts.longest_copy)
		t->counts.longest_copy = s->stack_user.n;
	/* No user ip: a kernel thread, or a task without user registers. */
	if (!*ip) {
		t->counts.kernel_only++;
		result->kind = WALK_RESULT_NO_STACK;
		return 0;
	}
	if (!s->stack_user_size) {
		t->counts.walks.unusable++;
		result->kind = WALK_RESULT_NO_REGISTERS;
		return 1;
	}
	/* There is time, else the sample is kept with its ip alone. */
	if (!walk_is_over(t->walk))
		return walker_unwind(t, item, s, misc, user, result);
	t->counts.in_exec += item->after_exec;
	t->counts.not_unwound += !item->after_exec;
	result->kind = item->after_exec ? WALK_RESULT_IN_EXEC : WALK_RESULT_LATE;
	return !item->after_exec;
}

/* Walks one sample and writes its final record into the thread's buffer. A chain that makes the
 * record too long is left out, and the sample says so. -errno. */
static int walker_sample(struct live_walker *t, struct live_item *item)
{
	struct walk_result result = { 0 };
	struct seam_record record;
	struct seam_decoded d;
	const struct seam_attr *attr;
	const uint64_t *user;
	uint64_t ip;
	int r;

	if (!record_at(item->bytes, item->size, &record))
		return -EINVAL;
	r = record_decode(t->walk->in, &record, &d, NULL);
	if (r < 0)
		return r;
	t->counts.samples++;
	ip = walked_sample_user_ip(t->walk->machine, &d.sample);
	r = walker_user(t, item, &d.sample, record.misc, &ip, &user, &result);
	if (r < 0)
		return r;
	attr = &seam_events_at(t->walk->out, d.event->index)->attr;
	item->thread = t->index;
	/* The place in the thread's buffer: the writer puts results together in the order of
	 * items. */
	item->result_at = t->out.n;
	r = walked_sample_put(&t->out, &t->chain, attr, walk_result_put(attr, record.misc, &result),
	                      &d.sample, user, (size_t)r);
	if (r == -E2BIG) {
		t->counts.too_long++;
		result.kind = WALK_RESULT_TOO_LONG;
		r = walked_sample_put(&t->out, &t->chain, attr,
		                      walk_result_put(attr, record.misc, &result), &d.sample, &ip,
		                      1);
	}
	item->result_n = (uint32_t)(t->out.n - item->result_at);
	return r;
}

/* -- a round -- */

/* Walks what nobody has taken yet, until nothing is left. */
static void walker_work(struct live_walker *t)
{
	struct live_walk *w = t->walk;

	while (!t->failed) {
		/* A counter that all threads draw from: no lock, and nobody waits for a slow walk
		 * of another. */
		size_t at = __atomic_fetch_add(&w->next, CLAIM, __ATOMIC_RELAXED);
		size_t end = at + CLAIM < w->n ? at + CLAIM : w->n;

		if (at >= w->n)
			break;
		for (; at < end && !t->failed; at++)
			if (w->items[at].kind == LIVE_WALK)
				t->failed = walker_sample(t, &w->items[at]);
	}
}

/* A walker's thread: waits for a round, takes its part of the work, and says when it is done. */
static void *walker_run(void *arg)
{
	struct live_walker *t = arg;
	struct live_walk *w = t->walk;
	uint64_t round = 0;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		/* Rounds are counted, so that a thread that was late does not miss one. */
		while (w->round == round && !w->stop)
			pthread_cond_wait(&w->begin, &w->lock);
		if (w->stop)
			break;
		round = w->round;
		pthread_mutex_unlock(&w->lock);
		walker_work(t);
		pthread_mutex_lock(&w->lock);
		if (!--w->busy)
			pthread_cond_signal(&w->done);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Without a build-id a file is known by its inode, and by when it was written when it was
 * mapped. */
static int walk_note_file(struct live_walk *w, const struct seam_record *record,
                          const struct seam_decoded *d)
{
	const struct seam_mmap *m = &d->mmap;

	if (record->type != SEAM_RECORD_MMAP2 || m->has_build_id || !m->ino ||
	    m->filename[0] != '/' || (m->has_prot && !(m->prot & PROT_EXEC)))
		return 0;
	return tables_mapped(w->tables, m->filename, m->ino);
}

/* Learns what changes mappings; gives each sample the space of its process at that moment. */
static int walk_learn(struct live_walk *w, struct live_item *item)
{
	struct seam_record record;
	struct seam_decoded d;
	int r = 0;

	if (item->kind != LIVE_LEARN && item->kind != LIVE_WALK)
		return 0;
	if (!record_at(item->bytes, item->size, &record) ||
	    record_decode(w->in, &record, &d, NULL) < 0)
		return 0; /* no mapping could be learned from it */
	if (item->kind == LIVE_LEARN) {
		r = proc_learn(w->procs, &d);
		/* From the exec's COMM until the first sample in user mode, samples may be of the
		 * middle of an exec. */
		if (r >= 0 && record.type == SEAM_RECORD_COMM && d.comm.exec)
			r = map_put(&w->after_exec, d.comm.pid, 1);
		if (r >= 0)
			r = walk_note_file(w, &record, &d);
		/* The leader's exit: the pid may be used again. */
		if (record.type == SEAM_RECORD_EXIT && d.task.pid == d.task.tid)
			map_del(&w->after_exec, d.task.pid);
		return r < 0 ? r : 0;
	}
	/* It runs in user mode, so that the exec is over. */
	if ((record.misc & SEAM_MISC_CPUMODE_MASK) == SEAM_MISC_USER)
		map_del(&w->after_exec, d.id.pid);
	item->after_exec = map_get(&w->after_exec, d.id.pid, NULL);
	/* The space is held by its number, also when later records of the round change the
	 * mappings. */
	item->space = proc_space_hold(w->procs, d.id.pid);
	return 1;
}

/* Walks all samples of a round, by this thread or by all; returns when the last one is done. */
static void walk_all(struct live_walk *w, struct live_item *items, size_t n, bool share)
{
	w->items = items;
	w->n = n;
	w->next = 0;
	if (!share) {
		walker_work(&w->walkers[0]);
		return;
	}
	pthread_mutex_lock(&w->lock);
	/* Everyone but this thread, which works as walker 0. */
	w->busy = w->n_walkers - 1;
	w->round++;
	pthread_cond_broadcast(&w->begin);
	pthread_mutex_unlock(&w->lock);
	walker_work(&w->walkers[0]);
	pthread_mutex_lock(&w->lock);
	while (w->busy)
		pthread_cond_wait(&w->done, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

/* Learns all records first, in order of time, so that walking changes nothing that another thread
 * reads. -errno. */
int live_walk_round(struct live_walk *w, struct live_item *items, size_t n, struct buf *out)
{
	size_t samples = 0;
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		r = walk_learn(w, &items[i]);
		samples += r > 0;
	}
	if (r < 0)
		return r;
	/* Waking threads costs more than a few walks. */
	walk_all(w, items, n, w->n_walkers > 1 && samples >= SHARE_LEAST);
	for (unsigned i = 0; i < w->n_walkers && r >= 0; i++)
		r = w->walkers[i].failed;
	/* Results lie in the threads' buffers, other records in their batches: here they are one
	 * sequence again. */
	for (size_t i = 0; i < n && r >= 0; i++) {
		const struct live_item *item = &items[i];

		if (item->kind == LIVE_WALK)
			buf_put(out, w->walkers[item->thread].out.bytes + item->result_at,
			        item->result_n);
		else
			buf_put(out, item->bytes, item->size);
	}
	for (unsigned i = 0; i < w->n_walkers; i++)
		buf_clear(&w->walkers[i].out);
	/* Only here nothing is being walked, so that tables may be replaced. */
	if (r >= 0 && !out->failed)
		r = live_renew(w);
	return r < 0 ? r : out->failed ? -ENOMEM : 0;
}

/* Any thread may call these two; the walkers look before each sample. */
void live_walk_end_by(struct live_walk *w, uint64_t end_ns)
{
	__atomic_store_n(&w->end_ns, end_ns, __ATOMIC_RELAXED);
}

void live_walk_hurry(struct live_walk *w)
{
	__atomic_store_n(&w->hurry, true, __ATOMIC_RELAXED);
}

/* Makes the table of one more object. False: there are no more. */
bool live_walk_prepare(struct live_walk *w)
{
	const struct proc_object *object = proc_object_at(w->procs, w->prepared);
	const struct tables_object *ignored;
	struct image_build_id id;

	if (!object)
		return false;
	w->prepared++;
	id.size = object->build_id_size;
	memcpy(id.bytes, object->build_id, sizeof(id.bytes));
	if (object->kind == PROC_KIND_FILE)
		tables_get_inode(w->tables, object->path, &id, object->inode, &ignored);
	return true;
}

/* -- life -- */

/* Each walker has two unwinders: samples inside of an exec are walked apart, because their counts
 * are used only if the walk is whole. */
static int walk_start(struct live_walk *w, struct live_walker *t)
{
	int r = live_renew_unwound(w, w->procs, w->tables, &t->unwound);

	if (r >= 0)
		r = live_renew_unwound(w, w->procs, w->tables, &t->in_exec);
	t->walk = w;
	t->index = (uint32_t)(t - w->walkers);
	if (r < 0 || !t->index) /* the first is whoever calls live_walk_round */
		return r;
	r = thread_start(&t->thread, walker_run, t);
	t->started = r >= 0;
	return r;
}

/* live_walk_destroy must be called also after a failure. */
int live_walk_init(struct live_walk *w, const struct live_opts *opts, const struct seam_events *out)
{
	/* live: mappings are looked at as of now, so that no history is kept. */
	struct proc_opts live = { .sz = sizeof(live), .live = true };
	unsigned threads = opts->threads ? opts->threads : 1;
	int r;

	*w = (struct live_walk){ .in = opts->events,
		                 .out = out,
		                 .machine = opts->machine,
		                 .tables_opts = opts->tables };
	w->renew_least = opts->renew_bytes ? opts->renew_bytes : LIVE_RENEW_BYTES;
	w->renew_at = w->renew_least;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->begin, NULL);
	pthread_cond_init(&w->done, NULL);
	r = proc_new(&w->procs, &live);
	if (r >= 0)
		r = tables_new(&w->tables, &opts->tables);
	if (r >= 0)
		r = kernel_trap_new(&w->trap, NULL, true, NULL, NULL);
	while (r >= 0 && w->n_walkers < threads && w->n_walkers < LIVE_THREADS_MAX)
		r = walk_start(w, &w->walkers[w->n_walkers++]);
	return r;
}

/* Ends the threads and frees all tables. No round may be running. */
void live_walk_destroy(struct live_walk *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->begin);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->n_walkers; i++) {
		struct live_walker *t = &w->walkers[i];

		if (t->started)
			pthread_join(t->thread, NULL);
		unwound_free(t->unwound);
		unwound_free(t->in_exec);
		buf_free(&t->out);
		buf_free(&t->chain);
		buf_free(&t->user);
	}
	map_free(&w->after_exec);
	live_missing_free(&w->missing);
	tables_free(w->tables);
	kernel_trap_free(w->trap);
	proc_free(w->procs);
	pthread_cond_destroy(&w->begin);
	pthread_cond_destroy(&w->done);
	pthread_mutex_destroy(&w->lock);
}

/* Adds to what *ret holds. Counts of state that was renewed away are in tables_before and in the
 * walkers' own counts. */
void live_walk_count(const struct live_walk *w, struct live_counts *ret)
{
	for (unsigned i = 0; i < w->n_walkers; i++) {
		const struct live_counts *c = &w->walkers[i].counts;

		ret->samples += c->samples;
		ret->kernel_only += c->kernel_only;
		ret->not_unwound += c->not_unwound;
		ret->in_exec += c->in_exec;
		ret->unreadable += c->unreadable;
		ret->too_long += c->too_long;
		if (c->longest_copy > ret->longest_copy)
			ret->longest_copy = c->longest_copy;
		unwound_add_counts(&ret->walks, &c->walks);
		unwound_add_counts(&ret->walks, unwound_count(w->walkers[i].unwound));
	}
	tables_count(w->tables, &ret->tables);
	ret->tables.built += w->tables_before.built;
	ret->tables.from_cache += w->tables_before.from_cache;
	ret->tables.without += w->tables_before.without;
	ret->tables.skipped_functions += w->tables_before.skipped_functions;
	ret->process_bytes = w->process_bytes;
	ret->renewals = w->renewals;
}
