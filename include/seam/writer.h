/* SPDX-License-Identifier: MIT */
/*
 * seam/writer.h: a well-formed perf.data file from records and features.
 *
 * What was flushed survives: each flush writes the header anew, with the size of the data so far
 * and a mark that says "not finished" (in a field that other readers ignore), so that perf can read
 * the file of a recorder that was killed. close finishes it. When the disk is full the file is cut
 * back to the last whole record and the error is kept; close still finishes the header of what is
 * there.
 */
#ifndef SEAM_WRITER_H
#define SEAM_WRITER_H

#include <seam/error.h>
#include <seam/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct seam_writer;

struct seam_writer_opts {
	size_t sz;          /* sizeof(struct seam_writer_opts) */
	bool pipe;          /* pipe format: no seeking, attrs and features as records */
	int compress_level; /* 0: none; 1 ... 22: zstd, as COMPRESSED2 records */
	size_t buffer;      /* bytes buffered before write(2); 0: 1 MiB */
	bool compress_v1;   /* COMPRESSED records, which perf reads from 5.2 on, instead */
	/* an open file that is written instead of opening path, which is its name in messages then;
	 * it stays the caller's; 0: none */
	int fd;
};

/*
 * Creates (or truncates) the file; "-" is standard output in pipe format. The events' attrs and ids
 * are written now, so all must be known. events is only read during the call.
 */
SEAM_API int seam_writer_open(struct seam_writer **ret, const char *path,
                              const struct seam_events *events, const struct seam_writer_opts *opts,
                              struct seam_error *err);
/*
 * Appends whole records (native byte order), any number in one call. -EINVAL when n does not end at
 * a record's end. -ENOSPC, -EIO, -EPIPE ...: from write(2); sticky: later calls return the same and
 * write nothing.
 */
SEAM_API int seam_writer_write(struct seam_writer *writer, const void *records, size_t n,
                               struct seam_error *err);
/* Hands buffered bytes to the kernel. */
SEAM_API int seam_writer_flush(struct seam_writer *writer, struct seam_error *err);
/* Keeps a feature (bytes are copied) to be written on close (file) or at once (pipe). */
SEAM_API int seam_writer_feature(struct seam_writer *writer, unsigned feature, const void *bytes,
                                 size_t n);
/* A feature that is one string, in perf's padded form. */
SEAM_API int seam_writer_feature_string(struct seam_writer *writer, unsigned feature,
                                        const char *text);
/* Bytes of records accepted and bytes of file written so far. */
SEAM_API uint64_t seam_writer_bytes(const struct seam_writer *writer);
/* Writes what is buffered, the features and the final header; frees the writer whatever happens. */
SEAM_API int seam_writer_close(struct seam_writer *writer, struct seam_error *err);

#ifdef __cplusplus
}
#endif
#endif
