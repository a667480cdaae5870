// SPDX-License-Identifier: MIT
// explain_sums.c: a profile's weights added up in the ways that findings ask for.
#include <string.h>

#include "abi/event_unit.h"
#include "explain/explain_parts.h"
#include "profile/origin.h"

/* The event of the file that the profile's is of; NULL: not known. */
static const struct seam_event *sums_file_event(const struct report *r, uint32_t event)
{
	const char *name = profile_event_name(r->load.profile, event);

	for (size_t i = 0; r->rec && i < seam_events_count(r->rec->events); i++) {
		const struct seam_event *e = seam_events_at(r->rec->events, i);

		if (e->name && !strcmp(e->name, name))
			return e;
	}
	return NULL;
}

/* Windows know of an event no more than its name and unit. */
static bool sums_named_cycles(const char *name)
{
	size_t n = strcspn(name, ":");

	return (n == strlen("cycles") && !strncmp(name, "cycles", n)) ||
	       (n == strlen("cpu-cycles") && !strncmp(name, "cpu-cycles", n));
}

/* Whether an event counts time, or cycles, which go as time does. */
static bool sums_is_time(const struct report *r, uint32_t event)
{
	const struct seam_event *e = sums_file_event(r, event);

	return profile_event_unit(r->load.profile, event) == PROFILE_NANOSECONDS ||
	       (e ? event_unit_is_cycles(e)
	          : !r->rec && sums_named_cycles(profile_event_name(r->load.profile, event)));
}

/* Which events shares are rather of: time in which tasks ran, what else happened, waiting. */
static int sums_rank(const struct report *r, uint32_t event)
{
	if (event_unit_is_off_cpu(profile_event_name(r->load.profile, event)))
		return 0;
	return sums_is_time(r, event) ? 2 : 1;
}

/* The event that shares are of: of those that come first, the one with the most samples. */
static uint32_t sums_event(const struct report *r)
{
	const struct profile *p = r->load.profile;
	uint64_t most = 0;
	uint32_t ret = 0;
	int rank = 0;

	for (uint32_t e = 1; e <= profile_n_events(p); e++) {
		struct profile_account a;

		profile_account(p, e, &a);
		if (!a.samples || sums_rank(r, e) < rank ||
		    (sums_rank(r, e) == rank && a.samples <= most))
			continue;
		most = a.samples;
		rank = sums_rank(r, e);
		ret = e;
	}
	return ret;
}

/* What the name of a window's event says of what is left out: cpu-clock:u. */
static void sums_modifiers(struct explain_sums *s)
{
	const char *of = strrchr(profile_event_name(s->profile, s->event), ':');

	s->no_user = of && strchr(of, 'k') && !strchr(of, 'u');
	s->no_kernel = of && strchr(of, 'u') && !strchr(of, 'k');
}

/* What the event counts, and whether it was sampled by frequency or every so many, so that shares
 * are rough where samples are few. */
static void sums_unit(struct explain_sums *s)
{
	const struct seam_event *e = sums_file_event(s->report, s->event);

	s->off_cpu = event_unit_is_off_cpu(profile_event_name(s->profile, s->event));
	s->is_time = !s->off_cpu && sums_is_time(s->report, s->event);
	s->no_user = e && e->attr.flags & SEAM_ATTR_EXCLUDE_USER;
	s->no_kernel = e && e->attr.flags & SEAM_ATTR_EXCLUDE_KERNEL;
	if (!s->report->rec)
		sums_modifiers(s);
	s->by_frequency = !e || e->attr.flags & SEAM_ATTR_FREQ || e->attr.sample_period > 1;
}

/* Adds up by what kind of code was hit. Calls that were inlined are in their caller's code. */
static void sums_kinds(struct explain_sums *s)
{
	const struct profile *p = s->profile;

	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		uint32_t frame, kind = PROFILE_UNKNOWN;

		if (row->key.event != s->event)
			continue;
		if (row->key.node) {
			frame = profile_node_at(p, row->key.node).frame;
			kind = profile_frame_at(p, frame)->kind;
		}
		s->kind[kind == PROFILE_INLINED ? PROFILE_USER : kind] += row->weight;
	}
}

/* One table of the event, those with the most of their own first. -ENOMEM. */
static int sums_rollup(const struct explain_sums *s, unsigned columns, struct rollup *ret)
{
	const struct rollup_opts opts = { .columns = columns, .event = s->event };
	int rc = rollup_build(ret, s->profile, &opts);

	if (rc >= 0)
		rollup_sort(ret, false);
	return rc;
}

/* From the first sample to the last; of windows, which have no recording, from the first one's
 * begin to the last one's end. */
static double sums_seconds(const struct report *r)
{
	const struct origin *o = profile_origin_of(r->load.profile);
	uint64_t first = r->rec ? r->rec->first_ns : o->first_ns;
	uint64_t last = r->rec ? r->rec->last_ns : o->last_ns;

	return last > first ? (double)(last - first) / 1e9 : 0;
}

/* Reads the recording's times and CPU seconds, then makes the tables. */
int explain_sums_build(struct explain_sums *ret, const struct report *r)
{
	struct explain_sums s = { .report = r, .profile = r->load.profile };
	struct profile_account a;
	int rc;

	s.event = sums_event(r);
	if (s.event) {
		profile_account(s.profile, s.event, &a);
		s.weight = a.weight;
		s.samples = a.samples;
		sums_unit(&s);
		if (!s.off_cpu && profile_event_unit(s.profile, s.event) == PROFILE_NANOSECONDS)
			s.cpu_seconds = (double)a.weight / 1e9;
	}
	s.seconds = sums_seconds(r);
	sums_kinds(&s);
	rc = sums_rollup(&s, 1u << ROLLUP_OBJECT | 1u << ROLLUP_SYMBOL, &s.functions);
	rc = rc < 0 ? rc : sums_rollup(&s, 1u << ROLLUP_OBJECT, &s.objects);
	rc = rc < 0 ? rc : sums_rollup(&s, 1u << ROLLUP_COMM, &s.commands);
	rc = rc < 0 ? rc
	            : sums_rollup(&s, 1u << ROLLUP_COMM | 1u << ROLLUP_PID | 1u << ROLLUP_TID,
	                          &s.threads);
	s.has_tasks = profile_keeps(s.profile) & PROFILE_KEEP_TID;
	for (size_t i = 0; rc >= 0 && i < s.threads.n; i++)
		if (!s.threads.rows[i].value[ROLLUP_PID])
			s.idle += s.threads.rows[i].self;
	/* Idle is hit in the kernel's code only. */
	if (s.idle > s.kind[PROFILE_KERNEL])
		s.idle = s.kind[PROFILE_KERNEL];
	s.cpu_seconds -= s.cpu_seconds > 0 ? (double)s.idle / 1e9 : 0;
	*ret = s;
	return rc;
}

void explain_sums_free(struct explain_sums *s)
{
	rollup_free(&s->functions);
	rollup_free(&s->objects);
	rollup_free(&s->commands);
	rollup_free(&s->threads);
}

bool explain_kernel_only(const struct explain_sums *s)
{
	return !s->is_time && s->kind[PROFILE_KERNEL] == s->weight;
}

const char *explain_function(const struct explain_sums *s, const struct rollup_row *row)
{
	uint32_t name = row->value[ROLLUP_SYMBOL];

	return name ? profile_text(s->profile, name) : NULL;
}

double explain_share(const struct explain_sums *s, uint64_t weight)
{
	return report_percent(weight, s->weight);
}
