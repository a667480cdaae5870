// SPDX-License-Identifier: MIT
// module.c: the file of a kernel module of which only the name is known ("[ext4]"): where the
// modules.dep of the recorded release says. Opens no module: whether the file is the right one, its
// build-id decides.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/elf.h"

#define NAME_MAX_LENGTH 64u /* the kernel's own: MODULE_NAME_LEN is 56 */

/* Whether a path is the module's: "kernel/fs/ext4/ext4.ko", perhaps packed. The kernel writes '_'
 * where a file's name may have '-'. */
static bool module_is(const char *path, size_t n, const char *name, size_t length)
{
	const char *slash = memrchr(path, '/', n), *at = slash ? slash + 1 : path;
	size_t left = n - (size_t)(at - path);

	if (left <= length || strncmp(at + length, ".ko", 3))
		return false;
	for (size_t i = 0; i < length; i++)
		if (at[i] != name[i] && !(at[i] == '-' && name[i] == '_'))
			return false;
	return true;
}

/* Paths in modules.dep count from its directory, in old ones from the root; none leads out. */
static bool module_is_plain(const char *path, size_t n)
{
	return !memmem(path, n, "..", 2);
}

/* Searches modules.dep, line by line, for the file of the module with this name, and appends its
 * path to ret. dir: what relative paths count from. -ENOENT, -ENOMEM. */
static int module_line(FILE *f, const char *dir, const char *name, size_t length, struct buf *ret)
{
	char *line = NULL;
	size_t capacity = 0;
	int r = -ENOENT;

	while (r < 0 && getline(&line, &capacity, f) > 0) {
		size_t n = strcspn(line, ":\n");

		if (line[n] != ':' || !module_is(line, n, name, length) ||
		    !module_is_plain(line, n))
			continue;
		if (line[0] == '/')
			r = buf_printf(ret, "%.*s", (int)n, line);
		else
			r = buf_printf(ret, "%s/%.*s", dir, (int)n, line);
		r = r < 0 ? -ENOMEM : 0;
	}
	free(line);
	return r;
}

/* The name and the release come from the recording: neither may lead out of /lib/modules. */
int module_path(struct buf *ret, const struct image_search *search, const char *name)
{
	size_t n = strlen(name);
	struct buf dir = { 0 }, dep = { 0 };
	struct stat st;
	FILE *f = NULL;
	int fd, r = -ENOENT;

	if (n < 3 || n > NAME_MAX_LENGTH || name[0] != '[' || name[n - 1] != ']' ||
	    strchr(name, '/') || !search->kernel_release || strchr(search->kernel_release, '/'))
		return -ENOENT;
	buf_printf(&dir, "/lib/modules/%s", search->kernel_release);
	buf_printf(&dep, "%s%s/modules.dep", search->root ? search->root : "", buf_text(&dir));
	fd = dir.failed || dep.failed
	             ? -1
	             : open(buf_text(&dep), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		f = fdopen(fd, "r");
	if (f)
		r = module_line(f, buf_text(&dir), name + 1, n - 2, ret);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	buf_free(&dir);
	buf_free(&dep);
	return r;
}
