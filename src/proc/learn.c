// SPDX-License-Identifier: MIT
/*
 * learn.c: records to events. An event keeps nothing of its record but numbers and interned names.
 * Until proc_seal events only gather; then they are sorted by time and applied.
 *
 * So the records of several CPUs may come in any order, as they do in a file. Two kinds of tables
 * do not wait: a live one is asked for now only, and one that is told of records in order of time
 * applies each at once.
 *
 * Invariant: events of one time are applied in the order in which they came.
 */
#include "abi/runtime_code.h"
#include "proc/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEARN_HELD 4u   /* blocks of events that are in memory: 14 MiB */
#define PROT_EXECUTE 4u /* PROT_EXEC, of the recorded machine */

/* Recordings without times are in the order of their records. */
uint64_t proc_time(const struct seam_decoded *record)
{
	return record->id.has & SEAM_SAMPLE_TIME ? record->id.time_ns : record->record->index;
}

/* Applies the event now if records come in order of time, otherwise keeps it until proc_seal
 * sorts them. In a table that is told of order, a time that runs backwards is raised to the
 * newest one. */
static int learn_put(struct proc_table *table, struct proc_event *e)
{
	struct proc_event *kept;

	table->generation++;
	if (table->in_order) {
		if (e->time < table->newest)
			e->time = table->newest;
		table->newest = e->time;
	}
	if (table->live || table->in_order)
		return apply_event(table, e);
	table->events.size = sizeof(*e);
	table->events.held = LEARN_HELD;
	kept = table->events.n < UINT32_MAX ? blocks_add(&table->events) : NULL;
	if (!kept)
		return -ENOMEM;
	*kept = *e;
	return 0;
}

/* The range of an event; false: it is none. A kernel map may say 0 for "to the end". */
static bool learn_range(struct proc_event *e, uint64_t start, uint64_t length)
{
	bool to_the_end = e->kind == PROC_KIND_KERNEL && (!length || length > UINT64_MAX - start);

	e->start = start;
	e->end = to_the_end ? UINT64_MAX : start + length;
	return e->end > e->start;
}

/* Makes an event of an MMAP or MMAP2 record: 1; 0: its range is unsound, which is counted.
 * -ENOMEM. */
static int learn_mmap(struct proc_table *table, const struct seam_decoded *record,
                      struct proc_event *e)
{
	const struct seam_mmap *m = &record->mmap;
	unsigned mode = record->record->misc & SEAM_MISC_CPUMODE_MASK;
	bool kernel = mode == SEAM_MISC_KERNEL || m->pid == PROC_KERNEL;
	const char *name = m->filename;

	e->type = EVENT_MAP;
	e->kind = (uint8_t)(kernel ? object_kind_kernel(name) : object_kind_user(name));
	if (!learn_range(e, m->addr, m->len)) {
		table->counts.unsound++;
		return 0;
	}
	if (e->kind == PROC_KIND_ANON)
		name = "//anon";
	e->pid = m->pid;
	e->pgoff = m->pgoff;
	e->data = !kernel && ((record->record->misc & SEAM_MISC_MMAP_DATA) ||
	                      (m->has_prot && !(m->prot & PROT_EXECUTE)));
	e->name = intern_bytes(&table->names, name,
	                       object_name_length((enum proc_kind)e->kind, name));
	if (m->has_build_id && m->build_id_size && m->build_id_size <= PROC_BUILD_ID_MAX)
		e->build_id = intern_bytes(&table->names, m->build_id, m->build_id_size);
	else if (table->live && e->kind == PROC_KIND_FILE)
		e->inode = m->ino; /* a file of that name may be another one by now */
	if (e->name == INTERN_FAILED || e->build_id == INTERN_FAILED)
		return -ENOMEM;
	table->counts.mappings++;
	return 1;
}

/* Makes an event of a KSYMBOL record: 1; 0: its range is unsound, which is counted. -ENOMEM. */
static int learn_ksymbol(struct proc_table *table, const struct seam_decoded *record,
                         struct proc_event *e)
{
	const struct seam_ksymbol *k = &record->ksymbol;

	e->type = k->unregister ? EVENT_UNMAP : EVENT_MAP;
	e->kind = k->ksym_type == 1 ? PROC_KIND_BPF : PROC_KIND_OUT_OF_LINE;
	e->pid = PROC_KERNEL;
	/* A function of an interpreter (abi/runtime_code.h): no code of the kernel. */
	if ((record->record->misc & SEAM_MISC_CPUMODE_MASK) == SEAM_MISC_USER &&
	    runtime_code_is(k->addr)) {
		/* Addresses there never change their meaning. */
		e->type = EVENT_MAP;
		e->kind = PROC_KIND_RUNTIME;
		e->time = 0;
	}
	if (!learn_range(e, k->addr, k->len)) {
		table->counts.unsound++;
		return 0;
	}
	e->name = intern_text(&table->names, k->name);
	if (e->name == INTERN_FAILED)
		return -ENOMEM;
	table->counts.ksymbols++;
	return 1;
}

/* An exec is a COMM with its flag; the name changes either way. */
static int learn_comm(struct proc_table *table, const struct seam_decoded *record,
                      struct proc_event *e)
{
	const struct seam_comm *c = &record->comm;

	e->type = c->exec ? EVENT_EXEC : EVENT_COMM;
	e->pid = c->pid;
	e->tid = c->tid;
	e->name = intern_text(&table->names, c->comm);
	if (e->name == INTERN_FAILED)
		return -ENOMEM;
	table->counts.comms++;
	table->counts.execs += c->exec;
	return 1;
}

/* What the child inherits is found when the event is applied: by then the parent's records are in
 * order. */
static int learn_fork(struct proc_table *table, const struct seam_decoded *record,
                      struct proc_event *e)
{
	const struct seam_task *t = &record->task;

	e->type = EVENT_FORK;
	e->pid = t->pid;
	e->tid = t->tid;
	e->ppid = t->ppid;
	e->ptid = t->ptid;
	/* The bit that synth.c sets: mappings of the child follow, so it does not inherit its
	 * parent's. */
	e->empty = record->record->misc & SEAM_MISC_FORK_EXEC;
	table->counts.forks++;
	return 1;
}

/* Live: what a record says of which tasks run. */
static int learn_tasks(struct proc_table *table, const struct seam_decoded *record, uint64_t time)
{
	const struct seam_task *t = &record->task;

	switch (record->record->type) {
	case SEAM_RECORD_FORK:
		renew_seen(&table->tasks, 0, time);
		return renew_begin(&table->tasks, t->pid, t->tid);
	case SEAM_RECORD_EXIT:
		return renew_end(&table->tasks, t->pid, t->tid, time);
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
		renew_seen(&table->tasks, record->mmap.pid, time);
		return 0;
	case SEAM_RECORD_COMM:
		renew_seen(&table->tasks, record->comm.pid, time);
		return 0;
	default:
		return 0;
	}
}

/* Records of guests are ignored: their addresses mean nothing on this machine. */
int proc_learn(struct proc_table *table, const struct seam_decoded *record)
{
	struct proc_event e = { 0 };
	unsigned mode = record->record->misc & SEAM_MISC_CPUMODE_MASK;
	int r = 0;

	if (table->sealed)
		return -EBUSY;
	if (mode == SEAM_MISC_GUEST_KERNEL || mode == SEAM_MISC_GUEST_USER)
		return 0;
	e.time = proc_time(record);
	if (table->live && learn_tasks(table, record, e.time) < 0)
		return -ENOMEM;
	switch (record->record->type) {
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
		r = learn_mmap(table, record, &e);
		break;
	case SEAM_RECORD_KSYMBOL:
		r = learn_ksymbol(table, record, &e);
		break;
	case SEAM_RECORD_COMM:
		r = learn_comm(table, record, &e);
		break;
	case SEAM_RECORD_FORK:
		r = learn_fork(table, record, &e);
		break;
	}
	/* More than 0: the record changes something at its time. */
	if (r > 0 && learn_put(table, &e) < 0)
		r = -ENOMEM;
	return r;
}

/* Code of a jitdump, as a mapping of its own: number leads back to the dump's entry. */
int proc_learn_code(struct proc_table *table, uint32_t pid, const struct proc_code *code)
{
	struct proc_event e = { .type = EVENT_MAP,
		                .kind = PROC_KIND_JIT,
		                .pid = pid,
		                .time = code->time_ns,
		                .pgoff = code->number };

	if (table->sealed)
		return -EBUSY;
	if (!learn_range(&e, code->start, code->size)) {
		table->counts.unsound++;
		return 0;
	}
	e.name = intern_text(&table->names, code->name);
	return e.name == INTERN_FAILED || learn_put(table, &e) < 0 ? -ENOMEM : 0;
}

/* From the file's header: build-ids by path, for records that have none. */
int proc_learn_build_id(struct proc_table *table, const char *path, const uint8_t *build_id,
                        size_t n)
{
	enum proc_kind kind = object_kind_kernel(path);
	uint32_t name, id;

	if (table->sealed)
		return -EBUSY;
	if (!n || n > PROC_BUILD_ID_MAX)
		return -EINVAL;
	name = intern_bytes(&table->names, path, object_name_length(kind, path));
	id = intern_bytes(&table->names, build_id, n);
	if (name == INTERN_FAILED || id == INTERN_FAILED)
		return -ENOMEM;
	return map_put(&table->build_ids, name, id);
}

/* When an event was, and its number. */
struct learn_order {
	uint64_t time;
	uint32_t number;
};

/* By time, and in the order of the file within one time. */
static int learn_compare(const void *a, const void *b)
{
	const struct learn_order *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* All events, in order: *ret. NULL: there are none. -ENOMEM. */
static int learn_sort(const struct proc_table *table, struct learn_order **ret)
{
	uint32_t n = (uint32_t)table->events.n;
	bool sorted = true;
	uint64_t last = 0;

	*ret = n ? malloc(n * sizeof(**ret)) : NULL;
	for (uint32_t i = 0; i < n && *ret; i++) {
		const struct proc_event *e = blocks_at(&table->events, i);

		(*ret)[i] = (struct learn_order){ .time = e->time, .number = i };
		sorted &= e->time >= last;
		last = e->time;
		if (!((i + 1) % BLOCKS_THINGS))
			blocks_rest(&table->events, 0, SIZE_MAX);
	}
	if (n && !*ret)
		return -ENOMEM;
	if (!sorted)
		qsort(*ret, n, sizeof(**ret), learn_compare);
	return 0;
}

/* Applies all events in order of time. -ENOMEM. */
static int learn_apply(struct proc_table *table)
{
	struct learn_order *order;
	int r = learn_sort(table, &order);

	for (uint64_t i = 0; i < table->events.n && r >= 0; i++) {
		r = apply_event(table, blocks_at(&table->events, order[i].number));
		if (!((i + 1) % BLOCKS_THINGS))
			blocks_rest(&table->events, 0, SIZE_MAX);
	}
	free(order);
	return r;
}

/* After it lookups may come from any number of threads, as nothing changes any more. */
int proc_seal(struct proc_table *table)
{
	int r = learn_apply(table);

	if (r < 0)
		return r;
	r = apply_end(table);
	if (r < 0)
		return r;
	blocks_free(&table->events);
	table->sealed = true;
	table->generation++;
	return 0;
}
