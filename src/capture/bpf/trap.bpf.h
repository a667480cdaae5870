/* SPDX-License-Identifier: MIT */
/*
 * trap.bpf.h: a sample in the kernel's work for a breakpoint that a uprobe put into the program. Up
 * to the probe's handlers the pc is the one behind the breakpoint, where the rule of the replaced
 * instruction's end does not hold yet: execution stopped before it.
 */
#ifndef SEAM_CAPTURE_BPF_TRAP_BPF_H
#define SEAM_CAPTURE_BPF_TRAP_BPF_H

#include "capture/bpf/maps.bpf.h"

#define BREAKPOINT 0xcc
#define TRAP_BYTES 256u /* of asm_exc_int3, at most */

extern const void asm_exc_int3 __ksym __weak;

/* Whether the kernel was entered by a breakpoint. frames has room for a kernel stack, and is
 * written. */
INLINE int trap_is_here(struct bpf_perf_event_data *ctx, struct scratch *x)
{
	long bytes = bpf_get_stack(ctx, x->frames, KWALK_KERNEL_MAX * 8, 0);
	__u32 last = ((__u32)bytes >> 3) - 1;

	if (bytes < 8 || last >= KWALK_KERNEL_MAX)
		return 0;
	return x->frames[last] - (__u64)&asm_exc_int3 < TRAP_BYTES;
}

/*
 * Sets w->user.rip to the breakpoint. A push of one byte may have been carried out for the program
 * already, which then goes on behind it: that looks the same but for the word that was pushed.
 * False: it cannot be known which.
 */
INLINE int trap_repair(struct bpf_perf_event_data *ctx, struct scratch *x)
{
	struct pt_regs *user = &x->w.user;
	__u8 code[2] = { 0 };
	__u64 top = 0;

	/* Not a system call; and of exceptions only behind a breakpoint. */
	if (x->sample.in_user || user->orig_rax != ~0ull ||
	    bpf_probe_read_user(code, 1, (void *)user->rip - 1) || code[0] != BREAKPOINT)
		return 1;
	if (!&asm_exc_int3) /* kernel addresses are hidden from this user */
		return 0;
	if (!trap_is_here(ctx, x))
		return 1;
	/* At another breakpoint: that one has been set already, or the two are neighbours. */
	if (bpf_probe_read_user(&code[1], 1, (void *)user->rip) || code[1] == BREAKPOINT)
		return 0;
	if (bpf_probe_read_user(&top, 8, (void *)user->rsp))
		return 0;
	if (top == user->rbp || top == user->rbx || top == user->rax || top == user->rcx ||
	    top == user->rdx || top == user->rsi || top == user->rdi || top == user->rsp + 8)
		return 0;
	user->rip--;
	return 1;
}

#endif
