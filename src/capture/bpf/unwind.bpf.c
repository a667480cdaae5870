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
#include "capture/bpf/changes.bpf.h"
#include "capture/bpf/filter.bpf.h"
#include "capture/bpf/pending.bpf.h"
#include "capture/bpf/offcpu.bpf.h"
#include "capture/bpf/raw.bpf.h"
#include "capture/bpf/skipped.bpf.h"
#include "capture/bpf/trap.bpf.h"

char license_text[] SEC("license") = "Dual MIT/GPL";

/* ---- the sample ---- */

/* Walks by what is known, and counts how that went. */
INLINE void sample_walk(struct scratch *x, struct python *p)
{
	struct walk c = { .w = &x->w, .frames = x->frames, .python = p, .window = &x->window };
	struct kwalk_counts *n = count();

	x->w.most = config.depth;
	if (p)
		python_walk(&c, (void *)bpf_get_current_task_btf(), WALK_NOW);
	bpf_loop(KWALK_FRAMES_MAX + 1, walk_step_now, &c, 0);
	if (!n)
		return;
	__sync_fetch_and_add(&n->at_once, 1);
	__sync_fetch_and_add(&n->at_once_frames, x->w.n);
	if (x->w.end == KWALK_FAULT)
		__sync_fetch_and_add(&n->faults, 1);
}

/* 1: no more of the stack can be found. */
INLINE int sample_at_once(struct scratch *x)
{
	struct kwalk_sample *s = &x->sample;
	struct python *p = python_get();
	int whole;

	if (config.python && !p)
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
	whole = config.when == KWALK_NEVER || ANEW(x->exiting) ||
	        (s->end != KWALK_FAULT && s->end != KWALK_WATCHED &&
	         (s->end != KWALK_LIMIT || x->w.n >= KWALK_FRAMES_MAX) &&
	         (!p || p->out.end != KWALK_PYTHON_FAULT));
	if (p && (whole || !config.defers))
		s->python = python_send(p, s->time_ns, s->end, 0);
	return whole;
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
	x->sample.cookie = 0;
	x->sample.n_user = x->sample.n_kernel = 0;
	x->sample.in_user = (ctx->regs.cs & 3) == 3;
	x->sample.end = KWALK_NO_USER;
	x->sample.guessed = 0;
	x->sample.python = KWALK_PYTHON_NONE;
	if (config.user)
		sample_user(ctx, x, task);
	sample_kernel(ctx, x);
	sample_send(x);
	return 0;
}

/* ---- at the end of a recording ---- */

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
	c.python = python_take();
	if (config.python && !c.python)
		return 0;
	if (config.python && !ANEW(c.python->none))
		python_walk(&c, task, WALK_TASK);
	bpf_loop(KWALK_FRAMES_MAX + 1, walk_step_task, &c, 0);
	/* The task has answered itself meanwhile, or owes another deferred record: nothing that was
	 * read here counts. */
	if (!o->s.owing || o->s.cookie != r->user_chain.cookie) {
		if (config.python && !ANEW(c.python->none))
			python_let(c.python);
		return 0;
	}
	user_chain_fill(&r->user_chain, &r->w, task);
	if (config.python && !ANEW(c.python->none)) {
		r->user_chain.cpu = c.python->cpu;
		r->user_chain.python = python_send(c.python, r->user_chain.cookie, r->w.end, 1);
		python_let(c.python);
	} else {
		r->user_chain.python = python_missed(task->tgid);
	}
	r->user_chain.remote = 1;
	user_chain_send(&r->user_chain);
	COUNT(remote);
	return 0;
}

/* ---- the sets ---- */

/* A new process: a target if its parent is one and children are followed. It gets its parent's
 * mappings, because they are the same until it execs. */
SEC("seam_tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid, one = 1, by, key;
	struct kwalk_process *p;
	struct kwalk_changes first = { 0 };
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
	if (!p || !process_is_valid(p, bpf_map_lookup_elem(&changes, &from)))
		return 0;
	if (config.python)
		python_fork(from, to);
	copy = *p;
	copy.execs = copy.losses = 0;
	first.exec_vm = BPF_CORE_READ(child, mm, exec_vm);
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
	if (config.python)
		bpf_map_delete_elem(&pythons, &pid);
	return 0;
}
