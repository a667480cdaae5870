/* SPDX-License-Identifier: MIT */
/*
 * tar.h: regular files one behind the other, as POSIX tar (pax where a name is long) inside zstd,
 * so that `tar --zstd -xf` unpacks it. Nothing in an archive is trusted.
 */
#ifndef SEAM_ARCHIVE_TAR_H
#define SEAM_ARCHIVE_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/error.h>

#define TAR_NAME_MAX 4096 /* with its NUL */
/* What a header of the old form can say: 11 octal digits. */
#define TAR_FILE_MAX ((1ULL << 33) - 1)

/* Components of printable text, none of them "." or "..", no '/' in front or at the end, not too
 * long: no other name is written, and none unpacked. */
bool tar_name_is_plain(const char *name);

/* ---- writing ---- */

struct tar_writer;

/* fd stays the caller's. -ENOMEM. */
int tar_create(struct tar_writer **ret, int fd);
/* Writes a file with these bytes. -EINVAL: the name; -EFBIG; -EIO and the like. After a failure the
 * archive is of no use. */
int tar_put(struct tar_writer *w, const char *name, const void *bytes, size_t n);
/* A copy of an open regular file, from where it stands to its end. -ESTALE: it shrank meanwhile. */
int tar_put_file(struct tar_writer *w, const char *name, int fd);
/* Writes the end. */
int tar_finish(struct tar_writer *w);
void tar_writer_free(struct tar_writer *w);

/* ---- reading ---- */

struct tar_reader;

struct tar_entry {
	char name[TAR_NAME_MAX];
	uint64_t size;
	char type; /* '0': a regular file; '5': a directory; others as they are */
};

/* fd stays the caller's; name is for messages. A tar without zstd can be read, too. Reading from a
 * pipe waits for more. */
int tar_open(struct tar_reader **ret, int fd, const char *name);
/* stop is called now and then while anything is read, also what is passed over. If it returns true,
 * reading ends with -EINTR. */
void tar_stop(struct tar_reader *r, bool (*stop)(void));
/* Reading ends with -EFBIG after this many bytes of tar. */
void tar_bound(struct tar_reader *r, uint64_t most);
/* Goes to the next entry, past what is left of the one before. 1 and *ret; 0: the end. -EBADMSG:
 * damaged. */
int tar_next(struct tar_reader *r, struct tar_entry *ret, struct seam_error *err);
/* The next bytes of the entry: their number, 0 at its end. */
int tar_read(struct tar_reader *r, void *to, size_t n, struct seam_error *err);
void tar_reader_free(struct tar_reader *r);

#endif
