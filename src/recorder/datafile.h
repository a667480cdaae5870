/* SPDX-License-Identifier: MIT */
/*
 * datafile.h: takes records from the session and from synthesis to the writer, and notes on the
 * way what the header will say of them: the times of the first and last sample, and, where the
 * kernel puts no build-ids into its records, which files were mapped.
 */
#ifndef SEAM_RECORDER_DATAFILE_H
#define SEAM_RECORDER_DATAFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <seam/writer.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"

struct datafile {
	struct seam_writer *writer;
	struct seam_error err; /* why the writer failed; err.code 0: it did not */
	uint32_t time_at; /* of a sample's time in its record; 0: not the same for all events */
	uint64_t first_ns, last_ns;
	uint64_t samples;      /* given to the writer */
	uint64_t safe_samples; /* of them, with the kernel since the last flush that worked */
	bool keep_files;
	struct map owners; /* of processes that made code: pid -> user, as far as /proc said */
	struct intern user_files, kernel_files; /* mapped without a build-id in the record */
};

/* Before the first write: events says where a sample's time is. */
void datafile_events(struct datafile *sink, const struct seam_events *events);
/* A capture_write. Bytes that no writer takes any more are an error, never dropped in silence. */
int datafile_write(void *ctx, const void *bytes, size_t n);
int datafile_flush(struct datafile *sink);
/* The BUILD_ID feature of the files that were kept, into out; how many there are. */
size_t datafile_build_ids(const struct datafile *sink, struct buf *out);
/* The OWNERS feature; how many there are. */
size_t datafile_owners(const struct datafile *sink, struct buf *out);
void datafile_free(struct datafile *sink);

#endif
