/* SPDX-License-Identifier: MIT */
/*
 * sample_end.h: why the user part of a sample is not whole although it was taken: a walk by unwind
 * tables ended early, whether seam makes it now, the recorder made it of a stack copy, or BPF
 * programs did. One number for all three kinds.
 */
#ifndef SEAM_SAMPLES_SAMPLE_END_H
#define SEAM_SAMPLES_SAMPLE_END_H

#include "abi/stack_end.h"
#include "samples/walk_result.h"

/* 0: the stack is whole, or nothing is said of its end, or there is none. */
typedef uint8_t sample_end;

enum {
	SAMPLE_END_WALK = 0,    /* + enum walk_end, of which COMPLETE is 0 */
	SAMPLE_END_RESULT = 32, /* + enum walk_result_kind */
	SAMPLE_END_STACK = 48,  /* + enum stack_end */
	SAMPLE_ENDS = 64,
};

/* The bits of misc that may say it. Most samples have none, and no stack copy. */
#define SAMPLE_END_MARKS 0xff8u

/* walk: of the sample's stack copy, if it was walked now; else NULL. */
sample_end sample_end_of(const struct seam_event *event, const struct walk *walk, uint16_t misc,
                         uint16_t deferred_misc);
/* "truncated": stable, for fields. Not of 0. */
const char *sample_end_name(sample_end end);
/* "the stack copy ended": for people. Not of 0. */
const char *sample_end_text(sample_end end);
/* As many frames were found as there was room for. */
bool sample_end_is_limit(sample_end end);

#endif
