/* SPDX-License-Identifier: MIT */
/*
 * recorder.h: a recording in progress. Joins the rings of the kernel, the BPF programs that walk
 * user stacks, the unwind tables of what is mapped and the stage that unwinds stack copies; gives
 * records to a sink.
 *
 *	recorder_new(&r, &opts, &err)       a command is forked and held back; nothing is open yet
 *	... who catches signals does so here: the command keeps its own ...
 *	recorder_open(r, &err)              rings are mapped, the way to user stacks is chosen
 *	... the head of a file, from recorder_events(r) ...
 *	recorder_begin(r, &sink, &err)      what runs already goes to the sink; tables are made
 *	recorder_start(r, &err)             samples come from here on
 *	recorder_run_command(r, &err)
 *	while (!recorder_ended(r)) {
 *		recorder_wait(r, 100);
 *		recorder_read(r);           one round: every ring, to the sink
 *	}
 *	recorder_stop(r)                    what is still owed, and the rest, to the sink
 *	recorder_free(r)
 *
 * What goes wrong is returned as -errno, with a sentence in err where there is one to say (the
 * sink's own errors are known to the sink: then err stays empty). Notices for people are lines of
 * opts.session.log, progress is opts.progress. The recorder prints nothing, catches no signal and
 * ends no program.
 *
 * One thread at a time; recorder_wake may be called from a signal handler.
 */
#ifndef SEAM_RECORDER_RECORDER_H
#define SEAM_RECORDER_RECORDER_H

#include <seam/record.h>

#include "capture/synth.h"
#include "recorder/bpf_stacks.h"
#include "recorder/live.h"
#include "recorder/opts.h"

struct recorder;

/* Where records go: whole ones, as recorder_events describes them. */
struct recorder_sink {
	capture_write write;
	int (*flush)(void *ctx); /* a round is over: 0, or -errno; NULL: nothing is to be done */
	void *ctx;
};

/* Copies opts; what its pointers name stays the caller's. A command is forked now, with the signal
 * mask and the limits as they are. */
int recorder_new(struct recorder **ret, const struct recorder_opts *opts, struct seam_error *err);
/* Frees everything. A command that was never let go ends without running anything; one that runs
 * goes on. */
void recorder_free(struct recorder *r);

/* Raises the limit of open files to what this process may have. -EINTR: session.stopped said so. */
int recorder_open(struct recorder *r, struct seam_error *err);
/* The events as the sink gets them, the user's first; they live as long as the recorder. */
const struct seam_events *recorder_events(const struct recorder *r);

/* The records that stand before all others, then side-band on, then what runs already. */
int recorder_begin(struct recorder *r, const struct recorder_sink *sink, struct seam_error *err);
/* What recorder_begin found to run already, and how long that took. */
const struct synth_counts *recorder_found(const struct recorder *r, uint64_t *ns);
/* Gives what runs now once more, for a sink that forgot what it knew of it. */
int recorder_synthesize(struct recorder *r);

/* Samples are taken from here on; with opts.delayed only from recorder_resume on. */
int recorder_start(struct recorder *r, struct seam_error *err);
int recorder_resume(struct recorder *r, struct seam_error *err);
/* Nothing without a command. -ENOENT, -EACCES ...: of its exec. */
int recorder_run_command(struct recorder *r, struct seam_error *err);
/* The command; its pid is 0 when there is none. */
struct target *recorder_command(struct recorder *r);

/* Waits until a ring must be read, a signal came, or the time is over. */
void recorder_wait(struct recorder *r, int ms);
/* Within how many ms reading is worth more than later (session_within_ms); INT_MAX: at leisure. */
int recorder_within_ms(const struct recorder *r);
/* Makes recorder_wait return. Async-signal-safe. */
void recorder_wake(struct recorder *r);
/* Whether the command has ended or, if there is none, all that is recorded. */
bool recorder_ended(struct recorder *r);
/* Reads every ring once. */
int recorder_read(struct recorder *r);
/* Says that the recording ends now, wherever it is: its priority is raised, and what it reads is
 * read until the time that recorder_until_ns tells. Async-signal-safe. */
void recorder_ends(struct recorder *r);
/* The same when a signal says that a child has ended, if that is the command. Signal-safe, too. */
void recorder_child_ended(struct recorder *r);
/* The same in ms from now at the latest. */
void recorder_ends_in(struct recorder *r, uint64_t ms);
/* Until when the end of the recording may take, which has begun with recorder_ends, or else now. */
uint64_t recorder_until_ns(struct recorder *r);
/* Sampling ends; deferred stacks that are owed are waited for (opts.grace_ms), the rest is read,
 * until end_ns (recorder_until_ns): what waits then is counted and left out. */
int recorder_stop(struct recorder *r, uint64_t end_ns);
/* Sampling ends, and nothing more is read: for a sink that takes nothing any more. */
void recorder_halt(struct recorder *r);

/* What was asked for, with what became of it: the clock and the targets. */
const struct recorder_opts *recorder_options(const struct recorder *r);
/* Its parts, for their counts and modes; NULL where there is none. */
struct session *recorder_session(const struct recorder *r);
struct live *recorder_live(const struct recorder *r);
/* What is kept for stacks while it runs. Zeros where BPF is not used. */
struct recorder_kept {
	uint64_t processes;   /* whose mappings are followed */
	uint64_t table_bytes; /* in the programs' memory, and in this process's own */
	uint64_t objects;     /* that were looked at; none is forgotten before the end */
	uint64_t file_bytes;  /* of their tables, in files */
};
struct recorder_kept recorder_kept(const struct recorder *r);
/* Tables in files are in memory only when they are looked at again. Any thread, until
 * recorder_free. */
void recorder_rest(const struct recorder *r);
const struct bpf_stacks *recorder_bpf(const struct recorder *r); /* never NULL */

#endif
