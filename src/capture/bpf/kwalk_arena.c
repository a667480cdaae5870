// SPDX-License-Identifier: MIT
/*
 * kwalk_arena.c: gives out the memory that the programs see, by offset. Tables are put there once per object and stay; arrays of
 * mappings come and go, and what is given back rests before it is used again, for a program may be in the middle of it.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/bpf/kwalk_parts.h"

#define REST_NS \
	2000000000ull /* walks at once take microseconds; deferred ones check afterwards (walker_is_fresh) */

/* The table's header, by docs/unwind-table.md. */
#define TABLE_MAGIC 0x776e7573u
#define TABLE_VERSION 1u
#define TABLE_X86_64 62u
#define TABLE_RULE_SIZE 32u

struct table_header {
	uint32_t magic, version, machine, sources;
	uint64_t text_start;
	uint32_t n_pages, n_rows, n_rules, n_saves, n_exprs, size;
	uint64_t checksum;
	uint32_t skipped, reserved;
};

struct arena_freed {
	struct arena_freed *next;
	uint64_t since_ns;
	uint32_t offset;
};

static unsigned arena_class(size_t n)
{
	unsigned class = 0;

	while (class < ARENA_CLASSES - 1 && ((size_t)1024 << class) < n)
		class ++;
	return class;
}

static uint32_t arena_up(struct arena_memory *a, uint64_t n)
{
	uint64_t at = (a->used + 63) & ~63ull;

	if (at + n > a->most || at + n < at)
		return 0;
	a->used = at + n;
	return (uint32_t)at;
}

uint32_t arena_take(struct arena_memory *a, size_t n)
{
	unsigned class = arena_class(n);
	struct arena_freed *f = a->freed[class];
	uint32_t offset;

	if (n > (size_t)1024 << class)
		return 0;
	if (!f || f->since_ns + REST_NS > kwalk_now_ns())
		return arena_up(a, (uint64_t)1024 << class);
	a->freed[class] = f->next;
	if (!f->next)
		a->freed_last[class] = NULL;
	offset = f->offset;
	free(f);
	return offset;
}

void arena_give(struct arena_memory *a, uint32_t offset, size_t n, uint64_t now_ns)
{
	unsigned class = arena_class(n);
	struct arena_freed *f = offset ? malloc(sizeof(*f)) : NULL;

	if (!f)
		return; /* without memory to remember it, it is not used again */
	*f = (struct arena_freed){ .since_ns = now_ns, .offset = offset };
	if (a->freed_last[class])
		a->freed_last[class]->next = f;
	else
		a->freed[class] = f;
	a->freed_last[class] = f;
}

void arena_memory_free(struct arena_memory *a)
{
	for (size_t i = 0; i < ARENA_CLASSES; i++) {
		while (a->freed[i]) {
			struct arena_freed *next = a->freed[i]->next;

			free(a->freed[i]);
			a->freed[i] = next;
		}
	}
	map_free(&a->tables);
}

/* Bytes of the parts that the programs read: expressions they do not. */
static uint64_t table_bytes(const struct table_header *h)
{
	return sizeof(*h) + (uint64_t)h->n_rules * TABLE_RULE_SIZE +
	       ((uint64_t)h->n_pages + 1) * 4 + (uint64_t)h->n_rows * 4 + (uint64_t)h->n_saves * 2;
}

static uint32_t table_copy(struct arena_memory *a, const struct table_header *h)
{
	uint64_t known, n = table_bytes(h);
	uint32_t offset;

	if (map_get(&a->tables, (uintptr_t)h, &known))
		return (uint32_t)known;
	if (h->magic != TABLE_MAGIC || h->version != TABLE_VERSION || h->machine != TABLE_X86_64 ||
	    n > h->size)
		return 0;
	offset = arena_up(a, n);
	if (map_put(&a->tables, (uintptr_t)h, offset) < 0)
		return 0;
	if (!offset) {
		a->left_out++;
		return 0;
	}
	memcpy(a->bytes + offset, h, n);
	a->table_bytes += n;
	a->n_tables++;
	return offset;
}

bool arena_table(struct arena_memory *a, const void *blob, struct kwalk_mapping *m)
{
	const struct table_header *h = blob;
	uint32_t offset = table_copy(a, h);

	if (!offset)
		return false;
	m->n_pages = h->n_pages;
	m->rules = offset + (uint32_t)sizeof(*h);
	m->index = m->rules + h->n_rules * TABLE_RULE_SIZE;
	m->rows = m->index + (h->n_pages + 1) * 4;
	m->saves = m->rows + h->n_rows * 4;
	m->base = h->text_start; /* the caller adds where the object is */
	return true;
}
