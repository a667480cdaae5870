/* SPDX-License-Identifier: MIT */
/*
 * walk.bpf.h: registers and user memory -> return addresses, by the unwind tables in the arena. The
 * same rules as unwind/walk.c applies, and the same order of checks, so that both give the same
 * frames.
 *
 * Knows the table's form (docs/unwind-table.md) and the verifier's taste: all state is in a map
 * value, which the verifier takes for unknown, so that a loop body converges in one pass; searches
 * have a fixed number of steps and no branches. State on the stack and branches cost 178,000
 * verified instructions on Linux 6.18 and more than the limit on 6.19; this costs thousands.
 *
 * Does not know who asks: memory is read by `kind`, which is a constant in each of the three loops.
 */
#ifndef SEAM_CAPTURE_BPF_WALK_BPF_H
#define SEAM_CAPTURE_BPF_WALK_BPF_H

#include "capture/bpf/kernel.bpf.h"
#include "capture/bpf/shared.h"
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
	struct pt_regs user;
};

/* A power of two, and of a page, so that all of it is in memory if one word is. */
#define WALK_WINDOW 64u

/* What of the stack was read last. */
struct walk_window {
	__u64 words[WALK_WINDOW];
};

/* What a loop's body is given. */
/* Of runtime.bpf.c: the interpreter whose frames these programs walk; 0: of none. */
#ifndef RUNTIME_KIND
#define RUNTIME_KIND RUNTIME_NO_KIND
#endif
#define RUNTIME_WALKED (RUNTIME_KIND != RUNTIME_NO_KIND)
struct runtime_walk;
ONCE int runtime_pass(struct runtime_walk *p, __u32 n, struct walker *w);

struct walk {
	struct walker *w;
	__u64 *frames; /* room for KWALK_FRAMES_MAX and one more: 512 */
	struct task_struct *task;
	struct runtime_walk *runtime; /* frames that were walked before; NULL: none are wanted */
	struct walk_window *window;   /* NULL: each word is read for itself */
};

#define WALK_ROOM 512u

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

/* Finds the mapping of pc and puts it into w->at. Branch-free: counts the mappings that begin at or
 * below pc. */
ONCE int walk_find(struct walker *w, __u64 pc)
{
	__u32 low = 0, n;
	__u64 at;

	if (!w)
		return 0;
	n = w->n_mappings;
	if (pc >= w->at.start && pc < w->at.end)
		return 1;
#pragma unroll
	for (int i = 0; i < 16; i++) {
		__u32 half = (n + 1) >> 1;
		__u64 start = arena_u64(w->mappings + (__u64)(low + half) * sizeof(w->at) -
		                        sizeof(w->at));

		/* user addresses are below 2^63, so the sign tells */
		low += half & (__u32)((__s64)(start - pc - 1) >> 63);
		n -= half;
	}
	if (!low)
		return 0;
	at = w->mappings + (__u64)(low - 1) * sizeof(w->at);
	if (pc >= arena_u64(at + 8))
		return 0;
	w->at.start = arena_u64(at);
	w->at.end = arena_u64(at + 8);
	w->at.base = arena_u64(at + 16);
	w->at.n_pages = arena_u32(at + 24);
	w->at.rules = arena_u32(at + 28);
	w->at.index = arena_u32(at + 32);
	w->at.rows = arena_u32(at + 36);
	w->at.saves = arena_u32(at + 40);
	w->at.flags = arena_u32(at + 44);
	return 1;
}

/* Read anew each time: a value that stays in a register after it was compared, or that is one of
 * several constants, would be another state for the verifier; memory is always unknown to it. */
#define ANEW(x) (*(volatile __typeof__(x) *)&(x))

/* The number of the rule for an address of the table in w->at, which is in this page of it; 0:
 * there is none. */
INLINE __u32 walk_search(struct walker *w, __u64 address, __u64 page)
{
	__u64 rows = w->at.rows;
	__u32 key = (__u32)(address & (FRAMETAB_PAGE - 1)) << FRAMETAB_RULE_BITS |
	            ((1u << FRAMETAB_RULE_BITS) - 1);
	__u32 at, n, a = 0;

	at = arena_u32(w->at.index + page * 4);
	n = arena_u32(w->at.index + page * 4 + 4) - at;
	rows += (__u64)at * 4;
#pragma unroll
	for (int i = 0; i < 11; i++) {
		__u32 half = (n + 1) >> 1;
		__u64 row = arena_u32_wide(rows + (__u64)(a + half) * 4 - 4);

		a += half & (__u32)((__s64)(row - key - 1) >> 63);
		n -= half;
	}
	if (!(at + a))
		return 0;
	return arena_u32(rows + (__u64)a * 4 - 4) & ((1u << FRAMETAB_RULE_BITS) - 1);
}

/* The offset of the rule for pc in w->at; 0: there is none. What was found before is looked at
 * first. */
ONCE __u64 walk_rule(struct walker *w, __u64 pc)
{
	__u64 address, page, name, known, place;
	__u32 number;

	if (!w)
		return 0;
	address = pc - w->at.base;
	page = address / FRAMETAB_PAGE;
	number = w->at.flags >> KWALK_NUMBER_SHIFT;
	if (page >= w->at.n_pages)
		return 0;
	name = (__u64)number << (KWALK_KNOWN_ADDRESS - KWALK_KNOWN_BITS) |
	       address >> KWALK_KNOWN_BITS;
	place = KWALK_KNOWN_AT +
	        ((address + name * 0x9e3779b1) & ((1u << KWALK_KNOWN_BITS) - 1)) * 8;
	known = number ? arena_u64(place) : 0;
	w->rule = (__u32)known & ((1u << FRAMETAB_RULE_BITS) - 1);
	if (!number || known >> FRAMETAB_RULE_BITS != name) {
		w->rule = walk_search(w, address, page);
		if (number)
			arena_put_u64(place, name << FRAMETAB_RULE_BITS | w->rule);
	}
	return ANEW(w->rule) ? w->at.rules + (__u64)ANEW(w->rule) * sizeof(struct frametab_rule)
	                     : 0;
}

/* The current frame's value of register w->number. */
INLINE long walk_register(struct walk *c, __u64 *ret, const int kind)
{
	struct walker *w = c->w;
	__u32 number = ANEW(w->number) & 31, bit = 1u << number;

	if (!(w->known & bit))
		return walk_end(w, KWALK_BAD_RULE);
	if (w->saved & bit) {
		if (walk_word(c, w->regs[number], &w->regs[number], 0, kind))
			return walk_end(w, KWALK_FAULT);
		w->saved &= ~bit;
	}
	*ret = w->regs[number];
	return 0;
}

/* Computes the canonical frame address of the current frame by its rule. 0; 1: the walk has
 * ended. */
INLINE long walk_cfa(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	__u32 how;

	if ((ANEW(w->head) & 255) > FRAMETAB_CFA_PLT)
		return walk_end(w, KWALK_BAD_RULE);
	ANEW(w->number) = REG_SP;
	how = 1u << (ANEW(w->head) & 7);
	if (how & (1u << FRAMETAB_CFA_FP | 1u << FRAMETAB_CFA_DEREF_FP))
		ANEW(w->number) = REG_FP;
	how = 1u << (ANEW(w->head) & 7);
	if (how & (1u << FRAMETAB_CFA_REG | 1u << FRAMETAB_CFA_DEREF_REG))
		ANEW(w->number) = ANEW(w->head) >> 8 & 255;
	if (walk_register(c, &w->cfa, kind))
		return 1;
	w->cfa += w->off;
	if ((ANEW(w->head) & 255) == FRAMETAB_CFA_PLT && (w->pc & 15) >= ANEW(w->add))
		w->cfa += 8;
	how = 1u << (ANEW(w->head) & 7);
	if (!(how & (1u << FRAMETAB_CFA_DEREF_SP | 1u << FRAMETAB_CFA_DEREF_FP |
	             1u << FRAMETAB_CFA_DEREF_REG)))
		return 0;
	if (walk_word(c, w->cfa, &w->cfa, 0, kind))
		return walk_end(w, KWALK_FAULT);
	w->cfa += w->add;
	return 0;
}

/* The caller's value of the frame pointer or the pc, whose kind is at `shift` in the rule's head;
 * not for FRAMETAB_AT_SAME and FRAMETAB_AT_UNDEFINED. */
INLINE long walk_at(struct walk *c, const int shift, __u64 *off, __u64 *ret, const int kind)
{
	struct walker *w = c->w;
	__u32 how = 1u << (ANEW(w->head) >> shift & 15);

	if (how & (1u << FRAMETAB_AT_EXPR | 1u << FRAMETAB_AT_VAL_EXPR))
		return walk_end(w, KWALK_BAD_RULE);
	*ret = w->cfa;
	how = 1u << (ANEW(w->head) >> shift & 15);
	if (how & (1u << FRAMETAB_AT_SP | 1u << FRAMETAB_AT_FP | 1u << FRAMETAB_AT_REG)) {
		ANEW(w->number) = REG_SP;
		if ((ANEW(w->head) >> shift & 15) == FRAMETAB_AT_FP)
			ANEW(w->number) = REG_FP;
		if ((ANEW(w->head) >> shift & 15) == FRAMETAB_AT_REG)
			ANEW(w->number) = (__u32)ANEW(*off);
		if (walk_register(c, ret, kind))
			return 1;
		if ((ANEW(w->head) >> shift & 15) == FRAMETAB_AT_REG)
			return 0;
	}
	*ret += ANEW(*off);
	if ((ANEW(w->head) >> shift & 15) == FRAMETAB_AT_VAL_CFA)
		return 0;
	if (walk_word(c, *ret, ret, shift == 24, kind))
		return walk_end(w, KWALK_FAULT);
	return 0;
}

/* Where this frame saved its caller's registers. Branch-free but for the whole; and no mask that is
 * 0 or -1 meets a constant, for Linux 6.19 goes both ways there: five of them were 150,000
 * instructions. */
ONCE int walk_saves(struct walker *w)
{
	static const int numbers[FRAMETAB_SAVED_X86_64] = { 3, 12, 13, 14, 15 };
	__u32 bits;
	__u64 base, from;

	if (!w || !(ANEW(w->head) >> 48))
		return 0;
	bits = ANEW(w->head) >> 48;
	from = w->at.saves + (__u64)w->saves * 2;
	w->frame[0] = w->cfa;
	if (ANEW(w->head) >> 32 & FRAMETAB_SAVES_AT_SP)
		w->frame[0] = w->regs[REG_SP];
	base = ANEW(w->frame[0]);
#pragma unroll
	for (int i = 0; i < (int)FRAMETAB_SAVED_X86_64; i++) {
		__u64 save = arena_u16_wide(from), has = bits >> i & 1, mask = -has;
		__u32 unknown = (__u32)(((save ^ (__u16)FRAMETAB_SAVE_UNKNOWN) - 1) >> 63);
		__u32 bit = (__u32)has << numbers[i];
		__u64 place = base + (((save ^ 0x8000) - 0x8000) << 3);

		w->regs[numbers[i]] = (w->regs[numbers[i]] & ~mask) | (place & mask);
		w->saved |= bit;
		w->known = (w->known & ~bit) | (bit & ~(unknown << numbers[i]));
		from += has << 1;
	}
	return 0;
}

/* To the caller: its pc, stack pointer and frame pointer are in w->ip, w->cfa, w->fp. */
INLINE void walk_leave(struct walker *w)
{
	w->regs[REG_SP] = w->cfa;
	w->regs[REG_FP] = w->fp;
	w->regs[REG_IP] = w->ip;
	w->first = 0;
	w->saved &= REGS_CALLEE;
	w->known &= REGS_CALLEE | 1u << REG_FP | 1u << REG_SP | 1u << REG_IP;
}

/* ---- uretprobes: the return address on the stack is a trampoline's, the task's own list has the
 * right one ---- */

#define TRAMPOLINE_BYTES 64u /* at most: a breakpoint, or a system call with its pushes */
#define STEPPED_BYTES 128u   /* of a copied instruction's slot */
#define INSTANCES_MAX 64     /* the kernel's own limit of nested ones */

/* Notes for the walk where the kernel has put return addresses of its own, and takes back where a
 * copied instruction runs. */
INLINE void walk_instances(struct walker *w)
{
	struct task_struct *task = (void *)w->task;
	struct xol_area *area = BPF_CORE_READ(task, mm, uprobes_state.xol_area);
	__u64 stepped;

	w->trampoline = w->instance = 0;
	if (!area || !bpf_core_field_exists(struct return_instance, orig_ret_vaddr))
		return;
	w->trampoline = BPF_CORE_READ(area, vaddr);
	w->instance = (__u64)BPF_CORE_READ(task, utask, return_instances);
	/* Where a breakpoint replaced an instruction its copy runs elsewhere; all else is as in its
	 * own place. */
	stepped = BPF_CORE_READ(task, utask, xol_vaddr);
	if (stepped && w->user.rip - stepped < STEPPED_BYTES) {
		w->user.rip += BPF_CORE_READ(task, utask, vaddr) - stepped;
		w->regs[REG_IP] = w->user.rip;
	}
}

/* Looks at one instance: 1 if it is that of w->slot, or none is left. Older functions stand higher
 * on the stack. */
static long walk_instance(__u32 i, void *ctx)
{
	struct walker *w = ((struct walk *)ctx)->w;
	struct return_instance *r = (void *)w->instance;

	if (!r || BPF_CORE_READ(r, stack) >= w->slot)
		return 1;
	w->instance = (__u64)BPF_CORE_READ(r, next);
	return 0;
}

/* The return address that belongs at an address of the stack, or at the next one above (next); 0:
 * the list does not know. */
ONCE __u64 walk_original(struct walker *w, __u64 slot, int next)
{
	struct walk c = { .w = w };
	struct return_instance *r;

	if (!w)
		return 0;
	w->slot = slot;
	bpf_loop(INSTANCES_MAX, walk_instance, &c, 0);
	r = (void *)ANEW(w->instance);
	if (!r || (!next && BPF_CORE_READ(r, stack) != ANEW(w->slot)))
		return 0;
	ANEW(w->slot) = BPF_CORE_READ(r, stack);
	return BPF_CORE_READ(r, orig_ret_vaddr);
}

/* On the way out of the kernel, that system call has done its work: the stack pointer is as it left
 * it. False: something else comes next than the rest of the trampoline. */
INLINE int walk_trampoline_left(struct walker *w)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct pt_regs *now = (void *)bpf_task_pt_regs(task);
	__u64 rip = 0;

	return !bpf_probe_read_kernel(&rip, 8, &now->rip) && rip == w->user.rip &&
	       !bpf_probe_read_kernel(&w->regs[REG_SP], 8, &now->rsp);
}

/*
 * In the trampoline itself: the function has returned. Up to the system call that asks where to,
 * the list knows; in it, the address leaves the list before it is on the stack, and nothing but its
 * being there, which rcx shows, tells that. Then the trampoline pops two registers and returns.
 */
INLINE long walk_trampoline(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	__u64 ip;

	w->off = ~0ull;
	if (walk_read(c, w->regs[REG_IP], &w->head, 8, kind))
		return walk_end(w, KWALK_WATCHED);
	if ((ANEW(w->head) & 0xff) == 0xc3) /* ret */
		w->off = 0;
	if ((ANEW(w->head) & 0xffff) == 0xc359) /* pop %rcx */
		w->off = 8;
	if ((ANEW(w->head) & 0xffffffff) == 0xc3595b41) /* pop %r11 */
		w->off = 16;
	if (kind == WALK_SLEEP && ANEW(w->off) == 16) {
		if (!walk_trampoline_left(w))
			return walk_end(w, KWALK_WATCHED);
	} else if (ANEW(w->off) >= 16) {
		ip = walk_original(w, w->regs[REG_SP] - 8, 1);
		if (ip && ANEW(w->slot) <= w->regs[REG_SP] + 16) {
			w->ip = ip;
			w->cfa = ANEW(w->slot) + 8;
			goto leave;
		}
		if (ANEW(w->off) != 16 || w->user.orig_rax != ~0ull || w->user.rcx != w->user.rip)
			return walk_end(w, KWALK_WATCHED);
	}
	w->cfa = w->regs[REG_SP] + ANEW(w->off) + 8;
	if (walk_read(c, w->cfa - 8, &w->ip, 8, kind) || w->ip == ANEW(w->trampoline))
		return walk_end(w, KWALK_WATCHED);
leave:
	w->fp = w->regs[REG_FP];
	w->exact = 0;
	walk_leave(w);
	return 0;
}

/* Frame pointers are kept here, so that 0 is the end of their chain. */
INLINE int walk_is_chain(struct walker *w)
{
	return w->by_fp || w->at.flags & KWALK_KEEPS_FP;
}

/* No table may be asked: [fp] is the caller's fp, [fp + 8] the return address. */
INLINE long walk_guess(struct walk *c, __u32 end, const int kind)
{
	struct walker *w = c->w;
	__u64 fp = w->regs[REG_FP];

	if (!(w->known & 1u << REG_FP) || fp < w->regs[REG_SP] || fp & 7)
		return walk_end(w, !fp && w->known & 1u << REG_FP && walk_is_chain(w)
		                           ? KWALK_COMPLETE
		                           : end);
	if (walk_read(c, fp, w->frame, 16, kind))
		return walk_end(w, KWALK_FAULT);
	if (!w->frame[1])
		return walk_end(w, walk_is_chain(w) ? KWALK_COMPLETE : end);
	w->cfa = fp + 16;
	if (w->frame[1] == ANEW(w->trampoline)) {
		w->frame[1] = walk_original(w, fp + 8, 0);
		if (!w->frame[1])
			return walk_end(w, KWALK_WATCHED);
	}
	if (!w->by_fp && !walk_find(w, w->frame[1] - 1))
		return walk_end(w, end);
	w->fp = w->frame[0];
	w->ip = w->frame[1];
	w->exact = 0;
	w->guessed = 1;
	w->known &= ~REGS_CALLEE;
	walk_leave(w);
	return 0;
}

/*
 * Code that no table describes may say itself what it does next: a call that returned to `add
 * $n,%rsp`, `pop %rbp` or both, and then `ret`, as trampolines have it (CPython's -X perf) and the
 * ends of many functions. That is as sure as a rule (unwind/straight.c, of which this is the part
 * that trampolines need). 0: it is other code, nothing was done; 1: done; 2: the walk ended.
 */
INLINE long walk_by_code(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	__u64 code, popped;

	if (w->exact || walk_read(c, w->regs[REG_IP], &w->head, 8, kind))
		return 0;
	w->off = 0;
	code = ANEW(w->head);
	if ((code & 0xffffff) == 0xc48348) {
		w->off = code >> 24 & 255;
		w->head = code >> 32;
	}
	code = ANEW(w->head);
	w->add = 8;
	if ((code & 0xff) == 0x5d) {
		w->add = 16;
		w->head = code >> 8;
	}
	if ((ANEW(w->head) & 0xff) != 0xc3 || ANEW(w->off) > 127)
		return 0;
	w->cfa = w->regs[REG_SP] + ANEW(w->off) + ANEW(w->add);
	if (walk_read(c, w->cfa - 16, w->frame, 16, kind))
		return walk_end(w, KWALK_FAULT) + 1;
	if (!w->frame[1] || w->frame[1] == ANEW(w->trampoline) || !walk_find(w, w->frame[1] - 1))
		return 0;
	w->fp = w->regs[REG_FP];
	popped = ANEW(w->add) >> 4 & 1;
	if (popped) {
		w->fp = w->frame[0];
		w->known |= 1u << REG_FP;
	}
	w->ip = w->frame[1];
	walk_leave(w);
	return 1;
}

/* Moves to the caller by the rule at this offset of the arena. 0; 1: the walk has ended. */
INLINE long walk_by_rule(struct walk *c, __u64 rule, const int kind)
{
	struct walker *w = c->w;
	__u64 offs = arena_u64(RULE_AT(rule, cfa_off)), where = arena_u64(RULE_AT(rule, fp_off));
	__u32 how, left_alone;

	/* The parts of a rule as docs/unwind-table.md lays them out; offsets are signed. */
	w->head = arena_u64(rule);
	w->saves = arena_u32(RULE_AT(rule, saves));
	w->off = (__u64)((__s64)(offs << 32) >> 32);
	w->add = (__u64)((__s64)offs >> 32);
	w->fp_off = (__u64)((__s64)(where << 32) >> 32);
	w->ra_off = (__u64)((__s64)where >> 32);
	how = ANEW(w->head) >> 24 & 255;
	if (how == FRAMETAB_AT_UNDEFINED)
		return walk_end(w, KWALK_COMPLETE);
	if (how == FRAMETAB_AT_SAME)
		return walk_end(w, KWALK_BAD_RULE);
	if (walk_cfa(c, kind) || walk_at(c, 24, &w->ra_off, &w->ip, kind))
		return 1;
	if (!w->ip)
		return walk_end(w, KWALK_COMPLETE);
	/* A uretprobe took the return address: the task's own list has it. */
	if (w->ip == ANEW(w->trampoline)) {
		w->ip = walk_original(w, w->cfa - 8, 0);
		if (!w->ip)
			return walk_end(w, KWALK_WATCHED);
	}
	w->fp = w->regs[REG_FP];
	how = ANEW(w->head) >> 16 & 255;
	if (how > FRAMETAB_AT_UNDEFINED) {
		if (walk_at(c, 16, &w->fp_off, &w->fp, kind))
			return 1;
		w->known |= 1u << REG_FP;
	} else if (how == FRAMETAB_AT_UNDEFINED) {
		w->known &= ~(1u << REG_FP);
	}
	walk_saves(w);
	w->exact = ANEW(w->head) >> 32 & FRAMETAB_SIGNAL_FRAME;
	/* Except out of a signal's handler, a caller's stack pointer is above the callee's. */
	if (!ANEW(w->exact) &&
	    (w->cfa < w->regs[REG_SP] || (w->cfa == w->regs[REG_SP] && !w->first)))
		return walk_end(w, KWALK_NO_PROGRESS);
	/* As in unwind/walk.c: assembler's rules may ask for what the first frame left alone. */
	left_alone = ANEW(w->exact) || !w->first || w->guessed ? 0 : w->known & REGS_CALLER;
	walk_leave(w);
	w->known |= left_alone;
	return 0;
}

/* Code between two functions that nobody described: perhaps all is as it was before it, by another
 * rule. Not in the child of a clone. */
INLINE __u64 walk_like(struct walker *w, __u64 rule)
{
	if (!w->first || !w->regs[0])
		return 0;
	w->guessed = 1;
	w->known &= ~REGS_CALLEE;
	return w->at.rules + arena_u32_wide(rule + 28) * 32;
}

/* These for the walk that does not fault, of which each sample has one. */
ONCE int walk_trampoline_now(struct walker *w)
{
	struct walk c = { .w = w };

	return w ? (int)walk_trampoline(&c, WALK_NOW) : 1;
}

ONCE int walk_guess_now(struct walker *w, __u32 end)
{
	struct walk c = { .w = w };

	return w ? (int)walk_guess(&c, end, WALK_NOW) : 1;
}

ONCE int walk_by_code_now(struct walker *w)
{
	struct walk c = { .w = w };

	return w ? (int)walk_by_code(&c, WALK_NOW) : 2;
}

ONCE int walk_by_rule_now(struct walker *w, struct walk_window *window, __u64 rule)
{
	struct walk c = { .w = w, .window = window };

	return w ? (int)walk_by_rule(&c, rule, WALK_NOW) : 1;
}

#ifdef RUNTIME_UNDESCRIBED
/* Of a runtime whose functions are native frames: looks at one of code without unwind information.
 * Returns as walk_by_code does. */
INLINE long RUNTIME_UNDESCRIBED(struct walk *c, const int kind);
#endif

#ifdef RUNTIME_OWN_CODE
/* Whether an interpreter made the code there; its own step to the caller. */
INLINE int runtime_is_code(struct walk *c, __u64 pc);
INLINE long runtime_code(struct walk *c, const int kind);
#else
INLINE int runtime_is_code(struct walk *c, __u64 pc)
{
	return 0;
}

INLINE long runtime_code(struct walk *c, const int kind)
{
	return 1;
}
#endif

/* Writes down the current frame and moves to its caller: by rule, by the code itself, or by frame
 * pointer where that is allowed. 0; 1: the walk has ended, and w->end says why. */
INLINE long walk_step(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	__u64 rule;
	__u32 n = w->n;
	long how = 0;
	int own;

	if (RUNTIME_WALKED && n)
		runtime_pass(c->runtime, n - 1, w);
	if (n >= w->most || n >= KWALK_FRAMES_MAX)
		return walk_end(w, KWALK_LIMIT);
	w->pc = w->regs[REG_IP] - !w->exact;
	own = !w->by_fp && runtime_is_code(c, w->pc);
	w->found = own || (!w->by_fp && walk_find(w, w->pc));
	/* What execution stopped at is a frame in any case; any other word only where something is
	 * mapped. */
	if (n && !w->by_fp && !ANEW(w->found))
		return walk_end(w, KWALK_NO_MAPPING);
	FORGET(n);
	c->frames[n & (WALK_ROOM - 1)] = w->regs[REG_IP];
	w->n = n + 1;
	if (w->first && ANEW(w->trampoline) && w->pc - w->trampoline < TRAMPOLINE_BYTES)
		return kind == WALK_NOW ? walk_trampoline_now(w) : walk_trampoline(c, kind);
	if (w->by_fp)
		return kind == WALK_NOW ? walk_guess_now(w, KWALK_NO_PROGRESS)
		                        : walk_guess(c, KWALK_NO_PROGRESS, kind);
	if (own)
		return runtime_code(c, kind);
	if (!ANEW(w->found))
		return walk_end(w, KWALK_NO_MAPPING);
	rule = walk_rule(w, w->pc);
	if (rule && arena_u64(rule) >> 32 & FRAMETAB_LIKE)
		rule = walk_like(w, rule);
	if (rule && (arena_u64(rule) & 255))
		return kind == WALK_NOW ? walk_by_rule_now(w, c->window, rule)
		                        : walk_by_rule(c, rule, kind);
#ifdef RUNTIME_UNDESCRIBED
	/* Such a runtime's object has code of assemblers, too. */
	how = RUNTIME_UNDESCRIBED(c, kind);
	if (!how)
#else
	if (w->at.flags & KWALK_MAY_GUESS)
#endif
		how = kind == WALK_NOW ? walk_by_code_now(w) : walk_by_code(c, kind);
	if (how)
		return how - 1;
	if (kind == WALK_NOW && w->at.flags & KWALK_TOLD)
		return walk_guess_now(w, KWALK_BAD_RULE); /* the recorder goes on */
	if (w->at.flags & (KWALK_MAY_GUESS | KWALK_KEEPS_FP) ||
	    (rule && arena_u64(rule) >> 32 & FRAMETAB_KEEPS_FP))
		return kind == WALK_NOW
		               ? walk_guess_now(w, w->at.n_pages ? KWALK_NO_RULE : KWALK_NO_TABLE)
		               : walk_guess(c, w->at.n_pages ? KWALK_NO_RULE : KWALK_NO_TABLE,
		                            kind);
	return walk_end(w, w->at.n_pages ? KWALK_NO_RULE : KWALK_NO_TABLE);
}

/* A loop's body returns 0 or 1, which the verifier does not know of a function. */
INLINE long walk_step_ends(long r)
{
	FORGET(r);
	return r & 1;
}

static long walk_step_now(__u32 i, void *c)
{
	return walk_step_ends(walk_step(c, WALK_NOW));
}

static long walk_step_sleep(__u32 i, void *c)
{
	return walk_step_ends(walk_step(c, WALK_SLEEP));
}

static long walk_step_task(__u32 i, void *c)
{
	return walk_step_ends(walk_step(c, WALK_TASK));
}

#endif
