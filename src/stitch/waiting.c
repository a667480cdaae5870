// SPDX-License-Identifier: MIT
/*
 * waiting.c: see waiting.h. Three maps lead to cells of three slabs: from a cookie to the entries
 * that wait under it, from a tid to a task, from a pid to a process. Lists inside the cells tie
 * them together:
 *
 *	task -> entries (previous, next)     all kernel entries of the task that are open
 *	cookie -> entries (same)             of all tasks under it, newest first
 *	entry -> samples (entry_next)        oldest first; no sign has passed `unpassed` and on
 *	waiting -> entries (limit_*)         those that have a deadline, by deadline
 *
 * Invariant: every entry is in the first two lists from waiting_open to waiting_close, and in the
 * last as long as its deadline is not 0. Deadlines are set in order of time, so that appending
 * keeps their list in order.
 */
#include "stitch/waiting.h"

#include <errno.h>

/* Tasks that wait under one cookie at once: its counter wrapped while they slept. */
#define WAITING_SAME_COOKIE 8u

void waiting_start(struct waiting *w)
{
	*w = (struct waiting){ .entries.size = sizeof(struct waiting_entry),
		               .tasks.size = sizeof(struct waiting_task),
		               .processes.size = sizeof(struct waiting_process) };
}

void waiting_free(struct waiting *w)
{
	map_free(&w->by_cookie);
	map_free(&w->by_tid);
	map_free(&w->by_pid);
	slab_free(&w->entries);
	slab_free(&w->tasks);
	slab_free(&w->processes);
}

/* Bytes in use; see deferred_bytes. */
size_t waiting_bytes(const struct waiting *w)
{
	return w->entries.n * w->entries.size + w->tasks.n * w->tasks.size +
	       w->processes.n * w->processes.size;
}

/* The cell that a map names by key, taken from the slab when new. */
static void *waiting_cell(struct map *map, struct slab *slab, uint64_t key, bool create,
                          bool *is_new)
{
	uint64_t at, *slot;
	void *cell;

	*is_new = false;
	if (map_get(map, key, &at))
		return (void *)(uintptr_t)at;
	cell = create ? slab_take(slab) : NULL;
	if (!cell)
		return NULL;
	slot = map_slot(map, key, is_new);
	if (!slot) {
		slab_put(slab, cell);
		return NULL;
	}
	*slot = (uint64_t)(uintptr_t)cell;
	return cell;
}

/* The task of a tid. NULL: not there, or out of memory if `create`. */
struct waiting_task *waiting_task(struct waiting *w, uint32_t tid, bool create)
{
	bool is_new;
	struct waiting_task *task = waiting_cell(&w->by_tid, &w->tasks, tid, create, &is_new);

	if (is_new)
		task->tid = tid;
	return task;
}

/* The process of a pid; the same. Who keeps the pointer counts itself in ->users. */
struct waiting_process *waiting_process(struct waiting *w, uint32_t pid, bool create)
{
	bool is_new;
	struct waiting_process *p = waiting_cell(&w->by_pid, &w->processes, pid, create, &is_new);

	if (is_new)
		p->pid = pid;
	return p;
}

struct waiting_entry *waiting_entry(const struct waiting *w, uint64_t cookie)
{
	uint64_t at;

	return map_get(&w->by_cookie, cookie, &at) ? (struct waiting_entry *)(uintptr_t)at : NULL;
}

/* A task is freed only if nothing waits and no deferred record of it is kept. That it exited is
 * forgotten with it: nobody could ask any more. */
void waiting_task_put(struct waiting *w, struct waiting_task *task)
{
	if (!task || task->entries || task->last_deferred)
		return;
	map_del(&w->by_tid, task->tid);
	slab_put(&w->tasks, task);
}

/* One user less; the last one frees it, and with it what is known of its exec. */
void waiting_process_put(struct waiting *w, struct waiting_process *process)
{
	if (!process || --process->users)
		return;
	map_del(&w->by_pid, process->pid);
	slab_put(&w->processes, process);
}

/* An entry holds the samples of one kernel entry of one task. Looks among the entries of the
 * cookie, of which there are at most WAITING_SAME_COOKIE. */
int waiting_open(struct waiting *w, uint64_t cookie, const struct rules_who *who,
                 struct waiting_entry **ret)
{
	struct waiting_entry *first = waiting_entry(w, cookie), *entry = first;
	struct waiting_process *process;
	struct waiting_task *task;
	unsigned same = 0;

	for (; entry; entry = entry->same, same++) {
		if (entry->task->tid == who->tid && entry->process->pid == who->pid) {
			*ret = entry;
			return 0;
		}
	}
	/* A made-up stream: the search above must stay short. */
	if (same >= WAITING_SAME_COOKIE)
		return -EOVERFLOW;
	task = waiting_task(w, who->tid, true);
	process = waiting_process(w, who->pid, true);
	if (process)
		process->users++;
	entry = task && process ? slab_take(&w->entries) : NULL;
	if (!entry || map_put(&w->by_cookie, cookie, (uint64_t)(uintptr_t)entry) < 0) {
		if (entry)
			slab_put(&w->entries, entry);
		/* What was made for this entry alone goes again; the put functions see to that. */
		waiting_task_put(w, task);
		waiting_process_put(w, process);
		return -ENOMEM;
	}
	*entry = (struct waiting_entry){ .cookie = cookie,
		                         .task = task,
		                         .process = process,
		                         .same = first,
		                         .next = task->entries };
	if (entry->next)
		entry->next->previous = entry;
	task->entries = entry;
	*ret = entry;
	return 0;
}

/* The newest sample goes to the end. If all before it were passed, it is the first that is not. */
void waiting_add(struct waiting_entry *entry, struct hold *h)
{
	h->entry = entry;
	h->entry_next = NULL;
	if (entry->last)
		entry->last->entry_next = h;
	else
		entry->first = h;
	entry->last = h;
	if (!entry->unpassed)
		entry->unpassed = h;
}

struct hold *waiting_take(struct waiting_entry *entry)
{
	struct hold *h = entry->first;

	if (!h)
		return NULL;
	entry->first = h->entry_next;
	if (!entry->first)
		entry->last = NULL;
	if (entry->unpassed == h)
		entry->unpassed = h->entry_next;
	h->entry = NULL;
	return h;
}

/* It may be called for an entry that has no deadline. */
void waiting_unlimit(struct waiting *w, struct waiting_entry *e)
{
	if (!e->deadline)
		return;
	*(e->limit_previous ? &e->limit_previous->limit_next : &w->limit_first) = e->limit_next;
	*(e->limit_next ? &e->limit_next->limit_previous : &w->limit_last) = e->limit_previous;
	e->limit_previous = e->limit_next = NULL;
	e->deadline = 0;
}

/* Takes an entry out of the list of its cookie. The map points to the first of the list, so that
 * only the removal of the first changes the map. */
static void waiting_unlink(struct waiting *w, struct waiting_entry *e)
{
	struct waiting_entry *first = waiting_entry(w, e->cookie);

	if (first == e && !e->same) {
		map_del(&w->by_cookie, e->cookie);
	} else if (first == e) {
		map_put(&w->by_cookie, e->cookie, (uint64_t)(uintptr_t)e->same); /* is there */
	} else {
		while (first->same != e)
			first = first->same;
		first->same = e->same;
	}
}

/* The entry has no samples left. Its task and process go with it if nothing else needs them, so the
 * caller must not touch `task` afterwards. */
void waiting_close(struct waiting *w, struct waiting_entry *e)
{
	struct waiting_task *task = e->task;

	waiting_unlimit(w, e);
	*(e->previous ? &e->previous->next : &task->entries) = e->next;
	if (e->next)
		e->next->previous = e->previous;
	if (task->current == e)
		task->current = NULL;
	waiting_unlink(w, e);
	waiting_process_put(w, e->process);
	waiting_task_put(w, task);
	slab_put(&w->entries, e);
}

/* Constant time: every deadline is now + the same grace, so the new one is the last. */
void waiting_limit(struct waiting *w, struct waiting_entry *e, uint64_t now)
{
	if (e->deadline)
		return;
	e->deadline = now + DEFERRED_GRACE_NS;
	e->limit_previous = w->limit_last;
	if (w->limit_last)
		w->limit_last->limit_next = e;
	else
		w->limit_first = e;
	w->limit_last = e;
}

/* Who sees the task past its kernel entry knows that the deferred record was written before, or
 * never: so samples that still wait do so for a record that may be late, and not for ever. */
void waiting_pass(struct waiting *w, struct waiting_task *task, uint64_t now)
{
	struct waiting_entry *e = task->current;

	task->current = NULL;
	if (!e || !e->unpassed)
		return;
	for (; e->unpassed; e->unpassed = e->unpassed->entry_next)
		e->unpassed->passed = true;
	waiting_limit(w, e, now);
}
