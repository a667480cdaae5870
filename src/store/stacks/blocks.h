/* SPDX-License-Identifier: MIT */
/*
 * blocks.h: the bytes in which a store keeps stacks and their counts. An epoch has four lists of
 * things, each thing stored once and named by its number there (1, 2, 3 ...; 0 is none): strings,
 * objects, frames and nodes of one tree of stacks, as profile.h has them. A list only grows; what
 * comes at once is a block. A thing names only things of lists in front of its own, and a node a
 * parent with a less number.
 *
 * Numbers are written as LEB128. A block is compressed where that makes it smaller. All bytes that
 * are read are not trusted.
 */
#ifndef SEAM_STORE_BLOCKS_H
#define SEAM_STORE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"

enum blocks_kind {
	BLOCKS_STRINGS,
	BLOCKS_OBJECTS,
	BLOCKS_FRAMES,
	BLOCKS_NODES,
	BLOCKS_KINDS,
};

#define BLOCKS_THINGS_MAX (1u << 22) /* in a list */
#define BLOCKS_BYTES_MAX (64u << 20) /* of a block, unpacked */
#define BLOCKS_STRING_MAX 65535u     /* bytes of a string */

struct blocks_object {
	uint32_t path, build_id; /* strings */
};

struct blocks_frame {
	uint32_t object, symbol, file, line, kind, depth; /* as struct profile_frame */
};

/* The frame of a node that stands for what its parent called in stacks that were folded: no list
 * has a frame of this number. Only sorted blocks have such nodes. */
#define BLOCKS_FOLDED BLOCKS_THINGS_MAX

struct blocks_node {
	uint32_t parent, frame;
};

/* What was counted of one series and event in a window. */
struct blocks_count {
	uint32_t node;
	uint32_t state; /* string: its name */
	uint64_t samples, weight;
};

void blocks_put_number(struct buf *to, uint64_t v);

/* Packs what a block holds. Well: takes longer, for what is not to be written soon again.
 * -ENOMEM. */
enum blocks_level {
	BLOCKS_QUICK,
	BLOCKS_WELL
};
int blocks_pack(struct buf *to, struct buf *plain, enum blocks_level level);
/* Appends what was packed. -EBADMSG, -ENOMEM. */
int blocks_unpack(struct buf *to, const void *bytes, size_t n);

/* Calls each with every count of one series and event, as stores had them before counted.h; unit:
 * enum profile_unit of the event. What each returns negative is returned; -EBADMSG. */
int blocks_each_count(const void *bytes, size_t n, unsigned *unit,
                      int (*each)(void *ctx, const struct blocks_count *count), void *ctx);

#endif
