// SPDX-License-Identifier: MIT
/*
 * nameless_frames.c: see nameless_frames.h.
 *
 * Rows of a store keep names and not why some have none. The reasons are counts of the windows
 * (quality.c); here they find their way back to the frames.
 */
#include "fleet/nameless_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/load_unnamed.h"
#include "fleet/quality.h"
#include "profile/flat.h"
#include "profile/nameless.h"

/* As aggregate/ would have called it. What is inlined has its name from the same place as its
 * function, and what is missing is no frame. */
bool nameless_frames_has(const struct profile *p, const struct profile_frame *f)
{
	const char *name = f->symbol ? profile_text(p, f->symbol) : NULL;

	if (f->kind == PROFILE_INLINED || f->kind == PROFILE_MISSING)
		return false;
	if (name && !strncmp(name, FRAME_GUESS, strlen(FRAME_GUESS)))
		name += strlen(FRAME_GUESS);
	return !name || nameless_is(name, NULL) || !strcmp(name, SYMBOL_UNKNOWN);
}

/* An object as a row of load->unnamed, found by its path. */
struct nameless_reasons {
	struct load *load;
	struct buf *texts;
	size_t *reason; /* by row: where it is in texts */
};

/* For quality_unnamed: gives a reason to the row of its object. The first one stays. */
static void nameless_reason(void *ctx, enum symbol_state state, const char *object,
                            const char *reason)
{
	struct nameless_reasons *r = ctx;

	for (size_t i = 0; i < r->load->n_unnamed; i++) {
		if (r->reason[i] || strcmp(r->load->unnamed[i].object, object) != 0)
			continue;
		r->load->unnamed[i].state = state;
		r->reason[i] = r->texts->n;
		buf_put(r->texts, reason, strlen(reason) + 1);
	}
}

/* The most samples first, then by path. */
static int nameless_frames_order(const void *pa, const void *pb)
{
	const struct load_unnamed *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->object, b->object);
}

/* On how many samples' stacks an object has nameless frames. */
static uint64_t nameless_frames_samples(const struct load *load,
                                        const struct load_unnamed_frames *u, uint32_t object)
{
	const struct flat *f = load->flat;

	if (!f)
		return load_unnamed_samples(u, object);
	return object + 1 < f->nameless_capacity ? f->nameless[object + 1] : 0;
}

/* Makes a row for each object that has such frames in a sample, the most samples first. */
static int nameless_frames_rows(struct load *load, const struct load_unnamed_frames *u)
{
	const struct profile *p = load->profile;

	load->unnamed = calloc(profile_n_objects(p) + 1, sizeof(*load->unnamed));
	if (!load->unnamed)
		return -ENOMEM;
	for (uint32_t o = 0; o <= profile_n_objects(p); o++) {
		uint64_t samples = nameless_frames_samples(load, u, o);

		if (samples)
			load->unnamed[load->n_unnamed++] = (struct load_unnamed){
				.object = o ? profile_text(p, profile_object_at(p, o)->path)
				            : SYMBOL_UNKNOWN,
				.reason = "",
				.state = SYMBOL_NO_FILE,
				.samples = samples,
			};
	}
	if (load->n_unnamed)
		qsort(load->unnamed, load->n_unnamed, sizeof(*load->unnamed),
		      nameless_frames_order);
	return 0;
}

/* Marks the frames, and counts samples as aggregate/ does. -ENOMEM. */
static int nameless_frames_count(struct load *load, struct load_unnamed_frames *u)
{
	const struct profile *p = load->profile;
	const struct place none = { 0 };
	int r = 0;

	for (uint32_t f = 1; f <= profile_n_frames(p) && r >= 0; f++) {
		const struct profile_frame *frame = profile_frame_at(p, f);

		if (nameless_frames_has(p, frame))
			r = load_unnamed_note(u, f, frame->object, &none);
	}
	return r >= 0 && u->frames ? load_unnamed_count(u, p, &load->taken_unnamed) : r;
}

/* Counts samples, unless sums are there already, then finds the reasons. */
int nameless_frames(struct load *load, const struct store_found *found, struct buf *texts)
{
	struct load_unnamed_frames u = { 0 };
	struct nameless_reasons reasons = { .load = load, .texts = texts };
	int r = 0;

	if (load->flat)
		load->taken_unnamed = flat_samples(load->flat, FLAT_NAMELESS, 0);
	else
		r = nameless_frames_count(load, &u);
	if (r >= 0)
		r = nameless_frames_rows(load, &u);
	load_unnamed_free(&u);
	/* Offset 0 is an empty text: a row without a reason. */
	buf_put(texts, "", 1);
	reasons.reason = calloc(load->n_unnamed + 1, sizeof(*reasons.reason));
	if (r < 0 || !reasons.reason)
		return -ENOMEM;
	r = quality_unnamed(found, nameless_reason, &reasons);
	for (size_t i = 0; i < load->n_unnamed && !texts->failed; i++)
		/* The texts do not move any more: pointers into them are safe from here on. */
		load->unnamed[i].reason = (const char *)texts->bytes + reasons.reason[i];
	free(reasons.reason);
	return texts->failed ? -ENOMEM : r;
}
