// SPDX-License-Identifier: MIT
// load.c: see load.h. Knows how samples are dealt out to threads and how their sums become a
// profile; counting is stacks.c's, naming is places.c's.
#include "pipeline/load.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/places.h"
#include "pipeline/stacks.h"

#define THREADS_MAX 16u
#define RUNS_PER_THREAD 4u /* less work than this per thread is not worth starting one */

struct load_work {
	struct recording *rec;
	const struct load_opts *opts;
	atomic_size_t next_run;
	atomic_int failed; /* a negative errno, or 0 */
};

struct load_worker {
	struct load_work *work;
	pthread_t thread;
	bool started;
	struct stacks stacks;
	struct unwound *unwound; /* NULL: no sample has a stack copy */
	struct seam_stitch_counts counts;
	uint64_t taken, not_taken;
};

/* ---- counting, in threads ---- */

static int load_sample(struct load_worker *w, const struct seam_record *record)
{
	const struct recording *rec = w->work->rec;
	const struct load_opts *opts = w->work->opts;
	struct seam_stitched sample;
	struct seam_decoded d;
	struct stacks_key key = { 0 };
	uint64_t time_ns;
	int r;

	if (record->type != SEAM_RECORD_SAMPLE)
		return 0;
	r = seam_record_decode(rec->events, record, &d, NULL);
	if (r < 0) /* counted in the first pass */
		return r == -ENOMEM ? r : 0;
	r = seam_stitch_resolve(rec->stitch, &d, &w->counts, &sample);
	if (r <= 0)
		return r;
	time_ns = proc_time(&d);
	key.comm = proc_comm(rec->procs, d.id.pid, d.id.tid, time_ns);
	if (opts->take && !opts->take(opts->take_ctx, &sample, key.comm)) {
		w->not_taken++;
		return 0;
	}
	w->taken++;
	key.event = d.sample.event->index;
	key.pid = opts->keep & PROFILE_KEEP_PID ? d.id.pid : PROFILE_NOT_KEPT;
	/* A nameless thread is shown by its tid, which is then part of its name. */
	key.tid = opts->keep & PROFILE_KEEP_TID || !key.comm ? d.id.tid : PROFILE_NOT_KEPT;
	key.cpu = opts->keep & PROFILE_KEEP_CPU && d.id.has & SEAM_SAMPLE_CPU ? d.id.cpu
	                                                                      : PROFILE_NOT_KEPT;
	key.state = sample.state;
	recording_spaces(rec, &sample, time_ns, &key.user_space, &key.kernel_space);
	r = w->unwound ? unwound_sample(w->unwound, key.user_space, &sample) : 0;
	return r < 0 ? r : stacks_add(&w->stacks, &key, &sample, record->stable && !r, time_ns);
}

static void load_run(struct load_worker *w, const struct recording_run *run)
{
	struct seam_record record;
	size_t at = 0;
	uint32_t i = 0;
	int r = 0;

	while (r >= 0 && recording_run_next(run, &at, &i, &record))
		r = load_sample(w, &record);
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

static unsigned load_thread_count(const struct recording *rec, const struct load_opts *opts)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = opts->threads ? opts->threads : cpus > 0 ? (size_t)cpus : 1;

	if (!opts->threads && n > rec->n_runs / RUNS_PER_THREAD + 1)
		n = rec->n_runs / RUNS_PER_THREAD + 1;
	return n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

static int load_each_record(void *ctx, const struct seam_record *record)
{
	return load_sample(ctx, record);
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

/* ---- naming, once per distinct stack ---- */

struct load_builder {
	struct load *load;
	const struct load_opts *opts;
	struct recording *rec;
	struct places *places;
	struct profile *profile;
	uint32_t *events; /* event index -> profile's event */
	uint32_t *frames; /* of one stack, innermost first */
	size_t frames_capacity;
	struct load_object { /* by the profile's object */
		struct symbol_object *object;
		enum symbol_state state;
		uint64_t samples, last; /* last: number of the entry counted last */
	} * objects;
	size_t n_objects;
};

/* A frame without a name stands in places' slot with this bit beside its id. */
#define UNNAMED (1ULL << 32)

static int load_object_note(struct load_builder *b, uint32_t id, const struct place *place)
{
	if (id >= b->n_objects) {
		size_t n = (size_t)id * 2 + 16;
		struct load_object *objects = realloc(b->objects, n * sizeof(*objects));

		if (!objects)
			return -ENOMEM;
		memset(objects + b->n_objects, 0, (n - b->n_objects) * sizeof(*objects));
		b->objects = objects;
		b->n_objects = n;
	}
	b->objects[id].object = place->object;
	b->objects[id].state = place->object ? place->symbol.state : SYMBOL_NO_FILE;
	return 0;
}

static uint32_t load_object(struct load_builder *b, const struct place *place)
{
	char hex[IMAGE_BUILD_ID_HEX];
	const struct symbol_key *key;

	if (!place->object)
		return 0;
	key = symbol_object_key(place->object);
	return profile_object(b->profile, symbol_object_name(place->object),
	                      key->build_id.size ? image_build_id_hex(&key->build_id, hex) : NULL);
}

/* A frame not met before: its id and the UNNAMED bit. */
static int load_frame_new(struct load_builder *b, const struct frame_at *at, uint32_t space,
                          uint64_t time_ns, uint64_t *ret)
{
	struct profile_frame f = { .address = at->addr };
	struct place place = { 0 };
	uint32_t id;
	int r = 0;

	if (!at->guest)
		r = places_find(b->places, space, time_ns, at->addr, at->caller, &place);
	if (r < 0)
		return r;
	f.object = load_object(b, &place);
	if (place.mapping) {
		f.address = place.address;
		f.kind = place.kernel ? PROFILE_KERNEL : PROFILE_USER;
	} else if (!at->user && !at->guest) {
		f.kind = PROFILE_KERNEL;
	}
	if (place.symbol.name)
		f.symbol = profile_string(b->profile, place.symbol.name);
	if (f.object == PROFILE_FAILED || f.symbol == PROFILE_FAILED)
		return -ENOMEM;
	id = profile_frame(b->profile, &f);
	if (id == PROFILE_FAILED)
		return -ENOMEM;
	*ret = id;
	if (!f.symbol) {
		*ret |= UNNAMED;
		return load_object_note(b, f.object, &place);
	}
	return 0;
}

static void load_unnamed_note(struct load_builder *b, uint32_t frame, const struct stacks_entry *e,
                              uint64_t serial)
{
	struct load_object *o = &b->objects[profile_frame_at(b->profile, frame)->object];

	if (o->last != serial) {
		o->last = serial;
		o->samples += e->samples;
	}
}

/* The frames of an entry into b->frames. */
static int load_walk(struct load_builder *b, const struct stacks_entry *e, uint64_t serial,
                     size_t *ret)
{
	struct frame_walk walk = { 0 };
	struct frame_at at;
	bool unnamed = false;
	size_t n = 0;

	while (frame_walk_next(&walk, &e->sample, &at)) {
		uint32_t space = at.user ? e->key.user_space : e->key.kernel_space;
		uint64_t *slot;
		int r;

		if (b->opts->max_stack && n >= b->opts->max_stack)
			break;
		if (n == b->frames_capacity) {
			size_t capacity = n ? n * 2 : 1024;
			uint32_t *frames = realloc(b->frames, capacity * sizeof(*frames));

			if (!frames)
				return -ENOMEM;
			b->frames = frames;
			b->frames_capacity = capacity;
		}
		slot = places_slot(b->places, at.guest ? UINT32_MAX : space, at.addr, at.caller);
		if (!slot)
			return -ENOMEM;
		if (!*slot) {
			r = load_frame_new(b, &at, space, e->time_ns, slot);
			if (r < 0)
				return r;
		}
		if (*slot & UNNAMED) {
			load_unnamed_note(b, (uint32_t)*slot, e, serial);
			unnamed = true;
		}
		b->frames[n++] = (uint32_t)*slot;
	}
	if (unnamed)
		b->load->taken_unnamed += e->samples;
	*ret = n;
	return 0;
}

static uint32_t load_task(struct load_builder *b, const struct stacks_key *key)
{
	char name[16] = ":-1";
	uint32_t comm, tid = b->opts->keep & PROFILE_KEEP_TID ? key->tid : PROFILE_NOT_KEPT;

	if (!key->comm && key->tid != PROFILE_NOT_KEPT)
		snprintf(name, sizeof(name), ":%u", key->tid);
	comm = profile_string(b->profile, key->comm ? key->comm : name);
	return comm == PROFILE_FAILED ? comm : profile_task(b->profile, comm, key->pid, tid);
}

static int load_entry(struct load_builder *b, const struct stacks_entry *e, uint64_t serial)
{
	struct profile_key key = { .event = b->events[e->key.event],
		                   .task = load_task(b, &e->key),
		                   .cpu = e->key.cpu,
		                   .state = e->key.state,
		                   .node = PROFILE_ROOT };
	size_t n;
	int r = key.task == PROFILE_FAILED ? -ENOMEM : load_walk(b, e, serial, &n);

	if (r < 0)
		return r;
	while (n) {
		key.node = profile_node(b->profile, key.node, b->frames[--n]);
		if (key.node == PROFILE_FAILED)
			return -ENOMEM;
	}
	return profile_add(b->profile, &key, e->samples, e->weight);
}

static int load_unnamed_order(const void *pa, const void *pb)
{
	const struct load_unnamed *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->object, b->object);
}

static int load_list_unnamed(struct load_builder *b)
{
	struct load *load = b->load;

	load->unnamed = calloc(b->n_objects + 1, sizeof(*load->unnamed));
	if (!load->unnamed)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_objects; i++) {
		const struct load_object *o = &b->objects[i];

		if (!o->samples)
			continue;
		load->unnamed[load->n_unnamed++] = (struct load_unnamed){
			.object = o->object ? symbol_object_name(o->object) : SYMBOL_UNKNOWN,
			.reason = o->object ? symbol_object_reason(o->object) : "",
			.state = o->state,
			.samples = o->samples,
		};
	}
	qsort(load->unnamed, load->n_unnamed, sizeof(*load->unnamed), load_unnamed_order);
	return 0;
}

static int load_name_events(struct load_builder *b)
{
	size_t n = seam_events_count(b->rec->events);
	int r = 0;

	b->events = calloc(n + 1, sizeof(*b->events));
	if (!b->events)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *name = seam_events_at(b->rec->events, i)->name;

		b->events[i] = profile_event(b->profile, name ? name : "unnamed");
		if (b->events[i] == PROFILE_FAILED)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < SEAM_STITCH_STATES && r >= 0; i++)
		r = profile_set_state(b->profile, i, seam_stitch_state_name(i),
		                      seam_stitch_state_text(i));
	return r;
}

static int load_build(struct load_builder *b, struct load_worker *workers, unsigned n)
{
	const struct progress *progress = &b->opts->progress;
	uint64_t serial = 0, total = 0;
	int r = load_name_events(b);

	for (unsigned w = 0; w < n; w++)
		total += workers[w].stacks.n;
	for (unsigned w = 0; w < n && r >= 0; w++)
		for (size_t i = 0; i < workers[w].stacks.n && r >= 0; i++) {
			r = load_entry(b, &workers[w].stacks.entries[i], ++serial);
			if (serial % 4096 == 0 && progress->report)
				progress->report(progress->ctx, "naming", serial, total);
		}
	return r < 0 ? r : load_list_unnamed(b);
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
	if (w->unwound)
		unwound_add_counts(&load->unwound, unwound_count(w->unwound));
	load->not_taken += w->not_taken;
}

static int load_finish(struct load *load, struct recording *rec, const struct load_opts *opts,
                       struct load_worker *workers, unsigned n)
{
	struct load_builder b = { .load = load, .opts = opts, .rec = rec };
	struct profile_counts *counts;
	int r;

	load->stitch.sz = sizeof(load->stitch);
	r = seam_stitch_counts(rec->stitch, &load->stitch);
	for (unsigned i = 0; i < n && r >= 0; i++)
		load_add_counts(load, &workers[i]);
	if (r >= 0)
		r = profile_new(&load->profile, opts->keep);
	if (r >= 0)
		r = places_new(&b.places, rec, opts->symbols);
	b.profile = load->profile;
	if (r >= 0)
		r = load_build(&b, workers, n);
	if (b.places)
		load->symbols = places_take_symbols(b.places);
	places_free(b.places);
	free(b.objects);
	free(b.events);
	free(b.frames);
	if (r < 0)
		return r;
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
	struct unwound_opts o = { .sz = sizeof(o) };
	int r;

	if (!unwound_opts_of(rec, &o))
		return 0;
	r = tables_new(tables, opts->tables);
	o.tables = *tables;
	for (unsigned i = 0; i < n && r >= 0; i++)
		r = unwound_new(&workers[i].unwound, &o);
	return r;
}

int load_recording(struct load *ret, struct recording *rec, const struct load_opts *opts,
                   struct seam_error *err)
{
	struct load_work work = { .rec = rec, .opts = opts };
	struct load_worker workers[THREADS_MAX] = { 0 };
	unsigned n = load_thread_count(rec, opts);
	struct seam_error why = { 0 };
	struct tables *tables = NULL;
	struct load load = { 0 };
	int r;

	for (unsigned i = 0; i < n; i++) {
		workers[i].work = &work;
		workers[i].counts.sz = sizeof(workers[i].counts);
	}
	r = load_unwound(workers, n, rec, opts, &tables);
	if (r >= 0)
		r = load_count(&work, workers, n, &why);
	if (r >= 0)
		r = load_finish(&load, rec, opts, workers, n);
	for (unsigned i = 0; i < n; i++) {
		stacks_free(&workers[i].stacks);
		unwound_free(workers[i].unwound);
	}
	tables_free(tables);
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
	*load = (struct load){ 0 };
}
