// SPDX-License-Identifier: MIT
/* kernel_disk.c: see kernel_disk.h. The list of kernel symbols on disk, beside the unwind tables:
 * the cache is opened for each use, because it is used once in a run. */
#include "tables/kernel_disk.h"

#include "tables/table_cache.h"

/* For all lists together: one is some 4 MB for each boot. */
#define KEEP_BYTES (32ULL << 20)

static int kernel_disk_get(void *ctx, const char *name, struct buf *ret)
{
	struct table_cache cache;
	int r;

	table_cache_open(&cache, "symbols", NULL, KEEP_BYTES);
	r = table_cache_get(&cache, name, ret);
	table_cache_close(&cache);
	return r;
}

static void kernel_disk_put(void *ctx, const char *name, const void *bytes, size_t n)
{
	struct table_cache cache;

	table_cache_open(&cache, "symbols", NULL, KEEP_BYTES);
	table_cache_put(&cache, name, bytes, n);
	table_cache_close(&cache);
}

struct kernel_storage kernel_disk(void)
{
	return (struct kernel_storage){ kernel_disk_get, kernel_disk_put, NULL };
}
