// SPDX-License-Identifier: MIT
// cgroup_dir.c: see cgroup_dir.h. Knows where cgroups of the second version are mounted.
#include "capture/cgroup_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Finds where cgroup2 is mounted, in /proc/mounts. */
static int cgroup_dir_mount(char *path, size_t n)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[4096], at[2048], type[64];
	int r = -ENOENT;

	if (!mounts)
		return -errno;
	/* The first mount counts. */
	while (r < 0 && fgets(line, sizeof(line), mounts)) {
		if (sscanf(line, "%*s %2047s %63s", at, type) != 2 || strcmp(type, "cgroup2"))
			continue;
		r = (size_t)snprintf(path, n, "%s", at) < n ? 0 : -ENAMETOOLONG;
	}
	fclose(mounts);
	return r;
}

/* The number of directories in path behind its first n bytes; "." and empty ones do not count. */
static uint32_t cgroup_dir_level(const char *path, size_t n)
{
	uint32_t level = 0;

	for (const char *at = path + n; *at;) {
		size_t size = strcspn(at, "/");

		level += size && !(size == 1 && *at == '.');
		at += size + (at[size] == '/');
	}
	return level;
}

/* The level is the number of directories below the mount, which the programs need to find a task's
 * cgroup among its ancestors. */
int cgroup_dir_find(const char *name, uint64_t *ret_id, uint32_t *ret_level)
{
	char root[2048], path[4400], *real;
	struct stat st;
	int r = cgroup_dir_mount(root, sizeof(root));
	size_t n = strlen(root);

	if (r < 0)
		return -ENODEV;
	if (!strncmp(name, root, n) && (name[n] == '/' || !name[n]))
		snprintf(path, sizeof(path), "%s", name);
	else if ((size_t)snprintf(path, sizeof(path), "%s/%s", root, name) >= sizeof(path))
		return -ENAMETOOLONG;
	real = realpath(path, NULL);
	if (!real)
		return -errno;
	r = strncmp(real, root, n) || stat(real, &st) < 0 || !S_ISDIR(st.st_mode) ? -ENOENT : 0;
	if (r >= 0) {
		*ret_id = st.st_ino;
		*ret_level = cgroup_dir_level(real, n);
	}
	free(real);
	return r;
}
