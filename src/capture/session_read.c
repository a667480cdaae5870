// SPDX-License-Identifier: MIT
/*
 * session_read.c: waits for the rings, reads them in rounds, settles and finishes a recording, and
 * counts. What a round promises is in session.h.
 *
 * A round reads every ring once, up to what was written when its turn came, and ends with a
 * FINISHED_ROUND record.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "abi/encode.h"
#include "capture/ioctl.h"
#include "capture/session_parts.h"

#define SETTLE_SLICE_MS 20 // between two looks during the grace period

/* ---- waiting ---- */

// The event by which a ring was watched has hung up, because its task has ended. Others still write
// into the ring.
static void session_watch_next(struct session *s, size_t ring)
{
	struct session_stream *last = &s->streams[s->n_streams - 1];
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = ring };
	size_t rows = stream_rows(s, last);
	/* A ring has the number of its CPU's column: side-band is on all online CPUs in order. */
	int fd = last->fds[s->ring_row[ring] * last->n_cpus + ring];

	epoll_ctl(s->epoll, EPOLL_CTL_DEL, fd, NULL);
	while (++s->ring_row[ring] < rows) {
		fd = last->fds[s->ring_row[ring] * last->n_cpus + ring];
		if (fd >= 0 && epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev) == 0)
			return;
	}
	// All tasks have ended; session_target_gone tells it.
	s->ring_row[ring] = rows ? rows - 1 : 0;
}

/* A call of session_wake and the end of a task count as something, too, so that the caller
 * looks. */
int session_wait(struct session *s, int timeout_ms)
{
	struct epoll_event events[64];
	uint64_t count;
	int n, woken = 0;

	/* session_target_gone has taken a wake-up away: the rings may hold something. */
	if (s->missed) {
		s->missed = false;
		return 1;
	}
	n = epoll_wait(s->epoll, events, 64, timeout_ms);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		if (events[i].data.u64 == SESSION_WAKE_KEY) {
			if (read(s->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
				return -errno;
			continue;
		}
		if (events[i].data.u64 == SESSION_SOURCE_KEY) {
			woken++;
			continue;
		}
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			session_watch_next(s, (size_t)events[i].data.u64);
		woken += !!(events[i].events & EPOLLIN);
	}
	s->wakeups += !!woken;
	return n > 0;
}

int session_within_ms(const struct session *s)
{
	const struct session_source *source = &s->opts.source;

	return session_has_source(s) && source->within_ms ? source->within_ms(source->ctx)
	                                                  : INT_MAX;
}

/* May be called by a signal handler: errno stays as it was. */
void session_wake(struct session *s)
{
	uint64_t one = 1;
	int saved = errno;

	if (write(s->wake, &one, sizeof(one)) < 0)
		errno = saved; // the counter is full: it is awake already
	errno = saved;
}

/* Asks the side-band events, as every task has one and children inherit them. */
bool session_target_gone(struct session *s)
{
	struct session_stream *st = s->streams;

	if (!session_sideband_per_task(s))
		return false;
	while (st->role != STREAM_SIDEBAND)
		st++;
	for (size_t row = 0; row < s->n_tasks; row++) {
		/* One CPU's event is enough: the events of a task hang up together. */
		struct pollfd p = { .fd = st->fds[row * st->n_cpus], .events = POLLIN };

		if (p.fd < 0)
			continue;
		if (poll(&p, 1, 0) < 0)
			return false;
		// Asking takes the ring's wake-up away, so it is remembered.
		s->missed |= !!(p.revents & POLLIN);
		if (!(p.revents & (POLLHUP | POLLERR)))
			return false;
	}
	return true;
}

/* ---- reading ---- */

// {u32 type, u16 misc, u16 size}, native byte order: bytes given, or what write returned.
static int64_t session_end_round(struct session *s, int64_t sum, capture_write write, void *ctx)
{
	static const struct {
		uint32_t type;
		uint16_t misc, size;
	} round = { SEAM_RECORD_FINISHED_ROUND, 0, 8 };
	int r;

	/* An empty round is not written: it would say nothing. */
	if (sum <= 0)
		return sum;
	s->rounds++;
	if (s->opts.no_rounds)
		return sum;
	r = write(ctx, &round, sizeof(round));
	return r < 0 ? r : sum + (int64_t)sizeof(round);
}

/* A source's records come after those of the rings, in the same round. */
int64_t session_read(struct session *s, capture_write write, void *ctx)
{
	struct pending_tap tap = { .s = s, .write = write, .ctx = ctx };
	bool owes = session_owes(s);
	int64_t sum = 0;

	session_pending_round(s);
	for (size_t i = 0; i < s->n_rings; i++) {
		int64_t n = owes ? ring_drain_until(&s->rings[i], &s->end_ns, session_pending_write,
		                                    &tap)
		                 : ring_drain_until(&s->rings[i], &s->end_ns, write, ctx);

		if (n < 0)
			return n;
		sum += n;
	}
	if (session_has_source(s)) {
		int64_t n = s->opts.source.read(s->opts.source.ctx, write, ctx);

		if (n < 0)
			return n;
		sum += n;
	}
	return session_end_round(s, sum, write, ctx);
}

/* CLOCK_MONOTONIC; the grace period is not of the records' clock. */
static int64_t session_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void session_end_by(struct session *s, uint64_t end_ns)
{
	__atomic_store_n(&s->end_ns, end_ns, __ATOMIC_RELAXED);
	if (session_has_source(s) && s->opts.source.end_by)
		s->opts.source.end_by(s->opts.source.ctx, end_ns);
}

/* UINT32_MAX is no grace, 0 the default, as for the kernel's own deferral. */
static int64_t session_settle_source(struct session *s, uint32_t grace_ms, capture_write write,
                                     void *ctx)
{
	if (grace_ms == UINT32_MAX)
		grace_ms = 0;
	else if (!grace_ms)
		grace_ms = SESSION_GRACE_MS_DEFAULT;
	return s->opts.source.settle(s->opts.source.ctx, grace_ms, write, ctx);
}

/* Sampling is off already; deferred records and side-band records still come. */
int64_t session_settle(struct session *s, uint32_t grace_ms, capture_write write, void *ctx)
{
	int64_t end = session_now_ms(), sum = 0;

	if (session_has_source(s))
		return session_settle_source(s, grace_ms, write, ctx);
	if (!session_owes(s))
		return 0;
	if (grace_ms != UINT32_MAX)
		end += grace_ms ? grace_ms : SESSION_GRACE_MS_DEFAULT;
	if (s->end_ns && end > (int64_t)(s->end_ns / 1000000))
		end = (int64_t)(s->end_ns / 1000000);
	/* Each turn reads all rings and sleeps 20 ms or until something comes. */
	for (bool first = true;; first = false) {
		// Asked before the rings are read, so that what a task wrote before it ended is
		// still read.
		bool gone = session_target_gone(s);
		int64_t n = session_read(s, write, ctx);
		int64_t left = end - session_now_ms();

		if (n < 0)
			return n;
		sum += n;
		// First the tasks that sleep already, which may be for ever. At the end those that
		// have gone to sleep since.
		if (!gone && (first || left <= 0))
			session_pending_read(s);
		if (gone || left <= 0 || session_pending_all_held(s))
			return sum;
		n = session_wait(s, left < SETTLE_SLICE_MS ? (int)left : SETTLE_SLICE_MS);
		if (n < 0 && n != -EINTR)
			return n;
	}
}

// The kernel's own count of what did not fit. Grouped reads list every member: ours is found by id.
static int session_stream_read_lost(struct session_stream *st, size_t i, uint64_t *lost)
{
	/* A group of 64 at most, 3 words each, behind the number of members. */
	uint64_t words[1 + 3 * 64];
	bool group = st->attr.read_format & SEAM_FORMAT_GROUP;
	ssize_t n = read(st->fds[i], words, sizeof(words));
	size_t left = n < 0 ? 0 : (size_t)n / 8;
	const uint64_t *at = words;

	if (n < 0)
		return -errno;
	/* A group's read begins with the number of its members. */
	if (group && left) {
		at++;
		left--;
	}
	// {value, id, lost} each
	for (; left >= 3; at += 3, left -= 3) {
		if (at[1] != st->ids[i])
			continue;
		*lost += at[2];
		return 0;
	}
	return -ENODATA;
}

/* A count that is not known for one descriptor is not known for the event. */
static void session_read_lost(struct session *s)
{
	for (size_t i = 0; i < s->n_streams; i++) {
		struct session_stream *st = &s->streams[i];
		size_t n = stream_rows(s, st) * st->n_cpus;

		if (!(st->attr.read_format & SEAM_FORMAT_LOST))
			continue;
		st->lost = 0;
		st->lost_known = true;
		for (size_t j = 0; j < n; j++)
			if (st->fds[j] >= 0 && session_stream_read_lost(st, j, &st->lost) < 0)
				st->lost_known = false;
	}
}

// Reports the samples that session_end_by left in the rings by a record such as the kernel writes
// for those that it lost.
static int64_t session_tell_cut(struct session *s, capture_write write, void *ctx)
{
	const struct seam_event *event = seam_events_at(s->events, 0);
	struct seam_id id = { 0 };
	struct seam_lost lost = { 0 };
	struct buf out = { 0 };
	int64_t r;

	for (size_t i = 0; i < s->n_rings; i++)
		lost.lost += s->rings[i].counts.cut_samples;
	if (!lost.lost)
		return 0;
	/* Cut samples are not counted by event: the first one stands for all. */
	id.id = id.stream_id = event->n_ids ? event->ids[0] : 0;
	r = s->opts.no_sample_time ? 0 : session_clock(s, &id.time_ns);
	if (r < 0)
		return 0; // counted all the same
	r = encode_lost(&out, &event->attr, SEAM_RECORD_LOST_SAMPLES, SEAM_MISC_LOST_BESIDE, &lost,
	                &id);
	if (r >= 0)
		r = write(ctx, out.bytes, out.n);
	if (r >= 0)
		r = (int64_t)out.n;
	buf_free(&out);
	return r;
}

/* Bytes given, or -errno, or what write returned. After it only counts may be asked for. */
int64_t session_finish(struct session *s, capture_write write, void *ctx)
{
	/* Sampling first, so that the last samples still find their side-band records. */
	int r = session_switch(s, STREAM_SAMPLING, IOCTL_DISABLE);
	int64_t sum, n;

	if (r >= 0)
		r = session_switch(s, STREAM_SIDEBAND, IOCTL_DISABLE);
	if (r >= 0)
		r = session_switch(s, STREAM_DEFERRED, IOCTL_DISABLE);
	session_read_lost(s);
	if (r < 0)
		return r;
	/* The last look: what was written until the events were off. */
	sum = session_read(s, write, ctx);
	n = sum < 0 ? sum : session_tell_cut(s, write, ctx);
	if (n < 0)
		return n;
	sum += n;
	if (!session_owes(s))
		return sum;
	/* Behind all that the kernel wrote, so that a task's own record has been seen if there is
	 * one. */
	n = session_pending_give(s, write, ctx);
	n = session_end_round(s, n, write, ctx);
	return n < 0 ? n : sum + n;
}

/* ---- counts ---- */

static void session_counts_add(struct ring_counts *to, const struct ring_counts *c)
{
	to->bytes += c->bytes;
	to->records += c->records;
	to->samples += c->samples;
	to->deferred += c->deferred;
	to->lost += c->lost;
	to->lost_samples += c->lost_samples;
	to->drains += c->drains;
	to->wrapped += c->wrapped;
	to->bad_bytes += c->bad_bytes;
	to->cut += c->cut;
	to->cut_samples += c->cut_samples;
	if (c->peak_bytes > to->peak_bytes)
		to->peak_bytes = c->peak_bytes;
}

/* *ret->sz says how much the caller knows of. -EINVAL: more than there is. */
int session_counts(const struct session *s, struct session_counts *ret)
{
	struct session_counts c = { .sz = ret->sz,
		                    .rounds = s->rounds,
		                    .wakeups = s->wakeups,
		                    .n_rings = s->n_rings,
		                    .n_events = s->n_streams,
		                    .n_tasks = s->n_tasks,
		                    .tasks_gone = s->tasks_gone,
		                    .ring_pages = s->ring_pages,
		                    .asleep = s->pending.read,
		                    .asleep_late = s->pending.late,
		                    .owing = s->pending.owing,
		                    .owing_why = s->pending.why,
		                    .lost_kernel_known = s->n_streams > 0 };

	for (size_t i = 0; i < s->n_rings; i++)
		session_counts_add(&c.total, &s->rings[i].counts);
	for (size_t i = 0; i < s->n_streams; i++) {
		struct session_stream *st = &s->streams[i];

		c.lost_kernel += st->lost;
		c.lost_kernel_known &= st->lost_known;
		if (st->attr.flags & SEAM_ATTR_DEFER_OUTPUT)
			c.lost_deferred += st->lost;
		for (size_t j = 0; j < stream_rows(s, st) * st->n_cpus; j++)
			c.n_fds += st->fds[j] >= 0;
	}
	/* Before anything is written: a caller that knows more of the struct than this library is
	 * refused. */
	if (ret->sz > sizeof(c))
		return -EINVAL;
	memcpy(ret, &c, ret->sz);
	return 0;
}
