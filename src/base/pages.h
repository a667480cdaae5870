/* SPDX-License-Identifier: MIT */
/* pages.h: memory for much that is filled from front to back. */
#ifndef SEAM_BASE_PAGES_H
#define SEAM_BASE_PAGES_H

#include <stddef.h>

#define PAGES_LARGE ((size_t)2 << 20)

/*
 * n bytes at a multiple of PAGES_LARGE, of which nothing is in memory yet, for free(); NULL: out of memory. From byte `from` on
 * (a multiple, too) it is asked that large pages come in: one fault each instead of 512, and none of them is in vain as long as the bytes in
 * front were needed.
 */
void *pages_new(size_t n, size_t from);

#endif
