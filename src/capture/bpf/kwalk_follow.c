// SPDX-License-Identifier: MIT
/*
 * kwalk_follow.c: keeps the address spaces as the kernel says they change: a thread of its own that
 * reads a dummy event per CPU. The programs wake it at an exec and when a walk met what is not
 * known, so that a table is there a moment later, however busy the writing of the file is. The
 * records do not: the kernel gives such an event each thread's begin and end, too, and waking
 * somebody for those costs more than the thread. Records that were lost are made good from /proc.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "abi/record_at.h"
#include "base/thread.h"
#include "capture/bpf/kwalk_parts.h"
#include "capture/pace.h"
#include "capture/ioctl.h"
#include "capture/kernel.h"
#include "capture/ring.h"

#define FOLLOW_RING_PAGES 128
#define FOLLOW_LARGEST 4352 /* bytes: an MMAP2 with a path of PATH_MAX */
#define FOLLOW_NEWS 4096    /* bytes, as in maps.bpf.h */
#define FOLLOW_DUMMY 9      /* PERF_COUNT_SW_DUMMY */
#define SWEEP_NS 1000000000ull
#define SWEEPS_ASKED 5        /* the kernel is asked in every fifth sweep */
#define GONE_NS 5000000000ull /* after its leader's end: other threads may run on */

/* ---- order ---- */

#define FOLLOW_LEAST 24u /* a header and the sample_id */

struct follow_entry {
	uint64_t time_ns;
	size_t at; /* in records */
};

/* Notes an EXIT of a process: what it had mapped before needs no look at /proc any more. */
static void follow_note_end(struct follow *f, const struct seam_record *r, uint64_t time_ns)
{
	struct {
		uint32_t pid, ppid, tid;
	} exit;

	if (r->type != SEAM_RECORD_EXIT || r->size < FOLLOW_LEAST + sizeof(exit))
		return;
	memcpy(&exit, r->bytes + 8, sizeof(exit));
	/* Without memory it is looked for in vain. */
	if (exit.pid == exit.tid)
		map_put(&f->ended, exit.pid, time_ns);
}

/* A child's exec may be read from its CPU's ring before its FORK is read from the parent's. So all
 * records wait until every older record has been read, and are then applied in order of time. Each
 * record ends with its time (sample_id of TID and TIME). */
static int follow_records(void *ctx, const void *bytes, size_t n)
{
	struct follow *f = &((struct kwalk *)ctx)->follow;
	const unsigned char *at = bytes;
	struct seam_record r;

	for (; record_at(at, n, &r) && r.size >= FOLLOW_LEAST; at += r.size, n -= r.size) {
		struct follow_entry e = { .at = f->records.n };

		memcpy(&e.time_ns, at + r.size - 8, 8);
		buf_put(&f->records, at, r.size);
		buf_put(&f->order, &e, sizeof(e));
		follow_note_end(f, &r, e.time_ns);
	}
	return 0;
}

static int follow_compare(const void *a, const void *b)
{
	const struct follow_entry *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Forgets the first n records in order of time. What is left is no more than what came within one
 * reading. */
static void follow_keep(struct follow *f, size_t n)
{
	const struct follow_entry *e = (const void *)f->order.bytes;
	struct buf records = { 0 }, order = { 0 };

	if (n == f->order.n / sizeof(*e)) {
		buf_clear(&f->records);
		buf_clear(&f->order);
		map_free(&f->ended);
		return;
	}
	for (size_t i = n; i < f->order.n / sizeof(*e); i++) {
		struct follow_entry kept = { e[i].time_ns, records.n };
		uint16_t size;

		memcpy(&size, f->records.bytes + e[i].at + 6, 2);
		buf_put(&records, f->records.bytes + e[i].at, size);
		buf_put(&order, &kept, sizeof(kept));
	}
	buf_free(&f->records);
	buf_free(&f->order);
	f->records = records;
	f->order = order;
}

/* Applies the records that are not younger than until_ns; after the end, none. Returns how many are
 * left. */
static size_t follow_apply(struct kwalk *l, uint64_t until_ns)
{
	struct follow *f = &l->follow;
	struct follow_entry *e = (void *)f->order.bytes;
	size_t n = f->order.n / sizeof(*e), i = 0;

	if (f->records.failed || f->order.failed) { /* without memory: as if they were lost */
		f->records.failed = f->order.failed = false;
		f->lost++;
		n = 0;
	}
	if (n)
		qsort(e, n, sizeof(*e), follow_compare);
	for (; i < n && e[i].time_ns <= until_ns && !kwalk_is_over(l); i++) {
		uint16_t size;

		memcpy(&size, f->records.bytes + e[i].at + 6, 2);
		learn_record(l, f->records.bytes + e[i].at, size);
	}
	/* Nothing is learnt after the end, but the thread goes on until it is told: what comes then
	 * must not be kept, or each round would sort and copy ever more. */
	if (kwalk_is_over(l))
		i = n;
	follow_keep(f, i);
	return n - i;
}

static bool follow_is_gone(uint32_t pid)
{
	return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* Whether the programs still know a process that exited. They forget it when its task is freed;
 * where its mappings were published later than that, it is forgotten here. */
static bool follow_is_known(struct kwalk *l, uint32_t pid)
{
	struct kwalk_process p;

	if (bpf_map_lookup_elem(l->processes, &pid, &p) < 0)
		return false;
	if (!follow_is_gone(pid))
		return true;
	bpf_map_delete_elem(l->processes, &pid);
	bpf_map_delete_elem(l->changes, &pid);
	return false;
}

/* Frees the spaces of processes that ended a while ago. An EXIT may have been lost, or read before
 * the process was: so the kernel is asked about all others now and then. */
static void follow_sweep(struct kwalk *l)
{
	uint64_t walked_ns = __atomic_load_n(&l->spaces.walked_ns, __ATOMIC_RELAXED);
	uint64_t now_ns = kwalk_now_ns(), pid, value;
	size_t i = 0;
	bool ask;

	if (now_ns < l->spaces.swept_ns + SWEEP_NS)
		return;
	l->spaces.swept_ns = now_ns;
	ask = ++l->spaces.sweeps % SWEEPS_ASKED == 0;
	while (map_next(&l->spaces.by_pid, &i, &pid, &value)) {
		struct kwalk_space *s = (struct kwalk_space *)(uintptr_t)value;

		if (ask && !s->gone_ns && follow_is_gone((uint32_t)pid))
			s->gone_ns = now_ns;
		/* Nothing of its time is left to be walked, and the programs have let it go. */
		if (!s->gone_ns || s->gone_ns + GONE_NS > walked_ns ||
		    follow_is_known(l, (uint32_t)pid))
			continue;
		arena_give(&l->arena, s->published, s->published_size, now_ns);
		kwalk_space_free(s);
		map_del(&l->spaces.by_pid, pid);
	}
}

/* The kernel says that a record was lost only when it writes the next one, which may never come. So
 * if the largest record would not have had room, one may be lost. */
static bool follow_is_full(const struct ring *ring)
{
	return ring_pending(ring) + FOLLOW_LARGEST > ring->size;
}

/* Handles what the programs reported: code may have been unmapped. All records until now are
 * applied. */
static void follow_user_chain(struct kwalk *l)
{
	for (size_t i = 0; i < l->follow.n_told; i++)
		learn_missed(l, l->follow.told[i]);
	l->follow.n_told = 0;
}

/* Reads all rings once. Returns how many records are left, of those that came meanwhile. */
static size_t follow_round(struct kwalk *l)
{
	uint64_t lost = l->follow.lost, now_ns = kwalk_now_ns();
	bool full = false;
	size_t left;

	for (size_t i = 0; i < l->follow.n; i++) {
		full |= follow_is_full(&l->follow.rings[i]);
		ring_drain(&l->follow.rings[i], follow_records, l);
	}
	left = follow_apply(l, now_ns);
	if (full || l->follow.lost != lost) {
		l->follow.again++;
		learn_again(l);
	}
	if (kwalk_is_over(l)) /* what was learnt is for nobody any more */
		return 0;
	l->follow.seen_ns = now_ns;
	follow_user_chain(l);
	room_make(l);
	kwalk_publish(l);
	return left;
}

/* At most twice: a process that makes mappings faster than they are learnt must not keep this
 * thread here, so the rest waits for the next time. */
void follow_drain(struct kwalk *l)
{
	if (!lock_soon(l, &l->turn))
		return;
	pthread_mutex_lock(&l->lock);
	budget_turn(&l->budget, kwalk_now_ns());
	if (follow_round(l))
		follow_round(l);
	follow_sweep(l);
	pthread_mutex_unlock(&l->lock);
	pthread_mutex_unlock(&l->turn);
}

/*
 * Every sample between an exec or dlopen and our answer to it falls back to a copy of the stack: so
 * this thread comes before others where that is allowed. Its work is bounded by what the kernel
 * says of mappings. Measured on 2 busy CPUs, 4,000 Hz: samples that met an unknown mapping, gcc 2.9
 * % and 0.4 %, python3 by a shell wrapper 11 % and 2 % (those are inside execve, and have none).
 */
static void follow_hurry(void)
{
	const struct sched_param first = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) < 0)
		setpriority(PRIO_PROCESS, 0, -20); /* else it is as late as anybody */
}

/* A message of the programs is the number of a process. */
static int follow_news(void *ctx, const void *bytes, size_t n)
{
	struct kwalk *l = ctx;
	uint32_t pid;

	if (n != sizeof(pid))
		return 0;
	memcpy(&pid, bytes, sizeof(pid));
	pthread_mutex_lock(&l->lock);
	if (l->follow.n_told < FOLLOW_TOLD)
		l->follow.told[l->follow.n_told++] = pid;
	pthread_mutex_unlock(&l->lock);
	return 0;
}

/* Waits for news or a time. Where samples are rare, what is new waits for a while with what comes
 * after it, unless a ring is filling. */
static int follow_wait(const struct follow *f, const struct pace *p, struct pollfd *fds)
{
	const struct timespec most = { .tv_nsec = (long)p->wait_ns },
	                      soon = { .tv_nsec = (long)p->soon_ns };
	int r = ppoll(fds, f->n + 2, &most, NULL);

	if (r == 1 && fds[f->n + 1].revents && pace_gathers(p))
		r = ppoll(fds, f->n + 1, &soon, NULL);
	return r < 0 && errno != EINTR ? -errno : 0;
}

/* The thread: drains the kernel's records whenever a program wakes it, or after a while that grows
 * as long as nothing happens. It ends when f->wake is written. */
static void *follow_run(void *ctx)
{
	struct kwalk *l = ctx;
	struct follow *f = &l->follow;
	struct pollfd *fds = calloc(f->n + 2, sizeof(*fds));
	struct pace pace;

	if (!fds)
		return NULL;
	for (size_t i = 0; i < f->n; i++)
		fds[i] = (struct pollfd){ .fd = f->fds[i], .events = POLLIN };
	fds[f->n] = (struct pollfd){ .fd = f->wake, .events = POLLIN };
	fds[f->n + 1] = (struct pollfd){ .fd = f->news_fd, .events = POLLIN };
	/* Where the programs do not see that code was lost, only records say it. */
	pace_start(&pace, l->counts_losses ? l->opts.period_ns : 0);
	follow_hurry();
	while (!fds[f->n].revents) {
		if (follow_wait(f, &pace, fds) < 0)
			break;
		/* This ring is read before the records, so that records of what it reports later
		 * are read by then. */
		pace_next(&pace, ringbuf_drain(&f->news, follow_news, l) > 0);
		follow_drain(l);
	}
	free(fds);
	return NULL;
}

/* ---- start and stop ---- */

/*
 * Build-ids are asked for although inodes would do: the kernel leaves the bit that says so in the
 * header of a record when it goes from an event that wants them to one that does not (seen on
 * 6.18), so beside another recording the latter's are misread.
 */
static struct seam_attr follow_attr(const struct kwalk *l)
{
	struct seam_attr attr = {
		.type = SEAM_TYPE_SOFTWARE,
		.config = FOLLOW_DUMMY,
		.sample_type = SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME,
		.flags = SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_MMAP | SEAM_ATTR_MMAP2 |
		         SEAM_ATTR_COMM | SEAM_ATTR_COMM_EXEC | SEAM_ATTR_TASK |
		         SEAM_ATTR_WATERMARK | SEAM_ATTR_BUILD_ID | SEAM_ATTR_USE_CLOCKID |
		         SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_EXCLUDE_HV,
		.wakeup = FOLLOW_RING_PAGES * 4096 / 4, /* bytes: or else it is told */
		.clockid = CLOCK_MONOTONIC,
	};

	if (!l->counts_losses &&
	    !l->opts.fp) /* then nobody else says that a table is out of date */
		attr.wakeup = 1;
	attr.size = features_attr_size(&attr);
	return attr;
}

/* Opens a dummy event on each CPU, which gives only side-band records, and maps its ring.
 * -errno. */
static int follow_open(struct kwalk *l)
{
	struct follow *f = &l->follow;
	struct seam_attr attr = follow_attr(l);
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

/* The programs' own ring, by which they wake this thread. */
static int follow_open_news(struct kwalk *l)
{
	l->follow.news_fd = bpf_object__find_map_fd_by_name(l->object, "news");
	return ringbuf_map(&l->follow.news, l->follow.news_fd, FOLLOW_NEWS);
}

/* Begins to follow mappings; from here on the thread changes the spaces, under l->lock. -errno, and
 * err says what failed. */
int follow_start(struct kwalk *l, struct seam_error *err)
{
	struct seam_attr attr = follow_attr(l);
	int r = seam_events_new(&l->follow.events);

	if (r >= 0)
		r = seam_events_add(l->follow.events, &attr, "dummy", NULL, 0, err);
	if (r >= 0)
		r = follow_open(l);
	if (r >= 0)
		r = follow_open_news(l);
	l->follow.wake = eventfd(0, EFD_CLOEXEC);
	if (r >= 0 && l->follow.wake < 0)
		r = -errno;
	if (r >= 0)
		r = thread_start(&l->follow.thread, follow_run, l);
	if (r < 0)
		return seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL,
		                      "mappings cannot be followed: %s", strerror(-r));
	l->follow.running = true;
	return 0;
}

/* Ends the thread and closes its events. It may also be called if follow_start failed. */
void follow_stop(struct kwalk *l)
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
	ringbuf_unmap(&f->news);
	free(f->rings);
	free(f->fds);
	buf_free(&f->records);
	buf_free(&f->order);
	map_free(&f->ended);
	seam_events_free(f->events);
}
