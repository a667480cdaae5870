/* SPDX-License-Identifier: MIT */
/* firefox.h: what the two files of the Firefox Profiler's format share: a thread's tables, and how
 * a column is written. */
#ifndef SEAM_EXPORT_FIREFOX_H
#define SEAM_EXPORT_FIREFOX_H

#include "base/intern.h"
#include "base/json.h"
#include "base/map.h"
#include "export/export.h"

enum {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL
};

/* A thread's tables, in the order in which the stacks met them. */
struct firefox {
	const struct profile *p;
	struct export_out *out;
	struct json j;
	uint64_t start_ns;
	struct intern strings;
	struct map stacks, frames, functions, resources; /* the profile's id -> index */
	struct buf stack_nodes;                          /* u32: nodes of the profile */
	struct buf frame_ids;                            /* u32: frames */
	struct buf function_frames;                      /* u32: a frame of each function */
	struct buf resource_objects;
	uint32_t *path;
	struct buf name;
};

/* A key and the bracket behind it; a key and a number. */
void firefox_open(struct firefox *f, const char *key, char bracket);
void firefox_u64(struct firefox *f, const char *key, uint64_t v);
/* A column in which every row says the same. */
void firefox_same(struct firefox *f, const char *key, size_t n, const char *literal);

/* A node and those above it into the tables: 0 or more, or -ENOMEM. */
int firefox_tables_add(struct firefox *f, uint32_t node);
/* stackTable, frameTable, funcTable, resourceTable, stringArray: behind all else that names
 * strings. */
void firefox_tables_write(struct firefox *f);
void firefox_tables_clear(struct firefox *f);

#endif
