/* SPDX-License-Identifier: MIT */
/* owing.bpf.h: the stacks of tasks that still owe one at the end of a recording, and sleep. */
#ifndef SEAM_CAPTURE_BPF_OWING_BPF_H
#define SEAM_CAPTURE_BPF_OWING_BPF_H

#include "capture/bpf/pending.bpf.h"

/* Runs once for each task of the machine, at the end of a recording. Sends the user part of a task
 * that sleeps and owes one. */
SEC("seam_iter.s/task")
int read_owing(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 tid, zero = 0;
	struct remote *r = bpf_map_lookup_elem(&remotes, &zero);
	struct walk c = { .task = task };
	struct pending *o;

	USES_ARENA();
	if (!task || !r)
		return 0;
	if (runtime_is_others(task->tgid))
		return 0;
	tid = task->pid;
	/* The slot may be of a task that had this tid before. */
	o = bpf_map_lookup_elem(&slots, &tid);
	if (!o || !o->s.owing || o->s.task != (__u64)task)
		return 0;
	r->user_chain.cookie = o->s.cookie;
	r->user_chain.waited_us = (__u32)((bpf_ktime_get_ns() - o->s.asked_ns) / 1000);
	bpf_probe_read_kernel(&r->w.user, sizeof(r->w.user), &o->s.user);
	r->w.task = (__u64)task;
	if (o->s.mm != task_mm(task) || !walker_start(&r->w, task->tgid))
		return 0;
	r->w.most = KWALK_FRAMES_MAX;
	c.w = &r->w;
	c.frames = r->frames;
	c.runtime = runtime_take();
	if (RUNTIME_WALKED && !c.runtime)
		return 0;
	if (RUNTIME_WALKED && !ANEW(c.runtime->none))
		runtime_walk(&c, task, WALK_TASK);
	bpf_loop(KWALK_FRAMES_MAX + 1, walk_step_task, &c, 0);
	/* The task has answered itself meanwhile, or owes another deferred record: nothing that was
	 * read here counts. */
	if (!o->s.owing || o->s.cookie != r->user_chain.cookie) {
		if (RUNTIME_WALKED && !ANEW(c.runtime->none))
			runtime_let(c.runtime);
		return 0;
	}
	user_chain_fill(&r->user_chain, &r->w, task);
	if (RUNTIME_WALKED && !ANEW(c.runtime->none)) {
		c.runtime->several = o->s.several;
		r->user_chain.cpu = runtime_cpu(c.runtime);
		r->user_chain.runtime = runtime_send(c.runtime, r->user_chain.cookie, r->w.end, 1);
		runtime_let(c.runtime);
	} else {
		r->user_chain.runtime = runtime_missed(task->tgid);
	}
	r->user_chain.remote = 1;
	user_chain_send(&r->user_chain);
	COUNT(remote);
	return 0;
}

#endif
