// SPDX-License-Identifier: MIT
/*
 * apply.c: what an event changes. A process is a history of address spaces, a thread a history of
 * names. The rules are in proc.h.
 *
 * Spaces are persistent trees: a change makes new nodes along one path and shares the others, so
 * that a history of a thousand mmaps costs little more than its events. A stamp says which nodes
 * were made for this very change and may still be edited in place; stamp 0 means that somebody else
 * has the space.
 *
 * In a file many processes run the same program at the same addresses (a fork copies what an exec
 * made, and without randomization execs are alike). There, equal mappings are one mapping, and a
 * space that is finished for its moment becomes the one that is equal to it, if there is one.
 */
#include "base/array.h"
#include "proc/table.h"

#include <errno.h>
#include <stdlib.h>

/* Ids are dense: the mapping is number table->n_mappings. Fails too when the ids are used up. */
struct proc_mapping *apply_mapping(struct proc_table *table)
{
	struct proc_mapping *mapping;

	if (ARRAY_ROOM(&table->mappings, &table->mappings_capacity, table->n_mappings + 1) < 0)
		return NULL;
	mapping = table->n_mappings < UINT32_MAX - 1 ? arena_alloc(&table->arena, sizeof(*mapping))
	                                             : NULL;
	if (!mapping)
		return NULL;
	mapping->id = (uint32_t)table->n_mappings;
	table->mappings[table->n_mappings++] = mapping;
	return mapping;
}

/* The object of a mapping. Its build-id is the record's, else what the file's header says of that
 * name. */
const struct proc_object *apply_object(struct proc_table *table, const struct proc_event *e)
{
	uint64_t build_id = e->build_id;

	if (!build_id)
		map_get(&table->build_ids, e->name, &build_id);
	return object_get(&table->objects, (enum proc_kind)e->kind, e->name, e->pid, e->inode,
	                  (const uint8_t *)intern_get(&table->names, (uint32_t)build_id),
	                  intern_length(&table->names, (uint32_t)build_id));
}

/* Which history a mapping belongs to: a process's, or one of the kernel's own. */
static uint64_t apply_key(const struct proc_event *e)
{
	switch (e->kind) {
	case PROC_KIND_KERNEL:
		return KEY_KERNEL;
	case PROC_KIND_MODULE:
		return KEY_MODULES;
	case PROC_KIND_BPF:
	case PROC_KIND_OUT_OF_LINE:
		return KEY_KSYMBOLS;
	case PROC_KIND_RUNTIME:
		return KEY_RUNTIMES;
	default:
		return e->pid;
	}
}

/* All that tells mappings apart. No padding. */
struct apply_known {
	uint64_t start, end, pgoff;
	uint32_t object, data;
};

_Static_assert(sizeof(struct apply_known) == 32, "pooled as bytes");

/* Whether equal things are one. In a stream and in a live table spaces are looked up between
 * edits. */
static bool apply_shares(const struct proc_table *table)
{
	return !table->live && !table->in_order;
}

/* The mapping that an event makes. Numbers of the pool are those of mappings, because both count
 * from 1 on. NULL: out of memory. */
static struct proc_mapping *apply_new(struct proc_table *table, const struct proc_event *e,
                                      const struct proc_object *object)
{
	const struct apply_known what = { e->start, e->end, e->pgoff, object->id, e->data };
	uint32_t pid = apply_key(e) == e->pid ? e->pid : PROC_KERNEL, id;
	struct proc_mapping *m;

	if (apply_shares(table)) {
		table->known.size = sizeof(what);
		id = pool_put(&table->known, &what);
		if (id == POOL_FAILED ||
		    ARRAY_ROOM(&table->made, &table->made_capacity, table->n_made + 1) < 0)
			return NULL;
		table->made[table->n_made++] = (struct proc_made){ .pid = pid, .mapping = id };
		if (id < table->n_mappings)
			return table->mappings[id];
	}
	m = apply_mapping(table);
	if (m) {
		m->start = e->start;
		m->end = e->end;
		m->pgoff = e->pgoff;
		m->object = object;
		m->pid = pid;
		m->data = e->data;
	}
	return m;
}

/* The last version of the space that was edited is whole: it becomes the one that is equal to
 * it. */
static int apply_close(struct proc_table *table)
{
	struct history *process;
	struct change *last;
	int r;

	if (!table->open.from)
		return 0;
	process = history_get(&table->processes, table->open.key);
	if (!process || !process->n)
		return -ENOMEM;
	last = &process->changes[process->n - 1];
	r = space_share(&table->spaces, &last->value, table->open.from);
	last->stamp = 0;
	table->open.from = 0;
	return r;
}

/* A live table keeps no past: the last change is replaced. */
static int apply_change(struct proc_table *table, struct history *history,
                        const struct proc_event *e, uint32_t value, uint32_t stamp)
{
	return history_put(history, table->live,
	                   (struct change){ .time = e->time, .value = value, .stamp = stamp });
}

/* Begins a version of a space whose nodes are the last ones; they are shared when it is whole. */
static int apply_open(struct proc_table *table, uint64_t key, const struct history *process,
                      const struct proc_event *e)
{
	const struct change *last = history_last(process);
	int r;

	if (!apply_shares(table) || (table->open.from && table->open.key == key && last &&
	                             last->stamp && last->time == e->time))
		return 0;
	r = apply_close(table);
	table->open.key = key;
	table->open.from = table->spaces.n;
	return r;
}

/* Puts [start, end) -> value into the process's space, as it is from this event's time on. */
static int apply_range(struct proc_table *table, struct history *process,
                       const struct proc_event *e, uint32_t value)
{
	int r = apply_open(table, apply_key(e), process, e);
	const struct change *last = history_last(process);
	uint32_t root = last ? last->value : SPACE_EMPTY, stamp = last ? last->stamp : 0;

	/* Of several changes at one time the first makes the copy, the others edit it. */
	if (!stamp || (!table->live && last->time != e->time))
		stamp = ++table->stamps;
	if (r >= 0)
		r = space_put(&table->spaces, &root, stamp, e->start, e->end, value);
	return r < 0 ? r : apply_change(table, process, e, root, stamp);
}

/* Puts a mapping into the process's space from the event's time on. One that is there already, with
 * the same object and offset, changes nothing, so that repeated mmap records cost no memory. */
static int apply_map(struct proc_table *table, const struct proc_event *e)
{
	const struct proc_object *object = apply_object(table, e);
	struct history *process = history_get(&table->processes, apply_key(e));
	const struct space_node *node;
	struct proc_mapping *mapping;

	if (!object || !process)
		return -ENOMEM;
	node = process->n ? space_find(&table->spaces, history_last(process)->value, e->start)
	                  : NULL;
	if (node && node->start == e->start && node->end == e->end) {
		mapping = table->mappings[node->value];
		if (mapping->object == object && mapping->pgoff == e->pgoff &&
		    mapping->start == e->start && mapping->data == e->data)
			return 0; /* mapped or mprotected once more */
	}
	mapping = apply_new(table, e, object);
	if (!mapping)
		return -ENOMEM;
	if (e->kind == PROC_KIND_KERNEL && !table->kernel)
		table->kernel = mapping;
	return apply_range(table, process, e, mapping->id);
}

/* Only kernel symbols are unmapped by a record of their own; of a process new mappings cover old
 * ones. */
static int apply_unmap(struct proc_table *table, const struct proc_event *e)
{
	struct history *process = history_get(&table->processes, KEY_KSYMBOLS);

	return process ? apply_range(table, process, e, SPACE_NONE) : -ENOMEM;
}

/* An exec empties the process's space: its new mappings follow. */
static int apply_comm(struct proc_table *table, const struct proc_event *e)
{
	struct history *thread = history_get(&table->threads, e->tid), *process;
	int r = thread ? apply_change(table, thread, e, e->name, 0) : -ENOMEM;

	if (r < 0 || e->type != EVENT_EXEC)
		return r;
	r = apply_close(table);
	process = r >= 0 ? history_get(&table->processes, e->pid) : NULL;
	return process ? apply_change(table, process, e, SPACE_EMPTY, 0) : -ENOMEM;
}

/* A new thread has its parent's name, a new process its parent's space as well. */
static int apply_fork(struct proc_table *table, const struct proc_event *e)
{
	struct history *thread = history_get(&table->threads, e->tid), *process, *parent;
	const struct change *name = history_last(history_of(&table->threads, e->ptid));
	uint32_t root = SPACE_EMPTY;
	int r;

	if (!thread)
		return -ENOMEM;
	r = apply_change(table, thread, e, name && !e->empty ? name->value : 0, 0);
	if (r >= 0 && e->pid != e->ppid)
		r = apply_close(table); /* it may be of one of the two */
	if (r < 0 || e->pid == e->ppid)
		return r;
	process = history_get(&table->processes, e->pid);
	parent = history_get(&table->processes, e->ppid); /* may move *process */
	process = history_get(&table->processes, e->pid);
	if (!process || !parent)
		return -ENOMEM;
	if (parent->n && !e->empty) {
		struct change *last = &parent->changes[parent->n - 1];

		root = last->value;
		last->stamp = 0; /* shared from now on: edits must copy */
	}
	return apply_change(table, process, e, root, 0);
}

int apply_event(struct proc_table *table, const struct proc_event *e)
{
	switch (e->type) {
	case EVENT_MAP:
		return apply_map(table, e);
	case EVENT_UNMAP:
		return apply_unmap(table, e);
	case EVENT_FORK:
		return apply_fork(table, e);
	default:
		return apply_comm(table, e);
	}
}

/* From here on nothing is edited: what finds equal things is given back. */
int apply_end(struct proc_table *table)
{
	int r = apply_close(table);

	pool_free(&table->known);
	space_share_end(&table->spaces);
	return r;
}
