// SPDX-License-Identifier: MIT
/*
 * live_follow.c: keeps the address spaces as the kernel says they change: a thread of its own, woken by each record of a dummy
 * event per CPU, so that a table is there a moment after its object is mapped, however busy the writing of the file is. Records that
 * were lost are made good from /proc.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/bpf/live_parts.h"
#include "capture/ioctl.h"
#include "capture/kernel.h"
#include "capture/procfs.h"
#include "capture/ring.h"

#define FOLLOW_RING_PAGES 128
#define FOLLOW_DUMMY 9 /* PERF_COUNT_SW_DUMMY */
#define PROT_EXECUTE 4u
#define USER_END (1ull << 63) /* above it only [vsyscall] */

uint64_t live_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- one mapping ---- */

static void follow_put(struct live *l, struct live_space *s, struct live_vma *m,
                       const struct live_ask *ask)
{
	struct live_table table = { 0 };

	if (m->start >= USER_END || m->end <= m->start)
		return;
	if (!l->opts.fp && l->opts.table)
		l->opts.table(l->opts.ctx, ask, &table);
	m->blob = table.blob;
	m->vaddr = table.vaddr;
	m->may_guess = table.may_guess;
	live_space_put(s, m); /* without memory it is unknown: the stack ends there and says so */
}

/* ---- /proc ---- */

static uint32_t follow_execs(struct live *l, uint32_t pid)
{
	uint32_t n = 0;

	return bpf_map_lookup_elem(l->execs, &pid, &n) < 0 ? 0 : n;
}

static void follow_read_lines(struct live *l, struct live_space *s, struct buf *text)
{
	char *at = (char *)text->bytes, path[4096];
	const char *end = at + text->n;
	struct procfs_map map;

	while (procfs_map_next(&at, end, &map)) {
		struct live_vma m = { .start = map.start,
			                   .end = map.end,
			                   .pgoff = map.offset,
			                   .since_ns = s->read_ns };
		struct live_ask ask = { .pid = (pid_t)s->pid,
			                .path = path,
			                .pgoff = map.offset,
			                .inode = map.inode };

		if (!map.executable || map.path_size >= sizeof(path))
			continue;
		memcpy(path, map.path, map.path_size);
		path[map.path_size] = 0;
		follow_put(l, s, &m, &ask);
	}
}

/* The mappings of a process as they are now; again when it replaced its program meanwhile. */
static int follow_read(struct live *l, uint32_t pid)
{
	struct buf text = { 0 };
	struct live_space *s;
	char path[32];
	int64_t n = 0;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	for (unsigned tries = 0; tries < 8; tries++) {
		uint32_t execs = follow_execs(l, pid);
		uint64_t now_ns = live_now_ns();

		buf_clear(&text);
		n = procfs_read(AT_FDCWD, path, &text);
		if (n < 0 || follow_execs(l, pid) != execs)
			continue;
		s = live_space_get(&l->spaces, pid, true);
		if (!s) {
			n = -ENOMEM;
			break;
		}
		s->execs = execs;
		s->read_ns = now_ns;
		s->gone_ns = 0;
		live_space_clear(s, UINT64_MAX);
		follow_read_lines(l, s, &text);
		live_publish(l, s);
		break;
	}
	buf_free(&text);
	return n < 0 ? (int)n : 0;
}

static void follow_read_again(struct live *l)
{
	struct buf pids = { 0 };
	uint64_t pid, value;
	size_t i = 0;

	while (map_next(&l->spaces.by_pid, &i, &pid, &value))
		buf_put_u32(&pids, (uint32_t)pid);
	for (size_t j = 0; j + 4 <= pids.n; j += 4) {
		uint32_t one;

		memcpy(&one, pids.bytes + j, 4);
		follow_read(l, one);
	}
	buf_free(&pids);
}

/* ---- records ---- */

static void follow_mmap(struct live *l, const struct seam_decoded *d)
{
	const struct seam_mmap *r = &d->mmap;
	struct live_space *s = live_space_get(&l->spaces, r->pid, false);
	struct live_vma m = { .start = r->addr,
		                   .end = r->addr + r->len,
		                   .pgoff = r->pgoff,
		                   .since_ns = d->id.time_ns };
	struct live_ask ask = { .pid = (pid_t)r->pid,
		                .path = r->filename,
		                .pgoff = r->pgoff,
		                .build_id_size = r->has_build_id ? r->build_id_size : 0,
		                .inode = r->has_build_id ? 0 : r->ino };

	memcpy(ask.build_id, r->build_id, sizeof(ask.build_id));
	if (s && r->prot & PROT_EXECUTE && d->id.time_ns >= s->read_ns)
		follow_put(l, s, &m, &ask);
}

static void follow_fork(struct live *l, const struct seam_decoded *d)
{
	const struct seam_task *r = &d->task;
	struct live_space *from, *to;

	if (r->pid == r->ppid)
		return;
	if (map_get(&l->followed, r->ppid, NULL) && !l->opts.no_inherit)
		map_put(&l->followed, r->pid, 1);
	from = live_space_get(&l->spaces, r->ppid, false);
	if (!from)
		return;
	to = live_space_get(&l->spaces, r->pid, true);
	if (!to || (to->n && !to->gone_ns)) /* read from /proc already */
		return;
	to->execs = 0;
	to->gone_ns = 0;
	to->read_ns = d->id.time_ns;
	live_space_copy(to, from);
}

static void follow_comm(struct live *l, const struct seam_decoded *d)
{
	struct live_space *s = live_space_get(&l->spaces, d->comm.pid, false);

	if (!s || !d->comm.exec || d->id.time_ns < s->read_ns)
		return;
	s->execs++;
	live_space_exec(s, d->id.time_ns);
}

static void follow_exit(struct live *l, const struct seam_decoded *d)
{
	struct live_space *s = live_space_get(&l->spaces, d->task.pid, false);

	/* The leader's exit; other threads may run on, so its mappings stay for a while. */
	if (s && d->task.pid == d->task.tid)
		s->gone_ns = live_now_ns();
}

static int follow_record(struct live *l, const unsigned char *bytes, uint16_t size)
{
	struct seam_record record = { .size = size, .bytes = bytes };
	struct seam_decoded d;

	memcpy(&record.type, bytes, 4);
	memcpy(&record.misc, bytes + 4, 2);
	if (record.type == SEAM_RECORD_LOST)
		l->follow.lost++;
	if (seam_record_decode(l->follow.events, &record, &d, NULL) < 0)
		return 0;
	switch (record.type) {
	case SEAM_RECORD_MMAP2:
		follow_mmap(l, &d);
		break;
	case SEAM_RECORD_FORK:
		follow_fork(l, &d);
		break;
	case SEAM_RECORD_COMM:
		follow_comm(l, &d);
		break;
	case SEAM_RECORD_EXIT:
		follow_exit(l, &d);
		break;
	default:
		break;
	}
	return 0;
}

static int follow_records(void *ctx, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	while (n >= 8) {
		uint16_t size;

		memcpy(&size, at + 6, 2);
		if (size < 8 || size > n)
			break;
		follow_record(ctx, at, size);
		at += size;
		n -= size;
	}
	return 0;
}

static void follow_publish(struct live *l)
{
	uint64_t pid, value;
	size_t i = 0;

	while (map_next(&l->spaces.by_pid, &i, &pid, &value)) {
		struct live_space *s = (struct live_space *)(uintptr_t)value;

		if (s->dirty)
			live_publish(l, s);
	}
}

/* Spaces of processes that have gone, a while ago: the programs have forgotten them when the task was freed. */
static void follow_sweep(struct live *l)
{
	uint64_t now_ns = live_now_ns(), pid, value;
	size_t i = 0;

	while (map_next(&l->spaces.by_pid, &i, &pid, &value)) {
		struct live_space *s = (struct live_space *)(uintptr_t)value;
		struct live_process p;
		uint32_t key = (uint32_t)pid;

		if (!s->gone_ns || s->gone_ns + 5000000000ull > now_ns ||
		    bpf_map_lookup_elem(l->processes, &key, &p) >= 0)
			continue;
		arena_give(&l->arena, s->published, s->published_size, now_ns);
		live_space_free(s);
		map_del(&l->spaces.by_pid, pid);
	}
}

void follow_drain(struct live *l)
{
	uint64_t lost = l->follow.lost;

	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->follow.n; i++)
		ring_drain(&l->follow.rings[i], follow_records, l);
	if (l->follow.lost != lost)
		follow_read_again(l);
	follow_publish(l);
	follow_sweep(l);
	pthread_mutex_unlock(&l->lock);
}

static void *follow_run(void *ctx)
{
	struct live *l = ctx;
	struct follow *f = &l->follow;
	struct pollfd *fds = calloc(f->n + 1, sizeof(*fds));

	if (!fds)
		return NULL;
	for (size_t i = 0; i < f->n; i++)
		fds[i] = (struct pollfd){ .fd = f->fds[i], .events = POLLIN };
	fds[f->n] = (struct pollfd){ .fd = f->wake, .events = POLLIN };
	while (!fds[f->n].revents) {
		if (poll(fds, f->n + 1, 1000) < 0 && errno != EINTR)
			break;
		follow_drain(l);
	}
	free(fds);
	return NULL;
}

/* ---- start and stop ---- */

/*
 * Build-ids are asked for although inodes would do: the kernel leaves the bit that says so in the header of a record when it goes
 * from an event that wants them to one that does not (seen on 6.18), so beside another recording the latter's are misread.
 */
static struct seam_attr follow_attr(void)
{
	struct seam_attr attr = {
		.type = SEAM_TYPE_SOFTWARE,
		.config = FOLLOW_DUMMY,
		.sample_type = SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME,
		.flags = SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_MMAP | SEAM_ATTR_MMAP2 | SEAM_ATTR_COMM |
		         SEAM_ATTR_COMM_EXEC | SEAM_ATTR_TASK | SEAM_ATTR_WATERMARK |
		         SEAM_ATTR_BUILD_ID | SEAM_ATTR_USE_CLOCKID | SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_EXCLUDE_HV,
		.wakeup = 1, /* byte: every record wakes */
		.clockid = CLOCK_MONOTONIC,
	};

	attr.size = features_attr_size(&attr);
	return attr;
}

static int follow_open(struct live *l)
{
	struct follow *f = &l->follow;
	struct seam_attr attr = follow_attr();
	int *cpus, n = kernel_cpus_online(&kernel_running, &cpus);

	if (n < 0)
		return n;
	f->rings = calloc((size_t)n, sizeof(*f->rings));
	f->fds = calloc((size_t)n, sizeof(*f->fds));
	for (int i = 0; f->rings && f->fds && i < n; i++) {
		int fd = kernel_running.open(kernel_running.ctx, &attr, -1, cpus[i], -1,
		                             KERNEL_FLAG_FD_CLOEXEC);
		int r = fd < 0 ? fd : ring_map(&f->rings[i], fd, cpus[i], FOLLOW_RING_PAGES);

		if (r < 0) {
			if (fd >= 0)
				close(fd);
			free(cpus);
			return r;
		}
		f->fds[i] = fd;
		f->n++;
	}
	free(cpus);
	return f->rings && f->fds ? 0 : -ENOMEM;
}

int follow_start(struct live *l, struct seam_error *err)
{
	struct seam_attr attr = follow_attr();
	int r = seam_events_new(&l->follow.events);

	if (r >= 0)
		r = seam_events_add(l->follow.events, &attr, "dummy", NULL, 0, err);
	if (r >= 0)
		r = follow_open(l);
	l->follow.wake = eventfd(0, EFD_CLOEXEC);
	if (r >= 0 && l->follow.wake < 0)
		r = -errno;
	if (r >= 0)
		r = -pthread_create(&l->follow.thread, NULL, follow_run, l);
	if (r < 0)
		return seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL,
		                      "mappings cannot be followed: %s", strerror(-r));
	l->follow.running = true;
	return 0;
}

void follow_stop(struct live *l)
{
	struct follow *f = &l->follow;
	uint64_t one = 1;

	if (f->running && write(f->wake, &one, sizeof(one)) == sizeof(one))
		pthread_join(f->thread, NULL);
	for (size_t i = 0; i < f->n; i++) {
		ring_unmap(&f->rings[i]);
		close(f->fds[i]);
	}
	if (f->wake >= 0)
		close(f->wake);
	free(f->rings);
	free(f->fds);
	seam_events_free(f->events);
}

/* ---- targets ---- */

static int follow_process_of(pid_t tid)
{
	struct buf text = { 0 };
	char path[32];
	const char *at;
	int pid = -ESRCH;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (procfs_read(AT_FDCWD, path, &text) >= 0) {
		at = strstr(buf_text(&text), "\nTgid:");
		if (at)
			pid = atoi(at + 6);
	}
	buf_free(&text);
	return pid;
}

int live_target(struct live *l, pid_t pid)
{
	int process = follow_process_of(pid), r;
	uint32_t key = (uint32_t)pid, one = 1;

	if (process <= 0)
		return -ESRCH;
	pthread_mutex_lock(&l->lock);
	r = map_put(&l->followed, (uint64_t)process, 1);
	if (r >= 0 && l->opts.filter != LIVE_EVERYTHING &&
	    bpf_map_update_elem(l->targets, &key, &one, BPF_ANY) < 0)
		r = -errno;
	if (r >= 0)
		r = follow_read(l, (uint32_t)process);
	pthread_mutex_unlock(&l->lock);
	return r == -ENOENT ? -ESRCH : r;
}

int live_target_all(struct live *l)
{
	struct buf pids = { 0 };
	int r = procfs_numbers(AT_FDCWD, "/proc", &pids);

	for (size_t i = 0; r >= 0 && i + sizeof(pid_t) <= pids.n; i += sizeof(pid_t)) {
		pid_t pid;

		memcpy(&pid, pids.bytes + i, sizeof(pid));
		pthread_mutex_lock(&l->lock);
		follow_read(l, (uint32_t)pid);
		pthread_mutex_unlock(&l->lock);
	}
	buf_free(&pids);
	return r;
}

bool live_is_followed(struct live *l, uint32_t pid)
{
	bool is;

	if (l->opts.filter == LIVE_EVERYTHING)
		return true;
	pthread_mutex_lock(&l->lock);
	is = map_get(&l->followed, pid, NULL);
	pthread_mutex_unlock(&l->lock);
	return is;
}

bool live_targets_gone(struct live *l)
{
	uint32_t key;

	if (l->opts.filter == LIVE_EVERYTHING)
		return false;
	return bpf_map_get_next_key(l->targets, NULL, &key) < 0;
}
