// SPDX-License-Identifier: MIT
// unit_bytes.c: units, functions and inlined calls by the bytes of the information, as unit.c finds them by libdw: the same
// ones in the same order. Each step takes bytes, so that damaged information ends.
#include <errno.h>

#include "dwarf/leb.h"
#include "dwarf/unit.h"

/* ---- the units of a file ---- */

/* A unit's own entry. */
static int units_read(struct die *ret, const struct sections *s, struct die_unit *unit)
{
	struct abbrevs abbrevs = { 0 };
	struct cursor c = s->info, code;
	int r;

	cursor_seek(&c, unit->at);
	c.end = c.start + unit->end;
	code = c;
	r = abbrevs_read(&abbrevs, &s->abbrev, unit->abbrevs, &unit->terms, leb_unsigned(&code));
	if (r >= 0)
		die_next(ret, &c, unit, &abbrevs);
	abbrevs_free(&abbrevs);
	if (r < 0)
		return r;
	if (!ret->has_low && ret->has_entry) /* that may count */
		return -ENOTSUP;
	unit->base = ret->low;
	return c.failed ? -ENOTSUP : 0;
}

int units_list(const struct sections *sections, struct buf *listed, struct buf *ranges)
{
	struct unit_listed unit = { 0 };
	struct die die;
	int r;

	if (sections->has_addr) /* addresses by index, and units in files of their own */
		return -ENOTSUP;
	while ((r = die_unit_next(&unit.place, sections, unit.place.end)) > 0) {
		uint32_t n = (uint32_t)UNIT_N(listed, struct unit_listed);
		size_t before = ranges->n;

		if (!unit.place.at)
			continue;
		r = units_read(&die, sections, &unit.place);
		if (r >= 0 && die.tag == DW_TAG_compile_unit)
			r = die_put_ranges(&die, &unit.place, sections, n, ranges);
		if (r >= 0 && ranges->n != before)
			r = buf_put(listed, &unit, sizeof(unit));
		if (r < 0)
			break;
	}
	return r;
}

/* ---- inside a unit ---- */

static int bytes_add_function(struct unit *unit, const struct die *die)
{
	size_t before = unit->ranges.n, n = UNIT_N(&unit->functions, struct unit_function);
	struct unit_function function = { .at = die->at };
	int r;

	if (n >= UNIT_FUNCTIONS_MAX)
		return 0;
	r = die_put_ranges(die, &unit->place, unit->bytes, (uint32_t)n, &unit->ranges);
	if (r < 0 || unit->ranges.n == before)
		return r; /* a declaration, or the common part of inlined copies */
	return buf_put(&unit->functions, &function, sizeof(function));
}

/* The entries of a list, up to its end. */
static int bytes_walk(struct unit *unit, struct cursor *c, unsigned depth)
{
	struct die die;
	int r = 0;

	while (r >= 0) {
		die_next(&die, c, &unit->place, &unit->abbrevs);
		if (c->failed)
			return -ENOTSUP;
		if (!die.tag)
			break;
		if (die.tag == DW_TAG_subprogram)
			r = bytes_add_function(unit, &die);
		if (r < 0 || !die.children)
			continue;
		if (depth + 1 < UNIT_DEPTH_MAX && unit_holds_functions((int)die.tag, unit->walked))
			r = bytes_walk(unit, c, depth + 1);
		else
			die_leave(&die, c, &unit->place, &unit->abbrevs);
	}
	return r;
}

/* The entry at an offset, and c behind it. */
static int bytes_enter(const struct unit *unit, uint64_t at, struct cursor *c, struct die *ret)
{
	*c = unit->bytes->info;
	cursor_seek(c, at);
	c->end = c->start + unit->place.end;
	die_next(ret, c, &unit->place, &unit->abbrevs);
	return c->failed ? -ENOTSUP : 0;
}

int unit_bytes_functions(struct unit *unit)
{
	const struct die_unit *place = &unit->place;
	struct cursor c;
	struct die die;
	int r = 0;

	if (!unit->abbrevs.list.n)
		r = abbrevs_read(&unit->abbrevs, &unit->bytes->abbrev, place->abbrevs,
		                 &place->terms, 0);
	if (r >= 0)
		r = bytes_enter(unit, place->at, &c, &die);
	return r >= 0 && die.children ? bytes_walk(unit, &c, 0) : r;
}

static int bytes_add_inline(struct unit *unit, struct unit_function *function,
                            const struct die *die, uint32_t *parent)
{
	struct unit_inline call = { .at = die->at, .parent = *parent };
	size_t n = UNIT_N(&function->inlines, struct unit_inline);

	if (n >= UNIT_INLINES_MAX)
		return 0;
	*parent = (uint32_t)n;
	if (buf_put(&function->inlines, &call, sizeof(call)) < 0)
		return -ENOMEM;
	return die_put_ranges(die, &unit->place, unit->bytes, (uint32_t)n, &function->ranges);
}

static bool holds_inlines(uint32_t tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

static int bytes_walk_inlines(struct unit *unit, struct unit_function *function, struct cursor *c,
                              uint32_t parent, unsigned depth)
{
	struct die die;
	int r = 0;

	while (r >= 0) {
		uint32_t inside = parent;

		die_next(&die, c, &unit->place, &unit->abbrevs);
		if (c->failed)
			return -ENOTSUP;
		if (!die.tag)
			break;
		if (die.tag == DW_TAG_inlined_subroutine)
			r = bytes_add_inline(unit, function, &die, &inside);
		if (r < 0 || !die.children)
			continue;
		if (depth + 1 < UNIT_DEPTH_MAX && holds_inlines(die.tag))
			r = bytes_walk_inlines(unit, function, c, inside, depth + 1);
		else
			die_leave(&die, c, &unit->place, &unit->abbrevs);
	}
	return r;
}

int unit_bytes_inlines(struct unit *unit, struct unit_function *function)
{
	struct cursor c;
	struct die die;
	int r = bytes_enter(unit, function->at, &c, &die);

	return r >= 0 && die.children ? bytes_walk_inlines(unit, function, &c, UNIT_NONE, 0) : r;
}
