/* SPDX-License-Identifier: MIT */
/*
 * recording.h: the first pass over a perf.data: all that must be known before one sample can be
 * resolved.
 *
 * Side-band records go into proc's table, answers, execs, exits and losses into the stitcher; both
 * are sealed, so that the second pass may go over the samples in any order and from any thread.
 * Sample bytes are not copied: where the reader's records are stable, their places are kept as runs
 * (one entry per MiB); else the second pass reads the file again.
 */
#ifndef SEAM_SAMPLES_RECORDING_H
#define SEAM_SAMPLES_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/reader.h>
#include <seam/stitch.h>

#include "abi/runtime_end.h"
#include "abi/stack_end.h"
#include "base/map.h"
#include "samples/contexts.h"
#include "samples/file_identity.h"
#include "samples/kernel_code.h"
#include "proc/proc.h"

/* Called now and then with the work that is done and the whole work, in bytes; a total of 0 means
 * that it is not known. */
struct progress {
	void (*report)(void *ctx, const char *step, uint64_t done, uint64_t total);
	/* Asked now and then, from any thread; true: nobody waits for the work any more, which
	 * fails with -ECANCELED then. NULL: somebody does. */
	bool (*stopped)(void *ctx);
	void *ctx;
};

static inline bool progress_stopped(const struct progress *p)
{
	return p->stopped && p->stopped(p->ctx);
}

/* Records of the kernel that lie one behind the other in memory until the reader is closed. */
struct recording_run {
	const unsigned char *bytes;
	size_t n;
	uint64_t offset;      /* of the first record in the file */
	bool one_offset;      /* all have that offset: they were inside one compressed record */
	uint64_t first_index; /* struct seam_record::index of the first */
	uint32_t records;
	bool swap;
};

/* Counts by record type; types from 128 on (other vendors') are counted in other. */
#define RECORDING_TYPES 128

struct recording_counts {
	uint64_t records;
	uint64_t type[RECORDING_TYPES];
	uint64_t other;
	uint64_t event_samples[64]; /* samples by event index; the last holds all from there on */
	uint64_t group_samples;   /* that read their group: each counts for the members that grew */
	uint64_t lost;            /* as LOST records say */
	uint64_t lost_samples;    /* as LOST_SAMPLES records say */
	uint64_t lost_beside;     /* of those, SEAM_MISC_LOST_BESIDE */
	uint64_t skipped_samples; /* of those, skipped by the kernel: SEAM_MISC_LOST_SKIPPED */
	uint64_t lost_tasks;      /* that were not followed: SEAM_MISC_LOST_TASKS */
	uint64_t undecoded;       /* records of known types that could not be decoded */
	uint64_t undecoded_samples; /* of those, samples */
	uint64_t unknown;           /* records of unknown types */
	/* samples with registers of an ABI that is not known: the rest was not decoded */
	uint64_t unknown_regs;
	uint64_t ends
	        [STACK_ENDS]; /* stacks that were walked while recording, but for those deferred */
	uint64_t guessed;     /* of them, with frames found by frame pointer */
	uint64_t runtime_ends[RUNTIME_ENDS]; /* of them, what became of an interpreter's frames */
};

struct recording {
	struct seam_reader *reader;       /* borrowed */
	const struct seam_events *events; /* the reader's */
	struct proc_table *procs;
	struct seam_stitch *stitch;
	struct recording_run *runs;
	size_t n_runs;
	bool in_order;  /* of a stream: see recording_stream */
	bool stable;    /* every record of the kernel is in a run */
	bool no_spaces; /* tasks and mappings were not asked for: procs has none */
	bool large;     /* only a window of its file is held (perfdata/window.h) */
	bool jit_timed; /* code of jitdumps that was replaced has mappings (jit.h) */
	bool foreign; /* not recorded on this machine with this kernel, as far as the header says */
	uint64_t *kernel_changes; /* times at which kernel code came or went, ascending */
	size_t n_kernel_changes;
	struct kernel_code kernel_code;     /* where they were */
	struct file_identity file_identity; /* what is said of files without a build-id */
	struct image_identity identity;     /* answers from it, as long as the recording lives */
	struct map began;           /* pid -> when it first began a program, of those recorded */
	struct contexts contexts;   /* for whom threads worked */
	uint64_t first_ns, last_ns; /* of the samples */
	struct recording_counts counts;
	struct sample_index *index;    /* NULL: a stream's */
	struct kernel_trap *trap;      /* of samples with stack copies (unwound_tables), or NULL */
	struct kernel_reader *running; /* names that are on their way, or NULL */
	struct seam_error first_error; /* of the records that could not be decoded; code 0: none */
};

struct symbol_opts;

struct recording_opts {
	size_t sz;
	struct progress progress;
	/* Where jitdumps are, as for names. NULL: code that was replaced is not told apart by
	 * time. */
	const struct symbol_opts *symbols;
	/* names will be asked for: the running kernel's begin to be read, if it is what was
	 * recorded */
	bool names;
	/* of callchains, only the address at which each begins will be asked for: of stacks that
	 * lie in the file no more is kept */
	bool innermost;
	/* each distinct part of a callchain will be looked at once, in about the order of the file,
	 * or not at all */
	bool once;
	/* of callchains, nothing will be asked for but what became of them */
	bool no_stacks;
	/* reads no more than about so many bytes of the file, as if it ended there; 0: all */
	uint64_t first_bytes;
	/* of samples, nothing will be asked for but how many are in which state, of all of them
	 * (sample_tally.h); nor what is mapped, where no stack is walked */
	bool states;
	unsigned threads; /* 1: no other thread may work; 0: as many as there are CPUs */
	/* the bytes of no record will be asked for, as far as its events have neither copies of
	 * stacks, branches nor groups */
	bool no_bytes;
};

/*
 * Reads all records once. reader must be at its start, must outlive the recording, and must be able
 * to rewind (cli/input reads streams into memory first). Damage is no error: see
 * seam_reader_damaged and counts.undecoded.
 */
int recording_open(struct recording **ret, struct seam_reader *reader,
                   const struct recording_opts *opts, struct seam_error *err);
void recording_close(struct recording *rec);

/* Makes a recording of which nothing is known yet, for stream_items.h. Its records are learned in
 * order of time, and what was learned holds at once. -ENOMEM. */
int recording_stream(struct recording **ret, struct seam_reader *reader);
/* Says that n more bytes of records were looked at a second time, in one thread, which counts them
 * in *sum: of a large file, what was looked at is given back now and then. */
void recording_looked_at(const struct recording *rec, size_t *sum, size_t n);
/* The same of words, wherever they lie: of those in the file the kernel maps what is around them,
 * too, and that is what counts. Zeroed to start. */
struct recording_looked {
	size_t sum;
	uintptr_t last; /* where that was, in units of what it maps */
};
void recording_looked_around(const struct recording *rec, struct recording_looked *looked,
                             const struct seam_u64s *words);
/* Whether anything says that the recorded kernel is the one that runs here: its release, or where
 * its modules' files are. (A build-id would say more.) Decided by what is known so far. */
bool recording_says_kernel(const struct recording *rec);
/* Sets whether the recording is foreign (of another machine), by the features that are known so
 * far. */
void recording_know_machine(struct recording *rec);

/* Tells who owned a process, as symbol_opts.owner; false: the recording does not say. rec: a
 * recording. */
bool recording_owner(const void *rec, uint32_t pid, uint32_t *ret);
/* What must be added to the recording's times to get ns since the epoch; 0: the recording does not
 * say. */
uint64_t recording_epoch(const struct recording *rec);
/* When a process began its program, in ns since the epoch, as symbol_opts.began: 0 where the
 * recording does not say. rec: a struct recording. */
uint64_t recording_began(const void *rec, uint32_t pid);

/* True when samples or side-band records were skipped: an answer from it is partial. */
bool recording_damaged(const struct recording *rec);
/* How many samples the recorder wrote again: they are left out. */
uint64_t recording_copies(const struct recording *rec);

/* Calls each with every record of the kernel (types below 64), in the order of the file, from one
 * thread. Stops when it returns negative, and returns that. */
int recording_each(struct recording *rec, int (*each)(void *ctx, const struct seam_record *record),
                   void *ctx, struct seam_error *err);

/*
 * Tells in which address spaces the two parts of a sample must be looked up; they are keys for
 * caches. The user part was walked when the task returned to user mode, so its mappings are those
 * of the deferred record's time. time_ns is proc_time of the sample's record. kernel_space has
 * RECORDING_KERNEL set and counts the changes of kernel code before the sample.
 */
#define RECORDING_KERNEL 0x80000000u
void recording_spaces(const struct recording *rec, const struct seam_stitched *sample,
                      uint64_t time_ns, uint32_t *user_space, uint32_t *kernel_space);
/* Gives kernel_space alone, and narrows the span around time_ns to the part where it is the
 * same. */
uint32_t recording_kernel_span(const struct recording *rec, uint64_t time_ns,
                               struct proc_span *span);

#endif
