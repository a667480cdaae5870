/* SPDX-License-Identifier: MIT */
/*
 * writer_state.h: what an open writer holds. For the files writer*.c only.
 */
#ifndef SEAM_PERFDATA_WRITER_STATE_H
#define SEAM_PERFDATA_WRITER_STATE_H

#include "base/buf.h"
#include "perfdata/deflate.h"
#include "perfdata/feature.h"
#include <seam/writer.h>

#define WRITER_BUFFER (1u << 20)
#define WRITER_RUN (64u << 10)

struct writer_feature {
	bool has;
	struct buf content;
};

struct seam_writer {
	char *name;
	int fd;
	bool pipe, compressing;
	bool uncut;       /* a failed write could not be cut off */
	size_t buffer;    /* bytes of out at which it is written */
	struct buf head;  /* of a file: the 104 bytes that are written again on close */
	struct buf out;   /* records for the file */
	struct buf plain; /* records to be compressed */
	struct buf fit;   /* a record in the form that other readers take */
	struct seam_events *events;
	struct deflate deflate;
	struct writer_feature features[SEAM_FEATURE_MAX];
	uint64_t clear_flags; /* of the attrs, on close */
	uint64_t data_offset;
	uint64_t data;     /* bytes of whole records in the file */
	uint64_t accepted; /* bytes of records taken */
	int failed;        /* -errno of the first failed write */
};

/* writer_head.c: pure, into a buf */
int writer_head_file(struct buf *out, const struct seam_events *events, struct buf *header);
int writer_head_pipe(struct buf *out, const struct seam_events *events);
/* EVENT_UPDATE records for names that the attrs do not tell: a file whose recorder is killed has
 * no EVENT_DESC. */
int writer_names(struct buf *out, const struct seam_events *events);
/* data.size, whether the file is still being written, and the feature bits (features may be NULL)
 * into a header. */
void writer_head_update(struct buf *header, uint64_t data_size, bool open,
                        const struct writer_feature *features);
/* Feature table and features, to stand at offset `at` of the file. */
int writer_tail(struct buf *out, const struct writer_feature *features, uint64_t at);
/* A feature as the records of a stream. */
int writer_feature_records(struct buf *out, unsigned feature, const void *bytes, size_t n);

#endif
