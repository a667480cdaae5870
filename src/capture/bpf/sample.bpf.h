/* SPDX-License-Identifier: MIT */
/*
 * sample.bpf.h: a sample's stack: its user part walked at once, or left to the task's way back; its
 * kernel part; both sent to this CPU's ring. Whoever calls it has filled the rest of the sample.
 */
#ifndef SEAM_CAPTURE_BPF_SAMPLE_BPF_H
#define SEAM_CAPTURE_BPF_SAMPLE_BPF_H

#include "capture/bpf/again.bpf.h"
#include "capture/bpf/pending.bpf.h"
#include "capture/bpf/raw.bpf.h"
#include "capture/bpf/trap.bpf.h"

/* Walks by what is known, and counts how that went. */
INLINE void sample_walk(struct scratch *x, struct runtime_walk *p)
{
	struct walk c = { .w = &x->w, .frames = x->frames, .runtime = p, .window = &x->window };
	struct kwalk_counts *n = count();

	x->w.most = config.depth;
	if (RUNTIME_WALKED && p)
		runtime_walk(&c, (void *)bpf_get_current_task_btf(), WALK_NOW);
	/* The native stack is for those who have something to place in it, and for the last. */
	if (RUNTIME_WALKED && p && ANEW(x->rest) && !runtime_needs_native(p))
		return;
	again_walk(&c, x->sample.tid, x->sample.time_ns);
	if (!n || (RUNTIME_WALKED && ANEW(x->rest)))
		return;
	__sync_fetch_and_add(&n->at_once, 1);
	__sync_fetch_and_add(&n->at_once_frames, x->w.n);
	if (ANEW(x->w.steps_from) < STEPS_ROOM)
		__sync_fetch_and_add(&n->kept_frames, x->w.n - x->w.noted);
	if (x->w.end == KWALK_FAULT)
		__sync_fetch_and_add(&n->faults, 1);
}

/* How the walks over all interpreters' frames ended, up to this one. */
INLINE void sample_runtimes(struct scratch *x, struct runtime_walk *p)
{
	struct kwalk_sample *s = &x->sample;

	x->several |= RUNTIME_WALKED && runtime_any(p);
	s->runtime = (__u8)runtime_both(ANEW(x->ended), s->runtime);
	x->ended = s->runtime;
	if (!ANEW(x->unknown) || s->runtime || ANEW(x->goes_on))
		return;
	s->runtime = KWALK_RUNTIME_UNKNOWN;
	COUNT(runtime_ends[KWALK_RUNTIME_UNKNOWN]);
}

/* 1: no more of the stack can be found, or is to be found here. */
INLINE int sample_at_once(struct scratch *x)
{
	struct kwalk_sample *s = &x->sample;
	struct runtime_walk *p = runtime_get();
	int whole;

	if (RUNTIME_WALKED && !p)
		return 1;
	sample_walk(x, p);
	s->end = x->w.end;
	s->n_user = x->w.n;
	s->guessed = x->w.guessed;
	/* The recorder may know what the programs do not: it gets a cookie to answer by, and a copy
	 * of the stack. */
	if (s->end == KWALK_NO_MAPPING || s->end == KWALK_BAD_RULE)
		s->cookie = cookie_new(x, s->cpu);
	if (s->end == KWALK_NO_MAPPING)
		news_tell(s->pid);
	if (ANEW(x->exiting) && s->end == KWALK_FAULT)
		s->end = KWALK_EXITED;
	/* What cannot be known now can be known on the way out of the kernel. */
	x->goes_on = RUNTIME_WALKED && ANEW(x->rest);
	whole = config.when == KWALK_NEVER || ANEW(x->exiting) ||
	        (s->end != KWALK_FAULT && s->end != KWALK_WATCHED &&
	         (s->end != KWALK_LIMIT || x->w.n >= KWALK_FRAMES_MAX) &&
	         (!p || !runtime_waits(p)));
	if (!whole && config.defers && !(RUNTIME_WALKED && ANEW(x->goes_on) && !runtime_any(p))) {
		x->goes_on = 0;
		return whole;
	}
	s->runtime = p ? runtime_send(p, s->time_ns, s->end, 0) : runtime_missed(s->pid);
	sample_runtimes(x, p);
	return whole || ANEW(x->goes_on);
}

/* False: a uprobe changes the registers, and they are not known. frames is written. */
INLINE int sample_repair(struct bpf_perf_event_data *ctx, struct scratch *x,
                         struct task_struct *task)
{
	int kind = x->sample.in_user ? TRAP_NONE : trap_suspected(&x->w);

	return kind == TRAP_NONE ||
	       trap_repair(&x->w, kind, (struct trap_frames *)x->frames,
	                   bpf_get_stack(ctx, x->frames, KWALK_KERNEL_MAX * 8, 0));
}

/* The user part: frames and their number, or a cookie. */
INLINE void sample_user(struct bpf_perf_event_data *ctx, struct scratch *x,
                        struct task_struct *task)
{
	struct kwalk_sample *s = &x->sample;
	__u64 cookie, mm = task_mm(task);
	__u32 always;

	x->exiting = task->flags & TASK_EXITING;
	always = config.when == KWALK_ALWAYS && !ANEW(x->exiting);
	if (task->flags & (TASK_KERNEL_THREAD | TASK_USER_WORKER) || (!mm && !ANEW(x->exiting))) {
		COUNT(kernel_threads);
		s->end = KWALK_NO_USER;
		return;
	}
	if (!mm) {
		s->end = KWALK_GONE;
		return;
	}
	walker_take(&x->w, task);
	if (!sample_repair(ctx, x, task)) { /* the function is sure, where in it is not */
		x->frames[0] = x->w.user.rip;
		s->n_user = 1;
		s->end = KWALK_NO_RULE;
		return;
	}
	if (!walker_start(&x->w, task->tgid)) {
		s->end = x->w.end;
		if (s->end == KWALK_COMPAT) { /* the pc is sure */
			x->frames[0] = x->w.user.rip;
			s->n_user = 1;
		}
		return;
	}
	cookie = ANEW(x->exiting) ? 0 : owed(x, task);
	if (!cookie && !always && sample_at_once(x))
		return;
	if (!cookie)
		cookie = owe(x, task);
	if (!cookie) {
		if (always)
			sample_at_once(x);
		return;
	}
	s->cookie = cookie;
	s->end = KWALK_DEFERRED;
	s->n_user = 0;
	s->guessed = 0;
}

/* Behind the user frames in the same buffer, because the record has one array. */
INLINE void sample_kernel(struct bpf_perf_event_data *ctx, struct scratch *x)
{
	__u32 n = x->sample.n_user;
	long bytes;

	if (x->sample.in_user || !config.kernel || n >= WALK_ROOM)
		return;
	bytes = bpf_get_stack(ctx, &x->frames[n], KWALK_KERNEL_MAX * 8, 0);
	if (bytes > 0)
		x->sample.n_kernel = (__u32)bytes >> 3;
}

/* bpf_ringbuf_output copies: the scratch is this CPU's and is used by the next sample. */
INLINE void sample_send(struct scratch *x)
{
	struct kwalk_sample *s = &x->sample;
	__u64 size = sizeof(*s) + ((__u64)s->n_user + s->n_kernel) * 8;
	void *ring = ring_of_cpu();

	if (size > sizeof(*s) + sizeof(x->frames))
		return;
	count_end(s->end, s->guessed);
	if (!ring || bpf_ringbuf_output(ring, s, size, ring_flags(ring, size))) {
		COUNT(ring_full);
		return;
	}
	if (config.raw && s->end != KWALK_NO_USER && s->end != KWALK_COMPAT && s->end != KWALK_GONE)
		sample_raw_large(x, ring);
	else if (s->end != KWALK_DEFERRED && s->cookie)
		sample_raw_small(x, ring);
}

/* Nothing is known of the stack yet. */
INLINE void sample_none(struct kwalk_sample *s)
{
	s->cookie = 0;
	s->n_user = s->n_kernel = 0;
	s->end = KWALK_NO_USER;
	s->guessed = 0;
	s->runtime = KWALK_RUNTIME_NONE;
}

/* Hands the sample over to the programs of the next interpreter that its process maps. Those that
 * are not there yet are passed by. */
INLINE void sample_go_on(struct bpf_perf_event_data *ctx, struct scratch *x)
{
	__u32 kind;

#pragma unroll
	for (int i = 1; i < RUNTIMES; i++) {
		kind = runtime_next(x);
		if (!kind)
			return;
		bpf_tail_call(ctx, &runtime_samples, kind);
		if (RUNTIME_WALKED) /* else it is counted as all are that nobody walked */
			COUNT(runtime_ends[KWALK_RUNTIME_LATE]);
		x->ended = runtime_both(ANEW(x->ended), KWALK_RUNTIME_LATE);
		x->sample.runtime = (__u8)ANEW(x->ended);
	}
}

/* All that is behind a sample's head. */
INLINE void sample_stack(struct bpf_perf_event_data *ctx, struct scratch *x,
                         struct task_struct *task)
{
	x->goes_on = 0;
	if (RUNTIME_WALKED) /* other programs may have been here before */
		sample_none(&x->sample);
	if (config.user)
		sample_user(ctx, x, task);
	if (RUNTIME_WALKED && ANEW(x->goes_on))
		sample_go_on(ctx, x);
	sample_kernel(ctx, x);
	sample_send(x);
}

#endif
