// SPDX-License-Identifier: MIT
/* kernel_disk.c: see kernel_disk.h. The list of kernel symbols on disk, beside the unwind tables:
 * the cache is opened for each use, because it is used once in a run. */
#include "tables/kernel_disk.h"

#include "tables/table_cache.h"

/* For all lists together: one is some 4 MB for each boot. */
#define KEEP_BYTES (32ULL << 20)

static void kernel_disk_drop_mapped(const struct kernel_kept *kept)
{
	table_cache_give_back(&(struct table_cache_bytes){ kept->bytes, kept->n, true });
}

static void kernel_disk_drop(const struct kernel_kept *kept)
{
	table_cache_give_back(&(struct table_cache_bytes){ kept->bytes, kept->n, false });
}

static int kernel_disk_get(void *ctx, const char *name, struct kernel_kept *ret)
{
	struct table_cache cache;
	struct table_cache_bytes found;
	int r;

	table_cache_open(&cache, "symbols", NULL, KEEP_BYTES);
	r = table_cache_take(&cache, name, &found);
	*ret = (struct kernel_kept){ found.bytes, found.n,
		                     found.mapped ? kernel_disk_drop_mapped : kernel_disk_drop };
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
