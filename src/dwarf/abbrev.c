// SPDX-License-Identifier: MIT
// abbrev.c: see abbrev.h.
#include "dwarf/abbrev.h"

#include <dwarf.h>
#include <errno.h>

#include "dwarf/leb.h"

/* The bytes of a form; -1: that is said in the value; -2: it is not known. */
static int form_length(unsigned form, const struct abbrev_terms *t)
{
	int offset = t->wide ? 8 : 4;

	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return t->address_size;
	case DW_FORM_ref_addr:
		return t->version == 2 ? t->address_size : offset;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return offset;
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
	case DW_FORM_block:
	case DW_FORM_exprloc:
	case DW_FORM_string:
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return -1;
	default:
		return -2;
	}
}

void abbrev_skip(struct cursor *c, unsigned form, const struct abbrev_terms *terms)
{
	int length = form_length(form, terms);

	if (length >= 0) {
		cursor_bytes(c, (uint64_t)length);
		return;
	}
	switch (length == -1 ? form : 0) {
	case 0:
		cursor_fail(c);
		break;
	case DW_FORM_block1:
		cursor_bytes(c, cursor_u8(c));
		break;
	case DW_FORM_block2:
		cursor_bytes(c, cursor_u16(c));
		break;
	case DW_FORM_block4:
		cursor_bytes(c, cursor_u32(c));
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		cursor_bytes(c, leb_unsigned(c));
		break;
	case DW_FORM_string:
		cursor_string(c);
		break;
	default: /* a number; one that is signed has as many bytes */
		while (cursor_u8(c) & 0x80)
			;
	}
}

#define PLAIN_MAX 65536u /* bytes: what is longer is gone over by its attributes */

static bool is_address(unsigned name)
{
	return name == DW_AT_low_pc || name == DW_AT_high_pc || name == DW_AT_ranges ||
	       name == DW_AT_entry_pc;
}

/* One more attribute of an abbreviation that was plain so far. */
static void abbrev_measure(struct abbrev *a, const struct abbrev_attribute *attribute,
                           const struct abbrev_terms *terms)
{
	int length = form_length(attribute->form, terms);

	if (is_address(attribute->name) || length < 0 || a->length > PLAIN_MAX ||
	    (attribute->name == DW_AT_sibling && attribute->form != DW_FORM_ref4)) {
		a->plain = false;
		return;
	}
	if (attribute->name == DW_AT_sibling)
		a->sibling = a->length;
	a->length += (uint32_t)length;
}

/* The next abbreviation, without its code; attributes are put into to, if there is one. */
static int abbrev_read(struct abbrev *ret, struct cursor *c, struct buf *to,
                       const struct abbrev_terms *terms)
{
	size_t size = sizeof(struct abbrev_attribute);
	struct abbrev a = { .tag = (uint32_t)leb_unsigned(c), .plain = true };
	uint64_t name, form;

	a.children = cursor_u8(c) != 0;
	a.sibling = ABBREV_NONE;
	a.first = to ? (uint32_t)(to->n / size) : 0;
	while ((name = leb_unsigned(c), form = leb_unsigned(c), name || form)) {
		struct abbrev_attribute attribute = { (uint16_t)name, (uint16_t)form };

		if (form == DW_FORM_implicit_const)
			leb_signed(c);
		if (!to)
			continue;
		if (name > UINT16_MAX || form > UINT16_MAX ||
		    form_length(attribute.form, terms) == -2)
			return -ENOTSUP;
		if (a.plain)
			abbrev_measure(&a, &attribute, terms);
		if (buf_put(to, &attribute, size) < 0)
			return -ENOMEM;
		a.n++;
	}
	*ret = a;
	return c->failed ? -ENOTSUP : 0;
}

int abbrevs_read(struct abbrevs *ret, const struct cursor *section, uint64_t offset,
                 const struct abbrev_terms *terms, uint64_t only)
{
	struct cursor c = *section;
	struct abbrev abbrev;
	uint64_t code, n = 0;
	int r = 0;

	ret->begin = only ? only : 1;
	cursor_seek(&c, offset);
	while (r >= 0 && (code = leb_unsigned(&c))) {
		bool wanted = !only || code == only;

		if (code != ++n)
			return -ENOTSUP;
		r = abbrev_read(&abbrev, &c, wanted ? &ret->attributes : NULL, terms);
		if (r >= 0 && wanted)
			r = buf_put(&ret->list, &abbrev, sizeof(abbrev));
		if (only && wanted)
			break;
	}
	return r < 0 ? r : c.failed || !ret->list.n ? -ENOTSUP : 0;
}

void abbrevs_free(struct abbrevs *a)
{
	buf_free(&a->list);
	buf_free(&a->attributes);
}
