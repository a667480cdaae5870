/* SPDX-License-Identifier: MIT */
/*
 * lookup.h: the lists of an epoch (blocks.h) as a reader has them: only blocks that hold something
 * that is needed are fetched, each once.
 *
 *	lookup_start(&l, fetch, ctx)
 *	lookup_need(&l, node)               for each node that counts name
 *	lookup_string(&l, id)               likewise, of names of events and states
 *	lookup_load(&l)
 *	lookup_node(&l, profile, node)      the node of a profile for each of those
 *	lookup_free(&l)
 */
#ifndef SEAM_STORE_LOOKUP_H
#define SEAM_STORE_LOOKUP_H

#include "profile/profile.h"
#include "store/blocks.h"

/* Finds the block that holds a thing: packed bytes in *bytes, which live until the next call.
 * -ENOENT: there is none. */
typedef int lookup_fetch(void *ctx, enum blocks_kind kind, uint32_t id, uint32_t *first,
                         uint32_t *n, const void **bytes, size_t *size);

struct lookup_list {
	unsigned char *needed; /* by id: a byte */
	size_t n;              /* ids that have one */
	uint32_t highest;      /* that is needed */
};

struct lookup {
	lookup_fetch *fetch;
	void *ctx;
	struct lookup_list lists[BLOCKS_KINDS];
	struct blocks_node *nodes; /* by id */
	struct blocks_frame *frames;
	struct blocks_object *objects;
	uint32_t *strings; /* where they are in text */
	struct buf text;
	/* in the profile that was asked for last */
	const struct profile *profile;
	uint32_t *made[BLOCKS_KINDS];
};

void lookup_start(struct lookup *l, lookup_fetch *fetch, void *ctx);
void lookup_free(struct lookup *l);
/* -ENOMEM; -EBADMSG: no list is so long. */
int lookup_need(struct lookup *l, enum blocks_kind kind, uint32_t id);
/* -EBADMSG: a block makes no sense, or is missing. */
int lookup_load(struct lookup *l);
/* "" for 0. */
const char *lookup_text(const struct lookup *l, uint32_t string);
/* The nodes in a profile of all that were needed: to be called once. Then lookup_node. -ENOMEM. */
int lookup_make(struct lookup *l, struct profile *p);
uint32_t lookup_node(const struct lookup *l, uint32_t node);

#endif
