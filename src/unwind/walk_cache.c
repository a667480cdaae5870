// SPDX-License-Identifier: MIT
/* walk_cache.c: see walk_cache.h. Two lists of steps, written in turn: one is followed while the
 * other is written. Each has room for every frame of a walk and for the state behind the last. */
#include "unwind/walk_cache.h"

#include <errno.h>
#include <stdlib.h>

int walk_cache_new(struct walk_cache **ret)
{
	struct walk_cache *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->last = malloc(sizeof(*t->last));
	t->now = malloc(sizeof(*t->now));
	if (!t->last || !t->now) {
		walk_cache_free(t);
		return -ENOMEM;
	}
	walk_cache_clear(t);
	*ret = t;
	return 0;
}

void walk_cache_free(struct walk_cache *t)
{
	if (!t)
		return;
	free(t->last);
	free(t->now);
	free(t);
}

/* For another thread or address space, of which the noted rules say nothing. */
void walk_cache_clear(struct walk_cache *t)
{
	t->last->n = t->now->n = t->at = 0;
}

/* The outer frames' words will be compared one by one: their cache lines are asked for at once. */
void walk_cache_ask(const struct walk_cache *t, const struct walk_memory *memory)
{
	uint64_t line = UINT64_MAX;

	for (size_t i = 0; i < t->now->n; i++) {
		uint64_t at = t->now->step[i].at[0] - memory->start;

		if (at >= memory->n_window || at / 64 == line)
			continue;
		line = at / 64;
		__builtin_prefetch(memory->window + at);
	}
}

void walk_cache_begin(struct walk_cache *t)
{
	struct walk_cache_steps *swap = t->last;

	t->last = t->now;
	t->now = swap;
	t->now->n = t->at = 0;
}

/* Steps are in order of sp, and so are the questions of one walk: `at` only goes forward. */
const struct walk_cache_step *walk_cache_find(struct walk_cache *t,
                                              const struct walk_cache_step *state)
{
	const struct walk_cache_step *s;

	while (t->at < t->last->n && t->last->step[t->at].sp < state->sp)
		t->at++;
	s = &t->last->step[t->at];
	if (t->at >= t->last->n || s->sp != state->sp || s->pc != state->pc || s->fp != state->fp ||
	    (state->flags | s->flags) & WALK_CACHE_FIRST || !(s->flags & WALK_CACHE_PLAIN) ||
	    ((s->flags ^ state->flags) & WALK_CACHE_STATE))
		return NULL;
	return s;
}

struct walk_cache_step *walk_cache_add(struct walk_cache *t, const struct walk_cache_step *state)
{
	struct walk_cache_steps *now = t->now;

	now->step[now->n] = *state;
	return &now->step[now->n++];
}

/* A walk that ended in front of a step leaves the state there, so that the next one can go on from
 * it. */
void walk_cache_end(struct walk_cache *t, const struct walk_cache_step *state)
{
	struct walk_cache_steps *now = t->now;

	if (now->n && now->step[now->n - 1].flags & WALK_CACHE_PLAIN)
		walk_cache_add(t, state);
}
