// SPDX-License-Identifier: MIT
/*
 * renew.c: see renew.h and proc_renew. Spaces are persistent trees in one pool, mappings and names
 * lie in arenas: nothing of them can be freed alone. So what is still needed is copied, now and
 * then, into a new table, whose size is that of what runs.
 *
 * What is needed: of each process and thread the last change, unless it ended longer ago than the
 * grace, in which samples of it may still come. Of the past before that nothing, because a live
 * table is asked for now only.
 *
 * Invariant: each thing is copied once, and what shared it shares its copy: a mapping by its number
 * in `mappings`, a space by its root in `spaces`. On failure the old table is as it was.
 */
#include "proc/renew.h"

#include <errno.h>
#include <stdlib.h>

#include "proc/table.h"

/* Keys from KEY_KERNEL on are the kernel's spaces, which do not end. A pid that is used again is
 * running, although it is also among those that ended. */
static bool renew_over(const struct renew_tasks *t, uint64_t key, uint64_t grace_ns)
{
	uint64_t time;

	return key < KEY_KERNEL && map_get(&t->ended, key, &time) &&
	       !map_get(&t->running, key, NULL) && t->newest - time > grace_ns;
}

/* -- the new table -- */

struct renew {
	const struct proc_table *from;
	struct proc_table *to;
	uint64_t grace_ns;
	uint32_t *mappings; /* of `from` -> of `to`, + 1 */
	struct map spaces;  /* the same of roots, not + 1 */
	uint32_t stamp;
};

/* Numbers of names are a table's own. */
static uint32_t renew_name(struct renew *r, uint32_t name)
{
	const struct intern *names = &r->from->names;

	return intern_bytes(&r->to->names, intern_get(names, name), intern_length(names, name));
}

static const struct proc_object *renew_object(struct renew *r, const struct proc_object *o)
{
	uint32_t name = intern_text(&r->to->names, o->path);

	if (name == INTERN_FAILED)
		return NULL;
	return object_get(&r->to->objects, o->kind, name, o->pid, o->inode, o->build_id,
	                  o->build_id_size);
}

/* The same mapping in the new table: *ret. */
static int renew_mapping(struct renew *r, uint32_t id, uint32_t *ret)
{
	const struct proc_mapping *old = r->from->mappings[id];
	struct proc_mapping *m;
	uint32_t new_id;

	if (!r->mappings[id]) {
		m = apply_mapping(r->to);
		if (!m)
			return -ENOMEM;
		new_id = m->id;
		*m = *old;
		m->id = new_id;
		m->object = renew_object(r, old->object);
		if (!m->object)
			return -ENOMEM;
		if (old == r->from->kernel)
			r->to->kernel = m;
		r->mappings[id] = new_id + 1;
	}
	*ret = r->mappings[id] - 1;
	return 0;
}

/* Puts the ranges of a tree into the new one, in order of address: left, node, right. The depth of
 * the recursion is that of the tree, which its random priorities keep low. */
static int renew_ranges(struct renew *r, uint32_t node, uint32_t *root)
{
	const struct space_node *n = &r->from->spaces.nodes[node];
	uint32_t value;
	int e;

	if (!node)
		return 0;
	e = renew_ranges(r, n->left, root);
	if (e >= 0)
		e = renew_mapping(r, n->value, &value);
	if (e >= 0)
		e = space_put(&r->to->spaces, root, r->stamp, n->start, n->end, value);
	return e < 0 ? e : renew_ranges(r, n->right, root);
}

/* A space, once for all processes that share it. */
static int renew_space(struct renew *r, uint32_t old, uint32_t *ret)
{
	uint32_t root = SPACE_EMPTY;
	uint64_t have;
	int e;

	if (map_get(&r->spaces, old, &have)) {
		*ret = (uint32_t)have;
		return 0;
	}
	r->stamp = ++r->to->stamps;
	e = renew_ranges(r, old, &root);
	*ret = root;
	return e < 0 ? e : map_put(&r->spaces, old, root);
}

/* Begins the new history with the last change of the old one. */
static int renew_change(struct histories *to, uint64_t key, const struct change *old,
                        uint32_t value)
{
	struct history *h = history_get(to, key);
	struct change change = { .time = old->time, .value = value };

	return h ? history_put(h, true, change) : -ENOMEM;
}

/* Processes that are over are left out, and with them their mappings, names and objects. */
static int renew_processes(struct renew *r)
{
	uint64_t key, at;
	int e = 0;

	for (size_t i = 0; e >= 0 && map_next(&r->from->processes.index, &i, &key, &at);) {
		const struct change *last = history_last(&r->from->processes.all[at]);
		uint32_t root;

		if (!last || renew_over(&r->from->tasks, key, r->grace_ns))
			continue;
		e = renew_space(r, last->value, &root);
		if (e >= 0)
			e = renew_change(&r->to->processes, key, last, root);
	}
	return e;
}

/* Names, likewise: of threads that are not over. */
static int renew_threads(struct renew *r)
{
	uint64_t key, at;
	int e = 0;

	for (size_t i = 0; e >= 0 && map_next(&r->from->threads.index, &i, &key, &at);) {
		const struct change *last = history_last(&r->from->threads.all[at]);
		uint32_t name;

		if (!last || renew_over(&r->from->tasks, key, r->grace_ns))
			continue;
		name = renew_name(r, last->value);
		e = name == INTERN_FAILED ? -ENOMEM
		                          : renew_change(&r->to->threads, key, last, name);
	}
	return e;
}

/* Which tasks live is copied as it is; of those that ended, what is over is dropped, so that this
 * list does not grow for ever either. */
static int renew_tasks_of(struct renew *r)
{
	const struct renew_tasks *from = &r->from->tasks;
	struct renew_tasks *to = &r->to->tasks;
	uint64_t key, value;
	int e = 0;

	for (size_t i = 0; e >= 0 && map_next(&from->alive, &i, &key, &value);)
		e = map_put(&to->alive, key, value);
	for (size_t i = 0; e >= 0 && map_next(&from->running, &i, &key, &value);)
		e = map_put(&to->running, key, value);
	for (size_t i = 0; e >= 0 && map_next(&from->ended, &i, &key, &value);)
		if (!renew_over(from, key, r->grace_ns))
			e = map_put(&to->ended, key, value);
	to->newest = from->newest;
	return e;
}

static int renew_build_ids(struct renew *r)
{
	uint64_t name, id;
	int e = 0;

	for (size_t i = 0; e >= 0 && map_next(&r->from->build_ids, &i, &name, &id);) {
		uint32_t to_name = renew_name(r, (uint32_t)name),
		         to_id = renew_name(r, (uint32_t)id);

		e = to_name == INTERN_FAILED || to_id == INTERN_FAILED
		            ? -ENOMEM
		            : map_put(&r->to->build_ids, to_name, to_id);
	}
	return e;
}

/* The caller frees `from` afterwards and uses *ret in its place; on failure `from` is as it was. */
int proc_renew(struct proc_table **ret, const struct proc_table *from, uint64_t grace_ns)
{
	struct proc_opts live = { .sz = sizeof(live), .live = true };
	struct renew r = { .from = from, .grace_ns = grace_ns };
	int e = from->live ? proc_new(&r.to, &live) : -EINVAL;

	if (e < 0)
		return e;
	r.mappings = calloc(from->n_mappings, sizeof(*r.mappings));
	e = r.mappings ? 0 : -ENOMEM;
	if (e >= 0) {
		r.mappings[0] = 1; /* [vsyscall], which every table has */
		r.to->counts = from->counts;
		r.to->generation = from->generation + 1;
		e = renew_build_ids(&r);
	}
	if (e >= 0)
		e = renew_processes(&r);
	if (e >= 0)
		e = renew_threads(&r);
	if (e >= 0)
		e = renew_tasks_of(&r);
	free(r.mappings);
	map_free(&r.spaces);
	if (e < 0)
		proc_free(r.to);
	else
		*ret = r.to;
	return e;
}
