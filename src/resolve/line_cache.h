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

/* Zero-initialise to start. */
struct line_cache {
	struct buf entries; /* struct line_cache_entry */
	struct buf frames;  /* struct line_cache_frame */
	struct map index;   /* vaddr -> entry */
};

void line_cache_free(struct line_cache *a);
size_t line_cache_count(const struct line_cache *a);
const struct line_cache_entry *line_cache_find(const struct line_cache *a, uint64_t vaddr);
const struct line_cache_frame *line_cache_frames(const struct line_cache *a,
                                                 const struct line_cache_entry *entry);
/* Adds an answer; one that is there already stays. -ENOMEM. */
int line_cache_put(struct line_cache *a, uint64_t vaddr, const struct line_cache_frame *frames,
                   size_t n);

/* All answers as bytes, texts included; the same for the same answers. -ENOMEM, -EFBIG. */
int line_cache_encode(const struct line_cache *a, const struct intern *texts, struct buf *ret);
/* Adds those in bytes. -EBADMSG: not sound, nothing was added. -ENOMEM. */
int line_cache_decode(struct line_cache *a, struct intern *texts, const void *bytes, size_t n);

#endif
