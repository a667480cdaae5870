// SPDX-License-Identifier: MIT
/* offcpu.c: see offcpu.h. Knows which events stand for time off the CPU; the samples are taken by
 * the BPF programs. Each reason to be away is an event of its own in the file, so that reports can
 * tell them apart. */
#include "recorder/offcpu.h"

#include <stdio.h>

/* An event that never counts: its samples are given by the programs, with their own periods. */
static int offcpu_event(struct event_list *events, const char *name, struct seam_error *err)
{
	char text[64];
	struct event *e;
	int r;

	snprintf(text, sizeof(text), "dummy/name=%s/", name);
	r = event_list_parse(events, text, NULL, err);
	if (r < 0)
		return r;
	e = &events->at[events->n - 1];
	/* It has a rate of its own, so that the options' frequency does not become its period. */
	e->from_source = e->has_rate = true;
	e->attr.sample_period = 1;
	return 0;
}

/* To be called before the events are opened. Without time off the CPU it changes nothing. */
int offcpu_settle(struct recorder_opts *o, struct seam_error *err)
{
	int r = 0;

	if (o->wall && !o->away_ns)
		o->away_ns = OFFCPU_NS_DEFAULT;
	if (!o->away_ns)
		return 0;
	/* Samples of the clock and times away can be added only if both have their nanoseconds as
	 * period. */
	if (o->wall)
		o->session.sample_period = true;
	if (!o->events->n)
		r = o->wall ? event_list_parse(o->events, "cpu-clock", NULL, err)
		            : event_list_default(o->events, err);
	for (unsigned why = 1; r >= 0 && why < KWALK_AWAYS; why++)
		if (kwalk_away_name(why))
			r = offcpu_event(o->events, kwalk_away_name(why), err);
	return r < 0 ? r : 0;
}
