/* SPDX-License-Identifier: MIT */
/*
 * names_elf.h: an ELF file that holds nothing but names: functions, and the source lines of their
 * addresses, in the tables in which any tool looks for them (.symtab, DWARF 4). It stands for code
 * that has no file of its own.
 *
 * Each line of a function has NAMES_ELF_LINE bytes; in a place of .text, so an address in the file
 * is its offset.
 */
#ifndef SEAM_CONVERT_NAMES_ELF_H
#define SEAM_CONVERT_NAMES_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define NAMES_ELF_TEXT 4096u /* offset of .text, of a page */
#define NAMES_ELF_LINE 2u    /* bytes of code for a line */
#define NAMES_ELF_ALIGN 16u  /* of functions */
#define NAMES_ELF_ID 20u     /* bytes of the build-id, a digest of the contents */

struct names_elf_function {
	const char *name;      /* as it is shown */
	const char *file;      /* path of its source; "": not known */
	const uint32_t *lines; /* ascending; 0: not known */
	size_t n;
	uint32_t at; /* offset in .text: names_elf_place sets it */
};

/* Puts n functions one behind the other, with room for one more symbol. The size of .text; 0: it
 * would be too large. */
uint32_t names_elf_place(struct names_elf_function *functions, size_t n);
/* Appends the whole file. -ENOMEM. */
int names_elf_put(struct buf *out, const struct names_elf_function *functions, size_t n,
                  unsigned char id[NAMES_ELF_ID]);

#endif
