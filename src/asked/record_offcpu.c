// SPDX-License-Identifier: MIT
// record_offcpu.c: see record_offcpu.h. Knows how a time is spelled; events are offcpu.h's.
#include "asked/record_offcpu.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/offcpu.h"

/* Sets how long a task must be off the CPU to be sampled; without a text, the default. 0, or
 * -EINVAL after saying that it is no time. */
int record_offcpu_time(struct record_opts *o, const struct record_arg *a)
{
	/* Without a unit it is milliseconds, as perf's --off-cpu-thresh has it. */
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "", 1e6 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	double v;

	o->rec.away_ns = OFFCPU_NS_DEFAULT;
	if (!a->text)
		return 0;
	v = strtod(a->text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double ns = v * units[i].ns;

		if (end == a->text || strcmp(end, units[i].name) || !isfinite(ns) || ns < 1 ||
		    ns > 1e15)
			continue;
		o->rec.away_ns = (uint64_t)ns;
		return 0;
	}
	return record_values_wrong(a, "'%s' is not a time, as 500us, 1ms, 2s", a->text);
}

/* Checks that --wall and --off-cpu go with the events, and adds theirs. -EINVAL after saying what
 * is wrong. */
int record_offcpu_settle(struct record_opts *o, const struct cmd *cmd)
{
	const struct event_list *events = &o->events;
	struct seam_error err = { 0 };

	if (o->rec.wall && events->n &&
	    (events->n > 1 || events->at[0].attr.type != SEAM_TYPE_SOFTWARE ||
	     events->at[0].attr.config != 0)) {
		cmd_error(cmd, "--wall counts time: the only event it goes with is cpu-clock");
		return -EINVAL;
	}
	if (offcpu_settle(&o->rec, &err) < 0) {
		cmd_error(cmd, "%s", err.text);
		return -EINVAL;
	}
	return 0;
}
