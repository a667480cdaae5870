// SPDX-License-Identifier: MIT
/*
 * input.c: see input.h. Knows nothing of what the bytes mean.
 *
 * A file is mapped when it can be, because records are then borrowed and never copied, and a second
 * pass reads nothing. What cannot be mapped (a pipe, a FIFO, a file of /proc, one that is not at
 * its start) has bytes == NULL and is read with input_read.
 */
#include "perfdata/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Leaves in->bytes NULL if the file cannot be mapped. */
static void input_map(struct input *in, const struct stat *st)
{
	void *map;

	if (!S_ISREG(st->st_mode) || st->st_size <= 0 || (uint64_t)st->st_size > SIZE_MAX)
		return;
	map = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, in->fd, 0);
	if (map == MAP_FAILED)
		return;
	/* Read once from front to back, mostly: let the kernel read ahead. Advice may be
	 * refused. */
	(void)madvise(map, (size_t)st->st_size, MADV_SEQUENTIAL);
	in->bytes = map;
	in->size = (uint64_t)st->st_size;
	in->mapped = true;
}

/* A copy of the file may have kept whole seconds only. Then it was written by the end of that
 * second. */
static uint64_t input_written(const struct stat *st)
{
	uint64_t ns = st->st_mtim.tv_nsec ? (uint64_t)st->st_mtim.tv_nsec : 999999999;

	return (uint64_t)st->st_mtim.tv_sec * 1000000000 + ns;
}

/* The descriptor stays the caller's. name is for messages. */
int input_open_fd(struct input *ret, int fd, const char *name, struct seam_error *err)
{
	struct input in = { .fd = fd };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return seam_error_set(err, errno, name, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(errno));
	if (S_ISDIR(st.st_mode))
		return seam_error_set(err, EISDIR, name, SEAM_NO_OFFSET, NULL, "is a directory");
	if (S_ISREG(st.st_mode) && st.st_mtim.tv_sec > 0)
		in.written_ns = input_written(&st);
	/* At an offset: somebody has read from it before, so it is taken as a stream. */
	if (S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0)
		input_map(&in, &st);
	*ret = in;
	return 0;
}

/* -errno, and err has the path. */
int input_open(struct input *ret, const char *path, struct seam_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return seam_error_set(err, errno, path, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(errno));
	rc = input_open_fd(ret, fd, path, err);
	if (rc < 0)
		close(fd);
	else
		ret->own_fd = true;
	return rc;
}

void input_close(struct input *in)
{
	if (in->mapped)
		munmap((void *)(uintptr_t)in->bytes, (size_t)in->size);
	if (in->own_fd)
		close(in->fd);
	*in = (struct input){ .fd = -1 };
}

ssize_t input_read(const struct input *in, void *bytes, size_t n)
{
	ssize_t got;

	do
		got = read(in->fd, bytes, n);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Whether a mapped file has become shorter than its mapping: touching the rest would end the
 * process (SIGBUS). The check is a moment old when its answer is used, so the reader asks again for
 * each step. */
bool input_shrunk(const struct input *in, uint64_t *now)
{
	struct stat st;

	if (!in->mapped || fstat(in->fd, &st) < 0)
		return false;
	*now = (uint64_t)st.st_size;
	return *now < in->size;
}

/* Maps pages that will be read soon. Errors do not matter: pages come when they are touched. */
void input_populate(const unsigned char *bytes, size_t n)
{
	size_t before = (uintptr_t)bytes % (uintptr_t)sysconf(_SC_PAGESIZE);

	/* Only advice: a kernel before 5.14 refuses it, and a file that was cut ends it early. */
	(void)madvise((void *)(uintptr_t)(bytes - before), n + before, MADV_POPULATE_READ);
}
