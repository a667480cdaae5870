// SPDX-License-Identifier: MIT
/*
 * kwalk_offcpu.c: time off the CPU: its programs are loaded only when it is asked for; when it
 * begins and ends; which event of the file a sample of it belongs to.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/bpf/kwalk_parts.h"

static const char *const offcpu_programs[] = { "away_switch", "away_wakeup", "away_fork",
	                                       "away_first", "away_last" };
#define OFFCPU_ATTACHED 3 /* of them; the others are iterators */

/* Names of the events in the file; NULL: no event of its own (it ran). */
const char *kwalk_away_name(enum kwalk_away why)
{
	static const char *const names[KWALK_AWAYS] = {
		[KWALK_AWAY_SLEEP] = "offcpu-time",
		[KWALK_AWAY_BLOCKED] = "offcpu-blocked",
		[KWALK_AWAY_RUNQUEUE] = "offcpu-runqueue",
		[KWALK_AWAY_IDLE] = "offcpu-idle",
	};

	return why < KWALK_AWAYS ? names[why] : NULL;
}

/* Without time off the CPU these programs are not loaded. */
void offcpu_configure(const struct kwalk *l, struct kwalk_config *c)
{
	c->away_ns = l->opts.away_ns;
	c->wall = l->opts.wall;
	c->away_at_once = c->when == KWALK_NEVER || !c->defers;
	for (size_t i = 0; i < sizeof(offcpu_programs) / sizeof(offcpu_programs[0]); i++) {
		struct bpf_program *p =
		        bpf_object__find_program_by_name(l->object, offcpu_programs[i]);

		if (p && !l->opts.away_ns)
			bpf_program__set_autoload(p, false);
	}
}

int offcpu_attach(struct kwalk *l)
{
	int r = 0;

	for (size_t i = 0; l->opts.away_ns && r >= 0 && i < OFFCPU_ATTACHED; i++)
		r = kwalk_link(l, offcpu_programs[i]);
	return r;
}

/* An event of the file by its name: its id is what samples of that kind get. */
void offcpu_events(struct kwalk *l)
{
	for (uint32_t i = 0; i < (uint32_t)seam_events_count(l->events); i++) {
		const struct seam_event *e = seam_events_at(l->events, i);

		if (!e->n_ids)
			continue;
		if (!i)
			l->away_ids[KWALK_AWAY_RAN] = e->ids[0];
		for (unsigned why = 1; why < KWALK_AWAYS; why++)
			if (e->name && kwalk_away_name(why) &&
			    !strcmp(e->name, kwalk_away_name(why)))
				l->away_ids[why] = e->ids[0];
	}
}

/* event: what a program sent: the id of an event of the session, or KWALK_AWAY and a reason. */
uint64_t offcpu_id(const struct kwalk *l, uint64_t event)
{
	uint64_t why = event & ~KWALK_AWAY;

	return !(event & KWALK_AWAY) ? event : why < KWALK_AWAYS ? l->away_ids[why] : 0;
}

/* The programs look at this word before they measure anything. */
static int offcpu_clock(struct kwalk *l, uint64_t on)
{
	int map = bpf_object__find_map_fd_by_name(l->object, "away_clocks");
	uint32_t zero = 0;

	return bpf_map_update_elem(map, &zero, &on, BPF_ANY) < 0 ? -errno : 0;
}

/* On: tasks that are off the CPU already begin their time now (away_first). Off: see offcpu_end. */
int offcpu_switch(struct kwalk *l, bool on)
{
	int r;

	if (!l->opts.away_ns || on == l->away_on)
		return 0;
	l->away_on = on;
	l->away_ends = !on;
	r = offcpu_clock(l, on);
	return r >= 0 && on ? kwalk_iterate(l, "away_first", NULL, NULL) : r;
}

/* Gives the times of tasks that are still away. Not in offcpu_switch, because the rings are drained
 * between. */
int offcpu_end(struct kwalk *l, int (*drain)(void *ctx), void *ctx)
{
	if (!l->away_ends)
		return 0;
	l->away_ends = false;
	return kwalk_iterate(l, "away_last", drain, ctx);
}
