// SPDX-License-Identifier: MIT
// pack_file.c: one file into the archive, under a name that it has once.
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

int pack_failed(struct pack *b, int r, const char *path)
{
	return seam_error_set(b->err, -r, path, SEAM_NO_OFFSET, NULL, "%s", strerror(-r));
}

/* Only a regular file itself is taken, never what a link leads to, where others may write. */
int pack_put_file(struct pack *b, const char *name, const char *path, bool follow)
{
	int fd, r = pack_is_new(b, name);
	struct stat st;

	if (r <= 0)
		return r;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW));
	if (fd < 0 || fstat(fd, &st) < 0)
		r = -errno;
	else if (!S_ISREG(st.st_mode))
		r = -EINVAL;
	else
		r = tar_put_file(b->tar, name, fd);
	if (fd >= 0)
		close(fd);
	if (r < 0)
		return pack_failed(b, r, path);
	b->counts->bytes += (uint64_t)st.st_size;
	buf_printf(&b->index, "%s %s\n", name, path);
	return 1;
}
