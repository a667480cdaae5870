/* SPDX-License-Identifier: MIT */
/*
 * alike.h: what mappings have in common in which an address means the same, wherever they lie:
 * processes that run the same programs have the same files mapped, each at addresses of its own.
 *
 * One thread has one of these; the numbers of one say nothing to another.
 */
#ifndef SEAM_RESOLVE_ALIKE_H
#define SEAM_RESOLVE_ALIKE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/runtime_code.h"
#include "base/pool.h"
#include "proc/proc.h"

#define ALIKE_TO_NONE (UINT32_MAX - 1)

/* The range of a mapping that was looked up last of those with this hash. */
struct alike_near {
	uint64_t start, end;   /* as far as nothing else is mapped over it */
	uint64_t base;         /* where its mapping begins */
	uint32_t space, alike; /* ALIKE_TO_NONE: no file is mapped there */
};

#define ALIKE_NEAR 256u

/* Zero-initialise but for procs, which is sealed. */
struct alike {
	const struct proc_table *procs;
	/* Told of the object of each new kind. NULL: nobody. */
	void (*met)(void *ctx, const struct proc_object *object);
	void *met_ctx;
	struct pool kinds; /* of mappings */
	uint32_t *of;      /* by proc_mapping::id: kind, ALIKE_TO_NONE; 0: not known yet */
	size_t of_capacity;
	struct alike_near near[ALIKE_NEAR];
};

/* A place in a file that is mapped. */
struct alike_place {
	uint32_t kind;   /* of the mapping: file, part of it, and size */
	uint64_t offset; /* in the mapping */
};

void alike_free(struct alike *a);
/* Fills near with the range that holds an address. 0: none does. -ENOMEM. */
int alike_look(struct alike *a, uint32_t space, uint64_t addr, struct alike_near *near);
/* Finds the place of an address of a user's space. 1; 0: nobody else has it, because no file is
 * mapped there for execution. A piece of an interpreter's code is the same in all spaces, as its
 * address is: it has a place of its own. -ENOMEM. */
static inline int alike_find(struct alike *a, uint32_t space, uint64_t addr,
                             struct alike_place *ret)
{
	struct alike_near *near;
	int r = 1;

	/* A piece of an interpreter's code is mapped into no space, whatever a file says. */
	if (runtime_code_is(addr))
		space = PROC_NO_SPACE;
	near = &a->near[(space * 37 ^ addr >> 22) % ALIKE_NEAR];
	if (near->space != space || addr < near->start || addr >= near->end)
		r = alike_look(a, space, addr, near);
	if (r <= 0 || near->alike == ALIKE_TO_NONE)
		return r < 0 ? r : 0;
	ret->kind = near->alike;
	ret->offset = addr - near->base;
	return 1;
}

#endif
