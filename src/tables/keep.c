// SPDX-License-Identifier: MIT
// keep.c: see keep.h.
#include "tables/keep.h"

#include "tables/table_cache.h"

/* Of all: the running kernel's list, some 4 MB for each boot. */
#define KEEP_BYTES (32ULL << 20)

static int keep_get(void *ctx, const char *name, struct buf *ret)
{
	struct table_cache cache;
	int r;

	table_cache_open(&cache, "symbols", NULL, KEEP_BYTES);
	r = table_cache_get(&cache, name, ret);
	table_cache_close(&cache);
	return r;
}

static void keep_put(void *ctx, const char *name, const void *bytes, size_t n)
{
	struct table_cache cache;

	table_cache_open(&cache, "symbols", NULL, KEEP_BYTES);
	table_cache_put(&cache, name, bytes, n);
	table_cache_close(&cache);
}

struct symbol_keep keep_on_disk(void)
{
	return (struct symbol_keep){ keep_get, keep_put, NULL };
}
