/* SPDX-License-Identifier: MIT */
/*
 * tables.h: the unwind table of an object, made once and kept in a cache on disk.
 *
 * Finds the object's file (only one with the recorded build-id is used), hands its sections to
 * unwind/, and stores what comes out in $XDG_CACHE_HOME/seam/unwind under a digest of these
 * sections: a build-id is a name that anybody may give, and two files with one build-id and
 * different contents live side by side. What a file was found to hold is remembered by its stamp
 * (stamp.h), so that its sections are not read again. A table's pages are those of a file without a
 * name: the kernel's to take back, and nobody else's. Where there is no such file, the table is in
 * this process's own memory. Any thread.
 */
#ifndef SEAM_TABLES_TABLES_H
#define SEAM_TABLES_TABLES_H

#include "image/image.h"
#include "tables/jit_tables.h"
#include "unwind/frametab.h"

struct tables;

struct tables_opts {
	size_t sz;
	struct image_search search;
	/* The recording was made on another machine, so jitdumps are looked for in map_dir only.
	 * map_dir NULL: where they were. */
	bool foreign;
	const char *map_dir;
	/* A list of the kernel's symbols, for who recognizes samples in its functions
	 * (samples/kernel_trap.h); NULL: this machine's. */
	const char *kallsyms;
	/* These decide which perf maps are trusted, as in symbol_opts. */
	uint64_t (*began)(const void *ctx, uint32_t pid);
	bool (*owner)(const void *ctx, uint32_t pid, uint32_t *ret);
	const void *began_ctx;
	bool no_cache;         /* neither read nor write the cache on disk */
	const char *cache_dir; /* NULL: $XDG_CACHE_HOME/seam/unwind, or ~/.cache/seam/unwind */
	uint64_t cache_bytes;  /* the cache is kept below this, least used first; 0: 512 MiB */
	/*
	 * Threads that may help those that ask to make tables of large objects: so many at once,
	 * whatever the number of objects that are made at once. 0: none (a recorder, whose threads
	 * are bounded, and which makes several objects).
	 */
	unsigned helpers;
	/*
	 * Files of our own root are known by their stamp, not by what is in them: reading all code
	 * of a program costs more than making its table. Those that changed less than so many
	 * seconds ago may be replaced before anybody asks again, and their tables are not kept on
	 * disk. 0: all files are known by what is in them, and equal ones share a table.
	 */
	unsigned fresh_s;
	/* Whether no table is wanted any more: one that is being made is given up. Called often,
	 * from any thread. NULL: never. */
	bool (*stopped)(const void *ctx);
	const void *stopped_ctx;
	/* Reads memory of processes, which may wait; NULL: that is done here. */
	struct peek *peek;
};

struct tables_object {
	const struct frametab *table; /* NULL: there is none; reason says why */
	const char *reason;           /* one sentence for people; "" when there is a table */
	const char *path;             /* as asked for */
	const struct image_segment *segments;
	size_t n_segments;
	/* little or nothing of its code has unwind information, and it keeps frame pointers */
	bool keeps_fp;
	/* its file is no object: code that a program put there in a form of its own, of which
	 * nothing can say more than of code made at run time */
	bool no_object;
};

struct tables_counts {
	uint64_t built, from_cache,
	        without;    /* objects; those with the same contents are made once */
	uint64_t bytes;     /* of all tables */
	uint64_t own_bytes; /* of them in this process's own memory; the rest are pages of files */
	uint64_t skipped_functions; /* unwind information that could not be understood */
};

int tables_new(struct tables **ret, const struct tables_opts *opts);
void tables_free(struct tables *t);

/*
 * The table of an object; the same pointer for the same path and build-id, made at the first call.
 * Always fills *ret but for -ENOMEM. Lives until tables_free.
 */
int tables_get(struct tables *t, const char *path, const struct image_build_id *build_id,
               const struct tables_object **ret);
/*
 * The same for a file without a build-id. inode: the one in the recording; 0: it has none. The file
 * at the path is taken only if it has that inode and, where tables_mapped was called for it, was
 * not written to since.
 */
int tables_get_inode(struct tables *t, const char *path, const struct image_build_id *build_id,
                     uint64_t inode, const struct tables_object **ret);
/*
 * The same for the file at the path, as st shows it. When the file is replaced or changes, it
 * becomes another object. build_id: the one in the recording or in the file itself; size 0: none.
 */
struct stat;
int tables_get_file(struct tables *t, const char *path, const struct image_build_id *build_id,
                    const struct stat *st, const struct tables_object **ret);
/*
 * The same for what a process has mapped. A process in a container may see another file at the
 * path, which is then read below its own root. That is not possible after it has ended: then the
 * file at our path is taken, or the one that other processes had below their roots under this
 * build-id, if all of these are the same and belong to root or to this user.
 */
int tables_get_inside(struct tables *t, uint32_t pid, const char *path,
                      const struct image_build_id *build_id, uint64_t inode,
                      const struct tables_object **ret);
/* Call this when a file without a build-id has just been mapped: notes when it was last written to.
 * -ENOMEM. */
int tables_mapped(struct tables *t, const char *path, uint64_t inode);
/* Takes over what tables_mapped noted of a file in other tables. -ENOMEM. */
int tables_mapped_before(struct tables *t, struct tables *other, const char *path, uint64_t inode);
/* For code made at run time, as jit_tables_find. */
int tables_get_code(struct tables *t, const struct jit_ask *ask, struct walk_place *ret);
/* Reads n bytes of an object's file at an address of the object (ELF), whole or not at all: 0 or
 * -errno. The file is looked for and opened at each call. */
int tables_code(struct tables *t, const struct tables_object *object, uint64_t address, void *ret,
                size_t n);
/* From memory (the vdso): bytes must stay valid until tables_free. */
int tables_get_memory(struct tables *t, const char *name, const void *bytes, size_t n,
                      const struct tables_object **ret);

/* A vdso that an archive keeps under this build-id, its own or its kernel's. 0 and *ret; -ENOENT:
 * none. */
int tables_get_kept_vdso(struct tables *t, const struct image_build_id *id,
                         const struct tables_object **ret);

/* The table with this header is not needed for a while: its memory may go, and comes back when it
 * is used. */
void tables_rest(struct tables *t, const void *header);
/* The same of all tables. Any thread, at any time. */
void tables_rest_all(struct tables *t);
/* As in the options. */
struct peek *tables_peek(const struct tables *t);

void tables_count(struct tables *t, struct tables_counts *ret);

#endif
