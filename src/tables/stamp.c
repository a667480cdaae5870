// SPDX-License-Identifier: MIT
/* stamp.c: see stamp.h. Reading 100 MB to know what is in them takes longer than all else, so that
 * what was found out is kept by the file's stamp. The question is when a stamp can be believed. */
#include "tables/stamp.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define READ_MAX (256ULL << 20) /* of a file whose stamp does not last: a quarter of a second */
#define READ_SIZE (1u << 16)

/*
 * The times of files advance in ticks of at most 10 ms, so a file that changes twice in one tick
 * keeps its stamp. A file that changed a moment ago may change again unnoticed.
 */
#define YOUNG_S 2

/* A clock that cannot be read says young. */
static bool stamp_is_young(const struct stat *st)
{
	struct timespec now;

	return clock_gettime(CLOCK_REALTIME, &now) < 0 || st->st_ctim.tv_sec > now.tv_sec - YOUNG_S;
}

/* A stamp is a digest of device, inode, size, and the times of the last change. It is not believed
 * for files that changed a moment ago, nor on FUSE, where the file system chooses these values. */
enum stamp_holds stamp_of(int fd, struct stamp *ret)
{
	struct statfs fs;
	struct blake2 b;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || stamp_is_young(&st) ||
	    fstatfs(fd, &fs) < 0 || fs.f_type == FUSE_SUPER_MAGIC)
		return STAMP_NEVER;
	const uint64_t words[] = { (uint64_t)st.st_dev,          (uint64_t)st.st_ino,
		                   (uint64_t)st.st_size,         (uint64_t)st.st_mtim.tv_sec,
		                   (uint64_t)st.st_mtim.tv_nsec, (uint64_t)st.st_ctim.tv_sec,
		                   (uint64_t)st.st_ctim.tv_nsec, (uint64_t)fs.f_type };

	blake2_start(&b);
	blake2_add(&b, "stamp", 5);
	blake2_add(&b, words, sizeof(words));
	blake2_end(&b, ret->bytes);
	/* STAMP_LASTS: only root and this user can write it, so that nobody can have set its times
	 * back on another run. Else the stamp counts within this run alone. */
	return (!st.st_uid || st.st_uid == geteuid()) && !(st.st_mode & 022) ? STAMP_LASTS
	                                                                     : STAMP_IN_RUN;
}

/* The bytes are hashed only if the stamp does not last, which takes up to a quarter of a second. */
int stamp_contents(int fd, unsigned char ret[BLAKE2_BYTES])
{
	unsigned char bytes[READ_SIZE];
	struct stamp stamp;
	struct blake2 b;
	uint64_t at = 0;
	ssize_t n;

	if (stamp_of(fd, &stamp) == STAMP_LASTS) {
		memcpy(ret, stamp.bytes, sizeof(stamp.bytes));
		return 0;
	}
	blake2_start(&b);
	blake2_add(&b, "bytes", 5);
	while ((n = pread(fd, bytes, sizeof(bytes), (off_t)at)) > 0 && at <= READ_MAX) {
		blake2_add(&b, bytes, (size_t)n);
		at += (uint64_t)n;
	}
	if (n < 0 || at > READ_MAX)
		return n < 0 ? -errno : -EFBIG;
	blake2_end(&b, ret);
	return 0;
}
