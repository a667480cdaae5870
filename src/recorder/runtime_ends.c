// SPDX-License-Identifier: MIT
// runtime_ends.c: see runtime_ends.h. Nothing begins in code that a runtime made, so a stack
// whose outermost frame is there was cut off.
#include "recorder/runtime_ends.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "abi/record.h"
#include "abi/record_at.h"
#include "runtimes/runtime_flags.h"
#include "proc/object.h"
#include "samples/jit.h"

#define PROCESSES_MAX 4096u
#define RANGES_MAX 64u /* of code that a process made: neighbours are one */

struct runtimes_range {
	uint64_t start, end;
};

struct runtimes_process {
	const struct runtime_flags *flags; /* NULL: no runtime that is known */
	bool dumps;                        /* it has a jitdump */
	uint64_t last_ns;                  /* when it mapped what was learnt last */
	size_t n;
	struct runtimes_range code[RANGES_MAX];
};

static struct runtimes_process *runtimes_process(const struct runtime_ends *r, uint32_t pid)
{
	uint64_t at = 0;

	map_get(&r->processes, pid, &at);
	return (struct runtimes_process *)(uintptr_t)at;
}

/* NULL: there is no room for one more. */
static struct runtimes_process *runtimes_process_new(struct runtime_ends *r, uint32_t pid)
{
	struct runtimes_process *p = runtimes_process(r, pid);

	if (p || r->processes.n >= PROCESSES_MAX)
		return p;
	p = calloc(1, sizeof(*p));
	if (p && map_put(&r->processes, pid, (uintptr_t)p) < 0) {
		free(p);
		p = NULL;
	}
	return p;
}

/* A process began, or its program: records of several CPUs come in no order, so what was mapped
 * since is kept. False: something was. */
static bool runtimes_forget(struct runtime_ends *r, uint32_t pid, uint64_t time_ns)
{
	struct runtimes_process *p = runtimes_process(r, pid);

	if (p && p->last_ns >= time_ns)
		return false;
	if (p)
		map_del(&r->processes, pid);
	free(p);
	return true;
}

static void runtimes_code(struct runtimes_process *p, uint64_t start, uint64_t size)
{
	uint64_t end = size > UINT64_MAX - start ? UINT64_MAX : start + size;

	for (size_t i = 0; i < p->n; i++) {
		struct runtimes_range *c = &p->code[i];

		if (start > c->end || end < c->start)
			continue;
		c->start = start < c->start ? start : c->start;
		c->end = end > c->end ? end : c->end;
		return;
	}
	if (p->n < RANGES_MAX)
		p->code[p->n++] = (struct runtimes_range){ start, end };
}

/* Notes the runtime of a process, the ranges of code that it makes, and whether it writes a
 * jitdump. Mappings that are no code of a runtime are ignored. If memory is out, nothing is
 * noted. */
static void runtimes_mapping(struct runtime_ends *r, const struct seam_record *record,
                             const struct seam_mmap *m, uint64_t time_ns)
{
	enum proc_kind kind = object_kind_user(m->filename);
	const struct runtime_flags *flags =
	        kind == PROC_KIND_FILE ? runtime_flags_of_path(m->filename) : NULL;
	bool dump = kind == PROC_KIND_FILE && jit_is_dump(m->filename);
	struct runtimes_process *p;

	if (m->has_prot ? !(m->prot & PROT_EXEC) : record->misc & SEAM_MISC_MMAP_DATA)
		return;
	if (!flags && !dump && kind != PROC_KIND_ANON)
		return;
	if (flags && !r->ended)
		r->ended = calloc(runtime_flags_count(), sizeof(*r->ended));
	p = runtimes_process_new(r, m->pid);
	if (!p)
		return;
	p->flags = flags ? flags : p->flags;
	p->last_ns = time_ns > p->last_ns ? time_ns : p->last_ns;
	p->dumps |= dump;
	if (kind == PROC_KIND_ANON)
		runtimes_code(p, m->addr, m->len);
}

static void runtimes_fork(struct runtime_ends *r, const struct seam_task *task)
{
	const struct runtimes_process *from = runtimes_process(r, task->ppid);
	struct runtimes_process *to;

	if (task->pid == task->ppid || !runtimes_forget(r, task->pid, task->time_ns))
		return;
	to = from ? runtimes_process_new(r, task->pid) : NULL;
	if (to)
		*to = *from;
}

/* The outermost frame of a stack, if that is user code; 0: it is not, or comes later. */
static uint64_t runtimes_outermost(const struct seam_u64s *chain)
{
	uint64_t ip = chain->n ? seam_u64s_at(chain, chain->n - 1) : 0;

	if (chain->n > 1 && seam_u64s_at(chain, chain->n - 2) == SEAM_CONTEXT_USER_DEFERRED)
		return 0;
	return ip >> 63 ? 0 : ip; /* the kernel's, and markers */
}

static void runtimes_stack(struct runtime_ends *r, uint32_t pid, const struct seam_u64s *chain)
{
	const struct runtimes_process *p = runtimes_process(r, pid);
	uint64_t ip = p && p->flags && p->flags->stacks ? runtimes_outermost(chain) : 0;

	/* With the flag that makes it write a dump its code keeps frame pointers already. */
	if (!ip || (p->dumps && !strcmp(p->flags->stacks, p->flags->names)))
		return;
	for (size_t i = 0; i < p->n; i++) {
		if (ip - 1 < p->code[i].start || ip - 1 >= p->code[i].end)
			continue;
		r->ended[runtime_flags_number(p->flags)]++;
		return;
	}
}

/* Learns which process is of which runtime, and looks at the outermost frame of each stack. */
static void runtimes_record(struct runtime_ends *r, const struct seam_record *record)
{
	struct seam_decoded d;

	if (record_decode(r->events, record, &d, NULL) < 0)
		return;
	switch (record->type) {
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
		runtimes_mapping(r, record, &d.mmap, d.id.time_ns);
		break;
	case SEAM_RECORD_COMM:
		if (d.comm.exec)
			runtimes_forget(r, d.comm.pid, d.id.time_ns);
		break;
	case SEAM_RECORD_FORK:
		runtimes_fork(r, &d.task);
		break;
	case SEAM_RECORD_EXIT:
		/* Samples of its last moments may come later: with room enough it stays. */
		if (d.task.pid == d.task.tid && r->processes.n > PROCESSES_MAX / 2)
			runtimes_forget(r, d.task.pid, d.task.time_ns);
		break;
	case SEAM_RECORD_SAMPLE:
		runtimes_stack(r, d.sample.id.pid, &d.sample.callchain);
		break;
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
		runtimes_stack(r, d.id.pid, &d.deferred.ips);
		break;
	default:
		break;
	}
}

void runtime_ends_look(struct runtime_ends *r, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	struct seam_record record;

	for (; record_at(at, n, &record); at += record.size, n -= record.size) {
		bool stack = record.type == SEAM_RECORD_SAMPLE ||
		             record.type == SEAM_RECORD_CALLCHAIN_DEFERRED;

		r->samples += record.type == SEAM_RECORD_SAMPLE;
		if (stack ? r->ended != NULL : record.type <= SEAM_RECORD_MMAP2)
			runtimes_record(r, &record);
	}
}

void runtime_ends_free(struct runtime_ends *r)
{
	uint64_t pid, at;
	size_t i = 0;

	while (map_next(&r->processes, &i, &pid, &at))
		free((void *)(uintptr_t)at);
	map_free(&r->processes);
	free(r->ended);
}
