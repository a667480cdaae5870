// SPDX-License-Identifier: MIT
/*
 * heap.c: see heap.h. Addresses for all that may be needed are taken at once, and the kernel is
 * told that they are worth large pages. No page of them is in memory before it is touched.
 */
#include "base/heap.h"

#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/pages.h"

#define AHEAD ((size_t)1 << 30) /* bytes of addresses; what needs more takes small pages */
#define AHEAD_PART 4            /* and at most this part of the machine's memory, or of a limit */
#define FIRST ((size_t)1 << 20) /* more than malloc has from the start, so that it asks for more */

/* What lies in front of the first large page: nobody touches it. */
static void *heap_left_out;

/* How many bytes of addresses are taken. */
static size_t heap_ahead(void)
{
	static const int limits[] = { RLIMIT_AS, RLIMIT_DATA };
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	size_t part = pages > 0 && size > 0 ? (size_t)pages / AHEAD_PART * (size_t)size : 0;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rlimit limit;

		/* RLIM_INFINITY is the greatest number. */
		if (getrlimit(limits[i], &limit) < 0)
			return 0;
		if (limit.rlim_cur / AHEAD_PART < part)
			part = limit.rlim_cur / AHEAD_PART;
	}
	return part < AHEAD ? part : AHEAD;
}

/* The heap is what sbrk gives: it is made to grow by all of that at once. */
void heap_large(void)
{
	static bool asked;
	const size_t ahead = asked ? 0 : heap_ahead();
	char *first, *end, *large;

	asked = true;
	if (!ahead)
		return;
	/* What is freed stays; what is large comes from there, too, and for all threads. */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TOP_PAD, (int)ahead);
	first = malloc(FIRST);
	mallopt(M_TOP_PAD, (int)PAGES_LARGE);
	end = sbrk(0);
	/* Another malloc than glibc's, or none of the kernel's addresses there. */
	if (!first || end == (void *)-1 || (uintptr_t)first > (uintptr_t)end ||
	    (size_t)(end - first) < ahead) {
		free(first);
		return;
	}
	large = (char *)(((uintptr_t)first + PAGES_LARGE - 1) / PAGES_LARGE * PAGES_LARGE);
	madvise(large, (size_t)(end - large) / PAGES_LARGE * PAGES_LARGE, MADV_HUGEPAGE);
	free(first);
	pages_are_large();
	heap_left_out = malloc((size_t)(large - first));
}
