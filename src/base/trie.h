/* SPDX-License-Identifier: MIT */
/*
 * trie.h: a tree whose nodes are pairs of a parent and a key, each once, named by a dense id (1, 2,
 * 3 ...; 0 is the root): stacks that begin alike share their beginning. A parent's id is less than
 * its children's. Keys are less than TRIE_KEYS.
 *
 * Deep and various stacks make millions of nodes, most of them the only child of the node that was
 * made just before. Such a node is 4 bytes, its key: where it is says who its parent is. Any other
 * node, and one with more children than the one behind it, has 16 bytes besides. A child is found
 * right behind its parent or in its parent's list; a parent of more than TRIE_LISTED other children
 * has them in a map, so that no list is long.
 */
#ifndef SEAM_BASE_TRIE_H
#define SEAM_BASE_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define TRIE_BLOCK 4096u /* nodes */
#define TRIE_LISTED 16u
#define TRIE_MOST 0x7ffffffeu
#define TRIE_KEYS 0x80000000u
/* Of an entry: the rest of it is a place in asides. */
#define TRIE_ASIDE 0x80000000u
/* In children: they are in the map, too. */
#define TRIE_HUB 0x80000000u

#define TRIE_FAILED UINT32_MAX
#define TRIE_ROOT 0u

struct trie_node {
	uint32_t parent, key;
};

/* What an entry of 4 bytes has no room for. */
struct trie_aside {
	struct trie_node node;
	uint32_t children;     /* the first of them that is not right behind it; TRIE_HUB */
	uint32_t next_sibling; /* of those */
};

/* Zero-initialise to start. */
struct trie {
	uint32_t **blocks; /* by id: a key, or TRIE_ASIDE and a place */
	uint32_t n;        /* without the root */
	struct trie_aside *asides;
	size_t n_asides, asides_capacity;
	struct map children; /* of hubs: parent << 32 | key -> node */
};

void trie_free(struct trie *t);
/* The child that has the key, of a node that is there; made when new, and then its id is t->n.
 * TRIE_FAILED: out of memory, TRIE_MOST nodes, or no key. */
uint32_t trie_put(struct trie *t, uint32_t parent, uint32_t key);
/* The same of a key that the parent has no child with yet: it is not looked for. */
uint32_t trie_put_new(struct trie *t, uint32_t parent, uint32_t key);
/* A way down: the key of a node and, once it is put, its id. */
struct trie_step {
	uint32_t key, id;
};
/* Puts n keys, each below the one before, the first one below parent, and fills their ids. The last
 * id, or parent's if n is 0; TRIE_FAILED. */
uint32_t trie_path(struct trie *t, uint32_t parent, struct trie_step *steps, size_t n);

/* ---- reading; the root (0) may be asked for its children, and only where n is not 0 ---- */

static inline uint32_t trie_entry(const struct trie *t, uint32_t id)
{
	return t->blocks[id / TRIE_BLOCK][id % TRIE_BLOCK];
}

/* What an entry says, which is that of the node `id`. */
static inline struct trie_node trie_of(const struct trie *t, uint32_t id, uint32_t entry)
{
	return entry & TRIE_ASIDE ? t->asides[entry & ~TRIE_ASIDE].node
	                          : (struct trie_node){ .parent = id - 1, .key = entry };
}

/* id is from 1 to n. */
static inline struct trie_node trie_at(const struct trie *t, uint32_t id)
{
	return trie_of(t, id, trie_entry(t, id));
}

/* Whether the node right behind this one is its child. */
static inline bool trie_goes_on(const struct trie *t, uint32_t id)
{
	return id < t->n && trie_at(t, id + 1).parent == id;
}

/* The first of the children that are not right behind the node; 0: none. */
static inline uint32_t trie_others(const struct trie *t, uint32_t id)
{
	uint32_t entry = trie_entry(t, id);

	return entry & TRIE_ASIDE ? t->asides[entry & ~TRIE_ASIDE].children & ~TRIE_HUB : 0;
}

/* The one behind a child of those; 0: none. */
static inline uint32_t trie_other(const struct trie *t, uint32_t child)
{
	return t->asides[trie_entry(t, child) & ~TRIE_ASIDE].next_sibling;
}

/* The first of a node's children, and the one behind a child; 0: none. */
static inline uint32_t trie_first(const struct trie *t, uint32_t id)
{
	return trie_goes_on(t, id) ? id + 1 : trie_others(t, id);
}

static inline uint32_t trie_next(const struct trie *t, uint32_t id)
{
	return trie_at(t, id).parent == id - 1 ? trie_others(t, id - 1) : trie_other(t, id);
}

/* The entries of the nodes from id on, before *end, for who goes through all of them: they lie one
 * behind the other (trie_of). id is from 1 to n. */
static inline const uint32_t *trie_run(const struct trie *t, uint32_t id, uint32_t *end)
{
	uint32_t next = (id / TRIE_BLOCK + 1) * TRIE_BLOCK;

	*end = next <= t->n ? next : t->n + 1;
	return &t->blocks[id / TRIE_BLOCK][id % TRIE_BLOCK];
}

#endif
