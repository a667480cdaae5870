/* SPDX-License-Identifier: MIT */
/* kwalk_context.h: for whom threads work: between the programs and the recording. A part of
 * capture/bpf/kwalk_parts.h, which comes before it. */
#ifndef SEAM_CAPTURE_CONTEXT_KWALK_CONTEXT_H
#define SEAM_CAPTURE_CONTEXT_KWALK_CONTEXT_H

#include "capture/bpf/kwalk_parts.h"

int context_open(struct kwalk *l);
void context_close(struct kwalk *l);
/* Tells the programs where the threads of a process say it. */
void context_publish(struct kwalk *l, const struct kwalk_space *s);
/* A process began, or its program, at a time: what it said before is not its own any more. Under
 * the lock. */
void context_begin(struct kwalk *l, uint32_t pid, uint64_t time_ns);
/* Takes a KWALK_CONTEXT, which comes before its sample. 1: *ret is to be written now; 0: nothing
 * is. -ENOMEM. */
int context_take(struct kwalk_ring *ring, const struct kwalk_context *k, struct seam_ksymbol *ret);
/* The same of a sample that has come; likewise. */
int context_sample(struct kwalk_ring *ring, const struct kwalk_sample *s, struct seam_ksymbol *ret);

#endif
