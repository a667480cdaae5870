/* SPDX-License-Identifier: MIT */
/*
 * meta.h: what a recording says about itself: its events, their names, its features. Filled from a
 * file's header or from the records that a pipe carries instead.
 *
 * A part that cannot be read is skipped, counted and told to the damage list; the rest is kept.
 * Memory for features of a stream is bounded by META_FEATURE_BYTES.
 */
#ifndef SEAM_PERFDATA_META_H
#define SEAM_PERFDATA_META_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "perfdata/damage.h"
#include "perfdata/header.h"
#include <seam/reader.h>

#define META_FEATURE_BYTES (256u << 20)
#define META_BUILD_ID_BYTES (16u << 20)

struct meta {
	struct seam_events *events;
	struct seam_bytes features[SEAM_FEATURE_MAX];
	bool has[SEAM_FEATURE_MAX];
	char *strings[SEAM_FEATURE_MAX]; /* decoded on demand, in the arena */
	struct meta_named {
		uint32_t next; /* event of the same tracepoint, + 1; 0: none */
		uint8_t rank;
	} * named; /* per event */
	size_t n_named;
	/* config -> the last event of it that no EVENT_TYPE has named, + 1 */
	struct map tracepoints;
	struct map pmus; /* type -> name, within the feature */
	struct arena arena;
	struct buf build_ids; /* of a pipe's records, laid out as the feature */
	uint64_t bad_features;
	bool swap;
	struct damage *damage;
};

int meta_init(struct meta *m, bool swap, struct damage *damage);
void meta_free(struct meta *m);

/* From a file's header: bytes are the whole file (or as much as there is of it). */
int meta_load_attrs(struct meta *m, const struct header *h, const unsigned char *bytes,
                    uint64_t size, struct seam_error *err);
/* bytes are those of the file from offset base on; table: offset in the file of the feature table,
 * which begins behind the data. */
int meta_load_features(struct meta *m, const struct header *h, const unsigned char *bytes,
                       uint64_t size, uint64_t base, uint64_t table, struct seam_error *err);

/* Counts all features that the header names as lost: they are not in the file. */
void meta_lose_features(struct meta *m, const struct header *h);

/* Takes a record that describes the recording; others are ignored. payload: what follows a
 * TRACING_DATA record. */
int meta_take(struct meta *m, const struct seam_record *record, struct seam_error *err);
int meta_take_tracing_data(struct meta *m, const void *payload, size_t n);

bool meta_feature(const struct meta *m, unsigned feature, struct seam_bytes *ret);
const char *meta_feature_string(struct meta *m, unsigned feature);

#endif
