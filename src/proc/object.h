/* SPDX-License-Identifier: MIT */
/*
 * object.h: what is mapped, once per distinct thing, and what kind of thing a recorded name is.
 */
#ifndef SEAM_PROC_OBJECT_H
#define SEAM_PROC_OBJECT_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include "proc/proc.h"

struct object_pool {
	struct intern *names;
	struct arena *arena;
	struct proc_object **objects;
	size_t n, capacity;
	struct intern keys; /* the bytes that tell objects apart -> the same dense ids, + 1 */
};

void object_destroy(struct object_pool *pool);
/* name: an id of pool->names. NULL: out of memory. */
const struct proc_object *object_get(struct object_pool *pool, enum proc_kind kind, uint32_t name,
                                     uint32_t pid, uint64_t inode, const uint8_t *build_id,
                                     size_t build_id_size);

/* The kind of a mapping by the name that was recorded, and the bytes of the name that count. */
enum proc_kind object_kind_user(const char *name);
enum proc_kind object_kind_kernel(const char *name);
/* "[kernel.kallsyms]_text" -> 17 bytes; other names whole. */
size_t object_name_length(enum proc_kind kind, const char *name);

#endif
