// SPDX-License-Identifier: MIT
/*
 * kwalk_filter.c: what a task must be to be recorded, given to the programs: user ids and names as
 * maps, cgroups as numbers in their configuration. Knows where cgroups of the second version are
 * mounted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/bpf.h>

#include "capture/bpf/kwalk_parts.h"

bool kwalk_filters_any(const struct kwalk_filters *f)
{
	return f->n_uids || f->n_comms || f->n_cgroups;
}

/* Finds where cgroup2 is mounted, in /proc/mounts. */
static int filter_mount(char *path, size_t n)
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
static uint32_t filter_level(const char *path, size_t n)
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
int kwalk_cgroup(const char *name, struct kwalk_cgroup *ret)
{
	char root[2048], path[4400], *real;
	struct stat st;
	int r = filter_mount(root, sizeof(root));
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
	if (r >= 0)
		*ret = (struct kwalk_cgroup){ .id = st.st_ino, .level = filter_level(real, n) };
	free(real);
	return r;
}

/* The program's constants: how many filters there are of each kind, and the cgroups themselves. */
void filter_configure(const struct kwalk *l, struct kwalk_config *c)
{
	const struct kwalk_filters *f = &l->opts.filters;

	c->held = (uint32_t)l->opts.held;
	c->uids = (uint32_t)f->n_uids;
	c->comms = (uint32_t)f->n_comms;
	c->cgroups = (uint32_t)f->n_cgroups;
	memcpy(c->cgroup, f->cgroups, sizeof(c->cgroup));
}

int filter_fill(struct kwalk *l)
{
	const struct kwalk_filters *f = &l->opts.filters;
	int uids = bpf_object__find_map_fd_by_name(l->object, "uids");
	int comms = bpf_object__find_map_fd_by_name(l->object, "comms");
	uint32_t one = 1;

	l->matched = bpf_object__find_map_fd_by_name(l->object, "matched");
	for (size_t i = 0; i < f->n_uids; i++)
		if (bpf_map_update_elem(uids, &f->uids[i], &one, BPF_ANY) < 0)
			return -errno;
	for (size_t i = 0; i < f->n_comms; i++)
		if (bpf_map_update_elem(comms, f->comms[i], &one, BPF_ANY) < 0)
			return -errno;
	return 0;
}

/* Without filters every process is. */
bool filter_has_matched(const struct kwalk *l, uint32_t pid)
{
	uint32_t one;

	return !kwalk_filters_any(&l->opts.filters) ||
	       bpf_map_lookup_elem(l->matched, &pid, &one) >= 0;
}
