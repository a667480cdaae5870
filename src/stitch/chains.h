/* SPDX-License-Identifier: MIT */
/*
 * chains.h: the chains of deferred records, each distinct one once, by number. For index.c only.
 *
 * Learning is one thread's; where chains are many, another one looks them up meanwhile
 * (base/relay.h). Numbers do not depend on it: chains are numbered in the order of their records.
 */
#ifndef SEAM_STITCH_CHAINS_H
#define SEAM_STITCH_CHAINS_H

#include <stdatomic.h>

#include <seam/record.h>

#include "base/intern.h"
#include "base/relay.h"

/* In the number of words: they are of the other byte order. A record's size has 16 bits, so that it
 * holds fewer than 8,192 words, and the bit is free. */
#define CHAINS_SWAP (1u << 15)
#define CHAINS_WAITING 16u /* that are looked up together */

struct chains {
	struct intern words; /* of equal chains the first's; copies where bytes do not stay */
	enum intern_way way; /* who keeps those that stay */
	struct chains_recent *recent; /* met last; while learning */
	struct chains_waiting {
		struct seam_u64s ips;
		uint32_t *chain;
		uint16_t *n;
		struct chains_recent *recent; /* which it may replace; NULL: none */
		uint64_t asked;               /* intern_ask */
		enum intern_way way;
	} waiting[CHAINS_WAITING];
	unsigned n_waiting;
	struct relay relay;  /* to a thread that looks them up, where it is wanted */
	bool failed;         /* it ran out of memory */
	atomic_size_t again; /* intern's n_again, for who learns */
};

/* Asks for the number of a chain, and for how many of its words are addresses. They are written at
 * chains_settle at last; a chain without any gets none. stable: its words stay. -ENOMEM. */
int chains_put(struct chains *c, const struct seam_u64s *ips, bool stable, uint32_t *chain,
               uint16_t *n);
/* All that was asked for is written, and what served learning alone is gone. -ENOMEM. */
int chains_settle(struct chains *c);
void chains_free(struct chains *c);

#endif
