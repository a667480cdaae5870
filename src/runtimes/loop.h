/* SPDX-License-Identifier: MIT */
/* loop.h: where the code of an interpreter's loop is, so that its calls are told from others. */
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

#endif
