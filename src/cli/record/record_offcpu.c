// SPDX-License-Identifier: MIT
// record_offcpu.c: see record_offcpu.h. One event for each reason not to run, so that every reader
// of perf.data tells them apart.
#include "cli/record/record_offcpu.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OFFCPU_NS 1000000u /* by default */

int record_offcpu_time(struct record_opts *o, const struct record_arg *a)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "", 1e6 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	double v;

	o->rec.away_ns = OFFCPU_NS;
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

static int offcpu_event(struct record_opts *o, const char *name, struct seam_error *err)
{
	char text[64];
	struct event *e;
	int r;

	snprintf(text, sizeof(text), "dummy/name=%s/", name);
	r = event_list_parse(&o->events, text, NULL, err);
	if (r < 0)
		return r;
	e = &o->events.at[o->events.n - 1];
	e->from_source = e->has_rate = true;
	e->attr.sample_period = 1;
	return 0;
}

static int offcpu_events(struct record_opts *o, struct seam_error *err)
{
	int r = 0;

	if (!o->events.n)
		r = o->rec.wall ? event_list_parse(&o->events, "cpu-clock", NULL, err)
		                : event_list_default(&o->events, err);
	for (unsigned why = 1; r >= 0 && why < KWALK_AWAYS; why++)
		if (kwalk_away_name(why))
			r = offcpu_event(o, kwalk_away_name(why), err);
	return r;
}

int record_offcpu_settle(struct record_opts *o, const struct cmd *cmd)
{
	struct seam_error err = { 0 };

	if (o->rec.wall && !o->rec.away_ns)
		o->rec.away_ns = OFFCPU_NS;
	if (!o->rec.away_ns)
		return 0;
	if (o->rec.wall && o->events.n &&
	    (o->events.n > 1 || o->events.at[0].attr.type != SEAM_TYPE_SOFTWARE ||
	     o->events.at[0].attr.config != 0)) {
		cmd_error(cmd, "--wall counts time: the only event it goes with is cpu-clock");
		return -EINVAL;
	}
	if (o->rec.wall)
		o->rec.session.sample_period = true;
	if (offcpu_events(o, &err) < 0) {
		cmd_error(cmd, "%s", err.text);
		return -EINVAL;
	}
	return 0;
}
