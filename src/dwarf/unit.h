/* SPDX-License-Identifier: MIT */
/* unit.h: the inside of a handle: units by address, the functions of a unit, what is inlined in
 * one. */
#ifndef SEAM_DWARF_UNIT_H
#define SEAM_DWARF_UNIT_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "base/buf.h"
#include "dwarf/dwarf.h"

#define UNIT_DEPTH_MAX 256u /* nesting of DIEs that is followed */
#define UNIT_FUNCTIONS_MAX (4u << 20)
#define UNIT_INLINES_MAX (1u << 20) /* in one function */
#define UNIT_NONE UINT32_MAX

struct unit_range {
	uint64_t start, end;
	uint32_t of; /* index of what has it */
};

/* A call that was inlined into a function. */
struct unit_inline {
	Dwarf_Die die;
	uint32_t parent; /* index, always less than its own; UNIT_NONE: the function itself */
};

struct unit_function {
	Dwarf_Die die;
	bool decoded;
	int failed;         /* -ENOMEM: its inlines are not all here, so it has none to give */
	struct buf inlines; /* struct unit_inline, in the order of the DIEs */
	struct buf ranges;  /* struct unit_range */
};

/* How deep to look for functions. gcc puts all that have code at the top; clang and rustc put them
 * into namespaces and classes; few languages put them into one another. The next step is taken only
 * if the one before found nothing at the address, because most of a C++ unit is classes. */
enum unit_reach {
	UNIT_NOT_WALKED,
	UNIT_TOP,
	UNIT_SCOPES,
	UNIT_BODIES,
};

struct unit {
	Dwarf_Die lines;        /* the unit's DIE that has the line table */
	Dwarf_Die tree;         /* the one that has the functions: another one when split */
	bool split_missing;     /* the functions are in a file that is not there */
	enum unit_reach walked; /* where its functions were looked for */
	struct buf functions;   /* struct unit_function */
	struct buf ranges;      /* struct unit_range, ascending once walked */
};

/* The number of elements in a buffer of them, and one of them. */
#define UNIT_N(buf, type) ((buf)->n / sizeof(type))
#define UNIT_AT(buf, type, i) (&((type *)(void *)(buf)->bytes)[i])

/* Puts [start, end) of every range of a DIE into to. -ENOMEM. */
int unit_put_ranges(Dwarf_Die *die, uint32_t of, struct buf *to);
/* The range that has addr and begins last; NULL: none. ranges ascend by start. */
const struct unit_range *unit_range_find(const struct buf *ranges, uint64_t addr);
void unit_ranges_sort(struct buf *ranges);
/* The function of a unit that has addr, with its inlines decoded: 1, 0, -ENOMEM. */
int unit_function_find(struct unit *unit, uint64_t addr, struct unit_function **ret);
/* The innermost inlined call at addr: an index, or UNIT_NONE. */
uint32_t unit_innermost(const struct unit_function *function, uint64_t addr);
void unit_free(struct unit *unit);

#endif
