// SPDX-License-Identifier: MIT
// explain_time.c: where the time goes: programs, objects, functions; and who waited.
#include <stdlib.h>
#include <string.h>

#include "abi/event_unit.h"
#include "abi/runtime.h"
#include "explain/explain_parts.h"
#include "profile/nameless.h"
#include "resolve/beginning.h"

#define NAMED 3         /* commands, objects, functions that are listed by name */
#define NAMED_LEAST 3   /* percent from which on one is worth a name */
#define HOTTEST_LEAST 1 /* percent of the first one */
#define HALF 50.0
#define EQUALS 64         /* functions of the same share that are looked at */
#define STANDS_OUT 10.0   /* percent of one function, from which on it stands out */
#define UNNAMED_MUCH 10.0 /* percent without a name, from which on it is told here */

/* "as 12.3 %, make 4.0 %": the first rows of a table, from the one at `at` on. */
static void time_list(const struct explain_sums *s, const struct rollup *t, size_t at,
                      enum rollup_column column, struct buf *out)
{
	char text[ROLLUP_TEXT_MAX];

	for (size_t i = at; i < t->n && i < NAMED; i++) {
		double share = explain_share(s, t->rows[i].self);

		if (i && share < NAMED_LEAST)
			break;
		buf_printf(out, "%s%s %.1f %%", i > at ? ", " : "",
		           rollup_text(t, &t->rows[i], column, text, sizeof(text)), share);
	}
}

/* Which programs had the time. */
static void time_commands(struct explain *x, const struct explain_sums *s)
{
	const struct rollup *t = &s->commands;
	char text[ROLLUP_TEXT_MAX];
	struct buf others = { 0 };

	time_list(s, t, 1, ROLLUP_COMM, &others);
	if (t->n > 1)
		explain_add(x,
		            &(struct explain_new){
		                    EXPLAIN_TIME, "commands", explain_share(s, t->rows[0].self),
		                    EXPLAIN_COMMAND("report", "--stdio", "-s", "comm", "-g", "none",
		                                    "--no-children") },
		            "in threads named %s%s%s (%zu names in all)",
		            rollup_text(t, &t->rows[0], ROLLUP_COMM, text, sizeof(text)),
		            others.n ? "; " : "", buf_text(&others), t->n);
	buf_free(&others);
}

/* In which code it was: user or kernel, and in which files. */
static void time_objects(struct explain *x, const struct explain_sums *s)
{
	struct buf list = { 0 }, text = { 0 };

	time_list(s, &s->objects, 0, ROLLUP_OBJECT, &list);
	if (s->no_user)
		buf_put_text(&text, "in the kernel: programs and libraries were not sampled (:k)");
	else if (s->no_kernel)
		buf_printf(&text,
		           "in programs and libraries: the kernel was not sampled (:u); most in %s",
		           buf_text(&list));
	else
		buf_printf(&text, "in programs and libraries, %.1f %% in the kernel; most in %s",
		           explain_share(s, s->kind[PROFILE_KERNEL]), buf_text(&list));
	explain_add(x,
	            &(struct explain_new){
	                    EXPLAIN_TIME, "objects",
	                    explain_share(s, s->kind[s->no_user ? PROFILE_KERNEL : PROFILE_USER]),
	                    EXPLAIN_COMMAND("report", "--stdio", "-s", "dso", "-g", "none",
	                                    "--no-children") },
	            "%s", buf_text(&text));
	buf_free(&text);
	buf_free(&list);
}

/* Whether interrupts that could not come before come in the function. The kernel's events that
 * count time are sampled by a timer's interrupt. */
static bool time_lets_in(const struct explain_sums *s, const struct rollup_row *row)
{
	static const char *const names[] = { "pvm_irq_enable",
		                             "native_irq_enable",
		                             "xen_irq_enable",
		                             "_raw_spin_unlock_irq",
		                             "_raw_spin_unlock_irqrestore",
		                             "finish_task_switch",
		                             "finish_task_switch.isra.0",
		                             "arch_local_irq_enable",
		                             "arch_local_irq_restore" };
	const char *name = explain_function(s, row);
	bool ret = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && row->kind == PROFILE_KERNEL; i++)
		ret |= !strcmp(name, names[i]);
	return ret && s->is_time && profile_event_unit(s->profile, s->event) == PROFILE_NANOSECONDS;
}

/* The functions with the most time of their own. */
static void time_hottest(struct explain *x, const struct explain_sums *s)
{
	char object[ROLLUP_TEXT_MAX];
	unsigned told = 0;

	for (size_t i = 0; i < s->functions.n && told < NAMED; i++) {
		const struct rollup_row *row = &s->functions.rows[i];
		double share = explain_share(s, row->self);

		if (share < (told ? NAMED_LEAST : HOTTEST_LEAST))
			break;
		if (!explain_function(s, row))
			continue;
		explain_add(x,
		            &(struct explain_new){ EXPLAIN_TIME, "hottest_function", share,
		                                   EXPLAIN_COMMAND("report", "--stdio", "-g",
		                                                   "callee", "--symbols",
		                                                   explain_function(s, row)) },
		            "%s: %s of %s, by itself%s", told ? "then" : "most in one function",
		            explain_function(s, row),
		            rollup_text(&s->functions, row, ROLLUP_OBJECT, object, sizeof(object)),
		            time_lets_in(s, row)
		                    ? "; it lets interrupts in again, and the timer with them: "
		                      "samples of what ran without fall on it, so look at callers"
		                    : "");
		told++;
	}
}

/* How many functions make half of the time. Code without a function's range is one row for a whole
 * object, so it is told by itself, and where it has much nothing is counted. */
static void time_spread(struct explain *x, const struct explain_sums *s)
{
	uint64_t sum = 0, unnamed = 0;
	size_t n = 0, all = 0;

	while (n < s->functions.n && explain_share(s, sum) < HALF)
		sum += s->functions.rows[n++].self;
	for (size_t i = 0; i < s->functions.n; i++) {
		const struct rollup_row *row = &s->functions.rows[i];

		all += row->self > 0;
		unnamed += explain_function(s, row) ? 0 : row->self;
	}
	if (explain_share(s, unnamed) >= UNNAMED_MUCH)
		explain_add(x,
		            &(struct explain_new){
		                    EXPLAIN_TIME, "unnamed_functions", explain_share(s, unnamed),
		                    EXPLAIN_COMMAND("report", "--stdio", "-S", SYMBOL_UNKNOWN, "-g",
		                                    "none", "--no-children") },
		            "in code without a name: which functions those are is not known");
	else if (n > NAMED)
		explain_add(x,
		            &(struct explain_new){
		                    EXPLAIN_TIME, "spread", explain_share(s, sum),
		                    EXPLAIN_COMMAND("report", "--stdio", "-g", "none") },
		            "in %zu functions of %zu%s", n, all,
		            explain_share(s, s->functions.rows[0].self) < STANDS_OUT
		                    ? ": none stands out, so look at what calls them"
		                    : "");
}

/* Whether the function has a name, not only a place where it begins, and says more than that a
 * program or thread began. */
static bool time_named(const struct explain_sums *s, const struct rollup_row *row)
{
	const char *name = explain_function(s, row);

	return name && !nameless_is(name, NULL) && !beginning_is(name) && strcmp(name, "main") != 0;
}

/* Whether the function may be the one that much passes through: of what an interpreter runs, its
 * own functions are the same for every program. */
static bool time_of_program(const struct explain_sums *s, const struct rollup_row *row)
{
	return explain_share(s, s->runtime.weight) < HALF ||
	       runtime_of_function(explain_function(s, row)) == s->runtime.kind;
}

/* Whether half of the time passes through a function, which says more than where a program begins
 * or what is hottest. Of waiting, only programs' functions do. */
static bool time_has_half(const struct explain_sums *s, const struct rollup_row *row)
{
	return explain_share(s, row->total) >= HALF && explain_share(s, row->self) <= HALF / 2 &&
	       row->kind != PROFILE_MISSING && (!s->off_cpu || row->kind == PROFILE_USER) &&
	       time_named(s, row) && time_of_program(s, row);
}

/* How many frames stand outwards of each node. NULL: out of memory; the caller frees it. */
static uint32_t *time_depths(const struct profile *p)
{
	size_t n = profile_n_nodes(p);
	uint32_t *depth = calloc(n + 1, sizeof(*depth));

	for (uint32_t i = 1; depth && i <= n; i++)
		depth[i] = depth[profile_node_at(p, i).parent] + 1;
	return depth;
}

/* How deep a function ever is. */
static uint32_t time_deepest(const struct explain_sums *s, const uint32_t *depth,
                             const struct rollup_row *row)
{
	uint32_t ret = 0;

	for (uint32_t i = 1; i <= profile_n_nodes(s->profile); i++) {
		const struct profile_frame *f =
		        profile_frame_at(s->profile, profile_node_at(s->profile, i).frame);

		if (depth[i] > ret && f->symbol == row->value[ROLLUP_SYMBOL] &&
		    f->object == row->value[ROLLUP_OBJECT])
			ret = depth[i];
	}
	return ret;
}

/* The innermost function that half of the time passes through: of those with so much in it or below
 * it, the one with the least. One that always calls the next has as much: the deepest of up to
 * EQUALS. NULL: there is none. */
static const struct rollup_row *time_innermost(struct explain *x, const struct explain_sums *s)
{
	const struct rollup_row *best = NULL;
	uint32_t *depth = time_depths(s->profile), deepest = 0;
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < s->functions.n; i++)
		if (s->functions.rows[i].total < least && time_has_half(s, &s->functions.rows[i]))
			least = s->functions.rows[i].total;
	for (size_t i = 0, n = 0; depth && i < s->functions.n && n < EQUALS; i++) {
		const struct rollup_row *row = &s->functions.rows[i];
		uint32_t at;

		if (row->total != least || !time_has_half(s, row))
			continue;
		n++;
		at = time_deepest(s, depth, row);
		if (at > deepest) {
			deepest = at;
			best = row;
		}
	}
	x->failed |= !depth;
	free(depth);
	return best;
}

static void time_through(struct explain *x, const struct explain_sums *s)
{
	const struct rollup_row *best = time_innermost(x, s);
	char object[ROLLUP_TEXT_MAX];

	if (best)
		explain_add(x,
		            &(struct explain_new){
		                    EXPLAIN_TIME, "passes_through", explain_share(s, best->total),
		                    EXPLAIN_COMMAND("report", "--stdio", "-g", "caller",
		                                    "--symbols", explain_function(s, best)) },
		            "passes through %s of %s, the innermost %sfunction that so much has in "
		            "common",
		            explain_function(s, best),
		            rollup_text(&s->functions, best, ROLLUP_OBJECT, object, sizeof(object)),
		            s->off_cpu ? "user " : "");
}

/* One event that counts waiting, beside the time on CPUs. */
static void time_waiting(struct explain *x, const struct explain_sums *s, uint32_t event)
{
	const char *name = profile_event_name(s->profile, event);
	struct profile_account a;

	profile_account(s->profile, event, &a);
	if (!a.weight || !strncmp(name, "offcpu-idle", 11))
		return;
	explain_add(x,
	            &(struct explain_new){ EXPLAIN_TIME, "waiting", -1,
	                                   EXPLAIN_COMMAND("explain", "-e", name) },
	            "threads %s for %.2f s in all (%s)",
	            !strncmp(name, "offcpu-runqueue", 15)  ? "were ready to run, without a CPU,"
	            : !strncmp(name, "offcpu-blocked", 14) ? "waited for devices"
	                                                   : "slept",
	            (double)a.weight / 1e9, name);
}

static void time_few(struct explain *x, const struct explain_sums *s)
{
	if (s->samples < EXPLAIN_FEW && s->by_frequency)
		explain_add(x, &(struct explain_new){ EXPLAIN_TIME, "too_few", -1, NULL },
		            "%llu sample%s: too few for shares to mean anything; record longer, or "
		            "with a higher -F",
		            (unsigned long long)s->samples, s->samples == 1 ? "" : "s");
}

void explain_time(struct explain *x, const struct explain_sums *s)
{
	if (!s->weight)
		return;
	time_few(x, s);
	time_commands(x, s);
	if (!s->off_cpu && !explain_kernel_only(s))
		time_objects(x, s);
	explain_runtime(x, s);
	time_hottest(x, s);
	time_spread(x, s);
	time_through(x, s);
	if (s->off_cpu)
		return;
	for (uint32_t e = 1; e <= profile_n_events(s->profile); e++)
		if (event_unit_is_off_cpu(profile_event_name(s->profile, e)))
			time_waiting(x, s, e);
}
