// SPDX-License-Identifier: MIT
/* pack_file.c: one file into the archive, under a name that it has once. All files of an archive
 * pass here, so this is where counts and the index are kept. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/tar.h"
#include "convert/pack_parts.h"

/* Whether a name is new in the archive. Each is written once. */
int pack_is_new(struct pack *b, const char *name)
{
	uint64_t hash = map_hash_bytes(name, strlen(name), 0);
	bool is_new;

	if (!map_slot(&b->names, hash, &is_new))
		return -ENOMEM;
	return is_new;
}

/* Fills err, if it is the first failure. Returns r. */
int pack_failed(struct pack *b, int r, const char *path)
{
	return seam_error_set(b->err, -r, path, SEAM_NO_OFFSET, NULL, "%s", strerror(-r));
}

/* Whether a file that cannot be opened is one that is not there any more, or is none to be had:
 * that is the file's affair, and the archive goes without it. */
static bool pack_is_gone(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ESTALE || r == -EACCES || r == -ELOOP ||
	       r == -EINVAL;
}

/* A descriptor of a regular file, or -errno. Not blocking, so that a FIFO is refused and not waited
 * for. */
static int pack_open(const char *path, bool follow, struct stat *st)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW);
	int fd = open(path, flags), r = fd;

	if (fd < 0 || fstat(fd, st) < 0)
		r = -errno;
	else if (!S_ISREG(st->st_mode))
		r = -EINVAL;
	if (r < 0 && fd >= 0)
		close(fd);
	return r;
}

/* Only a regular file itself is taken, never what a link leads to, where others may write. It was
 * there when it was asked for names; processes and their files come and go meanwhile. 1: it is in
 * the archive; 0: its name is taken, or it is gone (which is reported); -errno. */
int pack_put_file(struct pack *b, const char *name, const char *path, bool follow)
{
	int fd, r = pack_is_new(b, name);
	struct stat st;

	if (r <= 0)
		return r;
	fd = pack_open(path, follow, &st);
	if (pack_is_gone(fd)) {
		b->counts->missing++;
		if (b->opts->missing)
			b->opts->missing(b->opts->ctx, path, strerror(-fd));
		return 0;
	}
	r = fd < 0 ? fd : tar_put_file(b->tar, name, fd);
	if (fd >= 0)
		close(fd);
	if (r < 0)
		return pack_failed(b, r, path);
	b->counts->bytes += (uint64_t)st.st_size;
	buf_printf(&b->index, "%s %s\n", name, path);
	return 1;
}

/* Puts bytes under a name. 1; 0: the name is taken already; -errno. */
int pack_put_bytes(struct pack *b, const char *name, const void *bytes, size_t n)
{
	int r = pack_is_new(b, name);

	if (r <= 0)
		return r;
	r = tar_put(b->tar, name, bytes, n);
	if (r < 0)
		return pack_failed(b, r, name);
	b->counts->bytes += n;
	buf_printf(&b->index, "%s\n", name);
	return 1;
}
