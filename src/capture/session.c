// SPDX-License-Identifier: MIT
// session.c: the life of a recording: open, start, rounds, stop, grace, finish. See session.h for the
// events and what a round promises; session_attr.c and session_open.c do the opening.
#include "capture/session.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "capture/ioctl.h"
#include "capture/session_parts.h"

#define WAKE_KEY UINT64_MAX // the eventfd among the rings' numbers
#define SETTLE_SLICE_MS 20  // between two looks during the grace period

/* ---- open and close ---- */

static int session_fail(struct seam_error *err, int code, const char *what)
{
	return seam_error_set(err, code, NULL, SEAM_NO_OFFSET, NULL, "%s: %s", what,
	                      strerror(code));
}

static int session_check_cpus(struct session *s, struct seam_error *err)
{
	for (size_t i = 0; s->opts.cpus && i < s->opts.n_cpus; i++) {
		size_t j = 0;

		while (j < s->n_online && s->online[j] != s->opts.cpus[i])
			j++;
		if (j == s->n_online)
			return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
			                      "CPU %d is not online", s->opts.cpus[i]);
	}
	if (s->opts.cpus && !s->opts.n_cpus)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL, "no CPUs are given");
	return 0;
}

// After the trial: what kind of user stacks there will be, and why.
static void session_choose_mode(struct session *s)
{
	bool chains = false, defers = false;

	s->mode.per_task = session_per_task(s);
	s->mode.defer_asked = s->opts.callchain == SESSION_CALLCHAIN_FP_DEFER;
	s->mode.reason = MODE_ASKED;
	for (size_t i = 0; i < s->n_streams; i++) {
		chains |= !!(s->streams[i].attr.sample_type & SEAM_SAMPLE_CALLCHAIN);
		defers |= !!(s->streams[i].attr.flags & SEAM_ATTR_DEFER_CALLCHAIN);
	}
	s->mode.stack = !chains ? MODE_NONE : MODE_FP;
	if (s->features->off[FEATURE_DEFER])
		s->mode.reason = MODE_NO_KERNEL;
	if (!defers)
		return;
	// The bits were accepted. That says little on architectures without the unwinder.
	if (features_get(s->features, FEATURE_DEFERS)->state == FEATURE_NO) {
		log_line(s->log, LOG_ATTRS,
		         "switching off deferred callchain support: a trial "
		         "sample was not deferred");
		s->features->off[FEATURE_DEFER] = true;
		for (size_t i = 0; i < s->n_streams; i++)
			features_strip(s->features, &s->streams[i].attr, NULL);
		s->mode.reason = MODE_NO_ARCH;
		return;
	}
	s->mode.stack = MODE_FP_DEFER;
}

static int session_register(struct session *s, struct seam_error *err)
{
	for (size_t i = 0; i < s->n_streams; i++) {
		struct stream *st = &s->streams[i];
		size_t n = stream_rows(s, st) * st->n_cpus, used = 0;
		uint64_t *ids = malloc(n * sizeof(*ids));
		int r;

		if (!ids)
			return session_fail(err, ENOMEM, "events");
		for (size_t j = 0; j < n; j++)
			if (st->fds[j] >= 0)
				ids[used++] = st->ids[j];
		r = seam_events_add(s->events, &st->attr, st->name, ids, used, err);
		free(ids);
		if (r < 0)
			return r;
	}
	return 0;
}

static int session_watch(struct session *s, struct seam_error *err)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = WAKE_KEY };

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->epoll < 0 || s->wake < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->wake, &ev) < 0)
		return session_fail(err, errno, "epoll");
	for (size_t i = 0; i < s->n_rings; i++) {
		ev.data.u64 = i;
		if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->rings[i].fd, &ev) < 0)
			return session_fail(err, errno, "epoll");
	}
	return 0;
}

static int session_prepare(struct session *s, const struct event_list *events,
                           struct seam_error *err)
{
	bool on_cpus = false;
	int r = kernel_cpus_online(&s->features->kernel, &s->online);

	if (r < 0)
		return session_fail(err, -r, "the CPUs that are online cannot be found");
	s->n_online = (size_t)r;
	r = session_check_cpus(s, err);
	if (r >= 0)
		r = session_find_tasks(s, err);
	if (r >= 0)
		r = session_compose(s, events, err);
	if (r >= 0)
		r = session_try(s, err);
	if (r < 0)
		return r;
	session_choose_mode(s);
	if (s->mode.stack == MODE_FP_DEFER && session_per_task(s)) {
		on_cpus = session_try_answers(s);
		s->mode.answers = on_cpus ? MODE_ANSWERS_CPU : MODE_ANSWERS_TASK;
	}
	return session_compose_sideband(s, on_cpus, err);
}

static int session_build(struct session *s, const struct event_list *events, struct seam_error *err)
{
	int r = session_prepare(s, events, err);

	if (r >= 0) {
		s->rings = calloc(s->n_online, sizeof(*s->rings));
		s->ring_row = calloc(s->n_online, sizeof(*s->ring_row));
		if (!s->rings || !s->ring_row)
			r = session_fail(err, ENOMEM, "rings");
	}
	if (r >= 0)
		r = session_open_all(s, err);
	if (r >= 0)
		r = session_map(s, err);
	if (r >= 0)
		r = seam_events_new(&s->events);
	if (r >= 0)
		r = session_register(s, err);
	return r < 0 ? r : session_watch(s, err);
}

int session_open(struct session **ret, const struct session_opts *opts, struct seam_error *err)
{
	struct event_list fallback = { 0 };
	const struct event_list *events = opts->events;
	struct session *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return session_fail(err, ENOMEM, "session");
	s->epoll = s->wake = -1;
	memcpy(&s->opts, opts, opts->sz && opts->sz < sizeof(*opts) ? opts->sz : sizeof(*opts));
	s->features = s->opts.features;
	if (!s->features) {
		features_init(&s->own_features, NULL);
		s->features = &s->own_features;
	}
	s->log = &s->opts.log;
	if (!events || !events->n) {
		r = event_list_default(&fallback, err);
		events = &fallback;
	}
	if (r >= 0)
		r = session_build(s, events, err);
	event_list_free(&fallback);
	// Borrowed for the time of this call only.
	s->opts.events = NULL;
	s->opts.pids = NULL;
	s->opts.cpus = NULL;
	if (r < 0) {
		session_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	while (s->n_rings)
		ring_unmap(&s->rings[--s->n_rings]);
	session_close_fds(s);
	if (s->epoll >= 0)
		close(s->epoll);
	if (s->wake >= 0)
		close(s->wake);
	for (size_t i = 0; i < s->n_streams; i++) {
		free(s->streams[i].name);
		free(s->streams[i].cpus);
		free(s->streams[i].fds);
		free(s->streams[i].ids);
	}
	seam_events_free(s->events);
	free(s->streams);
	free(s->rings);
	free(s->ring_row);
	free(s->online);
	free(s->tasks);
	free(s);
}

const struct seam_events *session_events(const struct session *s)
{
	return s->events;
}

const struct mode *session_mode(const struct session *s)
{
	return &s->mode;
}

struct features *session_features(struct session *s)
{
	return s->features;
}

size_t session_rings(const struct session *s)
{
	return s->n_rings;
}

const struct ring *session_ring(const struct session *s, size_t i)
{
	return i < s->n_rings ? &s->rings[i] : NULL;
}

/* ---- on and off ---- */

static int stream_switch(struct session *s, struct stream *st, unsigned long request)
{
	size_t n = stream_rows(s, st) * st->n_cpus;

	for (size_t i = 0; i < n; i++)
		if (st->fds[i] >= 0 && ioctl(st->fds[i], request, 0) < 0)
			return -errno;
	return 0;
}

static int session_switch(struct session *s, enum stream_role role, unsigned long request)
{
	for (size_t i = 0; i < s->n_streams; i++) {
		struct stream *st = &s->streams[i];
		int r;

		if (st->role != role || !st->own_leader)
			continue;
		r = stream_switch(s, st, request);
		if (r < 0)
			return r;
	}
	return 0;
}

int session_start(struct session *s)
{
	int r = session_switch(s, STREAM_ANSWERS, IOCTL_ENABLE);

	if (r >= 0 && !s->opts.enable_on_exec)
		r = session_switch(s, STREAM_SIDEBAND, IOCTL_ENABLE);
	if (r >= 0 && !s->opts.enable_on_exec && !s->opts.start_paused)
		r = session_switch(s, STREAM_SAMPLING, IOCTL_ENABLE);
	return r;
}

int session_pause(struct session *s)
{
	return session_switch(s, STREAM_SAMPLING, IOCTL_DISABLE);
}

int session_resume(struct session *s)
{
	return session_switch(s, STREAM_SAMPLING, IOCTL_ENABLE);
}

int session_stop(struct session *s)
{
	return session_pause(s);
}

/* ---- waiting ---- */

int session_fd(const struct session *s)
{
	return s->epoll;
}

// The event that was watched for a ring has hung up: its task is gone. Others write there still.
static void session_watch_next(struct session *s, size_t ring)
{
	struct stream *last = &s->streams[s->n_streams - 1];
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = ring };
	size_t rows = stream_rows(s, last);
	int fd = last->fds[s->ring_row[ring] * last->n_cpus + ring];

	epoll_ctl(s->epoll, EPOLL_CTL_DEL, fd, NULL);
	while (++s->ring_row[ring] < rows) {
		fd = last->fds[s->ring_row[ring] * last->n_cpus + ring];
		if (fd >= 0 && epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev) == 0)
			return;
	}
	// All are gone; whoever waits is told by session_target_gone.
	s->ring_row[ring] = rows ? rows - 1 : 0;
}

int session_wait(struct session *s, int timeout_ms)
{
	struct epoll_event events[64];
	uint64_t count;
	int n, woken = 0;

	if (s->missed) {
		s->missed = false;
		return 1;
	}
	n = epoll_wait(s->epoll, events, 64, timeout_ms);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		if (events[i].data.u64 == WAKE_KEY) {
			if (read(s->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
				return -errno;
			continue;
		}
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			session_watch_next(s, (size_t)events[i].data.u64);
		woken += !!(events[i].events & EPOLLIN);
	}
	s->wakeups += !!woken;
	return n > 0;
}

void session_wake(struct session *s)
{
	uint64_t one = 1;
	int saved = errno;

	if (write(s->wake, &one, sizeof(one)) < 0)
		errno = saved; // the counter is full: it is awake already
	errno = saved;
}

bool session_target_gone(struct session *s)
{
	struct stream *st = s->streams;

	if (!session_per_task(s))
		return false;
	while (st->role != STREAM_SIDEBAND)
		st++;
	for (size_t row = 0; row < s->n_tasks; row++) {
		struct pollfd p = { .fd = st->fds[row * st->n_cpus], .events = POLLIN };

		if (p.fd < 0)
			continue;
		if (poll(&p, 1, 0) < 0)
			return false;
		// Asking takes the ring's wake-up away; remember it.
		s->missed |= !!(p.revents & POLLIN);
		if (!(p.revents & (POLLHUP | POLLERR)))
			return false;
	}
	return true;
}

/* ---- reading ---- */

int64_t session_read(struct session *s, capture_write write, void *ctx)
{
	// {u32 type, u16 misc, u16 size}, native byte order
	static const struct {
		uint32_t type;
		uint16_t misc, size;
	} round = { SEAM_RECORD_FINISHED_ROUND, 0, 8 };
	int64_t sum = 0;
	int r;

	for (size_t i = 0; i < s->n_rings; i++) {
		int64_t n = ring_drain(&s->rings[i], write, ctx);

		if (n < 0)
			return n;
		sum += n;
	}
	if (!sum)
		return 0;
	s->rounds++;
	if (s->opts.no_rounds)
		return sum;
	r = write(ctx, &round, sizeof(round));
	return r < 0 ? r : sum + (int64_t)sizeof(round);
}

static int64_t session_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t session_settle(struct session *s, uint32_t grace_ms, capture_write write, void *ctx)
{
	int64_t end = session_now_ms() + (grace_ms ? grace_ms : SESSION_GRACE_MS_DEFAULT);
	int64_t sum = 0;

	if (s->mode.stack != MODE_FP_DEFER || grace_ms == UINT32_MAX)
		return 0;
	for (;;) {
		// Asked before the read: what a task wrote before it was gone is then read.
		bool gone = session_target_gone(s);
		int64_t n = session_read(s, write, ctx);
		int64_t left = end - session_now_ms();

		if (n < 0)
			return n;
		sum += n;
		if (gone || left <= 0)
			return sum;
		n = session_wait(s, left < SETTLE_SLICE_MS ? (int)left : SETTLE_SLICE_MS);
		if (n < 0 && n != -EINTR)
			return n;
	}
}

// The kernel's own count of what did not fit. Grouped reads list every member: ours is found by id.
static int stream_read_lost(struct stream *st, size_t i, uint64_t *lost)
{
	uint64_t words[1 + 3 * 64];
	bool group = st->attr.read_format & SEAM_FORMAT_GROUP;
	ssize_t n = read(st->fds[i], words, sizeof(words));
	size_t left = n < 0 ? 0 : (size_t)n / 8;
	const uint64_t *at = words;

	if (n < 0)
		return -errno;
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

static void session_read_lost(struct session *s)
{
	for (size_t i = 0; i < s->n_streams; i++) {
		struct stream *st = &s->streams[i];
		size_t n = stream_rows(s, st) * st->n_cpus;

		if (!(st->attr.read_format & SEAM_FORMAT_LOST))
			continue;
		st->lost = 0;
		st->lost_known = true;
		for (size_t j = 0; j < n; j++)
			if (st->fds[j] >= 0 && stream_read_lost(st, j, &st->lost) < 0)
				st->lost_known = false;
	}
}

int64_t session_finish(struct session *s, capture_write write, void *ctx)
{
	int r = session_switch(s, STREAM_SAMPLING, IOCTL_DISABLE);

	if (r >= 0)
		r = session_switch(s, STREAM_SIDEBAND, IOCTL_DISABLE);
	if (r >= 0)
		r = session_switch(s, STREAM_ANSWERS, IOCTL_DISABLE);
	session_read_lost(s);
	return r < 0 ? r : session_read(s, write, ctx);
}

/* ---- counts ---- */

int session_event_lost(const struct session *s, size_t index, uint64_t *ret)
{
	if (index >= s->n_streams || !s->streams[index].lost_known)
		return -EOPNOTSUPP;
	*ret = s->streams[index].lost;
	return 0;
}

static void counts_add(struct ring_counts *to, const struct ring_counts *c)
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
	if (c->peak_bytes > to->peak_bytes)
		to->peak_bytes = c->peak_bytes;
}

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
		                    .lost_kernel_known = s->n_streams > 0 };

	for (size_t i = 0; i < s->n_rings; i++)
		counts_add(&c.total, &s->rings[i].counts);
	for (size_t i = 0; i < s->n_streams; i++) {
		struct stream *st = &s->streams[i];

		c.lost_kernel += st->lost;
		c.lost_kernel_known &= st->lost_known;
		if (st->attr.flags & SEAM_ATTR_DEFER_OUTPUT)
			c.lost_answers += st->lost;
		for (size_t j = 0; j < stream_rows(s, st) * st->n_cpus; j++)
			c.n_fds += st->fds[j] >= 0;
	}
	if (ret->sz > sizeof(c))
		return -EINVAL;
	memcpy(ret, &c, ret->sz);
	return 0;
}
