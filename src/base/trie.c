// SPDX-License-Identifier: MIT
/*
 * trie.c: see trie.h. Deep and various stacks make millions of nodes that are met once: a hash
 * table of them costs two misses of the processor's cache for each, a list of siblings one at most.
 *
 * A node has a parent, a key and a list of its children. A node with more than TRIE_LISTED children
 * becomes a hub: its children are found by a map. Nodes have numbers from 1 on; 0 is the root.
 * Blocks of nodes never move, so that pointers to nodes stay valid.
 */
#include "base/trie.h"

#include <stdlib.h>

#include "base/pages.h"

/* Behind the first ones, so many blocks are one piece of memory: 2 MiB, a large page. */
#define TRIE_PIECE 32u

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
	map_free(&t->children);
	*t = (struct trie){ 0 };
}

static struct trie_entry *trie_entry(const struct trie *t, uint32_t id)
{
	return &t->blocks[id / TRIE_BLOCK][id % TRIE_BLOCK];
}

static uint64_t trie_key(uint32_t parent, uint32_t key)
{
	return (uint64_t)parent << 32 | key;
}

/* Memory for a block, and for those behind it that are of one piece. A node is written whole when
 * it is made, and the root is in the first block. -1: out of memory. */
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
	struct trie_entry **blocks;

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

/* The parent has too many children for a list: all of them go into the map. -1: out of memory, and
 * the parent keeps its list. */
static int trie_make_hub(struct trie *t, uint32_t parent)
{
	struct trie_entry *p = trie_entry(t, parent);

	for (uint32_t id = p->first_child; id; id = trie_entry(t, id)->next_sibling)
		if (map_put(&t->children, trie_key(parent, trie_entry(t, id)->node.key), id) < 0)
			return -1;
	p->first_child |= TRIE_HUB;
	return 0;
}

/* The child of a parent that has the key; 0: there is none yet, TRIE_FAILED: out of memory. It is
 * the first in its list then: what was called last is mostly called next. */
static uint32_t trie_find(struct trie *t, uint32_t parent, uint32_t key)
{
	struct trie_entry *p = trie_entry(t, parent), *before = NULL;
	unsigned seen = 0;
	uint64_t found;

	if (p->first_child & TRIE_HUB)
		return map_get(&t->children, trie_key(parent, key), &found) ? (uint32_t)found : 0;
	for (uint32_t id = p->first_child; id; seen++) {
		struct trie_entry *e = trie_entry(t, id);

		if (e->node.key == key) {
			if (before) {
				before->next_sibling = e->next_sibling;
				e->next_sibling = p->first_child;
				p->first_child = id;
			}
			return id;
		}
		before = e;
		id = e->next_sibling;
	}
	return seen >= TRIE_LISTED && trie_make_hub(t, parent) < 0 ? TRIE_FAILED : 0;
}

/* A new node becomes its parent's first child. */
uint32_t trie_put(struct trie *t, uint32_t parent, uint32_t key)
{
	struct trie_entry *p;
	uint32_t id;

	if (t->n >= TRIE_MOST || (!t->blocks && trie_grow(t, 0) < 0))
		return TRIE_FAILED;
	id = trie_find(t, parent, key);
	if (id)
		return id;
	/* Everything that can fail comes before the node is linked. */
	id = t->n + 1;
	if (trie_grow(t, id) < 0)
		return TRIE_FAILED;
	p = trie_entry(t, parent);
	if (p->first_child & TRIE_HUB && map_put(&t->children, trie_key(parent, key), id) < 0) {
		if (id % TRIE_BLOCK == 0 && trie_begins(id / TRIE_BLOCK))
			free(t->blocks[id / TRIE_BLOCK]);
		return TRIE_FAILED;
	}
	*trie_entry(t, id) = (struct trie_entry){
		.node = { .parent = parent, .key = key },
		.next_sibling = p->first_child & ~TRIE_HUB,
	};
	p->first_child = id | (p->first_child & TRIE_HUB);
	return t->n = id;
}

/* Puts n keys below a node that has no children yet, so that none need be looked for. TRIE_FAILED:
 * out of memory, or of ids; what was put until then is there. */
static uint32_t trie_extend(struct trie *t, uint32_t parent, struct trie_step *steps, size_t n)
{
	struct trie_entry *above = trie_entry(t, parent);

	for (size_t i = 0; i < n; i++) {
		uint32_t id = t->n + 1;
		struct trie_entry *e;

		if (id > TRIE_MOST || trie_grow(t, id) < 0)
			return TRIE_FAILED;
		e = trie_entry(t, id);
		*e = (struct trie_entry){ .node = { .parent = parent, .key = steps[i].key } };
		above->first_child = id;
		above = e;
		parent = steps[i].id = t->n = id;
	}
	return parent;
}

uint32_t trie_path(struct trie *t, uint32_t parent, struct trie_step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t before = t->n;

		parent = steps[i].id = trie_put(t, parent, steps[i].key);
		if (parent == TRIE_FAILED)
			return TRIE_FAILED;
		if (t->n != before) /* it is new, and so are all below it */
			return trie_extend(t, parent, steps + i + 1, n - i - 1);
	}
	return parent;
}
