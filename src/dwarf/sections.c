// SPDX-License-Identifier: MIT
// sections.c: see sections.h. libdw has unpacked what it wanted when the file was opened: a section that is still packed is
// one that is not read.
#include "dwarf/sections.h"

#include <gelf.h>

static struct cursor *section_named(struct sections *s, const char *name)
{
	if (!strcmp(name, ".debug_info"))
		return &s->info;
	if (!strcmp(name, ".debug_abbrev"))
		return &s->abbrev;
	if (!strcmp(name, ".debug_ranges"))
		return &s->ranges;
	if (!strcmp(name, ".debug_rnglists"))
		return &s->rnglists;
	if (!strcmp(name, ".debug_line"))
		return &s->line;
	if (!strcmp(name, ".debug_line_str"))
		return &s->line_str;
	return !strcmp(name, ".debug_str") ? &s->str : NULL;
}

void sections_of(struct sections *ret, Dwarf *dw)
{
	Elf *elf = dwarf_getelf(dw);
	Elf_Scn *section = NULL;
	GElf_Ehdr file;
	bool swap;
	size_t names;

	*ret = (struct sections){ 0 };
	if (!elf || !gelf_getehdr(elf, &file) || elf_getshdrstrndx(elf, &names) < 0)
		return;
	swap = file.e_ident[EI_DATA] !=
	       (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
		                           ? elf_strptr(elf, names, header.sh_name)
		                           : NULL;
		struct cursor *to = name ? section_named(ret, name) : NULL;
		Elf_Data *data;

		if (name && !strcmp(name, ".debug_addr"))
			ret->has_addr = true;
		if (!to || header.sh_type == SHT_NOBITS || header.sh_flags & SHF_COMPRESSED)
			continue;
		data = elf_getdata(section, NULL);
		if (data && data->d_buf)
			*to = cursor_of(data->d_buf, data->d_size, swap);
	}
}

const char *sections_text(const struct cursor *section, uint64_t offset)
{
	struct cursor c = *section;

	return cursor_seek(&c, offset) ? cursor_string(&c) : NULL;
}
