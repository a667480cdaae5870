// SPDX-License-Identifier: MIT
// cfi.c: reads CIEs and FDEs and hands each function's program to cfi_program.c.
// Invariant: every read is bounded by its entry; an entry that is unsound is skipped, the next one is found by its length.
// What an entry gives depends on it and its CIE alone, so that shares of a section can be read at the same time.
#include "unwind/cfi.h"

#include <errno.h>
#include <string.h>

#include "unwind/cfi_program.h"
#include "unwind/leb.h"

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
	ENC_FUNCREL = 0x40,
	ENC_ALIGNED = 0x50,
	ENC_INDIRECT = 0x80,
};

struct cfi {
	struct rows *rows;
	const struct compile_input *in;
	const struct compile_section *section;
	bool is_debug_frame;
	uint64_t last_offset;       /* of the CIE that was asked for last, */
	const struct cfi_cie *last; /* which is nearly always the next */
	struct map cies;            /* offset -> index + 1 in parsed; 0: known to be unsound */
	struct buf parsed;          /* struct cfi_cie */
	struct cfi_program program;
};

static uint64_t cfi_address(const struct cfi *f, const struct cursor *c)
{
	return f->section->address + cursor_offset(c);
}

/* A pointer in one of the encodings; sets c->failed for those that cannot be known here. */
static uint64_t cfi_pointer(const struct cfi *f, struct cursor *c, uint8_t encoding)
{
	uint64_t base = 0, v;

	switch (encoding & 0x70) {
	case ENC_PCREL:
		base = cfi_address(f, c);
		break;
	case ENC_TEXTREL:
		base = f->in->text_address;
		break;
	case ENC_DATAREL:
		base = f->in->data_address;
		break;
	case 0:
		break;
	default:
		cursor_fail(c);
	}
	switch (encoding & 0x0f) {
	case ENC_ABSPTR:
	case ENC_U8:
	case ENC_S8:
		v = cursor_u64(c);
		break;
	case ENC_ULEB:
		v = leb_unsigned(c);
		break;
	case ENC_SLEB:
		v = (uint64_t)leb_signed(c);
		break;
	case ENC_U2:
		v = cursor_u16(c);
		break;
	case ENC_S2:
		v = (uint64_t)(int16_t)cursor_u16(c);
		break;
	case ENC_U4:
		v = cursor_u32(c);
		break;
	case ENC_S4:
		v = (uint64_t)(int32_t)cursor_u32(c);
		break;
	default:
		cursor_fail(c);
		return 0;
	}
	if (encoding & ENC_INDIRECT)
		cursor_fail(c);
	return base + v;
}

/* An entry's length and where it ends. False at the end of the section. */
static bool cfi_entry(struct cursor *c, struct cursor *entry, bool *is_64)
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

/* Augmentation "zR", "zPLR", "zRS", "eh" ...: what follows the return address column. */
static bool cfi_augmentation(const struct cfi *f, struct cursor *c, const char *text,
                             struct cfi_cie *cie)
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
		case 'P': {
			uint8_t encoding = cursor_u8(c);

			cfi_pointer(
			        f, c,
			        encoding & 0x7f); /* the personality is not needed, only its size */
			break;
		}
		case 'S':
			cie->is_signal_frame = true;
			break;
		case 'B': /* aarch64: signed with the B key; the address is masked alike */
		case 'G': /* aarch64: memory tagging */
			break;
		default: /* unknown: 'z' says where it ends, but the FDE's encoding may be unknown then */
			c->at = end;
			return told;
		}
	}
	if (c->failed || c->at > end)
		return false;
	c->at = end;
	return true;
}

static bool cfi_parse_cie(struct cfi *f, uint64_t offset, struct cfi_cie *ret)
{
	struct cursor c = cursor_of(f->section->bytes, f->section->n, f->in->swap), entry;
	struct cfi_cie cie = { .encoding = ENC_ABSPTR };
	const char *augmentation;
	uint8_t version;
	uint64_t id;
	bool is_64;

	if (!cursor_seek(&c, offset) || !cfi_entry(&c, &entry, &is_64))
		return false;
	id = is_64 ? cursor_u64(&entry) : cursor_u32(&entry);
	if (f->is_debug_frame ? id != (is_64 ? UINT64_MAX : UINT32_MAX) : id != 0)
		return false;
	version = cursor_u8(&entry);
	if (version != 1 && version != 3 && version != 4)
		return false;
	augmentation = cursor_string(&entry);
	if (!augmentation)
		return false;
	if (version == 4 &&
	    (cursor_u8(&entry) != 8 || cursor_u8(&entry) != 0)) /* address and segment size */
		return false;
	cie.code_factor = leb_unsigned(&entry);
	cie.data_factor = leb_signed(&entry);
	cie.ra_register = version == 1 ? cursor_u8(&entry) : leb_unsigned(&entry);
	if (!cfi_augmentation(f, &entry, augmentation, &cie) || entry.failed)
		return false;
	cie.instructions = entry.at;
	cie.n_instructions = cursor_left(&entry);
	*ret = cie;
	return cfi_program_start(&f->program, ret);
}

static const struct cfi_cie *cfi_cie_at(struct cfi *f, uint64_t offset)
{
	struct cfi_cie cie;
	uint64_t *slot;
	bool is_new;

	if (f->last && f->last_offset == offset)
		return f->last;
	slot = map_slot(&f->cies, offset, &is_new);
	if (!slot)
		return NULL;
	if (is_new && cfi_parse_cie(f, offset, &cie) && !buf_put(&f->parsed, &cie, sizeof(cie)))
		*slot = f->parsed.n / sizeof(cie);
	f->last_offset = offset;
	f->last =
	        *slot ? (const struct cfi_cie *)(const void *)f->parsed.bytes + (*slot - 1) : NULL;
	return f->last;
}

static void cfi_fde(struct cfi *f, struct cursor *entry, uint64_t cie_offset)
{
	const struct cfi_cie *cie = cfi_cie_at(f, cie_offset);
	uint64_t start, length;

	if (!cie) {
		f->rows->skipped++;
		return;
	}
	start = cfi_pointer(f, entry, cie->encoding);
	length = cfi_pointer(f, entry, cie->encoding & 0x0f);
	if (cie->has_augmentation)
		cursor_bytes(entry, leb_unsigned(entry));
	if (entry->failed || length > UINT64_MAX - start) {
		f->rows->skipped++;
		return;
	}
	if (!rows_begin(f->rows, start, start + length))
		return; /* discarded by the linker (address 0), or not executable */
	if (cfi_program_run(&f->program, cie, entry, start, start + length))
		rows_end(f->rows);
	else
		rows_cancel(f->rows);
}

size_t cfi_next(const struct compile_input *in, const struct compile_section *section, size_t at,
                size_t wanted)
{
	struct cursor c = cursor_of(section->bytes, section->n, in->swap), entry;
	bool is_64;

	cursor_seek(&c, at);
	while (cursor_offset(&c) < wanted && cursor_left(&c) >= 4) {
		if (!cfi_entry(&c, &entry, &is_64))
			return section->n;
	}
	return cursor_left(&c) < 4 ? section->n : cursor_offset(&c);
}

/* One CIE, FDE or terminator (linkers leave those between the parts of some objects). */
static void cfi_one(struct cfi *f, struct cursor *entry, bool is_64)
{
	uint64_t here = cursor_offset(entry), id;

	if (!cursor_left(entry))
		return;
	id = is_64 ? cursor_u64(entry) : cursor_u32(entry);
	if (entry->failed)
		f->rows->skipped++;
	else if (f->is_debug_frame && id != (is_64 ? UINT64_MAX : UINT32_MAX))
		cfi_fde(f, entry, id);
	else if (!f->is_debug_frame && id)
		cfi_fde(f, entry, here - id);
}

void cfi_compile(struct rows *rows, const struct compile_section *section, bool is_debug_frame,
                 size_t from, size_t to)
{
	struct cfi f = {
		.rows = rows, .in = rows->in, .section = section, .is_debug_frame = is_debug_frame
	};
	struct cursor c = cursor_of(section->bytes, section->n, rows->in->swap), entry;
	bool is_64;

	if (cfi_program_init(&f.program, rows, section) < 0)
		rows->failed = -ENOMEM;
	cursor_seek(&c, from);
	while (cursor_offset(&c) < to && cursor_left(&c) >= 4 && !rows->failed &&
	       cfi_entry(&c, &entry, &is_64))
		cfi_one(&f, &entry, is_64);
	cfi_program_free(&f.program);
	map_free(&f.cies);
	buf_free(&f.parsed);
}
