/* SPDX-License-Identifier: MIT */
/*
 * lookup.h: the lists of an epoch (blocks.h) as a reader has them: only blocks that hold something
 * that is needed are fetched, each once. Several lists of nodes may have their names in common.
 *
 *	lookup_start(&l, fetch, ctx)
 *	lookup_need(&l, kind, id)           names of events and states
 *	lookup_stacks_need(&s, node)        for each node that counts name
 *	lookup_stacks_load(&l, &s)          what these nodes are, when all of a list are known
 *	lookup_load(&l)                     what all those are called
 *	lookup_make(&l, &s, profile)        then lookup_node(&s, node): the node of the profile
 *	lookup_free(&l), lookup_stacks_free(&s)
 */
#ifndef SEAM_STORE_LOOKUP_H
#define SEAM_STORE_LOOKUP_H

#include "profile/profile.h"
#include "store/stacks/blocks.h"

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
	struct lookup_list lists[BLOCKS_NODES]; /* but for nodes */
	struct blocks_frame *frames;            /* by id */
	struct blocks_object *objects;
	uint32_t *strings; /* where they are in text */
	struct buf text;
	uint32_t *made[BLOCKS_NODES]; /* in the profile that is made */
	/* By frame of that profile: whether one of these frames is it; whether two are the same. */
	unsigned char *taken;
	size_t n_taken;
	bool alike;
	/* Set before anything is needed: frames of a function are one, whatever their lines are. */
	bool functions;
};

/* A list of nodes. Zero-initialise, and say whether its blocks are sorted (sorted.h), and whether
 * no callers are needed but those that what was folded is named after. */
struct lookup_stacks {
	bool sorted, innermost;
	struct lookup_list list;
	struct blocks_node *nodes; /* by id */
	uint32_t *made;
};

/* What frames of BLOCKS_FOLDED are called. */
#define LOOKUP_FOLDED "[folded]"

/* Reads a frame as it stands in a block; c->failed: it is none. */
struct blocks_frame lookup_frame(struct cursor *c);
void lookup_start(struct lookup *l, lookup_fetch *fetch, void *ctx);
void lookup_free(struct lookup *l);
/* kind: any but BLOCKS_NODES. -ENOMEM; -EBADMSG: no list is so long. */
int lookup_need(struct lookup *l, enum blocks_kind kind, uint32_t id);
int lookup_stacks_need(struct lookup_stacks *s, uint32_t node);
/* Fetches nodes, whose frames are needed from then on. -EBADMSG: a block makes no sense, or is
 * missing. */
int lookup_stacks_load(struct lookup *l, struct lookup_stacks *s);
/* To be called once. -EBADMSG. */
int lookup_load(struct lookup *l);
/* "" for 0. */
const char *lookup_text(const struct lookup *l, uint32_t string);
/* The nodes in a profile of all that were needed; it must be the same profile for all lists of
 * nodes. Then lookup_node. -ENOMEM. */
int lookup_make(struct lookup *l, struct lookup_stacks *s, struct profile *p);
void lookup_stacks_free(struct lookup_stacks *s);

/* For who makes no nodes of them. The profile's number of a frame that was needed, and of what was
 * folded in programs or in the kernel (enum profile_kind). PROFILE_FAILED. */
uint32_t lookup_profile_frame(struct lookup *l, struct profile *p, uint32_t frame);
uint32_t lookup_profile_folded(struct profile *p, uint32_t kind);

/* kind: any but BLOCKS_NODES. */
static inline bool lookup_needs(const struct lookup *l, enum blocks_kind kind, uint32_t id)
{
	return id < l->lists[kind].n && l->lists[kind].needed[id];
}

/* Whether what was called there is not known any more. */
static inline bool lookup_is_folded(const struct lookup_stacks *s, uint32_t node)
{
	return s->nodes[node].frame == BLOCKS_FOLDED;
}

static inline uint32_t lookup_node(const struct lookup_stacks *s, uint32_t node)
{
	return s->made[node];
}

#endif
