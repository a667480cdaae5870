// SPDX-License-Identifier: MIT
/* plt.c: names of PLT entries. An entry jumps through a slot of the GOT; the relocation of that
 * slot names the target. So each entry's own instruction is read, and no layout is assumed but its
 * size. x86_64 only: elsewhere entries are not recognized. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "image/elf.h"

#define PLT_PIECE 1024u /* relocations: 24 KB */

struct slot {
	uint64_t vaddr;
	const char *name;
};

struct slots {
	struct slot *all;
	size_t n, capacity;
};

static int plt_slot_order(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* -ENOMEM. */
static int plt_slots_put(struct slots *slots, uint64_t vaddr, const char *name)
{
	if (ARRAY_ROOM(&slots->all, &slots->capacity, slots->n + 1) < 0)
		return -ENOMEM;
	slots->all[slots->n++] = (struct slot){ .vaddr = vaddr, .name = name };
	return 0;
}

/* One relocation: a slot, if it is filled with the address of a function that has a name.
 * -ENOMEM. */
static int plt_slots_take(struct image *image, const GElf_Rela *rela, Elf_Data *symbols,
                          size_t names, struct slots *slots)
{
	unsigned type = (unsigned)GELF_R_TYPE(rela->r_info);
	GElf_Sym symbol;
	const char *name;

	if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
	    !gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &symbol))
		return 0;
	name = elf_strptr(image->elf, names, symbol.st_name);
	return name && *name ? plt_slots_put(slots, rela->r_offset, name) : 0;
}

/* The relocations of one section, which are read in pieces: a large program that is loaded anywhere
 * has millions, nearly all of data. Those of 32 bits (x32) are not read. -ENOMEM. */
static int plt_slots_walk(struct image *image, const GElf_Shdr *header, Elf_Data *symbols,
                          size_t names, struct slots *slots)
{
	Elf64_Rela piece[PLT_PIECE];
	Elf_Data data = { .d_buf = piece, .d_type = ELF_T_RELA, .d_version = EV_CURRENT };
	uint64_t n = header->sh_size / sizeof(piece[0]);
	const char *ident = elf_getident(image->elf, NULL);
	int r = 0;

	if (gelf_getclass(image->elf) != ELFCLASS64 || !ident)
		return 0;
	for (uint64_t at = 0; at < n && !r; at += PLT_PIECE) {
		size_t some = n - at < PLT_PIECE ? (size_t)(n - at) : PLT_PIECE;

		data.d_size = some * sizeof(piece[0]);
		if (!image_read_file(image, piece, data.d_size,
		                     header->sh_offset + at * sizeof(piece[0])) ||
		    !elf64_xlatetom(&data, &data, (unsigned char)ident[EI_DATA]))
			return 0;
		for (size_t i = 0; i < some && !r; i++)
			r = plt_slots_take(image, &piece[i], symbols, names, slots);
	}
	return r;
}

/* The slots that one relocation section fills with functions' addresses. */
static int plt_slots_read(struct image *image, const GElf_Shdr *header, struct slots *slots)
{
	Elf_Data *symbols;
	Elf_Scn *symbols_scn = elf_getscn(image->elf, header->sh_link);
	GElf_Shdr symbols_header;

	/* Another symbol table has other names: only the dynamic one is meant. */
	if (!symbols_scn || !gelf_getshdr(symbols_scn, &symbols_header) ||
	    symbols_header.sh_type != SHT_DYNSYM)
		return 0;
	errno = 0;
	symbols = elf_getdata(symbols_scn, NULL);
	if (!symbols)
		return errno == ENOMEM ? -ENOMEM : 0;
	return plt_slots_walk(image, header, symbols, symbols_header.sh_link, slots);
}

/* The slot that an entry jumps through: [endbr64] [bnd] jmp *disp32(%rip); 0: it does not. */
static uint64_t plt_target(const unsigned char *code, size_t n, uint64_t vaddr)
{
	static const unsigned char endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;
	int32_t distance;

	if (n >= 4 && !memcmp(code, endbr64, 4))
		at = 4;
	if (at < n && code[at] == 0xf2)
		at++;
	if (at + 6 > n || code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	distance = (int32_t)((uint32_t)code[at + 2] | (uint32_t)code[at + 3] << 8 |
	                     (uint32_t)code[at + 4] << 16 | (uint32_t)code[at + 5] << 24);
	return vaddr + at + 6 + (uint64_t)(int64_t)distance;
}

/* Gives each the entries of one PLT section whose target is known. 0 also if the file has no such
 * section; else what each returned, or -ENOMEM. */
static int plt_section(struct image *image, const char *name, const struct slots *slots,
                       int (*each)(void *ctx, const struct image_symbol *symbol), void *ctx)
{
	struct image_section section;
	uint64_t step;
	int r = image_section(image, name, &section);

	if (r < 0 || !section.bytes)
		return r == -ENOMEM ? r : 0;
	step = section.entry_size == 8 ? 8 : 16; /* .plt.got without CET has entries of 8 */
	for (uint64_t at = 0; !r && at + step <= section.n; at += step) {
		struct slot key = { .vaddr = plt_target(section.bytes + at, step,
			                                section.vaddr + at) };
		const struct slot *slot =
		        key.vaddr ? bsearch(&key, slots->all, slots->n, sizeof(key), plt_slot_order)
		                  : NULL;
		struct image_symbol symbol = { .value = section.vaddr + at,
			                       .size = step,
			                       .section = section.index,
			                       .type = STT_FUNC,
			                       .bind = STB_LOCAL };

		if (!slot)
			continue;
		symbol.name = slot->name;
		symbol.length = strlen(slot->name);
		r = each(ctx, &symbol);
	}
	return r;
}

/* Two steps: the relocations say which GOT slot belongs to which function, then each PLT entry is
 * looked up by the slot that it jumps through. Names live as long as the image. */
int image_each_plt(struct image *image, int (*each)(void *ctx, const struct image_symbol *symbol),
                   void *ctx)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got" };
	struct slots slots = { 0 };
	GElf_Shdr header;
	Elf_Scn *scn = NULL;
	int r = 0;

	if (image_machine(image) != EM_X86_64)
		return -ENOENT;
	while (!r && (scn = elf_nextscn(image->elf, scn))) {
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_RELA)
			r = plt_slots_read(image, &header, &slots);
	}
	if (!r && !slots.n)
		r = -ENOENT;
	if (!r)
		qsort(slots.all, slots.n, sizeof(*slots.all), plt_slot_order);
	for (size_t i = 0; !r && i < sizeof(names) / sizeof(names[0]); i++)
		r = plt_section(image, names[i], &slots, each, ctx);
	free(slots.all);
	return r;
}
