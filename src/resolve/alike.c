// SPDX-License-Identifier: MIT
/*
 * alike.c: see alike.h. Frames of a stack mostly lie in few mappings, so the ranges met last are
 * kept in a small table.
 *
 * Invariant: two mappings are of one kind only if they have the same bytes of the same file.
 */
#include "resolve/alike.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* No padding. */
struct alike_kind {
	uint64_t pgoff, size;
	uint32_t object, zero;
};

_Static_assert(sizeof(struct alike_kind) == 24, "pooled as bytes");

void alike_free(struct alike *a)
{
	pool_free(&a->kinds);
	free(a->of);
}

/* The kind of a mapping. Only in files an offset means the same everywhere: a JIT's code is its
 * process's own. POOL_FAILED. */
static uint32_t alike_kind(struct alike *a, const struct proc_mapping *m)
{
	const struct alike_kind kind = { .pgoff = m->pgoff,
		                         .size = m->end - m->start,
		                         .object = m->object->id };
	const uint32_t before = a->kinds.n;
	uint32_t id;

	if (m->data || (m->object->kind != PROC_KIND_FILE && m->object->kind != PROC_KIND_RUNTIME))
		return ALIKE_TO_NONE;
	a->kinds.size = sizeof(kind);
	id = pool_put(&a->kinds, &kind);
	if (a->met && id == a->kinds.n && id != before)
		a->met(a->met_ctx, m->object);
	return id;
}

/* Asks the process table, and remembers of each mapping what it is. */
int alike_look(struct alike *a, uint32_t space, uint64_t addr, struct alike_near *near)
{
	uint64_t start, end;
	const struct proc_mapping *m = proc_space_range(a->procs, space, addr, &start, &end);

	if (!m)
		return 0;
	if (ARRAY_ROOM_ZEROED(&a->of, &a->of_capacity, (size_t)m->id + 1) < 0)
		return -ENOMEM;
	if (!a->of[m->id])
		a->of[m->id] = alike_kind(a, m);
	if (a->of[m->id] == POOL_FAILED) {
		a->of[m->id] = 0;
		return -ENOMEM;
	}
	*near = (struct alike_near){
		.start = start, .end = end, .base = m->start, .space = space, .alike = a->of[m->id]
	};
	return 1;
}
