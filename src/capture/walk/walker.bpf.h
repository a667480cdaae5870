/* SPDX-License-Identifier: MIT */
/*
 * walker.bpf.h: the state of a walk over a user stack, and the memory that it reads. All state is
 * in a map value, which the verifier takes for unknown, so that a loop body converges in one pass.
 * State on the stack and branches cost 178,000 verified instructions on Linux 6.18 and more than
 * the limit on 6.19; this costs thousands.
 *
 * Memory is read by `kind`, which is a constant in each of the three loops.
 */
#ifndef SEAM_CAPTURE_WALK_WALKER_BPF_H
#define SEAM_CAPTURE_WALK_WALKER_BPF_H

#include "capture/bpf/kernel.bpf.h"
#include "capture/bpf/shared.h"
#include "capture/walk/steps.bpf.h"
#include "unwind/frametab_form.h"

/* What does not change while it records. */
const volatile struct kwalk_config config SEC(".rodata.config");

enum walk_kind {
	WALK_NOW,   /* the current task, without faulting */
	WALK_SLEEP, /* the current task, from where pages may be brought in */
	WALK_TASK,  /* another task that sleeps */
};

#define REG_FP 6
#define REG_SP 7
#define REG_IP 16
#define REGS_ALL ((1u << KWALK_REGISTERS) - 1)
#define REGS_CALLER 0xf37u /* rax, rdx, rcx, rsi, rdi, r8 to r11: a call need not keep them */
#define REGS_CALLEE (1u << 3 | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15)

struct walker {
	__u64 regs
	        [32]; /* of the current frame, by DWARF number: the value, or where it was saved */
	__u32 known;  /* a bit per register */
	__u32 saved;  /* of them: regs has the address where the value was saved, not read yet */
	__u32 exact;  /* the pc is where execution stopped, not a return address */
	__u32 first;  /* the frame that was interrupted: all registers are its own */
	__u32 n, end, guessed, most;
	__u32 by_fp;
	__u32 found;                /* w->pc is in w->at */
	__u32 mappings, n_mappings; /* of the process, in the arena */
	/* of the step that is being made: a register; the rule's first save; the rule */
	__u32 number, saves, rule;
	__u64 word;
	struct kwalk_mapping at; /* the mapping that was found last */
	__u64 head, pc, off, add, ra_off, fp_off, cfa, ip, fp, frame[2]; /* likewise */
	__u64 task;       /* whose address space is walked: struct task_struct */
	__u64 trampoline; /* where functions that uretprobes watch return to; 0: none is watched */
	/* of the task's list of such functions: the newest that may still be on the stack */
	__u64 instance;
	__u64 slot;                    /* of a return address that is looked for in the list */
	__u64 window_at, window_bytes; /* what of the stack is in walk.window */
	__u64 missing;                 /* RUNTIME_AGAIN: what could not be read last */
	__u32 missing_bytes;           /* 0: nothing */
	/* of steps that are kept (steps.bpf.h): the next that the walk may meet; it was met; from
	 * which one on all are as they were */
	__u32 steps_at, steps_met, steps_from;
	/* steps of frames below `odd`, which was odd_before, may not be kept; steps noted */
	__u32 odd, odd_before, noted;
	/* callee-saved registers are followed from frame to frame, which nearly no rule asks for */
	__u32 full;
	__u64 steps_past; /* the stack pointer up to which nothing more can be met */
	struct pt_regs user;
};

/* A power of two, and of a page, so that all of it is in memory if one word is. */
#define WALK_WINDOW 64u

/* What of the stack was read last. */
struct walk_window {
	__u64 words[WALK_WINDOW];
};

/* Of runtime.bpf.c: the interpreter whose frames these programs walk; 0: of none. */
#ifndef RUNTIME_KIND
#define RUNTIME_KIND RUNTIME_NO_KIND
#endif
#define RUNTIME_WALKED (RUNTIME_KIND != RUNTIME_NO_KIND)
struct runtime_walk;
ONCE int runtime_pass(struct runtime_walk *p, __u32 n, struct walker *w);

/* What a loop's body is given. */
struct walk {
	struct walker *w;
	__u64 *frames; /* room for KWALK_FRAMES_MAX and one more: 512 */
	struct task_struct *task;
	struct runtime_walk *runtime; /* frames that were walked before; NULL: none are wanted */
	struct walk_window *window;   /* NULL: each word is read for itself */
#ifndef RUNTIME_FILE
	const struct steps *steps; /* of the thread's last walk; NULL: this walk keeps none */
	struct steps_now *now;     /* likewise: where it notes its own */
#endif
};

/* What a walk keeps. One that places an interpreter's frames on its way keeps nothing: it cannot
 * begin anew when a rule asks for a register that short rules do not follow. */
#ifdef RUNTIME_FILE
#define WALK_STEPS(c) ((const struct steps *)0)
#define WALK_NOTES(c) ((struct steps_now *)0)
#define WALK_NOTES_IN(c)
#define WALK_NOTES_TAKEN
#define WALK_NOTES_GIVEN(c)
#else
#define WALK_STEPS(c) ((c)->steps)
#define WALK_NOTES(c) ((c)->now)
#define WALK_NOTES_IN(c) ((c)->now = now)
#define WALK_NOTES_TAKEN , struct steps_now *now
#define WALK_NOTES_GIVEN(c) , (c)->now
#endif

#define WALK_ROOM 512u

#define WALK_RULE ((1u << FRAMETAB_RULE_BITS) - 1) /* a rule's number */

/* Where a field of a rule is, in the arena. */
#define RULE_AT(rule, field) ((rule) + __builtin_offsetof(struct frametab_rule, field))

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

INLINE long walk_end(struct walker *w, __u32 end)
{
	w->end = end;
	return 1;
}

/* Whether this interpreter's steps are made again where they may sleep. */
#ifdef RUNTIME_AGAIN
#define WALK_NOTES_MISSING 1
#define WALK_STEPS_SLEEP (KWALK_FRAMES_MAX + 129)
#else
#define WALK_NOTES_MISSING 0
#define WALK_STEPS_SLEEP (KWALK_FRAMES_MAX + 1)
#endif

/* Nothing could be read there: what may sleep can bring it. */
INLINE long walk_missing(struct walker *w, __u64 address, __u32 n)
{
	if (WALK_NOTES_MISSING) {
		w->missing = address;
		w->missing_bytes = n;
	}
	return 1;
}

INLINE long walk_read(struct walk *c, __u64 address, void *ret, __u32 n, const int kind)
{
	if (kind == WALK_NOW)
		return bpf_probe_read_user(ret, n, (void *)address) &&
		       walk_missing(c->w, address, n);
	if (kind == WALK_TASK)
		return bpf_copy_from_user_task(ret, n, (void *)address, c->task, 0);
	return bpf_copy_from_user(ret, n, (void *)address);
}

/* Reads a word of the stack, of the current task and without faulting. Each reading costs the same,
 * however few bytes it is of: at a return address (`next`) all around it is read, for the words of
 * the frames above are there. */
ONCE int walk_word_now(struct walker *w, struct walk_window *window, __u64 address, __u64 *ret,
                       int next)
{
	if (!w || !ret)
		return 1;
	if (!window || address & 7 || (address - w->window_at >= w->window_bytes && !next))
		return bpf_probe_read_user(ret, 8, (void *)address) && walk_missing(w, address, 8);
	if (address - w->window_at >= w->window_bytes) {
		w->window_bytes = 0;
		w->window_at = address & ~(WALK_WINDOW * 8ull - 1);
		if (bpf_probe_read_user(window, sizeof(*window), (void *)w->window_at))
			return walk_missing(w, address, 8);
		w->window_bytes = sizeof(*window);
	}
	*ret = window->words[address >> 3 & (WALK_WINDOW - 1)];
	return 0;
}

INLINE long walk_word(struct walk *c, __u64 address, __u64 *ret, const int next, const int kind)
{
	if (kind == WALK_NOW)
		return walk_word_now(c->w, c->window, address, ret, next);
	return walk_read(c, address, ret, 8, kind);
}

/* Read anew each time: a value that stays in a register after it was compared, or that is one of
 * several constants, would be another state for the verifier; memory is always unknown to it. */
#define ANEW(x) (*(volatile __typeof__(x) *)&(x))

#endif
