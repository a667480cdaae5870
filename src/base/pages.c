// SPDX-License-Identifier: MIT
// pages.c: see pages.h. That the kernel has no large pages to give is no failure.
#include "base/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

void *pages_new(size_t n, size_t from)
{
	void *p;

	if (posix_memalign(&p, PAGES_LARGE, n))
		return NULL;
	if (from < n)
		madvise((char *)p + from, n - from, MADV_HUGEPAGE);
	return p;
}
