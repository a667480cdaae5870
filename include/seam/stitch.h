/* SPDX-License-Identifier: MIT */
/*
 * seam/stitch.h: which user part of a stack belongs to which kernel part, and why one is missing.
 *
 * A sample whose callchain ends in SEAM_CONTEXT_USER_DEFERRED and a cookie has its user part in a
 * CALLCHAIN_DEFERRED record with the same cookie. It usually comes later, sometimes earlier, may
 * serve several samples, and may be missing. Every sample gets exactly one state.
 *
 * Two ways to use it, over the same rules:
 *
 * 1. A stream: feed records in time order, take samples out in time order.
 *
 *	struct seam_stitched out = { .sz = sizeof(out) };
 *
 *	seam_stitch_new(&st, &opts);
 *	while (next record)                           // decoded by seam_record_decode
 *		seam_stitch_feed(st, &decoded, &err);
 *		while (seam_stitch_next(st, &out) > 0) ...
 *	seam_stitch_finish(st);                       // nothing more will come
 *	while (seam_stitch_next(st, &out) > 0) ...
 *
 *    Samples wait for their user part, and later samples wait behind them, up to opts.max_bytes;
 *    then the oldest are let go as SEAM_STITCH_GAVE_UP (a stream only).
 *
 * 2. A file that can be read twice: `seam_stitch_learn` every record (any order),
 *    `seam_stitch_seal`, then `seam_stitch_resolve` each sample, in any order and from several
 *    threads: no waiting, no queue.
 *
 * One stitcher is used in one of the two ways: the other's functions then return -EINVAL.
 * The rules, as a table: src/stitch/README.md. Times are compared, never positions in the file;
 * records without a time are ordered by seam_record.index instead.
 */
#ifndef SEAM_STITCH_H
#define SEAM_STITCH_H

#include <seam/error.h>
#include <seam/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a sample's user stack. */
enum seam_stitch_state {
	SEAM_STITCH_IMMEDIATE,        /* taken at the sample; nothing was deferred */
	SEAM_STITCH_STITCHED,         /* answered by a record after the sample */
	SEAM_STITCH_STITCHED_EARLIER, /* answered by a record from before the sample */
	SEAM_STITCH_STACK_COPY, /* the sample carries registers and a copy of the user stack instead
	                           (perf record --call-graph dwarf): user is empty until somebody
	                           unwinds it */
	SEAM_STITCH_KERNEL_ONLY,  /* no user part exists: kernel thread, io worker, excluded */
	SEAM_STITCH_CROSSED_EXEC, /* answered, but exec replaced the program between the sample and
	                             the deferred record: the stack is another program's, and not
	                             given */
	SEAM_STITCH_EXITED,       /* the task died before it returned to user space */
	/* the deferred record was lost: the task was seen past this kernel entry, or the kernel
	 * counted a loss later than the sample */
	SEAM_STITCH_RECORD_LOST,
	SEAM_STITCH_STILL_IN_KERNEL, /* the recording ended before the task returned */
	SEAM_STITCH_NO_OUTPUT_EVENT, /* no event of the recording asked for the deferred records
	                                (defer_output), or none that the kernel gives them to */
	SEAM_STITCH_NO_COOKIE, /* the chain ends in the marker, its cookie was cut off (the sysctl
	                          perf_event_max_contexts_per_stack is below 3): nothing can be
	                          matched, so nothing is claimed */
	SEAM_STITCH_NO_CALLCHAIN, /* the event has no callchain at all */
	SEAM_STITCH_GAVE_UP, /* a stream only: the limit of memory was reached while it waited */
	SEAM_STITCH_STATES,
};

/* The name of a state, as "stitched_earlier": for JSON and fields; it never changes. "unknown" for
 * no state. */
SEAM_API const char *seam_stitch_state_name(enum seam_stitch_state state);
/* The same for people, as "stitched from an earlier record". */
SEAM_API const char *seam_stitch_state_text(enum seam_stitch_state state);

/* States are added at the end of the enum: there is room for so many before the layout of the
 * counts would change. */
#define SEAM_STITCH_STATES_ROOM 32

struct seam_stitch_counts {
	size_t sz;        /* set by the caller: sizeof(struct seam_stitch_counts) */
	uint64_t samples; /* the sum of state[] */
	uint64_t state[SEAM_STITCH_STATES_ROOM]; /* by enum seam_stitch_state */
	uint64_t deferred_samples;               /* whose chain held a marker */
	uint64_t deferred_records;               /* CALLCHAIN_DEFERRED, duplicates not counted */
	uint64_t unclaimed_records; /* whose cookie no sample carries: other recordings', or their
	                               samples were lost */
	uint64_t duplicate_records; /* answers seen again: byte-identical, or the same cookie and
	                               task from a second defer_output event */
	/* samples that a recorder wrote again: not counted in samples, not delivered. Where that
	 * cannot be shown, equal samples are many */
	uint64_t duplicate_samples;
	uint64_t tid_mismatches; /* samples whose cookie was answered only by another task, or by
	                               a later owner of the tid: not merged */
	uint64_t empty_answers;  /* nr == 0: stitched, with no user frame */
	uint64_t lost;           /* records of any type that the kernel says it lost (LOST) */
	uint64_t peak_bytes;     /* memory held at most */
	uint64_t lost_samples; /* LOST_SAMPLES: per event, and partly the same losses as `lost`: do
	                          not add the two. What a BPF filter dropped is not in it */
};

struct seam_stitch;

struct seam_stitch_opts {
	size_t sz; /* sizeof(struct seam_stitch_opts) */
	/* of waiting samples and kept deferred records, stream only; 0: 256 MiB. Beside it stand at
	 * most one record and the tables that find them */
	size_t max_bytes;
};

/* A sample with what became of it. Borrowed: lives until the next call on the same stitcher
 * (stream) or as long as the records (resolve). */
struct seam_stitched {
	size_t sz; /* set by the caller: sizeof(struct seam_stitched) */
	struct seam_sample
	        sample;  /* as recorded: callchain still holds the marker and the cookie */
	uint64_t offset; /* of the sample's record in the file */
	uint16_t misc;   /* of the sample's record */
	enum seam_stitch_state state;
	uint64_t cookie;         /* 0 when not deferred */
	struct seam_u64s kernel; /* the chain up to (not including) SEAM_CONTEXT_USER or the marker;
	                            markers of kernel, hv, guest kept. A chain that names modes
	                            again and again: all up to its last user addresses, with all
	                            markers */
	struct seam_u64s user;   /* user addresses, innermost first, from the sample or from the
	                            answer; no markers, never a cookie */
	uint64_t deferred_time_ns; /* of the deferred record, 0 if none */
	uint16_t deferred_misc;    /* the same */
};

/* A new stitcher, of which nothing is known yet. opts may be NULL: the defaults. -EINVAL: opts->sz
 * is not set. -E2BIG: an option is set that this version does not know. -ENOMEM. */
SEAM_API int seam_stitch_new(struct seam_stitch **ret, const struct seam_stitch_opts *opts);
/* Frees it and all that it lent; NULL is fine. */
SEAM_API void seam_stitch_free(struct seam_stitch *stitch);
/*
 * What was counted so far; exact after finish (stream) or seal (file). A file: the fields that are
 * known from all records (deferred_records, unclaimed_records, duplicate_records, lost,
 * lost_samples, peak_bytes); what is known per sample is in the counts given to resolve. Their sum,
 * by seam_stitch_counts_add, is the whole truth. -EINVAL: ret->sz is not set.
 */
SEAM_API int seam_stitch_counts(const struct seam_stitch *stitch, struct seam_stitch_counts *ret);
/* Adds counts to others: every field of from to that of to, of peak_bytes the larger one, of those
 * that both sizes hold. -EINVAL: a size is not set; nothing is added. */
SEAM_API int seam_stitch_counts_add(struct seam_stitch_counts *to,
                                    const struct seam_stitch_counts *from);

/* Tells which events there are, so that "no output event" can be told; without it that is never
 * said. Call again when a stream brings more. events is only read during the call, but samples
 * point to their events: these must live as long as what is delivered. -EINVAL: sealed. */
SEAM_API int seam_stitch_events(struct seam_stitch *stitch, const struct seam_events *events);

/* -- stream -- */
/*
 * Takes the next record in time order, and of equal times in the order in which they happened, as
 * far as it is known. Records are copied as needed. Records other than samples, deferred records,
 * COMM, FORK, EXIT, LOST and LOST_SAMPLES are ignored. -EAGAIN: the limit is reached and samples
 * are ready: nothing was taken, call seam_stitch_next until it returns 0 first. -EINVAL: the
 * stitcher is used for a file, or is finished, or a part of the sample lies outside its record, or
 * record->sz is not set. -ENOMEM.
 */
SEAM_API int seam_stitch_feed(struct seam_stitch *stitch, const struct seam_decoded *record,
                              struct seam_error *err);
/* The next sample in the order fed: 1 and *ret, or 0: feed more (or, after finish, all is out).
 * -EINVAL: the stitcher is used for a file, or ret->sz is not set. -ENOMEM. */
SEAM_API int seam_stitch_next(struct seam_stitch *stitch, struct seam_stitched *ret);
/* Says that nothing more will come: samples that wait get their state. Take them by
 * seam_stitch_next. -EINVAL: the stitcher is used for a file. */
SEAM_API int seam_stitch_finish(struct seam_stitch *stitch);

/* -- file -- */
/* Learns deferred records, execs, exits and losses, and where samples of each task are; bytes of
 * records that are not `stable` are copied. Every record must have its own seam_record.index (below
 * 2^32), the same again in resolve. -EOVERFLOW: more records than that. -EINVAL: the stitcher is
 * used for a stream, or is sealed, or record->sz is not set. -ENOMEM. */
SEAM_API int seam_stitch_learn(struct seam_stitch *stitch, const struct seam_decoded *record,
                               struct seam_error *err);
/* No more to learn. -ENOMEM: the stitcher can only be freed. -EINVAL: used for a stream. */
SEAM_API int seam_stitch_seal(struct seam_stitch *stitch);
/*
 * The sample with its user part: 1; or 0 when it is one before, written again by the recorder,
 * which must not be counted. After seal it changes nothing but the counts given (the caller's own,
 * one per thread; NULL: none), so threads may share the stitcher. -EINVAL: not sealed, not a
 * sample, or the sz of one of the three structs is not set; nothing is written then.
 */
SEAM_API int seam_stitch_resolve(const struct seam_stitch *stitch,
                                 const struct seam_decoded *record,
                                 struct seam_stitch_counts *counts, struct seam_stitched *ret);

#ifdef __cplusplus
}
#endif
#endif
