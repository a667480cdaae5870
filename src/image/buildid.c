// SPDX-License-Identifier: MIT
/*
 * buildid.c: GNU build-ids: in notes, compared, as text; and what Go says of its programs.
 *
 * A build-id is bytes that the linker put into the file, most often 20 (a SHA-1). It says which
 * build a file is of. Anybody can write one, so that it tells files apart and proves nothing about
 * who made them.
 */
#include <ctype.h>
#include <string.h>

#include "base/cursor.h"
#include "image/elf.h"

#define NT_GO_BUILD_ID 4u
#define GO_NOTE_MAX 4096u
#define GO_PART 16u /* letters at least: each is a hash */

/* Build-ids of different sizes: MMAP2 records hold at most 20 bytes, and old ones filled shorter
 * ids up. */
bool image_build_id_equal(const struct image_build_id *a, const struct image_build_id *b)
{
	const struct image_build_id *longer = a->size > b->size ? a : b;
	uint8_t shared = a->size < b->size ? a->size : b->size;

	if (!shared || memcmp(a->bytes, b->bytes, shared))
		return false;
	/* Sizes may differ only where one is the form of old recordings: 20 bytes, filled up with
	 * zeros. */
	if (longer->size != shared && longer->size != IMAGE_BUILD_ID_MAX)
		return false;
	for (uint8_t i = shared; i < longer->size; i++) {
		if (longer->bytes[i])
			return false;
	}
	return true;
}

/* hex has room for the longest; the result is NUL-terminated. */
const char *image_build_id_hex(const struct image_build_id *id, char hex[IMAGE_BUILD_ID_HEX])
{
	static const char digits[] = "0123456789abcdef";
	size_t n = id->size < IMAGE_BUILD_ID_MAX ? id->size : IMAGE_BUILD_ID_MAX;

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[id->bytes[i] >> 4];
		hex[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	hex[2 * n] = 0;
	return hex;
}

/* Moves behind the padding of a note's name or descriptor. The last padding of a block may be
 * missing. */
static void buildid_notes_align(struct cursor *c, size_t align)
{
	size_t over = cursor_offset(c) & (align - 1);

	if (over && align - over <= cursor_left(c))
		cursor_bytes(c, align - over);
	else if (over)
		c->at = c->end;
}

/* Looks for the GNU build-id in a block of ELF notes: 1 and *ret, or 0. An id that is longer than
 * any known kind is cut. align: 4, or 8 where the section or segment says so. */
static int buildid_notes_find(const void *notes, size_t n, bool swap, size_t align,
                              struct image_build_id *ret)
{
	struct cursor c = cursor_of(notes, n, swap);

	while (cursor_left(&c) >= 12) {
		uint32_t name_size = cursor_u32(&c), size = cursor_u32(&c), type = cursor_u32(&c);
		const unsigned char *name = cursor_bytes(&c, name_size), *bytes;

		buildid_notes_align(&c, align);
		bytes = cursor_bytes(&c, size);
		buildid_notes_align(&c, align);
		if (c.failed)
			return 0;
		/* "GNU" with its NUL is 4 bytes. Other notes of that name have other types. */
		if (type != NT_GNU_BUILD_ID || name_size != 4 || memcmp(name, "GNU", 4) || !size)
			continue;
		*ret = (struct image_build_id){ 0 };
		ret->size = size < IMAGE_BUILD_ID_MAX ? (uint8_t)size : IMAGE_BUILD_ID_MAX;
		memcpy(ret->bytes, bytes, ret->size);
		return 1;
	}
	return 0;
}

/* Whether a text is a build-id as Go's linker makes it: four parts of letters, digits, _ and -, the
 * last of which is a hash of the contents. A text given to the linker instead (-buildid=TEXT) may
 * be the same in all programs. */
static bool is_go_id(const char *text, size_t n)
{
	size_t part = 0, parts = 1;

	for (size_t i = 0; i < n; i++) {
		bool ends = text[i] == '/';

		if (ends ? part < GO_PART
		         : !isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
			return false;
		part = ends ? 0 : part + 1;
		parts += ends;
	}
	return parts == 4 && part >= GO_PART;
}

/* Fields of notes are in the file's byte order. */
static bool buildid_is_swapped(const struct image *image)
{
	return image_is_big_endian(image) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* The section of Go's note: no larger than such a note may be, and not packed, so that nothing more
 * is read for a file that only calls something so. */
static bool buildid_go_note(struct image *image, struct image_section *ret)
{
	for (size_t i = 0; image_section_at(image, i, ret) == 0; i++)
		if (!strcmp(ret->name, ".note.go.buildid"))
			return ret->memory_size <= GO_NOTE_MAX && !(ret->flags & SHF_COMPRESSED) &&
			       image_section_load(image, ret) == 0 && ret->bytes;
	return false;
}

/* Only a note of Go's own type and name is taken. */
size_t image_go_id(struct image *image, const char **ret)
{
	struct image_section section;
	struct cursor c;
	uint32_t name_size, size, type;
	const char *name, *text;

	if (!buildid_go_note(image, &section))
		return 0;
	c = cursor_of(section.bytes, section.n, buildid_is_swapped(image));
	name_size = cursor_u32(&c);
	size = cursor_u32(&c);
	type = cursor_u32(&c);
	name = (const char *)cursor_bytes(&c, name_size);
	text = (const char *)cursor_bytes(&c, size);
	if (c.failed || type != NT_GO_BUILD_ID || name_size != 4 || memcmp(name, "Go", 3) != 0 ||
	    !is_go_id(text, size))
		return 0;
	*ret = text;
	return size;
}

/* For bare notes, such as /sys/kernel/notes: their alignment is 4. */
int image_build_id_of_notes(const void *notes, size_t n, bool swap, struct image_build_id *ret)
{
	return buildid_notes_find(notes, n, swap, 4, ret);
}

/* Looks in the note sections first, then in the note segments, which stripped files still have. */
int image_build_id(const struct image *image, struct image_build_id *ret)
{
	Elf_Scn *scn = NULL;
	size_t n_headers;
	GElf_Shdr section;
	GElf_Phdr segment;
	Elf_Data *data;

	while ((scn = elf_nextscn(image->elf, scn))) {
		if (!gelf_getshdr(scn, &section) || section.sh_type != SHT_NOTE)
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf &&
		    buildid_notes_find(data->d_buf, data->d_size, buildid_is_swapped(image),
		                       section.sh_addralign == 8 ? 8 : 4, ret))
			return 1;
	}
	/* A separate debug file's segments describe the object's layout, not its own. */
	if (image_is_debug(image) || elf_getphdrnum(image->elf, &n_headers) < 0)
		return 0;
	for (size_t i = 0; i < n_headers; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &segment) || segment.p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(image->elf, (int64_t)segment.p_offset, segment.p_filesz,
		                            ELF_T_BYTE);
		if (data && data->d_buf &&
		    buildid_notes_find(data->d_buf, data->d_size, buildid_is_swapped(image),
		                       segment.p_align == 8 ? 8 : 4, ret))
			return 1;
	}
	return 0;
}
