// SPDX-License-Identifier: MIT
/*
 * callframe.c: see callframe.h. The entries of .eh_frame and .debug_frame: a length, then a CIE or
 * an FDE. The two sections differ in three things: how an FDE names its CIE (the distance back, or
 * the offset in the section), how a CIE is marked (0, or all bits), and how addresses are written
 * (by an encoding that the CIE states, or plainly).
 *
 * Invariant: every read goes through a cursor over the entry; an encoding that is not known fails
 * it.
 */
#include "image/callframe.h"

#include "base/leb.h"

/* Pointer encodings (LSB, DWARF extensions). */
enum {
	ENC_ABSPTR = 0x00,
	ENC_ULEB = 0x01,
	ENC_U2 = 0x02,
	ENC_U4 = 0x03,
	ENC_U8 = 0x04,
	ENC_SLEB = 0x09,
	ENC_S2 = 0x0a,
	ENC_S4 = 0x0b,
	ENC_S8 = 0x0c,
	ENC_PCREL = 0x10,
	ENC_TEXTREL = 0x20,
	ENC_DATAREL = 0x30,
	ENC_INDIRECT = 0x80,
};

/* The most bytes of an augmentation's text, NUL included. A file may point many FDEs at one long
 * text, which each of them would read. */
#define AUGMENTATION_MAX 32

/* What an encoded pointer is relative to. Sections' addresses are those of the object, before it is
 * loaded. */
static uint64_t callframe_base(const struct callframe_section *s, struct cursor *c,
                               uint8_t encoding)
{
	switch (encoding & 0x70) {
	case ENC_PCREL:
		return s->address + cursor_offset(c);
	case ENC_TEXTREL:
		return s->text_address;
	case ENC_DATAREL:
		return s->data_address;
	case 0:
		return 0;
	default: /* relative to the function, or aligned: nothing writes those here */
		cursor_fail(c);
		return 0;
	}
}

/* Reads the value of an encoded pointer, without its base. Sets c->failed for a format that is not
 * known. */
static uint64_t callframe_value(const struct callframe_section *s, struct cursor *c,
                                uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case ENC_ABSPTR:
		return s->is_32 ? cursor_u32(c) : cursor_u64(c);
	case ENC_U8:
	case ENC_S8:
		return cursor_u64(c);
	case ENC_ULEB:
		return leb_unsigned(c);
	case ENC_SLEB:
		return (uint64_t)leb_signed(c);
	case ENC_U2:
		return cursor_u16(c);
	case ENC_S2:
		return (uint64_t)(int16_t)cursor_u16(c);
	case ENC_U4:
		return cursor_u32(c);
	case ENC_S4:
		return (uint64_t)(int32_t)cursor_u32(c);
	default:
		cursor_fail(c);
		return 0;
	}
}

/* A pointer in one of the encodings; sets c->failed for those that cannot be known here. */
static uint64_t callframe_pointer(const struct callframe_section *s, struct cursor *c,
                                  uint8_t encoding)
{
	uint64_t v = callframe_base(s, c, encoding);

	v += callframe_value(s, c, encoding);
	/* The pointer would lead to the address, in memory that is not here. */
	if (encoding & ENC_INDIRECT)
		cursor_fail(c);
	return s->is_32 ? (uint32_t)v : v;
}

/* false: the length does not fit, so that no later entry can be found. *entry is what the length
 * holds. */
bool callframe_entry(struct cursor *c, struct cursor *entry, bool *is_64)
{
	uint64_t length = cursor_u32(c);
	const unsigned char *bytes;

	*is_64 = length == 0xffffffff;
	if (*is_64)
		length = cursor_u64(c);
	if (c->failed)
		return false;
	*entry = *c;
	bytes = cursor_bytes(c, length);
	if (!bytes)
		return false;
	entry->end = bytes + length;
	return true;
}

/* false for a CIE as well as for an entry that is too short (then entry->failed). */
bool callframe_is_fde(const struct callframe_section *s, struct cursor *entry, bool is_64,
                      uint64_t *ret_cie)
{
	uint64_t here = cursor_offset(entry), id;

	if (!cursor_left(entry))
		return false;
	id = is_64 ? cursor_u64(entry) : cursor_u32(entry);
	if (entry->failed)
		return false;
	*ret_cie = s->is_debug_frame ? id : here - id;
	return s->is_debug_frame ? id != (is_64 ? UINT64_MAX : UINT32_MAX) : id != 0;
}

/* Augmentation "zR", "zPLR", "zRS", "eh" ...: what follows the return address column. */
static bool callframe_augmentation(const struct callframe_section *s, struct cursor *c,
                                   const char *text, struct callframe_cie *cie)
{
	uint64_t length;
	const unsigned char *end;
	bool told = false; /* how FDEs write pointers */

	if (!*text)
		return true;
	if (*text != 'z')
		return false;
	cie->has_augmentation = true;
	length = leb_unsigned(c);
	if (length > cursor_left(c))
		return false;
	end = c->at + length;
	for (text++; *text; text++) {
		switch (*text) {
		case 'R':
			cie->encoding = cursor_u8(c);
			told = true;
			break;
		case 'L':
			cursor_u8(c);
			break;
		/* Exceptions' personality and language data are passed over. */
		case 'P': {
			uint8_t encoding = cursor_u8(c);

			/* the personality is not needed, only its size */
			callframe_pointer(s, c, encoding & 0x7f);
			break;
		}
		case 'S':
			cie->is_signal_frame = true;
			break;
		case 'B': /* aarch64: signed with the B key; the address is masked alike */
		case 'G': /* aarch64: memory tagging */
			break;
		/* unknown: 'z' says where it ends, but the FDE's encoding may be unknown then */
		default:
			c->at = end;
			return told;
		}
	}
	if (c->failed || c->at > end)
		return false;
	c->at = end;
	return true;
}

/* Reads a CIE of .eh_frame or .debug_frame, versions 1, 3 and 4. Its instructions stay in the
 * section. A CIE with an augmentation that is not known is refused, because then the layout of its
 * FDEs is not known either. */
bool callframe_cie(const struct callframe_section *s, uint64_t offset, struct callframe_cie *ret)
{
	struct cursor c = cursor_of(s->bytes, s->n, s->swap), entry, text;
	struct callframe_cie cie = { .encoding = ENC_ABSPTR };
	const char *augmentation;
	uint8_t version;
	uint64_t not_used;
	bool is_64;

	if (!cursor_seek(&c, offset) || !callframe_entry(&c, &entry, &is_64) ||
	    callframe_is_fde(s, &entry, is_64, &not_used))
		return false;
	version = cursor_u8(&entry);
	if (version != 1 && version != 3 && version != 4)
		return false;
	text = entry;
	if (cursor_left(&text) > AUGMENTATION_MAX)
		text.end = text.at + AUGMENTATION_MAX;
	augmentation = cursor_string(&text);
	if (!augmentation)
		return false;
	entry.at = text.at;
	if (version == 4 && (cursor_u8(&entry) != (s->is_32 ? 4 : 8) ||
	                     cursor_u8(&entry) != 0)) /* address and segment size */
		return false;
	cie.code_factor = leb_unsigned(&entry);
	cie.data_factor = leb_signed(&entry);
	cie.ra_register = version == 1 ? cursor_u8(&entry) : leb_unsigned(&entry);
	if (!callframe_augmentation(s, &entry, augmentation, &cie) || entry.failed)
		return false;
	cie.instructions = entry.at;
	cie.n_instructions = cursor_left(&entry);
	*ret = cie;
	return true;
}

/* The rest of the entry, behind the augmentation, is its instructions: *entry stands there then. */
bool callframe_range(const struct callframe_section *s, const struct callframe_cie *cie,
                     struct cursor *entry, uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t start = callframe_pointer(s, entry, cie->encoding);
	uint64_t length = callframe_pointer(s, entry, cie->encoding & 0x0f);

	if (cie->has_augmentation)
		cursor_bytes(entry, leb_unsigned(entry));
	if (entry->failed || length > UINT64_MAX - start)
		return false;
	*ret_start = start;
	*ret_end = start + length;
	return true;
}
