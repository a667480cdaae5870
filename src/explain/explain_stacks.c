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
#define EVENTS_TOLD 4    /* others than the one that shares are of */
#define IDLE_CPUS 0.7    /* CPUs in use, below which waiting is the question */

/* A finding about all samples of all events. */
static struct explain_new stacks_new(const char *id, double percent, const char *const *args)
{
	return (struct explain_new){ EXPLAIN_STACKS, id, percent, args, true };
}

/* Stacks whose walk was cut, and the reason of the most of them. */
struct stacks_cut {
	uint64_t samples, most;
	const char *text;
};

/* The text may say first what became of the stack, which the sentence says: "none: ". */
static void stacks_cut_add(struct stacks_cut *c, uint64_t n, const char *text)
{
	const char *reason = strstr(text, ": ");

	if (!strncmp(text, "none: ", 6) || !strncmp(text, "cut off: ", 9))
		text = reason + 2;
	c->samples += n;
	if (n > c->most)
		*c = (struct stacks_cut){ c->samples, n, text };
}

/* Walks over copies, of this reading or of the recorder's. */
static void stacks_cut_copies(struct stacks_cut *c, const struct load *l)
{
	const struct walk_result_counts *r = &l->recorded;

	for (int e = WALK_COMPLETE + 1; e < WALK_ENDS; e++) {
		uint64_t unreadable = e == WALK_TRUNCATED ? r->unreadable : 0;

		stacks_cut_add(c, r->end[e] - unreadable + l->unwound.end[e],
		               e == WALK_TRUNCATED ? "the copy of the stack ended (--call-graph "
		                                     "dwarf,BYTES takes longer ones)"
		                                   : walk_end_text((enum walk_end)e));
	}
	stacks_cut_add(c, r->unreadable, "the kernel could not read the stack");
	for (int k = WALK_RESULT_LATE; k < WALK_RESULT_KINDS; k++)
		if (k != WALK_RESULT_NO_STACK)
			stacks_cut_add(c, r->kind[k],
			               walk_result_kind_text((enum walk_result_kind)k));
	stacks_cut_add(c, l->unwound.unusable, walk_result_kind_text(WALK_RESULT_NO_REGISTERS));
}

/* Walks in the kernel while recording, which are counted of all samples: of those that are taken,
 * as many are cut as of all, as far as is known. Deferred ones have a state of their own. */
static void stacks_cut_live(struct stacks_cut *c, const struct load *l)
{
	double part = report_percent(l->taken, l->taken + l->not_taken) / 100;

	for (int e = 0; e < STACK_ENDS; e++)
		if (e != STACK_END_DEFERRED && stack_end_is_cut((enum stack_end)e))
			stacks_cut_add(c, (uint64_t)((double)l->ends[e] * part),
			               stack_end_text((enum stack_end)e));
}

/* The samples of the state that most are in. */
static uint64_t stacks_most(const struct explain_sums *s, const struct profile_account *a)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < profile_n_states(s->profile); i++)
		most = a->state[i] > most ? a->state[i] : most;
	return most;
}

/* How many stacks are whole, and why others are not. A stack that its walk cut off may be one that
 * ends where nothing begins, so the larger number is what is missing for sure. */
static void stacks_whole(struct explain *x, const struct explain_sums *s,
                         const struct report_ends *e)
{
	struct profile_account a;
	struct stacks_cut cut = { 0 };
	struct explain_new new;
	uint64_t lack;

	profile_account(s->profile, 0, &a);
	stacks_cut_copies(&cut, &s->report->load);
	if (!s->report->load.of_others)
		stacks_cut_live(&cut, &s->report->load);
	lack = cut.samples > e->samples ? cut.samples : e->samples;
	new = stacks_new("whole", report_percent(a.whole > lack ? a.whole - lack : 0, a.samples),
	                 explain_below_args);
	/* Where all are in one state that lacks the stack, that is told. */
	if (a.whole || a.samples > stacks_most(s, &a))
		explain_add(x, &new,
		            "of the samples have their whole stack, as far as the recording tells");
	new = stacks_new("cut_off", report_percent(cut.samples, a.samples), explain_below_args);
	if (new.percent >= SHARE_LEAST)
		explain_add(x, &new,
		            "of the samples have a stack that was not walked to its end, most of "
		            "them: %s",
		            cut.text);
}

/* The worst reason for which stacks were not taken. */
static void stacks_states(struct explain *x, const struct explain_sums *s)
{
	const struct profile_state *state;
	struct profile_account a;
	struct explain_new new;
	uint32_t worst = UINT32_MAX;

	profile_account(s->profile, 0, &a);
	for (uint32_t i = 0; i < profile_n_states(s->profile); i++)
		if (!profile_state_at(s->profile, i)->whole && a.state[i] &&
		    (worst == UINT32_MAX || a.state[i] > a.state[worst]))
			worst = i;
	if (worst == UINT32_MAX || report_percent(a.state[worst], a.samples) < SHARE_LEAST)
		return;
	state = profile_state_at(s->profile, worst);
	new = stacks_new(state->name, report_percent(a.state[worst], a.samples),
	                 explain_account_args(x));
	explain_add(x, &new, "of the samples: %s%s%s", state->text, state->hint ? "; " : "",
	            state->hint ? state->hint : "");
}

/* The object in which the most stacks end where nothing begins, and what would get further. */
static void stacks_ends(struct explain *x, const struct explain_sums *s,
                        const struct report_ends *e)
{
	struct profile_account a;
	struct explain_new new;
	const char *path;

	profile_account(s->profile, 0, &a);
	new = stacks_new("end_early", report_percent(e->samples, a.samples), explain_below_args);
	if (!e->n || new.percent < SHARE_LEAST)
		return;
	path = e->by_object[0].path;
	explain_add(x, &new,
	            "of the samples have stacks that end too early, most of them in %s: %s",
	            path && *path ? path : SYMBOL_UNKNOWN,
	            report_by_tables(s->report)
	                    ? "no unwind information is of that code"
	                    : "it keeps no frame pointer; seam record walks without them");
}

/* Code without names, and the file or package that would name it. */
static void stacks_unnamed(struct explain *x, const struct explain_sums *s)
{
	const struct load *l = &s->report->load;
	const struct load_unnamed *u = l->unnamed;
	struct buf hint = { 0 };
	struct explain_new new;

	if (!l->n_unnamed || report_percent(l->taken_unnamed, l->taken) < SHARE_LEAST)
		return;
	hint_unnamed(u, 1, s->report->rec ? s->report->rec->procs : NULL, &hint);
	new = stacks_new("unnamed", report_percent(l->taken_unnamed, l->taken), explain_below_args);
	explain_add(x, &new, "of the samples have frames without a name, most of them in %s%s%s",
	            u->object, hint.n ? ": " : "", buf_text(&hint));
	buf_free(&hint);
}

/* Stacks that lack functions of an interpreter, and the most frequent reason. */
static void stacks_runtime(struct explain *x, const struct explain_sums *s)
{
	const uint64_t *ends = s->report->load.runtime_ends;
	uint32_t worst = RUNTIME_END_NONE;
	uint64_t all = 0, lack = 0;
	struct explain_new new;

	for (uint32_t e = RUNTIME_END_COMPLETE; e < RUNTIME_ENDS; e++) {
		all += ends[e];
		if (!runtime_end_lacks((enum runtime_end)e))
			continue;
		lack += ends[e];
		if (ends[e] > ends[worst] || worst == RUNTIME_END_NONE)
			worst = e;
	}
	new = stacks_new("interpreter", report_percent(lack, all), explain_account_args(x));
	if (lack && new.percent >= SHARE_LEAST && !s->report->load.of_others)
		explain_add(x, &new, "of the stacks in an interpreter may lack functions of it: %s",
		            runtime_end_text((enum runtime_end)worst));
}

/* What the kernel, or damage, took away. */
static void stacks_lost(struct explain *x, const struct explain_sums *s)
{
	const struct profile_counts *c = profile_counts_of(s->profile);
	const struct load *l = &s->report->load;
	uint64_t lost = profile_lost(c), skipped = c->skipped_samples;
	double all = (double)(lost + l->taken + l->not_taken);

	if (lost > skipped && !l->of_others)
		explain_add(x,
		            &(struct explain_new){ EXPLAIN_STACKS, "lost",
		                                   100.0 * (lost - skipped) / all,
		                                   EXPLAIN_COMMAND("stat") },
		            "of what was sampled is lost (%llu): a ring was full (-m 16M has more "
		            "room)",
		            (unsigned long long)(lost - skipped));
	if (skipped && !l->of_others)
		explain_add(
		        x,
		        &(struct explain_new){ EXPLAIN_STACKS, "skipped", 100.0 * skipped / all,
		                               EXPLAIN_COMMAND("stat") },
		        "of what was sampled the kernel skipped (%llu): a BPF program was running "
		        "on that CPU",
		        (unsigned long long)skipped);
	if (l->damaged)
		explain_add(x,
		            &(struct explain_new){ EXPLAIN_STACKS, "damaged", -1,
		                                   EXPLAIN_COMMAND("stat", "--check") },
		            "a part of the file is damaged and was skipped");
}

/* Events that nothing was said of yet: each is explained by itself. */
static void stacks_next_events(struct explain *x, const struct explain_sums *s)
{
	char number[32];
	unsigned told = 0;

	for (uint32_t e = 1; e <= profile_n_events(s->profile) && told < EVENTS_TOLD; e++) {
		const char *name = profile_event_name(s->profile, e);
		struct profile_account a;

		profile_account(s->profile, e, &a);
		if (!a.samples || e == s->event || event_unit_is_off_cpu(name))
			continue;
		explain_add(x,
		            &(struct explain_new){ EXPLAIN_NEXT, "other_event", -1,
		                                   EXPLAIN_COMMAND("explain", "-e", name) },
		            "%s sample%s of %s, which all this is not about",
		            report_number(a.samples, number, sizeof(number)),
		            a.samples == 1 ? "" : "s", name);
		told++;
	}
}

/* What came through a pipe is gone: the commands that are shown read it from one again. */
static void stacks_pipe(struct explain *x)
{
	if (!strcmp(x->about.recording, "-"))
		explain_add(
		        x, &(struct explain_new){ EXPLAIN_NEXT, "from_pipe", -1, NULL },
		        "it came through a pipe, and these commands take it from one: in a file "
		        "it can be read again");
}

/* What to try next: more samples, waiting, pictures. The margin is that of a share of 5 percent,
 * two standard deviations of independent samples. */
static void stacks_next(struct explain *x, const struct explain_sums *s)
{
	double busy = s->seconds > 0 ? s->cpu_seconds / s->seconds : 0;
	char number[32];
	bool waits = false;

	for (uint32_t e = 1; e <= profile_n_events(s->profile); e++)
		waits |= event_unit_is_off_cpu(profile_event_name(s->profile, e));
	if (!s->samples)
		explain_add(x,
		            &(struct explain_new){ EXPLAIN_NEXT, "no_samples", -1,
		                                   EXPLAIN_COMMAND("stat") },
		            "nothing was sampled: it ran too short, or waited all the time (seam "
		            "record --off-cpu), or the file has other events");
	if (s->samples >= EXPLAIN_FEW && s->samples < FEW_SAMPLES && s->by_frequency)
		explain_add(x, &(struct explain_new){ EXPLAIN_NEXT, "few_samples", -1, NULL },
		            "%s samples are few: a share of 5 %% is 5 ± %.1f %%; record longer, or "
		            "with a higher -F",
		            report_number(s->samples, number, sizeof(number)),
		            200 * sqrt(0.05 * 0.95 / (double)s->samples));
	/* Idle CPUs were told of, and what was left out may have run. */
	if (!waits && !s->idle && s->has_tasks && !s->no_user && !s->no_kernel &&
	    s->cpu_seconds > 0 && s->seconds > 1 && busy < IDLE_CPUS)
		explain_add(x, &(struct explain_new){ EXPLAIN_NEXT, "record_waiting", -1, NULL },
		            "it used %.2f CPUs: the rest was waiting, for a CPU, too; seam record "
		            "--off-cpu shows for what",
		            busy);
	stacks_next_events(x, s);
	stacks_pipe(x);
	if (!s->samples)
		return;
	explain_add(x, &(struct explain_new){ EXPLAIN_NEXT, "flame", -1, EXPLAIN_COMMAND("flame") },
	            "all stacks as a page for the browser");
	explain_add(x,
	            &(struct explain_new){ EXPLAIN_NEXT, "report", -1, EXPLAIN_COMMAND("report"),
	                                   true },
	            "the whole table; on a terminal Enter opens callers and callees");
}

/* Tells how good the stacks are, and what to try. */
void explain_stacks(struct explain *x, const struct explain_sums *s)
{
	struct report_ends e;

	if (s->samples && report_ends_find(s->report, NULL, &e) < 0) {
		x->failed = true;
		return;
	}
	if (s->samples) {
		stacks_whole(x, s, &e);
		stacks_states(x, s);
		stacks_ends(x, s, &e);
		free(e.by_object);
		stacks_unnamed(x, s);
		stacks_runtime(x, s);
	}
	stacks_lost(x, s);
	stacks_next(x, s);
}
