// SPDX-License-Identifier: MIT
/*
 * kwalk_maps.c: the executable mappings of a process, read from /proc, and the unwind table of
 * each. That ends where the work that a process may cost does (kwalk_budget.c), and reading where
 * their list has MAPS_MOST bytes. Its file is read by somebody else (base/peek.h): who reads it may
 * have to wait for the process.
 *
 * A process may have a million mappings, and changes them while its file is read. Where the kernel
 * can be asked for the executable ones alone, it is, from each one's end on. Else it gives
 * whole lines in order of address for each read, and goes on behind the last one for the next: so
 * no mapping is given twice, and one that was there all the time is not missed. Whether the process
 * changed meanwhile is for the caller to find out (learn_read).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/peek.h"
#include "capture/bpf/kwalk_parts.h"

#define MAPS_MOST (12u << 20) /* bytes */
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

/* A list of mappings that is gone through. */
struct maps_reading {
	struct maps_line last;
	uint64_t work;
	void (*put)(void *ctx, const struct kwalk_vma *m);
	void *ctx;
};

/* Takes one mapping, and counts its work. -E2BIG: it was the last that the process may cost;
 * -ECANCELED: the time is over. */
static int maps_take(struct kwalk *l, uint32_t pid, uint64_t now_ns, const struct procfs_map *map,
                     struct maps_reading *m)
{
	struct kwalk_vma vma = {
		.start = map->start, .end = map->end, .pgoff = map->offset, .since_ns = now_ns
	};
	uint64_t before = m->work;

	if (maps_line(l, pid, map, &m->last, &vma))
		m->put(m->ctx, &vma);
	m->work += BUDGET_LINE;
	if (!budget_take(&l->budget, before, BUDGET_LINE))
		return -E2BIG;
	return kwalk_is_over(l) ? -ECANCELED : 0;
}

/* As the kernel can say it: by questions, or as text. Before any mapping is looked at, which may
 * take long, all have been read. */
int maps_read(struct kwalk *l, uint32_t pid, uint64_t now_ns, struct buf *text,
              void (*put)(void *ctx, const struct kwalk_vma *m), void *ctx)
{
	struct maps_reading m = { .last = { .map = { .inode = 0 } }, .put = put, .ctx = ctx };
	struct procfs_map map;
	char path[32], *line;
	size_t at = 0;
	bool asked;
	int r;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	/* Whether any more may be read at all, before the file is opened. */
	if (!budget_take(&l->budget, 0, 0))
		return -E2BIG;
	buf_clear(text);
	r = peek_maps(l->opts.peek, pid, path, MAPS_MOST, text);
	asked = r != -ENOTTY;
	if (!asked)
		r = peek_file(l->opts.peek, pid, path, MAPS_MOST, text);
	if ((r >= 0 && text->n >= MAPS_MOST) || r == -ETIME || r == -EBUSY)
		r = -E2BIG;
	line = (char *)text->bytes;
	while (r >= 0 && (asked ? peek_maps_next(text, &at, &map)
	                        : procfs_map_next(&line, (char *)text->bytes + text->n, &map)))
		r = maps_take(l, pid, now_ns, &map, &m);
	return r;
}
