/* SPDX-License-Identifier: MIT */
/*
 * convert.h: a recording into a classic one: a perf.data that tools read that know neither deferred
 * callchains nor stack copies.
 *
 * What comes out: records in order of time; every sample with its whole chain (kernel part,
 * SEAM_CONTEXT_USER, user addresses) as seam_stitch_resolve and the unwinder give it; attrs without
 * the bits of deferral and of stack copies; no CALLCHAIN_DEFERRED record, marker or cookie. How a
 * stack copy was unwound is marked in its sample, as while recording (walk_result.h). All else is
 * carried over byte for byte. What a deferred part runs through and was mapped only after its
 * sample gets a second MMAP2 in front of the sample. Functions of interpreters become code of an
 * ELF file that is written beside (convert_names.h).
 */
#ifndef SEAM_CONVERT_CONVERT_H
#define SEAM_CONVERT_CONVERT_H

#include "samples/samples.h"

struct convert_opts {
	size_t sz;
	bool pipe;          /* stream format; "-" is one anyhow */
	int fd;             /* as in seam_writer_opts */
	int compress_level; /* as COMPRESSED records, which perf reads from 5.2 on; 0: none */
	bool keep_stacks;   /* leave stack copies, and the chains of their samples, as recorded */
	bool strip_raw;     /* no RAW data in samples */
	/* Absolute path of the directory that gets a file with the names of interpreters'
	 * functions; it is made. NULL: they stay without a name for other tools. */
	const char *names_dir;
	bool names_by_id;                 /* in a directory of it, by the file's build-id */
	bool native;                      /* calls of interpreters' loops stay */
	const struct tables_opts *tables; /* unwind tables; NULL: defaults */
	/* Which samples are taken. What was counted at other times is left out, too (losses,
	 * switches); names and mappings are carried whole. */
	struct samples_filter filter;
	struct progress progress;
};

struct convert_result {
	uint64_t samples;    /* written */
	uint64_t not_taken;  /* by the filter */
	uint64_t merged;     /* written with a user part that was deferred */
	uint64_t unwound;    /* written with a user part from a stack copy */
	uint64_t unfinished; /* written without the user part that they were to have */
	uint64_t cut;        /* whose outermost frames found no room: a record ends at 64 KiB */
	uint64_t names;      /* functions of interpreters, in a file of their own */
	struct seam_error unwritten; /* why there is no such file; code 0: none was to be */
	uint64_t mappings; /* written a second time, at the sample whose deferred part needs them */
	uint64_t aux;      /* records of AUX area data, which are not carried */
	uint64_t features, /* of the header, which cannot be read: not carried */
	        vendor; /* records of perf's own that readers before 6.1 do not know: not carried */
};

/*
 * Writes path ("-": standard output) whole, or removes nothing and returns negative: what stands in
 * path then is cut at a record's end. -EOPNOTSUPP: a recording of the other byte order.
 */
int convert_recording(struct convert_result *ret, struct recording *rec, const char *path,
                      const struct convert_opts *opts, struct seam_error *err);

#endif
