/* SPDX-License-Identifier: MIT */
/*
 * line_cache.h: what is known of the addresses of one object, as it is kept in memory and on disk.
 *
 * Texts are ids of an intern pool that all objects share, and are as the debugging information has
 * them. An answer without frames says that nothing is known there. A file of answers is not
 * trusted: it is taken whole or not at all.
 */
#ifndef SEAM_RESOLVE_LINE_CACHE_H
#define SEAM_RESOLVE_LINE_CACHE_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"

#define LINE_CACHE_VERSION 1u

struct line_cache_frame {
	uint32_t function, file; /* of the pool; 0: not known */
	uint32_t line;
};

struct line_cache_entry {
	uint64_t vaddr;
	uint32_t first, n; /* of frames */
};

struct line_cache_file;

/* Zero-initialise to start. */
struct line_cache {
	struct buf entries; /* struct line_cache_entry */
	struct buf frames;  /* struct line_cache_frame */
	struct map index;   /* vaddr -> entry */
	/* Answers of a file, which are taken over when they are asked for; NULL: none. */
	struct line_cache_file *file;
};

void line_cache_free(struct line_cache *a);
/* How many were put, or taken over. */
size_t line_cache_count(const struct line_cache *a);
/* Whether there are answers, of a file too. */
bool line_cache_any(const struct line_cache *a);
/* texts: the pool of line_cache_open. */
const struct line_cache_entry *line_cache_find(struct line_cache *a, struct intern *texts,
                                               uint64_t vaddr);
const struct line_cache_frame *line_cache_frames(const struct line_cache *a,
                                                 const struct line_cache_entry *entry);
/* Adds an answer; one that is there already stays. -ENOMEM. */
int line_cache_put(struct line_cache *a, uint64_t vaddr, const struct line_cache_frame *frames,
                   size_t n);

/* All answers as bytes, texts included; the same for the same answers. Those of a file are taken
 * over first. -ENOMEM, -EFBIG. */
int line_cache_encode(struct line_cache *a, struct intern *texts, struct buf *ret);
/* Adds those in a file's bytes, which must stay until line_cache_close. Of an earlier file all are
 * taken over first. -EBADMSG: not sound, nothing was added. -ENOMEM. */
int line_cache_open(struct line_cache *a, struct intern *texts, const void *bytes, size_t n);
/* Takes over all that a file has and that is not yet here; its bytes may go then. -ENOMEM. */
int line_cache_close(struct line_cache *a, struct intern *texts);

#endif
