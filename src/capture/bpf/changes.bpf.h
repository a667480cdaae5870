/* SPDX-License-Identifier: MIT */
/*
 * changes.bpf.h: notes when a process loses code: before any instruction can run of what is mapped
 * there next, the mappings that the follower made known are not used any more, until it has read
 * them anew.
 *
 * The kernel counts each process's pages of code (mm->exec_vm: executable and not writable), and
 * tells when the lock of an address space is given back. Every mapping that has an unwind table is
 * among these pages.
 */
#ifndef SEAM_CAPTURE_BPF_CHANGES_BPF_H
#define SEAM_CAPTURE_BPF_CHANGES_BPF_H

#include "capture/bpf/maps.bpf.h"

#define CALL_MMAP 9 /* x86_64: rsi bytes, rdx protection */
#define CALL_MPROTECT 10
#define CALL_MUNMAP 11
#define CALL_MREMAP 25
#define CALL_SHMAT 30
#define CALL_SHMDT 67
#define CALL_PKEY_MPROTECT 329
#define MREMAP_TO 2u /* MREMAP_FIXED, in r10 */
#define MAP_WRITE 2u /* PROT_WRITE, PROT_EXEC */
#define MAP_EXECUTE 4u

/* The counts of a process, made if there are none; NULL: there is no room. */
INLINE struct kwalk_changes *changes_of(__u32 pid)
{
	struct kwalk_changes none = { 0 }, *c = bpf_map_lookup_elem(&changes, &pid);

	if (c)
		return c;
	bpf_map_update_elem(&changes, &pid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&changes, &pid);
}

/* What the system call that a task is in does to pages of code. */
struct changes_call {
	__u64 adds;  /* how many, if it takes none away */
	__u32 moves; /* some may be replaced */
	__u32 maps;  /* something is mapped or unmapped */
	__u32 keeps; /* what is mapped stays, whatever it may be used for */
	__u64 from, to;
};

INLINE void changes_expected(struct task_struct *task, struct changes_call *ret)
{
	struct pt_regs regs;

	ret->adds = ret->moves = ret->maps = ret->keeps = 0;
	ret->from = ret->to = 0;
	if (bpf_probe_read_kernel(&regs, sizeof(regs), (void *)bpf_task_pt_regs(task)))
		return;
	ret->moves = regs.orig_rax == CALL_MREMAP && regs.r10 & MREMAP_TO;
	ret->keeps = regs.orig_rax == CALL_MPROTECT || regs.orig_rax == CALL_PKEY_MPROTECT;
	ret->maps = regs.orig_rax == CALL_MMAP || regs.orig_rax == CALL_MUNMAP ||
	            regs.orig_rax == CALL_MREMAP || regs.orig_rax == CALL_SHMAT ||
	            regs.orig_rax == CALL_SHMDT;
	if (regs.orig_rax == CALL_MMAP && (regs.rdx & (MAP_WRITE | MAP_EXECUTE)) == MAP_EXECUTE)
		ret->adds = (regs.rsi + 4095) >> 12;
	ret->from = regs.rdi;
	ret->to = regs.rdi + regs.rsi;
}

/* Pages that mprotect takes from the code are lent until it gives all of them back: nothing else is
 * there, unless something is mapped or unmapped, of which their number tells nothing then. 1: code
 * may be lost. */
INLINE int changes_lost(struct kwalk_changes *c, const struct changes_call *call, __u64 now)
{
	__u64 was = c->exec_vm;

	if (!was || call->moves)
		return 1;
	if (now < was && call->keeps) {
		if (!c->lent || call->from < c->lent_from)
			c->lent_from = call->from;
		if (!c->lent || call->to > c->lent_to)
			c->lent_to = call->to;
		c->lent += was - now;
		return 0;
	}
	if (call->keeps && now - was >= c->lent && call->from <= c->lent_from &&
	    call->to >= c->lent_to)
		c->lent = 0;
	return now < was + call->adds || (call->maps && c->lent);
}

/*
 * Also after reading, for munmap gives the lock back as a reader's. Who shares the memory without
 * being a thread of it (vfork) is another process here. While a program is replaced its count says
 * nothing; on_exec looks at it again.
 */
SEC("seam_tp_btf/mmap_lock_released")
int BPF_PROG(on_unlocked, struct mm_struct *mm)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u32 pid = task->tgid;
	struct changes_call call;
	struct kwalk_changes *c;
	__u64 now;

	if (task_mm(task) != (__u64)mm ||
	    (config.filter == KWALK_PROCESSES && !bpf_map_lookup_elem(&targets, &pid)))
		return 0;
	c = changes_of(pid);
	if (!c || c->execs & KWALK_REPLACING)
		return 0;
	now = mm->exec_vm;
	changes_expected(task, &call);
	if (changes_lost(c, &call, now)) {
		__sync_fetch_and_add(&c->losses, 1);
		c->lent = 0;
	}
	if (now != c->exec_vm)
		c->exec_vm = now;
	return 0;
}

#endif
