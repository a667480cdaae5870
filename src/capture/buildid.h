/* SPDX-License-Identifier: MIT */
/*
 * buildid.h: the GNU build-id of an ELF file, found by its notes alone. Reads a file descriptor and
 * nothing else; at most 64 KiB of program headers and 64 KiB of notes are looked at.
 */
#ifndef SEAM_CAPTURE_BUILDID_H
#define SEAM_CAPTURE_BUILDID_H

#include <stddef.h>
#include <stdint.h>

#define BUILDID_MAX 20u

/* Looks for the GNU build-id among ELF notes that are aligned to align (4 or 8): its size in bytes
 * and ret filled, or 0 when there is none. */
unsigned buildid_from_notes(const void *notes, size_t n, size_t align, uint8_t ret[BUILDID_MAX]);
/* The same for an open ELF file of either class and of this machine's byte order. 0 also if it is
 * no ELF file or cannot be read. */
unsigned buildid_from_fd(int fd, uint8_t ret[BUILDID_MAX]);
/* The same for a file that holds only notes (/sys/kernel/notes), by its path relative to dirfd. */
unsigned buildid_from_notes_file(int dirfd, const char *path, uint8_t ret[BUILDID_MAX]);

#endif
