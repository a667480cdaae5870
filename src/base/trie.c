// SPDX-License-Identifier: MIT
/*
 * trie.c: see trie.h. What is met while stacks are put in lies in the order in which it is met: a
 * stack that is known is read from front to back, and a hash table is asked where it forks only, if
 * there are many ways.
 *
 * A node whose parent is right in front of it, and that has no other children than the one right
 * behind it, is an entry of 4 bytes: its key. Any other one is an aside, and the entry says its
 * place. Nodes have numbers from 1 on; 0 is the root. Blocks of entries never move.
 */
#include "base/trie.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/pages.h"

/* Behind the first ones, so many blocks are one piece of memory: 2 MiB, a large page. */
#define TRIE_PIECE 128u

/* Whether a block begins what was allocated at once. */
static bool trie_begins(size_t block)
{
	return block < TRIE_PIECE || !(block % TRIE_PIECE);
}

void trie_free(struct trie *t)
{
	if (t->blocks)
		for (size_t i = 0; i <= t->n / TRIE_BLOCK; i++)
			if (trie_begins(i))
				free(t->blocks[i]);
	free(t->blocks);
	free(t->asides);
	map_free(&t->children);
	*t = (struct trie){ 0 };
}

static uint32_t *trie_slot(const struct trie *t, uint32_t id)
{
	return &t->blocks[id / TRIE_BLOCK][id % TRIE_BLOCK];
}

static uint64_t trie_key(uint32_t parent, uint32_t key)
{
	return (uint64_t)parent << 32 | key;
}

/* Memory for a block, and for those behind it that are of one piece. An entry is written when its
 * node is made, and the root is in the first block. -1: out of memory. */
static int trie_add_block(struct trie *t, size_t block)
{
	const size_t size = TRIE_BLOCK * sizeof(**t->blocks);

	if (!trie_begins(block))
		return 0;
	t->blocks[block] = block < TRIE_PIECE ? calloc(1, size) : pages_new(TRIE_PIECE * size);
	if (!t->blocks[block])
		return -1;
	for (size_t i = 1; block >= TRIE_PIECE && i < TRIE_PIECE; i++)
		t->blocks[block + i] = t->blocks[block] + i * TRIE_BLOCK;
	return 0;
}

/* Makes room for the node with this id. Blocks are never moved. -1: out of memory. */
static int trie_grow(struct trie *t, uint32_t id)
{
	size_t block = id / TRIE_BLOCK;
	uint32_t **blocks;

	if (id % TRIE_BLOCK)
		return 0;
	if (!(block & (block - 1))) { /* 0, 1, 2, 4 ...: doubled; no capacity is kept */
		blocks = realloc(t->blocks, (block ? 2 * block : 1) * sizeof(*blocks));
		if (!blocks)
			return -1;
		t->blocks = blocks;
	}
	if (trie_add_block(t, block) >= 0)
		return 0;
	if (!block) {
		free(t->blocks);
		t->blocks = NULL;
	}
	return -1;
}

/* Gives back what trie_grow got for a node that is not made after all. */
static void trie_shrink(struct trie *t, uint32_t id)
{
	if (id % TRIE_BLOCK == 0 && trie_begins(id / TRIE_BLOCK))
		free(t->blocks[id / TRIE_BLOCK]);
}

/* The aside of a node, which has one or, if there is room, gets one. */
static struct trie_aside *trie_aside(struct trie *t, uint32_t id)
{
	uint32_t *slot = trie_slot(t, id);

	if (!(*slot & TRIE_ASIDE)) {
		t->asides[t->n_asides] =
		        (struct trie_aside){ .node = { .parent = id - 1, .key = *slot } };
		*slot = (uint32_t)t->n_asides++ | TRIE_ASIDE;
	}
	return &t->asides[*slot & ~TRIE_ASIDE];
}

/* The parent has too many children for a list: all of them go into the map. -1: out of memory, and
 * the parent keeps its list. */
static int trie_make_hub(struct trie *t, uint32_t parent)
{
	struct trie_aside *p = trie_aside(t, parent);

	for (uint32_t id = p->children; id; id = trie_other(t, id))
		if (map_put(&t->children, trie_key(parent, trie_at(t, id).key), id) < 0)
			return -1;
	p->children |= TRIE_HUB;
	return 0;
}

/* The child of a parent with an aside that has the key and is not right behind it; 0: there is none
 * yet, TRIE_FAILED: out of memory. It is the first in its list then: what was called last is mostly
 * called next. A list that is longer than it may be goes into the map. */
static uint32_t trie_find_other(struct trie *t, uint32_t parent, uint32_t key)
{
	struct trie_aside *p = &t->asides[trie_entry(t, parent) & ~TRIE_ASIDE], *before = NULL;
	unsigned seen = 0;
	uint64_t found;

	for (uint32_t id = p->children; id && !(p->children & TRIE_HUB); seen++) {
		struct trie_aside *e = &t->asides[trie_entry(t, id) & ~TRIE_ASIDE];

		if (e->node.key == key) {
			if (before) {
				before->next_sibling = e->next_sibling;
				e->next_sibling = p->children;
				p->children = id;
			}
			return id;
		}
		if (seen >= TRIE_LISTED && trie_make_hub(t, parent) < 0)
			return TRIE_FAILED;
		before = e;
		id = e->next_sibling;
	}
	if (!(p->children & TRIE_HUB))
		return 0;
	return map_get(&t->children, trie_key(parent, key), &found) ? (uint32_t)found : 0;
}

/* The child of a parent that has the key; 0: there is none yet, TRIE_FAILED: out of memory. */
static inline uint32_t trie_find(struct trie *t, uint32_t parent, uint32_t key)
{
	if (parent < t->n) {
		struct trie_node behind = trie_at(t, parent + 1);

		if (behind.key == key && behind.parent == parent)
			return parent + 1;
	}
	return trie_entry(t, parent) & TRIE_ASIDE ? trie_find_other(t, parent, key) : 0;
}

/* Makes a node that does not stand right behind its parent, and is the parent's first in its list.
 * -1: out of memory. */
static int trie_put_aside(struct trie *t, uint32_t id, uint32_t parent, uint32_t key)
{
	struct trie_aside *p;

	/* Everything that can fail comes before the node is linked. */
	if (ARRAY_ROOM(&t->asides, &t->asides_capacity, t->n_asides + 2) < 0)
		return -1;
	p = trie_aside(t, parent);
	if (p->children & TRIE_HUB && map_put(&t->children, trie_key(parent, key), id) < 0)
		return -1;
	t->asides[t->n_asides] = (struct trie_aside){ .node = { .parent = parent, .key = key },
		                                      .next_sibling = p->children & ~TRIE_HUB };
	*trie_slot(t, id) = (uint32_t)t->n_asides++ | TRIE_ASIDE;
	p->children = id | (p->children & TRIE_HUB);
	return 0;
}

/* A new node stands right behind its parent, if nothing does yet. TRIE_FAILED. */
static uint32_t trie_make(struct trie *t, uint32_t parent, uint32_t key)
{
	uint32_t id = t->n + 1;

	if (trie_grow(t, id) < 0)
		return TRIE_FAILED;
	if (parent + 1 == id) {
		*trie_slot(t, id) = key;
	} else if (trie_put_aside(t, id, parent, key) < 0) {
		trie_shrink(t, id);
		return TRIE_FAILED;
	}
	return t->n = id;
}

uint32_t trie_put(struct trie *t, uint32_t parent, uint32_t key)
{
	uint32_t id;

	if (key >= TRIE_KEYS || t->n >= TRIE_MOST || (!t->blocks && trie_grow(t, 0) < 0))
		return TRIE_FAILED;
	id = trie_find(t, parent, key);
	return id ? id : trie_make(t, parent, key);
}

uint32_t trie_put_new(struct trie *t, uint32_t parent, uint32_t key)
{
	if (key >= TRIE_KEYS || t->n >= TRIE_MOST || (!t->blocks && trie_grow(t, 0) < 0))
		return TRIE_FAILED;
	return trie_make(t, parent, key);
}

/* Puts n keys, each behind the one before, below the node that was made last. TRIE_FAILED: out of
 * memory, or of ids; what was put until then is there. */
static uint32_t trie_extend(struct trie *t, struct trie_step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t id = t->n + 1;

		if (steps[i].key >= TRIE_KEYS || id > TRIE_MOST || trie_grow(t, id) < 0)
			return TRIE_FAILED;
		*trie_slot(t, id) = steps[i].key;
		steps[i].id = t->n = id;
	}
	return t->n;
}

uint32_t trie_path(struct trie *t, uint32_t parent, struct trie_step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t before = t->n;

		parent = steps[i].id = trie_put(t, parent, steps[i].key);
		if (parent == TRIE_FAILED)
			return TRIE_FAILED;
		if (t->n != before) /* it is new, and so are all below it */
			return trie_extend(t, steps + i + 1, n - i - 1);
	}
	return parent;
}
