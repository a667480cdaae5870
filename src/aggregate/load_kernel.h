/* SPDX-License-Identifier: MIT */
/*
 * load_kernel.h: the frames of kernel parts that were walked, by the number of the part: few kernel
 * parts stand above many user parts. For load_descend.c only.
 *
 * Invariant: what is kept of a part is what a walk of it gives. Parts with user addresses in them
 * are not kept: these mean another thing in each address space.
 */
#ifndef SEAM_AGGREGATE_LOAD_KERNEL_H
#define SEAM_AGGREGATE_LOAD_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise. */
struct load_kernels {
	struct load_kernel {
		uint32_t part, space; /* part 0: none */
		uint32_t n;           /* frames */
		uint32_t at;          /* where they begin in frames */
		uint64_t told;        /* what their marks said */
	} * parts;                    /* by number of the part, without its byte order */
	size_t capacity;
	uint32_t *frames; /* innermost first */
	size_t n_frames, frames_capacity;
};

void load_kernels_free(struct load_kernels *k);
/* The part as it was walked in a space; NULL: it is not known. */
const struct load_kernel *load_kernels_get(const struct load_kernels *k, uint32_t part,
                                           uint32_t space);
/* Keeps n frames of a part. -ENOMEM. */
int load_kernels_put(struct load_kernels *k, const struct load_kernel *of, const uint32_t *frames);
/* Numbers of parts are of another table of stacks from now on. */
void load_kernels_forget(struct load_kernels *k);

#endif
