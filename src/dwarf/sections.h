/* SPDX-License-Identifier: MIT */
/* sections.h: the bytes of the debugging sections that are read here, without libdw. They are the file's: not trusted. */
#ifndef SEAM_DWARF_SECTIONS_H
#define SEAM_DWARF_SECTIONS_H

#include <elfutils/libdw.h>

#include "base/cursor.h"

struct sections {
	struct cursor info, abbrev, ranges, rnglists, line, line_str,
	        str;   /* at their begins; empty: not there */
	bool has_addr; /* .debug_addr: addresses may stand there */
};

/* Those of a file as libdw has it open: unpacked, and living as long as that. */
void sections_of(struct sections *ret, Dwarf *dw);
/* The text at an offset; NULL: none. */
const char *sections_text(const struct cursor *section, uint64_t offset);

#endif
