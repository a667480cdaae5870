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
#define CALL_MREMAP 25
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

/* How many pages of code the system call adds if it takes none away. */
INLINE __u64 changes_expected(struct task_struct *task, __u32 *moves)
{
	struct pt_regs regs;

	*moves = 0;
	if (bpf_probe_read_kernel(&regs, sizeof(regs), (void *)bpf_task_pt_regs(task)))
		return 0;
	*moves = regs.orig_rax == CALL_MREMAP && regs.r10 & MREMAP_TO;
	if (regs.orig_rax != CALL_MMAP || (regs.rdx & (MAP_WRITE | MAP_EXECUTE)) != MAP_EXECUTE)
		return 0;
	return (regs.rsi + 4095) >> 12;
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
	__u32 pid = task->tgid, moves;
	struct kwalk_changes *c;
	__u64 now, most;

	if (task_mm(task) != (__u64)mm ||
	    (config.filter == KWALK_PROCESSES && !bpf_map_lookup_elem(&targets, &pid)))
		return 0;
	c = changes_of(pid);
	if (!c || c->execs & KWALK_REPLACING)
		return 0;
	now = mm->exec_vm;
	most = c->exec_vm + changes_expected(task, &moves);
	if (!c->exec_vm || now < most || moves)
		__sync_fetch_and_add(&c->losses, 1);
	if (now != c->exec_vm)
		c->exec_vm = now;
	return 0;
}

#endif
