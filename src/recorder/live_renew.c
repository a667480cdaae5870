// SPDX-License-Identifier: MIT
/*
 * live_renew.c: see live_renew.h. Everything that can fail comes before anything is replaced.
 *
 * A recorder that runs for days sees processes come and go, and its process table only grows. When
 * it has outgrown its limit, what is still alive is copied into a new one (proc_renew), and walkers
 * get new state. Tables of objects that nobody maps any more go with it.
 *
 * It runs between two rounds, on the worker's thread: no walk is under way.
 */
#include "recorder/live_renew.h"

#include <errno.h>
#include <stdlib.h>

#include "recorder/live_walk.h"

/* After its EXIT a task may still be sampled until it is scheduled away. */
#define GRACE_NS 2000000000ULL
#define TABLES_LEAST 64u /* objects: fewer tables are not worth making them anew */

int live_renew_unwound(const struct live_walk *w, const struct proc_table *procs,
                       struct tables *tables, struct unwound **ret)
{
	struct unwound_opts opts = { .sz = sizeof(opts),
		                     .procs = procs,
		                     .tables = tables,
		                     .machine = w->machine,
		                     .trap = w->trap,
		                     .own_vdso = true,
		                     .running = true };

	return unwound_new(ret, &opts);
}

/* Walkers' state goes with its lists, so that they are added up before. */
int live_renew_keep_missing(struct live_walk *w)
{
	int r = 0;

	for (unsigned i = 0; i < w->n_walkers && r >= 0; i++) {
		size_t n;
		const struct unwound_missing *m = unwound_missing(w->walkers[i].unwound, &n);

		r = live_missing_add(&w->missing, m, n);
	}
	live_missing_sort(&w->missing);
	return r;
}

struct renewed {
	struct proc_table *procs;
	struct tables *tables; /* those there are, or new ones */
	struct unwound *unwound[LIVE_THREADS_MAX], *in_exec[LIVE_THREADS_MAX];
	struct tables_counts before;
};

/* Whether most tables are of programs that nobody runs any more; then they are freed. */
static bool renew_tables_too(const struct renewed *n)
{
	uint64_t have = n->before.built + n->before.from_cache + n->before.without;

	/* More than twice as many tables as the living processes have objects. */
	return have > TABLES_LEAST + 2 * proc_objects(n->procs);
}

/* Makes a new process table, new unwind tables if most of the old ones are of programs that ended,
 * and the walkers' state over both. Nothing is replaced yet. -ENOMEM. */
static int renew_make(struct live_walk *w, struct renewed *n)
{
	int r = proc_renew(&n->procs, w->procs, GRACE_NS);

	if (r < 0)
		return r;
	tables_count(w->tables, &n->before);
	n->tables = w->tables;
	if (renew_tables_too(n)) {
		n->tables = NULL;
		r = tables_new(&n->tables, &w->tables_opts);
	}
	/* When files without a build-id were mapped is not to be found out again: it is taken
	 * over. */
	for (size_t i = 0; n->tables != w->tables && r >= 0 && i < proc_objects(n->procs); i++) {
		const struct proc_object *o = proc_object_at(n->procs, i);

		if (o->inode)
			r = tables_mapped_before(n->tables, w->tables, o->path, o->inode);
	}
	for (unsigned i = 0; i < w->n_walkers && r >= 0; i++) {
		r = live_renew_unwound(w, n->procs, n->tables, &n->unwound[i]);
		if (r >= 0)
			r = live_renew_unwound(w, n->procs, n->tables, &n->in_exec[i]);
	}
	return r;
}

/* What was made is freed; the old state stays in use. */
static void renew_discard(const struct live_walk *w, struct renewed *n)
{
	for (unsigned i = 0; i < w->n_walkers; i++) {
		unwound_free(n->unwound[i]);
		unwound_free(n->in_exec[i]);
	}
	if (n->tables != w->tables)
		tables_free(n->tables);
	proc_free(n->procs);
}

/* Replaces the old tables by the new ones and keeps their counts. It cannot fail. */
static void renew_put(struct live_walk *w, const struct renewed *n)
{
	for (unsigned i = 0; i < w->n_walkers; i++) {
		struct live_walker *t = &w->walkers[i];

		unwound_add_counts(&t->counts.walks, unwound_count(t->unwound));
		unwound_free(t->unwound);
		unwound_free(t->in_exec);
		t->unwound = n->unwound[i];
		t->in_exec = n->in_exec[i];
	}
	if (n->tables != w->tables) {
		tables_free(w->tables);
		w->tables = n->tables;
		w->tables_before.built += n->before.built;
		w->tables_before.from_cache += n->before.from_cache;
		w->tables_before.without += n->before.without;
		w->tables_before.skipped_functions += n->before.skipped_functions;
	}
	proc_free(w->procs);
	w->procs = n->procs;
	w->prepared = 0;
	w->renewals++;
}

/* It is time when the table has outgrown a limit, which is then set to twice what is left. */
int live_renew(struct live_walk *w)
{
	struct proc_counts c;
	struct renewed n = { 0 };
	int r;

	proc_count(w->procs, &c);
	if (c.bytes > w->process_bytes)
		w->process_bytes = c.bytes;
	if (c.bytes <= w->renew_at)
		return 0;
	r = renew_make(w, &n);
	if (r >= 0)
		r = live_renew_keep_missing(w);
	if (r < 0) {
		renew_discard(w, &n);
		return r;
	}
	renew_put(w, &n);
	proc_count(w->procs, &c);
	/* Twice what is left, so that the next renewal is as far away as what it copies is
	 * large. */
	w->renew_at = 2 * c.bytes > w->renew_least ? 2 * c.bytes : w->renew_least;
	return 0;
}
