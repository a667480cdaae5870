// SPDX-License-Identifier: MIT
/*
 * contents.c: see contents.h. What is read is read through the image's file descriptor, so that it
 * is of the file that was opened, whatever is at its path by now.
 *
 * Files without a build-id need another identity. Go programs have an id of their own, which is as
 * good; of others all bytes are hashed, within the bounds that the caller gives.
 */
#include "tables/contents.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define READ_SIZE (1u << 16)

static bool contents_is_late(const struct contents_bounds *bounds)
{
	struct timespec t;

	return bounds->deadline_ns && clock_gettime(CLOCK_MONOTONIC, &t) == 0 &&
	       (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec >= bounds->deadline_ns;
}

/* The digest of all bytes. A file that grows or shrinks meanwhile has none. The word in front keeps
 * digests of one kind apart from those of another. */
static int contents_bytes(int fd, struct contents_bounds *bounds, struct contents *ret)
{
	unsigned char bytes[READ_SIZE];
	struct blake2 b;
	uint64_t at = 0;
	ssize_t n;

	if (ret->size > bounds->bytes)
		return -EFBIG;
	/* Taken from the caller's budget before the reading, also if it fails. */
	bounds->bytes -= ret->size;
	blake2_start(&b);
	blake2_add(&b, "bytes", 5);
	while ((n = pread(fd, bytes, sizeof(bytes), (off_t)at)) > 0 && at <= ret->size) {
		blake2_add(&b, bytes, (size_t)n);
		at += (uint64_t)n;
		if (contents_is_late(bounds))
			return -ETIMEDOUT;
	}
	if (n < 0 || at != ret->size)
		return n < 0 ? -errno : -EAGAIN;
	blake2_end(&b, ret->digest);
	ret->kind = CONTENTS_BYTES;
	return 0;
}

/* The id that the Go linker wrote: it stands for everything that was compiled in. */
static bool contents_go(struct image *image, struct contents *ret)
{
	struct blake2 b;
	const char *id;
	size_t n = image_go_id(image, &id);

	if (!n)
		return false;
	blake2_start(&b);
	blake2_add(&b, "go", 2);
	blake2_add(&b, id, n);
	blake2_end(&b, ret->digest);
	ret->kind = CONTENTS_GO;
	return true;
}

/* -ENOTSUP: no regular file. -EFBIG, -ETIMEDOUT: beyond the bounds. -EAGAIN: it changed
 * meanwhile. */
int contents_of(struct image *image, struct contents_bounds *bounds, struct contents *ret)
{
	struct contents c = { 0 };
	struct stat st;
	int r;

	if (image_fd(image) < 0 || fstat(image_fd(image), &st) < 0 || !S_ISREG(st.st_mode))
		return -ENOTSUP;
	c.size = (uint64_t)st.st_size;
	r = contents_is_late(bounds) ? -ETIMEDOUT
	    : contents_go(image, &c) ? 0
	                             : contents_bytes(image_fd(image), bounds, &c);
	if (r == 0)
		*ret = c;
	return r;
}

/* Whether the file still holds this. A file whose size differs is not read. */
bool contents_are(struct image *image, const struct contents *contents)
{
	struct contents_bounds bounds = { .bytes = contents->size };
	struct contents now;
	struct stat st;

	/* Most files that were changed tell it by their size. */
	if (image_fd(image) < 0 || fstat(image_fd(image), &st) < 0 ||
	    (uint64_t)st.st_size != contents->size || contents_of(image, &bounds, &now) < 0)
		return false;
	return now.kind == contents->kind && now.size == contents->size &&
	       !memcmp(now.digest, contents->digest, sizeof(now.digest));
}
