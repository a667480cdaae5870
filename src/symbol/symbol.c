// SPDX-License-Identifier: MIT
/*
 * symbol.c: see symbol.h. Finds the object of a key, turns an address into the object's own terms,
 * and makes each symbol that is asked for once. After that a lookup takes no lock.
 *
 * Objects live as long as the cache, and their pointers stay valid. A symbol gets its id and its
 * demangled name when it is first hit: a kernel's table has a hundred thousand symbols, a recording
 * hits some hundreds.
 *
 * Locks: cache->lock guards the list of objects, the arena and new ids. An object that loads may
 * take it, never the other way round.
 */
#include "symbol/symbol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbol/object.h"

/* ---- the cache ---- */

/* *text becomes a copy in the arena. -ENOMEM. */
static int symbol_copy_text(struct symbol_cache *cache, const char **text)
{
	if (!*text)
		return 0;
	*text = arena_string(&cache->arena, *text, strlen(*text));
	return *text ? 0 : -ENOMEM;
}

/* Copies the list of debug directories into the cache, as the caller's options need not outlive the
 * call. -ENOMEM. */
static int symbol_copy_dirs(struct symbol_cache *cache)
{
	const char *const *dirs = cache->opts.search.debug_dirs;
	const char **copy;
	size_t n = 0;

	if (!dirs)
		return 0;
	while (dirs[n])
		n++;
	copy = arena_alloc(&cache->arena, (n + 1) * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		copy[i] = dirs[i];
		if (symbol_copy_text(cache, &copy[i]) < 0)
			return -ENOMEM;
	}
	cache->opts.search.debug_dirs = copy;
	return 0;
}

/* opts may be NULL: the defaults. Its texts are copied. */
int symbol_new(struct symbol_cache **ret, const struct symbol_opts *opts)
{
	struct symbol_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	pthread_mutex_init(&cache->lock, NULL);
	pthread_mutex_init(&cache->kallsyms_lock, NULL);
	if (opts)
		memcpy(&cache->opts, opts, opts->sz < sizeof(*opts) ? opts->sz : sizeof(*opts));
	if (symbol_copy_text(cache, &cache->opts.search.root) < 0 ||
	    symbol_copy_text(cache, &cache->opts.search.buildid_dir) < 0 ||
	    symbol_copy_text(cache, &cache->opts.kallsyms) < 0 ||
	    symbol_copy_text(cache, &cache->opts.search.vmlinux) < 0 ||
	    symbol_copy_text(cache, &cache->opts.search.kernel_release) < 0 ||
	    symbol_copy_text(cache, &cache->opts.map_dir) < 0 || symbol_copy_dirs(cache) < 0) {
		symbol_free(cache);
		return -ENOMEM;
	}
	*ret = cache;
	return 0;
}

void symbol_free(struct symbol_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->n; i++)
		object_free(cache->objects[i]);
	free(cache->objects);
	map_free(&cache->index);
	map_free(&cache->jitdumps);
	kallsyms_free(&cache->kallsyms);
	arena_free(&cache->arena);
	pthread_mutex_destroy(&cache->lock);
	pthread_mutex_destroy(&cache->kallsyms_lock);
	free(cache);
}

/* All that makes an object another one. */
static bool symbol_key_equal(const struct symbol_key *a, const struct symbol_key *b)
{
	return a->kind == b->kind && a->pid == b->pid && a->data == b->data &&
	       a->build_id.size == b->build_id.size &&
	       !memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.size) &&
	       !strcmp(a->path, b->path);
}

/* The object of a key, made when new; the caller holds the cache's lock. Objects whose keys have
 * the same hash are chained. -ENOMEM. */
static int symbol_object_find(struct symbol_cache *cache, const struct symbol_key *key,
                              struct symbol_object **ret)
{
	uint64_t hash =
	        map_hash_bytes(key->path, strlen(key->path), (uint64_t)key->kind << 32 ^ key->pid);
	struct symbol_object *object;
	uint64_t *slot = map_slot(&cache->index, hash, NULL);

	if (!slot)
		return -ENOMEM;
	for (object = *slot ? cache->objects[*slot - 1] : NULL; object; object = object->next) {
		if (symbol_key_equal(&object->key, key)) {
			*ret = object;
			return 0;
		}
	}
	if (ARRAY_ROOM(&cache->objects, &cache->capacity, cache->n + 1) < 0)
		return -ENOMEM;
	if (object_new(cache, key, &object) < 0)
		return -ENOMEM;
	object->next = *slot ? cache->objects[*slot - 1] : NULL;
	cache->objects[cache->n++] = object;
	*slot = cache->n;
	*ret = object;
	return 0;
}

/* The object of a key. Only code of no file belongs to a process; of all others the pid is cleared,
 * so that a library is one object for all processes. */
int symbol_object(struct symbol_cache *cache, const struct symbol_key *key,
                  struct symbol_object **ret)
{
	struct symbol_key exact = *key;
	int r;

	if (exact.kind != SYMBOL_KIND_ANON && exact.kind != SYMBOL_KIND_JIT)
		exact.pid = 0;
	if (exact.build_id.size > IMAGE_BUILD_ID_MAX)
		exact.build_id.size = IMAGE_BUILD_ID_MAX;
	pthread_mutex_lock(&cache->lock);
	r = symbol_object_find(cache, &exact, ret);
	pthread_mutex_unlock(&cache->lock);
	return r;
}

/* Remembers which jitdump a process mapped. The last one counts. */
int symbol_jitdump(struct symbol_cache *cache, uint32_t pid, const char *path)
{
	uint64_t *slot;
	int r = -ENOMEM;

	if (path[0] != '/')
		return 0;
	pthread_mutex_lock(&cache->lock);
	slot = map_slot(&cache->jitdumps, pid, NULL);
	if (slot) {
		*slot = (uintptr_t)arena_string(&cache->arena, path, strlen(path));
		r = *slot ? 0 : -ENOMEM;
	}
	pthread_mutex_unlock(&cache->lock);
	return r;
}

/* ---- lookups ---- */

/* Turns an address into one of the object's table; -ENOENT: it has none there. */
static int symbol_translate(const struct symbol_object *object, const struct symbol_place *place,
                            uint64_t addr, uint64_t *ret)
{
	uint64_t shift = object->shift;

	switch (object->terms) {
	case OBJECT_OFFSET:
		return image_segments_vaddr(object->segments, object->n_segments,
		                            addr - place->start + place->pgoff, ret);
	case OBJECT_PLACE:
		*ret = addr - place->start + shift;
		/* The table counts from the object's beginning, or from where a module's section
		 * was. */
		return 0;
	case OBJECT_ADDRESS:
		break;
	}
	/* The same kernel may lie elsewhere in another boot; both say where their text begins. */
	if (object->key.kind == SYMBOL_KIND_KERNEL && place->pgoff && object->reference)
		shift = object->reference - place->pgoff;
	*ret = addr + shift;
	return 0;
}

/* Makes the form of a symbol that callers share. If two threads do so at once, the first one's is
 * kept. */
static const struct symbol_used *symbol_use(struct symbol_object *object,
                                            const struct table_found *symbol)
{
	_Atomic(struct symbol_used *) *slot = &object->used[symbol->number];
	struct symbol_used *used = atomic_load_explicit(slot, memory_order_acquire);
	struct symbol_cache *cache = object->cache;
	const char *raw = table_name(&object->table, symbol->name);
	char *name;

	if (used)
		return used;
	/* Before the lock is taken, because demangling takes long. */
	name = cache->opts.no_demangle ? NULL : symbol_demangle(raw, cache->opts.parameters);
	pthread_mutex_lock(&cache->lock);
	used = atomic_load_explicit(slot, memory_order_relaxed);
	if (!used) {
		used = arena_alloc(&cache->arena, sizeof(*used));
		if (used) {
			used->raw = raw;
			used->name = name ? arena_string(&cache->arena, name, strlen(name)) : raw;
			used->id = cache->next_id++;
			if (!used->name)
				used = NULL;
		}
		atomic_store_explicit(slot, used, memory_order_release);
	}
	pthread_mutex_unlock(&cache->lock);
	free(name);
	return used;
}

/* The symbol at ret->addr, which is in the table's terms. */
static int symbol_look(struct symbol_object *object, struct symbol *ret)
{
	const struct symbol_used *used;
	struct table_found symbol;

	ret->placed = true;
	if (object->state != SYMBOL_NAMED) {
		ret->to = object->state == SYMBOL_NO_SYMBOLS ? UINT64_MAX : 0;
		return 0;
	}
	if (!table_find(&object->table, ret->addr, &symbol)) {
		ret->state = SYMBOL_OUTSIDE;
		ret->from = symbol.from;
		ret->to = symbol.to;
		return 0;
	}
	used = symbol_use(object, &symbol);
	if (!used)
		return -ENOMEM;
	ret->name = used->name;
	ret->raw = used->raw;
	ret->id = used->id;
	ret->start = symbol.start;
	ret->size = symbol.end - symbol.start;
	ret->from = symbol.from;
	ret->to = symbol.to;
	return 1;
}

/* Loads the object if no lookup has done so before. Looking up itself takes no lock, so that
 * threads do not wait for each other. */
int symbol_resolve(struct symbol_object *object, const struct symbol_place *place, uint64_t addr,
                   struct symbol *ret)
{
	int r = object_load(object);

	*ret = (struct symbol){ .state = object->state, .addr = addr, .id = SYMBOL_NO_ID };
	if (r < 0)
		return r;
	/* A 32-bit process has another vdso. */
	if (object->key.kind == SYMBOL_KIND_VDSO && object->is_64 && place->start >> 32 == 0) {
		ret->state = SYMBOL_NO_FILE;
		return 0;
	}
	if (symbol_translate(object, place, addr, &ret->addr) < 0) {
		if (object->state == SYMBOL_NAMED)
			ret->state = SYMBOL_OUTSIDE;
		return 0;
	}
	r = symbol_look(object, ret);
	if (r > 0 && ret->size > place->end - place->start && object->terms == OBJECT_PLACE)
		ret->size = place->end - place->start; /* a BPF program is as long as its mapping */
	return r;
}

/* By an address in the object's own terms: no mapping is needed. */
int symbol_at(struct symbol_object *object, uint64_t addr, struct symbol *ret)
{
	int r = object_load(object);

	*ret = (struct symbol){ .state = object->state, .addr = addr, .id = SYMBOL_NO_ID };
	if (r >= 0)
		r = symbol_look(object, ret);
	return r ? r : symbol_outline(object, ret);
}

/* Gives a nameless place the bounds of its function. 1; 0: not known; -ENOMEM. */
int symbol_outline(struct symbol_object *object, struct symbol *symbol)
{
	const struct outline_span *span;
	int r;

	if (object->key.kind != SYMBOL_KIND_FILE || object->key.data || symbol->name ||
	    !symbol->placed)
		return 0;
	r = object_outline(object);
	span = r < 0 ? NULL : outline_find(&object->outline, symbol->addr);
	if (!span)
		return r;
	symbol->start = span->start;
	symbol->size = span->end - span->start;
	return 1;
}

/* Whether unwind information says that a signal put this frame here. 1, 0, -ENOMEM. */
int symbol_is_signal_frame(struct symbol_object *object, const struct symbol *symbol)
{
	int r;

	if (object->key.kind != SYMBOL_KIND_FILE || object->key.data || !symbol->placed)
		return 0;
	r = object_outline(object);
	return r < 0 ? r : outline_is_signal_frame(&object->outline, symbol->addr);
}

int symbol_object_load(struct symbol_object *object)
{
	return object_load_only(object);
}

void symbol_object_ready(struct symbol_object *object)
{
	if (object_load_only(object) >= 0)
		(void)object_outline(object); /* if that failed, it fails again */
}

void symbol_object_keep(struct symbol_object *object)
{
	object_keep(object);
}

/* ---- what is to be said of objects ---- */

const char *symbol_object_name(const struct symbol_object *object)
{
	return object->name;
}

const char *symbol_object_short_name(const struct symbol_object *object)
{
	return object->short_name;
}

size_t symbol_objects(struct symbol_cache *cache)
{
	size_t n;

	pthread_mutex_lock(&cache->lock);
	n = cache->n;
	pthread_mutex_unlock(&cache->lock);
	return n;
}

struct symbol_object *symbol_object_at(struct symbol_cache *cache, size_t i)
{
	struct symbol_object *object;

	pthread_mutex_lock(&cache->lock);
	object = i < cache->n ? cache->objects[i] : NULL;
	pthread_mutex_unlock(&cache->lock);
	return object;
}

const struct symbol_key *symbol_object_key(const struct symbol_object *object)
{
	return &object->key;
}

static bool symbol_is_loaded(struct symbol_object *object)
{
	return atomic_load_explicit(&object->loaded, memory_order_acquire);
}

/* An object that nobody asked for lacks no names. */
enum symbol_state symbol_object_state(struct symbol_object *object)
{
	return symbol_is_loaded(object) ? object->state : SYMBOL_NAMED;
}

/* What its addresses count from, for exports that say so. -ENOENT. */
int symbol_object_origin(struct symbol_object *object, uint64_t *ret)
{
	if (!symbol_is_loaded(object))
		return -ENOENT;
	if (object->key.kind == SYMBOL_KIND_KERNEL && object->reference)
		*ret = object->reference;
	else if (object->key.kind == SYMBOL_KIND_MODULE && object->terms == OBJECT_PLACE)
		*ret = object->shift;
	else
		return -ENOENT;
	return 0;
}

const char *symbol_object_reason(struct symbol_object *object)
{
	return symbol_is_loaded(object) && object->reason.n ? (const char *)object->reason.bytes
	                                                    : "";
}

const char *symbol_object_source(struct symbol_object *object)
{
	return symbol_is_loaded(object) && object->source.n ? (const char *)object->source.bytes
	                                                    : "";
}

size_t symbol_object_count(struct symbol_object *object)
{
	return symbol_is_loaded(object) ? object->table.n : 0;
}

uint64_t symbol_object_bad_lines(struct symbol_object *object)
{
	return symbol_is_loaded(object) ? object->bad_lines : 0;
}

static const struct {
	const char *name, *text;
} states[SYMBOL_STATES] = {
	[SYMBOL_NAMED] = { "named", "named" },
	[SYMBOL_OUTSIDE] = { "outside", "the object has no symbol there" },
	[SYMBOL_NO_SYMBOLS] = { "no_symbols", "the object has no symbols" },
	[SYMBOL_NO_FILE] = { "no_file", "the object could not be found or read" },
	[SYMBOL_OTHER_BUILD_ID] = { "other_build_id", "the file is not the one that was recorded" },
	[SYMBOL_NOT_CODE] = { "not_code", "memory that holds no named code" },
	[SYMBOL_HIDDEN] = { "hidden", "the kernel hides its addresses" },
};

const char *symbol_state_name(enum symbol_state state)
{
	return (unsigned)state < SYMBOL_STATES ? states[state].name : "?";
}

const char *symbol_state_text(enum symbol_state state)
{
	return (unsigned)state < SYMBOL_STATES ? states[state].text : "?";
}
