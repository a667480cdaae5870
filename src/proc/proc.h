/* SPDX-License-Identifier: MIT */
/*
 * proc.h: which process had which mapping and name at which time.
 *
 * There are three ways to use it, with the same rules:
 *
 * 1. A file: proc_learn every record in any order, proc_seal, then look up from any number of
 *    threads. Nothing changes any more.
 * 2. Live (opts.live): proc_learn in order of time. What was learned is in effect at once, and
 *    lookups are "at now" (PROC_NOW). No history is kept. One thread, or the caller's lock.
 * 3. A stream (opts.in_order): proc_learn in order of time, in effect at once, and history is kept:
 *    look up any time up to that of the newest record. A record that comes late takes effect at the
 *    newest time. One thread.
 *
 * Rules: A mapping over others cuts them. An exec (COMM with the exec bit) empties the address
 * space. A fork inherits the parent's address space and comm as they are at that time, unless perf
 * marked the record FORK_EXEC (it stands for a process that was there before). Threads (FORK with
 * pid == ppid) share. A FORK of a pid or tid that is known begins a new life of it. EXIT ends
 * nothing, because samples of the dying task still come. Records of equal time count in the order
 * of the file. Records of guests (cpumode) are ignored. Synthesized records have time 0.
 */
#ifndef SEAM_PROC_PROC_H
#define SEAM_PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/record.h>

/* "At now": the newest state that was learned. */
#define PROC_NOW UINT64_MAX
/* The pid of the kernel's own mappings, as perf writes it. */
#define PROC_KERNEL UINT32_MAX

enum proc_kind {
	PROC_KIND_FILE,        /* an object file: path */
	PROC_KIND_ANON,        /* anonymous or memfd executable memory: JIT code; object->pid */
	PROC_KIND_VDSO,        /* [vdso] */
	PROC_KIND_VSYSCALL,    /* [vsyscall] */
	PROC_KIND_STACK,       /* [stack], [heap], SysV memory: no code is expected there */
	PROC_KIND_UPROBES,     /* [uprobes]: the trampoline page */
	PROC_KIND_KERNEL,      /* [kernel.kallsyms] */
	PROC_KIND_MODULE,      /* a kernel module: path of the .ko, or "[name]" */
	PROC_KIND_BPF,         /* a BPF program or trampoline; path is its name */
	PROC_KIND_OUT_OF_LINE, /* other code the kernel made (kprobes, ftrace); path is its name */
	PROC_KIND_JIT, /* one piece of code that a process made; path is its name; object->pid */
	/* a function that an interpreter runs, of any process (abi/runtime_code.h); path is its
	 * name */
	PROC_KIND_RUNTIME,
	PROC_KIND_OTHER, /* "[...]" of a name that is not known */
	PROC_KINDS,
};

#define PROC_BUILD_ID_MAX 20

/* What is mapped; one per distinct (kind, path, build-id; pid if ANON or JIT; inode if it has one).
 * Lives as long as the table. */
struct proc_object {
	uint32_t id; /* dense: 0, 1, 2 ... */
	enum proc_kind kind;
	const char *path;      /* as recorded, but "[kernel.kallsyms]" without its "_text" */
	uint32_t pid;          /* ANON, JIT: the process that mapped it, else 0 */
	uint64_t inode;        /* live, a FILE without build-id: as recorded, else 0 */
	uint8_t build_id_size; /* 0: none was recorded */
	uint8_t build_id[PROC_BUILD_ID_MAX];
};

/* One mapping as it was made; newer ones may cover parts of it (proc_find minds that). An address
 * in it is at file offset addr - start + pgoff. Of a file, all processes share those that are
 * equal. Lives as long as the table. */
struct proc_mapping {
	uint64_t start, end; /* addresses [start, end) */
	uint64_t pgoff;      /* bytes; KERNEL: the address that the recording gives for _text or
	                        _stext, or 0; JIT: the number it was learned with */
	const struct proc_object *object;
	uint32_t id; /* dense: 0, 1, 2 ... */
	/* live: that mapped it (a child that inherited it has another), or PROC_KERNEL; of a file:
	 * the first that did, see proc_made_at */
	uint32_t pid;
	bool data; /* mapped without PROT_EXEC */
};

struct proc_table;

struct proc_opts {
	size_t sz;
	bool live;     /* in order of time, in effect at once, no history */
	bool in_order; /* in order of time, in effect at once, with history */
};

int proc_new(struct proc_table **ret, const struct proc_opts *opts);
void proc_free(struct proc_table *table);

/*
 * The time of a record for this table: its own, or in a file without times its index, which orders
 * such a file and is near 0 beside real times. Use it for samples, too.
 */
uint64_t proc_time(const struct seam_decoded *record);

/*
 * Learns MMAP, MMAP2, COMM, FORK and KSYMBOL (live: EXIT, for proc_renew); others are ignored.
 * What a KSYMBOL says of an interpreter's function holds at all times and in every space.
 * Nothing of the record is borrowed. 1: learned; 0: of no interest, or unsound (counted in
 * proc_counts). -ENOMEM. -EBUSY: sealed.
 */
int proc_learn(struct proc_table *table, const struct seam_decoded *record);
/* A build-id from the file's header (BUILD_ID feature or record) for mappings of that path which
 * carry none. Before proc_seal; live: before the mapping. */
int proc_learn_build_id(struct proc_table *table, const char *path, const uint8_t *build_id,
                        size_t n);
/* Learns code that a process made in memory that it has mapped: from its time on it is what is
 * there. 0; -ENOMEM; -EBUSY: sealed. */
struct proc_code {
	uint64_t time_ns;
	uint64_t start, size;
	const char *name;
	uint32_t number; /* by which the caller knows it, among others of its name */
};
int proc_learn_code(struct proc_table *table, uint32_t pid, const struct proc_code *code);
/* Ends learning of a file. -ENOMEM. */
int proc_seal(struct proc_table *table);

/*
 * Live: a table of what `from` knows of the tasks that run, and of those that ended at most
 * grace_ns before the newest record: *ret. Nothing is shared: objects, mappings, handles and names
 * of `from` die with it. A process of which an EXIT was lost is kept. -ENOMEM; -EINVAL: not live.
 */
int proc_renew(struct proc_table **ret, const struct proc_table *from, uint64_t grace_ns);

/*
 * The address space of a process at a time, as a handle for proc_space_find: equal handles of one
 * table mean equal mappings, so that it is a key for caches of resolved stacks. A process that is
 * not known has PROC_NO_SPACE, whose lookups find nothing but [vsyscall]. Live: good until the next
 * proc_learn. The kernel's: see proc_find_kernel. O(log n).
 */
#define PROC_NO_SPACE 0u
uint32_t proc_space(const struct proc_table *table, uint32_t pid, uint64_t time_ns);
/*
 * Live: the address space of a process now, as a handle that stays good, and keeps meaning these
 * mappings, whatever is learned later. Looking addresses up in it is the readers' as long as nobody
 * learns at that time.
 */
uint32_t proc_space_hold(struct proc_table *table, uint32_t pid);
/* NULL: nothing (known) is mapped there. O(log n). */
const struct proc_mapping *proc_space_find(const struct proc_table *table, uint32_t space,
                                           uint64_t addr);
/* The same with the range around the address in which it is so; NULL also for [vsyscall]. */
const struct proc_mapping *proc_space_range(const struct proc_table *table, uint32_t space,
                                            uint64_t addr, uint64_t *start, uint64_t *end);
/*
 * Whether all executable memory of a space is known. Mappings are recorded as they are made, or
 * read from /proc in order of addresses. Every program gets the [vdso], which lies behind its
 * files. So a space that has the [vdso] was recorded from its beginning, or read to the end. False
 * for processes whose mappings nobody read.
 */
bool proc_space_is_whole(const struct proc_table *table, uint32_t space);

/*
 * The mapping of the program that runs in a space: the lowest one of code in a file, because the
 * kernel maps a program below its libraries. NULL: not known (a kernel thread, or nothing is mapped
 * among the lowest PROC_LOWEST).
 */
#define PROC_LOWEST 64u
const struct proc_mapping *proc_space_program(const struct proc_table *table, uint32_t space);

/* What a thread's last lookup found. One per thread, zero-initialised: consecutive lookups are
 * mostly alike. */
struct proc_hint {
	uint64_t generation; /* of the table: what was learned since is not missed */
	uint32_t pid, space;
	uint64_t from_ns, to_ns; /* space holds in [from_ns, to_ns] */
};

/* A user address of pid at a time. hint may be NULL. NULL: nothing (known) is mapped there. */
const struct proc_mapping *proc_find(const struct proc_table *table, struct proc_hint *hint,
                                     uint32_t pid, uint64_t time_ns, uint64_t addr);
/* A kernel address: BPF programs and other ksymbols of that time, then modules and the kernel. */
const struct proc_mapping *proc_find_kernel(const struct proc_table *table, uint64_t time_ns,
                                            uint64_t addr);
/* The kernel's own mapping (kind KERNEL), or NULL: its build-id says which kernel was recorded. */
const struct proc_mapping *proc_kernel(const struct proc_table *table);

/*
 * The name of a thread at a time; "swapper" for tid 0; a thread that was never named has its
 * process's name. NULL when nothing is known (perf prints ":TID"). Lives as long as the table; the
 * same pointer for the same name.
 */
const char *proc_comm(const struct proc_table *table, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* A span of time; both ends belong to it. */
struct proc_span {
	uint64_t from_ns, to_ns;
};

/* proc_comm and proc_space, which also narrow a span, in which time_ns lies, to where they say the
 * same. Not of a live table. */
const char *proc_comm_span(const struct proc_table *table, uint32_t pid, uint32_t tid,
                           uint64_t time_ns, struct proc_span *span);
uint32_t proc_space_span(const struct proc_table *table, uint32_t pid, uint64_t time_ns,
                         struct proc_span *span);

/*
 * A task's name with a memory, for callers who look up sample after sample. It seldom changes, so
 * what was found last, and the span in which it holds, mostly answers. One per thread,
 * zero-initialised. What is learned later is not missed.
 */
#define PROC_RECALL 64u
struct proc_recall {
	struct proc_recalled {
		uint64_t generation; /* of the table; 0: nothing yet */
		struct proc_span span;
		uint32_t pid, tid;
		const char *comm;
	} comms[PROC_RECALL]; /* by tid */
};
const char *proc_recall_comm(struct proc_recall *recall, const struct proc_table *table,
                             uint32_t pid, uint32_t tid, uint64_t time_ns);

/* All objects and mappings, by their dense ids. NULL past the end. */
size_t proc_objects(const struct proc_table *table);
const struct proc_object *proc_object_at(const struct proc_table *table, size_t id);
size_t proc_mappings(const struct proc_table *table);
const struct proc_mapping *proc_mapping_at(const struct proc_table *table, size_t id);
/* Which process (*pid, or PROC_KERNEL) made which mapping: number i, in order of time, of all that
 * were made. NULL past the end. Not what a child inherited. */
const struct proc_mapping *proc_made_at(const struct proc_table *table, size_t i, uint32_t *pid);

struct proc_counts {
	uint64_t mappings, comms, forks, ksymbols; /* records learned */
	uint64_t execs;
	uint64_t unsound; /* of zero or overflowing length */
	uint64_t bytes;   /* memory held */
};
void proc_count(const struct proc_table *table, struct proc_counts *ret);

#endif
