/* SPDX-License-Identifier: MIT */
/*
 * away.bpf.h: since when a thread is off the CPU, or on it, and how much time of either was not
 * reported yet. There is one entry per thread, in its own storage.
 *
 * No time is counted twice: whoever takes a time stamp out exchanges it for 0.
 */
#ifndef SEAM_CAPTURE_BPF_AWAY_BPF_H
#define SEAM_CAPTURE_BPF_AWAY_BPF_H

#include "capture/bpf/maps.bpf.h"

#define STATE_UNINTERRUPTIBLE 0x2u
#define STATE_DEAD 0x80u
#define STATE_NO_LOAD 0x400u
#define STATE_RTLOCK 0x1000u

struct away {
	__u64 out_ns, woken_ns; /* off the CPU since, could run since; 0: it is not */
	__u64 in_ns;            /* on the CPU since, or since its last sample */
	__u64 ran_ns;           /* and before that, not told of yet */
	__u64 sum_ns[8];        /* not told of yet, by enum kwalk_away */
	__u64 ran_all_ns;       /* as the kernel counts it, when it left */
	__u64 early_ns;         /* of samples on the CPU while it is taken to be away */
	__u32 why;
	__u32 unused;
};

struct away_clock {
	__u64 on;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct away);
} aways SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct away_clock);
} away_clocks SEC(".maps");

INLINE struct away *away_get(struct task_struct *task)
{
	return bpf_task_storage_get(&aways, task, 0, 0);
}

INLINE struct away *away_make(struct task_struct *task)
{
	struct away *a = bpf_task_storage_get(&aways, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!a)
		COUNT(away_untold);
	return a;
}

INLINE int away_is_on(void)
{
	__u32 zero = 0;
	struct away_clock *c = bpf_map_lookup_elem(&away_clocks, &zero);

	return c && *(volatile __u64 *)&c->on;
}

INLINE __u64 away_take(__u64 *at)
{
	return __sync_lock_test_and_set(at, 0);
}

INLINE __u32 away_why(__u32 state, int preempted)
{
	if (preempted || !state)
		return KWALK_AWAY_RUNQUEUE;
	if (state & STATE_UNINTERRUPTIBLE)
		return state & STATE_NO_LOAD ? KWALK_AWAY_IDLE : KWALK_AWAY_BLOCKED;
	return state & STATE_RTLOCK ? KWALK_AWAY_BLOCKED : KWALK_AWAY_SLEEP;
}

/* ---- on the CPU ---- */

/* How long the task ran since its last sample, or `period` where that is not known. */
INLINE __u64 away_ran(struct task_struct *task, __u64 now, __u64 period)
{
	struct away *a = away_get(task);
	__u64 in, out, early;

	if (!a)
		return period;
	if (!a->in_ns) {
		/* The task is on the CPU, but nothing told when it came: the time that is reported
		 * now is left out of what away_add finds. */
		out = a->out_ns;
		early = a->early_ns;
		if (!out || now <= out + early)
			return 0;
		if (period > now - out - early)
			period = now - out - early;
		a->early_ns = early + period;
		return period;
	}
	in = __sync_lock_test_and_set(&a->in_ns, now);
	return away_take(&a->ran_ns) + (in && in < now ? now - in : 0);
}

/* ---- off the CPU ---- */

/* One switch in thousands passes without its tracepoint (seen on 6.18, by ftrace, too), and then a
 * running task is taken to be away. The kernel's count of its time on the CPU, which is exact at
 * each switch, tells how long it ran. */
INLINE __u64 away_unseen(struct task_struct *task, struct away *a, __u64 most)
{
	__u64 ran = task->se.sum_exec_runtime - a->ran_all_ns, early = a->early_ns;

	a->early_ns = 0;
	if (ran < early)
		ran = early;
	if (ran > most)
		ran = most;
	if (ran) {
		COUNT(away_unseen);
		__sync_fetch_and_add(&a->ran_ns, ran > early ? ran - early : 0);
	}
	return ran;
}

/* Adds the time from the time stamp until now to the sums, without the time that the task ran
 * meanwhile. True: there was some. */
INLINE int away_add(struct task_struct *task, struct away *a, __u64 now)
{
	__u64 out = away_take(&a->out_ns), woken = a->woken_ns, ran, away, queued = 0;
	__u32 why = a->why & 7;

	if (!out || now <= out)
		return 0;
	ran = away_unseen(task, a, now - out);
	away = now - out - ran;
	if (!ran && woken > out && woken < now && why != KWALK_AWAY_RUNQUEUE)
		queued = now - woken;
	a->sum_ns[KWALK_AWAY_RUNQUEUE] += queued;
	a->sum_ns[why] += away - queued;
	return 1;
}

#endif
