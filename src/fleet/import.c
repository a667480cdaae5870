// SPDX-License-Identifier: MIT
/*
 * import.c: see import.h.
 *
 * A recording becomes windows as an agent would have put them: it is cut into slices of time, and
 * each slice goes in by itself. Invariant: putting the same recording again changes nothing,
 * because the instance is made of its contents, and a window that an instance has put is not put
 * twice.
 */
#include "fleet/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/blake2.h"
#include "base/map.h"
#include "fleet/put.h"
#include "profile/origin.h"

/* 96 bits of the digest: enough that two recordings do not meet by chance. */
#define INSTANCE_DIGITS 24u

struct import {
	const struct import_opts *o;
	struct recording *rec;
	struct load load;
	struct store *store;
	struct labels all;
	char instance[sizeof("import:") + INSTANCE_DIGITS];
	uint64_t epoch_ns; /* to be added to the recording's times */
	struct import_counts counts;
};

/* The labels that all series of a recording have: what its header says, and --label. */
static int import_labels(struct import *i)
{
	struct seam_reader *reader = i->o->reader;
	const char *host = seam_reader_feature_string(reader, SEAM_FEATURE_HOSTNAME);
	const char *kernel = seam_reader_feature_string(reader, SEAM_FEATURE_OSRELEASE);
	const char *key, *value;
	size_t at = 0;
	int r = labels_set(&i->all, "host", host);

	if (r >= 0)
		r = labels_set(&i->all, "kernel", kernel);
	while (r >= 0 && labels_next(i->o->labels, &at, &key, &value))
		r = labels_set(&i->all, key, value);
	return r;
}

/* The instance is made of what is recorded, so that a recording that is imported twice counts
 * once: of its records' numbers and times, and of the samples of each comm, whatever the order of
 * rows. */
static void import_instance(struct import *i)
{
	const struct profile *p = i->load.profile;
	unsigned char digest[BLAKE2_BYTES];
	char hex[BLAKE2_HEX];
	uint64_t sums[] = { i->epoch_ns, i->rec->first_ns, i->rec->last_ns, i->o->window_ns, 0, 0 };
	struct blake2 b;

	for (size_t row = 0; row < profile_n_rows(p); row++) {
		const struct profile_row *at = profile_row_at(p, row);
		const char *comm = profile_text(p, profile_task_at(p, at->key.task)->comm);

		sums[4] += map_hash_bytes(comm, strlen(comm), at->key.slice) * at->weight;
		sums[5] += at->samples;
	}
	blake2_start(&b);
	blake2_add(&b, sums, sizeof(sums));
	blake2_add(&b, i->rec->counts.type, sizeof(i->rec->counts.type));
	blake2_add(&b, i->all.bytes.bytes, i->all.bytes.n);
	blake2_end(&b, digest);
	snprintf(i->instance, sizeof(i->instance), "import:%.*s", INSTANCE_DIGITS,
	         blake2_hex(digest, hex));
}

/* A recording that does not say what its clock is to the time of day ended when its file was last
 * written. */
static void import_epoch(struct import *i)
{
	struct seam_error said = { 0 };
	struct stat st;

	i->epoch_ns = recording_epoch(i->rec);
	if (i->epoch_ns || stat(i->o->path, &st) < 0)
		return;
	i->epoch_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec -
	              i->rec->last_ns;
	seam_error_set(&said, ENODATA, NULL, SEAM_NO_OFFSET, NULL,
	               "%s does not say at what time of day it was made: its last sample is taken "
	               "to be of when the file was written",
	               i->o->path);
	i->o->say(i->o->ctx, said.text);
}

/* For profile_filter: rows of one slice. */
static bool import_in_slice(const struct profile *p, const struct profile_row *row, void *ctx)
{
	(void)p;
	return row->key.slice == *(const uint32_t *)ctx;
}

/* What is known of all samples alone stands in the first window. 1: it was put; 0: it was there
 * already; -errno. */
static int import_window(struct import *i, uint32_t slice, bool first, struct seam_error *err)
{
	const struct profile_slices *slices = profile_slices(i->load.profile);
	struct quality quality = { 0 };
	struct profile *part = NULL;
	struct put_window w = { .instance = i->instance, .all = &i->all, .quality = &quality };
	int r = profile_filter(&part, i->load.profile, import_in_slice, &slice);

	w.profile = part;
	w.from_ns = (slices->first + slice) * slices->quantum_ns + i->epoch_ns;
	w.to_ns = w.from_ns + slices->quantum_ns;
	if (first)
		quality_add_load(&quality, &i->load);
	if (r >= 0)
		r = put_window(i->store, &w, err);
	if (r >= 0)
		*(r ? &i->counts.put : &i->counts.there) += 1;
	quality_free(&quality);
	profile_free(part);
	return r;
}

/* Puts every slice of time that has samples, in order of time. -errno. */
static int import_windows(struct import *i, struct seam_error *err)
{
	const struct profile *p = i->load.profile;
	uint32_t n = 0;
	unsigned char *has;
	bool first = true;
	int r = 0;

	for (size_t row = 0; row < profile_n_rows(p); row++) {
		uint32_t slice = profile_row_at(p, row)->key.slice;

		if (slice == PROFILE_NOT_KEPT)
			return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
			                      "its samples have no times");
		n = slice >= n ? slice + 1 : n;
	}
	has = calloc((size_t)n + 1, 1);
	if (!has)
		return -ENOMEM;
	for (size_t row = 0; row < profile_n_rows(p); row++)
		has[profile_row_at(p, row)->key.slice] = 1;
	for (uint32_t slice = 0; slice < n && r >= 0; slice++)
		if (has[slice]) {
			r = import_window(i, slice, first, err);
			first = false;
		}
	free(has);
	return r;
}

/* Reads the recording into a profile with slices, and settles its labels and times. -errno. */
static int import_load(struct import *i, struct seam_error *err)
{
	const struct import_opts *o = i->o;
	struct recording_opts learn = {
		.sz = sizeof(learn), .progress = o->progress, .symbols = o->symbols, .names = true
	};
	struct load_opts opts = { .sz = sizeof(opts),
		                  .keep = PUT_KEEP | PROFILE_KEEP_SLICE,
		                  .slice_ns = o->window_ns,
		                  .symbols = o->symbols,
		                  .lines = true,
		                  .no_inline = o->no_inline,
		                  .progress = o->progress };
	int r = recording_open(&i->rec, o->reader, &learn, err);

	if (r >= 0)
		r = load_recording(&i->load, i->rec, &opts, err);
	if (r < 0)
		return r;
	import_epoch(i);
	r = import_labels(i);
	if (r >= 0)
		import_instance(i);
	return r;
}

/* Imports all of a recording. *rec is the caller's to close, also after a failure. -errno. */
int import_recording(struct store *store, const struct import_opts *o, struct recording **rec,
                     struct import_counts *ret, struct seam_error *err)
{
	struct import i = { .o = o, .store = store };
	int r = import_load(&i, err);

	if (r >= 0)
		r = import_windows(&i, err);
	*ret = i.counts;
	*rec = i.rec;
	load_free(&i.load);
	labels_free(&i.all);
	return r;
}
