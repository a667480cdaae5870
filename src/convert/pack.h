/* SPDX-License-Identifier: MIT */
/*
 * pack.h: what another machine needs to name and unwind a recording, as files of an archive:
 *
 *	.build-id/ab/cdef.../elf      an object, by its build-id (the layout of perf's cache,
 *	                              ~/.debug)
 *	.build-id/ab/cdef.../debug    its separate debug file
 *	.build-id/ab/cdef.../NAME.dwo, elf.dwp, debug.dwp  what was split from them, by the names
 *	                                                   that they have there
 *	.build-id/ab/cdef.../kallsyms the kernel's list, of the modules that were recorded, too;
 *	                     modules  where those are in it; vdso
 *	files/PATH                    an object that has no build-id
 *	sources/PATH                  source files, if they were asked for
 *	maps/perf-PID.map, maps/jit-PID.dump
 *	seam-archive                  what made it, and what it holds, for people
 *
 * A file is taken as names are: only if it is the one that was recorded.
 */
#ifndef SEAM_CONVERT_PACK_H
#define SEAM_CONVERT_PACK_H

#include "archive/tar.h"
#include "dwarf/source_file.h"
#include "samples/recording.h"
#include "profile/profile.h"
#include "symbol/symbol.h"

#define PACK_ENDING ".seam.tar.zst" /* of an archive's name, behind its recording's */
#define PACK_INDEX "seam-archive"
#define PACK_VERSION 1
#define PACK_FILES "files"
#define PACK_MAPS "maps"
#define PACK_SOURCES "sources"
#define PACK_RECORDING "perf.data"

struct pack_opts {
	size_t sz;
	const struct image_search *search; /* where files are */
	bool foreign;                      /* as in symbol_opts */
	const struct profile *sources; /* whose frames' source files are taken, too; NULL: none */
	struct source_dirs dirs;       /* whose sources the user allows */
	/* Called for each object of which there is no file, and each source file that is not taken,
	 * with a sentence that says why. */
	void (*missing)(void *ctx, const char *object, const char *reason);
	void *ctx;
	struct progress progress;
};

struct pack_counts {
	uint64_t objects, debug_files, sources, missing;
	uint64_t bytes; /* of the files, before compression */
};

/* Every object that symbols knows: those that were asked for a name, and what pack_all adds. */
int pack_write(struct tar_writer *tar, struct symbol_cache *symbols, const struct pack_opts *opts,
               struct pack_counts *ret, struct seam_error *err);
/* Adds all that was mapped, whether a sample hit it or not. -ENOMEM. */
int pack_all(struct symbol_cache *symbols, const struct recording *rec);

#endif
