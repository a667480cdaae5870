// SPDX-License-Identifier: MIT
/*
 * process_file.c: files that a process wrote about itself: its perf map and its jitdump. Anybody
 * can write to /tmp, so only a regular file is believed that belongs to root, to us or to the
 * process's own user. Pids are used again, so only a file is believed that was written after the
 * process began.
 *
 * A process in a container writes to its own /tmp, under its own pid: /proc/PID/root leads there as
 * long as it runs.
 */
#include "symbol/process_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROCESS_FILE_MAX (512u << 20)

/* The user of a process that still runs; false: unknown. */
static bool process_file_process_user(uint32_t pid, uid_t *ret)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &st) < 0)
		return false;
	*ret = st.st_uid;
	return true;
}

/* Whether the file belongs to root, to us or to the process's user. The recording says who that
 * was. Only where it does not is the process of today asked, which may be another one with the same
 * pid. */
static bool process_file_is_trusted(const struct symbol_opts *opts, const struct stat *st,
                                    uint32_t pid)
{
	uint32_t recorded;
	uid_t user;

	if (!S_ISREG(st->st_mode))
		return false;
	/* Root could do anything anyway, and who runs seam believes himself. */
	if (!st->st_uid || st->st_uid == geteuid())
		return true;
	if (opts->owner && opts->owner(opts->began_ctx, pid, &recorded))
		return recorded == st->st_uid;
	return process_file_process_user(pid, &user) && user == st->st_uid;
}

/* Reads the open file; -EFBIG when it is too large. */
static int process_file_read_text(int fd, struct buf *ret)
{
	ssize_t n = 1;
	void *to;

	while (n > 0 && ret->n <= PROCESS_FILE_MAX) {
		to = buf_reserve(ret, 1 << 16);
		if (!to)
			return -ENOMEM;
		n = read(fd, to, 1 << 16);
		if (n > 0)
			ret->n += (size_t)n;
	}
	return n < 0 ? -errno : ret->n > PROCESS_FILE_MAX ? -EFBIG : 0;
}

#define BEGAN_SLACK_NS 1000000000u /* times of files are coarse, and clocks are set */

/* False where it is not known when the process began (began_ns 0). */
static bool process_file_is_older(const struct stat *st, uint64_t began_ns)
{
	uint64_t written =
	        (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;

	return written + BEGAN_SLACK_NS < began_ns;
}

/* Reads a file that the process, or somebody who may, has written. -EPERM: a stranger wrote it.
 * -ESTALE: it was written before the process began. */
int process_file_read(const struct symbol_opts *opts, const char *path, uint32_t pid,
                      uint64_t began_ns, struct buf *ret)
{
	/* Neither a link of somebody's making is followed, nor does a FIFO block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int r = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;

	if (!r && !process_file_is_trusted(opts, &st, pid))
		r = -EPERM;
	if (!r && process_file_is_older(&st, began_ns))
		r = -ESTALE;
	if (!r)
		r = process_file_read_text(fd, ret);
	if (fd >= 0)
		close(fd);
	return r;
}

/* The pid that a running process has inside its container; 0: not known. */
uint32_t process_file_own_pid(uint32_t pid)
{
	char path[32], line[256];
	const char *last;
	uint32_t own = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && !own && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		line[strcspn(line, "\n")] = 0;
		last = strrchr(line, '\t');
		own = last ? (uint32_t)strtoul(last + 1, NULL, 10) : 0;
	}
	if (f)
		fclose(f);
	return own;
}

/* Reads a path as a running process sees it, where there is no such file for us. */
int process_file_read_inside(const struct symbol_opts *opts, struct buf *path, uint32_t pid,
                             uint64_t began_ns, struct buf *ret)
{
	struct buf inside = { 0 };
	int r;

	buf_printf(&inside, "/proc/%u/root%s", pid, buf_text(path));
	r = process_file_read(opts, buf_text(&inside), pid, began_ns, ret);
	if (r >= 0) {
		buf_clear(path);
		buf_put_text(path, buf_text(&inside));
	}
	buf_free(&inside);
	return r;
}

/* The dump lies at the path that the process mapped, or, copied, beside the archive's maps. */
int process_file_jitdump(const struct symbol_opts *opts, uint32_t pid, const char *dump,
                         struct buf *ret_path, struct buf *ret)
{
	int r;

	if (opts->map_dir)
		buf_printf(ret_path, "%s/jit-%u.dump", opts->map_dir, pid);
	else
		buf_printf(ret_path, "%s%s", opts->search.root ? opts->search.root : "", dump);
	r = process_file_read(opts, buf_text(ret_path), pid, 0, ret);
	if (r == -ENOENT && !opts->map_dir && !opts->search.root)
		r = process_file_read_inside(opts, ret_path, pid, 0, ret);
	return r;
}

/* The path that the recording says (symbol_jitdump); NULL: none. It lives as long as the cache. */
const char *process_file_jitdump_of(struct symbol_cache *cache, uint32_t pid)
{
	uint64_t path = 0;

	pthread_mutex_lock(&cache->lock);
	map_get(&cache->jitdumps, pid, &path);
	pthread_mutex_unlock(&cache->lock);
	return (const char *)(uintptr_t)path;
}
