// SPDX-License-Identifier: MIT
/*
 * load_ahead.c: see load_ahead.h. Who counts gives copies of what the thread needs: tables grow
 * meanwhile. The parts of the sample index do not.
 */
#include "aggregate/load_ahead.h"

#include <errno.h>
#include <stdlib.h>

#include "aggregate/load_cut.h"
#include "aggregate/load_descend.h"

/* A part on its way to the thread: what naming looks at of a key and of a sample. Words are said by
 * the numbers of parts, which all threads share. */
struct load_ahead_user {
	uint64_t time_ns;
	uint32_t user, kernel, user_space, event;
	uint16_t state;
	uint8_t by_tables, end;
};

/* For the relay: puts some parts into the tree. */
static void load_ahead_take(void *ctx, void *things, size_t n)
{
	struct load_ahead *a = ctx;
	const struct load_ahead_user *users = things;

	for (size_t i = 0; i < n && a->failure >= 0; i++) {
		const struct load_ahead_user *u = &users[i];
		const struct stacks_key key = { .event = u->event,
			                        .state = u->state,
			                        .by_tables = u->by_tables,
			                        .end = u->end & 0x7f };
		const struct load_whose e = { .key = &key,
			                      .user = u->user,
			                      .user_space = u->user_space,
			                      .time_ns = u->time_ns };
		const struct callchain sample = { .event = seam_events_at(a->events, u->event),
			                          .state = u->state,
			                          .kernel = stacks_base_words(a->base, u->kernel),
			                          .user = stacks_base_words(a->base, u->user) };

		if (load_cut_waits(load_build_cut(a->builder), &sample))
			a->left_out = true;
		else
			a->failure = load_build_user(a->builder, &e, &sample);
	}
}

/* The thread itself begins with the first part. */
int load_ahead_start(struct load_ahead *a, struct load_builder *builder,
                     const struct stacks_base *base, const struct seam_events *events)
{
	a->builder = builder;
	a->base = base;
	a->events = events;
	a->parts = base->n[0] + base->n_chains;
	a->met = calloc(a->parts / 8 + 1, 1);
	return a->met ? 0 : -ENOMEM;
}

/* Whether a part is for the thread, and was not met before. Those of the other byte order, and
 * those of no file, which one table alone has, are left out. */
static bool load_ahead_is_new(struct load_ahead *a, const struct stacks_same *same)
{
	const uint32_t part = same->user / 2;
	const unsigned char bit = (unsigned char)(1u << part % 8);

	if (same->user & 1 || part >= a->parts || same->kernel / 2 >= a->parts) {
		a->left = true;
		return false;
	}
	if (a->met[part / 8] & bit)
		return false;
	a->met[part / 8] |= bit;
	return true;
}

/* Gives the thread a part that it has not had. */
void load_ahead_met(struct load_ahead *a, const struct stacks_same *same,
                    const struct stacks_key *key, uint32_t user_space, uint64_t time_ns)
{
	struct load_ahead_user *user;

	if (a->alone || !load_ahead_is_new(a, same))
		return;
	if (!a->relay.started) /* that it cannot be made is no error */
		a->alone = relay_start(&a->relay, sizeof(*user), load_ahead_take, a) < 0;
	if (a->alone)
		return;
	user = relay_next(&a->relay, 0);
	*user = (struct load_ahead_user){ .time_ns = time_ns,
		                          .user = same->user,
		                          .kernel = same->kernel,
		                          .user_space = user_space,
		                          .event = key->event,
		                          .state = key->state,
		                          .by_tables = key->by_tables,
		                          .end = key->end };
}

int load_ahead_end(struct load_ahead *a)
{
	const bool ran = a->relay.started;

	relay_end(&a->relay);
	free(a->met);
	a->met = NULL;
	if (ran && !a->left && !a->left_out)
		load_build_users_known(a->builder);
	return a->failure;
}
