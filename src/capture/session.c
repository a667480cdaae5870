// SPDX-License-Identifier: MIT
/*
 * session.c: opens and closes a recording, starts and stops it. See session.h for the events;
 * session_attr.c and session_open.c do the opening, session_read.c all that comes after.
 *
 * A stream is one event of the file: the same attr on many tasks and CPUs. Its descriptors form a
 * table, a row for each task (one row for a whole CPU) and a column for each CPU. The side-band
 * stream stands behind the user's events; behind it, if it is there, the one that receives deferred
 * records. The last stream owns the rings.
 *
 * Order of life: session_open (prepare, open, map, register, watch), session_start, session_wait
 * and session_read in turns, session_stop, session_settle, session_finish, session_close. One
 * thread does all of it; only session_wake may be called by others.
 */
#include "capture/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "capture/ioctl.h"
#include "capture/session_parts.h"

/* ---- open and close ---- */

/* "what: the errno in words". */
static int session_fail(struct seam_error *err, int code, const char *what)
{
	return seam_error_set(err, code, NULL, SEAM_NO_OFFSET, NULL, "%s: %s", what,
	                      strerror(code));
}

/* The user's list of CPUs must be online ones: an event on others fails with ENODEV, which would be
 * taken for a missing PMU. */
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

// The kernel took the bits. That says little on architectures without the unwinder.
static bool session_defers(struct session *s)
{
	bool asked = false;

	for (size_t i = 0; i < s->n_streams; i++)
		asked |= !!(s->streams[i].attr.flags & SEAM_ATTR_DEFER_CALLCHAIN);
	if (s->features->off[FEATURE_DEFER])
		s->mode.reason = MODE_NO_KERNEL;
	/* Not known is no "no": then the kernel's word is taken. */
	if (!asked || features_get(s->features, FEATURE_DEFERS)->state != FEATURE_NO)
		return asked;
	log_line(s->log, LOG_ATTRS,
	         "switching off deferred callchain support: a trial sample was not deferred");
	/* The bits go out of every attr, or the file would promise records that nobody writes. */
	s->features->off[FEATURE_DEFER] = true;
	for (size_t i = 0; i < s->n_streams; i++)
		features_strip(s->features, &s->streams[i].attr, NULL);
	s->mode.reason = MODE_NO_ARCH;
	return false;
}

/* Copies for all events whose callchain is the session's to choose, or for none. The kernel's yes
 * for the first of equal events is yes for all (session_stream.like). */
static bool session_copies(struct session *s)
{
	struct seam_attr attr;
	bool any = false;

	for (size_t i = 0; i < s->n_streams; i++) {
		attr = s->streams[i].attr;
		if (!s->streams[i].auto_chain)
			continue;
		if (!session_attr_copy(s, &attr) ||
		    (s->streams[i].like == i && !session_accepts(s, &s->streams[i], &attr)))
			return false;
		any = true;
	}
	/* Now that all were accepted: all or none are changed. */
	for (size_t i = 0; i < s->n_streams; i++)
		if (s->streams[i].auto_chain)
			session_attr_copy(s, &s->streams[i].attr);
	return any;
}

/* Whether functions of interpreters are missing, and by what they would be had. */
static enum mode_runtimes session_runtimes(const struct session *s)
{
	if (s->opts.no_runtimes || s->mode.stack == MODE_NONE ||
	    (session_has_source(s) && s->opts.source.runtimes))
		return MODE_RUNTIMES_NOT_SAID;
	return s->opts.callchain == SESSION_CALLCHAIN_AUTO ? MODE_RUNTIMES_NO_BPF
	                                                   : MODE_RUNTIMES_OTHER;
}

/*
 * After the trial: which user stacks there will be, and why. The fallback order of AUTO, best
 * first; a step that this kernel does not take leads to the next, and mode.reason says why.
 */
static void session_choose_mode(struct session *s)
{
	enum session_callchain asked = s->opts.callchain;
	uint64_t types = 0;

	s->mode.per_task = session_per_task(s);
	s->mode.defer_asked = asked == SESSION_CALLCHAIN_FP_DEFER;
	s->mode.reason = MODE_ASKED;
	s->mode.stack_size = s->opts.stack_size ? s->opts.stack_size : SESSION_STACK_SIZE_DEFAULT;
	s->mode.unwinds = s->opts.unwinds;
	/* With a source (BPF), the recorder has chosen already and says why. */
	if (session_has_source(s)) {
		s->mode.stack = s->opts.source.defers ? MODE_LIVE_DEFER : MODE_LIVE;
		s->mode.by_fp = s->opts.source.by_fp;
		s->mode.reason = s->opts.source.reason;
		return;
	}
	/* What was asked of the kernel and survived the trial is what there will be. */
	for (size_t i = 0; i < s->n_streams; i++)
		types |= s->streams[i].attr.sample_type;
	if (session_defers(s))
		s->mode.stack = MODE_FP_DEFER;
	else if (types & SEAM_SAMPLE_STACK_USER)
		s->mode.stack = MODE_STACK;
	else if (asked == SESSION_CALLCHAIN_AUTO && s->opts.unwinds && session_copies(s))
		s->mode.stack = MODE_STACK;
	else
		s->mode.stack = types & SEAM_SAMPLE_CALLCHAIN ? MODE_FP : MODE_NONE;
}

// What the file says of an event: with the callchains that its source adds.
static struct seam_attr session_file_attr(const struct session *s, const struct session_stream *st)
{
	struct seam_attr attr = st->attr;
	bool defers = session_has_source(s) && s->opts.source.defers;

	if (st->sourced)
		attr.sample_type |= SEAM_SAMPLE_CALLCHAIN;
	if (st->sourced && defers)
		attr.flags |= SEAM_ATTR_DEFER_CALLCHAIN;
	if (st->role == STREAM_SIDEBAND && defers)
		attr.flags |= SEAM_ATTR_DEFER_OUTPUT;
	return attr;
}

/* Enters each event, with its ids and the attr that the file is to say, into the set of events that
 * readers of the records need. */
static int session_register(struct session *s, struct seam_error *err)
{
	for (size_t i = 0; i < s->n_streams; i++) {
		struct session_stream *st = &s->streams[i];
		size_t n = stream_rows(s, st) * st->n_cpus, used = 0;
		uint64_t *ids = malloc(n * sizeof(*ids));
		struct seam_attr attr = session_file_attr(s, st);
		int r;

		if (!ids)
			return session_fail(err, ENOMEM, "events");
		/* Tasks that ended while the events were opened have no descriptor and no id. */
		for (size_t j = 0; j < n; j++)
			if (st->fds[j] >= 0)
				ids[used++] = st->ids[j];
		r = seam_events_add(s->events, &attr, st->name, ids, used, err);
		free(ids);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Tells the source of callchains (BPF) which events there are, and attaches it to those that it is
 * to sample. */
static int session_give(struct session *s, struct seam_error *err)
{
	const struct session_source *to = &s->opts.source;

	for (size_t i = 0; i < s->n_streams; i++) {
		struct session_stream *st = &s->streams[i];
		size_t n = stream_rows(s, st) * st->n_cpus;

		/* The source writes its deferred records as the side-band event's
		 * (session_file_attr). */
		if (st->role == STREAM_SIDEBAND)
			to->events(to->ctx, s->events, (uint32_t)i);
		/* An event that only the source has is nothing that a program could be attached
		 * to. */
		for (size_t j = 0; st->sourced && !st->from_source && j < n; j++) {
			int r = st->fds[j] < 0 ? 0 : to->attach(to->ctx, st->fds[j], st->ids[j]);

			if (r < 0)
				return session_fail(err, -r, "a BPF program cannot be attached");
		}
	}
	return 0;
}

/* Makes the one descriptor to wait on: it reports each ring, the source, and session_wake from
 * another thread. */
static int session_watch(struct session *s, struct seam_error *err)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = SESSION_WAKE_KEY };

	/* A ring's key in epoll is its number; the two others are above all numbers. */
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->epoll < 0 || s->wake < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->wake, &ev) < 0)
		return session_fail(err, errno, "epoll");
	if (session_has_source(s) && s->opts.source.fd >= 0) {
		ev.data.u64 = SESSION_SOURCE_KEY;
		if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->opts.source.fd, &ev) < 0)
			return session_fail(err, errno, "epoll");
	}
	for (size_t i = 0; i < s->n_rings; i++) {
		ev.data.u64 = i;
		if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->rings[i].fd, &ev) < 0)
			return session_fail(err, errno, "epoll");
	}
	return 0;
}

/* Decides everything before the first event stays open: CPUs, tasks, attrs by trial, the way of
 * taking user stacks, and the side-band events. */
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
	s->mode.runtimes = session_runtimes(s);
	/* Only a per-task recording has the choice: a system-wide side-band event is on every CPU
	 * anyway. */
	if (s->mode.stack == MODE_FP_DEFER && session_per_task(s)) {
		on_cpus = session_try_deferred(s);
		s->mode.deferred = on_cpus ? MODE_DEFERRED_CPU : MODE_DEFERRED_TASK;
	}
	return session_compose_sideband(s, on_cpus, err);
}

/* Opens all events, maps the rings and registers what was opened. On failure the caller closes the
 * session. */
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
	if (r >= 0 && session_has_source(s))
		r = session_give(s, err);
	return r < 0 ? r : session_watch(s, err);
}

/* Without events in opts, cycles are recorded. Lists in opts are used during this call only. */
int session_open(struct session **ret, const struct session_opts *opts, struct seam_error *err)
{
	struct event_list fallback = { 0 };
	const struct event_list *events = opts->events;
	struct session *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return session_fail(err, ENOMEM, "session");
	/* -1 is no descriptor: session_close closes what was opened, and 0 would be stdin. */
	s->epoll = s->wake = -1;
	/* A caller of an older version gives a shorter struct; the rest is 0. */
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

/* Ends the recording without another read; what is still in the rings is lost. NULL is fine. */
void session_close(struct session *s)
{
	if (!s)
		return;
	/* Rings first, then the descriptors from which they were mapped. */
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
	session_pending_free(s);
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

/* Whether samples come from the source at all. Where it took no event, the kernel's own stacks are
 * all. */
bool session_uses_source(const struct session *s)
{
	for (size_t i = 0; i < s->n_streams; i++)
		if (s->streams[i].sourced)
			return true;
	return false;
}

struct features *session_features(struct session *s)
{
	return s->features;
}

size_t session_rings(const struct session *s)
{
	return s->n_rings;
}

/* NULL: there is no such ring. The session owns it. */
const struct ring *session_ring(const struct session *s, size_t i)
{
	return i < s->n_rings ? &s->rings[i] : NULL;
}

/* ---- on and off ---- */

/* Every descriptor of a stream. An event of a group is switched by its leader's descriptor. */
static int session_stream_switch(struct session *s, struct session_stream *st,
                                 unsigned long request)
{
	size_t n = stream_rows(s, st) * st->n_cpus;

	for (size_t i = 0; i < n; i++)
		if (st->fds[i] >= 0 && ioctl(st->fds[i], request, 0) < 0)
			return -errno;
	return 0;
}

int session_switch(struct session *s, enum stream_role role, unsigned long request)
{
	for (size_t i = 0; i < s->n_streams; i++) {
		struct session_stream *st = &s->streams[i];
		int r;

		if (st->role != role || !st->own_leader)
			continue;
		r = session_stream_switch(s, st, request);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Tells a source that sampling begins or ends; 0 where it need not know. */
static int session_tell_source(struct session *s, bool on)
{
	const struct session_source *to = &s->opts.source;

	return to->sampling ? to->sampling(to->ctx, on) : 0;
}

/* Switches events on in the order of need: who receives deferred records first, then side-band,
 * then sampling. So no sample comes whose answer or whose mapping could not be told. */
int session_start(struct session *s)
{
	int r = session_switch(s, STREAM_DEFERRED, IOCTL_ENABLE);

	/* With enable_on_exec the kernel itself enables the side-band event of the task, at its
	 * exec. */
	if (r >= 0 && (!s->opts.enable_on_exec || session_has_source(s)))
		r = session_switch(s, STREAM_SIDEBAND, IOCTL_ENABLE);
	if (r < 0 || s->opts.start_paused)
		return r;
	if (!s->opts.enable_on_exec)
		return session_resume(s);
	// The source's are every CPU's: no exec enables them.
	r = session_tell_source(s, true);
	for (size_t i = 0; r >= 0 && i < s->n_streams; i++)
		if (s->streams[i].sourced && s->streams[i].own_leader)
			r = session_stream_switch(s, &s->streams[i], IOCTL_ENABLE);
	return r;
}

static int session_pause(struct session *s)
{
	int r = session_switch(s, STREAM_SAMPLING, IOCTL_DISABLE);

	return r < 0 ? r : session_tell_source(s, false);
}

int session_resume(struct session *s)
{
	int r = session_tell_source(s, true);

	return r < 0 ? r : session_switch(s, STREAM_SAMPLING, IOCTL_ENABLE);
}

/* Deferred records and side-band records go on: session_settle waits for them. */
int session_stop(struct session *s)
{
	return session_pause(s);
}
