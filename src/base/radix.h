/* SPDX-License-Identifier: MIT */
/*
 * radix.h: many things in the order of a number that each begins with. qsort would compare each
 * pair of hundreds of thousands.
 */
#ifndef SEAM_BASE_RADIX_H
#define SEAM_BASE_RADIX_H

#include <stdbool.h>
#include <stddef.h>

/* Sorts n things of the size by the uint64_t in front of each; equal ones keep their order. False:
 * out of memory, and they are as they were. */
bool radix_sort(void *things, size_t n, size_t size);

#endif
