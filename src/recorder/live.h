/* SPDX-License-Identifier: MIT */
/*
 * live.h: records with stack copies in, records with callchains out, while recording.
 *
 * A stage between whoever reads the rings and whoever writes the file. Both are one thread, the
 * recorder's, which never waits for a walk: records are copied into a queue; a worker puts them
 * into order of time, follows the mappings, walks the copies and makes ordinary samples of them,
 * which the recorder fetches when it comes by:
 *
 *	live_write(l, bytes, n)    as a capture_write: what a ring held
 *	live_round(l)              every ring was read once
 *	live_collect(l, write, x)  what is ready
 *	live_finish(l, ms)         no more; then collect for the last time
 *
 * Invariants. A sample is walked in the address space that its process had at the sample's own
 * time: nothing is processed before every record of that time must have been read (two rounds, as
 * FINISHED_ROUND has it). What comes out is in order of time. Every record comes out, and every
 * sample that came in with a copy is counted in exactly one of the fields of live_counts.
 *
 * The queue is bounded. A sample that does not fit keeps its kernel part and the user ip, and is
 * counted. When the table of an object is being made, samples wait in the same queue.
 */
#ifndef SEAM_RECORDER_LIVE_H
#define SEAM_RECORDER_LIVE_H

#include <seam/record.h>

#include "tables/tables.h"
#include "samples/unwound.h"

struct live;

#define LIVE_QUEUE_BYTES (64u << 20)
#define LIVE_THREADS_MAX 64u
#define LIVE_NO_LIMIT UINT32_MAX /* of live_finish: all are walked */

struct live_opts {
	size_t sz;
	const struct seam_events *events; /* of the records that come in; must outlive it */
	uint32_t machine;                 /* enum frametab_machine */
	unsigned threads;                 /* that walk; 0: 1; at most LIVE_THREADS_MAX */
	size_t queue_bytes;               /* of copies that wait; 0: LIVE_QUEUE_BYTES */
	/* of the process table, before it is made anew without those that ended; 0: 4 MiB */
	size_t renew_bytes;
	struct tables_opts tables;
};

struct live_counts {
	uint64_t samples; /* that carried registers or a copy: the sum of the next lines */
	struct unwound_counts walks; /* .samples, with why each ended; .unusable: registers of a
	                              * mode that is not understood (32 bit): ip only */
	uint64_t kernel_only;        /* that have no user stack: kernel threads, io workers */
	uint64_t not_unwound; /* the queue was full, or the recording's end was due: user ip only */
	/* taken inside execve, where registers are the old program's: no user part */
	uint64_t in_exec;

	/* Of walks.samples: */
	/* of those that are truncated: the copy is short of what was asked for, as pages were not
	 * there, or execve had just given up the old stack */
	uint64_t unreadable;
	uint64_t too_long; /* too long for a record: user ip only */

	uint64_t unsound;       /* samples that could not be read at all: left out */
	uint64_t longest_copy;  /* bytes that were copied at most */
	uint64_t peak_bytes;    /* that waited at most */
	uint64_t process_bytes; /* of the process table at most */
	uint64_t renewals;      /* how often it was made anew */
	struct tables_counts tables;
};

/* -ENOMEM, -EAGAIN: no thread could be started. */
int live_new(struct live **ret, const struct live_opts *opts);
void live_free(struct live *live);

/* The events as they must stand in the file: without registers and copies, and with the user part
 * in their callchains. */
const struct seam_events *live_events(const struct live *live);

/* A capture_write: takes whole records; ctx is the struct live. 0, or the error with which the
 * worker ended. */
int live_write(void *live, const void *bytes, size_t n);
int live_round(struct live *live);
/*
 * Waits until what was written has been processed and the tables of all that is mapped are made, at
 * most timeout_ms: before sampling begins. 1: done; 0: the time was over, the rest is made when
 * needed.
 */
int live_prepare(struct live *live, unsigned timeout_ms);
/* Gives what is ready to write, in whole records, with FINISHED_ROUND where it may stand. 0, or
 * what write returned, or the error that the worker ended with. */
int live_collect(struct live *live, int (*write)(void *ctx, const void *bytes, size_t n),
                 void *ctx);
/*
 * No more comes: waits until all is processed. Samples that are not walked within timeout_ms keep
 * kernel part and user ip, and are counted, so that the rest takes no longer than to copy it.
 */
int live_finish(struct live *live, unsigned timeout_ms);

/* Sets a time of CLOCK_MONOTONIC. Samples that are not walked by then are counted as in
 * live_finish, so that the writer need not wait longer. */
void live_end_by(struct live *live, uint64_t end_ns);

/* Exact after live_finish. */
void live_count(struct live *live, struct live_counts *ret);
/* The places where walks ended for want of unwind information, most first; complete after
 * live_finish. Owned by live. */
const struct unwound_missing *live_missing(const struct live *live, size_t *n);

#endif
