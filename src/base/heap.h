/* SPDX-License-Identifier: MIT */
/* heap.h: what malloc has its memory from. */
#ifndef SEAM_BASE_HEAP_H
#define SEAM_BASE_HEAP_H

/*
 * Lets malloc take its memory in large pages, where the kernel has some, and keep what is freed.
 * For a program that takes much, answers, and ends: the first touch of a page costs as much as the
 * use of some thousand bytes (in a virtual machine on Linux 6.18 27 us for one of 4 KiB, and 250 us
 * for one of 2 MiB). Not for a program that goes on and on: freed memory of many sizes stays in
 * pieces. Called again it does nothing. Where large pages cannot be had (by a thread with an arena
 * of its own, with another malloc), what is freed is kept all the same; below a limit of addresses
 * there are fewer of them.
 */
void heap_large(void);

#endif
