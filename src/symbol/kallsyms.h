/* SPDX-License-Identifier: MIT */
/*
 * kallsyms.h: the kernel's own list of its symbols, and where the running kernel's modules are.
 */
#ifndef SEAM_SYMBOL_KALLSYMS_H
#define SEAM_SYMBOL_KALLSYMS_H

#include "base/buf.h"
#include "symbol/table.h"

struct kallsyms {
	struct buf text; /* the whole file */
	char *path;
	int error;   /* -errno of reading it, or 0 */
	bool hidden; /* all addresses are 0 */
};

/* Reads a file; path is copied. 0, or -ENOMEM; a file that cannot be read is in ->error. */
int kallsyms_read(struct kallsyms *k, const char *path);
void kallsyms_free(struct kallsyms *k);
/* Puts the text symbols of a module (NULL: of the kernel itself) into a table that is not sealed.
 * *ret_text: the address of _text (kernel), 0 if not found. */
int kallsyms_table(const struct kallsyms *k, const char *module, struct table *table,
                   uint64_t *ret_text);
/* The address of _text; -ENOENT. */
int kallsyms_text(const struct kallsyms *k, uint64_t *ret);
/* Reads a whole file of at most limit bytes; 0 or -errno. */
int kallsyms_slurp(const char *path, size_t limit, struct buf *ret);

#endif
