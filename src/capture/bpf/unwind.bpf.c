// SPDX-License-Identifier: MIT
/*
 * unwind.bpf.c: the programs in the kernel. on_sample runs at each sampling event, walks the user stack at once by the
 * tables in the arena, and where a page is not in memory asks for `answer` to be run on the task's way back to user mode;
 * samples of one kernel entry share it. read_owing reads what is still owed from tasks that sleep. The rest keeps the sets
 * of targets and of address spaces right, from inside the kernel, where no record can be late.
 *
 * Does not know perf.data, nor where tables come from.
 */
#include "kernel.bpf.h"
#include "shared.h"
#include "walk.bpf.h"

char license_text[] SEC("license") = "Dual MIT/GPL";

const volatile struct live_config config SEC(".rodata.config");

#define USER_CS 0x33 /* 64-bit user code */
#define ERROR_BUSY -16

/* The answer that a thread owes. */
struct slot {
	__u64 task, mm; /* whose */
	__u64 ip, sp;   /* user registers at the sample: they name the kernel entry */
	__u64 cookie, asked_ns;
	__u32 owing;
	__u32 unused;
	struct walker w;
	struct live_answer answer;
	__u64 frames[WALK_ROOM];
};

struct scratch {
	__u64 cookies; /* handed out on this CPU */
	struct walker w;
	struct live_sample sample;
	__u64 frames[WALK_ROOM + LIVE_KERNEL_MAX + 1];
};

struct remote {
	struct walker w;
	struct live_answer answer;
	__u64 frames[WALK_ROOM];
};

/* The kernel finds it in the map's value by this name; older kernels see any struct. */
struct bpf_task_work {
	__u64 opaque;
} __attribute__((aligned(8)));

struct owed {
	struct bpf_task_work work;
	struct slot s;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* tid */
	__type(value, struct owed);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* pid */
	__type(value, struct live_process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* pid; how often it has replaced its program */
	__type(value, __u32);
} execs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* pid or tid, by config.filter */
	__type(value, __u32);
} targets SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* one per CPU: set by the loader */
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, ARENA_MAP);
	__uint(map_flags, 1 << 10); /* BPF_F_MMAPABLE */
	__uint(max_entries, 1);     /* pages: set by the loader */
} arena SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct remote);
} remotes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct live_counts);
} counts SEC(".maps");

static char empty_slot[sizeof(struct owed)]; /* an initialiser with struct bpf_task_work would not load */

/* Makes the program one that has the arena: the loads name no map. */
#define USES_ARENA() asm volatile("" ::"r"(&arena))

INLINE struct live_counts *count(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

#define COUNT(field)                                                                               \
	do {                                                                                       \
		struct live_counts *c_ = count();                                                  \
                                                                                                   \
		if (c_)                                                                            \
			__sync_fetch_and_add(&c_->field, 1);                                       \
	} while (0)

INLINE void count_end(__u32 end)
{
	struct live_counts *c = count();

	if (c)
		__sync_fetch_and_add(&c->end[end & 15], 1);
}

/* ---- walking ---- */

/* Registers as the kernel lays them out, in DWARF order. */
INLINE void walker_registers(struct walker *w, const struct pt_regs *r)
{
	w->regs[0] = r->rax;
	w->regs[1] = r->rdx;
	w->regs[2] = r->rcx;
	w->regs[3] = r->rbx;
	w->regs[4] = r->rsi;
	w->regs[5] = r->rdi;
	w->regs[6] = w->fp = r->rbp;
	w->regs[7] = w->sp = r->rsp;
	w->regs[8] = r->r8;
	w->regs[9] = r->r9;
	w->regs[10] = r->r10;
	w->regs[11] = r->r11;
	w->regs[12] = r->r12;
	w->regs[13] = r->r13;
	w->regs[14] = r->r14;
	w->regs[15] = r->r15;
	w->regs[16] = w->ip = r->rip;
}

/* The user registers of a task into w; false: they are not those of 64-bit code. */
INLINE int walker_start(struct walker *w, struct task_struct *task)
{
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task), r;
	__u32 pid = task->tgid, *exec;
	struct live_process *p;

	if (bpf_probe_read_kernel(&r, sizeof(r), user))
		return 0;
	walker_registers(w, &r);
	w->saved[0] = r.rbx;
	w->saved[1] = r.r12;
	w->saved[2] = r.r13;
	w->saved[3] = r.r14;
	w->saved[4] = r.r15;
	w->saved_at = 0;
	w->saved_known = (1u << LIVE_SAVED) - 1;
	w->fp_known = w->exact = w->first = 1;
	w->n = w->guessed = 0;
	w->end = LIVE_LIMIT;
	w->by_fp = config.fp;
	w->mappings = w->n_mappings = 0;
	w->at.start = w->at.end = 0;
	if ((r.cs & 0xffff) != USER_CS)
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
	struct live_process *p;

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

INLINE void answer_fill(struct live_answer *a, const struct walker *w, struct task_struct *task)
{
	a->kind = LIVE_ANSWER;
	a->pid = task->tgid;
	a->tid = task->pid;
	a->cpu = bpf_get_smp_processor_id();
	a->time_ns = bpf_ktime_get_ns();
	a->n = w->n;
	a->end = w->end;
	a->guessed = w->guessed;
}

/* a is followed by its frames. */
INLINE void answer_send(struct live_answer *a)
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
		s->w.end = LIVE_COMPAT;
		return;
	}
	s->w.most = LIVE_FRAMES_MAX;
	if ((__u64)task->mm != s->mm)
		s->w.end = task->mm ? LIVE_EXEC : LIVE_EXITED;
	else if (s->w.ip != s->ip || s->w.sp != s->sp)
		s->w.end = LIVE_MOVED;
	else
		bpf_loop(LIVE_FRAMES_MAX + 1, walk_step_sleep, &c, 0);
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
	if (s->mm == mm && s->ip == x->w.regs[16] && s->sp == x->w.regs[7] && s->owing) {
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
	s->ip = x->w.regs[16];
	s->sp = x->w.regs[7];
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
	if (error == ERROR_BUSY && s->ip == x->w.regs[16] && s->sp == x->w.regs[7] && s->mm == mm) {
		COUNT(shared);
		return s->cookie;
	}
	COUNT(refused);
	return 0;
}

/* ---- the sample ---- */

INLINE void sample_walk(struct scratch *x)
{
	struct walk c = { .w = &x->w, .frames = x->frames };
	struct live_counts *n = count();

	x->w.most = config.depth;
	bpf_loop(LIVE_FRAMES_MAX + 1, walk_step_now, &c, 0);
	if (!n)
		return;
	__sync_fetch_and_add(&n->at_once, 1);
	__sync_fetch_and_add(&n->at_once_frames, x->w.n);
	if (x->w.end == LIVE_FAULT)
		__sync_fetch_and_add(&n->faults, 1);
}

/* The user half: frames and their number, or a cookie. */
INLINE void sample_user(struct scratch *x, struct task_struct *task)
{
	struct live_sample *s = &x->sample;
	__u64 cookie;

	if (task->flags & (TASK_KERNEL_THREAD | TASK_USER_WORKER) || !task->mm) {
		COUNT(kernel_threads);
		s->end = LIVE_NO_USER;
		return;
	}
	if (!walker_start(&x->w, task)) {
		s->end = LIVE_COMPAT;
		return;
	}
	if (config.when != LIVE_ALWAYS) {
		sample_walk(x);
		s->end = x->w.end;
		s->n_user = x->w.n;
		s->guessed = x->w.guessed;
		if (s->end == LIVE_NO_MAPPING || s->end == LIVE_BAD_RULE)
			s->cookie = cookie_new(x, s->cpu);
		if (config.when == LIVE_NEVER || (s->end != LIVE_FAULT && s->end != LIVE_LIMIT))
			return;
		if (s->end == LIVE_LIMIT && x->w.n >= LIVE_FRAMES_MAX)
			return;
	} else {
		s->end = LIVE_FAULT; /* should deferring fail */
		s->n_user = 1;
		x->frames[0] = x->w.ip;
	}
	cookie = owe(x, task);
	if (!cookie)
		return;
	s->cookie = cookie;
	s->end = LIVE_DEFERRED;
	s->n_user = 0;
	s->guessed = 0;
}

INLINE void sample_kernel(struct bpf_perf_event_data *ctx, struct scratch *x)
{
	__u32 n = x->sample.n_user;
	long bytes;

	if (x->sample.in_user || !config.kernel || n >= WALK_ROOM)
		return;
	bytes = bpf_get_stack(ctx, &x->frames[n], LIVE_KERNEL_MAX * 8, 0);
	if (bytes > 0)
		x->sample.n_kernel = (__u32)bytes >> 3;
}

struct raw_copy {
	struct live_raw *raw;
	__u64 start;
	__u32 n;
};

INLINE long raw_page(struct raw_copy *c, const __u32 most)
{
	__u32 n = c->n, size = LIVE_RAW_PAGE - ((c->start + n) & (LIVE_RAW_PAGE - 1));

	if (n > most - LIVE_RAW_PAGE || !size || size > LIVE_RAW_PAGE)
		return 1;
	if (bpf_probe_read_user(&c->raw->stack[n], size, (void *)(c->start + n)))
		return 1;
	c->n = n + size;
	return 0;
}

static long raw_page_large(__u32 i, void *c)
{
	return raw_page(c, LIVE_RAW_STACK);
}

static long raw_page_small(__u32 i, void *c)
{
	return raw_page(c, LIVE_RAW_SMALL);
}

INLINE void sample_raw(struct scratch *x, void *ring, const __u32 most)
{
	struct raw_copy c = { .start = x->w.regs[7] - LIVE_RAW_BELOW };
	struct live_raw *raw;
	__u8 byte;

	if (bpf_probe_read_user(&byte, 1, (void *)c.start))
		c.start = x->w.regs[7];

	raw = bpf_ringbuf_reserve(ring, __builtin_offsetof(struct live_raw, stack) + most, 0);
	if (!raw) {
		COUNT(raw_full);
		return;
	}
	raw->kind = LIVE_RAW;
	raw->pid = x->sample.pid;
	raw->tid = x->sample.tid;
	raw->time_ns = x->sample.time_ns;
	bpf_probe_read_kernel(raw->regs, sizeof(raw->regs), x->w.regs);
	raw->start = c.start;
	c.raw = raw;
	if (most == LIVE_RAW_STACK)
		bpf_loop(most / LIVE_RAW_PAGE + 1, raw_page_large, &c, 0);
	else
		bpf_loop(most / LIVE_RAW_PAGE + 1, raw_page_small, &c, 0);
	raw->n = c.n;
	bpf_ringbuf_submit(raw, ring_flags(ring));
}

INLINE void sample_send(struct scratch *x)
{
	struct live_sample *s = &x->sample;
	__u64 size = sizeof(*s) + ((__u64)s->n_user + s->n_kernel) * 8;
	void *ring = ring_of_cpu();

	if (size > sizeof(*s) + sizeof(x->frames))
		return;
	count_end(s->end);
	if (!ring || bpf_ringbuf_output(ring, s, size, ring_flags(ring))) {
		COUNT(ring_full);
		return;
	}
	if (config.raw && s->end != LIVE_NO_USER && s->end != LIVE_COMPAT)
		sample_raw(x, ring, LIVE_RAW_STACK);
	else if (s->end != LIVE_DEFERRED && s->cookie)
		sample_raw(x, ring, LIVE_RAW_SMALL);
}

INLINE int is_target(struct task_struct *task)
{
	__u32 key = config.filter == LIVE_THREADS ? task->pid : task->tgid;

	return config.filter == LIVE_EVERYTHING || bpf_map_lookup_elem(&targets, &key);
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct scratch *x;
	__u32 zero = 0;

	USES_ARENA();
	if (!is_target(task)) {
		COUNT(others);
		return 0;
	}
	COUNT(samples);
	x = bpf_map_lookup_elem(&scratches, &zero);
	if (!x)
		return 0;
	x->sample.kind = LIVE_SAMPLE;
	x->sample.pid = task->tgid;
	x->sample.tid = task->pid;
	x->sample.cpu = bpf_get_smp_processor_id();
	x->sample.time_ns = bpf_ktime_get_ns();
	x->sample.event = bpf_get_attach_cookie(ctx);
	x->sample.ip = ctx->regs.rip;
	x->sample.period = ctx->sample_period;
	x->sample.address = ctx->addr;
	x->sample.cookie = 0;
	x->sample.n_user = x->sample.n_kernel = 0;
	x->sample.in_user = (ctx->regs.cs & 3) == 3;
	x->sample.end = LIVE_NO_USER;
	x->sample.guessed = 0;
	if (config.user)
		sample_user(x, task);
	sample_kernel(ctx, x);
	sample_send(x);
	return 0;
}

/* ---- at the end of a recording ---- */

SEC("iter.s/task")
int read_owing(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 tid, zero = 0;
	struct remote *r = bpf_map_lookup_elem(&remotes, &zero);
	struct walk c = { .task = task };
	struct owed *o;

	USES_ARENA();
	if (!task || !r)
		return 0;
	tid = task->pid;
	o = bpf_map_lookup_elem(&slots, &tid);
	if (!o || !o->s.owing || o->s.task != (__u64)task)
		return 0;
	r->answer.cookie = o->s.cookie;
	r->answer.waited_us = (__u32)((bpf_ktime_get_ns() - o->s.asked_ns) / 1000);
	if (!walker_start(&r->w, task) || r->w.ip != o->s.ip || r->w.sp != o->s.sp)
		return 0;
	r->w.most = LIVE_FRAMES_MAX;
	c.w = &r->w;
	c.frames = r->frames;
	bpf_loop(LIVE_FRAMES_MAX + 1, walk_step_task, &c, 0);
	/* It has answered itself meanwhile, or owes another answer: nothing read here counts. */
	if (!o->s.owing || o->s.cookie != r->answer.cookie)
		return 0;
	answer_fill(&r->answer, &r->w, task);
	r->answer.remote = 1;
	answer_send(&r->answer);
	COUNT(remote);
	return 0;
}

/* ---- the sets ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid, one = 1, by, key;
	struct live_process *p;
	struct live_process copy;
	__u32 *exec;

	by = config.filter == LIVE_THREADS ? parent->pid : from;
	key = config.filter == LIVE_THREADS ? child->pid : to;
	if (config.inherit && config.filter != LIVE_EVERYTHING &&
	    bpf_map_lookup_elem(&targets, &by))
		bpf_map_update_elem(&targets, &key, &one, BPF_ANY);
	if (from == to)
		return 0;
	/* A child has its parent's mappings, from its first instruction on. */
	exec = bpf_map_lookup_elem(&execs, &from);
	p = bpf_map_lookup_elem(&processes, &from);
	if (!p || p->execs != (exec ? *exec : 0))
		return 0;
	copy = *p;
	copy.execs = 0;
	bpf_map_update_elem(&processes, &to, &copy, BPF_ANY);
	return 0;
}

/* The mappings that are known are those of the program before. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	__u32 pid = task->tgid, one = 1, *n = bpf_map_lookup_elem(&execs, &pid);

	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&execs, &pid, &one, BPF_ANY);
	return 0;
}

/* The task itself is freed, later than its exit: nobody asks for its slot any more. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	__u32 tid = task->pid, pid = task->tgid;
	struct owed *o = bpf_map_lookup_elem(&slots, &tid);

	if (o && o->s.task == (__u64)task)
		bpf_map_delete_elem(&slots, &tid);
	if (config.filter == LIVE_THREADS || tid == pid)
		bpf_map_delete_elem(&targets, &tid);
	if (tid != pid)
		return 0;
	bpf_map_delete_elem(&processes, &pid);
	bpf_map_delete_elem(&execs, &pid);
	return 0;
}
