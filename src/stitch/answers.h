/* SPDX-License-Identifier: MIT */
/*
 * answers.h: answers of a stream: kept while a sample may still claim them, held while a claimed
 * sample waits to be delivered.
 *
 * Kept is the last answer of each task, since a late sample of the same kernel entry may follow at
 * any time; one that is superseded is kept a moment longer. Both are bounded in number and bytes;
 * the oldest goes first.
 */
#ifndef SEAM_STITCH_ANSWERS_H
#define SEAM_STITCH_ANSWERS_H

#include "base/map.h"
#include "stitch/rules.h"
#include "stitch/slab.h"

/* Stream time that an answer, or a wait for one, outlives the sign that it is over: what clocks of
 * two CPUs may differ by, and far more. */
#define ANSWERS_GRACE_NS 100000000ULL
#define ANSWERS_KEPT_MOST 65536u

struct waiting_task;
struct waiting_process;

struct answer_link {
	struct answer *previous, *next;
};

struct answer {
	uint64_t cookie;
	struct rules_who who;
	uint64_t superseded;        /* when it goes; 0: it is a task's last */
	uint32_t n;                 /* addresses */
	uint16_t misc;              /* of its record */
	uint32_t holds;             /* decided samples that need it */
	bool kept, claimed, reborn; /* reborn: its tid has a new owner */
	struct waiting_task *task;  /* whose last answer it is, or NULL */
	struct waiting_process *process;
	struct answer_link by_age, by_end;
	struct answer_cell *cells;
};

struct answers {
	struct map by_cookie; /* kept ones -> address */
	struct slab slab, cells;
	struct answer *oldest, *newest;      /* kept */
	struct answer *end_first, *end_last; /* superseded, by when they go */
	size_t n_kept;
	uint64_t unclaimed;
};

void answers_start(struct answers *as);
void answers_free(struct answers *as);
struct answer *answers_find(const struct answers *as, uint64_t cookie);
/* Keeps a copy; the caller has found none of its cookie. NULL: out of memory. */
struct answer *answers_keep(struct answers *as, const struct seam_decoded *d);
void answers_supersede(struct answers *as, struct answer *a, uint64_t now);
/* No sample can claim it any longer. The caller has cut task and process loose. */
void answers_drop(struct answers *as, struct answer *a);
void answers_claim(struct answer *a);
void answers_release(struct answers *as, struct answer *a); /* one claim less */
/* Its addresses, n of them, into words. */
void answers_words(const struct answer *a, uint64_t *words);
size_t answers_bytes(const struct answers *as);

#endif
