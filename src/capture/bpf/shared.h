/* SPDX-License-Identifier: MIT */
/*
 * shared.h: what the programs in the kernel and the recorder say to each other: configuration,
 * records in the rings, entries of maps and of the arena. Fixed layouts, this machine's byte order,
 * no pointers.
 *
 * Included by both sides: only fixed-width types, nothing from a C library but stdint.h's names.
 */
#ifndef SEAM_CAPTURE_BPF_SHARED_H
#define SEAM_CAPTURE_BPF_SHARED_H

#include "base/fixed_width.h"
#include "capture/context/context_shared.h"
#include "abi/runtime_kind.h"
#include "runtimes/runtime_frame.h"
#include "runtimes/runtime_process.h"

/* User frames of a stack: the kernel's own limit for a deferred one. */
#define KWALK_FRAMES_MAX 510u
#define KWALK_KERNEL_MAX 127u /* kernel.perf_event_max_stack's default */
/* Bytes of stack in a KWALK_RAW record at most: a program that reads its modules has 100 native
 * frames and more of CPython, of up to 40 KiB, while each of its libraries is new. */
#define KWALK_RAW_STACK 65536u
#define KWALK_RAW_SMALL 16384u /* in rings that have no room for several of the former */
#define KWALK_RAW_PAGE 4096u
#define KWALK_RAW_BELOW 1024u /* or nothing, when there is no page */
#define KWALK_REGISTERS 17u   /* x86_64, DWARF numbers: 0-15, and 16 the pc */

/* Why a user stack ended. */
enum kwalk_end {
	KWALK_COMPLETE,   /* the outermost frame */
	KWALK_FAULT,      /* a page that is not in memory (at once), or no page at all (deferred) */
	KWALK_NO_MAPPING, /* nothing is known to be mapped at the last pc */
	KWALK_NO_TABLE,   /* the object there has no unwind information */
	KWALK_NO_RULE,    /* its unwind information does not cover the pc */
	/* a rule that cannot be applied here: a register that is not known, an expression */
	KWALK_BAD_RULE,
	KWALK_NO_PROGRESS, /* the stack turns back on itself: torn or hostile */
	KWALK_LIMIT,       /* more frames than are walked */
	KWALK_EXEC,        /* the program is being replaced, or was before it could answer */
	/* a page was not in memory and the task was on its way out: nothing brings it in */
	KWALK_EXITED,
	KWALK_COMPAT,   /* a 32-bit program */
	KWALK_NO_USER,  /* a kernel thread or a worker: there is no user stack */
	KWALK_DEFERRED, /* in a sample: a deferred record follows */
	KWALK_GONE,     /* a user task on its way out that has given up its memory */
	KWALK_WATCHED,  /* a uretprobe took the return address, and what it was is not known */
	KWALK_ENDS,
};

/* Why a thread was off the CPU: a kwalk_sample's event is KWALK_AWAY | one of these. */
enum kwalk_away {
	KWALK_AWAY_SLEEP =
	        1, /* waits for something: a lock, a socket, a timer, a stop signal's end */
	KWALK_AWAY_BLOCKED,  /* the same, and no signal can end it: the disk, mostly */
	KWALK_AWAY_RUNQUEUE, /* could run, but others did: preempted, woken, new */
	KWALK_AWAY_IDLE,     /* a kernel thread without work */
	KWALK_AWAY_RAN,      /* it was not: time on the CPU that no sample has told of */
	KWALK_AWAYS,
};
#define KWALK_AWAY (1ull << 63)

/* ---- configuration: read-only for the programs, so what is off costs nothing ---- */

enum kwalk_when {
	KWALK_HYBRID, /* at once, deferred on a fault */
	KWALK_ALWAYS, /* always deferred */
	KWALK_NEVER,  /* at once, a fault ends the stack */
};

enum kwalk_filter {
	KWALK_EVERYTHING,
	KWALK_PROCESSES, /* those in the map `targets`, by pid, and what they fork */
	KWALK_THREADS,   /* those in the map `targets`, by tid, and what they clone */
};

/* A cgroup of the second version, and all below it. */
struct kwalk_cgroup {
	uint64_t id;    /* its directory's inode */
	uint32_t level; /* the root is 0 */
	uint32_t unused;
};

#define KWALK_CGROUPS 8u
#define KWALK_COMM 16u /* bytes of a thread's name, with its 0 */

struct kwalk_config {
	uint32_t when;    /* enum kwalk_when */
	uint32_t filter;  /* enum kwalk_filter */
	uint32_t inherit; /* children of targets are targets */
	uint32_t defers;  /* the kernel has task work for BPF */
	uint32_t depth;   /* frames that are walked at once */
	uint32_t raw;     /* every sample is followed by registers and stack: for tests; else
	                   * those that the recorder is to walk */
	uint32_t kernel;  /* kernel frames are wanted */
	uint32_t wake;    /* bytes in a ring that wake the recorder */
	uint32_t user;    /* user frames are wanted */
	uint32_t fp;      /* by frame pointers only, no tables */
	/* What a task must be besides a target: one of the map `uids`, of the map `comms`, below
	 * one of these; 0: any. */
	uint32_t uids, comms, cgroups;
	/* pid of a command that was forked: what it does before its first exec is the recorder's */
	uint32_t held;
	struct kwalk_cgroup cgroup[KWALK_CGROUPS];
	uint64_t away_ns; /* a sample for each so much time that a thread is off the CPU; 0: none */
	/* the period of a sample on the CPU is the time that the thread ran since its last */
	uint32_t wall;
	/* stacks are walked when a task leaves the CPU: it cannot be asked later */
	uint32_t away_at_once;
	/* Where functions of the kernel begin; 0: it is hidden from this user, or there is none. */
	uint64_t int3, uretprobe, timer;
	uint32_t int3_bytes; /* how long that function is */
	uint32_t runtimes;   /* frames of interpreters are wanted */
	uint32_t context;    /* for whom threads work is wanted */
	uint64_t seed;       /* of keys that nobody can foresee */
};

/* ---- records in the rings: each begins with kind ---- */

enum kwalk_kind {
	KWALK_SAMPLE = 1,
	KWALK_USER_CHAIN,
	KWALK_RAW,
	KWALK_CODE,
	KWALK_RUNTIME,
	KWALK_CONTEXT,
};

struct kwalk_sample {
	uint32_t kind; /* KWALK_SAMPLE */
	uint32_t pid, tid, cpu;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t event;   /* the id of the perf event, as it was attached */
	uint64_t ip, period, address;
	/* KWALK_DEFERRED: of the deferred record; KWALK_NO_MAPPING, KWALK_BAD_RULE: of the one that
	 * the recorder gives, a KWALK_RAW follows */
	uint64_t cookie;
	uint16_t n_user, n_kernel;
	uint8_t in_user; /* the sample hit user mode */
	uint8_t end;     /* enum kwalk_end of the user part */
	uint8_t guessed; /* some frames were found by frame pointer */
	uint8_t runtime; /* enum kwalk_runtime_end, of frames that belong into the user part */
	                 /* uint64_t user[n_user], kernel[n_kernel] */
};

struct kwalk_user_chain {
	uint32_t kind; /* KWALK_USER_CHAIN */
	uint32_t pid, tid, cpu;
	uint64_t time_ns;
	uint64_t cookie;
	uint32_t n;
	uint8_t end, guessed;
	uint8_t remote;     /* read by the task iterator, not by the task itself */
	uint8_t runtime;    /* as in a sample */
	uint32_t waited_us; /* from sample to answer */
	uint32_t unused2;
	/* uint64_t user[n] */
};

/* Registers and stack of the sample before it, as they were at the sample. */
struct kwalk_raw {
	uint32_t kind; /* KWALK_RAW */
	uint32_t pid, tid;
	uint32_t n;       /* bytes of stack that could be read */
	uint64_t time_ns; /* of the sample */
	/* from here on: a little below the stack pointer, as rules of leaf functions look there */
	uint64_t start;
	uint64_t regs[KWALK_REGISTERS];
	unsigned char stack[KWALK_RAW_STACK]; /* or less */
};

/* -- frames of interpreters: they come before the record whose stack they belong into -- */

/* The key in the map `runtimes` of another interpreter that a process maps is its pid, and from
 * this bit on its kind: no pid has it (PID_MAX_LIMIT). */
#define KWALK_RUNTIME_OTHER 22u

#define KWALK_RUNTIME_ROOM 2048u /* frames and calls of the loop; the last one is never used */
#define KWALK_CODE_FILE 512u     /* bytes of a file's name at most */
#define KWALK_CODE_NAME 256u
#define KWALK_CODE_SCOPE 256u
#define KWALK_CODE_WORDS ((KWALK_CODE_FILE + KWALK_CODE_NAME + KWALK_CODE_SCOPE) / 8)
#define KWALK_CODE_LINES 16384u

struct kwalk_code_text {
	uint16_t bytes;
	uint8_t width; /* bytes of a character: 1, 2 or 4; 0: it is UTF-8 */
	uint8_t cut;   /* the text goes on */
};

/* A piece of code, when it is met for the first time on a CPU: before any frame with its key in
 * that CPU's ring. */
struct kwalk_code {
	uint32_t kind; /* KWALK_CODE */
	uint32_t pid;
	uint64_t time_ns;
	/* Of all that is told of it: other code at the same address has another key. */
	uint64_t key;
	uint32_t first_line;
	uint16_t n_lines;   /* bytes of `lines`; 0: they are not known */
	uint8_t lines_form; /* the runtime's own number of it, or RUNTIME_LINES_GIVEN */
	uint8_t runtime;    /* enum runtime_kind */
	/* scope: a class or package that it belongs to */
	struct kwalk_code_text file, name, scope;
	uint32_t awaits; /* of frames that await what runs (runtimes/codes.h) */
	/* the file, from KWALK_CODE_FILE on the name, and behind it the scope */
	uint64_t text[KWALK_CODE_WORDS];
	uint8_t lines[KWALK_CODE_LINES]; /* what lines are found by, cut off behind n_lines */
};

/* How the walk over a thread's frames ended. */
enum kwalk_runtime_end {
#define RUNTIME_END(number, id, ...) KWALK_RUNTIME_##id = (number),
#include "abi/runtime_ends.def"
	KWALK_RUNTIME_ENDS = 16
};

/* Code of this key was told on this CPU. */
struct kwalk_code_known {
	uint64_t key;
	uint64_t cpu;
};

struct kwalk_runtime {
	uint32_t kind; /* KWALK_RUNTIME */
	uint32_t pid, tid, n;
	uint64_t of;  /* time_ns of the sample, or cookie of the deferred record */
	uint16_t end; /* enum kwalk_runtime_end */
	/* Where the frames of another interpreter begin that the thread runs, too; 0: there is
	 * none. */
	uint16_t other;
	uint8_t deferred;
	uint8_t runtime; /* enum runtime_kind */
	/* the innermost call of the loop runs no frame: each runs the frames before the call before
	 * it */
	uint16_t shifted;
	/* where frames begin that run on another stack, which resumed this one; 0: none do */
	uint16_t behind, unused[3];
	/* struct runtime_frame[n], the innermost first */
};

/* ---- maps ---- */

/* In kwalk_changes.execs, beside the count: an exec is under way. The old program's memory goes
 * away now, its registers later. */
#define KWALK_REPLACING 0x80000000u

/* What a process did to its code, as the kernel saw it. */
struct kwalk_changes {
	uint32_t execs; /* how often it has replaced its program */
	/* how often code was unmapped, moved or replaced: no record tells of that */
	uint32_t losses;
	uint64_t exec_vm; /* pages of code when that was looked at last; 0: never */
	/* Pages that mprotect made no code, as a JIT does while it writes, and what they lie
	 * between: they are still what they were. */
	uint64_t lent, lent_from, lent_to;
};

/* Where a process's mappings are; written as a whole, so never seen torn. Valid while its
 * kwalk_changes say the same. */
struct kwalk_process {
	uint32_t mappings; /* offset in the arena of struct kwalk_mapping[n], by start */
	uint32_t n;
	uint32_t execs, losses;
};

#define KWALK_KEEPS_FP 2u  /* code without unwind information that keeps them; 0 ends their chain */
#define KWALK_MAY_GUESS 1u /* code without an object (JIT): frame pointers are allowed */
/* The mapping is of code made at run time, of which the recorder knows more: it walks where the
 * programs cannot go on. */
#define KWALK_TOLD 4u
/* The rest of the flags: a number that no other table of the recording had in the arena, by which
 * the rules that were found are remembered; 0: they are not. */
#define KWALK_NUMBER_SHIFT 8
#define KWALK_NUMBER_MOST ((1u << 23) - 1)
#define KWALK_MAPPINGS 65535u /* searched in a fixed 16 steps */

/*
 * Which rule holds at an address of a table, at a place in the arena that follows from both. One
 * word each, so that it is never seen torn: from the top the table's number, the address without
 * its lowest bits, the rule's number. Both searches of a walk's step end in the same cache line
 * nearly always.
 */
#define KWALK_KNOWN_AT 4096u /* offset in the arena; offset 0 means none */
#define KWALK_KNOWN_BITS 15
#define KWALK_KNOWN_BYTES (8u << KWALK_KNOWN_BITS)
#define KWALK_KNOWN_ADDRESS 32 /* bits of an address; tables of more have the number 0 */

/* An executable mapping, in the arena; the table's parts as offsets in the arena. */
struct kwalk_mapping {
	uint64_t start, end;
	uint64_t base;    /* address at which the table's page 0 is mapped (may wrap) */
	uint32_t n_pages; /* 0: no table */
	uint32_t rules, index, rows, saves;
	uint32_t flags;
};

/* ---- counts, per CPU ---- */

struct kwalk_counts {
	uint64_t samples; /* of the target */
	uint64_t others;  /* of somebody else: left out */
	uint64_t ring_full, user_chain_full, raw_full;
	uint64_t at_once; /* walks, and their frames */
	uint64_t at_once_frames;
	uint64_t kept_frames; /* of them as they were in the walk before */
	uint64_t faults;      /* of them ended by a page that was not there */
	uint64_t asked;       /* deferrals scheduled */
	uint64_t shared;      /* samples that share one */
	uint64_t refused;     /* deferrals that the kernel refused */
	uint64_t no_slot;     /* no room for the thread's slot */
	uint64_t user_chains;
	uint64_t remote; /* stacks read by the task iterator */
	uint64_t kernel_threads;
	/* stacks with frames found by frame pointer, in code without unwind information */
	uint64_t guessed;
	uint64_t stale;        /* an address space changed during a walk: walked again */
	uint64_t away;         /* samples of time off the CPU */
	uint64_t away_full;    /* of them lost: the ring was full */
	uint64_t away_ns;      /* the time that those tell of */
	uint64_t away_unseen;  /* returns to the CPU that the kernel did not tell of */
	uint64_t away_untold;  /* threads that there was no memory for */
	uint64_t not_followed; /* children of targets that there was no room for among these */
	uint64_t skipped; /* samples that the kernel skipped, as another program ran on the CPU */
	uint64_t runtime_ends[16]; /* of walks over its frames, by enum kwalk_runtime_end */
	uint64_t runtime_frames;
	uint64_t context_ends[8]; /* by enum kwalk_context_end */
	uint64_t context_full;    /* of them found no room in the ring */
	uint64_t code_full;       /* pieces of code that found no room in the ring: told later */
	uint64_t end[16];         /* of user parts, at once and answered, by enum kwalk_end */
};

#endif
