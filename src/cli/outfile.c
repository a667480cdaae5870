// SPDX-License-Identifier: MIT
// outfile.c: see outfile.h.
#include "cli/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool outfile_is(const char *path, const char *other)
{
	struct stat a, b;

	return !outfile_is_stdout(path) && !outfile_is_stdout(other) && !stat(path, &a) &&
	       !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
	       S_ISREG(a.st_mode);
}

/* write(2) until all is written. */
static int outfile_put(void *ctx, const void *bytes, size_t n)
{
	const struct outfile *o = ctx;
	const unsigned char *p = bytes;

	while (n) {
		ssize_t put = write(o->fd, p, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		p += put;
		n -= (size_t)put;
	}
	return 0;
}

int outfile_open(struct outfile *o, const char *path)
{
	*o = (struct outfile){ .path = path, .out = { .write = outfile_put, .ctx = o } };
	o->fd = outfile_is_stdout(path)
	                ? STDOUT_FILENO
	                : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return o->fd < 0 ? -errno : 0;
}

int outfile_close(struct outfile *o, const struct cmd *cmd, int r)
{
	bool to_stdout = outfile_is_stdout(o->path);

	if (o->fd >= 0 && !to_stdout && close(o->fd) < 0 && r >= 0)
		r = -errno;
	buf_free(&o->out.buf);
	if (r < 0 && r != -EPIPE)
		cmd_error(cmd, "%s: %s", to_stdout ? "standard output" : o->path, strerror(-r));
	return r;
}
