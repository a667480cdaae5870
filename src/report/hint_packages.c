// SPDX-License-Identifier: MIT
// hint_packages.c: see hint.h. Finds files in the lists of what packages installed, as dpkg has
// them.
#include "report/hint.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A list is read piece by piece, always into the same memory: what has not been touched before
 * costs more than the reading. No path is as long. */
#define PIECE (64u << 10)
/* The longest list of a package is below 10 MiB; what comes behind this is not read. */
#define LIST_MAX (16u << 20)

/* How well a line of a list names a file: as it is, or as it was called before /lib went into
 * /usr. */
static enum hint_match hint_match(const struct hint_package *file, const char *line, size_t n)
{
	const size_t length = file->length;

	if (n == length)
		return memcmp(line, file->path, n) ? HINT_NONE : HINT_LISTED;
	if (n + 4 != length || strncmp(file->path, "/usr/", 5))
		return HINT_NONE;
	return memcmp(line, file->path + 4, n) ? HINT_NONE : HINT_BEFORE_USR;
}

/* Gives the package's name to the files that a line of its list names better than one before.
 * "libc6" of "libc6:amd64.list". */
static void hint_line(const char *line, size_t length, const char *list, struct hint_package *files,
                      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		enum hint_match match = hint_match(&files[i], line, length);
		size_t name, colon;

		if (match <= files[i].match)
			continue;
		name = strlen(list) - 5;
		colon = strcspn(list, ":");
		buf_clear(&files[i].name);
		buf_put(&files[i].name, list, colon < name ? colon : name);
		files[i].match = match;
	}
}

/* Looks at all whole lines of n bytes; returns how many bytes of the last one are left. */
static size_t hint_lines(const char *bytes, size_t n_bytes, const char *list,
                         struct hint_package *files, size_t n)
{
	const char *line = bytes, *end = bytes + n_bytes, *next;

	for (; (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1)
		hint_line(line, (size_t)(next - line), list, files, n);
	return (size_t)(end - line);
}

/* Searches a package's list. What is no plain file is not opened: a FIFO would block. */
static void hint_list(int dir, const char *list, char piece[PIECE], struct hint_package *files,
                      size_t n)
{
	int fd = openat(dir, list, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	size_t kept = 0;
	ssize_t got;

	for (size_t all = 0; fd >= 0 && all < LIST_MAX && kept < PIECE; all += (size_t)got) {
		size_t had;

		got = read(fd, piece + kept, PIECE - kept);
		if (got <= 0)
			break;
		had = kept + (size_t)got;
		kept = hint_lines(piece, had, list, files, n);
		memmove(piece, piece + had - kept, kept);
	}
	if (fd >= 0)
		close(fd);
}

/* Whether one of the files has no answer yet. */
static bool hint_open(const struct hint_package *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (files[i].match == HINT_NONE)
			return true;
	return false;
}

/* The letters that the name of a file begins with, as that of its package often does: "libselinux"
 * of "/usr/lib/libselinux.so.1". */
#define ALIKE_MOST 6u

static void hint_letters(struct hint_package *file)
{
	const char *slash = strrchr(file->path, '/');

	file->length = strlen(file->path);
	file->letters = slash ? slash + 1 : file->path;
	file->n_letters = strcspn(file->letters, ".-_0123456789");
	if (file->n_letters > ALIKE_MOST)
		file->n_letters = ALIKE_MOST;
}

/* Whether a list may be that of a file which has no answer yet, by its name. */
static bool hint_alike(const char *list, const struct hint_package *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (files[i].match == HINT_NONE &&
		    !strncmp(list, files[i].letters, files[i].n_letters))
			return true;
	return false;
}

/* Searches the lists that are likely by their names, or the others. */
static void hint_lists(DIR *dir, bool likely, char *piece, struct hint_package *files, size_t n)
{
	struct dirent *entry;

	while (hint_open(files, n) && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (length > 5 && !strcmp(entry->d_name + length - 5, ".list") &&
		    (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN) &&
		    hint_alike(entry->d_name, files, n) == likely)
			hint_list(dirfd(dir), entry->d_name, piece, files, n);
	}
}

/* Reads each list once for all files, so call it only where hints will be shown. A file is in one
 * package: the first list that has it ends the search. */
void hint_packages(const char *info, struct hint_package *files, size_t n)
{
	char *piece = malloc(PIECE);
	DIR *dir = opendir(info);

	for (size_t i = 0; i < n; i++)
		hint_letters(&files[i]);
	if (dir && piece) {
		hint_lists(dir, true, piece, files, n);
		rewinddir(dir);
		hint_lists(dir, false, piece, files, n);
	}
	if (dir)
		closedir(dir);
	free(piece);
}
