// SPDX-License-Identifier: MIT
/*
 * load_count.c: see load_count.h. What holds of all samples of a task from one moment to another
 * has a key whose number is looked up once: most samples then cost a count.
 *
 * A sample is counted under a key (whose it is: comm, event, pid, spaces, and what else the profile
 * keeps) and a stack (both parts by the numbers of the sample index). Making a key and looking up
 * its number takes longer than counting. The sample index gives samples of one task, CPU and
 * event one number (`who`), so the last key of each who is kept here, with the moment and the span
 * of time for which it holds.
 *
 * Invariant: a key's bytes are all set, its padding too, because it is hashed and compared as
 * bytes. One thread.
 */
#include "aggregate/load_count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/load_ahead.h"
#include "aggregate/load_number.h"
#include "aggregate/load_slices.h"
#include "base/array.h"
#include "resolve/frame_walk.h"
#include "samples/called.h"
#include "samples/hit.h"
#include "samples/sample_end.h"
#include "samples/sample_index.h"

/* What a profile keeps of a sample's set of labels. */
#define LOAD_COUNT_SETS \
	(PROFILE_KEEP_LABEL | PROFILE_KEEP_TRACE | PROFILE_KEEP_SPAN | PROFILE_KEEP_CONTEXT)
/* Of a kernel part. */
#define KERNEL_ALONE 1
#define KERNEL_MIXED 2
#define ASKED_EVERY 8192 /* samples, between two questions whether anybody waits */

/* How a sample's user part was taken, and what became of it. */
struct load_how {
	uint8_t state, by_tables;
	sample_end end;
	bool alike;            /* in LOAD_ALIKE, and not in its own space */
	uint32_t kernel_space; /* which differs between samples of a moment (samples_reader) */
};

#define LOAD_MET 4u /* a power of two */

/* What is known of one sample.who. */
struct load_known {
	uint32_t moment;       /* of samples; other ones have another key */
	struct proc_span span; /* of time, in which its numbers are the same */
	struct stacks_key key;
	/* Those met last: few ways are met of one who. key_id 0: none. */
	struct load_met {
		struct load_how how;
		uint32_t key_id;
	} met[LOAD_MET];
};

/* Makes an empty table for one thread. load_count_free is called also after a failure. -ENOMEM. */
int load_count_start(struct load_count *c, struct recording *rec, const struct load_opts *opts)
{
	size_t events = seam_events_count(rec->events);
	int r = stacks_start(&c->stacks);

	if (r >= 0)
		r = stacks_base_of(&c->stacks.base, &rec->index->stacks, rec->stitch);
	c->rec = rec;
	load_alike_start(&c->alike, rec);
	c->opts = opts;
	c->slices = load_slices_of(rec, opts);
	c->rows_most = c->rows_next = load_slices_rows(opts);
	c->stacks.keep_samples = opts->keep & PROFILE_KEEP_SAMPLES;
	c->known = calloc((size_t)samples_whos(rec) + 1, sizeof(*c->known));
	c->said = calloc(events + 1, sizeof(*c->said));
	if (r < 0 || !c->known || !c->said)
		return r < 0 ? r : -ENOMEM;
	for (size_t i = 0; i < events; i++)
		c->said[i] = walk_result_said(&seam_events_at(rec->events, i)->attr);
	return 0;
}

void load_count_free(struct load_count *c)
{
	stacks_free(&c->stacks);
	load_alike_free(&c->alike);
	free(c->kernels);
	free(c->first[0].address);
	free(c->first[1].address);
	map_free(&c->programs);
	free(c->known);
	free(c->said);
	buf_free(&c->result.missing);
	buf_free(&c->missing);
}

/* The first space that was met of those that run the program of this one: stacks that are alike in
 * both have one key then. Where the program is no file, each space is its own. -ENOMEM. */
static int load_count_program(struct load_count *c, uint32_t space, uint32_t *ret)
{
	const struct proc_mapping *m;
	struct alike_place place;
	uint64_t *first;
	int r;

	if (c->program.known && c->program.space == space) {
		*ret = c->program.first;
		return 0;
	}
	m = proc_space_program(c->rec->procs, space);
	r = m ? alike_find(&c->alike.places, space, m->start, &place) : 0;
	*ret = m ? space : PROC_NO_SPACE;
	if (r > 0) {
		first = map_slot(&c->programs, place.kind, NULL);
		if (!first)
			return -ENOMEM;
		if (!*first)
			*first = space;
		*ret = (uint32_t)*first;
	}
	c->program = (struct load_program){ .known = true, .space = space, .first = *ret };
	return r < 0 ? r : 0;
}

/* Where a sample belongs in a table, but for its state. -ENOMEM. */
static int load_count_key(struct load_count *c, const struct sample *s, struct stacks_key *ret)
{
	unsigned keep = c->opts->keep;

	memset(ret, 0, sizeof(*ret)); /* its padding, too: it is hashed as bytes */
	ret->comm = s->comm;
	ret->event = s->event->index;
	ret->pid = keep & PROFILE_KEEP_PID ? s->id.pid : PROFILE_NOT_KEPT;
	/* A nameless thread is shown by its tid, which is then part of its name. */
	ret->tid = keep & PROFILE_KEEP_TID || !s->comm ? s->id.tid : PROFILE_NOT_KEPT;
	load_numbers(ret->number, &c->slices, keep, &s->id);
	return keep & PROFILE_KEEP_PROGRAM ? load_count_program(c, s->user_space, &ret->program)
	                                   : 0;
}

/* The span of time around the sample's in which samples have the same numbers: that of its
 * slice. */
static struct proc_span load_count_span(const struct load_count *c, const struct sample *s,
                                        const struct stacks_key *key)
{
	uint64_t quantum = c->slices.quantum_ns, from;
	struct proc_span span = { .to_ns = UINT64_MAX };

	if (key->number[LOAD_NUMBER_SLICE] == PROFILE_NOT_KEPT)
		return span;
	from = s->id.time_ns / quantum * quantum;
	span.from_ns = from;
	if (from <= UINT64_MAX - quantum)
		span.to_ns = from + quantum - 1;
	return span;
}

/* Puts into the key how the user part was taken, which differs between samples of a moment. */
static void load_count_put_how(struct stacks_key *key, const struct sample *s,
                               const struct load_how *how)
{
	key->user_space = how->alike ? LOAD_ALIKE : s->user_space;
	key->state = how->state;
	key->by_tables = how->by_tables;
	key->end = how->end & 0x7f;
	key->kernel_space = how->kernel_space;
}

/* Where the key's number is kept of samples whose stacks were taken in the same way. */
static uint32_t *load_count_met(struct load_known *known, const struct load_how *how)
{
	struct load_met *m = &known->met[(how->state ^ how->end ^ how->alike << 1) % LOAD_MET];

	if (m->how.end != how->end || m->how.state != how->state || m->how.alike != how->alike ||
	    m->how.by_tables != how->by_tables || m->how.kernel_space != how->kernel_space)
		*m = (struct load_met){ .how = *how };
	return &m->key_id;
}

/* The number of the sample's key in the table. It is the same for all samples of a who, a moment
 * and a slice, so the last one is kept. -ENOMEM. */
static int load_count_key_id(struct load_count *c, const struct sample *s,
                             const struct load_how *how, uint32_t *ret)
{
	struct load_known *known = &c->known[s->who];
	uint32_t *id;
	int r = 0;

	if (known->moment != s->moment || known->key.event != s->event->index ||
	    s->proc_ns < known->span.from_ns || s->proc_ns > known->span.to_ns) {
		known->moment = s->moment;
		r = load_count_key(c, s, &known->key);
		if (r < 0)
			return r;
		known->span = load_count_span(c, s, &known->key);
		memset(known->met, 0, sizeof(known->met));
	}
	id = load_count_met(known, how);
	if (!*id) {
		load_count_put_how(&known->key, s, how);
		r = stacks_key_id(&c->stacks, &known->key, id);
	}
	*ret = *id;
	return r;
}

/* Whether the kernel part of a sample begins with an address of the user's, without a marker. */
static bool load_count_user_first(const struct sample *s)
{
	struct seam_u64s kernel;

	if ((s->misc & SEAM_MISC_CPUMODE_MASK) != SEAM_MISC_USER || !s->kernel_number)
		return false;
	kernel = sample_kernel(s);
	return hit_user_first(&kernel, s->misc);
}

/* Whether the key depends on more than who, moment and state. */
static bool load_count_has_own(const struct load_count *c, const struct sample *s)
{
	return c->opts->keep & PROFILE_KEEP_CGROUP ||
	       (s->context && c->opts->keep & LOAD_COUNT_SETS) || load_count_user_first(s);
}

/* What is told by the set of labels. */
static void load_count_set(const struct load_count *c, uint32_t context, uint32_t *number)
{
	unsigned keep = context ? c->opts->keep : 0;

	if (keep & PROFILE_KEEP_LABEL)
		number[LOAD_NUMBER_LABEL] = context;
	if (keep & PROFILE_KEEP_TRACE)
		number[LOAD_NUMBER_TRACE] = context;
	if (keep & PROFILE_KEEP_SPAN)
		number[LOAD_NUMBER_SPAN] = context;
	if (keep & PROFILE_KEEP_CONTEXT)
		number[LOAD_NUMBER_CONTEXT] = context;
}

/* The same of one whose kernel part begins with a user's address, without a marker, or whose
 * control group counts: looked up for each. */
static int load_count_own_id(struct load_count *c, const struct sample *s,
                             const struct load_how *how, uint32_t *ret)
{
	struct stacks_key key;
	int r = load_count_key(c, s, &key);

	if (r < 0)
		return r;
	load_count_put_how(&key, s, how);
	key.user_first = load_count_user_first(s);
	if (c->opts->keep & PROFILE_KEEP_CGROUP)
		key.number[LOAD_NUMBER_CGROUP] = load_cgroups_of(c->cgroups, &s->decoded->sample);
	load_count_set(c, s->context, key.number);
	return stacks_key_id(&c->stacks, &key, ret);
}

#define NO_ADDRESS UINT64_MAX /* a marker: of a part that has no others */

/* The innermost address of a part. -ENOMEM. */
static int load_count_first(struct load_count *c, uint32_t part, bool user, uint64_t *ret)
{
	struct load_first *first = &c->first[user];
	const size_t parts = (size_t)c->stacks.base.n[0] + c->stacks.base.n_chains;
	uint64_t *known, other = 0;
	struct seam_u64s words;

	/* All numbers that the index gives are known. */
	if (ARRAY_ROOM_ZEROED(&first->address, &first->capacity,
	                      parts > part / 2 ? parts : (size_t)part / 2 + 1) < 0)
		return -ENOMEM;
	known = part & 1 ? &other : &first->address[part / 2];
	if (!*known) {
		words = stacks_base_words(&c->stacks.base, part);
		if (user)
			*known = seam_u64s_at(&words, 0);
		else if (!hit_chain(&words, known))
			*known = NO_ADDRESS;
	}
	*ret = *known;
	return 0;
}

/* As hit_apart, of which each part is asked once. -ENOMEM. */
static int load_count_apart(struct load_count *c, const struct sample *s)
{
	struct callchain chain;
	uint64_t address = NO_ADDRESS;
	int r = 0;

	if (!hit_known(s->event))
		return 0;
	if (!s->kernel_number && !s->user_number && !s->kernel.n && !s->user.n)
		return 1;
	chain = sample_callchain(s);
	if (s->kernel.n || s->user.n || called_marks(&chain))
		return hit_apart(&chain);
	if (s->kernel_number)
		r = load_count_first(c, s->kernel_number, false, &address);
	if (r >= 0 && address == NO_ADDRESS) {
		if (!s->user_number)
			return 1;
		r = load_count_first(c, s->user_number, true, &address);
	}
	return r < 0 ? r : hit_elsewhere(s->ip, s->misc, address);
}

/* Where it hit, if that is not where its callchain begins. -ENOMEM. */
static int load_count_hit(struct load_count *c, const struct sample *s, struct stacks_same *same,
                          bool *alike)
{
	int r = load_count_apart(c, s);

	if (r <= 0)
		return r;
	if (c->opts->frames == LOAD_FRAMES_INNERMOST &&
	    (s->misc & SEAM_MISC_CPUMODE_MASK) == SEAM_MISC_USER)
		return load_alike_hit(&c->alike, &c->stacks, s->user_space, s->ip, &same->hit,
		                      alike);
	return stacks_hit(&c->stacks, s->ip, s->misc, &same->hit);
}

/* Leaves out what does not tell the wanted frames apart: stacks that begin alike are equal. */
static void load_count_cut(const struct load_count *c, const struct sample *s,
                           struct stacks_same *same)
{
	struct seam_u64s kernel;
	uint64_t address;

	if (c->opts->frames == LOAD_FRAMES_NONE) {
		*same = (struct stacks_same){ 0 };
		return;
	}
	if (same->hit) {
		*same = (struct stacks_same){ .hit = same->hit };
		return;
	}
	if (!same->user || !same->kernel)
		return;
	kernel = sample_kernel(s);
	if (hit_chain(&kernel, &address))
		same->user = 0;
}

/* frame_walk_mixed, of which the words of a kernel part are asked once. -ENOMEM. */
static int load_count_mixed(struct load_count *c, const struct sample *s)
{
	unsigned char *known;
	struct seam_u64s kernel;

	if (!s->kernel_number)
		return 0;
	if (ARRAY_ROOM_ZEROED(&c->kernels, &c->kernels_capacity, (size_t)s->kernel_number + 1) < 0)
		return -ENOMEM;
	known = &c->kernels[s->kernel_number];
	if (!*known) {
		kernel = sample_kernel(s);
		*known = frame_walk_has_user(&kernel) ? KERNEL_MIXED : KERNEL_ALONE;
	}
	return *known == KERNEL_MIXED || load_count_user_first(s);
}

/* Whether nothing but the user part tells of the sample's address space: then it is the one that
 * stands for all that are alike. Of a user's address that was hit it is told already
 * (load_count_hit). */
static int load_count_alike(struct load_count *c, const struct sample *s, struct stacks_same *same,
                            bool *ret)
{
	const bool marks = s->state == SEAM_STITCH_STACK_COPY ||
	                   (s->state == SEAM_STITCH_IMMEDIATE && called_event(s->event));
	const bool user_hit = same->hit && (s->misc & SEAM_MISC_CPUMODE_MASK) == SEAM_MISC_USER;
	int r = same->kernel ? load_count_mixed(c, s) : 0;

	if (r || user_hit)
		return r < 0 ? r : 0;
	r = same->user ? load_alike_part(&c->alike, &c->stacks, s->user_space, marks, &same->user)
	               : 1;
	*ret = r > 0;
	return r < 0 ? r : 0;
}

/* Fewer and longer slices, as there are too many rows. It is asked again when there are twice as
 * many. What is known of each who was by slices. -ENOMEM. */
static int load_count_fit(struct load_count *c)
{
	int r = stacks_settle(&c->stacks);

	if (r >= 0)
		r = load_slices_fit(&c->stacks, &c->slices, c->rows_most);
	c->rows_next = c->stacks.n * 2 > c->rows_most ? c->stacks.n * 2 : c->rows_most;
	memset(c->known, 0, ((size_t)samples_whos(c->rec) + 1) * sizeof(*c->known));
	return r;
}

/* Tells of a user part who puts such into the tree meanwhile. */
static void load_count_ahead(struct load_count *c, const struct sample *s,
                             const struct stacks_same *same, bool alike)
{
	load_ahead_met(c->ahead, same, pool_at(&c->stacks.keys, same->key),
	               alike ? load_alike_space(&c->alike, same->user) : s->user_space, s->proc_ns);
}

/* Counts a sample in its entry: by whose it is, where its stack was, and what became of that. */
int load_count_sample(void *count, const struct sample *s, struct buf *out)
{
	struct load_count *c = count;
	const bool none = c->opts->frames == LOAD_FRAMES_NONE;
	struct stacks_same same = { .kernel = s->kernel_number, .user = s->user_number };
	struct load_how how = {
		.state = (uint8_t)s->state,
		.by_tables =
		        walk_result_by_tables_of(s->event, s->state, s->misc, s->deferred_misc),
		.end = s->walk || s->misc & SAMPLE_END_MARKS
		               ? sample_end_of(s->event, s->walk, s->misc, s->deferred_misc)
		               : 0,
		.kernel_space = s->kernel_space,
	};
	int r;

	(void)out;
	if (c->stacks.n > c->rows_next && load_count_fit(c) < 0)
		return -ENOMEM;
	if (!c->until_asked--) {
		c->until_asked = ASKED_EVERY;
		if (progress_stopped(&c->opts->progress))
			return -ECANCELED;
	}
	r = 0;
	if (!same.user && s->user.n && !none)
		r = stacks_part(&c->stacks, &s->user, s->lasting ? INTERN_LASTING : INTERN_COPY,
		                &same.user);
	if (r >= 0 && c->said[s->event->index] && !s->again)
		r = load_walk_result_add(&c->result, c->rec, s);
	if (r >= 0 && s->apart && !none)
		r = load_count_hit(c, s, &same, &how.alike);
	if (r >= 0 && c->opts->frames != LOAD_FRAMES_ALL)
		load_count_cut(c, s, &same);
	if (r >= 0)
		r = load_count_alike(c, s, &same, &how.alike);
	if (r >= 0)
		r = (load_count_has_own(c, s) ? load_count_own_id : load_count_key_id)(c, s, &how,
		                                                                       &same.key);
	if (r >= 0 && c->ahead && same.user)
		load_count_ahead(c, s, &same, how.alike);
	return r < 0 ? r : stacks_put(&c->stacks, &same, s->period, s->proc_ns);
}

/* For samples_each: a thread is done. Takes over what its walks counted. */
int load_count_end(void *count, const struct sample_counts *counts, const struct unwound *unwound)
{
	struct load_count *c = count;
	const struct unwound_missing *missing;
	int r = stacks_settle(&c->stacks);
	size_t n;

	c->counts = *counts;
	if (r >= 0)
		r = load_slices_fit(&c->stacks, &c->slices, c->rows_most);
	if (r < 0 || !unwound)
		return r;
	c->unwound = *unwound_count(unwound);
	missing = unwound_missing(unwound, &n);
	return n ? buf_put(&c->missing, missing, n * sizeof(*missing)) : 0;
}
