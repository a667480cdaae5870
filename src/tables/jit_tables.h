/* SPDX-License-Identifier: MIT */
/*
 * jit_tables.h: rules for code made at run time, which no file holds: by the unwind information in
 * the jitdump of its process, else by the code itself (unwind/straight.h): as the dump has it, as
 * it stands in a process that runs, or as the file has it that it was copied from
 * (jit_interpreter.h).
 *
 * A dump is read whole when it is first asked for, and again, at most once a second, while its
 * process runs and it has grown. What stands in the place of other code has no rule here. Each
 * distinct rule and table is made once and lives as long as the tables. Any thread.
 */
#ifndef SEAM_TABLES_JIT_TABLES_H
#define SEAM_TABLES_JIT_TABLES_H

#include "image/image.h"
#include "unwind/walk.h"

struct jit_tables;
struct peek;
struct symbol_opts;

/* A file that a process maps to execute it. */
struct jit_file {
	const char *path;
	struct image_build_id build_id;
	uint64_t inode;
};

struct jit_ask {
	uint32_t machine; /* enum frametab_machine */
	uint32_t pid;
	/* the process that made the code: itself, or one that it was forked from */
	uint32_t made_by;
	const char *dump; /* path of that one's jitdump; NULL: it has none */
	bool running;     /* its memory may be read, and what its dump says grows */
	bool exact;       /* execution stopped at the pc; else it is a return address */
	uint64_t pc;
	/* The files of the process that made the code, from *at on, which begins as 0: true, or
	 * there is no further one. NULL: they are not known. */
	bool (*next_file)(void *ctx, size_t *at, struct jit_file *ret);
	void *ctx;
};

/* symbols: where dumps may be looked for; it must outlive the tables. peek: as in tables_opts.
 * -ENOMEM. */
int jit_tables_new(struct jit_tables **ret, const struct symbol_opts *symbols, struct peek *peek);
void jit_tables_free(struct jit_tables *t);

/* Fills table and rule of *ret: 1; 0: nothing can be told of the code there, but perhaps that it
 * keeps a frame pointer. */
int jit_tables_find(struct jit_tables *t, const struct jit_ask *ask, struct walk_place *ret);

#endif
