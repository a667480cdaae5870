// SPDX-License-Identifier: MIT
// outfile.c: see outfile.h. Knows open(2), linkat(2) and rename(2). Where the file system can, the
// file has no name at all until it is whole, so that nothing is left of it even when seam is
// killed.
#include "cmd/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/pager.h"

/* If so many names are taken, something else is wrong. */
#define NAMES_TRIED 100

/* Whether both paths are one regular file, which would be destroyed by being written while it is
 * read. */
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

/* The directory that the target is in, with its slash. */
static int outfile_directory(struct outfile *o, struct buf *ret)
{
	const char *target = buf_text(&o->target), *slash = strrchr(target, '/');

	buf_clear(ret);
	if (slash)
		buf_put(ret, target, (size_t)(slash - target) + 1);
	else
		buf_put_text(ret, "./");
	return ret->failed ? -ENOMEM : 0;
}

/* A name beside the target that nothing has. make: 0, or -1 and errno. The pid keeps runs apart.
 * -errno. */
static int outfile_name(struct outfile *o, int (*make)(struct outfile *, const char *, unsigned),
                        unsigned mode)
{
	struct buf directory = { 0 };
	int r = outfile_directory(o, &directory);

	for (unsigned i = 0; r >= 0 && i < NAMES_TRIED; i++) {
		buf_clear(&o->temporary);
		buf_printf(&o->temporary, "%s.seam-%ld-%u.part", buf_text(&directory),
		           (long)getpid(), i);
		if (o->temporary.failed)
			r = -ENOMEM;
		else if (!make(o, buf_text(&o->temporary), mode))
			break;
		else if (errno != EEXIST || i + 1 == NAMES_TRIED)
			r = -errno;
	}
	if (r < 0)
		buf_clear(&o->temporary);
	buf_free(&directory);
	return r;
}

/* For outfile_name, where a file cannot be without a name. */
static int outfile_create(struct outfile *o, const char *name, unsigned mode)
{
	o->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	return o->fd < 0 ? -1 : 0;
}

/* For outfile_name: the file that has none gets this name. */
static int outfile_link(struct outfile *o, const char *name, unsigned mode)
{
	char self[64];

	(void)mode;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Opens a file in the target's directory, because rename(2) works within one file system. Without
 * /proc a file could not get its name later. -errno. */
static int outfile_open_aside(struct outfile *o, unsigned mode)
{
	struct buf directory = { 0 };
	int r = outfile_directory(o, &directory);

	if (r >= 0 && !access("/proc/self/fd", X_OK))
		o->fd = open(buf_text(&directory), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	buf_free(&directory);
	return r < 0 || o->fd >= 0 ? r : outfile_name(o, outfile_create, mode);
}

/* Opens what is there: a device, a pipe, a link to nothing, or a file whose directory may not be
 * written to. Then a failure leaves half a file. -errno. */
static int outfile_open_in_place(struct outfile *o, unsigned mode)
{
	buf_clear(&o->target);
	o->fd = open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, mode);
	return o->fd < 0 ? -errno : 0;
}

/* An existing file is replaced by one with the same owner and mode, behind the same link. */
static int outfile_open_over(struct outfile *o, const struct stat *was)
{
	char *real = realpath(o->path, NULL);
	int r;

	if (!real)
		return -errno;
	r = access(real, W_OK) < 0 ? -errno : buf_put_text(&o->target, real);
	free(real);
	if (r >= 0)
		r = outfile_open_aside(o, 0600);
	if (r == -EACCES || r == -EPERM) /* the file may be written to, the directory not */
		return outfile_open_in_place(o, 0666);
	if (r < 0)
		return r;
	o->replaces = true;
	/* Its mode was meant for its owner and group: if these cannot be given to it, only we may
	 * read it. */
	if (was->st_uid != geteuid() || was->st_gid != getegid())
		r = fchown(o->fd, was->st_uid, was->st_gid);
	return fchmod(o->fd, was->st_mode & (r < 0 ? 0700 : 0777)) < 0 ? -errno : 0;
}

/* A regular file gets the name only in outfile_end, so a failure leaves what was there. */
int outfile_open(struct outfile *o, const char *path, unsigned mode)
{
	struct stat was;

	*o = (struct outfile){ .path = path, .fd = -1, .out = { .write = outfile_put, .ctx = o } };
	if (outfile_is_stdout(path)) {
		o->fd = STDOUT_FILENO;
		return 0;
	}
	if (!stat(path, &was))
		return S_ISREG(was.st_mode) ? outfile_open_over(o, &was)
		                            : outfile_open_in_place(o, mode);
	if (errno != ENOENT)
		return -errno;
	if (!lstat(path, &was)) /* a link to what is not there yet */
		return outfile_open_in_place(o, mode);
	if (buf_put_text(&o->target, path) < 0)
		return -ENOMEM;
	return outfile_open_aside(o, mode);
}

/* close(2) reports writes that failed late, so the final name is given after it. r: how writing
 * went. If that failed, or this, nothing of a file that was written aside is left. */
int outfile_end(struct outfile *o, int r)
{
	if (r >= 0 && o->target.n && !o->temporary.n)
		r = outfile_name(o, outfile_link, 0);
	if (o->fd >= 0 && !outfile_is_stdout(o->path) && close(o->fd) < 0 && r >= 0)
		r = -errno;
	if (r >= 0 && o->target.n && rename(buf_text(&o->temporary), buf_text(&o->target)) < 0)
		r = -errno;
	if (r < 0 && o->temporary.n)
		unlink(buf_text(&o->temporary));
	o->fd = -1;
	/* Whether it was written aside: then a failure has changed nothing. */
	o->whole = o->target.n;
	buf_free(&o->target);
	buf_free(&o->temporary);
	buf_free(&o->out.buf);
	return r;
}

/* Says what became of the file where there was no room for it. */
void outfile_hint(const struct outfile *o, const struct cmd *cmd, int r)
{
	if (!o->whole || (r != -ENOSPC && r != -EDQUOT && r != -EFBIG))
		return;
	cmd_error(cmd, "%s: %s; make room there, or write elsewhere with -o", o->path,
	          o->replaces ? "the file that was there is as it was" : "nothing is left of it");
}

/* Ends it, and says what failed. A reader of the pipe that is gone needs no word. */
int outfile_close(struct outfile *o, const struct cmd *cmd, int r)
{
	r = outfile_end(o, r);
	if (r < 0 && r != -EPIPE) {
		cmd_error(cmd, "%s: %s", outfile_is_stdout(o->path) ? "standard output" : o->path,
		          r == -ENOMEM ? "out of memory" : strerror(-r));
		outfile_hint(o, cmd, r);
	}
	return r;
}

/* Prints what was composed. An exit code; what failed was said. */
int outfile_print(const struct cmd *cmd, const struct buf *text)
{
	if (text->failed) {
		cmd_error(cmd, "out of memory");
		return EXIT_FAILED;
	}
	if (pager_show(text))
		return EXIT_OK;
	errno = 0;
	/* An empty text has no bytes to point at. */
	if ((!text->n || fwrite(text->bytes, 1, text->n, stdout) == text->n) && !fflush(stdout))
		return EXIT_OK;
	if (errno != EPIPE)
		cmd_error(cmd, "standard output: %s", strerror(errno ? errno : EIO));
	return EXIT_FAILED;
}
