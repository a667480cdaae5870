// SPDX-License-Identifier: MIT
// explain_sums.c: a profile's weights added up in the ways that findings ask for.
#include "abi/event_unit.h"
#include "explain/explain_parts.h"

/* The event that shares are of: the one with the most samples, of those in which tasks ran. */
static uint32_t sums_event(const struct profile *p)
{
	uint64_t most = 0;
	uint32_t ret = 0;

	for (uint32_t e = 1; e <= profile_n_events(p); e++) {
		struct profile_account a;

		profile_account(p, e, &a);
		if (a.samples > most && !event_unit_is_off_cpu(profile_event_name(p, e))) {
			most = a.samples;
			ret = e;
		}
	}
	return ret;
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

/* Reads the recording's times and CPU seconds, then makes the tables. */
int explain_sums_build(struct explain_sums *ret, const struct report *r)
{
	struct explain_sums s = { .report = r, .profile = r->load.profile };
	struct profile_account a;
	int rc;

	s.event = sums_event(s.profile);
	if (s.event) {
		profile_account(s.profile, s.event, &a);
		s.weight = a.weight;
		s.samples = a.samples;
		if (profile_event_unit(s.profile, s.event) == PROFILE_NANOSECONDS)
			s.cpu_seconds = (double)a.weight / 1e9;
	}
	if (r->rec && r->rec->last_ns > r->rec->first_ns)
		s.seconds = (double)(r->rec->last_ns - r->rec->first_ns) / 1e9;
	sums_kinds(&s);
	rc = sums_rollup(&s, 1u << ROLLUP_OBJECT | 1u << ROLLUP_SYMBOL, &s.functions);
	rc = rc < 0 ? rc : sums_rollup(&s, 1u << ROLLUP_OBJECT, &s.objects);
	rc = rc < 0 ? rc : sums_rollup(&s, 1u << ROLLUP_COMM, &s.commands);
	rc = rc < 0 ? rc
	            : sums_rollup(&s, 1u << ROLLUP_COMM | 1u << ROLLUP_PID | 1u << ROLLUP_TID,
	                          &s.threads);
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

const char *explain_function(const struct explain_sums *s, const struct rollup_row *row)
{
	uint32_t name = row->value[ROLLUP_SYMBOL];

	return name ? profile_text(s->profile, name) : NULL;
}

double explain_share(const struct explain_sums *s, uint64_t weight)
{
	return report_percent(weight, s->weight);
}
