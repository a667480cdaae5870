/* SPDX-License-Identifier: MIT */
/* profile_plain.h: samples as plain data, and profiles of them, for tests that count slowly. */
#ifndef SEAM_TEST_PROFILE_PLAIN_H
#define SEAM_TEST_PROFILE_PLAIN_H

#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"
#include "rnd.h"

#define FUNCTIONS 6
#define DEPTH 9

static uint32_t frame_of(struct profile *p, unsigned function, uint64_t address)
{
	char name[16];
	struct profile_frame f = { .address = address, .kind = PROFILE_USER };

	snprintf(name, sizeof(name), "f%u", function);
	f.object = profile_object(p, function % 2 ? "/lib/odd.so" : "/bin/even", NULL);
	f.symbol = function ? profile_string(p, name) : 0;
	return profile_frame(p, &f);
}

/* A sample as plain data: functions from the outermost to the innermost. */
struct plain {
	unsigned depth, function[DEPTH], comm, event, state, cpu;
	uint64_t weight;
};

static struct plain plain_random(void)
{
	struct plain s = { .depth = rnd(DEPTH + 1),
		           .comm = rnd(3),
		           .event = rnd(2),
		           .state = rnd(3),
		           .cpu = rnd(4),
		           .weight = rnd(1000) };

	for (unsigned i = 0; i < s.depth; i++)
		s.function[i] = rnd(FUNCTIONS);
	return s;
}

static void add(struct profile *p, const struct plain *s)
{
	static const char *const comms[] = { "a", "b", "c" };
	struct profile_key key = {
		.event = profile_event(p, s->event ? "cycles" : ""),
		.task = profile_task(p, profile_string(p, comms[s->comm]), 100 + s->comm, 7),
		.cpu = s->cpu,
		.state = s->state,
	};

	for (unsigned i = 0; i < s->depth; i++)
		key.node = profile_node(p, key.node,
		                        frame_of(p, s->function[i], 16 * s->function[i] + rnd(3)));
	assert_int_equal(profile_add(p, &key, 1, s->weight), 0);
}

static struct profile *profile_of(const struct plain *samples, size_t n, unsigned keep)
{
	struct profile *p;

	assert_int_equal(profile_new(&p, keep), 0);
	assert_int_equal(profile_event(p, ""), 1);
	assert_int_equal(profile_event(p, "cycles"), 2);
	for (size_t i = 0; i < n; i++)
		add(p, &samples[i]);
	return p;
}

#endif
