// SPDX-License-Identifier: MIT
/* tracepoint.c: sys:name to the tracefs id, with wildcards in both parts. Knows where tracefs is;
 * mounts nothing. The id is the attr's config; it holds until the next boot. */
#include "event/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One search, for an item such as "sched:*". */
struct tracepoint_walk {
	const char *root; /* .../events */
	int (*add)(void *ctx, const char *system, const char *name, uint64_t id);
	void *ctx;
	size_t found; /* tracepoints given to add */
};

static bool tracepoint_is_glob(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

/* Reads the number by which the kernel knows a tracepoint. 0 or -errno. */
static int tracepoint_id(const char *root, const char *system, const char *name, uint64_t *ret)
{
	char path[768], text[32];
	int fd, r;
	ssize_t n;

	r = snprintf(path, sizeof(path), "%s/%s/%s/id", root, system, name);
	if (r < 0 || (size_t)r >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	r = n < 0 ? -errno : 0;
	close(fd);
	if (r < 0)
		return r;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return event_number(text, ret) ? 0 : -EINVAL;
}

/* Found ones are counted, because a wildcard that fits nothing is an error. */
static int tracepoint_one(struct tracepoint_walk *w, const char *system, const char *name)
{
	uint64_t id;
	int r = tracepoint_id(w->root, system, name, &id);

	if (r < 0)
		return r;
	w->found++;
	return w->add(w->ctx, system, name, id);
}

/* The entries of a directory that fit, in the order of their names: so a list is the same in each
 * run. other: handed through to visit. */
static int tracepoint_each(struct tracepoint_walk *w, const char *directory, const char *pattern,
                           int (*visit)(struct tracepoint_walk *, const char *, const char *),
                           const char *other)
{
	struct dirent **list;
	int n = scandir(directory, &list, NULL, alphasort);
	int r = n < 0 ? -errno : 0;

	for (int i = 0; i < n; i++) {
		const char *entry = list[i]->d_name;

		if (r >= 0 && entry[0] != '.' && !fnmatch(pattern, entry, 0)) {
			r = visit(w, entry, other);
			// Files beside the events ("enable", "filter") have no id.
			if (r == -ENOENT || r == -ENOTDIR)
				r = 0;
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return r;
}

static int tracepoint_visit_name(struct tracepoint_walk *w, const char *name, const char *system)
{
	return tracepoint_one(w, system, name);
}

/* The second level: the names of one system that fit. */
static int tracepoint_visit_system(struct tracepoint_walk *w, const char *system, const char *name)
{
	char path[512];
	int r = snprintf(path, sizeof(path), "%s/%s", w->root, system);

	if (r < 0 || (size_t)r >= sizeof(path))
		return -ENAMETOOLONG;
	return tracepoint_each(w, path, name, tracepoint_visit_name, system);
}

/* Another error than "not there" is worth more in the message. */
static int tracepoint_root(const struct event_roots *roots, char *path, size_t n)
{
	/* The second is within debugfs, where tracefs was before Linux 4.1. */
	static const char *const usual[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int error = ENOENT;

	for (size_t i = 0; i < 2; i++) {
		const char *root = roots && roots->tracefs ? roots->tracefs : usual[i];

		snprintf(path, n, "%s/events", root);
		if (!access(path, R_OK | X_OK))
			return 0;
		if (errno != ENOENT)
			error = errno;
	}
	return -error;
}

/* Both parts of the name may have wildcards. Without any the id is asked for directly, because that
 * works where directories may not be listed. */
int tracepoint_find(const struct event_roots *roots, const char *system, const char *name,
                    int (*add)(void *ctx, const char *system, const char *name, uint64_t id),
                    void *ctx, struct seam_error *err)
{
	char root[256];
	struct tracepoint_walk w = { .root = root, .add = add, .ctx = ctx };
	int r;

	/* A slash would lead out of the directory. */
	if (strchr(system, '/') || strchr(name, '/') || system[0] == '.' || name[0] == '.')
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "'%s:%s' is not a tracepoint's name", system, name);
	r = tracepoint_root(roots, root, sizeof(root));
	if (r == -EACCES || r == -EPERM)
		return seam_error_set(err, EACCES, NULL, SEAM_NO_OFFSET, NULL,
		                      "tracepoint '%s:%s': tracefs may not be read by this user "
		                      "(run as root, or 'mount -o remount,mode=755 "
		                      "/sys/kernel/tracing')",
		                      system, name);
	if (r < 0)
		return seam_error_set(err, ENOENT, NULL, SEAM_NO_OFFSET, NULL,
		                      "tracepoint '%s:%s': no tracefs is mounted ('mount -t "
		                      "tracefs nodev /sys/kernel/tracing'); there is no other "
		                      "event of that name",
		                      system, name);
	if (tracepoint_is_glob(system) || tracepoint_is_glob(name))
		r = tracepoint_each(&w, root, system, tracepoint_visit_system, name);
	else
		r = tracepoint_one(&w, system, name);
	if (r == -EACCES)
		return seam_error_set(err, EACCES, NULL, SEAM_NO_OFFSET, NULL,
		                      "tracepoint '%s:%s': its id may not be read by this user",
		                      system, name);
	if (r == -ENOENT || r == -ENOTDIR || (r >= 0 && !w.found))
		return seam_error_set(err, ENOENT, NULL, SEAM_NO_OFFSET, NULL,
		                      "unknown tracepoint '%s:%s': %s has none of that name",
		                      system, name, root);
	return r;
}
