/* SPDX-License-Identifier: MIT */
/*
 * session.h: a recording: all events of a target opened, one ring per CPU, bytes to a sink.
 *
 *	session_open(&s, &opts, &err);            // events disabled; rings mapped; ids known
 *	... header from session_events(s), synthesis of what already runs ...
 *	session_start(s);                         // a command's events start at its exec instead
 *	while (!done) {
 *		session_wait(s, 100);
 *		session_read(s, write, ctx);      // one round, ends with FINISHED_ROUND
 *	}
 *	session_stop(s);                          // sampling off, side-band stays on
 *	session_settle(s, grace_ms, write, ctx);  // tasks on their way out still answer
 *	session_finish(s, write, ctx);            // side-band off, last drain
 *	session_counts(s, &counts);
 *	session_close(s);
 *
 * Events. Each of the user's events is opened on every CPU of the target, for every task of it.
 * Beside them there are dummy events that never sample:
 *   - "side-band", where the tasks are: mmap2, comm, task, ksymbol ...; on every CPU of the
 * machine,
 *     for each task of a per-task target. It is on from session_start to session_finish.
 *   - "answers", when the kernel defers: exactly one event per CPU has defer_output. System-wide it
 * is
 *     the side-band event. Per-task it is a second, CPU-wide dummy when that is allowed (the record
 * of
 *     a task that exits is then still caught), else the side-band event of the tasks: mode.answers
 * says
 *     which. The CPU-wide one is on every online CPU, whatever -C says: a record lands where the
 * task
 *     returned, not where it was sampled.
 *
 * Rounds. A FINISHED_ROUND record after round n promises: no record of a later round is older than
 * the newest record of round n - 1 (perf's meaning; a reader may hand out everything up to there).
 * It holds because round n starts after round n - 1 ended and every ring is read in each round. A
 * record whose time was taken in one round and which became visible two rounds later would break
 * it; the kernel writes records with preemption off, so that takes a stopped virtual CPU.
 *
 * One thread at a time. session_wake may be called from a signal handler.
 */
#ifndef SEAM_CAPTURE_SESSION_H
#define SEAM_CAPTURE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <seam/record.h>

#include "event/event.h"
#include "capture/features.h"
#include "capture/mode.h"
#include "capture/ring.h"

struct session;

enum session_target {
	SESSION_TASKS,  /* tids[] as given (each thread by itself): -t, a command's child */
	SESSION_PIDS,   /* every thread of each pid: -p */
	SESSION_SYSTEM, /* -a, or -C: all that runs on the CPUs */
};

enum session_callchain {
	/* Deferred where the kernel does it, else copies where the caller unwinds them, else frame
	 * pointers at once. */
	SESSION_CALLCHAIN_AUTO,
	SESSION_CALLCHAIN_NONE,
	SESSION_CALLCHAIN_FP,
	/* Deferred, else frame pointers at once; the fall-back is said (mode.defer_asked). */
	SESSION_CALLCHAIN_FP_DEFER,
	SESSION_CALLCHAIN_DWARF, /* user registers and a copy of the stack in every sample */
};

/*
 * Somebody who can look into tasks that sleep (bpf/asleep.h). Reads the user stack of each task
 * that still is in the kernel entry that one of the cookies names, without waking it, and gives it;
 * whom it cannot find it leaves out. The frames are those that the kernel would answer. 0, or
 * -errno and err says what is missing.
 */
typedef void session_give_asleep(void *ctx, uint64_t cookie, uint32_t cpu, unsigned end,
                                 const uint64_t *ips, size_t n); /* end: enum stack_end */
typedef int session_read_asleep(const uint64_t *cookies, size_t n, session_give_asleep *give,
                                void *ctx, struct seam_error *err);

/* A record is at most 65,535 bytes long, and so is a copy, in multiples of 8. */
#define SESSION_STACK_SIZE_DEFAULT 8192u
#define SESSION_STACK_SIZE_MAX 65528u

#define SESSION_GRACE_MS_DEFAULT 100u
#define SESSION_FREQUENCY_DEFAULT 4000u

/*
 * Somebody else who takes the samples of the sampling events (bpf/kwalk.h): the events are opened
 * on every CPU, whatever the target, without callchains, and each is given to attach; the records
 * come by read. The side-band is CPU-wide then, too. The file's attrs say CALLCHAIN, and deferral
 * when `defers`. Events that `takes` refuses, and the groups they are in, take their own samples,
 * of the target's tasks, with a copy of the stack where the caller unwinds copies.
 */
struct session_source {
	void *ctx;
	int fd;      /* readable when it wants to be read; -1: none */
	bool defers; /* records of type 22 may come; they carry the id of the side-band event */
	bool by_fp;  /* not by unwind tables: events without the source take frame pointers, too */
	enum mode_reason reason; /* why it does not defer, for the words */
	bool runtimes;           /* it gives frames of interpreters, too */
	/* Whether it can give what attr asks for. */
	bool (*takes)(void *ctx, const struct seam_attr *attr);
	/* One descriptor of an event, disabled; id is what its records are to carry. 0, or -errno.
	 * NULL: there is no source */
	int (*attach)(void *ctx, int fd, uint64_t id);
	/* The set of events, which lives as long as the session, and the index of the one that
	 * answers belong to. */
	void (*events)(void *ctx, const struct seam_events *events, uint32_t deferred);
	/* Sampling begins, or ends; may be NULL. */
	int (*sampling)(void *ctx, bool on);
	/* Within how many ms what it has is to be read: some of it is completed with what a process
	 * has in its memory then, as long as it runs. INT_MAX: at leisure. May be NULL. */
	int (*within_ms)(void *ctx);
	/* In each round, before its end: bytes given, or what write returned. */
	int64_t (*read)(void *ctx, capture_write write, void *write_ctx);
	/* In session_settle, sampling off. */
	int64_t (*settle)(void *ctx, uint32_t grace_ms, capture_write write, void *write_ctx);
	/* session_end_by; what is left out of its rings is the source's to count and to tell of.
	 * May be NULL. */
	void (*end_by)(void *ctx, uint64_t end_ns);
};

struct session_opts {
	size_t sz; /* sizeof(struct session_opts) */
	/* Only read during open; NULL or empty: the default event. */
	const struct event_list *events;
	enum session_target target;
	const pid_t *pids; /* SESSION_TASKS: tids; SESSION_PIDS: pids */
	size_t n_pids;
	const int *cpus; /* only these CPUs sample; NULL: all that are online */
	size_t n_cpus;
	bool enable_on_exec; /* a command: all starts at its exec, not at session_start */
	bool start_paused;   /* -D: sampling starts at session_resume, not before */
	bool no_inherit;     /* -i: children are not followed */

	uint64_t period;       /* -c; 0: by frequency */
	uint64_t frequency;    /* -F, Hz; 0: 4000; UINT64_MAX: the kernel's limit (-F max) */
	bool strict_frequency; /* above the kernel's limit is an error, not reduced to it */

	enum session_callchain callchain;
	uint16_t max_stack;  /* DEPTH; 0: the kernel's */
	uint32_t stack_size; /* bytes of a copy, a multiple of 8; 0: SESSION_STACK_SIZE_DEFAULT */
	bool unwinds;        /* the caller unwinds copies while recording: AUTO may choose them */
	size_t mmap_pages;   /* data pages per CPU, rounded up to a power of two; 0: 512 KiB, with
	                       copies 4 MiB (all rings together at most 128 MiB); less where
	                       kernel.perf_event_mlock_kb is less */
	bool use_clockid;    /* -k */
	int32_t clockid;     /* CLOCK_MONOTONIC ... */
	bool all_user, all_kernel; /* --all-user, --all-kernel */
	bool sample_cpu, sample_addr, sample_phys_addr, sample_period, sample_weight;
	bool no_sample_time; /* SAMPLE_TIME is on by default */
	bool no_runtimes;    /* frames of interpreters are not wanted; for the words of the mode */
	bool build_id;       /* build-ids in MMAP2 instead of inodes */
	bool context_switch; /* --switch-events */
	bool namespaces, cgroups; /* --namespaces, --all-cgroups */
	bool no_rounds;           /* no FINISHED_ROUND records */
	bool (*stopped)(
	        void);  /* asked while events are opened: to give up, with -EINTR; NULL: never */
	struct log log; /* lines for people: LOG_PLAIN is to be shown always */
	struct features *features;    /* NULL: the session's own */
	struct session_source source; /* zeros: the kernel takes all samples itself */
	session_read_asleep
	        *read_asleep; /* where the kernel defers: of who sleeps at the end. NULL: nobody */
};

struct session_counts {
	size_t sz; /* set by the caller */
	struct ring_counts total;
	uint64_t rounds;
	uint64_t wakeups; /* session_wait returned because a ring asked for it */
	/* sum of PERF_FORMAT_LOST over all events: all that was ever lost, known after
	 * session_finish; 0 where the kernel does not count */
	uint64_t lost_kernel;
	bool lost_kernel_known;
	uint64_t lost_deferred; /* of it: of the event that receives the deferred records */
	size_t n_rings, n_events, n_fds, n_tasks;
	size_t tasks_gone; /* threads that were gone before they could be opened: no error */
	size_t ring_pages; /* data pages per ring that were really mapped */
	/* Where the kernel defers, after session_finish: stacks of tasks that sleep, read for them
	 * ... */
	uint64_t asleep;
	uint64_t asleep_late; /* and not needed: they answered themselves after all */
	uint64_t owing;       /* tasks that owe a stack still */
	/* why they could not be read; "": they could. Lives as long as the session */
	const char *owing_why;
};

/*
 * Opens and maps everything; on failure nothing stays open, and err->text is a sentence with the
 * remedy. -EACCES, -EPERM: not allowed; -ESRCH: no task is there (any more); -ENOENT, -EOPNOTSUPP:
 * an event this machine does not have; -EMFILE: more descriptors than RLIMIT_NOFILE (raising the
 * soft limit is the caller's to do); -EINVAL: opts contradict.
 */
int session_open(struct session **ret, const struct session_opts *opts, struct seam_error *err);
void session_close(struct session *s);

/* The events in the order of the file: the user's first, then the dummies; ids filled. Owned by the
 * session, lives until session_close. Attrs are what the kernel really accepted. */
const struct seam_events *session_events(const struct session *s);
const struct mode *session_mode(const struct session *s);
/* What this kernel can; what is in .off was switched off while opening. */
struct features *session_features(struct session *s);
/* The online CPUs that have a ring. */
size_t session_rings(const struct session *s);
const struct ring *session_ring(const struct session *s, size_t i);

/* Enables what does not wait for an exec: answers and side-band, then, unless opts.start_paused,
 * sampling. */
int session_start(struct session *s);
/* Sampling on again, after opts.start_paused. */
int session_resume(struct session *s);

/* 1: something waits; 0: the time is over; -EINTR: a signal. timeout_ms -1: no limit. */
int session_wait(struct session *s, int timeout_ms);
/* What its source says: session_source.within_ms. */
int session_within_ms(const struct session *s);
/* Makes session_wait return. Async-signal-safe. */
void session_wake(struct session *s);
/* Whether any event's samples come from opts.source. */
bool session_uses_source(const struct session *s);
/* True once every task of a per-task target, and every child that inherited, has exited. Never true
 * system-wide, nor with a source, which knows itself. Exact: the kernel hangs up the events. */
bool session_target_gone(struct session *s);

/* One round: every ring drained into write, and a FINISHED_ROUND record if there was anything:
 * bytes given, or what write returned. After write failed, records that were not taken stay in the
 * rings. */
int64_t session_read(struct session *s, capture_write write, void *ctx);

/* All that is read from now on is read until end_ns of CLOCK_MONOTONIC. What waits in the rings
 * then is given back to the kernel: it is counted, and session_finish tells of it (LOST_SAMPLES).
 * */
void session_end_by(struct session *s, uint64_t end_ns);
/* Ends sampling; side-band and deferred records stay on. */
int session_stop(struct session *s);
/*
 * Reads on for grace_ms (0: SESSION_GRACE_MS_DEFAULT; UINT32_MAX: not at all), so that tasks that
 * are on their way out of the kernel still answer; those that sleep are read at once
 * (opts.read_asleep), and who answers himself after all is right. Ends as soon as nothing is
 * pending that was not read, or when the target is gone. Bytes given, or what write returned.
 */
int64_t session_settle(struct session *s, uint32_t grace_ms, capture_write write, void *ctx);
/* Side-band off, the last round, what was read of tasks that sleep, the kernel's lost counts. */
int64_t session_finish(struct session *s, capture_write write, void *ctx);

int session_counts(const struct session *s, struct session_counts *ret);

#endif
