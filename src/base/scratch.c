// SPDX-License-Identifier: MIT
/*
 * scratch.c: see scratch.h. Room is taken from the disk before a block is handed out, so that
 * writing to it cannot fail later: a shared mapping has no other way to say so than a signal.
 */
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pages.h"

const char *scratch_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && tmp[0] == '/' ? tmp : "/var/tmp";
}

int scratch_file(void)
{
	int fd = open(scratch_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[4096];

	if (fd < 0 &&
	    (size_t)snprintf(path, sizeof(path), "%s/seam-XXXXXX", scratch_dir()) < sizeof(path)) {
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
	}
	return fd;
}

void *scratch_block(struct scratch *s, size_t n)
{
	void *block;

	if (!s->asked)
		s->fd = scratch_file();
	s->asked = true;
	if (s->fd < 0 || fallocate(s->fd, 0, (off_t)s->size, (off_t)n) < 0)
		return NULL;
	block = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, (off_t)s->size);
	if (block == MAP_FAILED)
		return NULL;
	s->size += n;
	return block;
}

bool scratch_put(const struct scratch *s, uint64_t offset, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		ssize_t put = pwrite(s->fd, at, n, (off_t)offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		at += put;
		offset += (uint64_t)put;
		n -= (size_t)put;
	}
	return true;
}

void scratch_rest(void *block, size_t n)
{
	(void)madvise(block, n, MADV_DONTNEED);
}

void scratch_unmap(void *block, size_t n)
{
	munmap(block, n);
}

void scratch_free(struct scratch *s)
{
	if (s->asked && s->fd >= 0)
		close(s->fd);
	*s = (struct scratch){ 0 };
}

bool scratch_alone_make(struct scratch_alone *ret, size_t n)
{
	struct scratch s = { 0 };

	*ret = (struct scratch_alone){ n ? scratch_block(&s, n) : NULL, n };
	scratch_free(&s);
	if (ret->at)
		pages_wanted(ret->at, n);
	return ret->at;
}

void scratch_alone_rest(const struct scratch_alone *a)
{
	if (a->at)
		scratch_rest(a->at, a->n);
}

void scratch_alone_free(struct scratch_alone *a)
{
	if (a->at)
		scratch_unmap(a->at, a->n);
	*a = (struct scratch_alone){ 0 };
}
