/* SPDX-License-Identifier: MIT */
/*
 * offcpu.bpf.h: samples of time off the CPU. At a switch the time is noted (away.bpf.h); when the
 * thread is back and has been away for the budget in all, a sample is sent whose period is that
 * time, so that cost is bounded by time and not by the number of switches, and periods add up to
 * all the time there was.
 *
 * The stack is taken when the thread comes back, for it is the one it left with: its kernel part
 * lies where it was, its user part is pending (pending.bpf.h) and given on the way out of the same
 * kernel entry. A switch that is not told of costs no walk. Where nothing can be pending the user
 * part is walked at each switch-out.
 *
 * What remains when a thread ends, or the recording, is sent without a stack, as no single one is
 * its.
 */
#ifndef SEAM_CAPTURE_BPF_OFFCPU_BPF_H
#define SEAM_CAPTURE_BPF_OFFCPU_BPF_H

#include "capture/bpf/away.bpf.h"
#include "capture/bpf/filter.bpf.h"
#include "capture/bpf/pending.bpf.h"

#define AWAY_COOKIES (1ull << 29) /* another range than those of on_sample, which may interrupt */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} away_scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY); /* of the one iterator */
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} away_lasts SEC(".maps");

/* ---- samples ---- */

INLINE void away_begin_sample(struct scratch *x, struct task_struct *task, __u32 why, __u64 now,
                              __u64 period)
{
	x->sample.kind = KWALK_SAMPLE;
	x->sample.pid = task->tgid;
	x->sample.tid = task->pid;
	x->sample.cpu = bpf_get_smp_processor_id();
	x->sample.time_ns = now;
	x->sample.event = KWALK_AWAY | why;
	x->sample.ip = x->sample.address = x->sample.cookie = 0;
	x->sample.period = period;
	x->sample.n_user = x->sample.n_kernel = 0;
	x->sample.in_user = x->sample.guessed = 0;
	x->sample.end = KWALK_NO_USER;
	x->several = config.runtimes && runtime_several(task->tgid);
}

INLINE void away_kernel(struct scratch *x, struct task_struct *task)
{
	__u32 n = x->sample.n_user;
	long bytes;

	if (!config.kernel || n >= WALK_ROOM)
		return;
	bytes = bpf_get_task_stack(task, &x->frames[n], KWALK_KERNEL_MAX * 8, 0);
	if (bytes >= 8) {
		x->sample.n_kernel = (__u32)bytes >> 3;
		x->sample.ip = x->frames[n];
	} else if (n) {
		x->sample.ip = x->frames[0];
	}
}

/* Sends a sample of time off the CPU to this CPU's ring, and counts it, or counts that there was no
 * room. */
INLINE void away_send(struct scratch *x)
{
	struct kwalk_sample *s = &x->sample;
	__u64 size = sizeof(*s) + ((__u64)s->n_user + s->n_kernel) * 8;
	struct kwalk_counts *c = count();
	void *ring = ring_of_cpu();

	if (size > sizeof(*s) + sizeof(x->frames))
		return;
	count_end(s->end, s->guessed);
	if (!ring || bpf_ringbuf_output(ring, s, size, ring_flags(ring, size))) {
		COUNT(away_full);
		return;
	}
	if (c) {
		__sync_fetch_and_add(&c->away, 1);
		__sync_fetch_and_add(&c->away_ns, s->period);
	}
}

/* The user part that was walked when the task left, if it is still in that kernel entry. */
INLINE void away_user_kept(struct scratch *x, struct task_struct *task)
{
	__u32 tid = task->pid, n;
	struct pending *o = bpf_map_lookup_elem(&slots, &tid);

	x->sample.end = KWALK_FAULT;
	if (!o || o->s.task != (__u64)task || o->s.w.user.rip != x->w.user.rip ||
	    o->s.w.user.rsp != x->w.user.rsp)
		return;
	n = o->s.w.n;
	if (n > KWALK_FRAMES_MAX)
		return;
	FORGET(n);
	bpf_probe_read_kernel(x->frames, (n & (WALK_ROOM - 1)) * 8, o->s.frames);
	x->sample.n_user = n;
	x->sample.end = o->s.w.end;
	x->sample.guessed = o->s.w.guessed;
}

INLINE int away_has_user(struct task_struct *task)
{
	return !(task->flags & (TASK_KERNEL_THREAD | TASK_USER_WORKER)) && task_mm(task);
}

/* Fills the user part of such a sample: a cookie, to be answered on the way back, or the frames
 * that were walked when the task left; or the reason why there is none. */
INLINE void away_user(struct scratch *x, struct task_struct *task)
{
	if (task->flags & TASK_EXITING &&
	    !(task->flags & (TASK_KERNEL_THREAD | TASK_USER_WORKER)) && !task_mm(task))
		x->sample.end = KWALK_GONE;
	if (!config.user || !away_has_user(task))
		return;
	if (!config.away_at_once && task->flags & TASK_EXITING) { /* it would not answer */
		x->sample.end = KWALK_EXITED;
		return;
	}
	walker_take(&x->w, task);
	if (!walker_start(&x->w, task->tgid)) {
		x->sample.end = x->w.end;
		return;
	}
	if (config.away_at_once) {
		away_user_kept(x, task);
		return;
	}
	if (x->cookies < AWAY_COOKIES)
		x->cookies = AWAY_COOKIES;
	x->sample.cookie = owe(x, task);
	x->sample.end = x->sample.cookie ? KWALK_DEFERRED : KWALK_FAULT;
}

/* Sends a sample if the budget is used up. */
INLINE void away_tell(struct task_struct *task, struct away *a, __u32 why, __u64 now)
{
	__u32 zero = 0;
	struct scratch *x = bpf_map_lookup_elem(&away_scratches, &zero);

	why &= 7;
	if (!x || a->sum_ns[why] < config.away_ns || filter_held(task))
		return;
	away_begin_sample(x, task, why, now, away_take(&a->sum_ns[why]));
	away_user(x, task);
	away_kernel(x, task);
	away_send(x);
}

/* Sends what is left, without a stack. */
INLINE void away_rest(struct scratch *x, struct task_struct *task, struct away *a, __u64 now)
{
	a->sum_ns[KWALK_AWAY_RAN] = config.wall ? away_take(&a->ran_ns) : 0;
	for (__u32 why = 1; why < KWALK_AWAYS; why++) {
		__u64 period = away_take(&a->sum_ns[why]);

		if (!period)
			continue;
		away_begin_sample(x, task, why, now, period);
		away_send(x);
	}
}

/* Drops what was counted for the task so far, because it is not wanted. */
INLINE void away_restart(struct task_struct *task)
{
	struct away *a = away_is_on() ? away_get(task) : 0;

	if (!a)
		return;
#pragma unroll
	for (__u32 why = 0; why < KWALK_AWAYS; why++)
		a->sum_ns[why] = 0;
	a->ran_ns = 0;
	a->in_ns = bpf_ktime_get_ns();
}

/* ---- switches ---- */

INLINE void away_walk(struct task_struct *task)
{
	struct pending *o;

	if (!config.away_at_once || !config.user || !away_has_user(task))
		return;
	o = slot_get(task);
	if (!o)
		return;
	walker_take(&o->s.w, task);
	if (walker_start(&o->s.w, task->tgid)) {
		struct walk c = { .w = &o->s.w, .frames = o->s.frames };

		o->s.w.most = config.depth;
		bpf_loop(KWALK_FRAMES_MAX + 1, walk_step_now, &c, 0);
	}
}

/* A task leaves the CPU: notes when and why. The stack is not taken yet, unless it could not be
 * taken later. */
INLINE void away_leave(struct task_struct *task, __u32 state, int preempted, __u64 now)
{
	struct away *a = away_get(task);
	__u32 zero = 0;
	__u64 in;

	if (!a) {
		if (state & STATE_DEAD || !filter_takes(task))
			return;
		a = away_make(task);
		if (!a)
			return;
	}
	away_add(task, a, now);
	in = away_take(&a->in_ns);
	if (in && in < now)
		__sync_fetch_and_add(&a->ran_ns, now - in);
	if (state & STATE_DEAD) {
		struct scratch *x = bpf_map_lookup_elem(&away_scratches, &zero);

		if (x)
			away_rest(x, task, a, now);
		return;
	}
	away_walk(task);
	a->why = away_why(state, preempted);
	a->woken_ns = 0;
	a->ran_all_ns = task->se.sum_exec_runtime;
	a->out_ns = now;
}

/* A task is back: adds the time to its sums. Whether that is to be told. */
INLINE int away_return(struct task_struct *task, struct away *a, __u64 now)
{
	__u64 in;

	if (!a)
		return 0;
	in = __sync_lock_test_and_set(&a->in_ns, now);
	if (in && !a->out_ns) /* nor was its leaving told of: all of it is taken for running */
		__sync_fetch_and_add(&a->ran_ns, now - in);
	if (!away_add(task, a, now))
		return 0;
	/* The task may have become another one by name, user or cgroup. */
	if ((config.uids || config.comms || config.cgroups) && !filter_takes(task)) {
		a->sum_ns[a->why & 7] = a->sum_ns[KWALK_AWAY_RUNQUEUE] = 0;
		return 0;
	}
	return a->sum_ns[a->why & 7] >= config.away_ns ||
	       a->sum_ns[KWALK_AWAY_RUNQUEUE] >= config.away_ns;
}

/* Sends a sample for each reason whose sum has used up the budget. */
INLINE void away_tell_all(struct task_struct *task, struct away *a, __u64 now)
{
#pragma nounroll
	for (int i = 0; i < 2; i++)
		if (!i || a->why != KWALK_AWAY_RUNQUEUE)
			away_tell(task, a, i ? KWALK_AWAY_RUNQUEUE : a->why, now);
}

#endif
