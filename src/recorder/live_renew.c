// SPDX-License-Identifier: MIT
// live_renew.c: see live_renew.h. Everything that can fail comes before anything is replaced.
#include "recorder/live_renew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/live_walk.h"

/* After its EXIT a task may still be sampled until it is scheduled away. */
#define GRACE_NS 2000000000ULL
#define TABLES_LEAST 64u /* objects: fewer tables are not worth making them anew */

/* -- where information was missing -- */

static bool live_missing_same(const struct unwound_missing *a, const struct unwound_missing *b)
{
	if (!a->object != !b->object || strcmp(a->reason, b->reason) != 0)
		return false;
	return !a->object || !strcmp(a->object->path, b->object->path);
}

static const char *live_missing_text(struct live_missing *to, const char *text)
{
	return arena_string(&to->names, text, strlen(text));
}

static int live_missing_copy(struct live_missing *to, const struct unwound_missing *m)
{
	struct unwound_missing copy = { .samples = m->samples,
		                        .reason = live_missing_text(to, m->reason) };

	if (!copy.reason)
		return -ENOMEM;
	if (m->object) {
		struct proc_object *object = arena_copy(&to->names, m->object, sizeof(*object));

		if (!object)
			return -ENOMEM;
		object->path = live_missing_text(to, m->object->path);
		if (!object->path)
			return -ENOMEM;
		copy.object = object;
	}
	return buf_put(&to->resolver, &copy, sizeof(copy));
}

static int live_renew_missing_add(struct live_missing *to, struct unwound_missing m)
{
	size_t n = to->resolver.n / sizeof(m);

	for (int beyond = 0; beyond < 2; beyond++) {
		struct unwound_missing *have = (struct unwound_missing *)(void *)to->resolver.bytes;

		for (size_t i = 0; i < n; i++) {
			if (live_missing_same(&have[i], &m)) {
				have[i].samples += m.samples;
				return 0;
			}
		}
		if (n < LIVE_MISSING_MAX)
			break;
		m.object = NULL;
		m.reason = "in other places";
	}
	return live_missing_copy(to, &m);
}

int live_missing_add(struct live_missing *to, const struct unwound_missing *m, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++)
		r = live_renew_missing_add(to, m[i]);
	return r;
}

static int live_missing_order(const void *a, const void *b)
{
	const struct unwound_missing *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return strcmp(x->reason, y->reason);
}

void live_missing_sort(struct live_missing *missing)
{
	size_t n = missing->resolver.n / sizeof(struct unwound_missing);

	if (n)
		qsort(missing->resolver.bytes, n, sizeof(struct unwound_missing),
		      live_missing_order);
}

void live_missing_free(struct live_missing *missing)
{
	buf_free(&missing->resolver);
	arena_free(&missing->names);
}

/* -- anew -- */

struct renewed {
	struct proc_table *procs;
	struct tables *tables; /* those there are, or new ones */
	struct unwound *unwound[LIVE_THREADS_MAX], *in_exec[LIVE_THREADS_MAX];
	struct tables_counts before;
};

/* Tables of programs that nobody runs any more go when they are most of them. */
static bool renew_tables_too(const struct renewed *n)
{
	uint64_t have = n->before.built + n->before.from_cache + n->before.without;

	return have > TABLES_LEAST + 2 * proc_objects(n->procs);
}

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
	for (size_t i = 0; n->tables != w->tables && r >= 0 && i < proc_objects(n->procs); i++) {
		const struct proc_object *o = proc_object_at(n->procs, i);

		if (o->inode)
			r = tables_mapped_before(n->tables, w->tables, o->path, o->inode);
	}
	for (unsigned i = 0; i < w->n_walkers && r >= 0; i++) {
		r = live_walk_unwound(w, n->procs, n->tables, &n->unwound[i]);
		if (r >= 0)
			r = live_walk_unwound(w, n->procs, n->tables, &n->in_exec[i]);
	}
	return r;
}

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
		r = live_walk_keep_missing(w);
	if (r < 0) {
		renew_discard(w, &n);
		return r;
	}
	renew_put(w, &n);
	proc_count(w->procs, &c);
	w->renew_at = 2 * c.bytes > w->renew_least ? 2 * c.bytes : w->renew_least;
	return 0;
}
