// SPDX-License-Identifier: MIT
/*
 * load_descend.c: see load_descend.h.
 *
 * An address becomes a frame once (load_frame.c): the resolver keeps a slot for each address of a
 * space, and in it is the number of the frame, with marks about what it means for the frames around
 * it (LOAD_*). In front of the slots is a table of the addresses met last (load_recent.h), and in
 * front of both the trail of a part that began alike (load_trail.h): what is outside of a word
 * depends on nothing but whether a signal stopped it there.
 *
 * Invariant: trails and the table save time and nothing else: nodes are put in the order in which
 * they would be without them.
 */
#include "aggregate/load_descend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/load_recent.h"
#include "aggregate/load_trail.h"
#include "base/array.h"
#include "base/map.h"
#include "resolve/resolver.h"
#include "samples/called.h"
#include "stitch/states.h"

/* The most that pays. Of few stacks less is kept: a page that is touched for the first time costs
 * more than some frames that are looked up again. */
#define LOAD_RECENT_BITS 14
#define LOAD_SPAN_BITS 18
#define LOAD_SPAN_PIECES 4 /* for each stack */
#define LOAD_LEAST_BITS 8

unsigned load_descent_bits(uint64_t things, unsigned most)
{
	unsigned bits = LOAD_LEAST_BITS;

	while (bits < most && 1u << bits < things)
		bits++;
	return bits;
}

int load_descent_start(struct load_descent *d, uint64_t stacks)
{
	d->recent_bits = load_descent_bits(stacks, LOAD_RECENT_BITS);
	d->recent = calloc((size_t)1 << d->recent_bits, sizeof(*d->recent));
	d->trails = load_trails_new();
	if (!d->recent || !d->trails)
		return -ENOMEM;
	return d->namer.opts->functions
	               ? load_spans_start(&d->spans, load_descent_bits(stacks * LOAD_SPAN_PIECES,
	                                                               LOAD_SPAN_BITS))
	               : 0;
}

void load_descent_free(struct load_descent *d)
{
	load_cut_free(&d->cut);
	free(d->frames);
	free(d->recent);
	load_spans_free(&d->spans);
	load_trails_free(d->trails);
	loop_fold_free(&d->fold);
	arena_free(&d->folded);
}

/* It is named once in all spaces that have it (a kernel address in the kernel's). */
int load_frame(struct load_descent *d, const struct load_whose *e, const struct frame_at *at,
               uint64_t *ret)
{
	uint32_t space = at->user ? e->user_space : e->key->kernel_space;
	uint64_t *slot, key;
	struct load_recent *recent = load_recent_at(d->recent, d->recent_bits, at, &key);
	struct alike_place place;
	int r, alike = 0;

	if (recent && load_recent_get(recent, key, space, ret))
		return 0;
	if (recent && d->spans.at)
		alike = resolver_alike(d->namer.resolver, space, at, &place);
	if (alike > 0 && load_span_get(&d->spans, &place, at->caller, ret)) {
		load_recent_put(recent, key, space, *ret);
		return 0;
	}
	slot = resolver_place_slot(d->namer.resolver, space, at);
	r = slot ? 0 : -ENOMEM;
	if (slot && !*slot) { /* naming needs no slots: this one stays where it is */
		r = load_frame_new(&d->namer, at, space, e->time_ns, slot);
		if (r >= 0 && alike > 0 && d->namer.by_function)
			r = load_span_put(&d->spans, &place, at->caller, &d->namer.place, *slot);
	}
	if (r >= 0)
		*ret = *slot;
	if (r >= 0 && recent)
		load_recent_put(recent, key, space, *ret);
	return r;
}

/* Looks up each frame; a chain that went into data ends in front of it. -ENOMEM. */
int load_walk(struct load_descent *d, const struct load_whose *e, const struct callchain *sample,
              size_t most, size_t *ret)
{
	struct frame_walk walk = { .in_chain = true };
	struct frame_at at;
	size_t n = 0;

	while (n < most && frame_walk_next(&walk, sample, &at)) {
		uint64_t frame;
		int r;

		if (ARRAY_ROOM(&d->frames, &d->frames_capacity, n + 1) < 0)
			return -ENOMEM;
		r = load_frame(d, e, &at, &frame);
		if (r < 0)
			return r;
		if (frame & LOAD_DATA && !at.first) {
			d->told |= LOAD_DATA;
			break;
		}
		if (!at.first)
			d->told |= frame & LOAD_TAKEN;
		d->frames[n++] = (uint32_t)frame;
		if (frame & LOAD_STOPS && (!at.user || e->key->by_tables))
			frame_walk_stopped(&walk);
	}
	*ret = n;
	return 0;
}

int load_path(struct load_descent *d, size_t n, uint32_t *node)
{
	while (n) {
		*node = profile_node(d->namer.profile, *node, d->frames[--n]);
		if (*node == PROFILE_FAILED)
			return -ENOMEM;
	}
	return 0;
}

/* Whether what is to be left out may be among the n innermost words. */
static bool load_folds(const struct load_descent *d, const struct callchain *sample, uint64_t n)
{
	const struct load_opts *opts = d->namer.opts;

	return (opts->machine || !opts->native) && !called_marks(sample) &&
	       loop_any(&sample->user, n);
}

/* The words that are left are the descent's, and stay. -ENOMEM. */
int load_fold(struct load_descent *d, uint32_t space, struct callchain *sample)
{
	const unsigned char *recorded = sample->user.bytes;
	uint64_t *words;
	const struct load_opts *opts = d->namer.opts;
	int r = opts->machine  ? loop_native(&d->fold, sample)
	        : opts->native ? 0
	                       : loop_fold(&d->fold, space, sample);

	if (r < 0 || sample->user.bytes == recorded || !sample->user.n)
		return r;
	/* Trails borrow words: each stack's own ones stay. */
	words = arena_alloc(&d->folded, sample->user.n * sizeof(*words));
	if (!words)
		return -ENOMEM;
	memcpy(words, sample->user.bytes, sample->user.n * sizeof(*words));
	sample->user.bytes = (const void *)words;
	return 0;
}

/* ---- user parts ---- */

/* The frame of a word of a user part. Most are among those met last. */
static inline int load_word(struct load_descent *d, const struct load_whose *e,
                            const struct seam_u64s *user, size_t i, bool exact, bool marks,
                            uint64_t *ret)
{
	const uint32_t space = e->user_space;
	struct frame_at at;
	uint64_t addr;

	if (!marks && !user->swap) {
		memcpy(&addr, user->bytes + i * 8, sizeof(addr));
		if (addr < LOAD_RECENT_ADDRESS) {
			const uint64_t key = addr << 1 | (i && !exact);
			const size_t slot = load_recent_hash(key, d->recent_bits);

			if (load_recent_get(&d->recent[slot], key, space, ret))
				return 0;
		}
	}
	at = frame_walk_user(user, i, exact, marks);
	return load_frame(d, e, &at, ret);
}

/* The part ended in front of data, behind n frames: the trail has no others. */
static int load_trail_ended(struct load_trail *t, size_t n, size_t all, size_t *walked, size_t *ret)
{
	memmove(t->steps, t->steps + (all - n), n * sizeof(*t->steps));
	memmove(t->marks, t->marks + (all - n), n);
	*walked = *ret = n;
	return 1;
}

/*
 * Walks a user part up to where it is on the trail, of which `same` words are its own: *walked
 * frames; their steps are put on the trail, *ret_n in all. True: the part ended in front of data.
 */
static int load_trail_walk(struct load_descent *d, const struct load_whose *e,
                           const struct callchain *sample, struct load_trail *t, size_t same,
                           size_t *walked, size_t *ret_n)
{
	const struct seam_u64s user = sample->user;
	size_t i = 0, n = (size_t)user.n;
	const bool marks = called_marks(sample);
	bool exact = false;
	uint64_t frame;
	int r;

	if (ARRAY_ROOM(&t->steps, &t->capacity, n) < 0 ||
	    ARRAY_ROOM(&t->marks, &t->marks_capacity, n) < 0)
		return -ENOMEM;
	for (; i < n; i++) {
		const size_t step = n - i - 1;

		if (i && step < same) {
			/* The innermost word is read in another way. */
			if (t->n > step + 1 && !(t->marks[step] & LOAD_TRAIL_EXACT) == !exact)
				break;
			same = step; /* not as it was: the step is made anew */
		}
		r = load_word(d, e, &user, i, exact, marks, &frame);
		if (r < 0)
			return r;
		if (frame & LOAD_DATA && i) {
			d->told |= LOAD_DATA;
			return load_trail_ended(t, i, n, walked, ret_n);
		}
		if (i)
			d->told |= frame & LOAD_TAKEN;
		t->steps[step].key = (uint32_t)frame;
		t->marks[step] = (exact ? LOAD_TRAIL_EXACT : 0) |
		                 (i && frame & LOAD_TAKEN ? LOAD_TRAIL_TAKEN : 0);
		t->taken |= t->marks[step] & LOAD_TRAIL_TAKEN;
		exact = frame & LOAD_STOPS && e->key->by_tables;
	}
	*walked = i;
	*ret_n = n;
	return 0;
}

uint32_t load_root(struct load_descent *d, const struct load_whose *e, uint32_t root,
                   bool unfinished, uint32_t outermost, size_t n)
{
	const bool data = d->told & LOAD_DATA;

	if (root == LOAD_ROOT_BY_END)
		return load_cut_end(&d->cut, d->namer.profile, e->key->end, data, outermost, n);
	/* A callchain that was followed into data did not fill its room with frames. */
	if (data && !e->key->end && !unfinished)
		return load_cut_end(&d->cut, d->namer.profile, 0, true, outermost, n);
	return root;
}

/* Finds the trail of a part, and how many words they share; what is to be left out of the part is
 * looked for in the others. -ENOMEM. */
static int load_trail_find(struct load_descent *d, const struct load_whose *e,
                           struct callchain *sample, uint32_t how, struct load_trail **ret,
                           size_t *same)
{
	const uint32_t space = e->user_space | how;
	struct load_trail *t = load_trail(d->trails, space, &sample->user);
	bool plain = true;
	int r;

	*same = load_trail_same(t, &sample->user);
	if (load_folds(d, sample, sample->user.n - (t->plain ? *same : 0))) {
		r = load_fold(d, e->user_space, sample);
		if (r < 0)
			return r;
		plain = false;
		t = load_trail(d->trails, space, &sample->user);
		*same = load_trail_same(t, &sample->user);
	}
	t->plain = plain && !called_marks(sample);
	*ret = t;
	return 0;
}

/* Most parts differ from the last one that began alike in the innermost frames alone: only these
 * are looked up. */
int load_descend_user(struct load_descent *d, const struct load_whose *e, struct callchain *sample,
                      uint32_t how, uint32_t root, uint32_t *node)
{
	struct load_trail *t;
	size_t walked, n, same, step;
	int data, r = load_trail_find(d, e, sample, how, &t, &same);

	if (r < 0)
		return r;
	data = load_trail_walk(d, e, sample, t, same, &walked, &n);
	if (data < 0) {
		t->n = 0;
		return data;
	}
	step = n - walked; /* so many are shared */
	for (size_t k = 0; k < step && t->taken; k++)
		d->told |= t->marks[k] & LOAD_TRAIL_TAKEN ? LOAD_TAKEN : 0;
	root = load_root(d, e, root, states_facts[sample->state].part == STATES_CUT,
	                 n ? t->steps[0].key : 0, n);
	*node = root;
	if (root != PROFILE_FAILED && (!step || root != t->root))
		*node = profile_path(d->namer.profile, root, t->steps, n);
	else if (root != PROFILE_FAILED)
		*node = profile_path(d->namer.profile, t->steps[step - 1].id, t->steps + step,
		                     walked);
	t->n = data || *node == PROFILE_FAILED ? 0 : n;
	t->words = sample->user;
	t->root = root;
	return *node == PROFILE_FAILED ? -ENOMEM : 0;
}
