// SPDX-License-Identifier: MIT
/*
 * synth_cgroup.c: see synth_cgroup.h. Knows mountinfo, and that the number of a control group is
 * that of its directory's inode (on machines of 64 bits).
 *
 * Invariant: anybody who may make control groups may make many, and deep ones: how many are read
 * and how deep is bounded, and links are not followed. One that goes away meanwhile is no error.
 */
#include "capture/synth_cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/encode.h"
#include "base/procfs.h"

#define CGROUP_DEPTH 64u

struct cgroups {
	const struct synth_opts *opts;
	struct buf *out;
	struct synth_counts *counts;
	char path[PATH_MAX]; /* below the mount, of the directory at hand; "" for the first */
	size_t n;            /* its length */
};

/* The next word of a line, ended; mountinfo writes blanks and backslashes as \ooo. */
static char *cgroup_word(char **at)
{
	char *word = *at, *to = word, *c = word;

	for (; *c && *c != ' '; c++) {
		if (c[0] == '\\' && c[1] >= '0' && c[1] <= '3' && c[2] >= '0' && c[2] <= '7' &&
		    c[3] >= '0' && c[3] <= '7') {
			*to++ = (char)((c[1] - '0') << 6 | (c[2] - '0') << 3 | (c[3] - '0'));
			c += 3;
		} else {
			*to++ = *c;
		}
	}
	*at = *c ? c + 1 : c;
	*to = 0;
	return word;
}

/* Whether a word is in a list with commas. */
static bool cgroup_lists(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == n && !memcmp(list, word, n))
			return true;
	return false;
}

/* Where a line of mountinfo mounts control groups that perf events know of: of the first version
 * with that controller (2), or of the second (1); else 0. */
static int cgroup_mount(char *line, char **ret)
{
	char *word, *type, *at = line;

	/* "36 35 98:0 /root /mount opts tag:1 - type source superopts", by proc(5). */
	for (int i = 0; i < 4; i++) /* ID, parent's, device, root */
		cgroup_word(&at);
	*ret = cgroup_word(&at);
	/* Optional fields, of any number, end with a dash. */
	do {
		word = cgroup_word(&at);
	} while (*word && strcmp(word, "-"));
	type = cgroup_word(&at);
	cgroup_word(&at);
	if (!strcmp(type, "cgroup2"))
		return 1;
	return !strcmp(type, "cgroup") && cgroup_lists(cgroup_word(&at), "perf_event") ? 2 : 0;
}

/* The descriptor of the hierarchy's directory that perf events use: the first version's with
 * perf_event, if it is mounted, else the second version's. -ENOENT: neither is mounted. */
static int cgroup_open(int proc)
{
	struct buf text = { 0 };
	char *best = NULL;
	int r = (int)procfs_read(proc, "self/mountinfo", &text), of = 0, fd = -ENOENT;

	for (char *line = r > 0 ? (char *)text.bytes : NULL, *next; line; line = next) {
		char *where;
		int is;

		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		is = cgroup_mount(line, &where);
		if (is > of) {
			of = is;
			best = where;
		}
	}
	if (best)
		fd = open(best, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (best && fd < 0)
		fd = -errno;
	buf_free(&text);
	return r == -ENOMEM ? r : fd;
}

/* The number is the inode's: perf_event writes the same into samples. */
static int cgroup_put(struct cgroups *c, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return 0;
	c->counts->cgroups++;
	return encode_cgroup(c->out, c->opts->attr, (uint64_t)st.st_ino, c->n ? c->path : "/",
	                     NULL);
}

static int cgroup_walk(struct cgroups *c, int fd, unsigned depth);

/* One directory below the one at hand. What cannot be opened is passed over: it has been removed,
 * or it is a link. So is one whose path is too long. `parent` stays open. */
static int cgroup_child(struct cgroups *c, int parent, const char *name, unsigned depth)
{
	size_t n = strlen(name), before = c->n;
	int fd, r;

	if (before + 1 + n >= sizeof(c->path))
		return 0;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	c->path[before] = '/';
	memcpy(c->path + before + 1, name, n + 1);
	c->n = before + 1 + n;
	r = cgroup_walk(c, fd, depth);
	c->n = before;
	c->path[before] = 0;
	return r;
}

/* A directory and those in it; fd is closed. */
static int cgroup_walk(struct cgroups *c, int fd, unsigned depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *e;
	int r = 0;

	if (!dir) {
		close(fd);
		return 0;
	}
	r = cgroup_put(c, fd);
	/* Who makes groups in a loop, or thousands of levels, meets both bounds here. */
	while (r >= 0 && depth < CGROUP_DEPTH && c->counts->cgroups < SYNTH_CGROUPS_MAX &&
	       (e = readdir(dir)))
		if ((e->d_type == DT_DIR || e->d_type == DT_UNKNOWN) && strcmp(e->d_name, ".") &&
		    strcmp(e->d_name, ".."))
			r = cgroup_child(c, fd, e->d_name, depth + 1);
	closedir(dir);
	/* A name that is too long for a record ends this branch, and is no failure. */
	return r == -E2BIG ? 0 : r;
}

int synth_cgroup_records(const struct synth_opts *opts, int proc, struct buf *out,
                         struct synth_counts *counts)
{
	struct cgroups c = { .opts = opts, .out = out, .counts = counts };
	int fd = cgroup_open(proc);

	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	return cgroup_walk(&c, fd, 0);
}
