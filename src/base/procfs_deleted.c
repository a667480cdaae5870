// SPDX-License-Identifier: MIT
/*
 * procfs_deleted.c: where a file that a process has mapped can still be read once it has no name:
 * as after the upgrade of a package, whose services go on with what they began with. Says a path
 * and opens nothing. The kernel marks the paths of such files, and asks for the rights of root.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/peek.h"
#include "base/procfs.h"

#define PROCFS_DELETED " (deleted)"
#define PROCFS_MAPS (16u << 20) /* bytes of mappings that are looked at */

bool procfs_deleted_is(const char *path)
{
	size_t n = strlen(path), cut = strlen(PROCFS_DELETED);

	return path[0] == '/' && n > cut && !strcmp(path + n - cut, PROCFS_DELETED);
}

/* The first mapping of the process that has this path and inode, as a link to the file. */
static bool procfs_deleted_in(char *text, size_t size, pid_t pid, const char *path, uint64_t inode,
                              char *ret, size_t n)
{
	const char *end = text + size;
	struct procfs_map map;
	int written;

	while (procfs_map_next(&text, end, &map)) {
		if (map.path_size != strlen(path) || memcmp(map.path, path, map.path_size) ||
		    (inode && map.inode != inode))
			continue;
		written = snprintf(ret, n, "/proc/%d/map_files/%llx-%llx", (int)pid,
		                   (unsigned long long)map.start, (unsigned long long)map.end);
		return written > 0 && (size_t)written < n;
	}
	return false;
}

bool procfs_deleted(struct peek *peek, pid_t pid, const char *path, uint64_t inode, char *ret,
                    size_t n)
{
	struct buf text = { 0 };
	char maps[32];
	struct stat st;
	bool found = false;

	if (!procfs_deleted_is(path))
		return false;
	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
	if (peek_file(peek, (uint32_t)pid, maps, PROCFS_MAPS, &text) >= 0)
		found = procfs_deleted_in((char *)text.bytes, text.n, pid, path, inode, ret, n);
	buf_free(&text);
	return found && stat(ret, &st) == 0 && S_ISREG(st.st_mode);
}
