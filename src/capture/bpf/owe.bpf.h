/* SPDX-License-Identifier: MIT */
/*
 * owe.bpf.h: the deferred half: who owes an answer, how it is asked for and given. One kernel entry, one answer: the user's pc and
 * stack pointer and the memory name the entry.
 */
#ifndef SEAM_CAPTURE_BPF_OWE_BPF_H
#define SEAM_CAPTURE_BPF_OWE_BPF_H

#include "capture/bpf/maps.bpf.h"

#define USER_CS 0x33 /* 64-bit user code */
#define ERROR_BUSY -16

/* ---- walking ---- */

/* Registers as the kernel lays them out, in DWARF order. */
INLINE void walker_registers(struct walker *w)
{
	const struct pt_regs *r = &w->user;

	w->regs[0] = r->rax;
	w->regs[1] = r->rdx;
	w->regs[2] = r->rcx;
	w->regs[3] = r->rbx;
	w->regs[4] = r->rsi;
	w->regs[5] = r->rdi;
	w->regs[REG_FP] = r->rbp;
	w->regs[REG_SP] = r->rsp;
	w->regs[8] = r->r8;
	w->regs[9] = r->r9;
	w->regs[10] = r->r10;
	w->regs[11] = r->r11;
	w->regs[12] = r->r12;
	w->regs[13] = r->r13;
	w->regs[14] = r->r14;
	w->regs[15] = r->r15;
	w->regs[REG_IP] = r->rip;
	w->known = REGS_ALL;
	w->saved = 0;
	w->exact = w->first = 1;
}

/* The user registers of a task into w; false: they are not those of 64-bit code. */
INLINE int walker_start(struct walker *w, struct task_struct *task)
{
	__u32 pid = task->tgid, *exec;
	struct kwalk_process *p;

	w->n = w->guessed = 0;
	w->end = KWALK_LIMIT;
	w->by_fp = config.fp;
	w->mappings = w->n_mappings = 0;
	w->at.start = w->at.end = 0;
	if (bpf_probe_read_kernel(&w->user, sizeof(w->user), (void *)bpf_task_pt_regs(task)))
		return 0;
	walker_registers(w);
	if ((w->user.cs & 0xffff) != USER_CS)
		return 0;
	if (config.fp)
		return 1;
	p = bpf_map_lookup_elem(&processes, &pid);
	exec = bpf_map_lookup_elem(&execs, &pid);
	if (p && p->execs == (exec ? *exec : 0)) {
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

/* ---- the deferred half ---- */

INLINE void *ring_of_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

INLINE __u64 ring_flags(void *ring)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= config.wake ? BPF_RB_FORCE_WAKEUP
	                                                                 : BPF_RB_NO_WAKEUP;
}

INLINE void answer_fill(struct kwalk_answer *a, const struct walker *w, struct task_struct *task)
{
	a->kind = KWALK_ANSWER;
	a->pid = task->tgid;
	a->tid = task->pid;
	a->cpu = bpf_get_smp_processor_id();
	a->time_ns = bpf_ktime_get_ns();
	a->n = w->n;
	a->end = w->end;
	a->guessed = w->guessed;
}

/* a is followed by its frames. */
INLINE void answer_send(struct kwalk_answer *a)
{
	void *ring = ring_of_cpu();
	__u64 size = sizeof(*a) + (__u64)(a->n & (WALK_ROOM - 1)) * 8;

	count_end(a->end);
	if (!ring || bpf_ringbuf_output(ring, a, size, ring_flags(ring)))
		COUNT(answer_full);
	else
		COUNT(answers);
}

INLINE void slot_walk(struct slot *s, struct task_struct *task)
{
	struct walk c = { .w = &s->w, .frames = s->frames };

	if (!walker_start(&s->w, task)) {
		s->w.end = KWALK_COMPAT;
		return;
	}
	s->w.most = KWALK_FRAMES_MAX;
	if ((__u64)task->mm != s->mm)
		s->w.end = task->mm ? KWALK_EXEC : KWALK_EXITED;
	else if (s->w.user.rip != s->ip || s->w.user.rsp != s->sp)
		s->w.end = KWALK_MOVED;
	else
		bpf_loop(KWALK_FRAMES_MAX + 1, walk_step_sleep, &c, 0);
}

/* Runs on the task's way back to user mode, where it may sleep. */
static int answer(void *map, void *key, void *value)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct slot *s = &((struct owed *)value)->s;

	USES_ARENA();
	slot_walk(s, task);
	if (!walker_is_fresh(&s->w, task->tgid)) {
		COUNT(stale);
		slot_walk(s, task);
	}
	answer_fill(&s->answer, &s->w, task);
	s->answer.cookie = s->cookie;
	s->answer.remote = 0;
	s->answer.waited_us = (__u32)((s->answer.time_ns - s->asked_ns) / 1000);
	answer_send(&s->answer);
	__sync_lock_test_and_set(&s->owing, 0);
	return 0;
}

INLINE struct owed *slot_get(struct task_struct *task)
{
	__u32 tid = task->pid;
	struct owed *o = bpf_map_lookup_elem(&slots, &tid);

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

INLINE int slot_schedule(struct task_struct *task, struct owed *o)
{
	if (!config.defers)
		return -1;
	return task_work_schedule(task, &o->work, &slots, answer);
}

/* Low half the CPU + 1, high half odd: the kernel's own form, never 0. */
INLINE __u64 cookie_new(struct scratch *x, __u32 cpu)
{
	return (x->cookies++ << 1 | 1) << 32 | (cpu + 1);
}

/* Asks for an answer, or finds the one that this kernel entry is owed already: its cookie, or 0. */
INLINE __u64 owe(struct scratch *x, struct task_struct *task)
{
	struct owed *o = slot_get(task);
	__u64 mm = (__u64)task->mm;
	struct slot *s, before;
	int error;

	if (!o)
		return 0;
	s = &o->s;
	if (s->mm == mm && s->ip == x->w.user.rip && s->sp == x->w.user.rsp && s->owing) {
		COUNT(shared);
		return s->cookie;
	}
	before.cookie = s->cookie;
	before.owing = s->owing;
	if (before.owing) /* asked in another kernel entry and not answered: cannot be, or is about to be */
		return 0;
	before.ip = s->ip;
	before.sp = s->sp;
	before.mm = s->mm;
	s->mm = mm;
	s->ip = x->w.user.rip;
	s->sp = x->w.user.rsp;
	s->cookie = cookie_new(x, x->sample.cpu);
	s->asked_ns = x->sample.time_ns;
	s->owing = 1;
	error = slot_schedule(task, o);
	if (!error) {
		COUNT(asked);
		return s->cookie;
	}
	s->owing = 0;
	s->mm = before.mm;
	s->ip = before.ip;
	s->sp = before.sp;
	s->cookie = before.cookie;
	/* Busy: the answer is being given just now, on the way out of this very kernel entry. */
	if (error == ERROR_BUSY && s->ip == x->w.user.rip && s->sp == x->w.user.rsp &&
	    s->mm == mm) {
		COUNT(shared);
		return s->cookie;
	}
	COUNT(refused);
	return 0;
}

#endif
