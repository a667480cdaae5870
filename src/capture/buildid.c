// SPDX-License-Identifier: MIT
/*
 * buildid.c: knows where an ELF file keeps its build-id: PT_NOTE segments, a note named "GNU" of
 * type
 * 3. Invariant: nothing of the file is trusted, all reads go through a cursor over a bounded copy.
 * Does not read sections: a file whose program headers are gone cannot be mapped for execution.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "capture/buildid.h"

#define BUILDID_FIRST 4096u /* header, program headers and notes of nearly every file */
/* A notes segment of more is not read: a build-id stands in the first note or two. */
#define BUILDID_LIMIT 65536u

/* Bytes up to the next multiple of align. */
static uint64_t buildid_padding(uint64_t at, size_t align)
{
	return (align - at % align) % align;
}

/* Reading stops at the first note that does not fit into n bytes. */
unsigned buildid_from_notes(const void *notes, size_t n, size_t align, uint8_t ret[BUILDID_MAX])
{
	struct cursor c = cursor_of(notes, n, false);

	/* The alignment of notes is 4, also in 64-bit files; only segments that say 8 have 8
	 * (.note.gnu.property). */
	if (align != 8)
		align = 4;
	while (cursor_left(&c) >= 12) {
		uint32_t name_size = cursor_u32(&c), desc_size = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const unsigned char *name, *desc;

		name = cursor_bytes(&c, name_size);
		cursor_bytes(&c, buildid_padding(cursor_offset(&c), align));
		desc = cursor_bytes(&c, desc_size);
		if (c.failed)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4) &&
		    desc_size && desc_size <= BUILDID_MAX) {
			memcpy(ret, desc, desc_size);
			return desc_size;
		}
		/* The last note of a segment need not be padded. */
		if (buildid_padding(cursor_offset(&c), align) > cursor_left(&c))
			return 0;
		cursor_bytes(&c, buildid_padding(cursor_offset(&c), align));
	}
	return 0;
}

/* Gives the bytes [offset, offset + size) of the file: those in `inside` if they are there, else it
 * reads them into `more`. */
static const void *buildid_span(int fd, const struct cursor *first, struct buf *more,
                                uint64_t offset, uint64_t size)
{
	void *room;

	if (size > BUILDID_LIMIT || offset > INT64_MAX - BUILDID_LIMIT)
		return NULL;
	if (offset + size <= (uint64_t)(first->end - first->start))
		return first->start + offset;
	buf_clear(more);
	room = buf_reserve(more, (size_t)size);
	/* A short read is none: the file is being written, or it was cut. */
	if (!room || pread(fd, room, (size_t)size, (off_t)offset) != (ssize_t)size)
		return NULL;
	return room;
}

/* What is needed of an Elf32_Phdr or Elf64_Phdr. Their fields stand in another order. */
struct buildid_segment {
	uint32_t type;
	uint64_t offset, size, align;
};

/* Reads one program header, of a 64-bit file if wide. The fields that are not needed are passed
 * over. */
static struct buildid_segment buildid_segment_read(struct cursor *c, bool wide)
{
	struct buildid_segment s = { .type = cursor_u32(c) };

	if (wide) {
		cursor_u32(c);
		s.offset = cursor_u64(c);
		cursor_bytes(c, 16);
		s.size = cursor_u64(c);
		cursor_u64(c);
		s.align = cursor_u64(c);
	} else {
		s.offset = cursor_u32(c);
		cursor_bytes(c, 8);
		s.size = cursor_u32(c);
		cursor_bytes(c, 8);
		s.align = cursor_u32(c);
	}
	return s;
}

/* Finds the program header table by a sound ELF header; false: the header is not sound. */
static bool buildid_header(struct cursor *c, bool *wide, uint64_t *offset, uint64_t *n)
{
	/* Only files of this machine's byte order: others cannot be mapped for execution. */
	const unsigned char *ident = cursor_bytes(c, EI_NIDENT);
	const int data = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	uint16_t entry;

	if (!ident || memcmp(ident, ELFMAG, SELFMAG) || ident[EI_DATA] != data)
		return false;
	*wide = ident[EI_CLASS] == ELFCLASS64;
	cursor_bytes(c, *wide ? 16 : 12); /* type, machine, version, entry */
	*offset = *wide ? cursor_u64(c) : cursor_u32(c);
	cursor_bytes(c, *wide ? 14 : 10); /* shoff, flags, ehsize */
	entry = cursor_u16(c);
	*n = cursor_u16(c);
	return !c->failed && entry == (*wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
}

/* Goes through the file's notes segments until one has a build-id: its size and *ret, or 0. first:
 * the beginning of the file; table and notes: room for what lies outside of it. */
static unsigned buildid_search(int fd, struct cursor *first, struct buf *table, struct buf *notes,
                               uint8_t *ret)
{
	bool wide;
	uint64_t offset, n, bytes;
	const void *headers;
	struct cursor c;

	if (!buildid_header(first, &wide, &offset, &n))
		return 0;
	/* n is a u16, so that this is at most 3.6 MB; buildid_span refuses tables above its
	 * limit. */
	bytes = n * (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	headers = buildid_span(fd, first, table, offset, bytes);
	if (!headers)
		return 0;
	c = cursor_of(headers, (size_t)bytes, false);
	for (uint64_t i = 0; i < n; i++) {
		struct buildid_segment s = buildid_segment_read(&c, wide);
		const void *span;
		unsigned size;

		if (c.failed)
			return 0;
		if (s.type != PT_NOTE)
			continue;
		span = buildid_span(fd, first, notes, s.offset, s.size);
		size = span ? buildid_from_notes(span, (size_t)s.size, (size_t)s.align, ret) : 0;
		if (size)
			return size;
	}
	return 0;
}

/* The size of the build-id, or 0: it has none, or it is no ELF file. The descriptor stays open and
 * its position is not moved. */
unsigned buildid_from_fd(int fd, uint8_t ret[BUILDID_MAX])
{
	unsigned char bytes[BUILDID_FIRST];
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
	struct buf table = { 0 }, notes = { 0 };
	struct cursor first;
	unsigned size;

	if (n < (ssize_t)sizeof(Elf32_Ehdr))
		return 0;
	first = cursor_of(bytes, (size_t)n, false);
	size = buildid_search(fd, &first, &table, &notes, ret);
	buf_free(&table);
	buf_free(&notes);
	return size;
}

/* /sys/kernel/notes and modules' notes are bare notes without an ELF file around. More than 4,096
 * bytes are not read. */
unsigned buildid_from_notes_file(int dirfd, const char *path, uint8_t ret[BUILDID_MAX])
{
	unsigned char bytes[BUILDID_FIRST];
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, bytes, sizeof(bytes));
	close(fd);
	return n > 0 ? buildid_from_notes(bytes, (size_t)n, 4, ret) : 0;
}
