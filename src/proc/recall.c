// SPDX-License-Identifier: MIT
/*
 * recall.c: lookups in a process table that remember what holds, and from when to when. Samples
 * come in runs of one task, so that most need no search. A proc_recall is for one thread.
 *
 * Invariant: what is remembered is what proc_comm and proc_space say for every moment of its span.
 */
#include "proc/table.h"

/* The change of a key that is in effect at a time. Narrows the span to where that is so. */
static const struct change *recall_change(const struct histories *of, uint64_t key,
                                          struct proc_span *span, uint64_t time_ns)
{
	const struct history *history = history_of(of, key);
	const struct change *change = history_at(history, time_ns);
	const struct change *next = change                  ? change + 1
	                            : history && history->n ? history->changes
	                                                    : NULL;

	if (change && change->time > span->from_ns)
		span->from_ns = change->time;
	if (next && change != history_last(history) && next->time - 1 < span->to_ns)
		span->to_ns = next->time - 1;
	return change;
}

/* Narrows *span to where the answer is the same. */
const char *proc_comm_span(const struct proc_table *table, uint32_t pid, uint32_t tid,
                           uint64_t time_ns, struct proc_span *span)
{
	const struct change *name = recall_change(&table->threads, tid, span, time_ns);

	if (!name || !name->value)
		name = recall_change(&table->threads, pid, span, time_ns);
	return table_comm(table, name, tid);
}

uint32_t proc_space_span(const struct proc_table *table, uint32_t pid, uint64_t time_ns,
                         struct proc_span *span)
{
	const struct change *change = recall_change(&table->processes, pid, span, time_ns);

	return change ? change->value : PROC_NO_SPACE;
}

/* The generation changes with every record that is learned. */
static bool recall_holds(const struct proc_recalled *r, const struct proc_table *table,
                         uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	return r->generation == table->generation && r->pid == pid && r->tid == tid &&
	       time_ns >= r->span.from_ns && time_ns <= r->span.to_ns;
}

static void recall_begin(struct proc_recalled *r, const struct proc_table *table, uint32_t pid,
                         uint32_t tid)
{
	*r = (struct proc_recalled){
		.generation = table->generation, .span.to_ns = UINT64_MAX, .pid = pid, .tid = tid
	};
}

/* A slot per tid modulo PROC_RECALL; two tasks that share one push each other out. */
const char *proc_recall_comm(struct proc_recall *recall, const struct proc_table *table,
                             uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct proc_recalled *r = &recall->comms[tid % PROC_RECALL];

	if (table->live)
		return proc_comm(table, pid, tid, time_ns);
	if (!recall_holds(r, table, pid, tid, time_ns)) {
		recall_begin(r, table, pid, tid);
		r->comm = proc_comm_span(table, pid, tid, time_ns, &r->span);
	}
	return r->comm;
}
