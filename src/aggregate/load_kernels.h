/* SPDX-License-Identifier: MIT */
/*
 * load_kernels.h: kernel parts as nodes of the profile's tree. Many of them are the same functions,
 * and stand below the same user parts. For load_build.c only.
 */
#ifndef SEAM_AGGREGATE_LOAD_KERNELS_H
#define SEAM_AGGREGATE_LOAD_KERNELS_H

#include "aggregate/load_descend.h"
#include "base/intern.h"

/* What is known of a kernel part: its frames, and what they told. */
struct load_kernel {
	uint32_t part, space;
	uint32_t path; /* + 1; 0: nothing is known */
	uint32_t told; /* the upper half */
};

/* Where a path led to from a node: the frames of user code that was entered in the same way are
 * entered again and again. */
struct load_below {
	uint32_t from, path; /* + 1; 0: none */
	uint32_t to;
};

/* Zero-initialise; load_kernels_start, load_kernels_free. */
struct load_kernels {
	struct intern paths;       /* the frames of parts, innermost first */
	struct load_kernel *known; /* by half the number of the part */
	size_t capacity;
	struct load_below *below; /* those met last */
	unsigned below_bits;
	struct recording_looked looked; /* words of parts */
};

/* stacks: how many there will be, about. -ENOMEM. */
int load_kernels_start(struct load_kernels *k, uint64_t stacks);
void load_kernels_free(struct load_kernels *k);
/* The node of the innermost frame of a kernel part, whose outermost one is called from *node. */
int load_descend_kernel(struct load_kernels *k, struct load_descent *d, const struct load_whose *e,
                        const struct callchain *kernel, uint32_t *node);
/* Numbers of parts are of another table of stacks from now on. */
void load_kernels_other_table(struct load_kernels *k);

#endif
