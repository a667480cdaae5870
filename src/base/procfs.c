// SPDX-License-Identifier: MIT
/*
 * procfs.c: knows how the kernel writes /proc/PID/stat and /proc/PID/maps. A comm may hold spaces
 * and brackets, so stat is cut at its last ')'.
 *
 * All paths are opened below a directory's descriptor, so that tests and other roots can stand in
 * for /proc. Processes choose their comm and the names of their files: nothing but the form of the
 * line is relied on. A process may end between two reads; that is -ENOENT or -ESRCH, or an empty
 * file, and no failure of the caller.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/procfs.h"

#define PROCFS_CHUNK 16384u
#define PROCFS_LIMIT (256u << 20) /* of one file; the longest maps are 64 K lines, 10 MB */
/* PF_KTHREAD of the kernel's task flags, which stat shows as its field 9. */
#define PROCFS_KTHREAD 0x00200000u

/* Files in /proc have no size, so this reads to the end, up to PROCFS_LIMIT bytes. ret is cleared
 * first. */
int64_t procfs_read(int dirfd, const char *path, struct buf *ret)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return -errno;
	buf_clear(ret);
	for (;;) {
		/* One byte more than is read: the text gets a NUL behind it. */
		void *room = buf_reserve(ret, PROCFS_CHUNK);
		ssize_t n = room ? read(fd, room, PROCFS_CHUNK - 1) : 0;

		if (!room || ret->n > PROCFS_LIMIT)
			error = -ENOMEM;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0)
			error = -errno;
		if (error || n == 0)
			break;
		ret->n += (size_t)n;
	}
	close(fd);
	if (error)
		return error;
	ret->bytes[ret->n] = 0;
	return (int64_t)ret->n;
}

/* The decimal number that makes up the whole text; -1: it is none. */
static pid_t procfs_number(const char *text)
{
	int64_t v = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || v > INT32_MAX / 10)
			return -1;
		v = v * 10 + (*text - '0');
	}
	return v > INT32_MAX ? -1 : (pid_t)v;
}

/* The names that are numbers, of the entries of one getdents64; others are no pids. */
static int procfs_numbers_put(struct buf *ret, const char *entries, size_t n)
{
	for (size_t at = 0; at + offsetof(struct dirent64, d_name) < n;) {
		unsigned short size;
		pid_t number;

		memcpy(&size, entries + at + offsetof(struct dirent64, d_reclen), sizeof(size));
		if (!size || size > n - at)
			break;
		number = procfs_number(entries + at + offsetof(struct dirent64, d_name));
		if (number >= 0 && buf_put(ret, &number, sizeof(number)) < 0)
			return -ENOMEM;
		at += size;
	}
	return 0;
}

/* These are the pids in /proc and the tids in /proc/PID/task. The order is the kernel's. 0 or
 * -errno. */
int procfs_numbers(int dirfd, const char *path, struct buf *ret)
{
	char entries[PROCFS_CHUNK];
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return -errno;
	while (!error) {
		long n = syscall(SYS_getdents64, fd, entries, sizeof(entries));

		if (n < 0)
			error = -errno;
		if (n <= 0)
			break;
		error = procfs_numbers_put(ret, entries, (size_t)n);
	}
	close(fd);
	return error;
}

/* Reads a number in base 10 or 16; *at moves behind it. False: there is no digit. */
static bool procfs_digits(const char **at, const char *end, unsigned base, uint64_t *ret)
{
	const char *p = *at;
	uint64_t v = 0;

	for (; p < end; p++) {
		unsigned digit = *p >= '0' && *p <= '9'   ? (unsigned)(*p - '0')
		                 : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10
		                                          : 16;

		if (digit >= base)
			break;
		v = v * base + digit;
	}
	if (p == *at)
		return false;
	*at = p;
	*ret = v;
	return true;
}

/* The comm may itself contain spaces and ')': it is what lies between the first '(' and the last
 * ')'. */
int procfs_stat_parse(const char *text, size_t n, struct procfs_stat *ret)
{
	const char *open = memchr(text, '(', n);
	const char *close = memrchr(text, ')', n);
	const char *end = text + n, *at;
	uint64_t field[17] = { 0 }; /* from the parent's pid on, which is field 4 of proc(5) */
	size_t length;

	if (!open || !close || close < open || end - close < 4)
		return -EBADMSG;
	length = (size_t)(close - open - 1);
	if (length >= sizeof(ret->comm))
		length = sizeof(ret->comm) - 1;
	at = close + 4; /* ") S " */
	/* Fields from 4 (ppid) to 20 (num_threads). Some are negative; their sign does not matter
	 * here. */
	for (size_t i = 0; i < 17; i++) {
		if (at < end && *at == '-')
			at++;
		if (!procfs_digits(&at, end, 10, &field[i]))
			return -EBADMSG;
		if (at < end && *at == ' ')
			at++;
	}
	memcpy(ret->comm, open + 1, length);
	ret->comm[length] = 0;
	ret->state = close[2];
	ret->ppid = (pid_t)field[0];
	ret->kernel_thread = field[5] & PROCFS_KTHREAD;
	ret->threads = (unsigned)field[16];
	return 0;
}

/* One expected character; *at moves behind it. */
static bool procfs_expect(const char **at, const char *end, char c)
{
	if (*at >= end || **at != c)
		return false;
	(*at)++;
	return true;
}

/* Puts newlines back where the kernel wrote \012; the new length. The kernel escapes nothing else
 * in maps: a backslash of the name stays one. */
static size_t procfs_unescape(char *path, size_t n)
{
	char *from = path, *to, *end = path + n;

	from = memmem(path, n, "\\012", 4);
	if (!from)
		return n;
	for (to = from; from < end;) {
		if (end - from >= 4 && !memcmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	return (size_t)(to - path);
}

/* "START-END rwxp OFFSET MAJ:MIN INODE      PATH" */
static bool procfs_map_line(const char *at, const char *end, struct procfs_map *ret)
{
	uint64_t major, minor;
	const char *flags;

	if (!procfs_digits(&at, end, 16, &ret->start) || !procfs_expect(&at, end, '-') ||
	    !procfs_digits(&at, end, 16, &ret->end) || !procfs_expect(&at, end, ' ') ||
	    end - at < 5)
		return false;
	flags = at;
	at += 4;
	if (!procfs_expect(&at, end, ' ') || !procfs_digits(&at, end, 16, &ret->offset) ||
	    !procfs_expect(&at, end, ' ') || !procfs_digits(&at, end, 16, &major) ||
	    !procfs_expect(&at, end, ':') || !procfs_digits(&at, end, 16, &minor) ||
	    !procfs_expect(&at, end, ' ') || !procfs_digits(&at, end, 10, &ret->inode))
		return false;
	while (at < end && *at == ' ')
		at++;
	ret->major = (uint32_t)major;
	ret->minor = (uint32_t)minor;
	ret->readable = flags[0] == 'r';
	ret->writable = flags[1] == 'w';
	ret->executable = flags[2] == 'x';
	ret->shared = flags[3] == 's';
	ret->path = at;
	ret->path_size = (size_t)(end - at);
	return ret->end > ret->start;
}

/* The next line that has the form of a mapping. Lines that have not are passed over. The path lies
 * in the text itself, unescaped in place, and is not NUL-terminated. */
bool procfs_map_next(char **at, const char *end, struct procfs_map *ret)
{
	while (*at < end) {
		char *line = *at;
		char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *stop = newline ? newline : end;

		*at = newline ? newline + 1 : line + (end - line);
		if (procfs_map_line(line, stop, ret)) {
			ret->path_size = procfs_unescape(line + (ret->path - line), ret->path_size);
			return true;
		}
	}
	return false;
}

/* What the kernel is asked, and answers: struct procmap_query of linux/fs.h, which older headers do
 * not have. */
struct procfs_question {
	uint64_t size, flags, address;
	uint64_t start, end, protection, page_size, offset, inode;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name, build_id;
};
_Static_assert(sizeof(struct procfs_question) == 104, "the kernel's struct procmap_query");

#define PROCFS_QUERY _IOWR('f', 17, struct procfs_question)
#define PROCFS_READABLE 0x01u
#define PROCFS_WRITABLE 0x02u
#define PROCFS_EXECUTABLE 0x04u
#define PROCFS_SHARED 0x08u
#define PROCFS_OR_NEXT 0x10u

/* Asks for the first executable mapping at the address or above it. 0 or -errno. */
static int procfs_ask(const struct procfs_query *q, struct procfs_question *of, size_t name_size)
{
	*of = (struct procfs_question){ .size = sizeof(*of),
		                        .flags = PROCFS_OR_NEXT | PROCFS_EXECUTABLE,
		                        .address = q->at,
		                        .name_size = (uint32_t)name_size,
		                        .name = name_size ? (uintptr_t)q->name : 0 };
	return ioctl(q->fd, PROCFS_QUERY, of) < 0 ? -errno : 0;
}

/* A name that has no room is called as the kernel calls it in its records of mappings. */
int procfs_map_query(struct procfs_query *q, struct procfs_map *ret)
{
	static const char too_long[] = "//toolong";
	struct procfs_question of;
	int r = procfs_ask(q, &of, sizeof(q->name));
	size_t n = of.name_size;

	if (r == -ENAMETOOLONG) {
		r = procfs_ask(q, &of, 0);
		n = sizeof(too_long);
		memcpy(q->name, too_long, n);
	}
	if (r < 0)
		return r == -ENOENT || r == -ESRCH ? 0 : r;
	if (of.end <= of.start || of.end <= q->at || n > sizeof(q->name))
		return -ENOTTY;
	q->at = of.end;
	*ret = (struct procfs_map){ .start = of.start,
		                    .end = of.end,
		                    .offset = of.offset,
		                    .inode = of.inode,
		                    .major = of.major,
		                    .minor = of.minor,
		                    .readable = of.protection & PROCFS_READABLE,
		                    .writable = of.protection & PROCFS_WRITABLE,
		                    .executable = of.protection & PROCFS_EXECUTABLE,
		                    .shared = of.protection & PROCFS_SHARED,
		                    .path = q->name,
		                    .path_size = n ? n - 1 : 0 };
	return 1;
}

/* Also where it cannot be said: without /proc nothing else works either. */
bool procfs_is_first_namespace(void)
{
	char text[64];
	ssize_t n = readlink("/proc/self/ns/pid", text, sizeof(text) - 1);

	if (n < 0)
		return true;
	text[n] = 0;
	return !strcmp(text, "pid:[4026531836]"); /* PROC_PID_INIT_INO */
}
