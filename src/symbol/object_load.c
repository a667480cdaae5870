// SPDX-License-Identifier: MIT
/*
 * object_load.c: loads an object exactly once, whichever thread comes first, from where objects of
 * its kind have their names.
 *
 * Invariant: what others read without the lock is written before `loaded` (or `outlined`) is set.
 *
 * An object that failed for want of memory fails again: `error` stays.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "symbol/object.h"
#include "symbol/shelf.h"

/* Fills table, state and reason, from where objects of this kind have their names. 0, or
 * -ENOMEM. */
static int object_load_by_kind(struct symbol_object *object)
{
	switch (object->key.kind) {
	case SYMBOL_KIND_FILE:
		return elffile_load(object);
	case SYMBOL_KIND_ANON:
		return perfmap_load(object);
	case SYMBOL_KIND_VDSO:
		return vdso_load(object);
	case SYMBOL_KIND_KERNEL:
		return kernel_load(object);
	case SYMBOL_KIND_MODULE:
		return module_load(object);
	case SYMBOL_KIND_BPF:
	case SYMBOL_KIND_JIT:
	case SYMBOL_KIND_RUNTIME:
	case SYMBOL_KIND_OUT_OF_LINE: { /* one symbol, as long as the mapping */
		struct table_symbol all = { .end = UINT64_MAX, .bind = TABLE_GLOBAL };

		object->terms = OBJECT_PLACE;
		object->state = SYMBOL_NAMED;
		return table_put(&object->table, &all, object->path, strlen(object->path), "");
	}
	default:
		object->state = SYMBOL_NOT_CODE;
		return 0;
	}
}

/* The build-id that the object goes by: the recorded one, or what the running kernel says. */
static struct image_build_id object_id(const struct symbol_object *object)
{
	if (object->key.build_id.size)
		return object->key.build_id;
	if (object->key.kind == SYMBOL_KIND_KERNEL)
		return object->cache->opts.kernel_build_id;
	return object->key.kind == SYMBOL_KIND_MODULE ? kernel_module_id(object)
	                                              : (struct image_build_id){ 0 };
}

/* Loads the names and makes them ready for lookups. Runs once per object, under its lock. 0, or
 * -ENOMEM. */
static int object_load_names(struct symbol_object *object)
{
	bool shelved;
	int r = 0;

	object->state = SYMBOL_NO_FILE;
	if (object->cache->opts.shelf)
		object->id = object_id(object);
	shelved = shelf_take(object);
	if (!shelved)
		r = object_load_by_kind(object);
	if (r == 0 && !shelved)
		r = table_seal(&object->table);
	if (r == 0 && object->table.n) {
		object->n_used = object->table.n;
		object->used = pages_sparse(object->n_used, sizeof(*object->used));
		if (!object->used)
			r = -ENOMEM;
	}
	/* The names were found: reasons from places that were tried before are of no interest. */
	if (object->state == SYMBOL_NAMED && !object->ambiguous)
		buf_clear(&object->reason);
	buf_text(&object->reason); /* NUL-terminated from here on */
	buf_text(&object->source);
	/* Without its reason an object would go from the list of what has no names. */
	if (r == 0 && (object->reason.failed || object->source.failed))
		r = -ENOMEM;
	if (!shelved)
		shelf_put(object, r == 0);
	return r;
}

/* Loads without writing to the cache; for the thread that loads the kernel early. */
int object_load_only(struct symbol_object *object)
{
	if (atomic_load_explicit(&object->loaded, memory_order_acquire))
		return object->error;
	pthread_mutex_lock(&object->loading);
	if (!atomic_load_explicit(&object->loaded, memory_order_relaxed)) {
		object->error = object_load_names(object);
		atomic_store_explicit(&object->loaded, true, memory_order_release);
	}
	pthread_mutex_unlock(&object->loading);
	return object->error;
}

/* Makes the outline of nameless functions, when it is first asked for. -ENOMEM. */
int object_outline(struct symbol_object *object)
{
	if (atomic_load_explicit(&object->outlined, memory_order_acquire))
		return object->outline_error;
	pthread_mutex_lock(&object->loading);
	if (!atomic_load_explicit(&object->outlined, memory_order_relaxed)) {
		object->outline_error = object->shelved ? shelf_outline(object, elffile_outline)
		                                        : elffile_outline(object);
		atomic_store_explicit(&object->outlined, true, memory_order_release);
	}
	pthread_mutex_unlock(&object->loading);
	return object->outline_error;
}

/* Writes to the cache what loading made anew, once. */
void object_keep(struct symbol_object *object)
{
	if (!object->error && atomic_exchange(&object->unkept, false))
		kernel_keep(object);
}

/* Loads the object if that was not done; other threads wait only for the one that loads it. */
int object_load(struct symbol_object *object)
{
	int r;

	if (atomic_load_explicit(&object->loaded, memory_order_acquire))
		return object->error;
	r = object_load_only(object);
	object_keep(object); /* others go on meanwhile */
	return r;
}
