// SPDX-License-Identifier: MIT
// load.c: see load.h. Knows how samples are dealt out to threads; counting is stacks.c's, naming
// and building is load_build.c's.
#include "aggregate/load.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "abi/members.h"
#include "base/cpus.h"
#include "profile/origin.h"
#include "resolve/kernel_prefetch.h"
#include "samples/batch.h"
#include "aggregate/load_build.h"
#include "aggregate/load_number.h"
#include "aggregate/load_notes.h"
#include "aggregate/load_walk_result.h"
#include "samples/hit.h"
#include "samples/stacks.h"

#define THREADS_MAX LOAD_TABLES_MAX
#define RUNS_PER_THREAD 4u /* less work than this per thread is not worth starting one */

struct load_work {
	struct recording *rec;
	const struct load_opts *opts;
	struct load_cgroups cgroups; /* where they are kept */
	atomic_size_t next_run;
	atomic_int failed; /* a negative errno, or 0 */
};

struct load_worker {
	struct load_work *work;
	pthread_t thread;
	bool started;
	struct stacks stacks;
	struct unwound *unwound; /* NULL: no sample has a stack copy */
	struct load_walk_result result;
	struct members members; /* of one worker only: see load_thread_count */
	struct seam_stitch_counts counts;
	uint64_t taken, not_taken;
	uint64_t first_ns, last_ns; /* of those taken; last_ns 0: none with a time */
	struct batch batch;
};

/* ---- counting, in threads ---- */

static bool load_takes(struct load_worker *w, const struct seam_stitched *sample, const char *comm)
{
	const struct load_opts *opts = w->work->opts;

	if (opts->take && !opts->take(opts->take_ctx, sample, comm)) {
		w->not_taken++;
		return false;
	}
	w->taken++;
	if (sample->sample.id.has & SEAM_SAMPLE_TIME) {
		uint64_t time_ns = sample->sample.id.time_ns;

		if (!w->last_ns || time_ns < w->first_ns)
			w->first_ns = time_ns;
		if (time_ns > w->last_ns)
			w->last_ns = time_ns;
	}
	return true;
}

/* Do the words of both its parts last? */
static bool load_lasts(const struct batch_item *item)
{
	return item->record.stable && !item->walk && !item->called;
}

/* A sample that reads a group: one of each member that has a share in it. A member's counter is
 * followed also where its samples are not taken. */
static int load_members(struct load_worker *w, struct stacks_key *key,
                        const struct batch_item *item)
{
	struct seam_stitched sample = item->sample;
	struct callchain chain;
	struct member member;
	uint64_t i = 0;
	int r;

	while ((r = members_next(&w->members, w->work->rec->events, &item->sample.sample, &i,
	                         &member)) > 0) {
		sample.sample.event = member.event;
		sample.sample.id.id = member.id;
		sample.sample.period = member.period;
		key->event = member.event->index;
		chain = callchain_of(&sample);
		if (load_takes(w, &sample, key->comm))
			r = stacks_add(&w->stacks, key, &chain, member.period, load_lasts(item),
			               item->proc_ns);
		if (r < 0)
			break;
	}
	return r;
}

static bool load_take(void *ctx, struct batch_item *item)
{
	struct load_worker *w = ctx;
	const struct seam_id *id = &item->decoded.id;

	item->comm = proc_recall_comm(&w->batch.recall, w->work->rec->procs, id->pid, id->tid,
	                              item->proc_ns);
	return members_of(&item->sample.sample) || load_takes(w, &item->sample, item->comm);
}

static int load_sample(void *ctx, const struct batch_item *item)
{
	const struct callchain chain = callchain_of(&item->sample);
	struct load_worker *w = ctx;
	struct stacks_key key;
	int r;

	load_key(&key, w->work->rec, w->work->opts, &item->decoded.id, item->comm,
	         item->decoded.sample.event->index);
	if (w->work->opts->keep & PROFILE_KEEP_CGROUP)
		key.number[LOAD_NUMBER_CGROUP] =
		        load_cgroups_of(&w->work->cgroups, &item->sample.sample);
	key.state = (uint16_t)item->sample.state;
	key.by_tables = walk_result_by_tables(&chain);
	key.user_first = hit_user_first(&item->sample.kernel, item->sample.misc);
	key.user_space = item->user_space;
	key.kernel_space = item->kernel_space;
	r = load_walk_result_add(&w->result, w->work->rec, key.user_space, &chain);
	if (r < 0)
		return r;
	if (members_of(&item->sample.sample))
		return load_members(w, &key, item);
	return stacks_add(&w->stacks, &key, &chain, item->sample.sample.period, load_lasts(item),
	                  item->proc_ns);
}

static void load_run(struct load_worker *w, const struct recording_run *run)
{
	struct seam_record record;
	size_t at = 0;
	uint32_t i = 0;
	int r = 0;

	while (r >= 0 && recording_run_next(run, &at, &i, &record))
		if (record.type == SEAM_RECORD_SAMPLE)
			r = batch_add(&w->batch, &record);
	if (r >= 0)
		r = batch_run(&w->batch);
	if (r < 0)
		atomic_store(&w->work->failed, r);
}

static void *load_thread(void *arg)
{
	struct load_worker *w = arg;
	struct load_work *work = w->work;

	for (;;) {
		size_t i = atomic_fetch_add(&work->next_run, 1);

		if (i >= work->rec->n_runs || atomic_load(&work->failed))
			return NULL;
		load_run(w, &work->rec->runs[i]);
	}
}

/* Counters of groups grow from sample to sample: such a recording is gone through by one thread, in
 * the order of the file, which is that of time for each counter: it belongs to one ring. */
static unsigned load_thread_count(const struct recording *rec, const struct load_opts *opts)
{
	size_t n = opts->threads ? opts->threads : cpus_online();

	if (rec->counts.group_samples)
		return 1;
	if (!opts->threads && n > rec->n_runs / RUNS_PER_THREAD + 1)
		n = rec->n_runs / RUNS_PER_THREAD + 1;
	return n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

/* Its bytes do not last: a batch of one. */
static int load_each_record(void *ctx, const struct seam_record *record)
{
	struct load_worker *w = ctx;
	int r = 0;

	if (record->type == SEAM_RECORD_SAMPLE)
		r = batch_add(&w->batch, record);
	return r < 0 ? r : batch_run(&w->batch);
}

/* The last worker is this thread; one that cannot be started leaves its share to the others. */
static int load_count(struct load_work *work, struct load_worker *workers, unsigned n,
                      struct seam_error *err)
{
	int r;

	if (!work->rec->stable)
		return recording_each(work->rec, load_each_record, &workers[0], err);
	for (unsigned i = 1; i < n; i++)
		workers[i].started =
		        !pthread_create(&workers[i].thread, NULL, load_thread, &workers[i]);
	load_thread(&workers[0]);
	for (unsigned i = 1; i < n; i++)
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
	r = atomic_load(&work->failed);
	return r;
}

/* Counts what the first pass indexed, and takes it over. */
static int load_noted(struct recording *rec, const struct load_opts *opts, struct load_worker *w)
{
	int r;

	rec->index->stacks.keep_samples = opts->keep & PROFILE_KEEP_SAMPLES;
	r = load_notes(rec->index, rec, opts, &w->result, &w->counts);
	w->taken = w->counts.samples;
	w->first_ns = rec->first_ns;
	w->last_ns = rec->last_ns;
	w->stacks = rec->index->stacks;
	rec->index->stacks = (struct stacks){ 0 };
	sample_index_free(rec->index);
	rec->index = NULL;
	return r;
}

/* ---- both ---- */

static void load_add_counts(struct load *load, const struct load_worker *w)
{
	const struct seam_stitch_counts *c = &w->counts;

	load->stitch.samples += c->samples;
	for (size_t i = 0; i < SEAM_STITCH_STATES; i++)
		load->stitch.state[i] += c->state[i];
	load->stitch.deferred_samples += c->deferred_samples;
	load->stitch.duplicate_samples += c->duplicate_samples;
	load->stitch.tid_mismatches += c->tid_mismatches;
	load->stitch.empty_answers += c->empty_answers;
	load->taken += w->taken;
	load->not_taken += w->not_taken;
}

static int load_missing_order(const void *pa, const void *pb)
{
	const struct unwound_missing *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (strcmp(a->reason, b->reason) != 0)
		return strcmp(a->reason, b->reason);
	if (!a->object || !b->object)
		return !b->object - !a->object;
	return a->object->id < b->object->id ? -1 : a->object->id > b->object->id;
}

/* Adds places where walks ended for want of information to load->missing, which has room. */
static void load_add_missing(struct load *load, const struct unwound_missing *m, size_t n)
{
	for (size_t i = 0, to; i < n; i++) {
		for (to = 0; to < load->n_missing; to++)
			if (load->missing[to].object == m[i].object &&
			    load->missing[to].reason == m[i].reason)
				break;
		if (to == load->n_missing)
			load->missing[load->n_missing++] = m[i];
		else
			load->missing[to].samples += m[i].samples;
	}
}

static const struct unwound_missing *load_missing_of(const struct load_worker *w, bool recorded,
                                                     size_t *n)
{
	*n = recorded ? w->result.missing.n / sizeof(struct unwound_missing) : 0;
	if (recorded)
		return (const struct unwound_missing *)(const void *)w->result.missing.bytes;
	return w->unwound ? unwound_missing(w->unwound, n) : NULL;
}

/* Adds up how walks ended, here and while recording, and which objects ended them. */
static int load_add_unwound(struct load *load, const struct load_worker *workers, unsigned n)
{
	size_t most = 0, got;

	for (unsigned i = 0; i < n; i++) {
		if (workers[i].unwound)
			unwound_add_counts(&load->unwound, unwound_count(workers[i].unwound));
		walk_result_add(&load->recorded, &workers[i].result.counts);
		for (int recorded = 0; recorded < 2; recorded++) {
			load_missing_of(&workers[i], recorded, &got);
			most += got;
		}
	}
	load->missing = calloc(most + 1, sizeof(*load->missing));
	if (!load->missing)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		for (int recorded = 0; recorded < 2; recorded++) {
			const struct unwound_missing *m =
			        load_missing_of(&workers[i], recorded, &got);

			load_add_missing(load, m, got);
		}
	}
	qsort(load->missing, load->n_missing, sizeof(*load->missing), load_missing_order);
	return 0;
}

/* When the samples were taken, and by the clocks that the recording was given, since when. */
static void load_times(struct profile *p, const struct recording *rec,
                       const struct load_worker *workers, unsigned n)
{
	struct origin times = { .epoch_ns = recording_epoch(rec) };

	for (unsigned i = 0; i < n; i++) {
		times.first_ns = workers[i].first_ns;
		times.last_ns = workers[i].last_ns;
		origin_add_times(profile_origin(p), &times);
	}
}

static int load_finish(struct load *load, struct resolver *resolver, const struct load_opts *opts,
                       struct kernel_prefetch *prefetch, struct load_worker *workers, unsigned n)
{
	const struct recording *rec = resolver_recording(resolver);
	const struct stacks *stacks[THREADS_MAX];
	struct profile_counts *counts;
	int r;

	load->stitch.sz = sizeof(load->stitch);
	r = seam_stitch_counts(rec->stitch, &load->stitch);
	for (unsigned i = 0; i < n; i++) {
		load_add_counts(load, &workers[i]);
		if (r >= 0)
			r = stacks_settle(&workers[i].stacks);
		stacks[i] = &workers[i].stacks;
	}
	if (r >= 0)
		r = load_add_unwound(load, workers, n);
	if (r >= 0)
		r = load_build(load, resolver, opts, &workers[0].work->cgroups, prefetch, stacks,
		               n);
	if (r < 0)
		return r;
	load_times(load->profile, rec, workers, n);
	counts = profile_counts(load->profile);
	counts->lost = rec->counts.lost;
	counts->lost_samples = rec->counts.lost_samples;
	counts->duplicate_samples = load->stitch.duplicate_samples;
	counts->undecoded = rec->counts.undecoded_samples;
	return 0;
}

/* One walker per thread over shared tables, if there is anything to walk. */
static int load_unwound(struct load_worker *workers, unsigned n, struct recording *rec,
                        const struct load_opts *opts, struct tables **tables)
{
	struct tables_opts by_symbols = {
		.sz = sizeof(by_symbols),
		.helpers = (opts->threads ? opts->threads : cpus_online()) - 1
	};
	struct unwound_opts o = { .sz = sizeof(o) };
	int r;

	if (!unwound_opts_of(rec, &o))
		return 0;
	if (opts->symbols) {
		by_symbols.search = opts->symbols->search;
		by_symbols.map_dir = opts->symbols->map_dir;
	}
	r = unwound_tables(rec, opts->tables ? opts->tables : &by_symbols, tables);
	o.tables = *tables;
	for (unsigned i = 0; i < n && r >= 0; i++)
		r = unwound_new(&workers[i].unwound, &o);
	return r;
}

int load_recording(struct load *ret, struct recording *rec, const struct load_opts *opts,
                   struct seam_error *err)
{
	struct load_work work = { .rec = rec, .opts = opts };
	/* The index does not know control groups. */
	bool noted = rec->index && !opts->take && !(opts->keep & PROFILE_KEEP_CGROUP);
	unsigned n = noted ? 1 : load_thread_count(rec, opts);
	struct load_worker *workers = calloc(n, sizeof(*workers)); /* large: not on the stack */
	struct seam_error why = { 0 };
	struct resolver *resolver = NULL;
	struct load load = { 0 };
	struct kernel_prefetch prefetch = { 0 };
	int r;

	if (!workers)
		return seam_error_set(err, ENOMEM, NULL, SEAM_NO_OFFSET, NULL, "out of memory");
	for (unsigned i = 0; i < n; i++) {
		workers[i].work = &work;
		workers[i].counts.sz = sizeof(workers[i].counts);
		workers[i].stacks.keep_samples = opts->keep & PROFILE_KEEP_SAMPLES;
	}
	r = opts->keep & PROFILE_KEEP_CGROUP ? load_cgroups_learn(&work.cgroups, rec) : 0;
	if (r >= 0)
		r = resolver_new(&resolver, rec, opts->symbols);
	if (r >= 0)
		kernel_prefetch_start(&prefetch, resolver, opts->threads);
	if (r >= 0 && !noted)
		r = load_unwound(workers, n, rec, opts, &load.tables);
	for (unsigned i = 0; i < n; i++)
		workers[i].batch = (struct batch){ .rec = rec,
			                           .unwound = workers[i].unwound,
			                           .counts = &workers[i].counts,
			                           .take = load_take,
			                           .each = load_sample,
			                           .ctx = &workers[i] };
	if (r >= 0)
		r = noted ? load_noted(rec, opts, &workers[0])
		          : load_count(&work, workers, n, &why);
	if (r >= 0)
		r = load_finish(&load, resolver, opts, &prefetch, workers, n);
	kernel_prefetch_end(&prefetch);
	if (resolver)
		load.symbols = resolver_take_symbols(resolver);
	resolver_free(resolver);
	for (unsigned i = 0; i < n; i++) {
		stacks_free(&workers[i].stacks);
		unwound_free(workers[i].unwound);
		buf_free(&workers[i].result.missing);
		members_free(&workers[i].members);
	}
	free(workers);
	load_cgroups_free(&work.cgroups);
	if (r < 0) {
		load_free(&load);
		if (why.code && err)
			*err = why;
		else
			seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL, "%s", strerror(-r));
		return r;
	}
	*ret = load;
	return 0;
}

void load_free(struct load *load)
{
	profile_free(load->profile);
	symbol_free(load->symbols);
	free(load->unnamed);
	for (size_t i = 0; i < load->n_partial; i++)
		free(load->partial[i].object);
	free(load->partial);
	free(load->missing);
	tables_free(load->tables);
	*load = (struct load){ 0 };
}
