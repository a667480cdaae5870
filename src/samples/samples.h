/* SPDX-License-Identifier: MIT */
/*
 * samples.h: the samples of a recording, one after the other: the only way in which they are read,
 * whatever is made of them.
 *
 * The first pass leaves an entry of every sample (sample_index.h). A sample is made of its entry;
 * what that does not hold is decoded from the sample's record, for the samples that need it only,
 * and only where it was asked for (samples_opts.needs). A filter looks at entries.
 *
 * What comes out depends neither on threads nor on batches. Samples that a recorder wrote again are
 * left out.
 */
#ifndef SEAM_SAMPLES_SAMPLES_H
#define SEAM_SAMPLES_SAMPLES_H

#include "base/buf.h"
#include "proc/proc.h"
#include "samples/callchain.h"
#include "samples/recording.h"
#include "samples/unwound.h"

#define SAMPLES_THREADS_MAX 16u

/* Which samples are wanted. Zero-initialised: all. */
struct samples_filter {
	/* Decides by whose sample it is; NULL: all are taken. It is asked once for all samples of a
	 * thread on a CPU, as long as the thread has one name (NULL: not known). Of id it may look
	 * at has, pid, tid and cpu only. Called from any thread. */
	bool (*takes)(void *ctx, const struct seam_event *event, const struct seam_id *id,
	              const char *comm);
	void *ctx;
	const char *labels;            /* of contexts_match; NULL: any, or none */
	const struct proc_span *times; /* a sample is in one of them; n_times 0: at any time */
	size_t n_times;
};

enum samples_order {
	SAMPLES_BY_FILE, /* as they stand in the file */
	SAMPLES_BY_TIME, /* equal times as they stand in the file */
};

/* What is needed beside what the index holds. */
enum {
	SAMPLES_CALLS = 1u << 0, /* user parts that are in branch records (called.h) */
	SAMPLES_COPIES =
	        1u << 1, /* those that are walked in copies of stacks; else they are empty */
	SAMPLES_RECORD = 1u << 2,  /* sample.decoded and sample.cookie */
	SAMPLES_MEMBERS = 1u << 3, /* a sample that reads its group once for each member */
};

/* The records beside samples that are wanted; in order of time only. */
enum {
	SAMPLES_BESIDE_MMAPS = 1u << 0,    /* MMAP, MMAP2 */
	SAMPLES_BESIDE_TASKS = 1u << 1,    /* COMM, FORK, EXIT */
	SAMPLES_BESIDE_LOSSES = 1u << 2,   /* LOST, LOST_SAMPLES */
	SAMPLES_BESIDE_DEFERRED = 1u << 3, /* CALLCHAIN_DEFERRED */
	SAMPLES_BESIDE_ALL = 1u << 4,      /* every record of the kernel but CALLCHAIN_DEFERRED */
};

struct samples_opts {
	size_t sz;
	struct samples_filter filter; /* of samples, not of the records beside them */
	enum samples_order order;
	unsigned needs, beside;
	unsigned threads; /* 0: as many as the work is worth, at most SAMPLES_THREADS_MAX */
	/* Unwind tables, NULL: defaults. Where kept is not NULL they are left there, the caller's
	 * to free: unwound_missing's reasons are theirs. */
	const struct tables_opts *tables;
	struct tables **kept;
	struct progress progress; /* of SAMPLES_BY_TIME */
};

/* A sample, whole as it is but for what was not asked for. Valid during the call. */
struct sample {
	const struct seam_event *event; /* a member's, where it reads its group */
	struct seam_id id;              /* has says TID, TIME and CPU; those */
	uint64_t index;                 /* of its record */
	uint64_t period, proc_ns;
	uint64_t deferred_time_ns;
	uint16_t misc, deferred_misc;
	enum seam_stitch_state state;
	/* As recording_spaces gives them; but of a recording, the kernel's is RECORDING_KERNEL
	 * where its stack means the same at any time (kernel_code.h). */
	uint32_t user_space, kernel_space;
	const char *comm;        /* NULL: not known */
	uint32_t context;        /* for whom it worked, in contexts; 0: for nobody who is named */
	const struct walk *walk; /* of its copy of the stack; NULL: it was not walked */
	bool again;              /* of a group, and another member came of the same record */
	bool lasting;            /* the words of both its parts last as long as the recording */
	/* In a recording: samples of one thread with equal who and equal moment have the same ids,
	 * flags of misc, name and address space, and the same event, but for members. who is at
	 * most samples_whos. In a stream both are 0. */
	uint32_t who, moment;
	/* SAMPLES_RECORD, and of a stream; else NULL. */
	const struct seam_decoded *decoded;
	uint64_t cookie; /* the same; 0: it was not deferred */
	/* Below: for sample_callchain and stacks. Numbers of words, 0: the words themselves. */
	const struct stacks_base *base;
	uint32_t kernel_number, user_number;
	struct seam_u64s kernel, user;
	bool apart; /* it may have hit elsewhere than where its callchain begins */
	uint64_t ip;
};

struct sample_counts {
	struct seam_stitch_counts stitch; /* of all samples, also those that a filter left out */
	uint64_t taken, not_taken;
	uint64_t first_ns, last_ns; /* of those taken; last_ns 0: none has a time */
};

struct samples_consumer {
	/* Called in the thread of samples_each before a thread begins: gives the thread's ctx.
	 * NULL: all use ctx. */
	int (*start)(void *ctx, void **ret_thread);
	/* Called in the threads; what is put into out is written in order of time. 0 or -errno;
	 * anything but 0 ends the reading. beside may be NULL if nothing beside samples was asked
	 * for. */
	int (*sample)(void *thread, const struct sample *sample, struct buf *out);
	int (*beside)(void *thread, const struct seam_decoded *decoded, struct buf *out);
	/* SAMPLES_BY_TIME, from the thread that called samples_each. NULL: there is one thread, and
	 * out is NULL. */
	int (*write)(void *ctx, const struct buf *out);
	/* Called in the thread of samples_each when a thread has seen its samples, with what was
	 * counted. unwound: NULL if nothing was walked. Both live during the call. NULL: nobody
	 * wants to know. */
	int (*end)(void *thread, const struct sample_counts *counts, const struct unwound *unwound);
	void *ctx;
};

/*
 * Gives the samples of a recording to its consumer: 0, or what that returned.
 *
 * By file they are dealt out to threads where records are decoded and one, in the calling thread,
 * is not enough; by time jobs of them are worked in threads and written in order. The shares of a
 * group's members grow from sample to sample: one thread.
 */
int samples_each(struct recording *rec, const struct samples_opts *opts,
                 const struct samples_consumer *consumer, struct seam_error *err);

/* How many distinct numbers sample.who has, from 1 on. */
uint32_t samples_whos(const struct recording *rec);
struct callchain sample_callchain(const struct sample *sample);
struct seam_u64s sample_kernel(const struct sample *sample);
struct seam_u64s sample_user(const struct sample *sample);
/* Whether a filter takes a sample of this event and time. */
bool samples_filter_takes(const struct samples_filter *filter, const struct seam_event *event,
                          const struct seam_id *id, const char *comm);
/* Whether it takes one with this set of labels; 0: none. */
bool samples_filter_labels(const struct samples_filter *filter, const struct contexts *contexts,
                           uint32_t context);

#endif
