// SPDX-License-Identifier: MIT
/*
 * section.c: the sections and symbols of an image. Bytes are as in the file, after decompression:
 * libelf gives them, and unpacks a section in place when it is asked for.
 *
 * Invariant: whatever a header says, bytes lie in the file or in what was unpacked within
 * ELF_SECTION_MAX; names end inside their table.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "image/elf.h"

/* Describes a section without its bytes, which image_section_load reads. -EBADMSG: its header is
 * damaged. */
static int section_fill(const struct image *image, Elf_Scn *scn, struct image_section *ret)
{
	GElf_Shdr header;
	const char *name;

	if (!gelf_getshdr(scn, &header))
		return -EBADMSG;
	name = elf_strptr(image->elf, image->names, header.sh_name);
	*ret = (struct image_section){
		.name = name ? name : "",
		.index = (uint32_t)elf_ndxscn(scn),
		.type = header.sh_type,
		.flags = header.sh_flags,
		.vaddr = header.sh_addr,
		.offset = header.sh_offset,
		.memory_size = header.sh_size,
		.link = header.sh_link,
		.info = header.sh_info,
		.entry_size = header.sh_entsize,
	};
	return 0;
}

int image_section_at(const struct image *image, size_t index, struct image_section *ret)
{
	Elf_Scn *scn = elf_getscn(image->elf, index);

	return scn ? section_fill(image, scn, ret) : -ENOENT;
}

/* Unpacks the section in place, once. */
static int section_unpack(Elf_Scn *scn, const struct image_section *section)
{
	GElf_Chdr packed;
	Elf_Data *raw;
	struct cursor c;
	uint64_t size;

	if (section->flags & SHF_COMPRESSED) {
		if (!gelf_getchdr(scn, &packed) || packed.ch_size > ELF_SECTION_MAX)
			return -EBADMSG;
		return elf_compress(scn, 0, 0) < 0 ? -EBADMSG : 0;
	}
	if (strncmp(section->name, ".zdebug", 7))
		return 0;
	/* "ZLIB", then the size as 8 bytes, then the packed bytes: the form of GNU before
	 * SHF_COMPRESSED. */
	raw = elf_rawdata(scn, NULL);
	if (!raw || raw->d_size < 12 || memcmp(raw->d_buf, "ZLIB", 4))
		return 0; /* not packed after all, or unpacked before */
	c = cursor_of((const char *)raw->d_buf + 4, 8,
	              __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__); /* big endian always */
	size = cursor_u64(&c);
	return size > ELF_SECTION_MAX || elf_compress_gnu(scn, 0, 0) < 0 ? -EBADMSG : 0;
}

/* Fills bytes and n, unpacked where the file has the section packed. They are libelf's, and valid
 * until the image is closed. A section without content is left as it is. */
int image_section_load(struct image *image, struct image_section *section)
{
	Elf_Scn *scn = elf_getscn(image->elf, section->index);
	Elf_Data *data;
	int r;

	if (!scn)
		return -ENOENT;
	if (section->type == SHT_NOBITS || !section->memory_size)
		return 0;
	r = section_unpack(scn, section);
	if (r < 0)
		return r;
	errno = 0;
	data = elf_rawdata(scn, NULL);
	if (!data || (data->d_size && !data->d_buf))
		return image_elf_failed();
	section->bytes = data->d_size ? data->d_buf : NULL;
	section->n = data->d_size;
	return 0;
}

bool image_read_file(const struct image *image, void *to, size_t n, uint64_t offset)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(image->fd, (char *)to + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* Without its bytes. -ENOENT. */
static int section_named(const struct image *image, const char *name, struct image_section *ret)
{
	struct image_section section;
	Elf_Scn *scn = NULL;
	bool debug = !strncmp(name, ".debug_", 7);

	while ((scn = elf_nextscn(image->elf, scn))) {
		int r = section_fill(image, scn, &section);

		/* ".zdebug_info" is ".debug_info", packed in the old form. */
		if (r < 0 ||
		    (strcmp(section.name, name) && !(debug && !strncmp(section.name, ".z", 2) &&
		                                     !strcmp(section.name + 2, name + 1))))
			continue;
		*ret = section;
		return 0;
	}
	return -ENOENT;
}

/* Loads the bytes of the section as well. */
int image_section(struct image *image, const char *name, struct image_section *ret)
{
	struct image_section section;
	int r = section_named(image, name, &section);

	if (r >= 0)
		r = image_section_load(image, &section);
	if (r < 0)
		return r;
	*ret = section;
	return 0;
}

/* A section that is packed, or of a file that was, is loaded. */
int image_section_beside(struct image *image, const char *name, struct image_section *ret)
{
	struct image_section section;
	struct stat st;
	int r = section_named(image, name, &section);

	if (r < 0)
		return r;
	if (image->fd < 0 || image->unpacked.n || section.flags & SHF_COMPRESSED)
		return image_section(image, name, ret);
	if (section.type != SHT_NOBITS && section.memory_size <= ELF_SECTION_MAX) {
		if (fstat(image->fd, &st) < 0 || section.offset > (uint64_t)st.st_size ||
		    section.memory_size > (uint64_t)st.st_size - section.offset)
			return -EBADMSG;
		section.n = (size_t)section.memory_size;
	}
	*ret = section;
	return 0;
}

const unsigned char *image_section_piece(const struct image *image,
                                         const struct image_section *section, uint64_t vaddr,
                                         size_t n, void *buf)
{
	uint64_t at = vaddr - section->vaddr;

	if (vaddr < section->vaddr || at > section->n || n > section->n - at)
		return NULL;
	if (section->bytes)
		return section->bytes + at;
	return image_read_file(image, buf, n, section->offset + at) ? buf : NULL;
}

/* objcopy --only-keep-debug keeps the headers of code and takes out its bytes. */
bool image_is_debug(const struct image *image)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	bool taken_out = false;

	while ((scn = elf_nextscn(image->elf, scn))) {
		if (!gelf_getshdr(scn, &header) ||
		    (header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) != (SHF_ALLOC | SHF_EXECINSTR))
			continue;
		if (header.sh_type != SHT_NOBITS)
			return false;
		taken_out = true;
	}
	return taken_out;
}

/* The first of that type; NULL: there is none. */
static Elf_Scn *section_of_type(struct image *image, unsigned type, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(image->elf, scn))) {
		if (gelf_getshdr(scn, ret) && ret->sh_type == type)
			return scn;
	}
	return NULL;
}

/* A table of symbols and the texts of their names, as libelf holds them. */
struct symbols {
	const Elf_Data *data, *names;
	size_t n;
	bool wide; /* of Elf64_Sym, which needs no call for each */
};

/* The first table of that type. -ENOENT: there is none. */
static int section_symbols(struct image *image, unsigned type, struct symbols *ret)
{
	GElf_Shdr header, names_header;
	Elf_Scn *scn = section_of_type(image, type, &header);
	Elf_Scn *names_scn = scn ? elf_getscn(image->elf, header.sh_link) : NULL;
	Elf_Data *data = (errno = 0, scn) ? elf_getdata(scn, NULL) : NULL, *names;
	size_t size = gelf_fsize(image->elf, ELF_T_SYM, 1, EV_CURRENT);

	if (!scn)
		return -ENOENT;
	if (!data)
		return header.sh_type && header.sh_size ? image_elf_failed() : -ENOENT;
	names = names_scn && gelf_getshdr(names_scn, &names_header) &&
	                        names_header.sh_type == SHT_STRTAB
	                ? elf_getdata(names_scn, NULL)
	                : NULL;
	if (!size || !names || !names->d_buf)
		return header.sh_type && header.sh_size ? image_elf_failed() : -ENOENT;
	*ret = (struct symbols){ .data = data,
		                 .names = names,
		                 .n = data->d_buf ? data->d_size / size : 0,
		                 .wide = gelf_getclass(image->elf) == ELFCLASS64 };
	if (ret->n > INT32_MAX)
		ret->n = INT32_MAX;
	return 0;
}

/* Symbol i, with its name, which may be damaged: NULL when it does not end inside its table. False:
 * there are no more. */
static bool section_symbol(const struct symbols *symbols, size_t i, struct image_symbol *ret)
{
	const char *text = symbols->names->d_buf, *end = NULL;
	GElf_Sym s;

	if (symbols->wide)
		memcpy(&s, (const char *)symbols->data->d_buf + i * sizeof(s), sizeof(s));
	else if (!gelf_getsym((Elf_Data *)(uintptr_t)symbols->data, (int)i, &s))
		return false;
	if (s.st_name < symbols->names->d_size)
		end = memchr(text + s.st_name, 0, symbols->names->d_size - s.st_name);
	*ret = (struct image_symbol){
		.name = end ? text + s.st_name : NULL,
		.length = end ? (size_t)(end - text) - s.st_name : 0,
		.value = s.st_value,
		.size = s.st_size,
		.section = s.st_shndx < SHN_LORESERVE ? s.st_shndx : UINT32_MAX,
		.type = GELF_ST_TYPE(s.st_info),
		.bind = GELF_ST_BIND(s.st_info),
	};
	return true;
}

/* Symbol names live as long as the image. A symbol that stands in no section of its own (absolute,
 * common) has the section UINT32_MAX. */
int image_each_symbol(struct image *image, unsigned table,
                      int (*each)(void *ctx, const struct image_symbol *symbol), void *ctx)
{
	struct image_symbol symbol;
	struct symbols symbols;
	int r = section_symbols(image, table, &symbols);

	/* The symbol with number 0 is reserved. */
	for (size_t i = 1; r == 0 && i < symbols.n && section_symbol(&symbols, i, &symbol); i++)
		if (symbol.name)
			r = each(ctx, &symbol);
	return r;
}

size_t image_symbols(struct image *image, unsigned table, size_t *names)
{
	struct symbols symbols;

	*names = 0;
	if (section_symbols(image, table, &symbols) < 0)
		return 0;
	*names = symbols.names->d_size;
	return symbols.n;
}

/* For one name in the table of symbols; an undefined symbol has no value. */
struct wanted {
	const char *name;
	uint64_t value;
};

static int section_is_wanted(void *ctx, const struct image_symbol *symbol)
{
	struct wanted *wanted = ctx;

	if (!symbol->section || strcmp(symbol->name, wanted->name))
		return 0;
	wanted->value = symbol->value;
	return 1;
}

int image_symbol_value(struct image *image, const char *name, uint64_t *ret)
{
	struct wanted wanted = { .name = name };

	if (image_each_symbol(image, SHT_SYMTAB, section_is_wanted, &wanted) != 1)
		return -ENOENT;
	*ret = wanted.value;
	return 0;
}
