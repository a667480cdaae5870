/* SPDX-License-Identifier: MIT */
/*
 * load.h: a recording as a finished profile.
 *
 * The second pass: samples are resolved in parallel; equal stacks of one address space are counted
 * by one hash and one comparison of their raw addresses, and named once at the end.
 */
#ifndef SEAM_AGGREGATE_LOAD_H
#define SEAM_AGGREGATE_LOAD_H

#include "resolve/lines.h"
#include "samples/walk_result.h"
#include "samples/recording.h"
#include "samples/samples.h"
#include "samples/unwound.h"
#include "profile/profile.h"
#include "symbol/symbol.h"

/* Which frames of the stacks are wanted. What is not wanted is neither looked up nor named. */
enum load_frames {
	LOAD_FRAMES_ALL,
	/* of each stack, where the sample hit; a copy of the stack is not walked for it. What is
	 * told of other frames (ended_at_data, callers_taken, missing) stays 0, and unnamed are
	 * samples that hit code without a name. The recording may be opened `innermost`. */
	LOAD_FRAMES_INNERMOST,
	LOAD_FRAMES_NONE, /* all stacks are empty; copies are walked, and how that ended counted */
};

struct load_opts {
	size_t sz;
	enum load_frames frames;
	unsigned keep;      /* PROFILE_KEEP_* */
	unsigned threads;   /* 0: as many as there are CPUs, at most 16 */
	unsigned max_stack; /* innermost frames kept of a stack; 0: all */
	uint64_t slice_ns;  /* of PROFILE_KEEP_SLICE; not 0 then */
	/* While there would be more rows than these, slices are made twice as long: memory then
	 * grows with distinct stacks, not with time. How long they are in the end depends on
	 * threads, too. 0: never. */
	size_t rows_most;
	const struct symbol_opts *symbols; /* NULL: defaults; foreign is set from the recording */
	const struct tables_opts
	        *tables; /* unwind tables; NULL: defaults, with the search of symbols */
	/* Source lines and inlined calls, for objects that have debugging information: every frame
	 * gets its file and line, and each call that was inlined a frame of its own: kind
	 * PROFILE_INLINED, a child of the frame it stands in, with that one's address and object.
	 * So the innermost node of a stack may be an inlined frame; the function that has the code
	 * is the nearest frame outwards of another kind. */
	bool lines;
	bool native;    /* calls of interpreters' loops have frames of their own */
	bool machine;   /* interpreters' functions have none: only what the machine ran */
	bool functions; /* code without lines is told apart by its function, not by its address */
	bool starts; /* and has the address where that begins: frames stay in order; code without a
	                   name has its own */
	bool no_inline; /* file and line only: those of the code, in the frame that has it */
	/* Files are loaded when the first sample is counted that hit them, in a thread, if there
	 * is a CPU for it: nobody asks in which order the symbols' objects were met. */
	bool early;
	const struct lines_opts *lines_opts; /* NULL: defaults, with the search of symbols */
	/* Lines that serve one recording after the other, made with lines_opts; NULL: new ones. */
	struct lines *lent_lines;
	const char *by;   /* PROFILE_KEEP_LABEL: of labels with these keys; NULL: all but ids */
	bool label_lines; /* PROFILE_KEEP_LABEL, without by: as abi/context.h writes a set */
	struct progress progress;
	struct samples_filter filter; /* which samples are counted */
};

/* What could not be named in one object, for the lines below a report. */
struct load_unnamed {
	const char
	        *object; /* symbol_object_name, or "[unknown]" for addresses outside all mappings */
	const char *reason; /* one sentence; "" when there is nothing to say */
	enum symbol_state state;
	const struct symbol_key *key; /* NULL: no object */
	uint64_t samples;             /* whose stack has at least one such frame */
};

/* An object whose inlined calls are not all known, because a part of its debugging information was
 * not found; for the lines below a report. */
struct load_partial {
	char *object;     /* owned */
	char file[256];   /* that was not found (.dwo): one of them */
	uint64_t samples; /* whose stack has at least one such frame */
};

struct load {
	enum load_frames frames;            /* as they were asked for */
	struct profile *profile;            /* its states are enum seam_stitch_state */
	const struct flat *flat;            /* its stacks' sums, if it has no stacks; not owned */
	struct seam_stitch_counts stitch;   /* of all samples, also those not taken */
	struct unwound_counts unwound;      /* of taken samples with stack copies */
	struct walk_result_counts recorded; /* of taken samples that were unwound while recording */
	struct unwound_missing *missing;    /* objects that ended walks, by samples, descending */
	size_t n_missing;
	struct tables *tables; /* whose reasons those are; owned, may be NULL */
	/* of all samples: why stacks ended that were walked while recording; how many have
	 * guessed frames */
	uint64_t ends[STACK_ENDS], guessed;
	uint64_t runtime_ends[RUNTIME_ENDS]; /* likewise: what became of an interpreter's frames */
	/* What is of all samples is of some that were never here, too: an answer of a store has
	 * some series of its windows. */
	bool of_others;
	bool damaged;              /* records were skipped: the profile is of what was left */
	uint64_t taken, not_taken; /* samples */
	/* taken samples whose chain ended in front of a word in no executable memory */
	uint64_t ended_at_data;
	/* taken samples in which a uretprobe's trampoline stands for a caller */
	uint64_t callers_taken;
	/* taken samples with at least one frame whose debugging information was not read, for want
	 * of time (lines_opts.share_ns) */
	uint64_t put_off;
	uint64_t taken_unnamed;       /* taken samples with at least one frame without a name */
	struct load_unnamed *unnamed; /* by samples, descending */
	size_t n_unnamed;
	struct load_partial *partial; /* by samples, descending */
	size_t n_partial;
	struct symbol_cache *symbols; /* names the profile's objects; owned */
};

/* Names the states that rows may have: enum seam_stitch_state. -ENOMEM. */
int load_states(struct profile *p);
int load_recording(struct load *ret, struct recording *rec, const struct load_opts *opts,
                   struct seam_error *err);
void load_free(struct load *load);

#endif
