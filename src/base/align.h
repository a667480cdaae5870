/* SPDX-License-Identifier: MIT */
/*
 * align.h: which elements of two lists are the same, in order: what is left of one text in another
 * version of it. Of short lists the longest common part is found; of long ones what lies between
 * elements that either has once, so that time and memory stay within bounds.
 */
#ifndef SEAM_BASE_ALIGN_H
#define SEAM_BASE_ALIGN_H

#include <stddef.h>
#include <stdint.h>

/* Elements are numbers less than `values`. ret, by place in a: the place in b, plus 1, ascending;
 * 0: there is none. -ENOMEM. */
int align_lists(const uint32_t *a, size_t n, const uint32_t *b, size_t m, uint32_t values,
                uint32_t *ret);

#endif
