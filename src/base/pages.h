/* SPDX-License-Identifier: MIT */
/* pages.h: memory for much that is filled from front to back. */
#ifndef SEAM_BASE_PAGES_H
#define SEAM_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Allocates n bytes for free(), of which none is in memory yet; NULL: out of memory. The kernel is
 * asked for large pages of 2 MiB, and the memory begins at a multiple of that: one page fault then
 * brings in what would take 512. Use it for memory that is large for sure and is filled from front
 * to back.
 */
void *pages_new(size_t n);

/* Malloc has large pages for all (heap.h). */
void pages_are_large(void);
/* Whether it has. */
bool pages_all_large(void);

/* From so many bytes on, memory is worth pages of its own. */
#define PAGES_LARGE ((size_t)2 << 20)
/* As calloc, for a table that is filled for the most part: of pages_new where it is large. */
void *pages_zeroed(size_t n, size_t size);
/* As pages_zeroed, for what is touched here and there: what is not touched takes no memory. Given
 * back by pages_sparse_free, with the same numbers. */
void *pages_sparse(size_t n, size_t size);
void pages_sparse_free(void *at, size_t n, size_t size);
/* All n bytes will be written soon: the kernel takes in their pages at once. To take a fault for
 * each costs as much as some thousand bytes' use, above all in a virtual machine. For some hundred
 * KiB at a time. */
void pages_wanted(void *at, size_t n);
/* As free, of n bytes: large pages of them go back to the kernel, also where malloc keeps what is
 * freed (heap.h). */
void pages_free(void *at, size_t n);
/* As realloc, of memory of which the first `had` bytes are wanted: new memory is of pages_new where
 * it is large. */
void *pages_grown(void *at, size_t had, size_t n);

#endif
