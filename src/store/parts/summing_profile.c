// SPDX-License-Identifier: MIT
// summing_profile.c: see summing.h: sums of a profile that has its stacks, as a window does that is
// put. It has some hundred rows, so each stack is walked by itself.
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "store/parts/summing.h"

/* What is told of a frame of the profile. */
struct profile_summing_frame {
	uint32_t alike[SUMMED_WAYS + 1]; /* one number is met once on a stack; the last: nameless */
	uint32_t place; /* the first one of the same function and kind, which has the sums of all */
	unsigned char says;
	bool known, ended;
};

struct profile_summing {
	struct summing *to;
	const struct summing_profile *of;
	struct profile_summing_frame *frames; /* by the profile's number */
	struct map functions;                 /* symbol << 32 | object -> number */
	struct map places;                    /* that number << 3 | kind -> place */
	size_t *met[SUMMED_WAYS + 1];         /* by that number: the last row that met it, + 1 */
	size_t met_room[SUMMED_WAYS + 1];
	uint32_t *path; /* frames of a stack, the innermost first */
	size_t path_room;
};

/* What is told of a frame, asked once. NULL: out of memory. */
static const struct profile_summing_frame *profile_summing_frame(struct profile_summing *s,
                                                                 uint32_t frame)
{
	const struct profile_frame *of = profile_frame_at(s->of->p, frame);
	struct profile_summing_frame *f = &s->frames[frame];
	struct flat_frame is;
	uint64_t *function, *place = NULL;

	if (f->known)
		return f;
	function = map_slot(&s->functions, (uint64_t)of->symbol << 32 | of->object, NULL);
	if (function && !*function)
		*function = s->functions.n;
	if (function)
		place = map_slot(&s->places, *function << 3 | of->kind, NULL);
	if (!place || s->of->how->frame(s->of->how->ctx, s->of->p, frame, &is) < 0)
		return NULL;
	if (!*place)
		*place = SUMMED_FRAMES + s->of->frames[frame] - 1;
	/* 0 is nobody's. */
	*f = (struct profile_summing_frame){
		.alike = { (uint32_t)*function, of->symbol + 1, of->object + 1, is.nameless },
		.place = (uint32_t)*place,
		.says = is.says,
		.known = true,
		.ended = is.ended,
	};
	for (unsigned way = 0; way <= SUMMED_WAYS; way++)
		if (ARRAY_ROOM_ZEROED(&s->met[way], &s->met_room[way], (size_t)f->alike[way] + 1) <
		    0)
			return NULL;
	return f;
}

/* The path to a node, and what its frames say together. How many; -ENOMEM. */
static int profile_summing_path(struct profile_summing *s, uint32_t node, uint32_t *says)
{
	int n = 0;

	*says = 0;
	for (; node != PROFILE_ROOT; node = profile_node_at(s->of->p, node).parent) {
		const uint32_t frame = profile_node_at(s->of->p, node).frame;
		const struct profile_summing_frame *f = profile_summing_frame(s, frame);

		if (!f || ARRAY_ROOM(&s->path, &s->path_room, (size_t)n + 1) < 0)
			return -ENOMEM;
		s->path[n++] = frame;
		*says |= f->says;
	}
	return n;
}

/* Adds a row to a frame on its stack, by those ways by which no frame further out is alike.
 * -ENOMEM. */
static int profile_summing_add(struct profile_summing *s, uint32_t group, size_t row,
                               uint32_t frame)
{
	const struct profile_row *of = profile_row_at(s->of->p, row);
	const struct summed_value v = { of->samples, of->weight };
	const struct profile_summing_frame *f = &s->frames[frame];
	struct summed_total *to = summing_total(s->to, group, f->place);

	if (!to)
		return -ENOMEM;
	for (unsigned way = 0; way <= SUMMED_WAYS; way++) {
		size_t *met = &s->met[way][f->alike[way]];
		uint64_t *nameless;

		if (!f->alike[way] || *met == row + 1)
			continue;
		*met = row + 1;
		if (way < SUMMED_WAYS) {
			summed_add(&to->of[way], &v);
			continue;
		}
		nameless = summing_nameless(s->to, group, f->place);
		if (!nameless)
			return -ENOMEM;
		*nameless += v.samples;
	}
	return 0;
}

/* Adds a row: to its innermost frame, to its outermost, and to all. -ENOMEM. */
static int profile_summing_row(struct profile_summing *s, size_t row)
{
	const struct profile_row *of = profile_row_at(s->of->p, row);
	const struct summed_value v = { of->samples, of->weight };
	const uint32_t group = summing_group(s->to, &s->of->heads[row]);
	uint32_t says, own = SUMMED_NO_STACK, outermost = SUMMED_NO_STACK;
	int n = profile_summing_path(s, of->key.node, &says), outer = n - 1;
	struct summed_value *self;
	uint64_t *top;

	if (n < 0 || group == POOL_FAILED)
		return -ENOMEM;
	while (outer > 0 && s->frames[s->path[outer]].ended)
		outer--;
	if (n) {
		own = s->frames[s->path[0]].place;
		outermost = s->frames[s->path[outer]].place;
	}
	self = summing_self(s->to, group, own);
	top = summing_top(s->to, group, outermost, says);
	if (!self || !top)
		return -ENOMEM;
	summed_add(self, &v);
	*top += v.samples;
	for (int i = n, r = 0; i-- > 0;) {
		r = profile_summing_add(s, group, row, s->path[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

int summing_add_profile(struct summing *to, const struct summing_profile *of)
{
	struct profile_summing s = { .to = to, .of = of };
	int r;

	s.frames = calloc(profile_n_frames(of->p) + 1, sizeof(*s.frames));
	r = s.frames ? 0 : -ENOMEM;
	for (size_t row = 0; row < profile_n_rows(of->p) && r >= 0; row++)
		r = profile_summing_row(&s, row);
	free(s.frames);
	map_free(&s.functions);
	map_free(&s.places);
	for (unsigned way = 0; way <= SUMMED_WAYS; way++)
		free(s.met[way]);
	free(s.path);
	return r;
}
