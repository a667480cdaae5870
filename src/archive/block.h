/* SPDX-License-Identifier: MIT */
/* block.h: the header of a tar entry, a block of 512 bytes of text. */
#ifndef SEAM_ARCHIVE_BLOCK_H
#define SEAM_ARCHIVE_BLOCK_H

#define BLOCK 512u

/* Where its fields are, and how long. */
enum block_field {
	BLOCK_NAME = 0,
	BLOCK_NAME_SIZE = 100,
	BLOCK_MODE = 100,
	BLOCK_UID = 108,
	BLOCK_GID = 116,
	BLOCK_SIZE = 124,
	BLOCK_SIZE_SIZE = 12,
	BLOCK_MTIME = 136,
	BLOCK_SUM = 148,
	BLOCK_SUM_SIZE = 8,
	BLOCK_TYPE = 156,
	BLOCK_MAGIC = 257,
	BLOCK_PREFIX = 345,
	BLOCK_PREFIX_SIZE = 155,
};

#endif
