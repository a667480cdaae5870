// SPDX-License-Identifier: MIT
/*
 * apply.c: what an event changes. A process is a history of address spaces, a thread a history of
 * names. The rules are in proc.h.
 *
 * Spaces are persistent trees: a change makes new nodes along one path and shares the others, so
 * that a history of a thousand mmaps costs little more than its events. A stamp says which nodes
 * were made for this very change and may still be edited in place; stamp 0 means that somebody else
 * has the space.
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
	case PROC_KIND_PYTHON:
		return KEY_RUNTIMES;
	default:
		return e->pid;
	}
}

/* A live table keeps no past: the last change is replaced. */
static int apply_change(struct proc_table *table, struct history *history,
                        const struct proc_event *e, uint32_t value, uint32_t stamp)
{
	return history_put(history, table->live,
	                   (struct change){ .time = e->time, .value = value, .stamp = stamp });
}

/* Puts [start, end) -> value into the process's space, as it is from this event's time on. */
static int apply_range(struct proc_table *table, struct history *process,
                       const struct proc_event *e, uint32_t value)
{
	const struct change *last = history_last(process);
	uint32_t root = last ? last->value : SPACE_EMPTY, stamp = last ? last->stamp : 0;
	int r;

	/* Of several changes at one time the first makes the copy, the others edit it. */
	if (!stamp || (!table->live && last->time != e->time))
		stamp = ++table->stamps;
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
	mapping = apply_mapping(table);
	if (!mapping)
		return -ENOMEM;
	mapping->start = e->start;
	mapping->end = e->end;
	mapping->pgoff = e->pgoff;
	mapping->object = object;
	mapping->pid = apply_key(e) == e->pid ? e->pid : PROC_KERNEL;
	mapping->data = e->data;
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
	process = history_get(&table->processes, e->pid);
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
