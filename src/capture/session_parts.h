/* SPDX-License-Identifier: MIT */
/*
 * session_parts.h: the inside of a session. session.c starts and stops it, session_attr.c says what
 * each event asks for, session_open.c opens and maps, session_read.c reads, session_pending.c knows
 * which tasks have one pending. Only session*.c include it.
 */
#ifndef SEAM_CAPTURE_SESSION_PARTS_H
#define SEAM_CAPTURE_SESSION_PARTS_H

#include "base/buf.h"
#include "base/map.h"
#include "capture/session.h"

enum stream_role {
	STREAM_SAMPLING, /* one of the user's events */
	STREAM_SIDEBAND, /* mmap, comm, task ... of the target */
	STREAM_DEFERRED, /* per-task, CPU-wide: defer_output */
};

/* One event of the file: the same attr on many tasks and CPUs. */
struct session_stream {
	enum stream_role role;
	struct seam_attr attr;
	char *name;
	bool is_default, precise_max, exclude_given, weak, own_leader;
	bool auto_chain; /* its callchain is the session's to choose */
	bool may_source; /* its callchain is one that a source gives */
	/* index of the stream that was tried for this one, too; its own when it was */
	uint32_t like;
	uint32_t leader; /* index of the stream that leads the group; its own when alone */
	bool per_task;   /* else every task of the CPU: one row with pid -1 */
	int *cpus;
	size_t n_cpus;
	int *fds;      /* [row * n_cpus + cpu]; -1: none */
	uint64_t *ids; /* beside fds */
	uint64_t lost; /* after session_finish */
	bool lost_known;
	bool sourced;     /* its samples come from opts.source */
	bool from_source; /* and from nowhere else: one descriptor, nothing is attached to it */
};

/*
 * Tasks that owe a deferred record of the kernel's own deferred callchains. A task is in one kernel
 * entry at a time, so it owes at most one. Once it is seen after that entry, the record cannot come
 * any more. Rings are read one after the other, so times decide what is newer.
 */
struct pending_task {
	uint32_t pid, tid;
	uint64_t cookie,
	        since_ns; /* of the newest sample without a deferred record; 0: it owes none */
	uint64_t answered, answered_ns; /* its newest deferred record */
	uint64_t exited_ns, exited;     /* and in the round of that number; 0: it lives */
};

struct pending {
	struct pending_task *tasks; /* in any order */
	size_t n, capacity;
	struct map by_tid;   /* -> index in tasks */
	size_t owing;        /* of them, with a cookie */
	size_t exits;        /* of them, that have exited */
	struct map held;     /* cookie -> offset in stacks: read of a task that sleeps */
	struct buf stacks;   /* struct pending_stack, frames */
	uint64_t read, late; /* of those held: given to the file; not needed */
	char why[200];       /* they could not be read */
};

struct session {
	struct session_opts opts;
	struct features own_features;
	struct features *features;
	const struct log *log;
	struct mode mode;
	int *online;
	size_t n_online;
	pid_t *tasks; /* rows of per-task streams */
	size_t n_tasks, tasks_gone;
	struct session_stream *streams;
	size_t n_streams;
	struct ring *rings; /* one per online CPU */
	size_t *ring_row;   /* of the side-band event that epoll watches for the ring */
	size_t n_rings, ring_pages;
	struct seam_events *events;
	int epoll, wake;
	bool missed; /* a poll of ours took a ring's wake-up: do not sleep on it */
	bool sampling;
	uint64_t rounds, wakeups;
	uint64_t end_ns; /* nothing is read after it; 0: no such time */
	struct pending pending;
};

static inline size_t stream_rows(const struct session *s, const struct session_stream *st)
{
	return st->per_task ? s->n_tasks : 1;
}

static inline pid_t stream_pid(const struct session *s, const struct session_stream *st, size_t row)
{
	return st->per_task ? s->tasks[row] : -1;
}

static inline bool session_per_task(const struct session *s)
{
	return s->opts.target != SESSION_SYSTEM;
}

/* Samples come from opts.source, as far as it takes them. */
static inline bool session_has_source(const struct session *s)
{
	return s->opts.source.attach != NULL;
}

/* The target is tasks, and its side-band too. */
static inline bool session_sideband_per_task(const struct session *s)
{
	return session_per_task(s) && !session_has_source(s);
}

#define SESSION_SOURCE_KEY (UINT64_MAX - 1)
#define SESSION_WAKE_KEY UINT64_MAX /* the eventfd among the rings' numbers in epoll */

/* -- session.c -- */
/* An ioctl on every leader of a role. */
int session_switch(struct session *s, enum stream_role role, unsigned long request);

/* -- session_attr.c -- */
/* The user's events as streams, with what the options say; needs s->tasks and s->online. */
int session_compose(struct session *s, const struct event_list *events, struct seam_error *err);
/* The dummies: after it is known whether the kernel defers. */
int session_compose_sideband(struct session *s, bool deferred_on_cpus, struct seam_error *err);
/* Callchains of the kernel, and registers and a copy of the user's stack, instead of what is there;
 * false: not on this machine. */
bool session_attr_copy(const struct session *s, struct seam_attr *attr);
void session_attr_source_chain(struct session_stream *st);
/* The attr of the event that would receive deferred records on a CPU. */
struct seam_attr session_deferred_attr(const struct session *s);
void session_leader_flags(const struct session *s, struct session_stream *st);

/* -- session_pending.c -- */
struct pending_tap { /* a write that looks at what passes */
	struct session *s;
	capture_write write;
	void *ctx;
};
/* A capture_write; ctx is a struct pending_tap. */
int session_pending_write(void *tap, const void *bytes, size_t n);
/* To be called before a round: forgets tasks that exited in a round before the last one, because
 * none of their records can still come. */
void session_pending_round(struct session *s);
/* Whether pending records of the kernel's own deferral are kept track of. */
bool session_owes(const struct session *s);
/* Reads the stacks of the tasks that owe one and were not read yet. */
void session_pending_read(struct session *s);
/* Whether everything that is pending was read. */
bool session_pending_all_held(const struct session *s);
/* To be called when no deferred record can come any more: gives those that were read instead.
 * Returns their bytes, or what write returned. */
int64_t session_pending_give(struct session *s, capture_write write, void *ctx);
void session_pending_free(struct session *s);

/* -- session_clock.c -- */
/* The present time by the clock of the session's records. -errno. */
int session_clock(const struct session *s, uint64_t *ret_ns);

/* -- session_open.c -- */
/* The threads of the target into s->tasks. */
int session_find_tasks(struct session *s, struct seam_error *err);
/* Finds for every sampling stream the attr that the kernel accepts; nothing stays open. */
int session_try(struct session *s, struct seam_error *err);
/* Whether the kernel takes an attr for a stream; nothing stays open. */
bool session_accepts(struct session *s, struct session_stream *st, const struct seam_attr *attr);
/* Whether a CPU-wide event may receive deferred records. */
bool session_try_deferred(struct session *s);
int session_open_all(struct session *s, struct seam_error *err);
int session_map(struct session *s, struct seam_error *err);
void session_close_fds(struct session *s);

#endif
