/* SPDX-License-Identifier: MIT */
/*
 * recover.h: a well-formed recording from a damaged one: every record that is sound and can be
 * decoded, every feature that can be read, and the features that can be told from the records when
 * the recorder did not live to write them.
 */
#ifndef SEAM_CONVERT_RECOVER_H
#define SEAM_CONVERT_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include <seam/reader.h>
#include <seam/writer.h>

/* One input on its way to one output. The caller sets what stands first. */
struct recover {
	struct seam_reader *reader;
	const char *name; /* of the input, for messages */
	bool strict;      /* an unsound record is an error, not left out */
	/* Opens the output, once: when the first record comes, because only then a stream's events
	 * are known. Negative: it failed, and err is filled. */
	int (*open)(void *ctx, const struct seam_events *events, struct seam_writer **ret,
	            struct seam_error *err);
	void *ctx;

	struct seam_writer *writer; /* the caller closes it, also after a failure */
	size_t events;              /* that the output was opened with */
	uint64_t written, dropped, aux_records, unknown;
	bool left_out[SEAM_FEATURE_MAX]; /* features that cannot be read */
	uint64_t first_ns, last_ns;      /* of samples; 0: none */
};

/* Copies one record if it is sound and perf can read its type; others are counted. Negative: err
 * is filled. */
int recover_record(struct recover *r, const struct seam_record *record, struct seam_error *err);
/* To be called behind the last record: copies the features that can be read, and makes event
 * descriptions and times where they are missing. Negative: err is filled. */
int recover_features(struct recover *r, struct seam_error *err);
/* Whether stacks are deferred, so that perf older than 6.19 refuses the file. */
bool recover_is_deferred(const struct recover *r);

#endif
