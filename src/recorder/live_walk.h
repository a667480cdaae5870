/* SPDX-License-Identifier: MIT */
/*
 * live_walk.h: a round's records in order of time -> final records: learns mappings and gives each
 * sample its address space (one thread), walks the samples (all threads), puts all out in order
 * (one thread).
 */
#ifndef SEAM_RECORDER_LIVE_WALK_H
#define SEAM_RECORDER_LIVE_WALK_H

#include <pthread.h>

#include "base/map.h"
#include "recorder/live.h"
#include "recorder/live_batch.h"
#include "recorder/live_missing.h"
#include "recorder/live_renew.h"
#include "samples/walked_sample.h"

struct live_walk;

/* One thread's. */
struct live_walker {
	struct live_walk *walk;
	uint32_t index;
	pthread_t thread;
	bool started;
	struct unwound *unwound;
	/* for samples that may be inside execve: most of its walks are nonsense */
	struct unwound *in_exec;
	struct buf out;   /* results of this round */
	struct buf user;  /* addresses of one walk */
	struct buf chain; /* words of one chain */
	struct live_counts counts;
	int failed;
};

struct live_walk {
	const struct seam_events *in, *out;
	struct proc_table *procs;
	struct tables *tables;
	struct kernel_trap *trap;
	struct tables_opts tables_opts;
	struct tables_counts tables_before; /* of tables that are gone */
	uint32_t machine;
	size_t prepared;                  /* objects, by their dense ids */
	uint64_t renew_at, renew_least;   /* bytes of procs */
	uint64_t renewals, process_bytes; /* process_bytes: at most */
	struct live_missing missing;      /* of walkers that are gone */
	struct map after_exec; /* pids that were not sampled in user mode since their exec */
	struct live_walker walkers[LIVE_THREADS_MAX];
	unsigned n_walkers;
	/* the round that is being walked */
	pthread_mutex_t lock;
	pthread_cond_t begin, done;
	struct live_item *items;
	size_t n, next; /* next: the first that nobody has taken */
	unsigned busy;
	uint64_t round;
	bool stop;
	bool hurry;      /* nothing is walked any more; read without the lock */
	uint64_t end_ns; /* from then on as with hurry (0: no such time); likewise */
};

/* in and out must outlive it. -ENOMEM, -EAGAIN. */
int live_walk_init(struct live_walk *w, const struct live_opts *opts,
                   const struct seam_events *out);
void live_walk_destroy(struct live_walk *w);
/* Appends the final records of items to out. */
int live_walk_round(struct live_walk *w, struct live_item *items, size_t n, struct buf *out);
/* From now on samples are counted and keep only their user ip. May be called from any thread. */
void live_walk_hurry(struct live_walk *w);
/* The same from a time on, end_ns of CLOCK_MONOTONIC. */
void live_walk_end_by(struct live_walk *w, uint64_t end_ns);
/* Makes the table of one more object that is mapped; false: all are made. */
bool live_walk_prepare(struct live_walk *w);
/* Sums up the counts of all threads. Not while samples are walked. */
void live_walk_count(const struct live_walk *w, struct live_counts *ret);

#endif
