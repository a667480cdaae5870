// SPDX-License-Identifier: MIT
/*
 * bpf_runtime.c: see bpf_runtime.h. A file is read only if it is the one that was mapped: its
 * build-id is the same or, if it has none, its inode.
 *
 * It is asked for every file that a followed process maps for execution, so that a "no" must be
 * cheap: the symbol is looked up through .gnu.hash, and the answer is kept by what the file is. A
 * file whose unwind table is known (an object of tables/) is not even looked at.
 *
 * Several threads may ask; the lock covers the maps and the reading. Answers live as long as the
 * struct.
 */
#include "recorder/bpf_runtime.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/procfs.h"
#include "image/image.h"
#include "runtimes/kinds.h"

#define FILES_MAX 65536u /* of which is remembered what they are */

struct bpf_runtime {
	struct intern files;  /* struct file_key */
	struct map known;     /* its number -> struct runtime_object *, or 0 */
	struct map by_object; /* struct tables_object * -> the same */
	struct arena arena;
	pthread_mutex_t lock;
	struct peek *peek;
};

/* Which file it is. */
struct file_key {
	uint64_t device, inode, size, changed_ns;
};

int bpf_runtime_new(struct bpf_runtime **ret, struct peek *peek)
{
	struct bpf_runtime *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->peek = peek;
	pthread_mutex_init(&p->lock, NULL);
	*ret = p;
	return 0;
}

void bpf_runtime_free(struct bpf_runtime *p)
{
	if (!p)
		return;
	intern_free(&p->files);
	map_free(&p->known);
	map_free(&p->by_object);
	arena_free(&p->arena);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* ---- a file ---- */

/* The table of symbols that other objects may use, by hash: every file that is mapped is asked, so
 * it must not cost more than a few words. */
struct runtime_file {
	struct image *image;
	struct image_section hash, symbols, names;
};

/* A word of a section; 0 beyond its end, so that a broken table leads nowhere. */
static uint32_t runtime_u32(const struct image_section *s, uint64_t at)
{
	uint32_t v = 0;

	if (s->n >= 4 && at <= s->n - 4)
		memcpy(&v, s->bytes + at, 4);
	return v;
}

/* The hash of .gnu.hash: Bernstein's, h * 33 + c. */
static uint32_t runtime_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

/* The value of symbol number i, if that is its name. */
static bool runtime_symbol_is(const struct runtime_file *f, uint32_t i, const char *name,
                              Elf64_Sym *ret)
{
	size_t size = strlen(name) + 1;
	Elf64_Sym symbol;

	/* A symbol that the file itself does not define has no value. */
	if ((uint64_t)i * sizeof(symbol) + sizeof(symbol) > f->symbols.n)
		return false;
	memcpy(&symbol, f->symbols.bytes + (uint64_t)i * sizeof(symbol), sizeof(symbol));
	if (symbol.st_shndx == SHN_UNDEF || symbol.st_name > f->names.n ||
	    f->names.n - symbol.st_name < size ||
	    memcmp(f->names.bytes + symbol.st_name, name, size) != 0)
		return false;
	*ret = symbol;
	return true;
}

#define HASH_HEAD 16u /* bytes: buckets, first symbol, words of the filter, its shift */

/* Looks a symbol up in .gnu.hash: a chain ends where the lowest bit is set. */
static int runtime_symbol(void *ctx, const char *name, uint64_t *ret, uint64_t *bytes)
{
	Elf64_Sym symbol;
	const struct runtime_file *f = ctx;
	uint32_t buckets = runtime_u32(&f->hash, 0), first = runtime_u32(&f->hash, 4);
	/* Behind the head come the words of the Bloom filter, which is not asked, then the buckets,
	 * then the chains. */
	uint64_t at = HASH_HEAD + (uint64_t)runtime_u32(&f->hash, 8) * 8;
	uint32_t hash = runtime_hash(name), i, one;

	if (!buckets)
		return -ENOENT;
	i = runtime_u32(&f->hash, at + hash % buckets * 4ull);
	if (i < first)
		return -ENOENT;
	/* A chain's word is the hash with its lowest bit used as the end mark. The loop ends with
	 * the section in any case. */
	for (at += buckets * 4ull; (uint64_t)(i - first) * 4 + at < f->hash.n; i++) {
		one = runtime_u32(&f->hash, at + (uint64_t)(i - first) * 4);
		if ((one | 1) == (hash | 1) && runtime_symbol_is(f, i, name, &symbol)) {
			*ret = symbol.st_value;
			if (bytes)
				*bytes = symbol.st_size;
			return 0;
		}
		if (one & 1)
			break;
	}
	return -ENOENT;
}

/* Reads what is initialised in the file itself. */
static int runtime_read(void *ctx, uint64_t address, void *to, size_t n)
{
	const struct runtime_file *f = ctx;
	uint64_t offset;
	int r = image_offset_of_vaddr(f->image, address, &offset);

	if (r < 0)
		return r;
	return pread(image_fd(f->image), to, n, (off_t)offset) == (ssize_t)n ? 0 : -EIO;
}

/* All functions of the file; the ends of signal handlers are of no interest. */
struct runtime_functions {
	int (*each)(void *arg, uint64_t start, uint64_t end);
	void *arg;
};

static int runtime_function(void *ctx, uint64_t start, uint64_t end, bool is_signal_frame)
{
	const struct runtime_functions *f = ctx;

	(void)is_signal_frame;
	return f->each(f->arg, start, end);
}

static int runtime_functions(void *ctx, int (*each)(void *arg, uint64_t start, uint64_t end),
                             void *arg)
{
	const struct runtime_file *f = ctx;
	struct runtime_functions all = { each, arg };

	return image_each_fde(f->image, runtime_function, &all);
}

/* Without a build-id the inode was compared already (bpf_runtime_path). */
static bool runtime_file_is(const struct image *image, const struct kwalk_ask *ask)
{
	struct image_build_id want = { .size = ask->build_id_size }, have = { 0 };

	if (!ask->build_id_size)
		return true;
	memcpy(want.bytes, ask->build_id, sizeof(want.bytes));
	return image_build_id(image, &have) > 0 && image_build_id_equal(&want, &have);
}

/* The symbol that is looked for among all that the file has. */
struct runtime_wanted {
	const char *name;
	uint64_t value, size;
};

static int runtime_is_wanted(void *ctx, const struct image_symbol *symbol)
{
	struct runtime_wanted *w = ctx;

	if (!symbol->section || strcmp(symbol->name, w->name) != 0)
		return 0;
	w->value = symbol->value;
	w->size = symbol->size;
	return 1;
}

static int runtime_local(void *ctx, const char *name, uint64_t *ret, uint64_t *bytes)
{
	const struct runtime_file *f = ctx;
	struct runtime_wanted w = { .name = name };

	if (image_each_symbol(f->image, SHT_SYMTAB, runtime_is_wanted, &w) <= 0)
		return -ENOENT;
	*ret = w.value;
	if (bytes)
		*bytes = w.size;
	return 0;
}

/* Whether the file is an interpreter: 1 and *ret, or 0. */
static int runtime_file(const char *path, const struct kwalk_ask *ask, struct runtime_object *ret)
{
	struct runtime_file f = { .image = NULL };
	const struct runtime_source source = { .ctx = &f,
		                               .symbol = runtime_symbol,
		                               .local = runtime_local,
		                               .read = runtime_read,
		                               .functions = runtime_functions };
	int r = image_open(&f.image, path, NULL);

	if (r < 0)
		return 0;
	r = -ENOENT;
	/* Interpreters of other machines are not understood. */
	if (image_machine(f.image) == EM_X86_64 && runtime_file_is(f.image, ask) &&
	    image_section(f.image, ".gnu.hash", &f.hash) >= 0 &&
	    image_section(f.image, ".dynsym", &f.symbols) >= 0 &&
	    image_section(f.image, ".dynstr", &f.names) >= 0)
		r = kinds_find(ret, &source);
	image_close(f.image);
	return r >= 0 || r == -ENOTSUP;
}

/* ---- all files ---- */

/* The file by its name, or by its name in the process's own file system; one that has none any more
 * by its mapping. */
static bool bpf_runtime_path(struct peek *peek, const struct kwalk_ask *ask, char *path, size_t n,
                             struct stat *st)
{
	/* Twice, by two names. A container's file may also be readable only through the process. */
	for (int i = 0; i < 2; i++) {
		int size = i ? snprintf(path, n, "%s", ask->path)
		             : snprintf(path, n, "/proc/%d/root%s", (int)ask->pid, ask->path);

		if (size > 0 && (size_t)size < n && stat(path, st) == 0 && S_ISREG(st->st_mode) &&
		    (!ask->inode || st->st_ino == ask->inode))
			return true;
	}
	return procfs_deleted(peek, ask->pid, ask->path, ask->inode, path, n) &&
	       stat(path, st) == 0;
}

/* Files that were looked into are known by what they are; beyond FILES_MAX each is read anew. */
static const struct runtime_object *bpf_runtime_look(struct bpf_runtime *p,
                                                     const struct kwalk_ask *ask, const char *path,
                                                     const struct stat *st)
{
	/* The change time is part of it: a file that is written anew is another file. */
	const struct file_key key = { st->st_dev, st->st_ino, (uint64_t)st->st_size,
		                      (uint64_t)st->st_ctim.tv_sec * 1000000000u +
		                              (uint64_t)st->st_ctim.tv_nsec };
	struct runtime_object found, *kept = NULL;
	uint64_t known;
	uint32_t id;

	id = p->known.n < FILES_MAX ? intern_bytes(&p->files, &key, sizeof(key)) : INTERN_FAILED;
	if (id != INTERN_FAILED && map_get(&p->known, id, &known))
		return (const struct runtime_object *)(uintptr_t)known;
	if (runtime_file(path, ask, &found)) {
		kept = arena_alloc(&p->arena, sizeof(*kept));
		if (kept)
			*kept = found;
	}
	if (id != INTERN_FAILED)
		map_put(&p->known, id, (uintptr_t)kept); /* else it is read again */
	return kept;
}

/* An object is a file in one state, whoever has mapped it: one that is written anew is another. */
const struct runtime_object *bpf_runtime_get(struct bpf_runtime *p, const struct kwalk_ask *ask,
                                             const struct tables_object *object)
{
	const struct runtime_object *runtime;
	uint64_t key = (uintptr_t)object, known = 0;
	char path[4096 + 32];
	struct stat st;
	bool found;

	if (ask->path[0] != '/')
		return NULL;
	pthread_mutex_lock(&p->lock);
	found = key && map_get(&p->by_object, key, &known);
	pthread_mutex_unlock(&p->lock);
	if (found)
		return (const struct runtime_object *)(uintptr_t)known;
	if (!bpf_runtime_path(p->peek, ask, path, sizeof(path), &st))
		return NULL;
	pthread_mutex_lock(&p->lock);
	runtime = bpf_runtime_look(p, ask, path, &st);
	if (key && p->by_object.n < FILES_MAX)
		map_put(&p->by_object, key, (uintptr_t)runtime);
	pthread_mutex_unlock(&p->lock);
	return runtime;
}
