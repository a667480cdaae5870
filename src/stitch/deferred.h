/* SPDX-License-Identifier: MIT */
/*
 * deferred.h: answers of a stream: kept while a sample may still claim them, held while a claimed
 * sample waits to be delivered.
 *
 * Kept is the last deferred record of each task, since a late sample of the same kernel entry may
 * follow at any time; one that is superseded is kept a moment longer. Both are bounded in number
 * and bytes; the oldest goes first.
 */
#ifndef SEAM_STITCH_DEFERRED_H
#define SEAM_STITCH_DEFERRED_H

#include "base/map.h"
#include "stitch/rules.h"
#include "stitch/slab.h"

/* Stream time that a deferred record, or a wait for one, outlives the sign that it is over: what
 * clocks of two CPUs may differ by, and far more. */
#define DEFERRED_GRACE_NS 100000000ULL
#define DEFERRED_KEPT_MOST 65536u

struct waiting_task;
struct waiting_process;

struct deferred_link {
	struct deferred_record *previous, *next;
};

struct deferred_record {
	uint64_t cookie;
	struct rules_who who;
	uint64_t superseded;        /* when it goes; 0: it is a task's last */
	uint32_t n;                 /* addresses */
	uint16_t misc;              /* of its record */
	uint32_t holds;             /* decided samples that need it */
	bool kept, claimed, reborn; /* reborn: its tid has a new owner */
	struct waiting_task *task;  /* whose last deferred record it is, or NULL */
	struct waiting_process *process;
	struct deferred_link by_age, by_end;
	struct deferred_cell *cells;
};

struct deferred_set {
	struct map by_cookie; /* kept ones -> address */
	struct slab slab, cells;
	struct deferred_record *oldest, *newest;      /* kept */
	struct deferred_record *end_first, *end_last; /* superseded, by when they go */
	size_t n_kept;
	uint64_t unclaimed;
};

void deferred_start(struct deferred_set *as);
void deferred_free(struct deferred_set *as);
struct deferred_record *deferred_find(const struct deferred_set *as, uint64_t cookie);
/* Keeps a copy; the caller has found none of its cookie. NULL: out of memory. */
struct deferred_record *deferred_keep(struct deferred_set *as, const struct seam_decoded *d);
void deferred_supersede(struct deferred_set *as, struct deferred_record *a, uint64_t now);
/* No sample can claim it any longer. The caller has cut task and process loose. */
void deferred_drop(struct deferred_set *as, struct deferred_record *a);
void deferred_claim(struct deferred_record *a);
void deferred_release(struct deferred_set *as, struct deferred_record *a); /* one claim less */
/* Its addresses, n of them, into words. */
void deferred_words(const struct deferred_record *a, uint64_t *words);
size_t deferred_bytes(const struct deferred_set *as);

#endif
