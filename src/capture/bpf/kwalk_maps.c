// SPDX-License-Identifier: MIT
/*
 * kwalk_maps.c: the executable mappings of a process, read from /proc piece by piece, and the
 * unwind table of each. Reading ends where the work that a process may cost does (kwalk_budget.c).
 *
 * A process may have a million mappings, and changes them while its file is read. Where the kernel
 * can be asked for the executable ones alone, it is, from each one's end on. Else it gives
 * whole lines in order of address for each read, and goes on behind the last one for the next: so
 * no mapping is given twice, and one that was there all the time is not missed. Whether the process
 * changed meanwhile is for the caller to find out (learn_read).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/bpf/kwalk_parts.h"
#include "base/procfs.h"

#define MAPS_PIECE 65536u
#define USER_END (1ull << 63) /* above it only [vsyscall] */

/* Asks the recorder for the table (opts.table), which may read and compile a file. */
bool maps_table(struct kwalk *l, struct kwalk_vma *m, const struct kwalk_ask *ask)
{
	struct kwalk_table table = { 0 };
	struct kwalk_ask first = *ask;

	/* Making a table is the longest single step: none is begun when the time to end is over. */
	if (m->start >= USER_END || m->end <= m->start || kwalk_is_over(l))
		return false;
	first.known = later_is_on(l);
	if (!l->opts.fp && l->opts.table)
		l->opts.table(l->opts.ctx, &first, &table);
	m->later = table.later ? later_add(l, ask) : 0;
	if (table.later && !m->later) {
		table = (struct kwalk_table){ 0 };
		l->opts.table(l->opts.ctx, ask, &table);
	}
	m->blob = table.blob;
	m->vaddr = table.vaddr;
	m->may_guess = table.may_guess;
	m->keeps_fp = table.keeps_fp;
	m->tells = table.tells;
	m->runtime = table.runtime;
	m->context = table.context;
	return true;
}

struct maps_line {
	struct procfs_map map;
	struct kwalk_vma vma;
	char path[4096];
};

/* Whether both map the same bytes of the same file, so that the table need not be looked for
 * again. */
static bool maps_is_like(const struct maps_line *last, const struct procfs_map *map)
{
	const struct procfs_map *l = &last->map;

	return map->inode && map->inode == l->inode && map->major == l->major &&
	       map->minor == l->minor && map->offset == l->offset &&
	       map->end - map->start == l->end - l->start && map->path_size == l->path_size &&
	       !memcmp(last->path, map->path, map->path_size);
}

/* Fills one mapping with its table. last: the mapping before it, and now this one. False: nothing
 * must be known of it. */
static bool maps_line(struct kwalk *l, uint32_t pid, const struct procfs_map *map,
                      struct maps_line *last, struct kwalk_vma *m)
{
	struct kwalk_ask ask = {
		.pid = (pid_t)pid,
		.path = last->path,
		.pgoff = map->offset,
		.size = map->end - map->start,
		.inode = map->inode,
	};

	if (!map->executable || map->path_size >= sizeof(last->path))
		return false;
	if (maps_is_like(last, map)) {
		last->vma.start = m->start;
		last->vma.end = m->end;
		*m = last->vma;
		return true;
	}
	memcpy(last->path, map->path, map->path_size);
	last->path[map->path_size] = 0;
	last->map = *map;
	if (!maps_table(l, m, &ask)) {
		last->map.inode = 0;
		return false;
	}
	last->vma = *m;
	return true;
}

/* Takes the whole lines of what was read; the beginning of one more stays. Returns how much work
 * they were. */
static uint64_t maps_lines(struct kwalk *l, uint32_t pid, uint64_t now_ns, struct buf *text,
                           struct maps_line *last,
                           void (*put)(void *ctx, const struct kwalk_vma *m), void *ctx)
{
	/* What stands behind the last newline is the beginning of a line that the next read
	 * continues. */
	const char *newline = memrchr(text->bytes, '\n', text->n);
	char *at = (char *)text->bytes;
	const char *end = newline ? newline + 1 : at;
	struct procfs_map map;
	uint64_t work = 0;

	while (procfs_map_next(&at, end, &map)) {
		struct kwalk_vma m = {
			.start = map.start, .end = map.end, .pgoff = map.offset, .since_ns = now_ns
		};

		if (maps_line(l, pid, &map, last, &m))
			put(ctx, &m);
		work += BUDGET_LINE;
	}
	text->n -= (size_t)(end - (const char *)text->bytes);
	memmove(text->bytes, end, text->n);
	return work;
}

/* Whether reading may go on after so much more work: 0 or -errno. */
static int maps_goes_on(struct kwalk *l, uint64_t *work, uint64_t more)
{
	uint64_t before = *work;

	*work += more;
	if (!budget_take(&l->budget, before, more))
		return -E2BIG;
	return kwalk_is_over(l) ? -ECANCELED : 0;
}

/* The executable ones alone, one by one. -ENOTTY: they are to be read as text; nothing was
 * given. */
static int maps_query(struct kwalk *l, uint32_t pid, uint64_t now_ns, int fd,
                      struct maps_line *last, void (*put)(void *ctx, const struct kwalk_vma *m),
                      void *ctx)
{
	struct procfs_query q = { .fd = fd };
	struct procfs_map map;
	uint64_t work = 0;
	int r, first = 1;

	while ((r = procfs_map_query(&q, &map)) > 0) {
		struct kwalk_vma m = {
			.start = map.start, .end = map.end, .pgoff = map.offset, .since_ns = now_ns
		};

		first = 0;
		if (maps_line(l, pid, &map, last, &m))
			put(ctx, &m);
		r = maps_goes_on(l, &work, BUDGET_LINE);
		if (r < 0)
			return r;
	}
	return r < 0 && !first ? -EIO : r;
}

/* Lines are given as they are read, so a process with many mappings needs little memory. */
static int maps_text(struct kwalk *l, uint32_t pid, uint64_t now_ns, int fd, struct buf *text,
                     struct maps_line *last, void (*put)(void *ctx, const struct kwalk_vma *m),
                     void *ctx)
{
	uint64_t work = 0;

	buf_clear(text);
	for (;;) {
		void *room = buf_reserve(text, MAPS_PIECE);
		ssize_t n = room ? read(fd, room, MAPS_PIECE) : -1;
		int r;

		if (n <= 0)
			return !room ? -ENOMEM : n < 0 ? -errno : 0;
		text->n += (size_t)n;
		r = maps_goes_on(l, &work, maps_lines(l, pid, now_ns, text, last, put, ctx));
		if (r < 0)
			return r;
	}
}

/* As the kernel can say it: by questions, or as text. */
int maps_read(struct kwalk *l, uint32_t pid, uint64_t now_ns, struct buf *text,
              void (*put)(void *ctx, const struct kwalk_vma *m), void *ctx)
{
	struct maps_line last = { .map = { .inode = 0 } };
	char path[32];
	int fd, r;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	/* Whether any more may be read at all, before the file is opened. */
	if (!budget_take(&l->budget, 0, 0))
		return -E2BIG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = maps_query(l, pid, now_ns, fd, &last, put, ctx);
	if (r == -ENOTTY)
		r = maps_text(l, pid, now_ns, fd, text, &last, put, ctx);
	close(fd);
	return r;
}
