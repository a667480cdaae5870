// SPDX-License-Identifier: MIT
/*
 * asleep.bpf.c: the user stacks that tasks owe to the kernel's own deferred callchains and that
 * cannot come, for the tasks sleep: read by a task iterator, which wakes and stops nobody. Frame
 * pointers from the registers with which the task entered the kernel, by the kernel's own rules
 * (kernel/unwind/user.c), so that the frames are those which it would have given itself.
 *
 * Invariant: what is given belongs to the kernel entry that its cookie names: the task's cookie is
 * looked at before and after. Knows no perf.data, no unwind tables, and not whose cookies are
 * wanted: they are keys of a map.
 */
#include "capture/bpf/kernel.bpf.h"
#include "capture/bpf/asleep_shared.h"

char license_text[] SEC("license") = "Dual MIT/GPL";

#define ROOM 512u /* of frames: a power of two above ASLEEP_FRAMES */
#define CS_64 0x33
#define CS_32 0x23
#define PUSH_FP 0x55         /* push %rbp */
#define ENDBR64 0xfa1e0ff3u  /* likewise at a function's start */
#define ENDBR_NOT 0x001f0f66 /* what the kernel makes of it where nobody may jump to */

const volatile struct asleep_config config SEC(".rodata.config");

/* All state is in this map value and is read anew each time: see walk.bpf.h. */
struct sleeper {
	struct pt_regs user;
	__u64 ip, sp, fp;
	__u64 pair[2]; /* of the stack: the caller's frame pointer, the return address */
	__u32 word;    /* bytes */
	__u32 n, end;
	__u32 unused;
	struct asleep_stack head; /* followed by its frames */
	__u64 frames[ROOM];
};

struct walk {
	struct sleeper *s;
	struct task_struct *task;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u64);
	__type(value, __u32);
} wanted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sleeper);
} sleepers SEC(".maps");

/* By what a task is found: its tid, or the cookie of its kernel entry (task->unwind_info of the
 * kernel's own deferral; kernels without it have none). */
INLINE __u64 key_of(struct task_struct *task)
{
	if (config.by_tid)
		return task->pid;
	return bpf_core_field_exists(task->unwind_info) ? BPF_CORE_READ(task, unwind_info.id.id)
	                                                : 0;
}

/* 1 ends bpf_loop. */
INLINE long ended(struct sleeper *s, __u32 end)
{
	s->end = end;
	return 1;
}

/* Two words of the stack, in either size. */
INLINE long pair_read(struct walk *c, __u64 at)
{
	struct sleeper *s = c->s;

	if (s->word == 8)
		return bpf_copy_from_user_task(s->pair, 16, (void *)at, c->task, 0);
	if (bpf_copy_from_user_task(s->pair, 8, (void *)at, c->task, 0))
		return 1;
	s->pair[1] = s->pair[0] >> 32;
	s->pair[0] = (__u32)s->pair[0];
	return 0;
}

/* The frame that is known, and how to get to its caller. */
static long step(__u32 i, void *ctx)
{
	struct walk *c = ctx;
	struct sleeper *s = c->s;
	__u32 n = s->n;
	__u64 cfa;

	if (n >= ASLEEP_FRAMES)
		return ended(s, KWALK_LIMIT);
	FORGET(n);
	s->frames[n & (ROOM - 1)] = s->ip;
	s->n = n + 1;
	/* A frame pointer of 0 is the outermost frame's. */
	if (s->fp < s->sp)
		return ended(s, s->fp ? KWALK_NO_PROGRESS : KWALK_COMPLETE);
	cfa = s->fp + 2 * s->word;
	if (cfa <= s->sp || cfa & (s->word - 1))
		return ended(s, KWALK_NO_PROGRESS);
	if (pair_read(c, s->fp))
		return ended(s, KWALK_FAULT);
	s->ip = s->pair[1];
	s->fp = s->pair[0];
	s->sp = cfa;
	return 0;
}

/* In the handler of a uprobe at the beginning of a function, which has not made its frame yet: the
 * return address is where the stack pointer points. */
INLINE int at_function_start(struct sleeper *s, struct task_struct *task)
{
	struct arch_uprobe *probe = BPF_CORE_READ(task, utask, auprobe);
	__u32 code = 0;

	if (!probe || bpf_probe_read_kernel(&code, sizeof(code), probe))
		return 0;
	return (code & 255) == PUSH_FP || (s->word == 8 && (code == ENDBR64 || code == ENDBR_NOT));
}

/* The frame pointer is the caller's still: the frames go on from there. */
INLINE void function_start(struct walk *c)
{
	struct sleeper *s = c->s;

	s->pair[0] = 0;
	if (s->sp & (s->word - 1) ||
	    bpf_copy_from_user_task(s->pair, s->word == 8 ? 8 : 4, (void *)s->sp, c->task, 0))
		return;
	s->frames[0] = s->ip;
	s->n = 1;
	s->ip = s->pair[0];
	s->sp += s->word;
}

/* Fills s->frames with the user stack of a task that sleeps, by frame pointers from its saved
 * registers; s->end says why it ended. */
INLINE void sleeper_walk(struct walk *c)
{
	struct sleeper *s = c->s;
	__u32 cs = s->user.cs & 0xffff;

	s->n = 0;
	s->end = KWALK_LIMIT;
	s->ip = s->user.rip;
	s->sp = s->user.rsp;
	s->fp = s->user.rbp;
	s->word = cs == CS_64 ? 8 : 4;
	if (cs != CS_64 && cs != CS_32) { /* the pc is sure */
		s->frames[0] = s->ip;
		s->n = 1;
		s->end = KWALK_COMPAT;
		return;
	}
	if (at_function_start(s, c->task))
		function_start(c);
	bpf_loop(ASLEEP_FRAMES + 1, step, c, 0);
}

/* Runs once for each task of the machine. Writes the stack of a task whose cookie (or tid) is
 * wanted, and which is still in that kernel entry afterwards. */
SEC("seam_iter.s/task")
int read_asleep(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct walk c = { .task = task };
	__u32 zero = 0, n;
	struct sleeper *s;
	__u64 key;

	if (!task)
		return 0;
	key = key_of(task);
	if (!key || !bpf_map_lookup_elem(&wanted, &key))
		return 0;
	s = c.s = bpf_map_lookup_elem(&sleepers, &zero);
	/* Of a task without registers of user mode (a kernel thread) nothing is read. */
	if (!s ||
	    bpf_probe_read_kernel(&s->user, sizeof(s->user), (void *)bpf_task_pt_regs(task)) ||
	    (s->user.cs & 3) != 3)
		return 0;
	sleeper_walk(&c);
	if (key_of(task) != key) /* it has gone on meanwhile: its own deferred record is the one */
		return 0;
	n = s->n & (ROOM - 1);
	s->head.key = key;
	s->head.cpu = bpf_get_smp_processor_id();
	s->head.n = n;
	s->head.end = s->end;
	bpf_seq_write(ctx->meta->seq, &s->head, sizeof(s->head) + (__u64)n * 8);
	return 0;
}
