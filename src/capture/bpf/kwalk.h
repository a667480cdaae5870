/* SPDX-License-Identifier: MIT */
/*
 * kwalk.h: user stacks by the BPF programs of this room: loaded, attached to a session's events,
 * fed with the unwind tables of what is mapped, and read back as perf records.
 *
 *	kwalk_probe(&probe);                        // is it possible here, and why not
 *	kwalk_open(&l, &opts, &err);                // programs loaded, mappings followed
 *	kwalk_target(l, pid) ...                    // whose samples are wanted
 *	kwalk_source(l, &session_opts.source);      // the session attaches and reads
 *	session_open ...                           // and all the rest as ever
 *	session_finish ...                          // what is still pending is read
 *	kwalk_close(l);
 *
 * Tables come from the caller: this room knows no ELF. A stack is never guessed where a table is
 * missing: it ends there and its end is counted. Nothing is pinned: when the recorder dies,
 * programs and maps go with its descriptors.
 *
 * Threads: one of its own follows exec, fork and mmap; all else is called from one thread.
 */
#ifndef SEAM_CAPTURE_BPF_KWALK_H
#define SEAM_CAPTURE_BPF_KWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <seam/record.h>

#include "capture/bpf/shared.h"
#include "capture/log.h"
#include "capture/session.h"
#include "runtimes/runtime_process.h"

struct kwalk;
struct peek;

/* What this kernel allows this user, found out by trying. */
struct kwalk_probe {
	bool usable;         /* at once, at least */
	bool defers;         /* the kernel has task work for BPF */
	bool reads_sleepers; /* tasks that sleep can be read at the end */
	char reason[200];    /* why not: of usable, else of defers; "" when all is there */
	char remedy[200];
};
void kwalk_probe(struct kwalk_probe *ret);

/* An executable mapping whose unwind table is asked for. */
struct kwalk_ask {
	pid_t pid;
	const char *path;      /* as the kernel says it: a path, "[vdso]", "//anon", "" ... */
	uint64_t pgoff;        /* bytes */
	uint64_t size;         /* of the mapping */
	uint8_t build_id_size; /* 0: not known; inode says which file then (0: none) */
	uint8_t build_id[20];
	uint64_t inode;
	bool gone;  /* the process has ended: /proc knows nothing of it any more */
	bool known; /* only what was found before: else say later, and it is asked again */
};

struct kwalk_table {
	/* A blob of docs/unwind-table.md, checked, 8-byte aligned; NULL: none. The same object
	 * always gives the same pointer; it stays valid until kwalk_close. */
	const void *blob;
	bool later;
	uint64_t vaddr; /* address for which the object's byte at pgoff was linked */
	bool may_guess; /* no object at all (JIT code): frame pointers are allowed */
	/* The unwind callback knows of code made at run time in the process that maps this. */
	bool tells;
	bool keeps_fp; /* likewise, as the object's code keeps frame pointers: 0 ends their chain */
	/* The object is an interpreter; NULL: it is not. Stays valid until kwalk_close. */
	const struct runtime_object *runtime;
	/* It says for whom threads work, or helps to find that; NULL: it does not. Likewise. */
	const struct context_process *context;
};

/* A process is about to run an interpreter of this kind: its programs are loaded now. */
void kwalk_runtime_want(struct kwalk *l, enum runtime_kind kind);

/* What a task must be besides being a target. Of several conditions of one kind one is enough. */
struct kwalk_filters {
	size_t n_uids, n_comms, n_cgroups;
	uint32_t uids[64]; /* real user ids */
	char comms[64][KWALK_COMM];
	struct kwalk_cgroup cgroups[KWALK_CGROUPS];
};

bool kwalk_filters_any(const struct kwalk_filters *f);
/* A cgroup by its directory, or its path below where cgroup2 is mounted. -ENODEV: it is not
 * mounted; -ENOENT ... */
int kwalk_cgroup(const char *path, struct kwalk_cgroup *ret);

struct kwalk_opts {
	size_t sz; /* sizeof(struct kwalk_opts) */
	enum kwalk_when when;
	enum kwalk_filter filter;
	bool no_inherit;
	struct kwalk_filters filters;
	pid_t held; /* a command that waits for its go: counts from its first exec on; 0: none */
	bool fp;    /* by frame pointers, without tables */
	bool no_kernel; /* no kernel frames */
	bool context;   /* for whom threads work (abi/context.h) */
	/* Frames of interpreters, in the place of their loops': bits by enum runtime_kind. */
	uint32_t runtimes;
	uint32_t runtimes_now; /* of them, those to be loaded before one is met */
	/* If not 0: besides the samples of the session's events, one of the event with the name
	 * kwalk_away_name is taken for each so many ns that a thread is off the CPU. */
	uint64_t away_ns;
	/* with away_ns; the first event's period is the time that the thread ran since its last
	 * sample */
	bool wall;
	uint32_t depth; /* frames walked at once; 0: 128 */
	/* most bytes of tables and mappings in the arena; 0: 1 GiB; at most 4 GiB */
	uint64_t memory;
	uint64_t pending; /* most bytes of stacks that wait to be walked; 0: 64 MiB */
	/* per CPU, rounded up to a power of two; 0: by the rate, 2 MiB to 256 MiB in all */
	size_t ring_bytes;
	/* between two samples of a CPU; 0: not known, or as short as can be. New mappings are made
	 * known in a small part of it. */
	uint64_t period_ns;
	/* most targets, processes and threads that owe; 0: as many as there may be, within reason
	 * */
	uint32_t tasks;
	/* Fills *ret (zeros: no table). Called from any thread, several at once. */
	void (*table)(void *ctx, const struct kwalk_ask *ask, struct kwalk_table *ret);
	/* Whether all is to be given up before sampling has begun; called often, from any thread.
	 * NULL: never. */
	bool (*stopped)(void);
	/* Called when a table was copied for the programs: its own bytes are not needed for a
	 * while, but may be needed later. May be NULL. */
	void (*rests)(void *ctx, const void *blob);
	void *ctx;
	const struct log *log;
	/*
	 * Walks a stack from its registers and a copy of it, by kwalk_find: for samples that met a
	 * mapping which the programs did not know yet. Returns the number of frames (at most
	 * KWALK_FRAMES_MAX; 0: none) and why they end. NULL: such stacks end there. user: what the
	 * programs found themselves. sps[i]: the stack pointer in frame i, of one more than there
	 * are; zeros if that is not known.
	 */
	size_t (*unwind)(void *ctx, const struct kwalk_sample *sample, const uint64_t *user,
	                 const struct kwalk_raw *raw, uint64_t *frames, uint64_t *sps,
	                 enum kwalk_end *end);
	/* Reads memory and mappings of processes, which may wait; NULL: that is done here. */
	struct peek *peek;
	bool raw; /* tests: unwind is called for every sample that has a user part */
	/* For tests: called for every deferred record that counts, whether it becomes a record or
	 * not. May be NULL. */
	void (*answered)(void *ctx, const struct kwalk_user_chain *user_chain,
	                 const uint64_t *frames);
};

struct kwalk_totals {
	size_t sz;
	struct kwalk_counts counts;    /* the programs' own, over all CPUs */
	uint64_t samples, user_chains; /* given to the sink */
	/* answers of sleeping tasks that were not needed: they answered themselves */
	uint64_t late;
	uint64_t unwound;    /* samples that were walked by opts.unwind */
	uint64_t unanswered; /* cookies without a deferred record, after session_finish */
	/* samples and deferred records that waited in the rings when the time was over */
	uint64_t cut;
	uint64_t processes, mappings, tables;
	uint64_t table_bytes;     /* in the arena */
	uint64_t tables_left;     /* times that a table left it for another */
	uint64_t tables_returned; /* times that one came in which had found no room */
	bool pressed;             /* not all tables had room */
	uint64_t arrays_left_out; /* processes whose mappings found no room */
	uint64_t left_alone;      /* times that a process's mappings cost too much to be followed */
	/* times that records of mappings were lost, and /proc was read again */
	uint64_t follow_lost;
	uint32_t runtimes_met;      /* bits by enum runtime_kind: processes of these were seen */
	uint64_t runtime_functions; /* of interpreters that were met */
	uint64_t context_unnamed;   /* attributes whose keys have no names yet: left out */
	uint64_t runtime_unnamed;   /* frames of code that was not told of in time: left out */
	uint64_t away_misses;       /* switches that it skipped */
	bool counts_skipped;        /* counts.skipped is known: the kernel can be asked */
	/* Processes whose mappings were too many in all to be read before they are sampled. */
	uint64_t waiting;
};

/* -EPERM, -EOPNOTSUPP ...: err says what is missing. */
int kwalk_open(struct kwalk **ret, const struct kwalk_opts *opts, struct seam_error *err);
void kwalk_close(struct kwalk *l);

/* Adds a process (or thread, by opts.filter) whose samples are wanted; its mappings are read from
 * /proc. -ESRCH: there is none. */
int kwalk_target(struct kwalk *l, pid_t pid);
/*
 * Adds every process there is; for KWALK_EVERYTHING. Several threads read, and each calls
 * opts.table. Processes that end meanwhile or may not be read are left out. said, if not NULL, is
 * called in this thread at most every 100 ms with the number that is done.
 */
int kwalk_target_all(struct kwalk *l, void (*said)(void *ctx, size_t done, size_t of), void *ctx);
/* Puts an object's table into memory before a process maps it. */
void kwalk_prepare(struct kwalk *l, const void *blob);
/* Whether the last target has exited, even if its parent has not waited for it yet. Never for
 * KWALK_EVERYTHING. */
bool kwalk_targets_gone(struct kwalk *l);
/* Whether records about a process belong into the recording: it is or was a target, and one of its
 * tasks was what opts.filters asks for. */
bool kwalk_is_followed(struct kwalk *l, uint32_t pid);

/* The functions that the session calls; their ctx is l. */
void kwalk_source(struct kwalk *l, struct session_source *ret);

/* Finds what was mapped at an address of a process at a time, if it still is: 0; -ENOENT: nothing
 * is known. ret->vaddr is that of the address itself. */
int kwalk_find(struct kwalk *l, uint32_t pid, uint64_t time_ns, uint64_t pc,
               struct kwalk_table *ret);

/* Whether what takes long is to be given up: the time to end is over, or opts.stopped says so
 * before sampling has begun. From any thread. */
bool kwalk_gives_up(const struct kwalk *l);

int kwalk_total(struct kwalk *l, struct kwalk_totals *ret);

/* The name of the event for time off the CPU: "offcpu-time" ... NULL: it has none of its own. */
const char *kwalk_away_name(enum kwalk_away why);

/* "complete", "fault" ...: names that stay the same. */
const char *kwalk_end_name(enum kwalk_end end);

#endif
