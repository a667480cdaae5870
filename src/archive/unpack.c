// SPDX-License-Identifier: MIT
/*
 * unpack.c: see unpack.h. Directories are entered one by one without following links, so that no
 * name leads out, whatever else writes there.
 *
 * The caller must be able to remove all of it, also from a signal handler: so each thing that is
 * made is noted in `made` at once, names ended by NULs, in the order of making.
 */
#include "archive/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 32 GiB: the debug files of a large system fit. */
#define BYTES_MAX (32ULL << 30)
#define FILES_MAX 100000u
#define HEAD_MAX \
	8192u /* bytes of the headers of a file, a long name and its directory among them */

struct unpacking {
	struct tar_reader *tar;
	const char *archive;
	int dir;
	const struct unpack_opts *opts;
	struct buf *made;
	struct seam_error *err;
	uint64_t bytes_left;
	uint32_t files_left;
};

/* The message has the entry's name, cut to 200 bytes and escaped by whoever prints it. */
static int unpack_refuse(struct unpacking *u, int error, const char *name, const char *why)
{
	return seam_error_set(u->err, error, u->archive, SEAM_NO_OFFSET, "archive", "'%.200s': %s",
	                      name, why);
}

/* Notes what was made. -ENOMEM: it cannot be removed later, so unpacking ends. */
static int unpack_note(struct unpacking *u, const char *name, size_t n)
{
	buf_put(u->made, name, n);
	buf_put(u->made, "", 1);
	return u->made->failed ? -ENOMEM : 0;
}

/* Opens the directory for the last component of a name, and makes those that are missing. A
 * descriptor, or -errno. */
static int unpack_enter(struct unpacking *u, const char *name)
{
	char part[256];
	int at = dup(u->dir), next;

	for (const char *p = name, *slash; at >= 0 && (slash = strchr(p, '/')); p = slash + 1) {
		memcpy(part, p, (size_t)(slash - p));
		part[slash - p] = 0;
		if (!mkdirat(at, part, 0700) && unpack_note(u, name, (size_t)(slash - name)) < 0) {
			close(at);
			return -ENOMEM;
		}
		next = openat(at, part, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_RDONLY);
		close(at);
		at = next;
	}
	return at < 0 ? -errno : at;
}

/* Copies the entry's content to the file. */
static int unpack_write(struct unpacking *u, int fd)
{
	unsigned char bytes[1 << 16];
	int n;

	while ((n = tar_read(u->tar, bytes, sizeof(bytes), u->err)) > 0) {
		for (ssize_t put, at = 0; at < n; at += put) {
			put = write(fd, bytes + at, (size_t)(n - at));
			if (put <= 0)
				return put < 0 ? -errno : -EIO;
		}
		if (u->opts->stop && u->opts->stop())
			return -EINTR;
	}
	return n;
}

/* Creates the file and writes the entry's content. An existing file or link is never written
 * through (O_EXCL, O_NOFOLLOW). The path is noted in u->made even if writing fails. */
static int unpack_file(struct unpacking *u, const char *name)
{
	const char *slash = strrchr(name, '/');
	int dir = unpack_enter(u, name), fd, r;

	if (dir < 0)
		return dir;
	fd = openat(dir, slash ? slash + 1 : name,
	            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = fd < 0 ? -errno : 0;
	close(dir);
	if (fd < 0)
		return r;
	r = unpack_note(u, name, strlen(name));
	if (r >= 0)
		r = unpack_write(u, fd);
	if (close(fd) < 0 && r >= 0)
		r = -errno;
	return r;
}

/* Unpacks one entry, within what is left of the limits. -EBADMSG: anything but plain files and
 * directories, or a name that leads elsewhere or is there twice; -EFBIG: beyond the limits. */
static int unpack_entry(struct unpacking *u, struct tar_entry *entry)
{
	const char *name = entry->name;
	int r;

	/* "./" in front is what tar itself writes. */
	while (name[0] == '.' && name[1] == '/')
		name += 2;
	/* The size of a directory counts, too: its bytes are passed over, which takes as long. */
	if (entry->size > u->bytes_left)
		return unpack_refuse(u, EFBIG, name,
		                     "more than may be unpacked there (TMPDIR chooses the place)");
	u->bytes_left -= entry->size;
	if (entry->type == '5') /* made when something stands in it */
		return 0;
	if (entry->type != '0')
		return unpack_refuse(u, EBADMSG, name, "neither a file nor a directory");
	if (!tar_name_is_plain(name))
		return unpack_refuse(u, EBADMSG, name, "a name that leads elsewhere");
	if (!u->files_left--)
		return unpack_refuse(u, EFBIG, name, "too many files");
	r = unpack_file(u, name);
	/* A file where a directory should be, or the reverse: the archive says both. */
	if (r == -EEXIST || r == -ENOTDIR || r == -EISDIR || r == -ELOOP)
		return unpack_refuse(u, EBADMSG, name, "there twice");
	if (r < 0 && (!u->err || !u->err->code))
		unpack_refuse(u, -r, name, strerror(-r));
	return r;
}

/* An archive comes from a stranger. Sizes, the number of files, and the bytes of tar itself are
 * limited, because a few bytes of zstd can unfold without end. */
int unpack(int fd, const char *name, int dir, const struct unpack_opts *opts, struct buf *made,
           struct seam_error *err)
{
	struct unpacking u = {
		.archive = name,
		.dir = dir,
		.opts = opts,
		.made = made,
		.err = err,
		.bytes_left = opts->bytes_max ? opts->bytes_max : BYTES_MAX,
		.files_left = opts->files_max ? opts->files_max : FILES_MAX,
	};
	uint64_t heads = (uint64_t)u.files_left * HEAD_MAX;
	struct tar_entry entry;
	int r = tar_open(&u.tar, fd, name);

	if (r >= 0) {
		tar_stop(u.tar, opts->stop);
		tar_bound(u.tar,
		          u.bytes_left < UINT64_MAX - heads ? u.bytes_left + heads : UINT64_MAX);
	}
	while (r >= 0 && (r = tar_next(u.tar, &entry, err)) > 0) {
		r = opts->stop && opts->stop() ? -EINTR : unpack_entry(&u, &entry);
		if (r < 0)
			break;
	}
	tar_reader_free(u.tar);
	return r;
}

/* Removes what was made, the last first: files before their directories. Calls only what a signal
 * handler may. */
void unpack_remove(int dir, const struct buf *made)
{
	const char *start = (const char *)made->bytes, *at = start + made->n;

	/* Each name ends with its NUL. The last one is removed first: look back for where it
	 * begins. */
	while (at > start) {
		for (at--; at > start && at[-1]; at--)
			;
		if (unlinkat(dir, at, 0) < 0)
			unlinkat(dir, at, AT_REMOVEDIR);
	}
}
