// SPDX-License-Identifier: MIT
/*
 * unwind.bpf.c: the programs in the kernel. on_sample runs at each sampling event, walks the user
 * stack at once by the tables in the arena, and where a page is not in memory asks for `answer` to
 * be run on the task's way back to user mode; samples of one kernel entry share it. read_owing
 * reads what is still pending from tasks that sleep. The rest keeps the sets of targets and of
 * address spaces right, from inside the kernel, where no record can be late.
 *
 * Does not know perf.data, nor where tables come from.
 */
#include "capture/bpf/kernel.bpf.h"
#include "capture/bpf/shared.h"
#include "capture/bpf/maps.bpf.h"
#include "capture/bpf/runtime_none.bpf.h"
#include "capture/context/context.bpf.h"
#include "capture/bpf/changes.bpf.h"
#include "capture/bpf/filter.bpf.h"
#include "capture/bpf/pending.bpf.h"
#include "capture/bpf/sample.bpf.h"
#include "capture/bpf/offcpu.bpf.h"
#include "capture/bpf/offcpu_hooks.bpf.h"
#include "capture/bpf/owing.bpf.h"
#include "capture/bpf/skipped.bpf.h"

char license_text[] SEC("license") = "Dual MIT/GPL";

/* Runs at each sample of an event. Fills the sample, walks its stack or leaves that to the task's
 * way back, and sends it to this CPU's ring. */
SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct scratch *x;
	__u32 zero = 0;

	USES_ARENA();
	skipped_not();
	if (!filter_takes(task) || filter_held(task)) {
		COUNT(others);
		return 0;
	}
	COUNT(samples);
	x = bpf_map_lookup_elem(&scratches, &zero);
	if (!x)
		return 0;
	x->sample.kind = KWALK_SAMPLE;
	x->sample.pid = task->tgid;
	x->sample.tid = task->pid;
	x->sample.cpu = bpf_get_smp_processor_id();
	x->sample.time_ns = bpf_ktime_get_ns();
	x->sample.event = bpf_get_attach_cookie(ctx);
	x->sample.ip = ctx->regs.rip;
	x->sample.period = ctx->sample_period;
	if (config.wall)
		x->sample.period = away_ran(task, x->sample.time_ns, x->sample.period);
	x->sample.address = ctx->addr;
	x->sample.in_user = (ctx->regs.cs & 3) == 3;
	sample_none(&x->sample);
	/* Without programs of that kind it goes on here. */
	if (config.context)
		context_send(x->sample.time_ns);
	runtime_plan(x, task->tgid);
	sample_go_on(ctx, x);
	sample_stack(ctx, x, task);
	return 0;
}

/* ---- the sets ---- */

INLINE void runtime_copy(const struct runtime_process *of, __u32 to)
{
	__u32 zero = 0;
	struct runtime_process *copy = bpf_map_lookup_elem(&runtime_copies, &zero);

	if (!of || !copy)
		return;
	bpf_probe_read_kernel(copy, sizeof(*copy), of);
	copy->execs = copy->losses = 0;
	bpf_map_update_elem(&runtimes, &to, copy, BPF_ANY);
}

/* A child has its parent's memory, until it replaces its program. */
INLINE void runtime_fork(__u32 from, __u32 to)
{
	struct runtime_process *of = runtime_of(from);
	__u32 others = of ? of->others : 0;

	if (!of)
		return;
	for (__u32 kind = 1; others && kind < RUNTIMES; kind++)
		if (others >> kind & 1)
			runtime_copy(runtime_other_of(of, from, kind),
			             to | kind << KWALK_RUNTIME_OTHER);
	runtime_copy(of, to);
}

INLINE void runtime_forget(__u32 pid)
{
	struct runtime_process *of = bpf_map_lookup_elem(&runtimes, &pid);
	__u32 others = of ? of->others : 0, key;

	for (__u32 kind = 1; others && kind < RUNTIMES; kind++) {
		key = pid | kind << KWALK_RUNTIME_OTHER;
		if (others >> kind & 1)
			bpf_map_delete_elem(&runtimes, &key);
	}
	bpf_map_delete_elem(&runtimes, &pid);
}

/* A new process: a target if its parent is one and children are followed. It gets its parent's
 * mappings, because they are the same until it execs. */
SEC("seam_tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid, one = 1, by, key;
	struct kwalk_changes *of, first = { 0 };
	struct kwalk_process *p;
	struct kwalk_process copy;

	by = config.filter == KWALK_THREADS ? parent->pid : from;
	key = config.filter == KWALK_THREADS ? child->pid : to;
	if (config.inherit && config.filter != KWALK_EVERYTHING &&
	    bpf_map_lookup_elem(&targets, &by) &&
	    bpf_map_update_elem(&targets, &key, &one, BPF_ANY) < 0)
		COUNT(not_followed);
	if (from == to)
		return 0;
	/* A child has its parent's mappings, from its first instruction on. */
	p = bpf_map_lookup_elem(&processes, &from);
	of = bpf_map_lookup_elem(&changes, &from);
	if (!p || !process_is_valid(p, of))
		return 0;
	if (config.runtimes)
		runtime_fork(from, to);
	if (config.context)
		context_fork(from, to);
	copy = *p;
	copy.execs = copy.losses = 0;
	first.exec_vm = BPF_CORE_READ(child, mm, exec_vm);
	if (of) {
		first.lent = of->lent;
		first.lent_from = of->lent_from;
		first.lent_to = of->lent_to;
	}
	bpf_map_update_elem(&changes, &to, &first, BPF_ANY);
	bpf_map_update_elem(&processes, &to, &copy, BPF_ANY);
	return 0;
}

/* A thread that replaces the program takes over its process's number, and loses its own. */
INLINE void target_renumber(struct task_struct *task)
{
	__u32 tid = task->pid, pid = task->tgid, one = 1;

	if (config.filter == KWALK_THREADS && tid != pid && bpf_map_lookup_elem(&targets, &tid) &&
	    bpf_map_update_elem(&targets, &pid, &one, BPF_ANY) < 0)
		COUNT(not_followed);
}

/* From here to on_exec the memory is the new program's and the registers the old one's. */
SEC("seam_tp_btf/sched_prepare_exec")
int BPF_PROG(on_replace, struct task_struct *task)
{
	__u32 pid = task->tgid;
	struct kwalk_changes *c = changes_of(pid);

	if (c)
		c->execs |= KWALK_REPLACING;
	target_renumber(task);
	if (filter_held(task))
		away_restart(task);
	/* It looks again every now and then: the new program's mappings come soon. */
	if (filter_by_number(task))
		news_tell(pid);
	return 0;
}

/* The known mappings are those of the program before. */
SEC("seam_tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	__u32 pid = task->tgid;
	struct kwalk_changes *c = changes_of(pid);

	if (c) {
		c->execs = (c->execs & ~KWALK_REPLACING) + 1;
		c->exec_vm = BPF_CORE_READ(task, mm, exec_vm);
		c->lent = 0;
	}
	if (filter_by_number(task))
		news_tell(pid);
	filter_takes(task); /* the recorder learns early whose records it is to keep */
	return 0;
}

/* The task itself is freed, which is later than its exit: nobody asks for its slot any more. */
SEC("seam_tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	__u32 tid = task->pid, pid = task->tgid;
	struct pending *o = bpf_map_lookup_elem(&slots, &tid);

	if (o && o->s.task == (__u64)task)
		bpf_map_delete_elem(&slots, &tid);
	if (config.filter == KWALK_THREADS || tid == pid)
		bpf_map_delete_elem(&targets, &tid);
	if (tid != pid)
		return 0;
	bpf_map_delete_elem(&processes, &pid);
	bpf_map_delete_elem(&changes, &pid);
	if (config.runtimes)
		runtime_forget(pid);
	if (config.context)
		bpf_map_delete_elem(&contexts, &pid);
	return 0;
}
