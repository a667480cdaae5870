/* SPDX-License-Identifier: MIT */
/*
 * elf.h: the inside of an image, for the files of this room.
 */
#ifndef SEAM_IMAGE_ELF_H
#define SEAM_IMAGE_ELF_H

#include <gelf.h>
#include <libelf.h>

#include "base/buf.h"
#include "base/scratch.h"
#include "image/image.h"

/* Nothing that is unpacked may be larger: 1 GiB for a section, 256 MiB for a whole file. */
#define ELF_SECTION_MAX (1ULL << 30)
#define ELF_UNPACKED_MAX (256ULL << 20)

struct image {
	Elf *elf;
	int fd; /* -1: in memory */
	char *path;
	struct buf unpacked; /* the whole file, when it was compressed */
	GElf_Ehdr header;
	struct image_segment *segments; /* executable ones first */
	size_t n_segments;
	size_t names; /* section index of the section names */
	/* unpack.c's: an ELF of the debugging sections alone; its bytes are this one's. */
	Elf *bare;
	void *bare_bytes;                /* NULL: they are spilled */
	struct scratch_alone bare_spill; /* where spills is set: see image_spill */
	bool bare_tried, spills;
};

/* Appends the unpacked form of xz bytes; -EBADMSG, -ENOMEM, -E2BIG: more than limit bytes. */
int unxz(const void *bytes, size_t n, uint64_t limit, struct buf *out);
bool unxz_is(const void *bytes, size_t n);

/* Appends the path, under search->root, of the module with this name ("[ext4]") of the recorded
 * release. -ENOENT, -ENOMEM. */
int module_path(struct buf *ret, const struct image_search *search, const char *name);

/* Why a call of libelf failed, before which errno was set to 0: -ENOMEM or -EBADMSG. */
int image_elf_failed(void);
/* Reads so many bytes of the image's file. False: they are not there. */
bool image_read_file(const struct image *image, void *to, size_t n, uint64_t offset);

#endif
