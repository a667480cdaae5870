// SPDX-License-Identifier: MIT
/*
 * unit.c: see unit.h. A unit is walked for its functions when the first address in it is asked for,
 * a function for its inlined calls likewise. Siblings are followed forwards only, so that damaged
 * references cannot make a circle.
 *
 * How far a unit is walked grows with need (enum unit_reach): most functions stand at its top, some
 * in namespaces and classes, few in the bodies of others.
 */
#include "dwarf/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A DIE has no, one or several ranges. */
int unit_put_ranges(Dwarf_Die *die, uint32_t of, struct buf *to)
{
	struct unit_range range = { .of = of };
	ptrdiff_t at = 0;
	Dwarf_Addr base;

	while ((at = dwarf_ranges(die, at, &base, &range.start, &range.end)) > 0) {
		if (range.start < range.end && buf_put(to, &range, sizeof(range)) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* By start; of two that begin alike the longer first, so that the inner one is found from
 * behind. */
static int unit_range_order(const void *pa, const void *pb)
{
	const struct unit_range *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

void unit_ranges_sort(struct buf *ranges)
{
	if (ranges->n)
		qsort(ranges->bytes, UNIT_N(ranges, struct unit_range), sizeof(struct unit_range),
		      unit_range_order);
}

/* Ranges that overlap are rare, and lie close together: this many before the last one that could
 * hold the address are tried. */
#define LOOK_BACK 16u

/* Ranges that overlap are rare: a binary search, and a look at up to LOOK_BACK ranges before. */
const struct unit_range *unit_range_find(const struct buf *ranges, uint64_t addr)
{
	size_t low = 0, high = UNIT_N(ranges, struct unit_range);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (UNIT_AT(ranges, struct unit_range, middle)->start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < LOOK_BACK && i < low; i++) {
		const struct unit_range *range = UNIT_AT(ranges, struct unit_range, low - 1 - i);

		if (addr < range->end)
			return range;
	}
	return NULL;
}

/* The next sibling, if it lies behind. */
static bool unit_next(Dwarf_Die *die)
{
	Dwarf_Off before = dwarf_dieoffset(die);
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) != 0 || dwarf_dieoffset(&next) <= before)
		return false;
	*die = next;
	return true;
}

/* Beyond UNIT_FUNCTIONS_MAX functions are not known. */
static int unit_add_function(struct unit *unit, Dwarf_Die *die)
{
	struct unit_function function = { .die = *die };
	size_t before = unit->ranges.n, n = UNIT_N(&unit->functions, struct unit_function);

	if (n >= UNIT_FUNCTIONS_MAX)
		return 0;
	if (unit_put_ranges(die, (uint32_t)n, &unit->ranges) < 0)
		return -ENOMEM;
	if (unit->ranges.n == before)
		return 0; /* a declaration, or the common part of inlined copies */
	return buf_put(&unit->functions, &function, sizeof(function));
}

/* Where functions may stand, by how far the unit is walked. */
static bool unit_holds_functions(int tag, enum unit_reach reach)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
		return reach >= UNIT_SCOPES;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return reach >= UNIT_BODIES;
	default:
		return false;
	}
}

/* Functions may stand below namespaces, classes and other functions; unit_holds_functions says how
 * far down this walk looks. */
static int unit_walk(struct unit *unit, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	int r = 0;

	if (depth >= UNIT_DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			r = unit_add_function(unit, &die);
		if (r >= 0 && unit_holds_functions(tag, unit->walked))
			r = unit_walk(unit, &die, depth + 1);
	} while (r >= 0 && unit_next(&die));
	return r;
}

static void unit_free_functions(struct unit *unit)
{
	for (size_t i = 0; i < UNIT_N(&unit->functions, struct unit_function); i++) {
		struct unit_function *function = UNIT_AT(&unit->functions, struct unit_function, i);

		buf_free(&function->inlines);
		buf_free(&function->ranges);
	}
	buf_free(&unit->functions);
	buf_free(&unit->ranges);
}

void unit_free(struct unit *unit)
{
	unit_free_functions(unit);
}

/* Walks anew: what was found by a shorter reach is found again. */
static int unit_find_functions(struct unit *unit, enum unit_reach reach)
{
	int r;

	unit_free_functions(unit);
	unit->walked = reach;
	r = unit_walk(unit, &unit->tree, 0);
	unit_ranges_sort(&unit->ranges);
	return r;
}

/* *parent becomes the new call, for what is below it. Calls beyond UNIT_INLINES_MAX are left out:
 * what is inlined into them belongs to the next call outwards. */
static int unit_function_add_inline(struct unit_function *function, Dwarf_Die *die,
                                    uint32_t *parent)
{
	struct unit_inline call = { .die = *die, .parent = *parent };
	size_t n = UNIT_N(&function->inlines, struct unit_inline);

	if (n >= UNIT_INLINES_MAX)
		return 0;
	*parent = (uint32_t)n;
	if (buf_put(&function->inlines, &call, sizeof(call)) < 0)
		return -ENOMEM;
	return unit_put_ranges(die, (uint32_t)n, &function->ranges);
}

/* Collects the inlined calls below a DIE, each with the call that it is inlined into (parent).
 * Depth is limited by UNIT_DEPTH_MAX, because the tree comes from a file. 0, or -ENOMEM. */
static int unit_function_walk(struct unit_function *function, Dwarf_Die *from, uint32_t parent,
                              unsigned depth)
{
	Dwarf_Die die;
	int r = 0;

	if (depth >= UNIT_DEPTH_MAX || dwarf_child(from, &die) != 0)
		return 0;
	do {
		uint32_t inside = parent;

		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			r = unit_function_add_inline(function, &die, &inside);
			if (r < 0)
				break;
			__attribute__((fallthrough));
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt:
			r = unit_function_walk(function, &die, inside, depth + 1);
			break;
		default:
			break;
		}
	} while (r >= 0 && unit_next(&die));
	return r;
}

/* Walks the unit in steps, from the places where functions usually stand to all bodies, until one
 * step finds the address. */
int unit_function_find(struct unit *unit, uint64_t addr, struct unit_function **ret)
{
	const struct unit_range *range = unit_range_find(&unit->ranges, addr);
	struct unit_function *function;
	int r = 0;

	while (r >= 0 && !range && unit->walked < UNIT_BODIES) {
		r = unit_find_functions(unit, unit->walked + 1);
		range = unit_range_find(&unit->ranges, addr);
	}
	if (r < 0 || !range)
		return r;
	function = UNIT_AT(&unit->functions, struct unit_function, range->of);
	if (!function->decoded) {
		function->decoded = true;
		function->failed = unit_function_walk(function, &function->die, UNIT_NONE, 0);
	}
	*ret = function;
	return function->failed < 0 ? function->failed : 1;
}

/* The innermost inlined call at an address; UNIT_NONE: the address is the function's own code. */
uint32_t unit_innermost(const struct unit_function *function, uint64_t addr)
{
	uint32_t found = UNIT_NONE;

	/* In the order of the walk, outer calls stand in front of inner ones: each find goes one
	 * call inwards. Compilers sometimes let siblings overlap; the first of these counts. */
	for (size_t i = 0; i < UNIT_N(&function->ranges, struct unit_range); i++) {
		const struct unit_range *range = UNIT_AT(&function->ranges, struct unit_range, i);

		if (addr >= range->start && addr < range->end && range->of != found &&
		    UNIT_AT(&function->inlines, struct unit_inline, range->of)->parent == found)
			found = range->of;
	}
	return found;
}
