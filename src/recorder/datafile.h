/* SPDX-License-Identifier: MIT */
/*
 * datafile.h: the perf.data file that is written while recording: a sink of the recorder. Meanwhile
 * it collects what the header will say of the records: the times of the first and the last sample,
 * and which mapped files have no build-id in their record.
 *
 * Invariant: after an error of writing nothing more is written; what was flushed is in the file.
 */
#ifndef SEAM_RECORDER_DATAFILE_H
#define SEAM_RECORDER_DATAFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <seam/writer.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "event/event.h"
#include "recorder/output.h"

struct datafile_opts {
	const char *path; /* "-": a pipe, standard output */
	int compress_level;
	bool keep_files;          /* build-ids of mapped files go into the header */
	const char *program;      /* who writes: "seam 1.0" */
	const char *const *words; /* the command line; may be NULL with n_words 0 */
	size_t n_words;
	const struct event_list *groups; /* which events are groups; NULL: none */
	bool use_clockid;
	int32_t clockid; /* of the records */
};

struct datafile {
	struct seam_writer *writer; /* NULL: not open (any more) */
	struct output output;       /* its name */
	bool pipe;
	struct seam_error err; /* why the writer failed; err.code 0: it did not */
	uint32_t time_at; /* of a sample's time in its record; 0: not the same for all events */
	uint64_t first_ns, last_ns;
	uint64_t samples;      /* given to the writer */
	uint64_t safe_samples; /* of them, with the kernel since the last flush that worked */
	uint64_t bytes;        /* of the file, or of what went into the pipe; once it is closed */
	bool defers;           /* a stack was deferred, or is given for one that was */
	bool keep_files;       /* the kernel puts no build-ids into its records */
	uint64_t end_ns;       /* no file is read after it; 0: no such time. Set before the end */
	uint64_t unread_files; /* whose build-ids are missing for that */
	struct map owners;     /* of processes that made code: pid -> user, as far as /proc said */
	struct intern user_files, kernel_files; /* mapped without a build-id in the record */
	/* What was in the first of user_files when they were met: by their numbers there. */
	struct map first_files; /* -> place + 1 in first_contents */
	struct buf first_contents;
	uint64_t first_bytes, first_spent_ns; /* that were read for it */
};

/* An older file of that name is moved away (output.h), and comes back on failure. The head is
 * written with what is known before recording; events are those of the records that will come. */
int datafile_open(struct datafile *d, const struct datafile_opts *o,
                  const struct seam_events *events, struct seam_error *err);
/* A capture_write. Bytes that cannot be written any more are an error; they are never dropped
 * silently. */
int datafile_write(void *d, const void *bytes, size_t n);
int datafile_flush(void *d);
/* Bytes of the file so far, or that went into the pipe. */
uint64_t datafile_bytes(const struct datafile *d);
/* Writes what is known at the end, and closes the file. If writing failed before, only safe_samples
 * are counted as being in the file. */
int datafile_close(struct datafile *d, struct seam_error *err);
/* For a recording that did not begin: removes the file, and an older one comes back. */
void datafile_abandon(struct datafile *d);
void datafile_free(struct datafile *d);

/* The offset of the time in samples of these events; 0: it is not the same for all. */
uint32_t datafile_time_at(const struct seam_events *events);
/* Of datafile_contents.c: keeps what is in a file that was just met, user_files[number], if that
 * costs little: so what is done to its rights and links while it is recorded does not matter. */
void datafile_contents_first(struct datafile *d, uint32_t number);
/* The FILES feature, what is in the files without a build-id now; how many entries. */
size_t datafile_contents(const struct datafile *d, struct buf *out);

#endif
