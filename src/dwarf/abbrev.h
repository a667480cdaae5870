/* SPDX-License-Identifier: MIT */
/*
 * abbrev.h: abbreviations: which attributes an entry of the information has, and how long it is.
 *
 * As much as is needed to go over entries and to see their addresses. What is not known here is -ENOTSUP: then libdw is asked.
 */
#ifndef SEAM_DWARF_ABBREV_H
#define SEAM_DWARF_ABBREV_H

#include "base/buf.h"
#include "base/cursor.h"

/* Of a unit: what the length of a form depends on. */
struct abbrev_terms {
	uint16_t version;
	uint8_t address_size; /* 4 or 8 */
	bool wide;            /* offsets of 8 bytes */
};

struct abbrev_attribute {
	uint16_t name, form;
};

struct abbrev {
	uint32_t tag;
	bool children;
	bool plain;      /* it has no address, and always the same length */
	uint32_t length; /* then: behind the code */
	uint32_t
	        sibling; /* then: where it tells the next one (4 bytes), counted so; ABBREV_NONE: it does not */
	uint32_t first, n; /* attributes */
};

#define ABBREV_NONE UINT32_MAX

/* Zero-initialise to start. */
struct abbrevs {
	uint64_t begin;        /* the first code */
	struct buf list;       /* struct abbrev, of that code and those that follow it */
	struct buf attributes; /* struct abbrev_attribute */
};

/* Reads all at an offset of .debug_abbrev; only: that code alone, if it is not 0. -ENOTSUP, -ENOMEM. */
int abbrevs_read(struct abbrevs *ret, const struct cursor *section, uint64_t offset,
                 const struct abbrev_terms *terms, uint64_t only);
void abbrevs_free(struct abbrevs *a);

/* Whose attributes are a->attributes. NULL: no such code. */
static inline const struct abbrev *abbrev_of(const struct abbrevs *a, uint64_t code)
{
	const struct abbrev *list = (const struct abbrev *)(const void *)a->list.bytes;

	return code - a->begin < a->list.n / sizeof(*list) ? &list[code - a->begin] : NULL;
}

/* Goes over a value; fails the cursor when the form is not known. */
void abbrev_skip(struct cursor *c, unsigned form, const struct abbrev_terms *terms);

#endif
