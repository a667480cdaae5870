/* SPDX-License-Identifier: MIT */
/*
 * trie.h: a tree whose nodes are pairs of a parent and a key, each once, named by a dense id (1, 2,
 * 3 ...; 0 is the root): stacks that begin alike share their beginning. A parent's id is less than
 * its children's. A child is found by its parent's list, in which the neighbours of a node mostly
 * lie near it in memory; a parent of more than TRIE_LISTED children has them in a map instead, so
 * that no list is long. 16 bytes a node.
 */
#ifndef SEAM_BASE_TRIE_H
#define SEAM_BASE_TRIE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define TRIE_BLOCK 4096u /* nodes */
#define TRIE_LISTED 16u
#define TRIE_MOST 0x7ffffffeu
/* In first_child: the children are in the map, too. */
#define TRIE_HUB 0x80000000u

#define TRIE_FAILED UINT32_MAX
#define TRIE_ROOT 0u

struct trie_node {
	uint32_t parent, key;
};

struct trie_entry {
	struct trie_node node;
	uint32_t first_child; /* with TRIE_HUB: its children are in the map, too */
	uint32_t next_sibling;
};

/* Zero-initialise to start. */
struct trie {
	struct trie_entry **blocks; /* by id */
	uint32_t n;                 /* without the root */
	struct map children;        /* of hubs: parent << 32 | key -> node */
};

void trie_free(struct trie *t);
/* The child that has the key, of a node that is there; made when new, and then its id is t->n.
 * TRIE_FAILED: out of memory, or TRIE_MOST nodes. */
uint32_t trie_put(struct trie *t, uint32_t parent, uint32_t key);
/* A way down: the key of a node and, once it is put, its id. */
struct trie_step {
	uint32_t key, id;
};
/* Puts n keys, each below the one before, the first one below parent, and fills their ids. The last
 * id, or parent's if n is 0; TRIE_FAILED. */
uint32_t trie_path(struct trie *t, uint32_t parent, struct trie_step *steps, size_t n);

/* The first of a node's children, and the one behind a child; 0: none. The root may be asked only
 * where n is not 0. */
static inline uint32_t trie_first(const struct trie *t, uint32_t id)
{
	return t->blocks[id / TRIE_BLOCK][id % TRIE_BLOCK].first_child & ~TRIE_HUB;
}

static inline uint32_t trie_next(const struct trie *t, uint32_t id)
{
	return t->blocks[id / TRIE_BLOCK][id % TRIE_BLOCK].next_sibling;
}

/* The entries of the nodes from id on, before *end, for who goes through all of them: they lie one
 * behind the other. id is from 1 to n. */
static inline const struct trie_entry *trie_run(const struct trie *t, uint32_t id, uint32_t *end)
{
	uint32_t next = (id / TRIE_BLOCK + 1) * TRIE_BLOCK;

	*end = next <= t->n ? next : t->n + 1;
	return &t->blocks[id / TRIE_BLOCK][id % TRIE_BLOCK];
}

/* id is from 1 to n. */
static inline struct trie_node trie_at(const struct trie *t, uint32_t id)
{
	return t->blocks[id / TRIE_BLOCK][id % TRIE_BLOCK].node;
}

#endif
