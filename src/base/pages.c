// SPDX-License-Identifier: MIT
/* pages.c: see pages.h. That the kernel has no large pages to give is no failure. For arrays of
 * some MB that are read here and there: one entry of the TLB is for 2 MiB then, not for 4 KiB. */
#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Below this, memory is mostly some that was used before. */
#define WANTED_LEAST (64u << 10)

void *pages_new(size_t n)
{
	void *p;

	if (posix_memalign(&p, PAGES_LARGE, n))
		return NULL;
	madvise(p, n, MADV_HUGEPAGE);
	return p;
}

/* The same of whole large pages, for what is filled to its end: small ones behind them would come
 * one by one. */
static void *pages_whole(size_t n)
{
	return n > SIZE_MAX - PAGES_LARGE
	               ? NULL
	               : pages_new((n + PAGES_LARGE - 1) / PAGES_LARGE * PAGES_LARGE);
}

void pages_wanted(void *at, size_t n)
{
	size_t before = (uintptr_t)at % (uintptr_t)sysconf(_SC_PAGESIZE);

	/* Only advice: a kernel before 5.14 refuses it. */
	(void)madvise((char *)at - before, n + before, MADV_POPULATE_WRITE);
}

void *pages_zeroed(size_t n, size_t size)
{
	void *p;

	if (n > SIZE_MAX / size)
		return NULL;
	if (n < PAGES_LARGE / size) {
		p = calloc(n, size);
		if (p && n * size >= WANTED_LEAST)
			pages_wanted(p, n * size);
		return p;
	}
	p = pages_whole(n * size);
	return p ? memset(p, 0, n * size) : NULL;
}

/* calloc clears memory that was freed before, and so touches all of it; the kernel's is clear. */
#define SPARSE_LEAST (128u << 10)

void *pages_sparse(size_t n, size_t size)
{
	void *p;

	if (n > SIZE_MAX / size)
		return NULL;
	if (n < SPARSE_LEAST / size)
		return calloc(n, size);
	p = mmap(NULL, n * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void pages_sparse_free(void *at, size_t n, size_t size)
{
	if (!at || n < SPARSE_LEAST / size)
		free(at);
	else
		munmap(at, n * size);
}

/* What is moved costs less than the page faults of what is new. */
void *pages_grown(void *at, size_t had, size_t n)
{
	void *p;

	if (n < PAGES_LARGE) {
		p = realloc(at, n);
		if (p && n >= WANTED_LEAST)
			pages_wanted((char *)p + had, n - had);
		return p;
	}
	p = pages_whole(n);
	if (p && had)
		memcpy(p, at, had);
	if (p)
		free(at);
	return p;
}
