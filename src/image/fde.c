// SPDX-License-Identifier: MIT
// fde.c: where the functions of an object begin and end, as its .eh_frame says: what is left of a
// symbol table when that was stripped, because stacks are unwound by it at run time.
//
// Invariant: what is given lies in one section of code, which is not the PLT: there one FDE is
// about many stubs, and its beginning says nothing about any of them. Each CIE is read once.
#include <errno.h>
#include <string.h>

#include "base/map.h"
#include "image/callframe.h"
#include "image/elf.h"

/* Sections of code that are looked at: linkers make about five. */
#define FDE_SECTIONS_MAX 64
/* More than any linker writes: Chromium, unstripped, has 60 MB. */
#define FDE_BYTES_MAX (256ULL << 20)

struct fde_code {
	uint64_t start, end;
};

struct fde_reading {
	struct callframe_section section;
	struct fde_code code[FDE_SECTIONS_MAX];
	size_t n_code;
	uint64_t last_offset; /* of the CIE that was asked for last, */
	uint64_t last;   /* which is nearly always the next: 0: it is unsound, else as in cies */
	struct map cies; /* offset -> what callframe_range needs of it, + 1 */
};

/* Notes where sections of code lie; more than FDE_SECTIONS_MAX are left out, and with them their
 * functions. */
static void fde_code(struct fde_reading *f, const struct image *image)
{
	struct image_section section;

	for (size_t i = 0; image_section_at(image, i, &section) == 0; i++) {
		if (f->n_code == FDE_SECTIONS_MAX || !(section.flags & SHF_EXECINSTR) ||
		    !strncmp(section.name, ".plt", 4) ||
		    section.memory_size > UINT64_MAX - section.vaddr)
			continue;
		f->code[f->n_code++] =
		        (struct fde_code){ section.vaddr, section.vaddr + section.memory_size };
	}
}

/* Finds a section without loading its bytes: those of a large one must not be read. */
static bool fde_section(const struct image *image, const char *name, struct image_section *ret)
{
	for (size_t i = 0; image_section_at(image, i, ret) == 0; i++)
		if (!strcmp(ret->name, name))
			return true;
	return false;
}

/* 0: there is no such section. */
static uint64_t fde_address(const struct image *image, const char *name)
{
	struct image_section section;

	return fde_section(image, name, &section) ? section.vaddr : 0;
}

/* Loads .eh_frame and notes where code is. -ENOENT: the file has no .eh_frame, or not its bytes;
 * -EBADMSG: it is damaged, or larger than any that is known. */
static int fde_start(struct fde_reading *f, struct image *image)
{
	const uint16_t one = 1;
	bool big_here = !*(const unsigned char *)&one;
	struct image_section section;
	int r;

	if (!fde_section(image, ".eh_frame", &section))
		return -ENOENT;
	if (section.memory_size > FDE_BYTES_MAX)
		return -EBADMSG;
	r = image_section_load(image, &section);
	if (r < 0)
		return r == -ENOMEM ? r : -EBADMSG;
	if (!section.bytes)
		return -ENOENT;
	f->section = (struct callframe_section){
		.bytes = section.bytes,
		.n = section.n,
		.address = section.vaddr,
		.text_address = fde_address(image, ".text"),
		.data_address = fde_address(image, ".got"),
		.swap = image_is_big_endian(image) != big_here,
		.is_32 = !image_is_64(image),
	};
	fde_code(f, image);
	return 0;
}

/* What is needed of the CIE at an offset. 1; 0: it is unsound. -ENOMEM. */
static int fde_cie(struct fde_reading *f, uint64_t offset, struct callframe_cie *ret)
{
	bool is_new = false;
	uint64_t *slot;

	if (f->last_offset != offset || !f->last) {
		slot = map_slot(&f->cies, offset, &is_new);
		if (!slot)
			return -ENOMEM;
		if (is_new && callframe_cie(&f->section, offset, ret))
			*slot = 1 + (ret->encoding | (uint64_t)ret->has_augmentation << 8 |
			             (uint64_t)ret->is_signal_frame << 9);
		f->last_offset = offset;
		f->last = *slot;
	}
	if (!f->last)
		return 0;
	*ret = (struct callframe_cie){ .encoding = (uint8_t)(f->last - 1),
		                       .has_augmentation = (f->last - 1) >> 8 & 1,
		                       .is_signal_frame = (f->last - 1) >> 9 & 1 };
	return 1;
}

/* One section must hold all of it: linkers do not let a function cross two. */
static bool fde_is_code(const struct fde_reading *f, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < f->n_code; i++)
		if (start >= f->code[i].start && start < f->code[i].end)
			return end > start && end <= f->code[i].end;
	return false; /* discarded by the linker (address 0), or a stub of the PLT */
}

/* Entries that are unsound are passed over; each is found by the length of the one before. */
int image_each_fde(struct image *image,
                   int (*each)(void *ctx, uint64_t start, uint64_t end, bool is_signal_frame),
                   void *ctx)
{
	struct fde_reading f = { 0 };
	struct cursor c, entry;
	int r = fde_start(&f, image);
	bool is_64;

	c = cursor_of(f.section.bytes, f.section.n, f.section.swap);
	while (!r && cursor_left(&c) >= 4 && callframe_entry(&c, &entry, &is_64)) {
		struct callframe_cie cie;
		uint64_t at, start, end;

		if (!callframe_is_fde(&f.section, &entry, is_64, &at))
			continue;
		r = fde_cie(&f, at, &cie);
		if (r > 0 && callframe_range(&f.section, &cie, &entry, &start, &end) &&
		    fde_is_code(&f, start, end))
			r = each(ctx, start, end, cie.is_signal_frame);
		else if (r > 0)
			r = 0;
	}
	map_free(&f.cies);
	return r;
}
