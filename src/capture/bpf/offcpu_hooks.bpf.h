/* SPDX-License-Identifier: MIT */
/* offcpu_hooks.bpf.h: the programs of offcpu.bpf.h: at switches, wake-ups and forks, and for all
 * threads at the beginning and the end of a recording. */
#ifndef SEAM_CAPTURE_BPF_OFFCPU_HOOKS_BPF_H
#define SEAM_CAPTURE_BPF_OFFCPU_HOOKS_BPF_H

#include "capture/bpf/offcpu.bpf.h"

/* Runs at each switch: one thread leaves the CPU, another one is back. */
SEC("seam_tp_btf/sched_switch")
int BPF_PROG(away_switch, _Bool preempted, struct task_struct *prev, struct task_struct *next,
             unsigned int state)
{
	struct away *a;
	__u32 kind;
	__u64 now;

	USES_ARENA();
	if (!away_is_on())
		return 0;
	now = bpf_ktime_get_ns();
	if (prev->pid)
		away_leave(prev, state, preempted, now);
	a = next->pid ? away_get(next) : 0;
	if (!a || !away_return(next, a, now))
		return 0;
	/* Without programs of that kind it goes on here. */
	kind = config.user && !config.away_at_once ? runtime_kind_of(next->tgid) : 0;
	if (kind)
		bpf_tail_call(ctx, &runtime_aways, kind);
	away_tell_all(next, a, now);
	return 0;
}

SEC("seam_tp_btf/sched_wakeup")
int BPF_PROG(away_wakeup, struct task_struct *task)
{
	struct away *a = away_get(task);

	if (a && a->out_ns && !a->woken_ns)
		a->woken_ns = bpf_ktime_get_ns();
	return 0;
}

/* Attached behind on_fork, which makes the child a target. */
SEC("seam_tp_btf/sched_process_fork")
int BPF_PROG(away_fork, struct task_struct *parent, struct task_struct *child)
{
	struct away *a;

	if (!away_is_on() || !filter_takes(child))
		return 0;
	a = away_make(child);
	if (!a)
		return 0;
	a->why = KWALK_AWAY_RUNQUEUE;
	a->out_ns = bpf_ktime_get_ns();
	return 0;
}

/* ---- begin and end of a recording ---- */

/* Threads that are off the CPU already are counted from now on. */
SEC("seam_iter/task")
int away_first(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u64 now = bpf_ktime_get_ns();
	struct away *a;

	if (!task || !task->pid || !filter_takes(task) || task->__state & STATE_DEAD)
		return 0;
	a = away_make(task);
	if (!a || a->in_ns || a->out_ns)
		return 0;
	if (task->on_cpu) {
		a->in_ns = now;
		return 0;
	}
	a->why = away_why(task->__state, 0);
	a->woken_ns = 0;
	a->ran_all_ns = task->se.sum_exec_runtime;
	__sync_val_compare_and_swap(&a->out_ns, 0, now);
	return 0;
}

INLINE void away_last_walk(struct scratch *x, struct task_struct *task)
{
	struct walk c = { .w = &x->w, .frames = x->frames, .task = task };

	if (!config.user || !away_has_user(task))
		return;
	x->w.task = (__u64)task;
	if (!walker_start(&x->w, task->tgid))
		return;
	x->w.most = KWALK_FRAMES_MAX;
	bpf_loop(KWALK_FRAMES_MAX + 1, walk_step_task, &c, 0);
	x->sample.n_user = x->w.n;
	x->sample.end = x->w.end;
	x->sample.guessed = x->w.guessed;
}

/* Sends the threads that are still off the CPU, with their stacks, and what is left of all. The
 * clock is stopped, so nothing else counts any more. */
SEC("seam_iter.s/task")
int away_last(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u64 now = bpf_ktime_get_ns(), in;
	__u32 zero = 0, why;
	struct scratch *x = bpf_map_lookup_elem(&away_lasts, &zero);
	struct away *a;

	void *ring = ring_of_cpu();

	USES_ARENA();
	if (!task || !x || !task->pid)
		return 0;
	/* There may be more threads than the ring has room for: then the same thread is visited
	 * again when the ring was read. */
	if (ring && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >
	                    bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2)
		return 1;
	a = bpf_task_storage_get(&aways, task, 0, 0);
	if (!a || !filter_takes(task))
		return 0;
	in = away_take(&a->in_ns);
	if (in && in < now)
		__sync_fetch_and_add(&a->ran_ns, now - in);
	why = a->why & 7;
	if (away_add(task, a, now) && !task->on_cpu) {
		away_begin_sample(x, task, why, now, away_take(&a->sum_ns[why]));
		away_last_walk(x, task);
		if (!task->on_cpu) {
			away_kernel(x, task);
			away_send(x);
		} else {
			a->sum_ns[why] += x->sample.period;
		}
	}
	away_rest(x, task, a, now);
	return 0;
}

#endif
