// SPDX-License-Identifier: MIT
/*
 * image.c: opens an ELF file and knows its segments. Sections and symbols are section.c's.
 *
 * Files are read through libelf (ELF_C_READ), not mapped: a mapped file that somebody cuts short
 * kills the process that reads it. A file packed by xz (kernel modules) is unpacked into memory
 * first.
 *
 * Three kinds of numbers must be kept apart: an offset in the file, an address in the object
 * (vaddr, as the linker laid it out), and an address in a process. Segments turn the first two into
 * each other; mappings (proc/) lead to the third.
 *
 * Invariant: an image is not changed after image_open, except that sections are unpacked in place
 * when they are asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/elf.h"

#define PAGE 4096u /* the smallest of any machine: what is mapped is at least rounded to this */

/* NULL is allowed. What was given out (bytes, names) goes with it. */
void image_close(struct image *image)
{
	if (!image)
		return;
	elf_end(image->bare);
	free(image->bare_bytes);
	scratch_alone_free(&image->bare_spill);
	elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	buf_free(&image->unpacked);
	free(image->segments);
	free(image->path);
	free(image);
}

/* Executable first: what is looked up is nearly always code. */
static int image_segment_order(const void *a, const void *b)
{
	const struct image_segment *x = a, *y = b;

	if (x->executable != y->executable)
		return x->executable ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Why libelf failed. libelf has no number for want of memory, but errno tells it; anything else
 * that libelf refuses is damaged. errno must have been 0 before the call. */
int image_elf_failed(void)
{
	return errno == ENOMEM ? -ENOMEM : -EBADMSG;
}

/* Reads the PT_LOAD segments, in the order in which addresses are looked up: executable ones first,
 * then by offset. 0, -EBADMSG or -ENOMEM. */
static int image_read_segments(struct image *image)
{
	size_t n;
	GElf_Phdr header;

	errno = 0;
	if (elf_getphdrnum(image->elf, &n) < 0)
		return image_elf_failed();
	image->segments = calloc(n ? n : 1, sizeof(*image->segments));
	if (!image->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &header))
			return image_elf_failed();
		/* What wraps around can hold no address and no offset. */
		if (header.p_type != PT_LOAD ||
		    header.p_offset + header.p_filesz < header.p_offset ||
		    header.p_vaddr + header.p_memsz < header.p_vaddr)
			continue;
		image->segments[image->n_segments++] = (struct image_segment){
			.offset = header.p_offset,
			.vaddr = header.p_vaddr,
			.file_size = header.p_filesz,
			.memory_size = header.p_memsz,
			.executable = header.p_flags & PF_X,
			.writable = header.p_flags & PF_W,
		};
	}
	if (image->n_segments)
		qsort(image->segments, image->n_segments, sizeof(*image->segments),
		      image_segment_order);
	return 0;
}

/* Checks that libelf could read the file, and reads its segments; fills err. */
static int image_read_headers(struct image *image, struct seam_error *err)
{
	int r;

	if (!image->elf && errno == ENOMEM)
		return seam_error_set(err, ENOMEM, image->path, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(ENOMEM));
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF ||
	    !gelf_getehdr(image->elf, &image->header))
		return seam_error_set(err, EBADMSG, image->path, SEAM_NO_OFFSET, NULL,
		                      "a damaged ELF file (%s)", elf_errmsg(-1));
	if (elf_getshdrstrndx(image->elf, &image->names) < 0)
		image->names = 0;
	r = image_read_segments(image);
	if (r == -ENOMEM)
		return seam_error_set(err, ENOMEM, image->path, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(ENOMEM));
	if (r < 0)
		return seam_error_set(err, EBADMSG, image->path, SEAM_NO_OFFSET, NULL,
		                      "damaged program headers (%s)", elf_errmsg(-1));
	return 0;
}

/* NULL: out of memory, or libelf is of another version. */
static struct image *image_new(const char *path)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->fd = -1;
	image->path = strdup(path);
	if (!image->path || elf_version(EV_CURRENT) == EV_NONE) {
		image_close(image);
		return NULL;
	}
	return image;
}

/* Takes the file as it is, or unpacked. */
static int image_open_content(struct image *image, uint64_t size, struct seam_error *err)
{
	unsigned char magic[6] = { 0 };
	struct buf packed = { 0 };
	ssize_t got = pread(image->fd, magic, sizeof(magic), 0);
	int r;

	if (got >= SELFMAG && !memcmp(magic, ELFMAG, SELFMAG)) {
		errno = 0;
		image->elf = elf_begin(image->fd, ELF_C_READ, NULL);
		return image_read_headers(image, err);
	}
	/* Anything else is no object; a mapped file may be of any kind. */
	if (got < 0 || !unxz_is(magic, (size_t)got) || size > ELF_UNPACKED_MAX)
		return seam_error_set(err, ENOEXEC, image->path, SEAM_NO_OFFSET, NULL,
		                      "not an ELF file");
	if (!buf_reserve(&packed, size))
		return -ENOMEM;
	got = pread(image->fd, packed.bytes, size, 0);
	r = got < 0 ? -errno : unxz(packed.bytes, (size_t)got, ELF_UNPACKED_MAX, &image->unpacked);
	buf_free(&packed);
	if (r < 0)
		return seam_error_set(err, -r, image->path, SEAM_NO_OFFSET, NULL,
		                      "cannot be unpacked (xz): %s", strerror(-r));
	errno = 0;
	image->elf = elf_memory((char *)image->unpacked.bytes, image->unpacked.n);
	return image_read_headers(image, err);
}

/* The descriptor stays open until image_close: libelf reads sections when they are asked for. */
int image_open(struct image **ret, const char *path, struct seam_error *err)
{
	struct image *image = image_new(path);
	struct stat st;
	int r;

	if (!image)
		return seam_error_set(err, ENOMEM, path, SEAM_NO_OFFSET, NULL, "out of memory");
	/* O_NONBLOCK: the path comes from a recording and may lead to a FIFO. */
	image->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (image->fd < 0 || fstat(image->fd, &st) < 0)
		r = seam_error_set(err, errno, path, SEAM_NO_OFFSET, NULL, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		r = seam_error_set(err, ENOEXEC, path, SEAM_NO_OFFSET, NULL, "not a regular file");
	else
		r = image_open_content(image, (uint64_t)st.st_size, err);
	if (r < 0) {
		image_close(image);
		return r;
	}
	*ret = image;
	return 0;
}

/* The bytes are copied, because libelf changes them in place and wants them aligned. */
int image_open_memory(struct image **ret, const void *bytes, size_t n, const char *name,
                      struct seam_error *err)
{
	struct image *image = image_new(name ? name : "memory");
	int r;

	if (!image)
		return seam_error_set(err, ENOMEM, name, SEAM_NO_OFFSET, NULL, "out of memory");
	if (n < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG)) {
		r = seam_error_set(err, ENOEXEC, image->path, SEAM_NO_OFFSET, NULL,
		                   "not an ELF file");
	} else {
		/* A copy: libelf changes bytes in place, and wants them aligned. */
		buf_put(&image->unpacked, bytes, n);
		errno = image->unpacked.failed ? ENOMEM : 0;
		image->elf = image->unpacked.failed ? NULL
		                                    : elf_memory((char *)image->unpacked.bytes, n);
		r = image_read_headers(image, err);
	}
	if (r < 0) {
		image_close(image);
		return r;
	}
	*ret = image;
	return 0;
}

const char *image_path(const struct image *image)
{
	return image->path;
}

int image_fd(const struct image *image)
{
	return image->fd;
}

Elf *image_elf(const struct image *image)
{
	return image->elf;
}

unsigned image_machine(const struct image *image)
{
	return image->header.e_machine;
}

uint64_t image_entry(const struct image *image)
{
	return image->header.e_entry;
}

bool image_is_64(const struct image *image)
{
	return image->header.e_ident[EI_CLASS] == ELFCLASS64;
}

bool image_is_big_endian(const struct image *image)
{
	return image->header.e_ident[EI_DATA] == ELFDATA2MSB;
}

bool image_is_relocatable(const struct image *image)
{
	return image->header.e_type == ET_REL;
}

size_t image_segments(const struct image *image)
{
	return image->n_segments;
}

const struct image_segment *image_segment_at(const struct image *image, size_t i)
{
	return i < image->n_segments ? &image->segments[i] : NULL;
}

/* value in [from, from + n), widened to whole pages when padded: the kernel maps whole pages, so
 * that bytes beside a segment's own are in memory, too. */
static bool image_holds(uint64_t from, uint64_t n, uint64_t value, bool padded)
{
	uint64_t to = from + n;

	if (padded) {
		from &= ~(uint64_t)(PAGE - 1);
		to = to > UINT64_MAX - PAGE ? UINT64_MAX : (to + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	}
	return value >= from && value < to;
}

/* The exact segment first; only then one that holds it by its padding. */
int image_segments_vaddr(const struct image_segment *segments, size_t n, uint64_t offset,
                         uint64_t *ret)
{
	for (int padded = 0; padded < 2; padded++) {
		for (size_t i = 0; i < n; i++) {
			if (!image_holds(segments[i].offset, segments[i].file_size, offset, padded))
				continue;
			*ret = offset - segments[i].offset + segments[i].vaddr;
			return 0;
		}
	}
	return -ENOENT;
}

/* Bytes that a segment and a part of its file have in common. */
static uint64_t image_shared(const struct image_segment *s, uint64_t offset, uint64_t size)
{
	uint64_t end = size > UINT64_MAX - offset ? UINT64_MAX : offset + size;
	uint64_t from = offset > s->offset ? offset : s->offset;
	uint64_t to = end < s->offset + s->file_size ? end : s->offset + s->file_size;

	return to > from ? to - from : 0;
}

/* A mapping may begin before its segment and end behind it: the segment that fills most of it is
 * meant. Executable ones stand first and are preferred. */
int image_segments_mapped(const struct image_segment *segments, size_t n, uint64_t offset,
                          uint64_t size, uint64_t *ret)
{
	const struct image_segment *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < n && (!best || segments[i].executable == best->executable); i++) {
		uint64_t here = image_shared(&segments[i], offset, size);

		if (here <= most)
			continue;
		best = &segments[i];
		most = here;
	}
	if (!best)
		return image_segments_vaddr(segments, n, offset, ret);
	*ret = offset - best->offset + best->vaddr;
	return 0;
}

int image_vaddr_of_offset(const struct image *image, uint64_t offset, uint64_t *ret)
{
	return image_segments_vaddr(image->segments, image->n_segments, offset, ret);
}

int image_offset_of_vaddr(const struct image *image, uint64_t vaddr, uint64_t *ret)
{
	for (int padded = 0; padded < 2; padded++) {
		for (size_t i = 0; i < image->n_segments; i++) {
			const struct image_segment *s = &image->segments[i];

			if (!image_holds(s->vaddr, s->file_size, vaddr, padded))
				continue;
			*ret = vaddr - s->vaddr + s->offset;
			return 0;
		}
	}
	return -ENOENT;
}
