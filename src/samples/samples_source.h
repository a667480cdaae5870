/* SPDX-License-Identifier: MIT */
/*
 * samples_source.h: what comes next in order of time: entries of the sample index, and the records
 * beside samples that were asked for. For samples.c and its parts only.
 *
 * Entries are merged, the few records beside them are sorted (perfdata/order.h). Where records are
 * needed whose bytes do not last (a compressed file), those of samples are sorted, too, and held
 * until they come.
 */
#ifndef SEAM_SAMPLES_SAMPLES_SOURCE_H
#define SEAM_SAMPLES_SAMPLES_SOURCE_H

#include "perfdata/order.h"
#include "samples/index_order.h"
#include "samples/samples.h"

struct samples_next {
	const struct sample_entry *entry; /* NULL: a record beside samples */
	bool has_record;
	struct seam_record record; /* beside samples, or where the entry does not say it */
};

struct samples_source {
	struct recording *rec;
	const struct samples_opts *opts;
	bool records;        /* samples come as records: their bytes do not last */
	struct order *order; /* NULL: no records are asked for */
	struct index_order entries;
	const struct sample_entry *entry; /* the next; NULL: none */
	bool has_record;
	struct seam_record record; /* the next of order */
	uint64_t record_ns;
	uint64_t all, given;
};

/* End it with samples_source_free whatever it returns. */
int samples_source_start(struct samples_source *s, struct recording *rec,
                         const struct samples_opts *opts, struct seam_error *err);
/* 1 and the next; 0: that was all; -ENOMEM. Bytes of a record that is not stable live until the
 * next call. */
int samples_source_next(struct samples_source *s, struct samples_next *ret);
void samples_source_free(struct samples_source *s);

#endif
