/* SPDX-License-Identifier: MIT */
/*
 * deferred.h: the deferred records of a stream. A record is kept while a sample may still claim it,
 * and held while a sample that claimed it waits to be delivered. The last deferred record of each
 * task is kept, because a late sample of the same kernel entry may follow at any time; one that was
 * superseded is kept a moment longer. Both are bounded in number and in bytes: the oldest goes
 * first.
 */
#ifndef SEAM_STITCH_DEFERRED_H
#define SEAM_STITCH_DEFERRED_H

#include "base/map.h"
#include "stitch/rules.h"
#include "stitch/slab.h"

/* For how much longer, in stream time, a deferred record is kept, or waited for, after the sign
 * that it is over. It is far more than the clocks of two CPUs may differ. */
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
/* Keeps a copy of a deferred record; the caller has made sure that there is none with its cookie.
 * NULL: out of memory. */
struct deferred_record *deferred_keep(struct deferred_set *as, const struct seam_decoded *d);
void deferred_supersede(struct deferred_set *as, struct deferred_record *a, uint64_t now);
/* Ends the time in which samples can claim it. The caller has taken its task and process from
 * it. */
void deferred_drop(struct deferred_set *as, struct deferred_record *a);
void deferred_claim(struct deferred_record *a);
void deferred_release(struct deferred_set *as, struct deferred_record *a); /* one claim less */
/* Copies its n addresses into words. */
void deferred_words(const struct deferred_record *a, uint64_t *words);
size_t deferred_bytes(const struct deferred_set *as);

#endif
