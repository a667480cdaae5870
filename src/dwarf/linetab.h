/* SPDX-License-Identifier: MIT */
/*
 * linetab.h: the line table of a unit, as rows by address and names of files.
 *
 * Only a table without any surprise is read here: rows of a sequence ascend, sequences do not overlap, every form and
 * opcode is known. Of any other nothing is said, and libdw, which is some five times as slow, is asked.
 */
#ifndef SEAM_DWARF_LINETAB_H
#define SEAM_DWARF_LINETAB_H

#include "base/buf.h"
#include "dwarf/sections.h"

struct linetab_row {
	uint64_t addr;
	uint32_t file; /* LINETAB_END: nothing is known from here on */
	uint32_t line;
};

#define LINETAB_END UINT32_MAX

struct linetab_sequence {
	uint64_t start;
	size_t first, n; /* of rows; the last one is an end */
};

struct linetab_file {
	const char *name, *dir; /* dir: NULL: not known */
	const char *path;       /* the caller's: NULL at first */
};

/* Zero-initialise to start. */
struct linetab {
	struct buf rows;      /* struct linetab_row */
	struct buf sequences; /* struct linetab_sequence, ascending */
	struct buf files;     /* struct linetab_file, by number */
	struct buf dirs;      /* const char * */
};

/* Reads the table at an offset of .debug_line; comp_dir: where the compiler ran, or NULL. Names live as long as the sections
 * and comp_dir. -ENOTSUP: it is not one to be read here. -ENOMEM. */
int linetab_read(struct linetab *ret, const struct sections *sections, uint64_t offset,
                 const char *comp_dir);
void linetab_free(struct linetab *rows);

/* The row that has addr; NULL: none. */
const struct linetab_row *linetab_find(const struct linetab *rows, uint64_t addr);
/* NULL: there is no file of that number. */
struct linetab_file *linetab_file(const struct linetab *rows, uint64_t number);

#endif
