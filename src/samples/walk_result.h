/* SPDX-License-Identifier: MIT */
/*
 * walk_result.h: how the walk over a sample's stack copy ended, kept in the sample that was made of
 * it.
 *
 * A sample that was unwound while recording, or by a conversion, has no copy any more, so what is
 * missing from its stack could not be told from what was never there. It is said in bits 3 to 11 of
 * its record's misc, which the kernel has never used and other readers mask out: no byte is added,
 * and every record says it for itself, in a stream and in a file that was never finished, too
 * (docs/format.md).
 *
 * Invariant: marks are read only where walk_result_said() holds: the event's attr still has the
 * size of the copies, though its samples have none. No event that the kernel or perf wrote is like
 * that.
 */
#ifndef SEAM_SAMPLES_WALK_RESULT_H
#define SEAM_SAMPLES_WALK_RESULT_H

#include "samples/callchain.h"
#include "samples/unwound.h"

enum walk_result_kind {
#define WALK_RESULT(id, ...) WALK_RESULT_##id,
#include "samples/walk_results.def"
	WALK_RESULT_KINDS,
};

/* Classes: 0 is not said, n is up to 512 << n bytes, 7 is more than 32 KiB. */
#define WALK_RESULT_NEEDED 8u

struct walk_result {
	enum walk_result_kind kind;
	/* WALK_RESULT_WALKED: */
	enum walk_end end;
	/* frame pointers led through code made at run time: kept if the end was reached */
	bool guessed;
	bool unreadable; /* WALK_TRUNCATED: the kernel could not read the stack that far */
	/* WALK_NO_INFO: nothing was mapped there; else it is the last frame's object */
	bool unmapped;
	unsigned needed; /* WALK_TRUNCATED, else: the class of the copy that the next step needed */
};

/* Whether the event's samples were unwound before they were written into the file. */
bool walk_result_said(const struct seam_attr *attr);
/* How a walk over the sample's copy ended; the copy began at sp. unmapped: nothing was mapped where
 * the walk ended. */
struct walk_result walk_result_of_walk(const struct walk *walk, const struct seam_sample *sample,
                                       uint64_t sp, bool unmapped);
/* How many of the frames may be written into a file, which cannot mark guesses: frames found by
 * frame pointer alone are written only if they led to a place that unwind information says is the
 * thread's start. */
size_t walk_result_keeps(const struct walk *walk);
/* misc with the marks of a walk result in place of any that stood there; unchanged if
 * !walk_result_said(). */
uint16_t walk_result_put(const struct seam_attr *attr, uint16_t misc,
                         const struct walk_result *result);
/* False: the sample says nothing, or nothing that this version understands. */
bool walk_result_get(const struct seam_attr *attr, uint16_t misc, struct walk_result *ret);
/* Whether the sample's user frames were found by unwind tables, while recording or in a conversion.
 * (Those of a stack copy carry walk.h's marks instead.) */
bool walk_result_by_tables(const struct callchain *chain);
bool walk_result_by_tables_of(const struct seam_event *event, enum seam_stitch_state state,
                              uint16_t misc, uint16_t deferred_misc);
/* The class of so many bytes, from 1 on. */
unsigned walk_result_needed_class(uint64_t bytes);
/* "late", "truncated": names for JSON and fields, which stay the same. Texts are for people. */
const char *walk_result_name(const struct walk_result *result);
const char *walk_result_kind_text(enum walk_result_kind kind);

struct walk_result_counts {
	uint64_t samples; /* that say it: the sum of kind */
	uint64_t kind
	        [WALK_RESULT_KINDS]; /* kind[WALK_RESULT_NOT_SAID]: of such events, without marks */
	uint64_t end[WALK_ENDS];     /* of kind[WALK_RESULT_WALKED]: their sum */
	uint64_t guessed, unreadable, unmapped;
	uint64_t needed[WALK_RESULT_NEEDED]; /* of end[WALK_TRUNCATED] - unreadable, by class */
	uint32_t copy_bytes;                 /* the largest that was asked for */
};

/* Counts a sample, if its event's samples say it. */
void walk_result_count(struct walk_result_counts *counts, const struct seam_attr *attr,
                       uint16_t misc);
void walk_result_add(struct walk_result_counts *to, const struct walk_result_counts *from);

#endif
