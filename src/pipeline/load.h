/* SPDX-License-Identifier: MIT */
/*
 * load.h: a recording as a finished profile.
 *
 * The second pass: samples are resolved in parallel; equal stacks of one address space are counted
 * by one hash and one comparison of their raw addresses, and named once at the end.
 */
#ifndef SEAM_PIPELINE_LOAD_H
#define SEAM_PIPELINE_LOAD_H

#include "pipeline/outcome.h"
#include "pipeline/recording.h"
#include "pipeline/unwound.h"
#include "profile/profile.h"
#include "symbol/symbol.h"

struct load_opts {
	size_t sz;
	unsigned keep;                     /* PROFILE_KEEP_* */
	unsigned threads;                  /* 0: as many as there are CPUs, at most 16 */
	unsigned max_stack;                /* innermost frames kept of a stack; 0: all */
	const struct symbol_opts *symbols; /* NULL: defaults; foreign is set from the recording */
	const struct tables_opts *tables;  /* unwind tables; NULL: defaults */
	struct progress progress;
	/* Says which samples to take (NULL: all); comm may be NULL. Called from several threads. */
	bool (*take)(void *ctx, const struct seam_stitched *sample, const char *comm);
	void *take_ctx;
};

/* What could not be named of one object, for the account below a report. */
struct load_unnamed {
	const char
	        *object; /* symbol_object_name, or "[unknown]" for addresses outside all mappings */
	const char *reason; /* one sentence; "" when there is nothing to say */
	enum symbol_state state;
	uint64_t samples; /* whose stack has at least one such frame */
};

struct load {
	struct profile *profile;          /* its states are enum seam_stitch_state */
	struct seam_stitch_counts stitch; /* of all samples, also those not taken */
	struct unwound_counts unwound;    /* of taken samples with stack copies */
	struct outcome_counts recorded;   /* of taken samples that were unwound while recording */
	struct unwound_missing *missing;  /* objects that ended walks, by samples, descending */
	size_t n_missing;
	struct tables *tables;        /* whose reasons those are; owned, may be NULL */
	uint64_t taken, not_taken;    /* samples */
	uint64_t taken_unnamed;       /* taken samples with at least one frame without a name */
	struct load_unnamed *unnamed; /* by samples, descending */
	size_t n_unnamed;
	struct symbol_cache *symbols; /* names the profile's objects; owned */
};

int load_recording(struct load *ret, struct recording *rec, const struct load_opts *opts,
                   struct seam_error *err);
void load_free(struct load *load);

#endif
