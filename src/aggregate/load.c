// SPDX-License-Identifier: MIT
/*
 * load.c: see load.h. Knows how samples are dealt out to threads; counting is stacks.c's, naming
 * and building is load_build.c's.
 *
 * Each thread counts samples by stack, as addresses of an address space, into tables of its own.
 * Nothing is named there. When all are counted, one thread takes the tables together and names
 * every distinct stack once: a recording has far fewer of them than samples.
 *
 * Invariant: what the profile holds is the same for any number of threads, but for the length of
 * slices where load_opts.rows_most has it found.
 */
#include "aggregate/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "profile/origin.h"
#include "resolve/kernel_prefetch.h"
#include "resolve/object_prefetch.h"
#include "aggregate/load_ahead.h"
#include "aggregate/load_build.h"
#include "aggregate/load_count.h"
#include "aggregate/load_slices.h"
#include "samples/hit.h"
#include "samples/sample_index.h"
#include "samples/stacks.h"

#define AHEAD_FROM 2048u /* parts of stacks: fewer are not worth a thread */

_Static_assert(SAMPLES_THREADS_MAX <= LOAD_TABLES_MAX, "a table for each thread");

/* One call of load_recording: counts has one table for each thread, and n of them are in use. */
struct load_work {
	struct recording *rec;
	const struct load_opts *opts;
	struct load_cgroups cgroups; /* where they are kept */
	struct object_prefetch objects;
	struct load_builder *builder; /* from the beginning, where ahead has a thread; else later */
	struct stacks_base base;      /* for ahead */
	struct load_ahead ahead;
	unsigned n; /* threads */
	struct load_count counts[SAMPLES_THREADS_MAX];
};

/* For samples_each: a thread begins. They begin one after the other, so n needs no lock. */
static int load_start(void *ctx, void **ret)
{
	struct load_work *work = ctx;
	struct load_count *count = &work->counts[work->n++];

	*ret = count;
	/* Where several count, there is no CPU left for it. */
	work->counts[0].ahead = work->n == 1 && work->builder ? &work->ahead : NULL;
	count->cgroups = &work->cgroups;
	count->alike.places.met = object_prefetch_met;
	count->alike.places.met_ctx = &work->objects;
	return load_count_start(count, work->rec, work->opts);
}

/* Counts all samples that are taken. *tables: those of walks, load_free's. */
static int load_samples(struct load_work *work, struct tables **tables, struct seam_error *err)
{
	const struct load_opts *opts = work->opts;
	struct tables_opts by_symbols = { .sz = sizeof(by_symbols),
		                          .helpers = cpus_for(opts->threads) - 1 };
	bool copies = opts->frames != LOAD_FRAMES_INNERMOST || work->rec->index->hits_in_copies;
	/* A control group is said by the sample's record. */
	unsigned needs = SAMPLES_CALLS | (copies ? SAMPLES_COPIES : 0) | SAMPLES_MEMBERS |
	                 (opts->keep & PROFILE_KEEP_CGROUP ? SAMPLES_RECORD : 0);
	const struct samples_opts samples = { .sz = sizeof(samples),
		                              .filter = opts->filter,
		                              .needs = needs,
		                              .threads = opts->threads,
		                              .tables = opts->tables ? opts->tables : &by_symbols,
		                              .kept = tables };
	const struct samples_consumer consumer = {
		.start = load_start, .sample = load_count_sample, .end = load_count_end, .ctx = work
	};
	int r;

	if (opts->symbols) {
		by_symbols.search = opts->symbols->search;
		by_symbols.map_dir = opts->symbols->map_dir;
		by_symbols.kallsyms = opts->symbols->kallsyms;
	}
	r = sample_tally_rest(work->rec);
	return r ? (r < 0 ? r : 0) : samples_each(work->rec, &samples, &consumer, err);
}

/* Adds the counts of some samples. */
static void load_add_stitch(struct seam_stitch_counts *to, const struct seam_stitch_counts *c)
{
	to->samples += c->samples;
	for (size_t i = 0; i < SEAM_STITCH_STATES; i++)
		to->state[i] += c->state[i];
	to->deferred_samples += c->deferred_samples;
	to->duplicate_samples += c->duplicate_samples;
	to->tid_mismatches += c->tid_mismatches;
	to->empty_answers += c->empty_answers;
}

/* Adds what one thread counted to what the stitcher itself knows. */
static void load_add_counts(struct load *load, const struct load_count *w)
{
	load_add_stitch(&load->stitch, &w->counts.stitch);
	load->taken += w->counts.taken;
	load->not_taken += w->counts.not_taken;
}

/* The most samples first; then an order that does not depend on threads. */
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

/* Where walks ended without information: those of this run, or those that the recorder made. */
static const struct unwound_missing *load_missing_of(const struct load_count *w, bool recorded,
                                                     size_t *n)
{
	const struct buf *missing = recorded ? &w->result.missing : &w->missing;

	*n = missing->n / sizeof(struct unwound_missing);
	return (const struct unwound_missing *)(const void *)missing->bytes;
}

/* Adds up how walks ended, here and while recording, and which objects ended them. */
static int load_add_unwound(struct load *load, const struct load_count *workers, unsigned n)
{
	size_t most = 0, got;

	for (unsigned i = 0; i < n; i++) {
		unwound_add_counts(&load->unwound, &workers[i].unwound);
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

/* Fills when the samples were taken, and what the recording says of its clocks. */
static void load_times(struct profile *p, const struct recording *rec,
                       const struct load_count *workers, unsigned n)
{
	struct origin times = { .epoch_ns = recording_epoch(rec) };

	for (unsigned i = 0; i < n; i++) {
		times.first_ns = workers[i].counts.first_ns;
		times.last_ns = workers[i].counts.last_ns;
		origin_add_times(profile_origin(p), &times);
	}
}

/* Adds what was counted without samples_each. */
static void load_add_tally(struct load *load, const struct sample_tally *t)
{
	load_add_stitch(&load->stitch, &t->counts);
	load->taken += t->counts.samples;
	walk_result_add(&load->recorded, &t->recorded);
}

/* Gives all workers the longest slices that one of them has. -ENOMEM. */
static int load_same_slices(struct load_count *workers, unsigned n)
{
	uint64_t longest = 0;
	int r = 0;

	for (unsigned i = 0; i < n; i++)
		if (workers[i].slices.quantum_ns > longest)
			longest = workers[i].slices.quantum_ns;
	for (unsigned i = 0; i < n; i++)
		while (r >= 0 && workers[i].slices.quantum_ns < longest)
			r = load_slices_double(&workers[i].stacks, &workers[i].slices);
	return r;
}

static uint64_t load_stacks(const struct load_table *tables, unsigned n)
{
	uint64_t stacks = 0;

	for (unsigned w = 0; w < n; w++)
		stacks += tables[w].stacks->n;
	return stacks;
}

/* Where many callchains will be named, a thread begins with it while samples are counted. */
static int load_begin_ahead(struct load *load, struct resolver *resolver, struct load_work *work)
{
	const struct load_opts *opts = work->opts;
	const struct sample_index *index = work->rec->index;
	const uint64_t parts = index->stacks.parts[0].n + stitch_chains(work->rec->stitch);
	int r;

	if (cpus_for(opts->threads) == 1 || opts->max_stack || opts->frames != LOAD_FRAMES_ALL ||
	    parts < AHEAD_FROM)
		return 0;
	r = load_build_start(&work->builder, load, resolver, opts, &work->cgroups, parts);
	if (r >= 0)
		r = stacks_base_of(&work->base, &index->stacks, work->rec->stitch);
	if (r >= 0)
		r = load_ahead_start(&work->ahead, work->builder, &work->base, work->rec->events);
	return r;
}

/* Adds up what the workers counted and makes the profile of it: stacks are named here, once
 * each. */
static int load_finish(struct load *load, struct resolver *resolver, struct load_work *work,
                       struct kernel_prefetch *prefetch)
{
	const struct recording *rec = resolver_recording(resolver);
	const struct load_opts *opts = work->opts;
	struct load_count *workers = work->counts;
	const unsigned n = work->n;
	struct load_table tables[SAMPLES_THREADS_MAX];
	struct profile_counts *counts;
	int r;

	load->stitch.sz = sizeof(load->stitch);
	r = seam_stitch_counts(rec->stitch, &load->stitch);
	for (unsigned i = 0; i < n; i++) {
		load_add_counts(load, &workers[i]);
		tables[i] = (struct load_table){ &workers[i].stacks, &workers[i].alike };
	}
	load_add_tally(load, &rec->index->tally);
	if (r >= 0)
		r = load_same_slices(workers, n);
	if (r >= 0)
		r = load_add_unwound(load, workers, n);
	if (r >= 0 && !work->builder)
		r = load_build_start(&work->builder, load, resolver, opts, &work->cgroups,
		                     load_stacks(tables, n));
	if (r >= 0)
		r = load_build(work->builder, prefetch, tables, n);
	if (r < 0)
		return r;
	if (opts->keep & PROFILE_KEEP_SLICE)
		profile_set_slices(load->profile, &workers[0].slices);
	load_times(load->profile, rec, workers, n);
	memcpy(load->ends, rec->counts.ends, sizeof(load->ends));
	load->guessed = rec->counts.guessed;
	memcpy(load->runtime_ends, rec->counts.runtime_ends, sizeof(load->runtime_ends));
	load->damaged = recording_damaged(rec);
	counts = profile_counts(load->profile);
	counts->lost = rec->counts.lost;
	counts->lost_samples = rec->counts.lost_samples;
	counts->lost_beside = rec->counts.lost_beside;
	counts->skipped_samples = rec->counts.skipped_samples;
	counts->lost_tasks = rec->counts.lost_tasks;
	counts->duplicate_samples = load->stitch.duplicate_samples;
	counts->undecoded = rec->counts.undecoded_samples;
	return 0;
}

/* Counting runs in threads, naming in one. *ret is filled only on success; load_free frees it. */
int load_recording(struct load *ret, struct recording *rec, const struct load_opts *opts,
                   struct seam_error *err)
{
	struct load_work *work = calloc(1, sizeof(*work)); /* large: not on the stack */
	struct seam_error why = { 0 };
	struct resolver *resolver = NULL;
	struct load load = { 0 };
	struct kernel_prefetch prefetch = { 0 };
	int r, ahead;

	if (!work)
		return seam_error_set(err, ENOMEM, NULL, SEAM_NO_OFFSET, NULL, "out of memory");
	work->rec = rec;
	work->opts = opts;
	r = opts->keep & PROFILE_KEEP_CGROUP ? load_cgroups_learn(&work->cgroups, rec) : 0;
	if (r >= 0)
		r = resolver_new(&resolver, rec, opts->symbols);
	if (r >= 0 && opts->frames != LOAD_FRAMES_NONE)
		kernel_prefetch_start(&prefetch, resolver, opts->threads);
	if (r >= 0 && opts->frames != LOAD_FRAMES_NONE && opts->early)
		object_prefetch_start(&work->objects, resolver, opts->threads);
	if (r >= 0)
		r = load_begin_ahead(&load, resolver, work);
	if (r >= 0)
		r = load_samples(work, &load.tables, &why);
	ahead = load_ahead_end(&work->ahead);
	if (r >= 0)
		r = ahead;
	if (r >= 0)
		r = load_finish(&load, resolver, work, &prefetch);
	load_build_free(work->builder);
	kernel_prefetch_end(&prefetch);
	object_prefetch_end(&work->objects);
	if (resolver)
		load.symbols = resolver_take_symbols(resolver);
	resolver_free(resolver);
	for (unsigned i = 0; i < work->n; i++)
		load_count_free(&work->counts[i]);
	load_cgroups_free(&work->cgroups);
	free(work);
	if (r < 0) {
		load_free(&load);
		if (why.code && err)
			*err = why;
		else
			seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL, "%s", strerror(-r));
		return r;
	}
	load.frames = opts->frames;
	*ret = load;
	return 0;
}

/* Also for a load that was never filled. */
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
