// SPDX-License-Identifier: MIT
/*
 * tables.c: see tables.h. One entry per (path, build-id), made (tables_make.c) under the lock of
 * that entry, so that threads that need different objects do not wait for each other.
 *
 * Locks: t->lock covers the maps, lists and counts, and is never held while a table is compiled; an
 * entry's lock covers its making. An entry's lock is taken first, where both are.
 *
 * Invariant: an object, once given out, does not change and lives until tables_free.
 */
#include "tables/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/procfs.h"
#include "tables/tables_parts.h"

#define VDSO_MAX (1u << 20)

/* opts may be NULL. Tables are made when they are asked for. -ENOMEM. */
int tables_new(struct tables **ret, const struct tables_opts *opts)
{
	struct tables *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	if (opts)
		memcpy(&t->opts, opts, opts->sz < sizeof(*opts) ? opts->sz : sizeof(*opts));
	t->opts.search.sz = sizeof(t->opts.search);
	t->helpers = t->opts.helpers;
	t->jit_where = (struct symbol_opts){ .sz = sizeof(t->jit_where),
		                             .foreign = t->opts.foreign,
		                             .map_dir = t->opts.map_dir,
		                             .began = t->opts.began,
		                             .owner = t->opts.owner,
		                             .began_ctx = t->opts.began_ctx,
		                             .search = t->opts.search };
	if (jit_tables_new(&t->jit, &t->jit_where, t->opts.peek) < 0) {
		free(t);
		return -ENOMEM;
	}
	t->cache.dir = -1;
	if (!t->opts.no_cache)
		table_cache_open(&t->cache, "unwind", t->opts.cache_dir,
		                 t->opts.cache_bytes ? t->opts.cache_bytes : 512ULL << 20);
	pthread_mutex_init(&t->lock, NULL);
	*ret = t;
	return 0;
}

/* No table, object or rule that was given out may be used afterwards. */
void tables_free(struct tables *t)
{
	if (!t)
		return;
	for (struct tables_entry *e = t->entries; e; e = e->next) {
		pthread_mutex_destroy(&e->lock);
		free(e->segments);
	}
	for (struct tables_blob *b = t->blobs; b; b = b->next)
		table_cache_give_back(&b->bytes);
	buf_free(&t->kept_vdso);
	jit_tables_free(t->jit);
	table_cache_close(&t->cache);
	map_free(&t->by_hash);
	map_free(&t->inside);
	map_free(&t->ended);
	map_free(&t->by_contents);
	map_free(&t->by_stamp);
	map_free(&t->mapped);
	arena_free(&t->arena);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* The entry of a path and what else names the object, made when new; NULL: out of memory. The
 * caller holds the lock. state: of the file, where that was looked at; 0: any. */
static struct tables_entry *tables_entry(struct tables *t, const char *path,
                                         const struct image_build_id *id, uint64_t inode,
                                         uint64_t state, const void *memory, size_t n)
{
	static const struct image_build_id none;
	uint64_t hash, *slot;
	struct tables_entry *e;

	id = id ? id : &none;
	/* A build-id says it better than an inode. */
	if (id->size)
		inode = 0;
	hash = map_hash_bytes(path, strlen(path), map_hash_bytes(id->bytes, id->size, 0));
	slot = map_slot(&t->by_hash, hash, NULL);
	if (!slot)
		return NULL;
	/* Paths may share a hash: all that names the object is compared. */
	for (e = (struct tables_entry *)(uintptr_t)*slot; e; e = e->same) {
		if (!strcmp(e->object.path, path) && e->build_id.size == id->size &&
		    e->memory == memory && e->inode == inode && e->state == state &&
		    !memcmp(e->build_id.bytes, id->bytes, id->size))
			return e;
	}
	e = arena_alloc(&t->arena, sizeof(*e));
	if (!e)
		return NULL;
	e->object.path = arena_string(&t->arena, path, strlen(path));
	if (!e->object.path)
		return NULL;
	e->object.reason = e->reason;
	e->build_id = *id;
	e->inode = inode;
	e->state = state;
	e->memory = memory;
	e->n_memory = n;
	pthread_mutex_init(&e->lock, NULL);
	e->same = (struct tables_entry *)(uintptr_t)*slot;
	e->next = t->entries;
	t->entries = e;
	*slot = (uintptr_t)e;
	return e;
}

/* The entry is made ready by whoever comes first; others wait for it. */
static int tables_lookup(struct tables *t, const char *path, const struct image_build_id *id,
                         uint64_t inode, uint64_t state, const void *memory, size_t n,
                         const struct tables_object **ret)
{
	struct tables_entry *e;

	pthread_mutex_lock(&t->lock);
	e = tables_entry(t, path, id, inode, state, memory, n);
	pthread_mutex_unlock(&t->lock);
	if (!e)
		return -ENOMEM;
	pthread_mutex_lock(&e->lock);
	if (!e->made)
		tables_make(t, e);
	e->made = true;
	pthread_mutex_unlock(&e->lock);
	*ret = &e->object;
	return 0;
}

int tables_get(struct tables *t, const char *path, const struct image_build_id *build_id,
               const struct tables_object **ret)
{
	return tables_lookup(t, path, build_id, 0, 0, NULL, 0, ret);
}

int tables_get_inode(struct tables *t, const char *path, const struct image_build_id *build_id,
                     uint64_t inode, const struct tables_object **ret)
{
	return tables_lookup(t, path, build_id, inode, 0, NULL, 0, ret);
}

/* A number for a file's state that nobody can give to another file, so it may be the whole key. */
static uint64_t tables_state(const struct stat *st, const struct image_build_id *id)
{
	const uint64_t words[] = { (uint64_t)st->st_dev,          (uint64_t)st->st_ino,
		                   (uint64_t)st->st_size,         (uint64_t)st->st_mtim.tv_sec,
		                   (uint64_t)st->st_mtim.tv_nsec, (uint64_t)st->st_ctim.tv_sec,
		                   (uint64_t)st->st_ctim.tv_nsec };

	return blake2_number(words, sizeof(words), id->bytes, id->size);
}

int tables_get_file(struct tables *t, const char *path, const struct image_build_id *build_id,
                    const struct stat *st, const struct tables_object **ret)
{
	return tables_lookup(t, path, build_id, build_id->size ? 0 : st->st_ino,
	                     tables_state(st, build_id), NULL, 0, ret);
}

/* Whether anything can be unwound by it. */
static bool tables_is_whole(const struct tables_object *object)
{
	return object && (object->table || object->keeps_fp);
}

/* What was found under a build-id below the roots of processes; of those that have ended no more
 * can be asked. */
struct tables_inside {
	const struct tables_object *object;
	bool several; /* files with this build-id hold different things */
};

/* Whether nobody but root and this user can have written the file. */
static bool tables_is_trusted(const struct stat *st)
{
	return (!st->st_uid || st->st_uid == geteuid()) && !(st->st_mode & 022);
}

/* Remembers which object a file below a process's root was found to be, by the file, and, if nobody
 * could have forged the file, by its build-id, for processes that end. */
static void tables_note_inside(struct tables *t, const struct image_build_id *id,
                               const struct stat *st, const struct tables_object *object)
{
	struct tables_inside *inside;
	uint64_t *slot;

	pthread_mutex_lock(&t->lock);
	map_put(&t->inside, tables_state(st, id), (uintptr_t)object);
	slot = id->size && tables_is_trusted(st)
	               ? map_slot(&t->ended, map_hash_bytes(id->bytes, id->size, 0), NULL)
	               : NULL;
	if (slot && !*slot)
		*slot = (uintptr_t)arena_alloc(&t->arena, sizeof(*inside));
	inside = slot ? (struct tables_inside *)(uintptr_t)*slot : NULL;
	if (inside) {
		inside->several |= inside->object && inside->object->table != object->table;
		inside->object = object;
	}
	pthread_mutex_unlock(&t->lock);
}

/* The object of the file that a running process has at a path at which we have none, or another
 * one. A file is read once, whichever process has it. */
static int tables_below(struct tables *t, const char *below, const struct stat *st,
                        const struct image_build_id *id, const struct tables_object **ret)
{
	uint64_t known = 0;
	int r = 0;

	pthread_mutex_lock(&t->lock);
	map_get(&t->inside, tables_state(st, id), &known);
	pthread_mutex_unlock(&t->lock);
	*ret = (const struct tables_object *)(uintptr_t)known;
	if (!*ret)
		r = tables_get_file(t, below, id, st, ret);
	if (r >= 0 && !known && tables_is_whole(*ret))
		tables_note_inside(t, id, st, *ret);
	return r;
}

/* For a process that has ended: the object that all other processes had under this build-id, if
 * nobody could have forged it; else NULL. */
static const struct tables_object *tables_ended(struct tables *t, const struct image_build_id *id)
{
	const struct tables_inside *inside;
	const struct tables_object *object = NULL;
	uint64_t at = 0;

	if (!id->size)
		return NULL;
	pthread_mutex_lock(&t->lock);
	map_get(&t->ended, map_hash_bytes(id->bytes, id->size, 0), &at);
	inside = (const struct tables_inside *)(uintptr_t)at;
	if (inside && !inside->several)
		object = inside->object;
	pthread_mutex_unlock(&t->lock);
	return object;
}

/*
 * What a process has at a path is asked of its own root first: below ours another file may stand
 * there, with the same build-id. A file that was deleted or replaced is asked of a process that
 * has it mapped.
 */
int tables_get_inside(struct tables *t, uint32_t pid, const char *path,
                      const struct image_build_id *build_id, uint64_t inode,
                      const struct tables_object **ret)
{
	const struct tables_object *object = NULL;
	bool known = build_id->size || inode, runs;
	char below[4096 + 32];
	struct stat st, ours;
	int r;

	runs = path[0] == '/' && known &&
	       (size_t)snprintf(below, sizeof(below), "/proc/%u/root%s", pid, path) <
	               sizeof(below) &&
	       stat(below, &st) == 0 && (build_id->size || st.st_ino == inode);
	/* Ours is another file, or there is none: the process is in a container, say. */
	if (runs &&
	    (stat(path, &ours) < 0 || ours.st_dev != st.st_dev || ours.st_ino != st.st_ino)) {
		r = tables_below(t, below, &st, build_id, &object);
		if (r < 0 || tables_is_whole(object)) {
			*ret = object;
			return r;
		}
	}
	r = tables_get_inode(t, path, build_id, inode, ret);
	if (r < 0 || runs || tables_is_whole(*ret))
		return r;
	object = tables_ended(t, build_id);
	if (!object && known &&
	    procfs_deleted(t->opts.peek, (pid_t)pid, path, inode, below, sizeof(below)) &&
	    stat(below, &st) == 0)
		r = tables_below(t, below, &st, build_id, &object);
	*ret = r >= 0 && object ? object : *ret;
	return r;
}

/* Remembers when a file was written, as long as nothing was made of it. */
static int tables_note(struct tables *t, const char *path, uint64_t inode,
                       const struct timespec *written)
{
	struct tables_entry *e;

	pthread_mutex_lock(&t->lock);
	e = tables_entry(t, path, NULL, inode, 0, NULL, 0);
	pthread_mutex_unlock(&t->lock);
	if (!e)
		return -ENOMEM;
	pthread_mutex_lock(&e->lock);
	if (!e->noted && !e->made) {
		e->noted = true;
		e->written = *written;
	}
	pthread_mutex_unlock(&e->lock);
	return 0;
}

int tables_mapped(struct tables *t, const char *path, uint64_t inode)
{
	struct stat st;

	if (stat(path, &st) < 0 || st.st_ino != inode)
		return 0; /* tables_get_inode will find the same */
	return tables_note(t, path, inode, &st.st_mtim);
}

int tables_mapped_before(struct tables *t, struct tables *other, const char *path, uint64_t inode)
{
	struct tables_entry *e;

	pthread_mutex_lock(&other->lock);
	e = tables_entry(other, path, NULL, inode, 0, NULL, 0);
	pthread_mutex_unlock(&other->lock);
	if (!e)
		return -ENOMEM;
	return e->noted ? tables_note(t, path, inode, &e->written) : 0;
}

int tables_get_memory(struct tables *t, const char *name, const void *bytes, size_t n,
                      const struct tables_object **ret)
{
	return tables_lookup(t, name, NULL, 0, 0, bytes, n, ret);
}

int tables_get_code(struct tables *t, const struct jit_ask *ask, struct walk_place *ret)
{
	return jit_tables_find(t->jit, ask, ret);
}

/* A small file as a whole; links are not followed, because archives may hold any. */
static int tables_read(const char *path, struct buf *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && ret->n <= VDSO_MAX) {
		void *to = buf_reserve(ret, 1 << 14);

		n = to ? read(fd, to, 1 << 14) : -1;
		ret->n += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return n < 0 || !ret->n || ret->n > VDSO_MAX ? -ENOENT : 0;
}

/* A recording is of one kernel, so the bytes of one vdso are kept: of the first that is asked
 * for. */
int tables_get_kept_vdso(struct tables *t, const struct image_build_id *id,
                         const struct tables_object **ret)
{
	char path[4096];
	bool have;

	pthread_mutex_lock(&t->lock);
	if (!t->kept_known) {
		t->kept_known = true;
		t->kept_id = *id;
		if (image_kept_path(&t->opts.search, id, "vdso", path, sizeof(path)) < 0 ||
		    tables_read(path, &t->kept_vdso) < 0)
			buf_clear(&t->kept_vdso);
	}
	have = t->kept_vdso.n && image_build_id_equal(&t->kept_id, id);
	pthread_mutex_unlock(&t->lock);
	if (!have)
		return -ENOENT;
	return tables_get_memory(t, "[vdso]", t->kept_vdso.bytes, t->kept_vdso.n, ret);
}

void tables_rest(struct tables *t, const void *header)
{
	uint64_t n;
	bool mapped;

	pthread_mutex_lock(&t->lock);
	mapped = map_get(&t->mapped, (uintptr_t)header, &n);
	pthread_mutex_unlock(&t->lock);
	/* These are shared pages of a file: pages that are dropped are read again. */
	if (mapped)
		madvise((void *)header, n, MADV_DONTNEED);
}

struct peek *tables_peek(const struct tables *t)
{
	return t->opts.peek;
}

void tables_rest_all(struct tables *t)
{
	uint64_t header, n;
	size_t i = 0;

	pthread_mutex_lock(&t->lock);
	while (map_next(&t->mapped, &i, &header, &n))
		madvise((void *)(uintptr_t)header, n, MADV_DONTNEED);
	pthread_mutex_unlock(&t->lock);
}

void tables_count(struct tables *t, struct tables_counts *ret)
{
	pthread_mutex_lock(&t->lock);
	*ret = t->counts;
	pthread_mutex_unlock(&t->lock);
}
