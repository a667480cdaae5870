// SPDX-License-Identifier: MIT
/*
 * groups.c: see groups.h.
 *
 * While an agent records, groups are not in the samples of every kernel, and a process may be gone
 * when a window is written. So /proc is asked once per process, and the answer kept for a while.
 * Memory is bounded by GROUPS_MOST; the whole table is dropped at once.
 */
#include "fleet/groups.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_MOST 4096u  /* processes */
#define GROUPS_AGE 6u      /* windows */
#define GROUPS_BYTES 16384 /* of /proc/PID/cgroup */

/* The line of version 2 ("0::/path"), or the first that names a group at all. Cuts the text at its
 * lines; the result points into it. */
static char *groups_path(char *text)
{
	char *path = NULL;

	for (char *line = text, *next; line && *line; line = next) {
		char *colon = strchr(line, ':');

		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		colon = colon ? strchr(colon + 1, ':') : NULL;
		if (colon && (!path || !strncmp(line, "0::", 3)) && strcmp(colon + 1, "/") != 0)
			path = colon + 1;
	}
	return path;
}

/* Reads which group a process is in; its number in paths, 0: there is none, or no process. What
 * cannot be read is no group. */
static uint32_t groups_read(struct groups *g, uint32_t pid)
{
	char name[40], text[GROUPS_BYTES], *path;
	uint32_t id = 0;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "/proc/%u/cgroup", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	path = groups_path(text);
	if (path)
		id = intern_text(&g->paths, path);
	return id == INTERN_FAILED ? 0 : id;
}

/* As series_cgroups calls it. The text is valid until groups_age. NULL: no group, or not a
 * process. */
const char *groups_of(void *groups, uint32_t pid)
{
	struct groups *g = groups;
	uint64_t id;

	if (!pid || pid == UINT32_MAX)
		return NULL;
	if (!map_get(&g->by_pid, pid, &id)) {
		id = groups_read(g, pid);
		map_put(&g->by_pid, pid, id);
	}
	return id ? intern_get(&g->paths, (uint32_t)id) : NULL;
}

/* Called once per window. A pid may be used again, so all answers go after GROUPS_AGE windows. */
void groups_age(struct groups *g)
{
	if (++g->age == GROUPS_AGE || g->by_pid.n > GROUPS_MOST)
		groups_free(g);
}

void groups_free(struct groups *g)
{
	map_free(&g->by_pid);
	intern_free(&g->paths);
	*g = (struct groups){ 0 };
}
