/* SPDX-License-Identifier: MIT */
/*
 * samples_reader.h: entries of the sample index into samples, for one thread. For samples.c and its
 * parts only.
 *
 * What holds of a task from one moment to another (its name, its address spaces, whether a filter
 * takes it) is looked up once for each sample_index_who: most samples then cost a verdict of the
 * stitcher. Where records are decoded a few samples wait at a time while their bytes are asked for:
 * one by one a long recording is read at the speed at which memory answers.
 */
#ifndef SEAM_SAMPLES_SAMPLES_READER_H
#define SEAM_SAMPLES_SAMPLES_READER_H

#include "abi/members.h"
#include "samples/called.h"
#include "samples/sample_index.h"
#include "samples/samples.h"

#define SAMPLES_READER_WAITING 16u

/* What is known of one sample_index_who, and during which spans of time. Outside of these it is
 * looked up again. */
struct samples_moment {
	struct proc_span at, user_at; /* of the sample's time; of the time of its user part */
	const struct seam_event *event;
	const char *comm;
	uint32_t user_space, kernel_space;
	uint32_t number; /* grows with each change */
	bool taken;
};

struct samples_waiting {
	const struct sample_entry *entry;
	bool decodes, wanted;
	struct sample sample;
	struct seam_record record;
	struct seam_decoded decoded;
	const struct seam_event *last; /* of what decoded holds (abi/redecode.h) */
	struct seam_stitched stitched; /* what is walked, or has calls */
};

struct samples_reader {
	struct recording *rec;
	const struct samples_opts *opts;
	const struct samples_consumer *consumer;
	void *thread; /* the consumer's */
	struct buf *out;
	struct stacks_base base;
	unsigned decodes;        /* SAMPLE_INDEX_* of the samples whose records are decoded */
	bool all, waits;         /* the records of all samples are; of any */
	struct unwound *unwound; /* NULL: copies of stacks are left alone */
	struct members members;
	struct sample_counts counts;
	struct samples_moment *moments; /* by number of the sample_index_who, from 1 on */
	/* By the number of a kernel part: whether its addresses mean the same at any time
	 *. NULL: no kernel code came or went. */
	unsigned char *labelled; /* by set of labels: what the filter says of it */
	unsigned char *kernel_parts;
	size_t looked_at; /* bytes of records (recording_looked_at) */
	unsigned n_waiting;
	struct samples_waiting waiting[SAMPLES_READER_WAITING];
	uint64_t words[CALLED_MAX];
};

/* Whether a consumer with these options needs the bytes of any sample's record. */
bool samples_reader_needs_bytes(const struct recording *rec, const struct samples_opts *opts);
/* tables: NULL: nothing is walked. *ret is samples_reader_free's also after a failure. -ENOMEM. */
int samples_reader_new(struct samples_reader **ret, struct recording *rec,
                       const struct samples_opts *opts, const struct samples_consumer *consumer,
                       struct tables *tables);
/* Takes a sample, and gives it to the consumer, now or with others that wait. record: NULL: it is
 * where the entry says; else its bytes last until this returns. 0, what the consumer returned, or
 * -ENOMEM. */
int samples_reader_take(struct samples_reader *r, const struct sample_entry *entry,
                        const struct seam_record *record);
/* Gives those that wait. */
int samples_reader_flush(struct samples_reader *r);
/* Gives a record beside samples. */
int samples_reader_beside(struct samples_reader *r, const struct seam_record *record);
/* Says to the consumer that this was all. */
int samples_reader_end(struct samples_reader *r);
void samples_reader_free(struct samples_reader *r);

#endif
