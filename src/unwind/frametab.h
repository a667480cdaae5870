/* SPDX-License-Identifier: MIT */
/*
 * frametab.h: the one table form that every kind of unwind information is compiled into
 * (frametab_form.h, docs/unwind-table.md): checks a table and searches it. Does not know where the
 * rows come from (compile.h).
 */
#ifndef SEAM_UNWIND_TABLE_H
#define SEAM_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <seam/error.h>

#include "unwind/frametab_form.h"

/* A blob that was checked: views into it. */
struct frametab {
	const struct frametab_header *header;
	const uint32_t *index, *rows;
	const struct frametab_rule *rules;
	const int16_t *saves;
	const unsigned char *exprs;
	size_t n_exprs;
};

/*
 * Checks a blob (8-byte aligned; it may come from a cache that somebody else wrote): sizes,
 * checksum, every index, row, rule and reference. After this no search in it can leave it. -EBADMSG
 * with a reason.
 */
int frametab_open(struct frametab *ret, const void *blob, size_t n, struct seam_error *err);

/* The same for a blob that was checked before and has not changed: nothing is checked again. */
void frametab_of(struct frametab *ret, const void *blob);

/* The rule for an address of the object; rule 0 (FRAMETAB_CFA_NONE) where there is none. Never
 * NULL. */
const struct frametab_rule *frametab_find(const struct frametab *t, uint64_t address);

/* DWARF number of the bit-th callee-saved register of a machine. */
unsigned frametab_saved_register(uint32_t machine, unsigned bit);
unsigned frametab_saved_count(uint32_t machine);

#endif
