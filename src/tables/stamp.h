/* SPDX-License-Identifier: MIT */
/*
 * stamp.h: which file this is, and in which state, as the kernel tells it: device, inode, size, the
 * times of the last change.
 *
 * A build-id is what a file claims. A stamp is cheap, and nobody but root can give a file the stamp
 * that another one has or had: the time of a change of state (ctime) cannot be set. So what was
 * once found out about the contents may be remembered by it.
 */
#ifndef SEAM_TABLES_STAMP_H
#define SEAM_TABLES_STAMP_H

#include "base/blake2.h"

struct stamp {
	unsigned char bytes[BLAKE2_BYTES];
};

enum stamp_holds {
	/* no regular file, one of FUSE (whose maker may say anything), or changed within the
	 * last two seconds */
	STAMP_NEVER,
	STAMP_IN_RUN, /* for as long as this process runs: others may write to the file */
	STAMP_LASTS,  /* its owner is root or this user, and nobody else may write to it */
};
/* For how long the stamp of an open file may be believed; *ret is filled unless never. */
enum stamp_holds stamp_of(int fd, struct stamp *ret);

/*
 * What an open file's contents are, without a cache: its stamp if that lasts, else a digest of its
 * bytes. 0; -EFBIG: too large to be read for that; -errno.
 */
int stamp_contents(int fd, unsigned char ret[BLAKE2_BYTES]);

#endif
