/* SPDX-License-Identifier: MIT */
/*
 * unpack.h: an archive's files below a directory. Only new regular files with plain relative names
 * are made, by the caller alone to be read: no links, nothing above the directory, nothing over
 * what is there, no more bytes than allowed.
 */
#ifndef SEAM_ARCHIVE_UNPACK_H
#define SEAM_ARCHIVE_UNPACK_H

#include "archive/tar.h"
#include "base/buf.h"

struct unpack_opts {
	size_t sz;
	uint64_t bytes_max; /* of all files together; 0: 32 GiB */
	uint32_t files_max; /* 0: 100,000 */
	bool (*stop)(void); /* asked now and then; true: -EINTR. NULL: never */
};

/*
 * Unpacks what fd holds into dir, an empty directory. made: the paths of all files and directories
 * that were made, each with its NUL, in that order, also after a failure: unpack_remove takes them
 * away. -EBADMSG: damaged, or not to be trusted; -EFBIG: too much.
 */
int unpack(int fd, const char *name, int dir, const struct unpack_opts *opts, struct buf *made,
           struct seam_error *err);
/* Removes what was made, the last first. Safe in a signal handler. */
void unpack_remove(int dir, const struct buf *made);

#endif
