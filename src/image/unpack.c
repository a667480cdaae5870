// SPDX-License-Identifier: MIT
// unpack.c: the debugging sections of a file that packs them, as an ELF file in memory. libelf
// unpacks too, by zlib. This is twice as fast, knows zstd, and unpacks only what is wanted. Sizes
// in the file are believed only within bounds. A section is taken whole, with a right checksum, or
// nothing is. The packed bytes of a section are in memory only while it is unpacked.
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "image/elf.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

#define SECTIONS_MAX 64u
#define PIECE (1u << 20) /* bytes of a section that are read at once */
#define ALIGN 16u
/* Bytes that a byte can unfold into, at most: of zlib by its format; of zstd there is no such
 * limit, and debugging information is nowhere near it. */
#define UNFOLDS_MAX 1032u

struct unpack_section {
	Elf_Scn *scn;
	const char *name;
	uint32_t packing; /* ELFCOMPRESS_*; 0: none */
	size_t head;      /* bytes in front of what is packed */
	uint64_t offset;  /* in the file */
	size_t n_file;
	size_t at, n; /* in the ELF that is made */
	uint32_t name_at;
};

struct unpack {
	struct unpack_section sections[SECTIONS_MAX];
	size_t n_sections;
	bool packed; /* at least one is */
	size_t names_at, names_n, headers_at, n;
	unsigned char *bytes;
	struct scratch_alone spill; /* where they are; at NULL: in memory */
};

/* Debugging sections with content, but for those that the caller leaves out. */
static bool unpack_wants(const char *name, const GElf_Shdr *header, const char *const *without)
{
	if (!name || header->sh_type == SHT_NOBITS || strncmp(name, ".debug_", 7))
		return false;
	while (*without && strcmp(name + 7, *without))
		without++;
	return !*without;
}

/* How large a section will be; false: what it says of itself cannot be. */
static bool unpack_measure(struct unpack_section *s, const GElf_Shdr *header)
{
	GElf_Chdr packed;

	s->n = s->n_file = header->sh_size;
	s->offset = header->sh_offset;
	if (!(header->sh_flags & SHF_COMPRESSED))
		return s->n <= ELF_SECTION_MAX;
	if (!gelf_getchdr(s->scn, &packed) || packed.ch_size / UNFOLDS_MAX > header->sh_size)
		return false;
	s->packing = packed.ch_type;
	s->head = sizeof(Elf64_Chdr);
	s->n = packed.ch_size;
	return (s->packing == ELFCOMPRESS_ZLIB || s->packing == ELFCOMPRESS_ZSTD) && s->n &&
	       s->n <= ELF_SECTION_MAX;
}

/* Decides which sections there will be, and where. False: nothing is packed (and nothing is to be
 * spilled), or not in a way that is unpacked here. */
static bool unpack_plan(struct unpack *u, struct image *image, const char *const *without)
{
	Elf_Scn *scn = NULL;

	u->n = sizeof(Elf64_Ehdr);
	u->names_n = 1;
	while ((scn = elf_nextscn(image->elf, scn))) {
		struct unpack_section *s = &u->sections[u->n_sections];
		GElf_Shdr header;
		const char *name = gelf_getshdr(scn, &header)
		                           ? elf_strptr(image->elf, image->names, header.sh_name)
		                           : NULL;

		if (name && !strncmp(name, ".zdebug_", 8)) /* the old form: libelf's */
			return false;
		if (!unpack_wants(name, &header, without))
			continue;
		*s = (struct unpack_section){ .scn = scn, .name = name };
		if (u->n_sections + 1 == SECTIONS_MAX || !unpack_measure(s, &header))
			return false;
		u->packed |= s->packing != 0;
		u->n_sections++;
		s->at = (u->n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
		u->n = s->at + s->n;
		s->name_at = (uint32_t)u->names_n;
		u->names_n += strlen(name) + 1;
		if (u->n > ELF_SECTION_MAX)
			return false;
	}
	u->names_at = u->n;
	u->headers_at =
	        (u->names_at + u->names_n + sizeof(".shstrtab") + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	u->n = u->headers_at + (u->n_sections + 2) * sizeof(Elf64_Shdr);
	return u->packed || (image->spills && u->n_sections);
}

/* The decompressor checks the length and the checksum of zlib's form. */
static bool unpack_zlib(void *to, size_t n, const unsigned char *from, size_t n_from)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool done =
	        d && libdeflate_zlib_decompress(d, from, n_from, to, n, NULL) == LIBDEFLATE_SUCCESS;

	libdeflate_free_decompressor(d);
	return done;
}

static bool unpack_section(void *to, const struct unpack_section *s, const unsigned char *from,
                           size_t n)
{
	if (n < s->head)
		return false;
	if (s->packing == ELFCOMPRESS_ZLIB)
		return unpack_zlib(to, s->n, from + s->head, n - s->head);
	if (s->packing == ELFCOMPRESS_ZSTD)
		return ZSTD_decompress(to, s->n, from + s->head, n - s->head) == s->n;
	if (n != s->n)
		return false;
	memcpy(to, from, s->n);
	return true;
}

/* What is not packed is read in pieces, so that of a large section not all is in memory, where it
 * has a file to go to. */
static bool unpack_read(const struct unpack *u, const struct image *image, unsigned char *to,
                        const struct unpack_section *s)
{
	bool done = true;

	for (size_t at = 0; done && at < s->n; at += PIECE) {
		size_t n = s->n - at < PIECE ? s->n - at : PIECE;

		done = image_read_file(image, to + at, n, s->offset + at);
		scratch_alone_rest(&u->spill);
	}
	return done;
}

/* From the file, because libelf keeps all that it has read. */
static bool unpack_file(const struct unpack *u, const struct image *image, void *to,
                        const struct unpack_section *s)
{
	unsigned char *packed;
	bool done;

	if (!s->packing)
		return unpack_read(u, image, to, s);
	packed = malloc(s->n_file);
	done = packed && image_read_file(image, packed, s->n_file, s->offset) &&
	       unpack_section(to, s, packed, s->n_file);
	free(packed);
	return done;
}

/* Writes the content of one section into the ELF that is made. False: it is not exactly what the
 * file promised. */
static bool unpack_fill(const struct unpack *u, const struct image *image,
                        const struct unpack_section *s)
{
	void *to = u->bytes + s->at;
	Elf_Data *raw;

	if (!s->n)
		return true;
	if (image->fd >= 0 && !image->unpacked.n && s->n_file <= ELF_SECTION_MAX)
		return unpack_file(u, image, to, s);
	raw = elf_rawdata(s->scn, NULL);
	return raw && raw->d_buf && unpack_section(to, s, raw->d_buf, raw->d_size);
}

/* Writes everything except the sections' bytes. */
static void unpack_frame(const struct unpack *u, const struct image *image)
{
	Elf64_Shdr names = { .sh_type = SHT_STRTAB, .sh_offset = u->names_at, .sh_addralign = 1 };
	Elf64_Ehdr header = { .e_type = image->header.e_type,
		              .e_machine = image->header.e_machine,
		              .e_version = EV_CURRENT,
		              .e_shoff = u->headers_at,
		              .e_ehsize = sizeof(Elf64_Ehdr),
		              .e_shentsize = sizeof(Elf64_Shdr),
		              .e_shnum = (uint16_t)(u->n_sections + 2),
		              .e_shstrndx = (uint16_t)(u->n_sections + 1) };
	unsigned char *to = u->bytes + u->headers_at + sizeof(Elf64_Shdr);
	size_t tail = u->names_at + u->names_n;

	memcpy(header.e_ident, image->header.e_ident, EI_NIDENT);
	memcpy(u->bytes, &header, sizeof(header));
	for (size_t i = 0; i < u->n_sections; i++, to += sizeof(Elf64_Shdr)) {
		const struct unpack_section *s = &u->sections[i];
		Elf64_Shdr section = { .sh_name = s->name_at,
			               .sh_type = SHT_PROGBITS,
			               .sh_offset = s->at,
			               .sh_size = s->n,
			               .sh_addralign = 1 };

		memcpy(u->bytes + u->names_at + s->name_at, s->name, strlen(s->name) + 1);
		memcpy(to, &section, sizeof(section));
	}
	memcpy(u->bytes + tail, ".shstrtab", sizeof(".shstrtab"));
	names.sh_name = (uint32_t)u->names_n;
	names.sh_size = u->names_n + sizeof(".shstrtab");
	memcpy(to, &names, sizeof(names));
}

/* false: memory is out, or a section is not what it promised; then nothing of it is used. */
static bool unpack_all(struct unpack *u, struct image *image)
{
	/* The gaps between sections must be zero: nobody reads them, but they are part of the
	 * file. */
	if (image->spills && scratch_alone_make(&u->spill, u->n))
		u->bytes = u->spill.at;
	else
		u->bytes = calloc(1, u->n);
	if (!u->bytes)
		return false;
	for (size_t i = 0; i < u->n_sections; i++) {
		if (!unpack_fill(u, image, &u->sections[i]))
			return false;
		scratch_alone_rest(&u->spill);
	}
	unpack_frame(u, image);
	return true;
}

/* The image takes what was made; what did not become a file is freed. */
static void unpack_give(struct unpack *u, struct image *image, bool made)
{
	if (made)
		image->bare = elf_memory((char *)u->bytes, u->n);
	if (!image->bare && u->spill.at)
		scratch_alone_free(&u->spill);
	else if (!image->bare)
		free(u->bytes);
	else if (u->spill.at)
		image->bare_spill = u->spill;
	else
		image->bare_bytes = u->bytes;
}

/* Only 64-bit files of this machine's byte order are taken. The work is done once per image,
 * whatever comes of it. */
struct Elf *image_unpacked(struct image *image, const char *const *without)
{
	const unsigned char *ident = image->header.e_ident;
	struct unpack u = { 0 };
	bool own_order = ident[EI_DATA] ==
	                 (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);

	if (image->bare || image->bare_tried)
		return image->bare;
	image->bare_tried = true;
	if (ident[EI_CLASS] == ELFCLASS64 && own_order && unpack_plan(&u, image, without))
		unpack_give(&u, image, unpack_all(&u, image));
	return image->bare;
}

void image_spill(struct image *image)
{
	image->spills = true;
}

size_t image_spill_rest(const struct image *image)
{
	scratch_alone_rest(&image->bare_spill);
	return image->bare_spill.n;
}
