/* SPDX-License-Identifier: MIT */
/* pack_kernel.h: the kernel's lists, cut to what proved to be what was recorded. */
#ifndef SEAM_CONVERT_PACK_KERNEL_H
#define SEAM_CONVERT_PACK_KERNEL_H

#include "base/buf.h"
#include "symbol/symbol.h"

/* Whether a source of names is such a list (/proc/kallsyms, or one that was kept). */
bool pack_is_list(const char *source);
/*
 * The list that names the kernel, without the lines of modules that it does not name, and the list
 * of modules beside it, if there is one. 1; 0: the kernel has its names from elsewhere, or none.
 */
int pack_kernel_lists(struct symbol_cache *symbols, struct symbol_object *kernel,
                      struct buf *ret_list, struct buf *ret_modules);

#endif
