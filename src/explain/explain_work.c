// SPDX-License-Identifier: MIT
// explain_work.c: what stands out: kinds of work (works.def), one thread for all, many short
// processes.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "explain/explain_parts.h"

#define ONE_THREAD 80.0  /* percent of the time in one thread of several */
#define MANY_THREADS 100 /* threads, ... */
#define SHORT_SAMPLES 20 /* ... with fewer samples than so many each */
#define KERNEL_MUCH 30.0 /* percent */
#define IDLE_MUCH 10.0   /* percent */
#define WORKS_TOLD 6     /* kinds of work that are told */

struct work {
	const char *id;
	double least;
	const char *text, *names;
};

static const struct work works[] = {
#define WORK(id, least, text, names) { id, least, text, names },
#include "explain/works.def"
};
#define WORKS (sizeof(works) / sizeof(works[0]))
_Static_assert(WORKS <= 32, "a bit of a u32 for each kind of work");

/* Whether the name is one of the list. */
static bool work_has(const char *names, const char *name)
{
	size_t length = strlen(name);

	while (*names) {
		size_t n = strcspn(names, "|");

		if (n && names[n - 1] == '*' ? !strncmp(names, name, n - 1)
		                             : n == length && !strncmp(names, name, n))
			return true;
		names += n + (names[n] == '|');
	}
	return false;
}

/* For each frame the kinds of work that its name stands for, as bits. A name is looked up once,
 * however many frames have it. NULL: out of memory; the caller frees it. */
static uint32_t *work_frames(const struct profile *p)
{
	size_t n = profile_n_frames(p), n_strings = profile_n_strings(p);
	uint32_t *ret = calloc(n + 1, sizeof(*ret)), *of = calloc(n_strings + 1, sizeof(*of));
	bool *seen = calloc(n_strings + 1, sizeof(*seen));

	for (uint32_t i = 1; ret && of && seen && i <= n; i++) {
		uint32_t s = profile_frame_at(p, i)->symbol;

		if (!s)
			continue;
		for (size_t w = 0; !seen[s] && w < WORKS; w++)
			of[s] |= work_has(works[w].names, profile_text(p, s)) ? 1u << w : 0;
		seen[s] = true;
		ret[i] = of[s];
	}
	if (!of || !seen) {
		free(ret);
		ret = NULL;
	}
	free(of);
	free(seen);
	return ret;
}

/* Adds up the weight of the stacks with each kind of work in them. A node's kinds are its frame's
 * and its caller's, whose id is less. -ENOMEM. */
static int work_weights(const struct explain_sums *s, uint64_t weight[WORKS])
{
	const struct profile *p = s->profile;
	uint32_t *frames = work_frames(p), *nodes;
	size_t n = profile_n_nodes(p);

	nodes = frames ? calloc(n + 1, sizeof(*nodes)) : NULL;
	for (uint32_t i = 1; nodes && i <= n; i++) {
		struct profile_node node = profile_node_at(p, i);

		nodes[i] = nodes[node.parent] | frames[node.frame];
	}
	for (size_t i = 0; nodes && i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);

		for (size_t w = 0; row->key.event == s->event && w < WORKS; w++)
			if (nodes[row->key.node] & 1u << w)
				weight[w] += row->weight;
	}
	free(frames);
	if (!nodes)
		return -ENOMEM;
	free(nodes);
	return 0;
}

/* The function of that kind of work that has the most in it or below it, or NULL. */
static const char *work_function(const struct explain_sums *s, const struct work *w)
{
	const struct rollup_row *best = NULL;

	for (size_t i = 0; i < s->functions.n; i++) {
		const struct rollup_row *row = &s->functions.rows[i];
		const char *name = explain_function(s, row);

		if (name && (!best || row->total > best->total) && work_has(w->names, name))
			best = row;
	}
	return best ? explain_function(s, best) : NULL;
}

/* Tells the kinds of work that are large, the largest first. -ENOMEM. */
static int work_kinds(struct explain *x, const struct explain_sums *s)
{
	uint64_t weight[WORKS] = { 0 };
	int rc = work_weights(s, weight);

	for (unsigned told = 0; rc >= 0 && told < WORKS_TOLD; told++) {
		size_t best = 0;
		const char *name;

		for (size_t w = 1; w < WORKS; w++)
			if (weight[w] > weight[best])
				best = w;
		if (!weight[best])
			break;
		name = work_function(s, &works[best]);
		if (name && explain_share(s, weight[best]) >= works[best].least)
			explain_add(x,
			            &(struct explain_new){ EXPLAIN_WORK, works[best].id,
			                                   explain_share(s, weight[best]),
			                                   EXPLAIN_COMMAND("report", "--stdio",
			                                                   "-g", "callee",
			                                                   "--symbols", name) },
			            "%s", works[best].text);
		weight[best] = 0;
	}
	return rc;
}

/* CPUs without work, in recordings of whole CPUs: the kernel's task for that has pid 0. */
static void work_idle(struct explain *x, const struct explain_sums *s)
{
	if (explain_share(s, s->idle) >= IDLE_MUCH)
		explain_add(x,
		            &(struct explain_new){ EXPLAIN_WORK, "idle", explain_share(s, s->idle),
		                                   EXPLAIN_COMMAND("report", "--stdio", "--pid",
		                                                   "0", "-g", "none") },
		            "idle: CPUs without work");
}

/* Of several threads one does nearly all, or there are very many that do little each. */
static void work_threads(struct explain *x, const struct explain_sums *s)
{
	const struct rollup *t = &s->threads;
	static const char *const by_thread[] = { "report",        "--stdio", "-s",
		                                 "pid,tid,comm",  "-g",      "none",
		                                 "--no-children", NULL };
	char comm[ROLLUP_TEXT_MAX];
	double most = t->n ? explain_share(s, t->rows[0].self) : 0;

	if (!s->has_tasks)
		return;
	if (t->n > 1 && !s->idle && s->samples >= EXPLAIN_FEW && t->n < MANY_THREADS &&
	    most >= ONE_THREAD)
		explain_add(x, &(struct explain_new){ EXPLAIN_WORK, "one_thread", most, by_thread },
		            "one thread of %zu: %s, %u", t->n,
		            rollup_text(t, &t->rows[0], ROLLUP_COMM, comm, sizeof(comm)),
		            t->rows[0].value[ROLLUP_TID]);
	if (t->n >= MANY_THREADS && s->samples / t->n < SHORT_SAMPLES)
		explain_add(x,
		            &(struct explain_new){
		                    EXPLAIN_WORK, "short_threads", -1,
		                    EXPLAIN_COMMAND("report", "--stdio", "--tasks") },
		            "%zu threads with %.1f samples each: short-lived work", t->n,
		            (double)s->samples / (double)t->n);
}

/* Much time in the kernel is for programs' sakes: which system calls, the parent column tells. */
static void work_kernel(struct explain *x, const struct explain_sums *s)
{
	double share = explain_share(s, s->kind[PROFILE_KERNEL] - s->idle);

	if (share >= KERNEL_MUCH && !s->off_cpu && !s->no_user && !explain_kernel_only(s))
		explain_add(x,
		            &(struct explain_new){ EXPLAIN_WORK, "kernel", share,
		                                   EXPLAIN_COMMAND("report", "--stdio", "-s",
		                                                   "parent", "-g", "none",
		                                                   "--no-children") },
		            "the kernel's own work: see for which system calls");
}

int explain_work(struct explain *x, const struct explain_sums *s)
{
	int rc = s->weight ? work_kinds(x, s) : 0;

	if (s->weight) {
		if (s->is_time)
			work_idle(x, s);
		work_kernel(x, s);
		work_threads(x, s);
	}
	return rc;
}
