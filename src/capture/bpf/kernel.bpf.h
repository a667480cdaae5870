/* SPDX-License-Identifier: MIT */
/*
 * kernel.bpf.h: the few types of the kernel that the programs look into (fields are relocated when
 * they are loaded, so only names matter here), loads from the arena, and the call of a function
 * whose number the loader fills in.
 */
#ifndef SEAM_CAPTURE_BPF_KERNEL_BPF_H
#define SEAM_CAPTURE_BPF_KERNEL_BPF_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define RELOCATED __attribute__((preserve_access_index))
#define INLINE static __attribute__((always_inline)) inline

/* A function that the verifier goes through once, whatever it is given, and not again at each call
 * with all that may be known there. So to it pointers may be NULL, and the result is any number. */
#define ONCE __attribute__((noinline))

/* A pointer that such a function is given of the kernel's own, and that is not NULL. */
#define TRUSTED __attribute__((btf_decl_tag("arg:trusted")))

/* Makes the compiler forget what it knows of x, so that it keeps the bounds check behind it for the
 * verifier to see. */
#define FORGET(x) asm volatile("" : "+r"(x))

struct xol_area {
	unsigned long vaddr;
} RELOCATED;

struct uprobes_state {
	struct xol_area *xol_area;
} RELOCATED;

struct mm_struct {
	unsigned long exec_vm; /* pages that are executable and cannot be written */
	struct uprobes_state uprobes_state;
} RELOCATED;

/* A function that is watched for its return: where its return address stood, and what it was. The
 * newest first. */
struct return_instance {
	unsigned long stack, orig_ret_vaddr;
	struct return_instance *next;
} RELOCATED;

struct arch_uprobe {
	unsigned char insn[16];
} RELOCATED;

struct uprobe_task {
	struct return_instance *return_instances;
	struct arch_uprobe *auprobe; /* while its handlers run */
	unsigned long xol_vaddr,
	        vaddr; /* an instruction's copy that is being stepped over, and its place */
} RELOCATED;

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t uid;
} RELOCATED;

struct kernfs_node {
	__u64 id;
} RELOCATED;

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup *ancestors[];
} RELOCATED;

struct sched_entity {
	__u64 sum_exec_runtime;
} RELOCATED;

struct css_set {
	struct cgroup *dfl_cgrp;
} RELOCATED;

/* The cookie of the kernel entry that a task is in; 0: its stack was not asked for in this
 * entry. */
union unwind_task_id {
	__u64 id;
} RELOCATED;

struct unwind_task_info {
	union unwind_task_id id;
} RELOCATED;

struct thread_struct {
	unsigned long fsbase;
} RELOCATED;

struct task_struct {
	int pid, tgid;
	unsigned int flags;
	struct mm_struct *mm;
	const struct cred *real_cred;
	struct css_set *cgroups;
	char comm[16];
	unsigned int __state;
	unsigned int
	        on_cpu; /* a byte from 7.x on: unsigned loads are narrowed, signed ones refused */
	struct sched_entity se;
	struct uprobe_task *utask;
	struct unwind_task_info unwind_info;
	struct thread_struct thread;
} RELOCATED;

struct linux_binprm;
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
} RELOCATED;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} RELOCATED;

/* Not by a load: of each pointer that is loaded out of a task, older verifiers look through the
 * names of all the kernel's types, four times, whether it may be trusted. */
INLINE __u64 task_mm(struct task_struct *task)
{
	return (__u64)BPF_CORE_READ(task, mm);
}

#define TASK_KERNEL_THREAD 0x00200000u /* PF_KTHREAD */
#define TASK_EXITING 0x00000004u       /* PF_EXITING: it does not return to user mode */
#define TASK_NOT_EXECED 0x00000040u    /* PF_FORKNOEXEC: no exec since its fork */
#define TASK_USER_WORKER 0x00004000u   /* PF_USER_WORKER: io_uring, vhost */

#define ARENA_MAP 33u /* BPF_MAP_TYPE_ARENA: newer than the headers of libbpf 1.1 */

/*
 * Loads from the arena by offset: r1 becomes an arena pointer (the instruction addr_space_cast, for
 * which clang 14 has no name), the kernel adds the arena's address. Pages that nobody wrote read as
 * 0; no offset leaves the arena.
 */
#define ARENA_LOAD(name, type, insn)                                                          \
	INLINE type name(__u64 offset)                                                        \
	{                                                                                     \
		type v;                                                                       \
                                                                                              \
		asm volatile("r1 = %[o]; .byte 0xbf, 0x11; .short 1; .long 1; %[v] = *(" insn \
		             " *)(r1 + 0)"                                                    \
		             : [v] "=r"(v)                                                    \
		             : [o] "r"(offset)                                                \
		             : "r1", "memory");                                               \
		return v;                                                                     \
	}
ARENA_LOAD(arena_u64, __u64, "u64")
ARENA_LOAD(arena_u32_wide, __u64, "u32")
ARENA_LOAD(arena_u16_wide, __u64, "u16")

/* Only where the loader has touched the page. */
INLINE void arena_put_u64(__u64 offset, __u64 v)
{
	asm volatile("r1 = %[o]; .byte 0xbf, 0x11; .short 1; .long 1; *(u64 *)(r1 + 0) = %[v]"
	             :
	             : [o] "r"(offset), [v] "r"(v)
	             : "r1", "memory");
}

INLINE __u32 arena_u32(__u64 offset)
{
	return (__u32)arena_u32_wide(offset);
}

/*
 * bpf_task_work_schedule_resume(task, work, map, callback, aux): a call (0x85, src_reg 2) with a
 * number that no function has; the loader puts the BTF id of the kernel's function there. Its newer
 * form has four arguments, so r5 = 0 suits both.
 */
#define TASK_WORK_MARK 0x5ea3de4e
#define TASK_WORK_TEXT "0x5ea3de4e"

INLINE int task_work_schedule(struct task_struct *task, void *work, void *map, void *callback)
{
	__u64 ret;

	asm volatile("r1 = %[task]; r2 = %[work]; r3 = %[map]; r4 = %[callback]; r5 = 0;"
	             ".byte 0x85, 0x20, 0, 0; .long " TASK_WORK_TEXT "; %[ret] = r0"
	             : [ret] "=r"(ret)
	             : [task] "r"(task), [work] "r"(work), [map] "r"(map), [callback] "r"(callback)
	             : "r0", "r1", "r2", "r3", "r4", "r5", "memory");
	return (int)ret;
}

#endif
