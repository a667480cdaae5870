/* SPDX-License-Identifier: MIT */
/*
 * object.h: the inside of the cache and its objects, and the loaders that fill an object's table.
 */
#ifndef SEAM_SYMBOL_OBJECT_H
#define SEAM_SYMBOL_OBJECT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/map.h"
#include "symbol/kallsyms.h"
#include "symbol/outline.h"
#include "symbol/symbol.h"
#include "symbol/table.h"

/* A symbol that was asked for: made once, then shared. */
struct symbol_used {
	const char *name, *raw;
	uint32_t id;
};

/* How an address becomes one of the table's. */
enum object_terms {
	OBJECT_OFFSET,  /* by file offset and segments */
	OBJECT_ADDRESS, /* as it is, plus shift */
	OBJECT_PLACE,   /* distance from the mapping's start, plus shift */
};

struct shelf_files;
struct shelf_entry;

struct symbol_object {
	struct symbol_cache *cache;
	struct symbol_key key;
	char *path, *name;
	const char *short_name;
	struct symbol_object *next; /* of the same hash */
	pthread_mutex_t loading;
	atomic_bool loaded;
	/* All below is fixed once loaded. */
	int error; /* -ENOMEM while loading, else 0 */
	enum symbol_state state;
	struct buf reason, source;
	struct table table;
	struct image_segment *segments;
	size_t n_segments;
	enum object_terms terms;
	uint64_t shift;
	uint64_t reference; /* KERNEL: the table's _text, 0: unknown */
	bool is_64;         /* VDSO */
	uint64_t bad_lines;
	/* KERNEL: the table was made anew, and is to be kept for the next time */
	atomic_bool unkept;
	bool no_room;   /* there was no memory for its symbols just then */
	bool ambiguous; /* ANON: it has code that stood where other code stood: not in the table */
	_Atomic(struct symbol_used *) *used; /* one per symbol of the table */
	size_t n_used;
	/* Fixed once outlined, by whoever asks first for what has no name. */
	atomic_bool outlined;
	int outline_error; /* -ENOMEM, else 0 */
	bool no_outline;   /* there was no memory for it just then */
	struct outline outline;
	struct image_build_id id; /* by which it is the same object again; empty: nothing says so */
	/* shelf.h: what it is loaded from; and whose table, segments and outline these are. */
	struct shelf_files *files;
	struct shelf_entry *shelved;
};

struct symbol_cache {
	struct symbol_opts opts; /* strings are the cache's own */
	pthread_mutex_t lock;    /* for all below */
	struct arena arena;
	struct map index; /* hash of a key -> position in objects of the newest + 1 */
	struct symbol_object **objects;
	size_t n, capacity;
	uint32_t next_id;
	struct map jitdumps; /* pid -> const char *, its path */
	pthread_mutex_t kallsyms_lock;
	bool kallsyms_loaded;
	struct kallsyms kallsyms;
};

/* Each fills state, table, reason and source of an object. 0, or -ENOMEM. */
int elffile_load(struct symbol_object *object);
int vdso_load(struct symbol_object *object);
int kernel_load(struct symbol_object *object);
int module_load(struct symbol_object *object);
/* The build-id in a file of notes; size 0: it has none. */
void kernel_id_read(const char *path, struct image_build_id *ret);
/* That of the kernel that runs. */
void kernel_id_running(struct image_build_id *ret);
/* The build-id by which a module's file is found: the recorded one, or that of the running kernel's
 * module if that kernel is the recorded one. */
struct image_build_id kernel_module_id(const struct symbol_object *object);
/* Writes the table of a loaded object to the cache, if its names came from the running kernel. */
void kernel_keep(struct symbol_object *object);
int perfmap_load(struct symbol_object *object);
/* Puts the functions of a jitdump into the object's table, but for those that need a time.
 * -EBADMSG: it is none. -ENOMEM. */
int jitdump_take(struct symbol_object *object, const void *bytes, size_t n);
/* Takes the lines of a map into object->table and bad_lines. -ENOMEM. */
int perfmap_text(struct symbol_object *object, const struct buf *text);

/* Puts an image's symbols (and its debug file's, and its PLT) into the object's table. */
int elffile_symbols(struct symbol_object *object, struct image *image);
/* Fills the object's outline. 0, or -ENOMEM. */
int elffile_outline(struct symbol_object *object);
/* Keeps the segments of an image. */
int elffile_segments(struct symbol_object *object, const struct image *image);

/* Notes why there are no names; the first reason stays. */
void object_reason(struct symbol_object *object, enum symbol_state state, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* "ext4" of "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz" and of "[ext4]"; cut to n - 1 bytes. */
void object_module_name(const char *path, char *name, size_t n);
int object_new(struct symbol_cache *cache, const struct symbol_key *key,
               struct symbol_object **ret);
void object_free(struct symbol_object *object);
/* Loads an object if that was not done, and writes to the cache what belongs there. 0 or
 * -ENOMEM. */
int object_load(struct symbol_object *object);
/* The same in two steps. */
int object_load_only(struct symbol_object *object);
void object_keep(struct symbol_object *object);
/* The same for the outline of a loaded object. */
int object_outline(struct symbol_object *object);

#endif
