// SPDX-License-Identifier: MIT
/* pages.c: see pages.h. That the kernel has no large pages to give is no failure. For arrays of
 * some MB that are read here and there: one entry of the TLB is for 2 MiB then, not for 4 KiB. */
#include "base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Below this, memory is mostly some that was used before. */
#define WANTED_LEAST (64u << 10)

static bool pages_everywhere;

void pages_are_large(void)
{
	pages_everywhere = true;
}

bool pages_all_large(void)
{
	return pages_everywhere;
}

/* What of n bytes are whole large pages; false: none are. */
static bool pages_inside(void *at, size_t n, void **ret, size_t *n_ret)
{
	const uintptr_t from = ((uintptr_t)at + PAGES_LARGE - 1) / PAGES_LARGE * PAGES_LARGE;
	const uintptr_t to = ((uintptr_t)at + n) / PAGES_LARGE * PAGES_LARGE;

	*ret = (void *)from;
	*n_ret = to - from;
	return at && from < to;
}

void *pages_new(size_t n)
{
	void *p, *inside;
	size_t n_inside;

	/* Where malloc has large pages nothing is aligned: what lies between two blocks, and behind
	 * the last page, would be of large pages, too. */
	if (pages_everywhere)
		p = malloc(n);
	else if (posix_memalign(&p, PAGES_LARGE, n))
		return NULL;
	if (pages_inside(p, n, &inside, &n_inside))
		madvise(inside, n_inside, MADV_HUGEPAGE);
	return p;
}

/* The same of whole large pages, for what is filled to its end: small ones behind them would come
 * one by one. */
static void *pages_whole(size_t n)
{
	if (!pages_everywhere && n > SIZE_MAX - PAGES_LARGE)
		return NULL;
	return pages_new(pages_everywhere ? n : (n + PAGES_LARGE - 1) / PAGES_LARGE * PAGES_LARGE);
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

void pages_free(void *at, size_t n)
{
	void *inside;
	size_t n_inside;

	if (pages_inside(at, n, &inside, &n_inside))
		(void)madvise(inside, n_inside, MADV_DONTNEED);
	free(at);
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
		pages_free(at, had);
	return p;
}
