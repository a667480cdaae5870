/* SPDX-License-Identifier: MIT */
/*
 * scratch.h: memory that need not stay in memory: blocks of a file without a name, in TMPDIR
 * (/var/tmp). For what grows with the length of the input and is read again from front to back.
 *
 * The file has no name from the start, so it goes away with the program, however that ends.
 * Zero-initialise to start. Blocks are of whole pages.
 */
#ifndef SEAM_BASE_SCRATCH_H
#define SEAM_BASE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scratch {
	bool asked; /* for a file */
	int fd;     /* of it; -1: there is none */
	uint64_t size;
};

/* Where such files are made. */
const char *scratch_dir(void);
/* A file without a name, which is the caller's; -1, and errno says why. */
int scratch_file(void);
/* Another block, zeroed; NULL: there is no place for one, and memory is to be used. Room for it is
 * taken from the disk now. */
void *scratch_block(struct scratch *s, size_t n);
/* Puts bytes at an offset of the file, which blocks handed out so far cover: of many bytes that are
 * there already this costs less than filling the block, whose pages are taken in one by one. False:
 * they may be there in part. */
bool scratch_put(const struct scratch *s, uint64_t offset, const void *bytes, size_t n);
/* The block is not needed for a while: its pages leave this process's memory, and come back when
 * they are read. */
void scratch_rest(void *block, size_t n);
void scratch_unmap(void *block, size_t n);
/* Closes the file; blocks that are still mapped stay. */
void scratch_free(struct scratch *s);

/* A block in a file of its own, which goes with it: for what is made once and looked at here and
 * there. at NULL: there is none. */
struct scratch_alone {
	void *at;
	size_t n;
};
/* False: there is no place for one, and memory is to be used. */
bool scratch_alone_make(struct scratch_alone *ret, size_t n);
void scratch_alone_rest(const struct scratch_alone *a);
void scratch_alone_free(struct scratch_alone *a);

#endif
