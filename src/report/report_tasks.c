// SPDX-License-Identifier: MIT
// report_tasks.c: the tasks of a recording, in the form of perf report --tasks: each below the task
// that made it. Knows COMM and FORK records, and no samples.
//
// If a number was used again, it stands for its last task, so parents may form a circle. Every task
// is printed once nevertheless.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "base/map.h"
#include "base/shown.h"
#include "report/report.h"

#define TASK_NONE UINT32_MAX
#define TASK_INDENT_MAX 40 /* a chain of forks is as long as a file says */
#define TASK_ABOVE_MAX 64  /* tasks to look at for a name */

struct task {
	uint32_t pid, tid, ppid; /* ppid: TASK_NONE: no FORK says it */
	uint32_t parent;         /* a task; TASK_NONE: not known */
	uint32_t child, next;    /* of the same parent; TASK_NONE: no more */
	size_t comm;             /* where it begins in names */
	uint64_t comm_ns;        /* since when it has it */
	bool printed;
};

struct tasks {
	struct buf list;  /* of struct task */
	struct buf names; /* each with its NUL; the first is "" */
	struct map by_tid;
	size_t n;
};

/* The pointer lasts until a task is added. */
static struct task *report_task_at(const struct tasks *t, uint32_t i)
{
	return (struct task *)(void *)t->list.bytes + i;
}

/* The task of that tid, made where it is new; NULL: out of memory. */
static struct task *report_task_of(struct tasks *t, uint32_t pid, uint32_t tid)
{
	struct task one = { .pid = pid,
		            .tid = tid,
		            .ppid = TASK_NONE,
		            .parent = TASK_NONE,
		            .child = TASK_NONE,
		            .next = TASK_NONE };
	bool is_new;
	uint64_t *at = map_slot(&t->by_tid, tid, &is_new);

	if (!at)
		return NULL;
	if (is_new) {
		*at = t->n;
		if (buf_put(&t->list, &one, sizeof(one)) < 0)
			return NULL;
		t->n++;
	}
	report_task_at(t, (uint32_t)*at)->pid = pid;
	return report_task_at(t, (uint32_t)*at);
}

/* An earlier name belongs to a task that had the same number before. */
static int tasks_fork(struct tasks *t, const struct seam_task *fork, uint64_t time_ns)
{
	struct task *task = report_task_of(t, fork->pid, fork->tid);

	if (!task)
		return -ENOMEM;
	task->ppid = fork->ppid;
	if (task->comm && task->comm_ns < time_ns)
		task->comm = 0;
	return 0;
}

/* The last name holds, by time: records of several CPUs are not in order. */
static int tasks_comm(struct tasks *t, const struct seam_comm *comm, uint64_t time_ns)
{
	struct task *task = report_task_of(t, comm->pid, comm->tid);

	if (!task)
		return -ENOMEM;
	if (task->comm && task->comm_ns > time_ns)
		return 0;
	task->comm = t->names.n;
	task->comm_ns = time_ns;
	return buf_put(&t->names, comm->comm, strlen(comm->comm) + 1);
}

/* Reads all COMM and FORK records. Those that do not decode are left out: the rest is still right.
 * -errno. */
static int tasks_read(struct tasks *t, struct seam_reader *reader, struct seam_error *err)
{
	const struct seam_events *events = seam_reader_events(reader);
	struct seam_record record;
	struct seam_decoded d;
	int rc = buf_put(&t->names, "", 1);

	while (rc >= 0 && (rc = seam_reader_next(reader, &record, err)) > 0) {
		if (record.type != SEAM_RECORD_COMM && record.type != SEAM_RECORD_FORK)
			continue;
		if (record_decode(events, &record, &d, NULL) < 0)
			continue;
		rc = record.type == SEAM_RECORD_COMM ? tasks_comm(t, &d.comm, proc_time(&d))
		                                     : tasks_fork(t, &d.task, proc_time(&d));
	}
	return rc;
}

/* By tid. */
static int tasks_order(const void *pa, const void *pb)
{
	const struct task *a = pa, *b = pb;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* Puts threads below their process, and processes below the one that made them. Children are put in
 * front, from the last to the first, so they stand by tid. -ENOMEM. */
static int tasks_link(struct tasks *t)
{
	if (t->n)
		qsort(t->list.bytes, t->n, sizeof(struct task), tasks_order);
	for (uint32_t i = 0; i < t->n; i++)
		if (map_put(&t->by_tid, report_task_at(t, i)->tid, i) < 0)
			return -ENOMEM;
	for (uint32_t i = (uint32_t)t->n; i-- > 0;) {
		struct task *task = report_task_at(t, i);
		uint32_t above = task->pid != task->tid ? task->pid : task->ppid;
		uint64_t parent;

		if (above == TASK_NONE || !map_get(&t->by_tid, above, &parent) || parent == i)
			continue;
		task->parent = (uint32_t)parent;
		task->next = report_task_at(t, task->parent)->child;
		report_task_at(t, task->parent)->child = i;
	}
	return 0;
}

/* A task has the name of the one that made it until it gets its own. */
static const char *report_task_name(const struct tasks *t, const struct task *task)
{
	for (unsigned i = 0; !task->comm && task->parent != TASK_NONE && i < TASK_ABOVE_MAX; i++)
		task = report_task_at(t, task->parent);
	return (const char *)t->names.bytes + task->comm;
}

/* perf's columns: pid, tid, the parent, and the name, indented by depth. */
static void report_task_print(const struct tasks *t, struct task *task, unsigned depth,
                              struct buf *out)
{
	task->printed = true;
	shown_printf(out, "%10" PRIu32 " %8" PRIu32 " ", task->pid, task->tid);
	if (task->ppid == TASK_NONE)
		shown_printf(out, "%8d", -1);
	else
		shown_printf(out, "%8" PRIu32, task->ppid);
	shown_printf(out, " |%*s%s\n", (int)(depth < TASK_INDENT_MAX ? depth : TASK_INDENT_MAX), "",
	             report_task_name(t, task));
}

/* Prints a task and all below it that were not printed yet, without recursion. */
static void tasks_print_below(const struct tasks *t, uint32_t root, struct buf *out)
{
	uint32_t at = root;
	unsigned depth = 0;

	for (;;) {
		struct task *task = report_task_at(t, at);
		bool again = task->printed;

		if (!again)
			report_task_print(t, task, depth, out);
		/* What is printed already is not gone into again: this ends a circle of parents. */
		if (!again && task->child != TASK_NONE) {
			at = task->child;
			depth++;
			continue;
		}
		while (at != root && report_task_at(t, at)->next == TASK_NONE) {
			at = report_task_at(t, at)->parent;
			depth--;
		}
		if (at == root)
			return;
		at = report_task_at(t, at)->next;
	}
}

/* Tasks whose parents go round in a circle have no root; they are printed behind all others. */
int report_tasks(struct seam_reader *reader, bool heading, struct buf *out, struct seam_error *err)
{
	struct tasks t = { 0 };
	int rc = tasks_read(&t, reader, err);

	if (rc >= 0)
		rc = tasks_link(&t);
	if (rc >= 0) {
		if (heading)
			buf_put_text(out, "#      pid      tid     ppid  comm\n");
		for (uint32_t i = 0; i < t.n; i++)
			if (report_task_at(&t, i)->parent == TASK_NONE)
				tasks_print_below(&t, i, out);
		for (uint32_t i = 0; i < t.n; i++)
			if (!report_task_at(&t, i)->printed)
				tasks_print_below(&t, i, out);
	}
	map_free(&t.by_tid);
	buf_free(&t.list);
	buf_free(&t.names);
	return rc;
}
