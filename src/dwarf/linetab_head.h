/* SPDX-License-Identifier: MIT */
/* linetab_head.h: the inside of linetab.c: what stands in front of the program of a line table. */
#ifndef SEAM_DWARF_LINETAB_HEAD_H
#define SEAM_DWARF_LINETAB_HEAD_H

#include "dwarf/linetab.h"

struct linetab_head {
	uint16_t version;
	bool wide; /* offsets of 8 bytes */
	uint8_t step, line_range, opcode_base;
	int8_t line_base;
};

/* Reads the header that c stands at, and leaves c with the program alone. Files and directories are put into to. -ENOTSUP,
 * -ENOMEM. */
int linetab_head_read(struct linetab_head *ret, struct cursor *c, const struct sections *sections,
                      const char *comp_dir, struct linetab *to);

#endif
