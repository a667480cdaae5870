// SPDX-License-Identifier: MIT
/* pages.c: see pages.h. That the kernel has no large pages to give is no failure. For arrays of
 * some MB that are read here and there: one entry of the TLB is for 2 MiB then, not for 4 KiB. */
#include "base/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

#define LARGE ((size_t)2 << 20)

void *pages_new(size_t n)
{
	void *p;

	if (posix_memalign(&p, LARGE, n))
		return NULL;
	madvise(p, n, MADV_HUGEPAGE);
	return p;
}
