// SPDX-License-Identifier: MIT
// die.c: see die.h.
#include "dwarf/die.h"

#include <dwarf.h>
#include <errno.h>

#include "dwarf/leb.h"
#include "dwarf/unit.h"

static uint64_t die_offset(struct cursor *c, const struct abbrev_terms *t)
{
	return t->wide ? cursor_u64(c) : cursor_u32(c);
}

static uint64_t die_address(struct cursor *c, const struct abbrev_terms *t)
{
	return t->address_size == 8 ? cursor_u64(c) : cursor_u32(c);
}

int die_unit_next(struct die_unit *ret, const struct sections *s, uint64_t offset)
{
	struct die_unit unit = { .begin = offset };
	struct cursor c = s->info;
	uint8_t type = DW_UT_compile;
	uint64_t n;

	if (offset >= cursor_left(&c))
		return 0;
	cursor_seek(&c, offset);
	n = cursor_u32(&c);
	unit.terms.wide = n == UINT32_MAX;
	if (unit.terms.wide)
		n = cursor_u64(&c);
	if (c.failed || !n || n > cursor_left(&c))
		return -ENOTSUP;
	unit.end = cursor_offset(&c) + n;
	unit.terms.version = cursor_u16(&c);
	if (unit.terms.version >= 5) {
		type = cursor_u8(&c);
		unit.terms.address_size = cursor_u8(&c);
	}
	unit.abbrevs = die_offset(&c, &unit.terms);
	if (unit.terms.version < 5)
		unit.terms.address_size = cursor_u8(&c);
	if (c.failed || unit.terms.version < 2 || unit.terms.version > 5 ||
	    (unit.terms.address_size != 4 && unit.terms.address_size != 8) ||
	    (type != DW_UT_compile && type != DW_UT_partial && type != DW_UT_type))
		return -ENOTSUP;
	if (type != DW_UT_type)
		unit.at = cursor_offset(&c);
	*ret = unit;
	return 1;
}

/* A number that says where in its unit something is; 0: it is not said so. */
static uint64_t die_reference(struct cursor *c, unsigned form, const struct die_unit *unit)
{
	switch (form) {
	case DW_FORM_ref1:
		return unit->begin + cursor_u8(c);
	case DW_FORM_ref2:
		return unit->begin + cursor_u16(c);
	case DW_FORM_ref4:
		return unit->begin + cursor_u32(c);
	case DW_FORM_ref8:
		return unit->begin + cursor_u64(c);
	case DW_FORM_ref_udata:
		return unit->begin + leb_unsigned(c);
	default:
		abbrev_skip(c, form, &unit->terms);
		return 0;
	}
}

static uint64_t die_number(struct cursor *c, unsigned form)
{
	switch (form) {
	case DW_FORM_data1:
		return cursor_u8(c);
	case DW_FORM_data2:
		return cursor_u16(c);
	case DW_FORM_data4:
		return cursor_u32(c);
	case DW_FORM_data8:
		return cursor_u64(c);
	case DW_FORM_udata:
		return leb_unsigned(c);
	default: /* an address by index, and what would be stranger */
		cursor_fail(c);
		return 0;
	}
}

static void die_attribute(struct die *die, struct cursor *c, const struct abbrev_attribute *a,
                          const struct die_unit *unit)
{
	switch (a->name) {
	case DW_AT_sibling:
		die->sibling = die_reference(c, a->form, unit);
		break;
	case DW_AT_low_pc:
		if (a->form != DW_FORM_addr)
			cursor_fail(c);
		die->has_low = true;
		die->low = die_address(c, &unit->terms);
		break;
	case DW_AT_high_pc:
		die->has_high = true;
		die->high_is_length = a->form != DW_FORM_addr;
		die->high =
		        die->high_is_length ? die_number(c, a->form) : die_address(c, &unit->terms);
		break;
	case DW_AT_ranges:
		die->has_ranges = true;
		die->ranges = a->form == DW_FORM_sec_offset ? die_offset(c, &unit->terms)
		                                            : die_number(c, a->form);
		break;
	case DW_AT_entry_pc:
		die->has_entry = true;
		abbrev_skip(c, a->form, &unit->terms);
		break;
	default:
		abbrev_skip(c, a->form, &unit->terms);
	}
}

void die_next(struct die *ret, struct cursor *c, const struct die_unit *unit,
              const struct abbrevs *abbrevs)
{
	const struct abbrev_attribute *attributes = (const void *)abbrevs->attributes.bytes;
	const unsigned char *plain;
	const struct abbrev *a;
	uint64_t code;
	uint32_t sibling;

	*ret = (struct die){ .at = cursor_offset(c) };
	code = leb_unsigned(c);
	if (!code)
		return;
	a = abbrev_of(abbrevs, code);
	if (!a) {
		cursor_fail(c);
		return;
	}
	ret->tag = a->tag;
	ret->children = a->children;
	if (a->plain) {
		plain = cursor_bytes(c, a->length);
		if (!plain || a->sibling == ABBREV_NONE)
			return;
		memcpy(&sibling, plain + a->sibling, sizeof(sibling));
		ret->sibling = unit->begin + (c->swap ? __builtin_bswap32(sibling) : sibling);
		return;
	}
	for (uint32_t i = 0; i < a->n; i++)
		die_attribute(ret, c, &attributes[a->first + i], unit);
}

void die_leave(const struct die *die, struct cursor *c, const struct die_unit *unit,
               const struct abbrevs *abbrevs)
{
	struct die below;
	size_t depth = 1;

	if (!die->children)
		return;
	if (die->sibling) {
		if (die->sibling <= cursor_offset(c))
			cursor_fail(c);
		cursor_seek(c, die->sibling);
		return;
	}
	while (depth && !c->failed) {
		die_next(&below, c, unit, abbrevs);
		if (!below.tag)
			depth--;
		else if (below.children && below.sibling > cursor_offset(c))
			cursor_seek(c, below.sibling);
		else
			depth += below.children;
	}
}

static int ranges_put(struct buf *to, uint64_t start, uint64_t end, uint32_t of)
{
	struct unit_range range = { start, end, of };

	return start < end ? buf_put(to, &range, sizeof(range)) : 0;
}

/* Of DWARF 2 to 4. */
static int ranges_pairs(struct cursor *c, const struct die_unit *unit, uint32_t of, struct buf *to)
{
	uint64_t most = unit->terms.address_size == 8 ? UINT64_MAX : UINT32_MAX, base = unit->base;
	int r = 0;

	while (r >= 0) {
		uint64_t start = die_address(c, &unit->terms), end = die_address(c, &unit->terms);

		if (c->failed)
			return -ENOTSUP;
		if (!start && !end)
			return 0;
		if (start == most)
			base = end;
		else
			r = ranges_put(to, base + start, base + end, of);
	}
	return r;
}

/* Of DWARF 5. */
static int ranges_list(struct cursor *c, const struct die_unit *unit, uint32_t of, struct buf *to)
{
	uint64_t base = unit->base, start, end;
	int r = 0;

	while (r >= 0) {
		uint8_t kind = cursor_u8(c);

		switch (c->failed ? UINT8_MAX : kind) {
		case DW_RLE_end_of_list:
			return 0;
		case DW_RLE_base_address:
			base = die_address(c, &unit->terms);
			continue;
		case DW_RLE_offset_pair:
			start = base + leb_unsigned(c);
			end = base + leb_unsigned(c);
			break;
		case DW_RLE_start_end:
			start = die_address(c, &unit->terms);
			end = die_address(c, &unit->terms);
			break;
		case DW_RLE_start_length:
			start = die_address(c, &unit->terms);
			end = start + leb_unsigned(c);
			break;
		default: /* by index */
			return -ENOTSUP;
		}
		if (!c->failed)
			r = ranges_put(to, start, end, of);
	}
	return r;
}

int die_put_ranges(const struct die *die, const struct die_unit *unit, const struct sections *s,
                   uint32_t of, struct buf *to)
{
	struct cursor c = unit->terms.version >= 5 ? s->rnglists : s->ranges;

	if (die->has_low && die->has_high)
		return ranges_put(to, die->low, die->high + (die->high_is_length ? die->low : 0),
		                  of);
	if (!die->has_ranges)
		return 0;
	if (!cursor_seek(&c, die->ranges))
		return -ENOTSUP;
	return unit->terms.version >= 5 ? ranges_list(&c, unit, of, to)
	                                : ranges_pairs(&c, unit, of, to);
}
