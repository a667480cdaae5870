/* SPDX-License-Identifier: MIT */
/*
 * mode.h: which way of taking user stacks is in effect, and why, as one plain line. Decides nothing
 * but the words; session.c fills it.
 */
#ifndef SEAM_CAPTURE_MODE_H
#define SEAM_CAPTURE_MODE_H

#include <stdbool.h>
#include <stddef.h>

enum mode_stack {
	MODE_NONE,       /* no callchains were asked for */
	MODE_FP,         /* frame pointers, at once */
	MODE_FP_DEFER,   /* frame pointers, deferred by the kernel */
	MODE_LIVE,       /* by BPF programs, at once */
	MODE_LIVE_DEFER, /* by BPF programs, at once, deferred where a page is not in memory */
	MODE_STACK,      /* registers and a copy of the stack, to be unwound by tables */
};

/* Why user stacks are not deferred. */
enum mode_reason {
	MODE_ASKED,        /* the user said so */
	MODE_NO_KERNEL,    /* the kernel refuses the bits */
	MODE_NO_ARCH,      /* the kernel takes the bits, but a real sample was not deferred */
	MODE_NO_TASK_WORK, /* the kernel has no task work for BPF programs */
};

/* Who receives the deferred records. */
enum mode_deferred {
	MODE_DEFERRED_CPU,  /* one event per CPU: also of tasks that exit */
	MODE_DEFERRED_TASK, /* events of the tasks: what is pending at a task's exit is lost */
};

/* Whether functions of interpreters (Python) are in the stacks. */
enum mode_runtimes {
	MODE_RUNTIMES_NOT_SAID, /* they are, or are not wanted */
	MODE_RUNTIMES_OTHER,    /* not in the way that was asked for; by another they are */
	MODE_RUNTIMES_NO_BPF,   /* only BPF programs walk them, and these are not had */
};

struct mode {
	enum mode_stack stack;
	enum mode_reason reason;     /* MODE_FP, MODE_STACK, MODE_LIVE */
	enum mode_deferred deferred; /* MODE_FP_DEFER only */
	bool defer_asked;            /* fp,defer by name, not auto */
	bool by_fp;                  /* MODE_LIVE*: by frame pointers, not by unwind tables */
	unsigned stack_size;         /* MODE_STACK: bytes of a copy */
	bool unwinds;                /* MODE_STACK: unwound while recording, not kept in the file */
	enum mode_runtimes runtimes;
	bool per_task; /* a command, processes or threads; not system-wide */
};

/* "user stacks: frame pointers, deferred by the kernel". Always one line, no newline. Returns
 * text. */
const char *mode_line(const struct mode *mode, char *text, size_t n);
/* "no", "fp", "fp,defer", "dwarf", as perf spells them; "dwarf,defer". */
const char *mode_option(const struct mode *mode);

#endif
