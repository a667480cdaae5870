/* SPDX-License-Identifier: MIT */
/*
 * trap.bpf.h: registers of a task that a uprobe stopped in the kernel. For a while they are not
 * those of any moment of the program:
 *
 * - Up to the handlers of a breakpoint the pc is the one behind it, where the rule of the replaced
 *   instruction's end does not hold yet: execution stopped before it.
 * - At the end of the system call by which a watched function returns, the stack pointer is that of
 *   the trampoline again while the pc is still the caller's.
 *
 * trap_repair takes the kernel's stack for proof, so that nothing else is taken for these.
 */
#ifndef SEAM_CAPTURE_BPF_TRAP_BPF_H
#define SEAM_CAPTURE_BPF_TRAP_BPF_H

#include "capture/bpf/maps.bpf.h"

#define BREAKPOINT 0xcc
#define RETURN_BYTES 512u /* of the system call */
#define RETURN_DEPTH 4    /* so many of the kernel's outermost frames are above it, at most */

enum trap_kind {
	TRAP_NONE,
	TRAP_BREAKPOINT, /* the pc is behind one */
	TRAP_RETURN,     /* the registers that a trampoline pushed are on the stack */
};

/* The kernel's stack: frames that are not there are not looked at. */
struct trap_frames {
	__u64 at[WALK_ROOM];
};

/* What the registers may be of; then the kernel's stack must be looked at. Not if user mode was
 * sampled. */
ONCE int trap_suspected(struct walker *w)
{
	const struct pt_regs *user;
	struct task_struct *task;
	__u8 code = 0;

	if (!w)
		return TRAP_NONE;
	user = &w->user;
	task = (void *)w->task;
	/* Not in a system call that goes on, and of the exceptions only behind a breakpoint. */
	if (user->orig_rax != ~0ull)
		return TRAP_NONE;
	if (!bpf_probe_read_user(&code, 1, (void *)user->rip - 1) && code == BREAKPOINT)
		return TRAP_BREAKPOINT;
	if (!BPF_CORE_READ(task, utask)) /* it never met a uprobe */
		return TRAP_NONE;
	w->frame[0] = w->frame[1] = 0;
	w->fp = 0;
	if (bpf_probe_read_user(w->frame, 16, (void *)user->rsp) || w->frame[0] != user->r11 ||
	    w->frame[1] != user->rcx || bpf_probe_read_user(&w->fp, 8, (void *)user->rsp + 16) ||
	    w->fp != user->rax)
		return TRAP_NONE;
	return TRAP_RETURN;
}

/* Whether the kernel was entered by a breakpoint. last: the index of the outermost frame. The
 * entries of other exceptions follow that one closely. */
INLINE int trap_is_breakpoint(const __u64 *frames, __u32 last)
{
	return frames[last & (WALK_ROOM - 1)] - config.int3 < config.int3_bytes;
}

INLINE int trap_is_return(const __u64 *frames, __u32 last)
{
#pragma unroll
	for (__u32 i = 0; i < RETURN_DEPTH; i++) {
		__u64 at = frames[(last - i) & (WALK_ROOM - 1)];

		if (i <= last && at - config.uretprobe < RETURN_BYTES)
			return 1;
	}
	return 0;
}

/*
 * Sets the pc to the breakpoint. A push of one byte may have been carried out for the program
 * already, which then goes on behind it: that looks the same but for the word that was pushed.
 * False: it cannot be known which; the function is sure.
 */
INLINE int trap_repair_breakpoint(struct walker *w)
{
	struct pt_regs *user = &w->user;
	__u8 next = 0;
	__u64 top = 0;

	/* At another breakpoint: the pc has been set to that one already, or the two are
	 * neighbours. */
	if (bpf_probe_read_user(&next, 1, (void *)user->rip--) || next == BREAKPOINT)
		return 0;
	if (bpf_probe_read_user(&top, 8, (void *)user->rsp))
		return 0;
	return top != user->rbp && top != user->rbx && top != user->rax && top != user->rcx &&
	       top != user->rdx && top != user->rsi && top != user->rdi && top != user->rsp + 8;
}

/*
 * Decides by the kernel's stack, of which n bytes are in frames. False: it is not known of which
 * moment the registers are; the pc is nevertheless that of a frame.
 */
ONCE int trap_repair(struct walker *w, int kind, const struct trap_frames *kernel, long n)
{
	__u32 last = ((__u32)n >> 3) - 1;
	const __u64 *frames;

	if (!w || !kernel)
		return 1;
	frames = kernel->at;
	if (n < 8 || last >= KWALK_KERNEL_MAX)
		return 1;
	if (kind == TRAP_BREAKPOINT) {
		if (!config.int3) { /* kernel addresses are hidden from this user */
			w->user.rip--;
			return 0;
		}
		return !trap_is_breakpoint(frames, last) || trap_repair_breakpoint(w);
	}
	if (!config.uretprobe)
		return 0;
	if (trap_is_return(frames, last))
		w->user.rsp += 24;
	return 1;
}

#endif
