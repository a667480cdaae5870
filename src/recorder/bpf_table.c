// SPDX-License-Identifier: MIT
/*
 * bpf_table.c: see bpf_table.h. A table is made of a file only if the file is the one that was
 * mapped: its build-id is the same or, if it has none, its inode. The build-id of a file is read
 * once, as long as the file is the same and was not changed.
 *
 * kwalk's follower asks from its own thread while the recorder unwinds in others: tables/ has its
 * own locks, and what is kept here is behind `lock`. Paths come from processes and are only names;
 * what they lead to is compared with what was mapped.
 */
#include "recorder/bpf_table.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/blake2.h"
#include "base/map.h"
#include "base/procfs.h"
#include "capture/buildid.h"
#include "image/image.h"
#include "proc/object.h"
#include "recorder/bpf_known.h"
#include "samples/jit.h"
#include "unwind/frametab.h"

#define DUMPS_MAX 65536u /* processes whose jitdumps are known */

struct bpf_table {
	struct tables *tables;
	bool remembers;
	const unsigned char *
	        /* found once: each exec asks for it, and looking takes longer than all else */
	        vdso;
	size_t n_vdso;
	struct map dumps; /* pid -> path of its jitdump */
	struct arena names;
	pthread_mutex_t lock;
	/* hash of path, device, inode, size and time of change -> struct tables_object */
	struct map known;
	struct bpf_known at;  /* of files with build-ids, by path */
	struct bpf_where own; /* where this process's paths lead */
};

/* The vdso of this process is the kernel's own, so that it is everybody's of the same
 * architecture. */
static void bpf_table_vdso(struct bpf_table *t)
{
	if (image_own_vdso(&t->vdso, &t->n_vdso) <= 0)
		t->vdso = NULL;
}

/* tables: the caller's, and must outlive it. */
int bpf_table_new(struct bpf_table **ret, struct tables *tables)
{
	struct bpf_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->tables = tables;
	t->remembers = true;
	bpf_table_vdso(t);
	pthread_mutex_init(&t->lock, NULL);
	bpf_known_init(&t->at);
	t->own = bpf_known_where(&t->at, getpid(), 0);
	*ret = t;
	return 0;
}

void bpf_table_free(struct bpf_table *t)
{
	if (!t)
		return;
	bpf_known_free(&t->at);
	map_free(&t->known);
	map_free(&t->dumps);
	arena_free(&t->names);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* Finds where the mapped file can be read: by its name, or by its name in the process's own file
 * system. */
static bool bpf_table_path(const struct kwalk_ask *ask, const char *root, char *path, size_t n,
                           struct stat *st)
{
	return (size_t)snprintf(path, n, "%s%s", root, ask->path) < n && stat(path, st) == 0 &&
	       (!ask->inode || st->st_ino == ask->inode);
}

/* The key of a file: where it is, and its size and change time. The hash is cryptographic, so that
 * nobody can make two files with one key. */
static uint64_t bpf_table_hash(const char *path, const struct stat *st)
{
	/* ctime, not mtime: who owns a file may set its mtime back, but not its ctime. */
	const uint64_t words[] = { (uint64_t)st->st_dev, (uint64_t)st->st_ino,
		                   (uint64_t)st->st_size, (uint64_t)st->st_ctim.tv_sec,
		                   (uint64_t)st->st_ctim.tv_nsec };

	return blake2_number(words, sizeof(words), path, strlen(path));
}

/* Opened without waiting: the path may have become a FIFO. */
static const struct tables_object *bpf_table_read(struct bpf_table *t, const char *path,
                                                  const struct stat *st)
{
	const struct tables_object *object = NULL;
	struct image_build_id id = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0) {
		id.size = (uint8_t)buildid_from_fd(fd, id.bytes);
		close(fd);
	}
	tables_get_file(t->tables, path, &id, st, &object);
	return object;
}

/* By inode, so that each file is read once. later: not now, then it is set. */
static const struct tables_object *bpf_table_inode(struct bpf_table *t, const char *path,
                                                   const struct stat *st, bool *later)
{
	uint64_t hash = bpf_table_hash(path, st), known;
	const struct tables_object *object;
	bool found;

	if (!t->remembers)
		return bpf_table_read(t, path, st);
	/* Two threads may read one file at the same time; both find the same object in tables/. */
	pthread_mutex_lock(&t->lock);
	found = map_get(&t->known, hash, &known);
	pthread_mutex_unlock(&t->lock);
	if (found)
		return (const struct tables_object *)(uintptr_t)known;
	if (later) {
		*later = true;
		return NULL;
	}
	object = bpf_table_read(t, path, st);
	if (!object)
		return NULL;
	pthread_mutex_lock(&t->lock);
	map_put(&t->known, hash, (uintptr_t)object); /* without memory it is read again */
	pthread_mutex_unlock(&t->lock);
	return object;
}

static uint64_t bpf_table_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What is remembered of a file with a build-id. A table that was made of a file in our own root is
 * that of every file with its build-id and path: then nobody asks where the process is, which takes
 * longer than all else. What others have in theirs is for those alone. */
static const struct tables_object *bpf_table_recall(struct bpf_table *t,
                                                    const struct kwalk_ask *ask, uint64_t now_ns,
                                                    struct bpf_where *where, bool *was)
{
	static const struct bpf_where anywhere;
	const struct tables_object *object;
	bool there = false;

	*where = anywhere;
	object = bpf_known_find(&t->at, ask, &anywhere, now_ns, was);
	if (object || ask->gone)
		return object;
	*where = bpf_known_where(&t->at, ask->pid, now_ns);
	object = bpf_known_find(&t->at, ask, where, now_ns, &there);
	*was |= there;
	return object;
}

/* What was not found for a process that is gone may be found for the next one. */
static void bpf_table_remember(struct bpf_table *t, const struct kwalk_ask *ask, uint64_t now_ns,
                               const struct bpf_where *where, const struct tables_object *object)
{
	const struct bpf_where anywhere = { 0 };
	bool own = where->space && !memcmp(where, &t->own, sizeof(*where));

	if (object->table && (own || !where->space))
		bpf_known_put(&t->at, ask, &anywhere, now_ns, object);
	else if (where->space)
		bpf_known_put(&t->at, ask, where, now_ns, object);
}

/* A program that starts maps what others have mapped before it: its files are not looked at again
 * each time. Of a process that has ended meanwhile nothing is remembered but for others like it.
 * later: what was never looked at is not now, either; then it is set. */
static const struct tables_object *bpf_table_build(struct bpf_table *t, const struct kwalk_ask *ask,
                                                   const struct image_build_id *id, bool *later)
{
	const struct tables_object *object = NULL;
	uint64_t now_ns = bpf_table_now_ns();
	struct bpf_where where = { 0 };
	bool was = false;

	if (t->remembers)
		object = bpf_table_recall(t, ask, now_ns, &where, &was);
	if (object)
		return object;
	if (later && !was) {
		*later = true;
		return NULL;
	}
	tables_get_inside(t->tables, (uint32_t)ask->pid, ask->path, id, 0, &object);
	if (object && t->remembers)
		bpf_table_remember(t, ask, now_ns, &where, object);
	return object;
}

/* By its inode, in the process's own root if it is not the file that we have at its path. On
 * another device a file may have the same path and number: the process's own is the one. Of one
 * that has ended the root is not known any more. */
static const struct tables_object *bpf_table_look(struct bpf_table *t, const struct kwalk_ask *ask,
                                                  bool *later)
{
	char path[4096 + 32], inside[4096 + 32], own[32];
	struct stat st, st_inside;
	bool ours = bpf_table_path(ask, "", path, sizeof(path), &st);

	snprintf(own, sizeof(own), "/proc/%d/root", (int)ask->pid);
	if (bpf_table_path(ask, own, inside, sizeof(inside), &st_inside) &&
	    (!ours || st.st_dev != st_inside.st_dev || st.st_ino != st_inside.st_ino))
		return bpf_table_inode(t, inside, &st_inside, later);
	if (!ours &&
	    procfs_deleted(tables_peek(t->tables), ask->pid, ask->path, ask->inode, inside,
	                   sizeof(inside)) &&
	    stat(inside, &st_inside) == 0)
		return bpf_table_inode(t, inside, &st_inside, later);
	return ours ? bpf_table_inode(t, path, &st, later) : NULL;
}

/* When a recording begins, every process has mapped what others have: a file that was looked at for
 * another one with the same root a moment ago is not looked at again. */
static const struct tables_object *bpf_table_known(struct bpf_table *t, const struct kwalk_ask *ask,
                                                   bool *later)
{
	uint64_t now_ns = bpf_table_now_ns();
	struct bpf_where where = bpf_known_where(&t->at, ask->pid, now_ns);
	const struct tables_object *object;

	object = where.space ? bpf_known_find(&t->at, ask, &where, now_ns, NULL) : NULL;
	if (object)
		return object;
	object = bpf_table_look(t, ask, later);
	if (object && where.space)
		bpf_known_put(&t->at, ask, &where, now_ns, object);
	return object;
}

/* Files are known by build-id, so that a file that replaced the mapped one is not taken for it. A
 * file without a build-id is known by its inode. A process in a container has other files at the
 * same paths: those are looked for below its own root. */
static const struct tables_object *bpf_table_file(struct bpf_table *t, const struct kwalk_ask *ask,
                                                  bool *later)
{
	struct image_build_id id = { .size = ask->build_id_size };

	memcpy(id.bytes, ask->build_id, sizeof(id.bytes));
	if (id.size)
		return bpf_table_build(t, ask, &id, later);
	return t->remembers && ask->inode ? bpf_table_known(t, ask, later)
	                                  : bpf_table_look(t, ask, later);
}

/* A process maps its jitdump as a sign that it writes one. The newest path counts. */
static void bpf_table_note_dump(struct bpf_table *t, const struct kwalk_ask *ask)
{
	const char *path, *known = bpf_table_dump(t, (uint32_t)ask->pid);

	if (!t->remembers || t->dumps.n >= DUMPS_MAX || (known && !strcmp(known, ask->path)))
		return;
	pthread_mutex_lock(&t->lock);
	path = arena_string(&t->names, ask->path, strlen(ask->path));
	if (path)
		map_put(&t->dumps, (uint64_t)ask->pid, (uintptr_t)path); /* else it has none */
	pthread_mutex_unlock(&t->lock);
}

/* NULL: it has none that is known. The text lives as long as t. */
const char *bpf_table_dump(struct bpf_table *t, uint32_t pid)
{
	uint64_t path = 0;

	if (!t->remembers)
		return NULL;
	pthread_mutex_lock(&t->lock);
	map_get(&t->dumps, pid, &path);
	pthread_mutex_unlock(&t->lock);
	return (const char *)(uintptr_t)path;
}

/* *ret stays as it is where nothing is known of the mapping. */
const struct tables_object *bpf_table_get(struct bpf_table *t, const struct kwalk_ask *ask,
                                          struct kwalk_table *ret)
{
	enum proc_kind kind = object_kind_user(ask->path);
	const struct tables_object *object = NULL;
	uint64_t vaddr;

	ret->tells = kind == PROC_KIND_FILE && jit_is_dump(ask->path);
	if (ret->tells)
		bpf_table_note_dump(t, ask);
	if (kind == PROC_KIND_FILE)
		object = bpf_table_file(t, ask, ask->known ? &ret->later : NULL);
	else if (kind == PROC_KIND_VDSO && t->vdso)
		tables_get_memory(t->tables, "[vdso]", t->vdso, t->n_vdso, &object);
	else
		ret->may_guess = kind == PROC_KIND_ANON;
	/* Memory without a name is code made at run time, and so is a file that is no ELF object:
	 * the walk may go by instructions and frame pointers. */
	ret->may_guess |= object && object->no_object;
	ret->keeps_fp = object && object->keeps_fp;
	/* The table is in the file's own addresses: pgoff and size lead to the segment that was
	 * mapped. */
	if (object && object->table &&
	    image_segments_mapped(object->segments, object->n_segments, ask->pgoff, ask->size,
	                          &vaddr) >= 0) {
		ret->blob = object->table->header;
		ret->vaddr = vaddr;
	}
	return object;
}

/* For one question, with nothing remembered and no lock. */
void bpf_table_once(struct tables *tables, const struct kwalk_ask *ask, struct kwalk_table *ret)
{
	struct bpf_table t = { .tables = tables };

	bpf_table_vdso(&t);
	bpf_table_get(&t, ask, ret);
}
