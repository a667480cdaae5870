/* SPDX-License-Identifier: MIT */
/* firefox.h: what the files of the Firefox Profiler's format share: the tables that all threads
 * refer to, and how a column is written. */
#ifndef SEAM_EXPORT_FIREFOX_H
#define SEAM_EXPORT_FIREFOX_H

#include "base/intern.h"
#include "base/json.h"
#include "base/map.h"
#include "export/export.h"
#include "export/threads.h"
#include "profile/origin.h"

enum {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_RUNTIME /* and from here on: the rows of runtime.h */
};

/* The tables are in the order in which the threads' stacks met them. */
struct firefox {
	const struct profile *p;
	struct export_out *out;
	struct json j;
	uint64_t start_ns;
	struct intern strings;
	struct map stacks, frames, functions, resources, sources; /* the profile's id -> index */
	struct buf stack_nodes;                                   /* u32: nodes of the profile */
	struct buf frame_ids;                                     /* u32: frames */
	struct buf function_frames; /* u32: a frame of each function */
	struct buf resource_objects;
	struct buf source_files;    /* u32: strings of the profile */
	struct buf location_frames; /* u32: frames whose file is not their function's */
	struct map locations;       /* frame -> index */
	struct map mains;           /* processes whose main thread was written */
	enum origin_cpu cpu;        /* what threadCPUDelta is counted in */
	uint32_t *path;
	struct buf name;
};

/* A key and what is behind it: a bracket, a number, a text, true or false. */
void firefox_open(struct firefox *f, const char *key, char bracket);
void firefox_u64(struct firefox *f, const char *key, uint64_t v);
void firefox_text(struct firefox *f, const char *key, const char *text);
void firefox_flag(struct firefox *f, const char *key, bool v);
/* A table without rows. */
void firefox_empty(struct firefox *f, const char *key, const char *const *columns);
/* A column in which every row says the same. */
void firefox_same(struct firefox *f, const char *key, size_t n, const char *literal);

/* A node and those above it into the tables: 0 or more, or -ENOMEM. */
int firefox_tables_add(struct firefox *f, uint32_t node);
/* The number of a string. INTERN_FAILED. */
uint32_t firefox_string(struct firefox *f, const char *text, size_t n);
/* firefox_markers.c: how labels are shown ("markerSchema"), and a thread's, as spans of time. */
void firefox_marker_schema(struct firefox *f);
int firefox_markers(struct firefox *f, const struct threads *t, const struct threads_thread *thread,
                    double interval);
/* "shared": behind all else that names strings. */
int firefox_tables_write(struct firefox *f);
void firefox_tables_clear(struct firefox *f);

#endif
