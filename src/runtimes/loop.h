/* SPDX-License-Identifier: MIT */
/* loop.h: where the code of an interpreter's loop is, so that its calls are told from others, and
 * how large their frames are. */
#ifndef SEAM_RUNTIMES_LOOP_H
#define SEAM_RUNTIMES_LOOP_H

#include "runtimes/kinds.h"

struct loop {
	uint64_t start, bytes;
	uint64_t cold, cold_bytes; /* the part of it that rarely runs; 0 bytes: there is none */
};

/* Finds the cold part of a loop whose start and bytes are given. -ENOTSUP: it is not known for
 * sure. */
int loop_find(struct loop *loop, const struct runtime_source *source);

/* A function's frame behind its first instructions. */
struct loop_frame {
	uint32_t body;  /* where they end: bytes from the function's begin */
	uint32_t bytes; /* from the stack pointer there to the caller's */
	uint32_t by_fp; /* the frame pointer is kept: 16 bytes below the caller's stack pointer */
	uint32_t guard; /* so far below that is the C library's guard word; 0: nowhere */
};

/* Reads a function's first instructions. -ENOTSUP: they are no such that are known. */
int loop_frame_find(struct loop_frame *ret, uint64_t start, const struct runtime_source *source);

#endif
