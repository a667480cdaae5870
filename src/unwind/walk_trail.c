// SPDX-License-Identifier: MIT
// walk_trail.c: see walk_trail.h. Two lists of steps, written in turn: one is followed while the
// other is written.
#include "unwind/walk_trail.h"

#include <errno.h>
#include <stdlib.h>

int walk_trail_new(struct walk_trail **ret)
{
	struct walk_trail *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->last = malloc(sizeof(*t->last));
	t->now = malloc(sizeof(*t->now));
	if (!t->last || !t->now) {
		walk_trail_free(t);
		return -ENOMEM;
	}
	walk_trail_clear(t);
	*ret = t;
	return 0;
}

void walk_trail_free(struct walk_trail *t)
{
	if (!t)
		return;
	free(t->last);
	free(t->now);
	free(t);
}

void walk_trail_clear(struct walk_trail *t)
{
	t->last->n = t->now->n = t->at = 0;
}

void walk_trail_ask(const struct walk_trail *t, const struct walk_memory *memory)
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

void trail_begin(struct walk_trail *t)
{
	struct trail_steps *swap = t->last;

	t->last = t->now;
	t->now = swap;
	t->now->n = t->at = 0;
}

const struct trail_step *trail_find(struct walk_trail *t, const struct trail_step *state)
{
	const struct trail_step *s;

	while (t->at < t->last->n && t->last->step[t->at].sp < state->sp)
		t->at++;
	s = &t->last->step[t->at];
	if (t->at >= t->last->n || s->sp != state->sp || s->pc != state->pc || s->fp != state->fp ||
	    (state->flags | s->flags) & TRAIL_FIRST || !(s->flags & TRAIL_PLAIN) ||
	    ((s->flags ^ state->flags) & TRAIL_STATE))
		return NULL;
	return s;
}

struct trail_step *trail_add(struct walk_trail *t, const struct trail_step *state)
{
	struct trail_steps *now = t->now;

	now->step[now->n] = *state;
	return &now->step[now->n++];
}

void trail_end(struct walk_trail *t, const struct trail_step *state)
{
	struct trail_steps *now = t->now;

	if (now->n && now->step[now->n - 1].flags & TRAIL_PLAIN)
		trail_add(t, state);
}
