// SPDX-License-Identifier: MIT
// tables.c: see tables.h. One entry per (path, build-id), made under the lock of that entry, so that threads that
// need different objects do not wait for each other.
#include "pipeline/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "pipeline/table_cache.h"
#include "unwind/compile.h"

#define VDSO_MAX (1u << 20)
/* Bytes of unwind information from which on helpers are of use: 10 ms of one thread. */
#define TABLES_HELPED (1u << 20)

struct tables_entry {
	struct tables_object object;
	struct image_build_id build_id;
	const void *memory; /* the vdso's bytes, else NULL */
	size_t n_memory;
	uint64_t inode; /* of a file without build-id; 0: any */
	bool noted;     /* it was last written then: */
	struct timespec written;
	pthread_mutex_t lock;
	bool made;
	struct frametab table;
	struct buf blob;    /* the table's bytes; or: */
	const void *mapped; /* pages of a file */
	size_t n_mapped;
	struct image_segment *segments;
	char reason[512];
	struct tables_entry *next; /* of all, and with the same hash */
	struct tables_entry *same;
};

struct tables {
	struct tables_opts opts;
	pthread_mutex_t lock; /* of all below */
	struct map by_hash;   /* of path and build-id -> struct tables_entry * */
	/* hash of a build-id -> the object that was read below a process's root */
	struct map inside;
	struct map mapped; /* address -> bytes, of tables that are pages of files */
	struct tables_entry *entries;
	struct arena arena;
	struct table_cache cache;
	struct tables_counts counts;
	unsigned helpers;     /* that are free */
	struct buf kept_vdso; /* bytes of the one that was kept under kept_id */
	struct image_build_id kept_id;
	bool kept_known;
};

int tables_new(struct tables **ret, const struct tables_opts *opts)
{
	struct tables *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	if (opts)
		memcpy(&t->opts, opts, opts->sz < sizeof(*opts) ? opts->sz : sizeof(*opts));
	t->opts.search.sz = sizeof(t->opts.search);
	t->helpers = t->opts.helpers;
	t->cache.dir = -1;
	if (!t->opts.no_cache)
		table_cache_open(&t->cache, "unwind", t->opts.cache_dir,
		                 t->opts.cache_bytes ? t->opts.cache_bytes : 512ULL << 20);
	pthread_mutex_init(&t->lock, NULL);
	*ret = t;
	return 0;
}

void tables_free(struct tables *t)
{
	if (!t)
		return;
	for (struct tables_entry *e = t->entries; e; e = e->next) {
		pthread_mutex_destroy(&e->lock);
		buf_free(&e->blob);
		if (e->mapped)
			munmap((void *)e->mapped, e->n_mapped);
		free(e->segments);
	}
	buf_free(&t->kept_vdso);
	table_cache_close(&t->cache);
	map_free(&t->by_hash);
	map_free(&t->inside);
	map_free(&t->mapped);
	arena_free(&t->arena);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static void tables_section(struct image *image, const char *name, struct compile_section *ret)
{
	struct image_section section;

	if (image_section(image, name, &section) >= 0 && section.bytes)
		*ret = (struct compile_section){ section.bytes, section.n, section.vaddr };
}

static uint64_t tables_section_address(struct image *image, const char *name)
{
	struct image_section section;

	return image_section(image, name, &section) >= 0 ? section.vaddr : 0;
}

static bool tables_swapped(const struct image *image)
{
	const uint16_t one = 1;
	bool big_here = !*(const unsigned char *)&one;

	return image_is_big_endian(image) != big_here;
}

/* All helpers that are free, for an object to which they are of use; they are given back after it. */
static unsigned tables_take_helpers(struct tables *t, const struct compile_input *in)
{
	unsigned taken;

	if (in->eh_frame.n + in->debug_frame.n < TABLES_HELPED)
		return 0;
	pthread_mutex_lock(&t->lock);
	taken = t->helpers;
	t->helpers = 0;
	pthread_mutex_unlock(&t->lock);
	return taken;
}

static void tables_give_helpers(struct tables *t, unsigned n)
{
	pthread_mutex_lock(&t->lock);
	t->helpers += n;
	pthread_mutex_unlock(&t->lock);
}

/* The code of an object, for what the unwind information leaves out. */
struct tables_code {
	struct image *image;
	struct image_section text;
};

static bool tables_keeps_fp(void *ctx, uint64_t start, uint64_t end)
{
	const struct tables_code *code = ctx;

	return image_keeps_frame_pointers_in(code->image, start, end);
}

static bool tables_is_padding(void *ctx, uint64_t start, uint64_t end)
{
	const struct tables_code *code = ctx;
	const struct image_section *text = &code->text;

	return start >= text->vaddr && end >= start && end - text->vaddr <= text->n &&
	       image_is_padding(image_machine(code->image), text->bytes + (start - text->vaddr),
	                        (size_t)(end - start));
}

/* Compiles an image, with the .debug_frame of its separate debug file if it has none of its own. */
static int tables_compile(struct tables *t, struct image *image, struct buf *ret,
                          struct seam_error *err)
{
	struct tables_code code = { .image = image };
	struct compile_input in = { .machine = image_machine(image),
		                    .swap = tables_swapped(image),
		                    .keeps_fp = tables_keeps_fp,
		                    .is_padding = tables_is_padding,
		                    .code_ctx = &code };
	struct image *debug = NULL;
	unsigned helpers;
	int r;

	for (size_t i = 0; i < image_segments(image) && in.n_ranges < COMPILE_RANGES_MAX; i++) {
		const struct image_segment *s = image_segment_at(image, i);

		if (s->executable && s->memory_size <= UINT64_MAX - s->vaddr)
			in.ranges[in.n_ranges++] =
			        (struct compile_range){ s->vaddr, s->vaddr + s->memory_size };
	}
	in.entry = image_entry(image);
	if (image_section(image, ".text", &code.text) < 0 || !code.text.bytes)
		code.text.n = 0;
	in.text_address = code.text.vaddr;
	in.data_address = tables_section_address(image, ".got");
	tables_section(image, ".eh_frame", &in.eh_frame);
	tables_section(image, ".sframe", &in.sframe);
	tables_section(image, ".debug_frame", &in.debug_frame);
	if (!in.debug_frame.bytes && image_find_debug(&debug, image, &t->opts.search, NULL) >= 0)
		tables_section(debug, ".debug_frame", &in.debug_frame);
	helpers = tables_take_helpers(t, &in);
	in.threads = 1 + helpers;
	r = compile_table(&in, ret, err);
	tables_give_helpers(t, helpers);
	image_close(debug);
	return r;
}

static void tables_copy_segments(struct tables_entry *e, const struct image *image)
{
	size_t n = image_segments(image);

	e->segments = calloc(n + 1, sizeof(*e->segments));
	for (size_t i = 0; e->segments && i < n; i++)
		e->segments[i] = *image_segment_at(image, i);
	e->object.segments = e->segments;
	e->object.n_segments = e->segments ? n : 0;
}

/* Takes a file's pages for the table, if they are sound and of this version. */
static bool tables_take(struct tables_entry *e, const void *bytes, size_t n)
{
	struct frametab table;

	if (frametab_open(&table, bytes, n, NULL) < 0) {
		munmap((void *)bytes, n);
		return false;
	}
	e->table = table;
	e->mapped = bytes;
	e->n_mapped = n;
	buf_free(&e->blob);
	return true;
}

static bool tables_from_cache(struct tables *t, struct tables_entry *e, const char *name)
{
	const void *bytes;
	size_t n;

	return table_cache_map(&t->cache, name, &bytes, &n) > 0 && tables_take(e, bytes, n);
}

/* A table that was made: into the cache, or a file without a name, for its pages. */
static void tables_keep(struct tables *t, struct tables_entry *e, const char *name)
{
	size_t n = e->blob.n;
	const void *bytes;

	if (name[0]) {
		pthread_mutex_lock(&t->lock);
		table_cache_put(&t->cache, name, e->blob.bytes, n);
		pthread_mutex_unlock(&t->lock);
		if (tables_from_cache(t, e, name))
			return;
	}
	if (table_cache_spill(&t->cache, e->blob.bytes, n, &bytes) > 0)
		tables_take(e, bytes, n);
}

/* The file at the path is the one that was mapped, as far as can be told; for a tree of files (--symfs)
 * its maker vouches. */
static bool tables_is_mapped_file(const struct tables *t, const struct tables_entry *e)
{
	struct stat st;

	if (!e->inode || e->build_id.size || t->opts.search.root)
		return true;
	if (stat(e->object.path, &st) < 0)
		return false;
	return st.st_ino == e->inode && (!e->noted || (st.st_mtim.tv_sec == e->written.tv_sec &&
	                                               st.st_mtim.tv_nsec == e->written.tv_nsec));
}

/* Opens the object; with its file checked before and after, as it may be replaced any time. */
static int tables_open(struct tables *t, const struct tables_entry *e, struct image **ret,
                       struct seam_error *err)
{
	int r = 0;

	if (e->memory)
		return image_open_memory(ret, e->memory, e->n_memory, e->object.path, err);
	if (tables_is_mapped_file(t, e))
		r = image_find(ret, e->object.path, &e->build_id, &t->opts.search, NULL, err);
	if (r < 0 || tables_is_mapped_file(t, e))
		return r;
	image_close(*ret);
	*ret = NULL;
	return seam_error_set(
	        err, ESTALE, NULL, SEAM_NO_OFFSET, NULL,
	        "it has no build-id, and the file there is not the one that was mapped");
}

/* Chromium has unwind information for a few thousand of its functions: a table that small says nothing of the rest. */
static bool tables_is_bare(const struct tables_entry *e, bool has_table)
{
	uint64_t code = 0;

	for (size_t i = 0; i < e->object.n_segments; i++)
		if (e->segments[i].executable)
			code += e->segments[i].memory_size;
	return !has_table || e->table.header->size < code / 100;
}

static void tables_make(struct tables *t, struct tables_entry *e)
{
	char hex[IMAGE_BUILD_ID_HEX], name[64] = "";
	struct image_build_id id = { 0 };
	struct seam_error err = { 0 };
	struct image *image = NULL;
	bool cached = false;
	int r;

	r = tables_open(t, e, &image, &err);
	if (r >= 0) {
		tables_copy_segments(e, image);
		if (image_build_id(image, &id) > 0 && !e->memory)
			snprintf(name, sizeof(name), "%s.table%u", image_build_id_hex(&id, hex),
			         FRAMETAB_VERSION);
		cached = name[0] && tables_from_cache(t, e, name);
		if (!cached)
			r = tables_compile(t, image, &e->blob, &err);
		if (!cached && r >= 0)
			r = frametab_open(&e->table, e->blob.bytes, e->blob.n, &err);
		if (!cached && r >= 0)
			tables_keep(t, e, name);
		if (tables_is_bare(e, r >= 0))
			e->object.keeps_fp = image_keeps_frame_pointers(image) > 0;
	}
	image_close(image);
	pthread_mutex_lock(&t->lock);
	if (r >= 0) {
		e->object.table = &e->table;
		t->counts.bytes += e->table.header->size;
		t->counts.own_bytes += e->blob.n;
		if (e->mapped)
			map_put(&t->mapped, (uintptr_t)e->mapped, e->n_mapped);
		t->counts.skipped_functions += e->table.header->skipped;
		if (cached)
			t->counts.from_cache++;
		else
			t->counts.built++;
	} else {
		snprintf(e->reason, sizeof(e->reason), "%s", err.text[0] ? err.text : strerror(-r));
		t->counts.without++;
	}
	pthread_mutex_unlock(&t->lock);
}

static struct tables_entry *tables_entry(struct tables *t, const char *path,
                                         const struct image_build_id *id, uint64_t inode,
                                         const void *memory, size_t n)
{
	static const struct image_build_id none;
	uint64_t hash, *slot;
	struct tables_entry *e;

	id = id ? id : &none;
	if (id->size)
		inode = 0;
	hash = map_hash_bytes(path, strlen(path), map_hash_bytes(id->bytes, id->size, 0));
	slot = map_slot(&t->by_hash, hash, NULL);
	if (!slot)
		return NULL;
	for (e = (struct tables_entry *)(uintptr_t)*slot; e; e = e->same) {
		if (!strcmp(e->object.path, path) && e->build_id.size == id->size &&
		    e->memory == memory && e->inode == inode &&
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
	e->memory = memory;
	e->n_memory = n;
	pthread_mutex_init(&e->lock, NULL);
	e->same = (struct tables_entry *)(uintptr_t)*slot;
	e->next = t->entries;
	t->entries = e;
	*slot = (uintptr_t)e;
	return e;
}

static int tables_lookup(struct tables *t, const char *path, const struct image_build_id *id,
                         uint64_t inode, const void *memory, size_t n,
                         const struct tables_object **ret)
{
	struct tables_entry *e;

	pthread_mutex_lock(&t->lock);
	e = tables_entry(t, path, id, inode, memory, n);
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
	return tables_lookup(t, path, build_id, 0, NULL, 0, ret);
}

int tables_get_inode(struct tables *t, const char *path, const struct image_build_id *build_id,
                     uint64_t inode, const struct tables_object **ret)
{
	return tables_lookup(t, path, build_id, inode, NULL, 0, ret);
}

static bool tables_is_whole(const struct tables_object *object)
{
	return object && (object->table || object->keeps_fp);
}

/* Below the process's own root, where that leads elsewhere than ours. By build-id one process's file is every one's. */
static int tables_below(struct tables *t, const char *path, const struct image_build_id *id,
                        uint64_t inode, const char *below, const struct tables_object **ret)
{
	uint64_t hash = map_hash_bytes(id->bytes, id->size, 0), known = 0;
	const struct tables_object *object;
	struct stat st, ours;
	int r = 0;

	pthread_mutex_lock(&t->lock);
	if (id->size)
		map_get(&t->inside, hash, &known);
	pthread_mutex_unlock(&t->lock);
	object = (const struct tables_object *)(uintptr_t)known;
	if (!object) {
		if (stat(below, &st) < 0 || (!id->size && st.st_ino != inode) ||
		    (stat(path, &ours) == 0 && ours.st_dev == st.st_dev &&
		     ours.st_ino == st.st_ino))
			return 0;
		r = tables_get_inode(t, below, id, inode, &object);
	}
	if (r < 0 || !tables_is_whole(object))
		return r;
	*ret = object;
	if (!known && id->size) {
		pthread_mutex_lock(&t->lock);
		map_put(&t->inside, hash, (uintptr_t)object); /* else it is read again */
		pthread_mutex_unlock(&t->lock);
	}
	return 0;
}

int tables_get_inside(struct tables *t, uint32_t pid, const char *path,
                      const struct image_build_id *build_id, uint64_t inode,
                      const struct tables_object **ret)
{
	char below[4096 + 32];
	int r = tables_get_inode(t, path, build_id, inode, ret);

	if (r < 0 || tables_is_whole(*ret) || path[0] != '/' || (!build_id->size && !inode) ||
	    (size_t)snprintf(below, sizeof(below), "/proc/%u/root%s", pid, path) >= sizeof(below))
		return r;
	return tables_below(t, path, build_id, inode, below, ret);
}

static int tables_note(struct tables *t, const char *path, uint64_t inode,
                       const struct timespec *written)
{
	struct tables_entry *e;

	pthread_mutex_lock(&t->lock);
	e = tables_entry(t, path, NULL, inode, NULL, 0);
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
	e = tables_entry(other, path, NULL, inode, NULL, 0);
	pthread_mutex_unlock(&other->lock);
	if (!e)
		return -ENOMEM;
	return e->noted ? tables_note(t, path, inode, &e->written) : 0;
}

int tables_get_memory(struct tables *t, const char *name, const void *bytes, size_t n,
                      const struct tables_object **ret)
{
	return tables_lookup(t, name, NULL, 0, bytes, n, ret);
}

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

/* A recording is of one kernel: the bytes of one vdso are kept, those of the first that is asked for. */
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
	/* Shared pages of a file: what is dropped is read again. */
	if (mapped)
		madvise((void *)header, n, MADV_DONTNEED);
}

void tables_count(struct tables *t, struct tables_counts *ret)
{
	pthread_mutex_lock(&t->lock);
	*ret = t->counts;
	pthread_mutex_unlock(&t->lock);
}
