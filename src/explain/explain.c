// SPDX-License-Identifier: MIT
// explain.c: a finished profile in findings.
#include "explain/explain.h"

#include <errno.h>
#include <stdlib.h>

#include "explain/explain_parts.h"

/* How many events have samples. */
static unsigned explain_events(const struct profile *p)
{
	struct profile_account a;
	unsigned n = 0;

	for (uint32_t e = 1; e <= profile_n_events(p); e++) {
		profile_account(p, e, &a);
		n += a.samples > 0;
	}
	return n;
}

/* Sums the profile up once, and lets each file of the room tell its part. */
int explain_find(struct explain *ret, const struct report *r, const char *recording,
                 const struct explain_from *from)
{
	struct explain x = { .from = from, .finding = calloc(EXPLAIN_LINES, sizeof(*x.finding)) };
	struct explain_sums s = { 0 };
	int rc = x.finding ? explain_sums_build(&s, r) : -ENOMEM;

	rc = rc < 0 ? rc : explain_runtime_sum(&s);
	if (rc >= 0) {
		x.about = (struct explain_about){
			.recording = recording,
			.event = s.event ? profile_event_name(s.profile, s.event) : "",
			.samples = s.samples,
			.seconds = s.seconds,
			.cpu_seconds = s.cpu_seconds,
		};
		if (explain_events(s.profile) > 1)
			x.event = x.about.event;
		x.by_event = s.event && !s.is_time;
		x.waits = s.off_cpu;
		explain_time(&x, &s);
		rc = explain_work(&x, &s);
		explain_stacks(&x, &s);
	}
	explain_sums_free(&s);
	*ret = x;
	return rc < 0 ? rc : x.failed ? -ENOMEM : 0;
}

void explain_free(struct explain *x)
{
	for (size_t i = 0; i < x->n; i++)
		explain_finding_free(&x->finding[i]);
	free(x->finding);
}
