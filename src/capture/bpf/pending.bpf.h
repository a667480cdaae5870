/* SPDX-License-Identifier: MIT */
/*
 * pending.bpf.h: the deferred part: whose record is pending, how it is asked for and given. One
 * kernel entry, one deferred record: the user's pc and stack pointer and the memory name the entry.
 * Before it comes runtime.bpf.h, or runtime_none.bpf.h: whose frames are walked beside.
 */
#ifndef SEAM_CAPTURE_BPF_OWE_BPF_H
#define SEAM_CAPTURE_BPF_OWE_BPF_H

#include "capture/bpf/maps.bpf.h"
#include "capture/bpf/raw.bpf.h"

#define USER_CS 0x33 /* 64-bit user code */
#define ERROR_BUSY -16

/* ---- walking ---- */

/* The user registers of a task that is in the kernel, or was interrupted in user mode. */
INLINE void walker_take(struct walker *w, struct task_struct *task)
{
	w->task = (__u64)task;
	if (bpf_probe_read_kernel(&w->user, sizeof(w->user), (void *)bpf_task_pt_regs(task)))
		w->user.cs = 0;
}

/* Walks from w->user, in the address space of w->task, whose process is pid. False: these registers
 * and this memory do not make a stack; w->end says why. */
ONCE int walker_start(struct walker *w, __u32 pid)
{
	struct kwalk_changes *c;
	struct kwalk_process *p;

	if (!w)
		return 0;
	w->n = w->guessed = 0;
	w->end = KWALK_LIMIT;
	w->by_fp = config.fp;
	w->mappings = w->n_mappings = 0;
	w->at.start = w->at.end = 0;
	w->window_bytes = 0;
	walker_registers(w);
	if ((w->user.cs & 0xffff) != USER_CS)
		return !walk_end(w, KWALK_COMPAT);
	c = bpf_map_lookup_elem(&changes, &pid);
	if (c && c->execs & KWALK_REPLACING)
		return !walk_end(w, KWALK_EXEC);
	walk_instances(w);
	if (config.fp)
		return 1;
	p = bpf_map_lookup_elem(&processes, &pid);
	if (p && process_is_valid(p, c)) {
		__u64 both = *(volatile __u64 *)p;

		w->mappings = (__u32)both;
		w->n_mappings = both >> 32;
	}
	return 1;
}

/* Whether the process's mappings are still those that w was walked by. */
INLINE int walker_is_fresh(const struct walker *w, __u32 pid)
{
	struct kwalk_process *p;

	if (config.fp)
		return 1;
	p = bpf_map_lookup_elem(&processes, &pid);
	return !p || !w->n_mappings || (__u32) * (volatile __u64 *)p == w->mappings;
}

/* ---- the deferred part ---- */

INLINE void user_chain_fill(struct kwalk_user_chain *a, const struct walker *w,
                            struct task_struct *task)
{
	a->kind = KWALK_USER_CHAIN;
	a->pid = task->tgid;
	a->tid = task->pid;
	a->cpu = bpf_get_smp_processor_id();
	a->time_ns = bpf_ktime_get_ns();
	a->n = w->n;
	a->end = w->end;
	a->guessed = w->guessed;
}

/* a is followed by its frames. */
INLINE void user_chain_send(struct kwalk_user_chain *a)
{
	void *ring = bpf_map_lookup_elem(&rings, &a->cpu);
	__u64 size = sizeof(*a) + (__u64)(a->n & (WALK_ROOM - 1)) * 8;

	count_end(a->end, a->guessed);
	if (!ring || bpf_ringbuf_output(ring, a, size, ring_flags(ring, size)))
		COUNT(user_chain_full);
	else
		COUNT(user_chains);
}

/* The copy that the recorder walks, of `most` bytes at most. */
INLINE void user_chain_raw_of(struct slot *s, void *ring, const __u32 most)
{
	struct kwalk_raw *raw = ring_has_room_for_copy(ring)
	                                ? bpf_ringbuf_reserve(ring, KWALK_RAW_HEAD + most, 0)
	                                : 0;

	if (!raw) {
		COUNT(raw_full);
		return;
	}
	raw->pid = s->user_chain.pid;
	raw->tid = s->user_chain.tid;
	raw->time_ns = s->user_chain.time_ns;
	raw_fill(&s->w, raw, most);
	bpf_ringbuf_submit(raw, ring_flags_reserved(ring, KWALK_RAW_HEAD + most));
}

/* The walk met a mapping that is not known yet, or a rule that cannot be applied here: the recorder
 * walks it. */
INLINE void user_chain_raw(struct slot *s)
{
	void *ring = ring_of_cpu();

	if (!ring)
		COUNT(raw_full);
	else if (raw_most() == KWALK_RAW_STACK)
		user_chain_raw_of(s, ring, KWALK_RAW_STACK);
	else
		user_chain_raw_of(s, ring, KWALK_RAW_SMALL);
}

/* Not in the frame of the walk over the native stack: frames have 512 bytes, all together. */
static ONCE long slot_runtime_walk(struct walk *c, struct task_struct *task)
{
	runtime_walk(c, task, WALK_SLEEP);
	return 0;
}

/* Walks the stack of the slot's sample, and an interpreter's frames if p is not NULL. */
INLINE void slot_walk(struct slot *s, struct task_struct *task, struct runtime_walk *p)
{
	struct walk c = { .w = &s->w, .frames = s->frames, .runtime = p };
	__u64 mm = task_mm(task);

	/* Not the present registers: since the sample a signal may have been delivered, or returned
	 * from. What was on the stack still is. */
	bpf_probe_read_kernel(&s->w.user, sizeof(s->w.user), &s->user);
	s->w.task = (__u64)task;
	if (!walker_start(&s->w, task->tgid))
		return;
	s->w.most = KWALK_FRAMES_MAX;
	if (mm != s->mm) {
		s->w.end = mm ? KWALK_EXEC : KWALK_EXITED;
		return;
	}
	if (RUNTIME_WALKED && !ANEW(p->none))
		slot_runtime_walk(&c, task);
	bpf_loop(WALK_STEPS_SLEEP, walk_step_sleep, &c, 0);
}

struct slot_walks {
	struct slot *slot;
	struct runtime_walk *runtime;
};

/* Walks once, and once more where what is mapped has changed meanwhile. A loop, because the
 * verifier goes through a second call as through the first. */
static long slot_walks(__u32 i, void *ctx)
{
	struct slot_walks *c = ctx;
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	if (i)
		COUNT(stale);
	slot_walk(c->slot, task, c->runtime);
	return walker_is_fresh(&c->slot->w, task->tgid);
}

/* Runs on the task's way back to user mode, where it may sleep. */
static int user_chain(void *map, void *key, void *value)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct slot *s = &((struct pending *)value)->s;
	struct runtime_walk *p = runtime_take();
	struct slot_walks c = { s, p };

	USES_ARENA();
	if (RUNTIME_WALKED && !p)
		return 0;
	bpf_loop(2, slot_walks, &c, 0);
	user_chain_fill(&s->user_chain, &s->w, task);
	if (RUNTIME_WALKED && !ANEW(p->none)) {
		p->several = s->several;
		s->user_chain.cpu = runtime_cpu(p);
		s->user_chain.runtime = runtime_send(p, s->cookie, s->w.end, 1);
		runtime_let(p);
	} else {
		s->user_chain.runtime = runtime_missed(task->tgid);
	}
	s->user_chain.cookie = s->cookie;
	s->user_chain.remote = 0;
	s->user_chain.waited_us = (__u32)((s->user_chain.time_ns - s->asked_ns) / 1000);
	user_chain_send(&s->user_chain);
	if (s->user_chain.end == KWALK_NO_MAPPING || s->user_chain.end == KWALK_BAD_RULE)
		user_chain_raw(s);
	if (s->user_chain.end == KWALK_NO_MAPPING)
		news_tell(s->user_chain.pid);
	__sync_lock_test_and_set(&s->owing, 0);
	return 0;
}

INLINE struct pending *slot_get(struct task_struct *task)
{
	__u32 tid = task->pid;
	struct pending *o = bpf_map_lookup_elem(&slots, &tid);

	if (o && o->s.task == (__u64)task)
		return o;
	if (o) /* a thread of that number has gone and its slot not yet */
		bpf_map_delete_elem(&slots, &tid);
	bpf_map_update_elem(&slots, &tid, empty_slot, BPF_NOEXIST);
	o = bpf_map_lookup_elem(&slots, &tid);
	if (o)
		o->s.task = (__u64)task;
	else
		COUNT(no_slot);
	return o;
}

INLINE int slot_schedule(struct task_struct *task, struct pending *o)
{
	if (!config.defers)
		return -1;
	return task_work_schedule(task, &o->work, &slots, user_chain);
}

/* Low half the CPU + 1, high half odd: the kernel's own form, never 0. */
INLINE __u64 cookie_new(struct scratch *x, __u32 cpu)
{
	return (x->cookies++ << 1 | 1) << 32 | (cpu + 1);
}

/* Whether the slot is of the kernel entry that is being sampled. */
INLINE int slot_is_here(const struct slot *s, const struct scratch *x, __u64 mm)
{
	return s->mm == mm && s->user.rip == x->w.user.rip && s->user.rsp == x->w.user.rsp;
}

/* The cookie of the deferred record that this kernel entry has pending already, or 0: then its
 * stack need not be walked again. User mode has none pending. */
INLINE __u64 owed(struct scratch *x, struct task_struct *task)
{
	__u32 tid = task->pid;
	struct pending *o;

	if (x->sample.in_user)
		return 0;
	o = bpf_map_lookup_elem(&slots, &tid);
	if (!o || !o->s.owing || o->s.task != (__u64)task || !slot_is_here(&o->s, x, task_mm(task)))
		return 0;
	COUNT(shared);
	return o->s.cookie;
}

/* Asks for a deferred record, or finds that this kernel entry has one pending already. Returns its
 * cookie, or 0. */
INLINE __u64 owe(struct scratch *x, struct task_struct *task)
{
	struct pending *o = slot_get(task);
	__u64 mm = task_mm(task), cookie, before;
	struct slot *s;
	int error;

	if (!o)
		return 0;
	s = &o->s;
	if (s->owing) {
		/* If they differ, the kernel has changed the registers in this very entry, for a
		 * signal. */
		if (!slot_is_here(s, x, mm))
			goto refused;
		COUNT(shared);
		return s->cookie;
	}
	before = slot_is_here(s, x, mm) ? s->cookie : 0;
	cookie = cookie_new(x, x->sample.cpu);
	s->mm = mm;
	bpf_probe_read_kernel(&s->user, sizeof(s->user), &x->w.user);
	s->cookie = cookie;
	s->asked_ns = x->sample.time_ns;
	s->several = x->several || x->rest;
	s->owing = 1;
	error = slot_schedule(task, o);
	if (!error) {
		COUNT(asked);
		return cookie;
	}
	s->owing = 0;
	s->cookie = before;
	/* Busy: the deferred record was given just now, on the way out of this kernel entry. */
	if (error == ERROR_BUSY && before) {
		COUNT(shared);
		return before;
	}
refused:
	COUNT(refused);
	return 0;
}

#endif
