/* SPDX-License-Identifier: MIT */
/* window_profile.h: what the profiles of windows begin with, for tests that fill stores. */
#ifndef SEAM_TEST_WINDOW_PROFILE_H
#define SEAM_TEST_WINDOW_PROFILE_H

#include <stdlib.h>

#include "profile/profile.h"

/* Without samples. */
static inline struct profile *window_profile(void)
{
	const struct profile_state state = { .name = "whole", .text = "whole", .whole = true };
	struct profile *p;

	if (profile_new(&p, 0) < 0 || profile_set_state(p, 0, &state) < 0)
		exit(2);
	return p;
}

/* A sample of cycles in "work", without a stack yet. */
static inline struct profile_key window_key(struct profile *p)
{
	return (struct profile_key){ .event = profile_event(p, "cycles"),
		                     .task = profile_task(p, profile_string(p, "work"), 0, 0),
		                     .cpu = PROFILE_NOT_KEPT,
		                     .slice = PROFILE_NOT_KEPT,
		                     .cgroup = PROFILE_NOT_KEPT,
		                     .label = PROFILE_NOT_KEPT };
}

#endif
