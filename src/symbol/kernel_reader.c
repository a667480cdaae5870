// SPDX-License-Identifier: MIT
// kernel_reader.c: see symbol.h. The thread reads and sorts, and decides nothing. kernel.c takes
// its table for an object that its rules find to be the running kernel; otherwise nobody uses it.
#include "symbol/kernel_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

/* The thread: fills r->table from the cache, or else from /proc/kallsyms. If neither can be had,
 * the table stays empty, and whoever needs names finds out why. */
static void *kernel_reader_run(void *arg)
{
	struct kernel_reader *r = arg;
	struct kernel_kept kept;
	char name[KERNEL_CACHE_NAME];

	if (kernel_cache_name(name) && r->keep.get(r->keep.ctx, name, &kept) > 0)
		kernel_cache_decode(&r->table, &r->reference, &kept);
	if (r->table.n)
		return NULL;
	r->listed = kallsyms_read(&r->kallsyms, "/proc/kallsyms") >= 0;
	if (!r->listed || r->kallsyms.error || r->kallsyms.hidden)
		return NULL;
	/* made: the table is new, and the cache should have it. */
	r->made = kallsyms_table(&r->kallsyms, NULL, &r->table, &r->reference) >= 0 &&
	          table_seal(&r->table) >= 0;
	if (!r->made)
		table_free(&r->table);
	return NULL;
}

/* Begins to read the running kernel's names, if that kernel is the recorded one; otherwise *ret
 * stays NULL. -ENOMEM. */
int kernel_reader_start(struct kernel_reader **ret, const struct image_build_id *recorded,
                        const struct kernel_storage *keep)
{
	struct image_build_id running;
	struct kernel_reader *r;

	*ret = NULL;
	kernel_id_running(&running);
	if (!image_build_id_equal(&running, recorded))
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->keep = *keep;
	pthread_mutex_init(&r->lock, NULL);
	r->started = thread_start(&r->thread, kernel_reader_run, r) >= 0;
	*ret = r;
	return 0;
}

/* Waits for the thread, once, whoever comes first. */
static void kernel_reader_wait(struct kernel_reader *r)
{
	pthread_mutex_lock(&r->lock);
	if (r->started)
		pthread_join(r->thread, NULL);
	r->started = false;
	pthread_mutex_unlock(&r->lock);
}

/* Gives the object the table, and the cache the list that it was made of. The caller then asks
 * whether there is anything in it. */
void kernel_reader_take(struct kernel_reader *r, struct symbol_object *object)
{
	struct symbol_cache *cache = object->cache;

	kernel_reader_wait(r);
	pthread_mutex_lock(&cache->kallsyms_lock);
	if (r->listed && !cache->kallsyms_loaded) {
		cache->kallsyms = r->kallsyms;
		cache->kallsyms_loaded = true;
		r->kallsyms = (struct kallsyms){ 0 };
		r->listed = false;
	}
	object->table = r->table;
	object->reference = r->reference;
	object->unkept = r->made;
	r->table = (struct table){ 0 };
	pthread_mutex_unlock(&cache->kallsyms_lock);
}

void kernel_reader_free(struct kernel_reader *r)
{
	if (!r)
		return;
	kernel_reader_wait(r);
	table_free(&r->table);
	kallsyms_free(&r->kallsyms);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
