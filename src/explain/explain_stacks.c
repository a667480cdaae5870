// SPDX-License-Identifier: MIT
// explain_stacks.c: how good the stacks are: whole or not, without names, lost; and what to try.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event_unit.h"
#include "explain/explain_parts.h"
#include "report/hint.h"

#define SHARE_LEAST 1.0  /* percent from which on something is told */
#define FEW_SAMPLES 2000 /* below this shares are rough */
#define IDLE_CPUS 0.7    /* CPUs in use, below which waiting is the question */

static const char *const stats_args[] = { "report", "--stats", NULL };

/* How many stacks are whole, and the worst reason why others are not. */
static void stacks_states(struct explain *x, const struct explain_sums *s)
{
	const struct profile_state *state;
	struct profile_account a;
	uint32_t worst = UINT32_MAX;

	profile_account(s->profile, 0, &a);
	for (uint32_t i = 0; i < profile_n_states(s->profile); i++)
		if (!profile_state_at(s->profile, i)->whole && a.state[i] &&
		    (worst == UINT32_MAX || a.state[i] > a.state[worst]))
			worst = i;
	explain_add(x,
	            &(struct explain_new){ EXPLAIN_STACKS, "whole",
	                                   report_percent(a.whole, a.samples), stats_args },
	            "of the samples have their whole stack, as far as the recording tells");
	if (worst == UINT32_MAX || report_percent(a.state[worst], a.samples) < SHARE_LEAST)
		return;
	state = profile_state_at(s->profile, worst);
	explain_add(x,
	            &(struct explain_new){ EXPLAIN_STACKS, state->name,
	                                   report_percent(a.state[worst], a.samples), stats_args },
	            "of the samples: %s%s%s", state->text, state->hint ? "; " : "",
	            state->hint ? state->hint : "");
}

/* The object in which the most stacks end where nothing begins. */
static void stacks_ends(struct explain *x, const struct explain_sums *s)
{
	struct report_ends e;
	struct profile_account a;

	if (report_ends_find(s->report, NULL, &e) < 0) {
		x->failed = true;
		return;
	}
	profile_account(s->profile, 0, &a);
	if (e.n && report_percent(e.samples, a.samples) >= SHARE_LEAST)
		explain_add(x,
		            &(struct explain_new){ EXPLAIN_STACKS, "end_early",
		                                   report_percent(e.samples, a.samples),
		                                   stats_args },
		            "of the samples have stacks that end too early, most of them in %s",
		            e.by_object[0].path && *e.by_object[0].path ? e.by_object[0].path
		                                                        : SYMBOL_UNKNOWN);
	free(e.by_object);
}

/* Code without names, and the file or package that would name it. */
static void stacks_unnamed(struct explain *x, const struct explain_sums *s)
{
	const struct load *l = &s->report->load;
	const struct load_unnamed *u = l->unnamed;
	struct buf hint = { 0 };

	if (!l->n_unnamed || report_percent(l->taken_unnamed, l->taken) < SHARE_LEAST)
		return;
	hint_unnamed(u, 1, s->report->rec ? s->report->rec->procs : NULL, &hint);
	explain_add(x,
	            &(struct explain_new){ EXPLAIN_STACKS, "unnamed",
	                                   report_percent(l->taken_unnamed, l->taken), stats_args },
	            "of the samples have frames without a name, most of them in %s%s%s", u->object,
	            hint.n ? ": " : "", buf_text(&hint));
	buf_free(&hint);
}

/* Stacks that lack functions of an interpreter, and the most frequent reason. */
static void stacks_runtime(struct explain *x, const struct explain_sums *s)
{
	const uint64_t *ends = s->report->load.runtime_ends;
	uint32_t worst = RUNTIME_END_NONE;
	uint64_t all = 0, lack = 0;

	for (uint32_t e = RUNTIME_END_COMPLETE; e < RUNTIME_ENDS; e++) {
		all += ends[e];
		if (!runtime_end_lacks((enum runtime_end)e))
			continue;
		lack += ends[e];
		if (ends[e] > ends[worst] || worst == RUNTIME_END_NONE)
			worst = e;
	}
	if (lack && report_percent(lack, all) >= SHARE_LEAST)
		explain_add(x,
		            &(struct explain_new){ EXPLAIN_STACKS, "interpreter",
		                                   report_percent(lack, all), stats_args },
		            "of the stacks in an interpreter may lack functions of it: %s",
		            runtime_end_text((enum runtime_end)worst));
}

/* What the kernel, or damage, took away. */
static void stacks_lost(struct explain *x, const struct explain_sums *s)
{
	const struct profile_counts *c = profile_counts_of(s->profile);
	const struct load *l = &s->report->load;
	uint64_t lost = c->lost_samples ? c->lost_samples : c->lost;
	double share = report_percent(lost, lost + l->taken + l->not_taken);

	if (lost)
		explain_add(x,
		            &(struct explain_new){ EXPLAIN_STACKS, "lost", share,
		                                   EXPLAIN_COMMAND("stat") },
		            "of what was sampled is lost (%llu): a ring was full (-m 16M has more "
		            "room), or the "
		            "kernel skipped samples",
		            (unsigned long long)lost);
	if (l->damaged)
		explain_add(x,
		            &(struct explain_new){ EXPLAIN_STACKS, "damaged", -1,
		                                   EXPLAIN_COMMAND("stat", "--check") },
		            "a part of the file is damaged and was skipped");
}

/* What to try next: more samples, waiting, pictures. The margin is that of a share of 5 percent,
 * two standard deviations of independent samples. */
static void stacks_next(struct explain *x, const struct explain_sums *s)
{
	double busy = s->seconds > 0 ? s->cpu_seconds / s->seconds : 0;
	bool waits = false;

	for (uint32_t e = 1; e <= profile_n_events(s->profile); e++)
		waits |= event_unit_is_off_cpu(profile_event_name(s->profile, e));
	if (s->samples && s->samples < FEW_SAMPLES)
		explain_add(
		        x, &(struct explain_new){ EXPLAIN_NEXT, "few_samples", -1, NULL },
		        "%llu samples are few: a share of 5 %% is 5 ± %.1f %%; record longer, or "
		        "with a higher -F",
		        (unsigned long long)s->samples,
		        200 * sqrt(0.05 * 0.95 / (double)s->samples));
	if (!waits && s->cpu_seconds > 0 && s->seconds > 1 && busy < IDLE_CPUS)
		explain_add(
		        x, &(struct explain_new){ EXPLAIN_NEXT, "record_waiting", -1, NULL },
		        "it used %.2f CPUs: the rest is waiting, which seam record --off-cpu shows",
		        busy);
	explain_add(x, &(struct explain_new){ EXPLAIN_NEXT, "flame", -1, EXPLAIN_COMMAND("flame") },
	            "all stacks as a page for the browser");
	explain_add(x,
	            &(struct explain_new){ EXPLAIN_NEXT, "report", -1, EXPLAIN_COMMAND("report") },
	            "the whole table; on a terminal Enter opens callers and callees");
}

void explain_stacks(struct explain *x, const struct explain_sums *s)
{
	if (s->samples) {
		stacks_states(x, s);
		stacks_ends(x, s);
		stacks_unnamed(x, s);
		stacks_runtime(x, s);
	}
	stacks_lost(x, s);
	stacks_next(x, s);
}
