/* SPDX-License-Identifier: MIT */
/* pages.h: memory for much that is filled from front to back. */
#ifndef SEAM_BASE_PAGES_H
#define SEAM_BASE_PAGES_H

#include <stddef.h>

/*
 * n bytes, of which nothing is in memory yet, for free(); NULL: out of memory. It is asked that
 * large pages come in, of 2 MiB, at multiples of which it begins: one fault each instead of 512.
 * For what will be filled from front to back, and is known to be much.
 */
void *pages_new(size_t n);

#endif
