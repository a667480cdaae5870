/* SPDX-License-Identifier: MIT */
/*
 * stat.h: what is in a recording, counted as it streams by: records by type, samples by event, what
 * was lost, by CPU and by time, and what became of deferred stacks. Keeps counters only.
 */
#ifndef SEAM_INSPECT_STAT_H
#define SEAM_INSPECT_STAT_H

#include <seam/reader.h>

#include "abi/members.h"
#include "abi/runtime_end.h"
#include "base/buf.h"
#include "base/map.h"
#include "inspect/stat_stitch.h"
#include "samples/walk_result.h"

#define STAT_TYPES 128u /* types below are counted by index, the others in a map */
#define STAT_SLOTS 32u  /* of the losses over time */

struct stat_losses {
	uint64_t records, lost; /* but for those in `told` */
	uint64_t skipped;       /* of them, by the kernel: a BPF program ran on the CPU */
	uint64_t told;          /* samples, by LOST_SAMPLES: LOST records count the same losses */
	uint64_t tasks;         /* that were not followed */
	struct map by_cpu;
	uint64_t first_ns, width_ns, slots[STAT_SLOTS];
	bool started;
};

/* Zero-initialise but for the first line; stat_free to end. */
struct stat_counts {
	bool check, stacks, strict; /* decode every record; stitch; the first damage is an error */
	struct seam_reader *reader; /* of the records: set before the first */
	uint64_t types[STAT_TYPES], total;
	struct map other_types;
	uint64_t *by_event; /* samples */
	size_t n_by_event;
	uint64_t no_event, undecodable;
	struct seam_error first_undecodable;
	struct walk_result_counts unwound;   /* while recording */
	uint64_t runtime_ends[RUNTIME_ENDS]; /* what became of an interpreter's frames */
	struct stat_losses losses;
	struct members members;
	struct stat_stitch stitch;
};

/* Counts one record. -ENOMEM; if strict -EBADMSG for one that cannot be decoded. */
int stat_record(struct stat_counts *s, const struct seam_record *record);
/* To be called behind the last record. -ENOMEM. */
int stat_finish(struct stat_counts *s);
/* All counts, in the form of perf report --stats. */
void stat_text(struct stat_counts *s, struct buf *out);
void stat_free(struct stat_counts *s);

#endif
