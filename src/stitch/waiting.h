/* SPDX-License-Identifier: MIT */
/*
 * waiting.h: what waits for what in a stream: tasks, their open kernel entries (one per cookie),
 * the samples that wait in each entry, and the last exec of each process that has any of them.
 *
 * Invariant: at most one entry of a task is `current`, the one that no sign has passed yet. So a
 * sign is handled in constant time. Tasks and processes live only while something refers to them.
 */
#ifndef SEAM_STITCH_WAITING_H
#define SEAM_STITCH_WAITING_H

#include "stitch/deferred.h"
#include "stitch/queue.h"

struct waiting_process {
	uint32_t pid;
	uint32_t users; /* entries and kept deferred records */
	bool has_exec;
	uint64_t last_exec;
};

struct waiting_task {
	uint32_t tid;
	uint64_t seen; /* last time of a sample or deferred record of it */
	struct waiting_entry *entries, *current;
	struct deferred_record *last_deferred;
	bool exited;
	uint64_t exit_when;
};

struct waiting_entry {
	uint64_t cookie;
	struct waiting_task *task;
	struct waiting_process *process;
	struct waiting_entry *same;            /* of another task, with the same cookie */
	struct waiting_entry *previous, *next; /* of the task */
	struct hold *first, *last;
	struct hold *unpassed; /* the first that no sign has passed */
	bool mismatch;         /* another task answered its cookie */
	uint64_t deadline; /* when those passed, or all of a dead task, are given up; 0: not yet */
	struct waiting_entry *limit_previous, *limit_next; /* by deadline */
};

struct waiting {
	struct map by_cookie, by_tid, by_pid; /* -> address */
	struct slab entries, tasks, processes;
	struct waiting_entry *limit_first, *limit_last;
};

void waiting_start(struct waiting *w);
void waiting_free(struct waiting *w);
size_t waiting_bytes(const struct waiting *w);

/* create: makes it when it is not there; then NULL means out of memory. */
struct waiting_task *waiting_task(struct waiting *w, uint32_t tid, bool create);
struct waiting_process *waiting_process(struct waiting *w, uint32_t pid, bool create);
/* The first entry of a cookie; the others by ->same. There is one, unless a counter wrapped. */
struct waiting_entry *waiting_entry(const struct waiting *w, uint64_t cookie);
void waiting_task_put(struct waiting *w, struct waiting_task *task); /* frees it when idle */
void waiting_process_put(struct waiting *w, struct waiting_process *process); /* one user less */

/* The open entry of a cookie and task, made when it is not there. -ENOMEM; -EOVERFLOW: more tasks
 * carry this cookie than a recording can have. */
int waiting_open(struct waiting *w, uint64_t cookie, const struct rules_who *who,
                 struct waiting_entry **ret);
void waiting_add(struct waiting_entry *entry, struct hold *h);
/* Takes the oldest sample out; NULL: none is left. */
struct hold *waiting_take(struct waiting_entry *entry);
/* An entry without samples. */
void waiting_close(struct waiting *w, struct waiting_entry *entry);
/* The task was seen past its current entry. */
void waiting_pass(struct waiting *w, struct waiting_task *task, uint64_t now);
/* Sets the entry's deadline, if it has none; takes it away. */
void waiting_limit(struct waiting *w, struct waiting_entry *entry, uint64_t now);
void waiting_unlimit(struct waiting *w, struct waiting_entry *entry);

#endif
