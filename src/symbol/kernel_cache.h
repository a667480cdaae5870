/* SPDX-License-Identifier: MIT */
/*
 * kernel_cache.h: a sealed table as bytes, and where the running kernel's is kept.
 *
 * The kernel makes /proc/kallsyms anew for whoever reads it, which takes longer than all else in a
 * report of a small recording. Its own symbols (not those of modules) stay as they are until the
 * next boot, so their table is kept under that boot's id.
 */
#ifndef SEAM_SYMBOL_KERNEL_CACHE_H
#define SEAM_SYMBOL_KERNEL_CACHE_H

#include "symbol/table.h"

#define KERNEL_CACHE_VERSION 2u
#define KERNEL_CACHE_NAME 64u /* bytes of a name, NUL included */

/* Makes bytes of a sealed table whose symbols do not overlap, and of a number that goes with it.
 * The same table gives the same bytes. -E2BIG: it is no such table. -ENOMEM. */
int kernel_cache_encode(const struct table *table, uint64_t reference, struct buf *ret);
/* Fills an empty table, sealed, whose the bytes are then. -EBADMSG: they are not sound, and are
 * dropped. */
int kernel_cache_decode(struct table *table, uint64_t *ret_reference,
                        const struct kernel_kept *bytes);
/* The name under which the running kernel's table is kept; false: this boot has no id. */
bool kernel_cache_name(char name[KERNEL_CACHE_NAME]);

#endif
