/* SPDX-License-Identifier: MIT */
/* pack_parts.h: what the files of pack share: pack.c objects, pack_split.c what was split from them
 * and sources, pack_file.c any file. */
#ifndef SEAM_CONVERT_PACK_PARTS_H
#define SEAM_CONVERT_PACK_PARTS_H

#include "base/buf.h"
#include "base/map.h"
#include "convert/pack.h"

struct pack {
	struct tar_writer *tar;
	struct symbol_cache *symbols;
	const struct pack_opts *opts;
	struct pack_counts *counts;
	struct seam_error *err;
	struct map names; /* hashes of what is in the archive */
	/* hashes of those by build-id -> 1 + where in paths is what was put there */
	struct map elfs;
	struct buf paths; /* each with its NUL */
	bool trusted; /* in the first of two rounds: all but files that others can have written */
	struct buf index;
};

/* Whether a name is new in the archive, from now on no more: each is written once. -ENOMEM. */
int pack_is_new(struct pack *b, const char *name);
/* Says why a path could not be put, by r; returns r. */
int pack_failed(struct pack *b, int r, const char *path);
/* Puts bytes under a name. 1; 0: the name is taken already; -errno. */
int pack_put_bytes(struct pack *b, const char *name, const void *bytes, size_t n);
/* 1; 0: it is there already, or the file is gone, which is reported as missing. follow: also where
 * a link leads. */
int pack_put_file(struct pack *b, const char *name, const char *path, bool follow);

/* The split DWARF of an image that is in the archive as name: its package, or its .dwo files. */
int pack_split(struct pack *b, const char *name, struct image *image);
/* The source files of a profile's frames. */
int pack_sources(struct pack *b, const struct profile *profile);

#endif
