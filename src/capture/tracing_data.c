// SPDX-License-Identifier: MIT
/*
 * tracing_data.c: knows the layout of trace-cmd's head, version 0.6, and where tracefs keeps what
 * goes into it. Only the tracepoints that are recorded are put in, one system after another. Of
 * /proc/kallsyms and the command lines nothing: readers know both from elsewhere in the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/procfs.h"
#include "capture/tracing_data.h"

/* A tracepoint with longer names is left out. */
struct tracepoint {
	char system[64], name[128];
};

/* tracefs at one of its two places; the descriptor, or -1 and errno. */
static int tracing_open(const struct event_roots *roots)
{
	const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	if (roots && roots->tracefs)
		return open(roots->tracefs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < 2; i++) {
		int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0 && !faccessat(fd, "events", R_OK, 0))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	errno = ENOENT;
	return -1;
}

/* "sched:sched_switch:k" -> system and name. */
static bool tracing_tracepoint_of(const struct seam_event *event, struct tracepoint *ret)
{
	if (event->attr.type != SEAM_TYPE_TRACEPOINT)
		return false;
	return sscanf(event->name, "%63[^:]:%127[^:/]", ret->system, ret->name) == 2;
}

static int tracing_tracepoint_compare(const void *a, const void *b)
{
	const struct tracepoint *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	return order ? order : strcmp(x->name, y->name);
}

/* A file with its size before it, of 8 or 4 bytes. */
static int tracing_put_file(int tracefs, const char *path, size_t size_bytes, struct buf *ret)
{
	struct buf text = { 0 };
	int64_t n = procfs_read(tracefs, path, &text);
	uint64_t size = n > 0 ? (uint64_t)n : 0;

	if (size_bytes == 8)
		buf_put_u64(ret, size);
	else
		buf_put_u32(ret, (uint32_t)size);
	if (size)
		buf_put(ret, text.bytes, (size_t)size);
	buf_free(&text);
	return n < 0 ? (int)n : 0;
}

/* A system: its name, the number of its events, and the format file of each. */
static int tracing_put_system(int tracefs, const struct tracepoint *at, size_t n, struct buf *ret)
{
	buf_put(ret, at->system, strlen(at->system) + 1);
	buf_put_u32(ret, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		char path[256];
		int error;

		snprintf(path, sizeof(path), "events/%s/%s/format", at[i].system, at[i].name);
		error = tracing_put_file(tracefs, path, 8, ret);
		if (error < 0)
			return error;
	}
	return 0;
}

/* n tracepoints, sorted, as a number of systems and each of these. */
static int tracing_put_events(int tracefs, const struct tracepoint *at, size_t n, struct buf *ret)
{
	uint32_t systems = 0;
	int error = 0;

	buf_put_u32(ret, 0); /* of ftrace's own events */
	for (size_t i = 0; i < n; i++)
		systems += !i || strcmp(at[i].system, at[i - 1].system);
	buf_put_u32(ret, systems);
	for (size_t i = 0, j; i < n && !error; i = j) {
		for (j = i + 1; j < n && !strcmp(at[i].system, at[j].system); j++)
			;
		error = tracing_put_system(tracefs, at + i, j - i, ret);
	}
	return error;
}

/* Writes the blob in the order of its form: head, formats of the pages, formats of the events,
 * printk formats. Symbols and command lines are given as empty. 0 or -errno. */
static int tracing_put_all(int tracefs, const struct tracepoint *at, size_t n, struct buf *ret)
{
	const unsigned char big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	int error;

	buf_put(ret, "\x17\x08\x44tracing0.6", 14);
	buf_put(ret, &big, 1);
	buf_put(ret, &(unsigned char){ sizeof(long) }, 1);
	buf_put_u32(ret, (uint32_t)sysconf(_SC_PAGESIZE));
	buf_put(ret, "header_page", 12);
	error = tracing_put_file(tracefs, "events/header_page", 8, ret);
	buf_put(ret, "header_event", 13);
	if (!error)
		error = tracing_put_file(tracefs, "events/header_event", 8, ret);
	if (!error)
		error = tracing_put_events(tracefs, at, n, ret);
	buf_put_u32(ret, 0); /* of kallsyms */
	tracing_put_file(tracefs, "printk_formats", 4, ret);
	buf_put_u64(ret, 0); /* of command lines */
	return error ? error : ret->failed ? -ENOMEM : 0;
}

/* Tracepoints are sorted by system, because the form wants each system once. */
int tracing_data_collect(const struct seam_events *events, const struct event_roots *roots,
                         struct buf *ret)
{
	size_t count = seam_events_count(events), n = 0, before = ret->n;
	struct tracepoint *at = calloc(count ? count : 1, sizeof(*at));
	int tracefs, error;

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		n += tracing_tracepoint_of(seam_events_at(events, i), &at[n]);
	if (!n) {
		free(at);
		return 0;
	}
	qsort(at, n, sizeof(*at), tracing_tracepoint_compare);
	tracefs = tracing_open(roots);
	error = tracefs < 0 ? -errno : tracing_put_all(tracefs, at, n, ret);
	if (tracefs >= 0)
		close(tracefs);
	free(at);
	/* Half a blob would mislead readers: the buffer is as it was. */
	if (error)
		ret->n = before;
	return error ? error : 1;
}
