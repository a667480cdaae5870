/* SPDX-License-Identifier: MIT */
/*
 * die.h: entries of the information, one after another: what they are, where they end, and which addresses they have.
 *
 * Their names and all else is libdw's to say, of the few that are asked for. What is not plain (an address by index, a form that
 * is not known) fails the cursor, and libdw walks the unit.
 */
#ifndef SEAM_DWARF_DIE_H
#define SEAM_DWARF_DIE_H

#include "base/buf.h"
#include "dwarf/abbrev.h"
#include "dwarf/sections.h"

/* Where a unit is. */
struct die_unit {
	uint64_t begin, at, end; /* of .debug_info: its header, its own entry, its end */
	uint64_t abbrevs;        /* of .debug_abbrev */
	uint64_t base;           /* what ranges are counted from */
	struct abbrev_terms terms;
};

struct die {
	uint64_t at;
	uint32_t tag; /* 0: the end of a list of siblings */
	bool children;
	bool has_low, has_high, has_ranges, has_entry;
	bool high_is_length;
	uint64_t low, high, ranges;
	uint64_t sibling; /* 0: not said */
};

/* Reads the header of the unit at an offset of .debug_info: 1; 0: there is none; -ENOTSUP. Type units have .at 0. */
int die_unit_next(struct die_unit *ret, const struct sections *s, uint64_t offset);

/* The next entry, which c (over .debug_info, up to the end of the unit) stands at. c fails when it cannot be read. */
void die_next(struct die *ret, struct cursor *c, const struct die_unit *unit,
              const struct abbrevs *abbrevs);
/* Moves c from behind an entry to behind all that is below it. */
void die_leave(const struct die *die, struct cursor *c, const struct die_unit *unit,
               const struct abbrevs *abbrevs);
/* Puts its ranges, as struct unit_range of this number, into to. -ENOTSUP, -ENOMEM. */
int die_put_ranges(const struct die *die, const struct die_unit *unit, const struct sections *s,
                   uint32_t of, struct buf *to);

#endif
