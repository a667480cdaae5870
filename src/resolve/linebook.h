/* SPDX-License-Identifier: MIT */
/*
 * linebook.h: what is known of the addresses of one object, as it is kept in memory and on disk.
 *
 * Texts are ids of an intern pool that all objects share, as the debugging information has them; an
 * answer of no frames says that nothing is known there. A file of answers is not trusted: it is
 * taken whole or not at all.
 */
#ifndef SEAM_RESOLVE_LINEBOOK_H
#define SEAM_RESOLVE_LINEBOOK_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"

#define LINEBOOK_VERSION 1u

struct linebook_frame {
	uint32_t function, file; /* of the pool; 0: not known */
	uint32_t line;
};

struct linebook_entry {
	uint64_t vaddr;
	uint32_t first, n; /* of frames */
};

/* Zero-initialise to start. */
struct linebook {
	struct buf entries; /* struct linebook_entry */
	struct buf frames;  /* struct linebook_frame */
	struct map index;   /* vaddr -> entry */
};

void linebook_free(struct linebook *a);
size_t linebook_count(const struct linebook *a);
const struct linebook_entry *linebook_find(const struct linebook *a, uint64_t vaddr);
const struct linebook_frame *linebook_frames(const struct linebook *a,
                                             const struct linebook_entry *entry);
/* Adds an answer; one that is there already stays. -ENOMEM. */
int linebook_put(struct linebook *a, uint64_t vaddr, const struct linebook_frame *frames, size_t n);

/* All answers as bytes, texts included; the same for the same answers. -ENOMEM, -EFBIG. */
int linebook_encode(const struct linebook *a, const struct intern *texts, struct buf *ret);
/* Adds those in bytes. -EBADMSG: not sound, nothing was added. -ENOMEM. */
int linebook_decode(struct linebook *a, struct intern *texts, const void *bytes, size_t n);

#endif
