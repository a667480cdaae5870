// SPDX-License-Identifier: MIT
/*
 * kwalk.c: opens and closes, attaches to a session's events, and ends a recording so that nobody
 * whose stack is still pending is left out. See kwalk.h.
 *
 * Two threads of the recorder: its own, which calls everything here and reads the rings, and the
 * follower's (kwalk_follow.c), which learns what is mapped. What both touch is behind l->lock. The
 * programs run beside them on all CPUs: they see maps and the arena only, where the old is left
 * whole until the new is published.
 */
#include "capture/bpf/kwalk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi/stack_end.h"
#include "capture/bpf/kwalk_parts.h"
#include "capture/bpf/relocate.h"
#include "capture/context/kwalk_context.h"
#include "capture/kernel.h"

/* KWALK_DEPTH: frames of a walk in an interrupt. KWALK_MEMORY: of the arena, address space of which
 * pages are taken as they are used. */
#define KWALK_DEPTH 256u
#define KWALK_MEMORY (1ull << 30)
#define KWALK_RING ((size_t)2 << 20)
#define KWALK_RING_LEAST ((size_t)64 << 10) /* the largest records are 17 KiB long */
#define KWALK_RING_RAW ((size_t)64 << 20)
/* A ring has room for a second of samples of 54 frames, if all rings are not more than that. */
#define KWALK_SAMPLE_ROOM 512u
#define KWALK_RINGS_MOST ((size_t)256 << 20)
#define KWALK_SETTLE_SLICE_MS 5

/* The fields of a sample that a program can fill. */
#define KWALK_SAMPLE_TYPE                                                                \
	(SEAM_SAMPLE_IP | SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_ADDR |        \
	 SEAM_SAMPLE_CALLCHAIN | SEAM_SAMPLE_ID | SEAM_SAMPLE_CPU | SEAM_SAMPLE_PERIOD | \
	 SEAM_SAMPLE_STREAM_ID | SEAM_SAMPLE_IDENTIFIER)

/* These names stand in files and in JSON, so they do not change. */
const char *kwalk_end_name(enum kwalk_end end)
{
	return end < KWALK_ENDS ? stack_end_name((enum stack_end)(end + 1)) : "unknown";
}

/* At high rates rings are larger, so that a recorder that does not run for a moment loses
 * nothing. */
static size_t kwalk_ring_by_rate(const struct kwalk_opts *o)
{
	int cpus = libbpf_num_possible_cpus();
	size_t most = KWALK_RINGS_MOST / (size_t)(cpus > 0 ? cpus : 1);
	size_t want = o->period_ns ? (size_t)(1000000000u / o->period_ns) * KWALK_SAMPLE_ROOM : 0;

	if (want > most)
		want = most / 2 + 1; /* a power of two up to most, then */
	return want > KWALK_RING ? want : KWALK_RING;
}

/* The ring's size is a power of two, as the kernel demands, and never smaller than a few of the
 * largest records. */
static void kwalk_defaults(struct kwalk_opts *o)
{
	size_t ring = KWALK_RING_LEAST, wanted = o->ring_bytes;

	if (!wanted)
		wanted = o->raw ? KWALK_RING_RAW : kwalk_ring_by_rate(o);
	while (ring < wanted && ring < (size_t)1 << 30)
		ring *= 2;
	o->ring_bytes = ring;
	if (!o->depth || o->depth > KWALK_FRAMES_MAX)
		o->depth = KWALK_DEPTH;
	if (!o->memory)
		o->memory = KWALK_MEMORY;
	o->memory = (o->memory + 4095) & ~4095ull;
}

/*
 * A process's table of open files grows at the 65th, the 257th and the 1,025th. Where threads share
 * it the kernel then waits for all CPUs to have let go of the old one: 15 ms and more, in which the
 * follower opens no file, and the first samples of a program are walked from copies. So it grows
 * before there are threads. That it cannot be had is no failure.
 */
static void kwalk_make_room_for_files(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 1023);

	if (fd >= 0)
		close(fd);
}

/* Loads the programs and begins to follow what is mapped; nothing is sampled yet. On failure
 * nothing stays loaded. */
int kwalk_open(struct kwalk **ret, const struct kwalk_opts *opts, struct seam_error *err)
{
	struct kwalk *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return seam_error_set(err, ENOMEM, NULL, SEAM_NO_OFFSET, NULL, "out of memory");
	memcpy(&l->opts, opts, opts->sz < sizeof(*opts) ? opts->sz : sizeof(*opts));
	kwalk_defaults(&l->opts);
	l->follow.wake = l->epoll = -1;
	lock_make(l);
	later_init(&l->later);
	kwalk_make_room_for_files();
	kwalk_probe_usable(&l->probe);
	if (!l->probe.usable)
		r = seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL, "%s; needed: %s",
		                   l->probe.reason, l->probe.remedy);
	else
		r = kwalk_load(l, err);
	if (r >= 0 && l->opts.runtimes)
		r = runtime_open(l);
	for (unsigned k = 0; r >= 0 && k < RUNTIMES; k++)
		if (l->opts.runtimes_now >> k & 1)
			kwalk_runtime_want(l, k);
	if (r >= 0 && l->opts.context)
		r = context_open(l);
	if (r >= 0)
		r = follow_start(l, err);
	if (r < 0) {
		kwalk_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

/* Detaches and unloads everything; what was not read is lost. NULL is fine. */
void kwalk_close(struct kwalk *l)
{
	if (!l)
		return;
	follow_stop(l);
	runtime_unload(l);
	runtime_close(l);
	context_close(l);
	kwalk_unload(l);
	kwalk_spaces_free(&l->spaces);
	room_free(&l->room);
	arena_memory_free(&l->arena);
	map_free(&l->followed);
	map_free(&l->pending_cookies);
	map_free(&l->early[0]);
	map_free(&l->early[1]);
	map_free(&l->remote);
	buf_free(&l->pending);
	buf_free(&l->held);
	buf_free(&l->out);
	later_free(&l->later);
	lock_free(l);
	free(l);
}

/* A table for which there is no room is not missed: it comes when a walk needs it. */
void kwalk_prepare(struct kwalk *l, const void *blob)
{
	struct kwalk_mapping m = { 0 };

	pthread_mutex_lock(&l->lock);
	room_table(l, blob, &m);
	pthread_mutex_unlock(&l->lock);
}

/* The answer is of the mapping that held at that time, not of the one that holds now. Where memory
 * is short, a table that is asked for stays longer. */
int kwalk_find(struct kwalk *l, uint32_t pid, uint64_t time_ns, uint64_t pc,
               struct kwalk_table *ret)
{
	const struct kwalk_vma *m;
	uint32_t later;

	if (!lock_soon(l, &l->lock))
		return -ENOENT;
	m = kwalk_spaces_find(&l->spaces, pid, pc, time_ns);
	later = m ? m->later : 0;
	if (later) {
		pthread_mutex_unlock(&l->lock);
		if (!later_settle(l, pid, later) || !lock_soon(l, &l->lock))
			return -ENOENT;
		m = kwalk_spaces_find(&l->spaces, pid, pc, time_ns);
	}
	if (m) {
		if (l->room.pressed)
			room_used(l, m->blob);
		ret->blob = m->blob;
		ret->vaddr = m->vaddr + (pc - m->start);
		ret->may_guess = m->may_guess;
		ret->keeps_fp = m->keeps_fp;
	}
	pthread_mutex_unlock(&l->lock);
	return m ? 0 : -ENOENT;
}

/* ---- what the session calls ---- */

/* Tracepoints, kprobes and uprobes run other types of programs, and their samples carry what those
 * do not give. */
static bool kwalk_is_traced(const struct seam_attr *attr)
{
	static const char *const paths[] = { "/sys/bus/event_source/devices/kprobe/type",
		                             "/sys/bus/event_source/devices/uprobe/type" };
	long long type = 0;

	if (attr->type == SEAM_TYPE_TRACEPOINT)
		return true;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!kernel_number(&kernel_running, paths[i], &type) && type == attr->type)
			return true;
	return false;
}

/* Whether the programs can give all that the event's samples carry. A callback of the session, as
 * are the next ones. */
static bool kwalk_takes(void *ctx, const struct seam_attr *attr)
{
	return !kwalk_is_traced(attr) && !(attr->sample_type & ~KWALK_SAMPLE_TYPE);
}

/* Not attached by libbpf, which would enable the event, and close it at the end. */
static int kwalk_attach(void *ctx, int fd, uint64_t id)
{
	struct bpf_link_create_opts opts;
	struct kwalk *l = ctx;
	/* One by one: there are as many as events on CPUs. */
	int *attached = realloc(l->attached, (l->n_attached + 1) * sizeof(*attached)), link;

	if (!attached)
		return -ENOMEM;
	l->attached = attached;
	LIBBPF_ZEROED(opts);
	opts.perf_event.bpf_cookie = id;
	link = bpf_link_create(bpf_program__fd(l->on_sample), fd, BPF_PERF_EVENT, &opts);
	if (link < 0)
		return link;
	l->attached[l->n_attached++] = link;
	return 0;
}

static void kwalk_events(void *ctx, const struct seam_events *events, uint32_t output_event)
{
	struct kwalk *l = ctx;

	l->events = events;
	l->output_event = seam_events_at(events, output_event);
	offcpu_events(l);
}

static int kwalk_sampling(void *ctx, bool on)
{
	struct kwalk *l = ctx;

	if (on && !l->begun)
		runtime_settle(
		        l); /* what is known to be needed is there from the first sample on */
	if (on)
		__atomic_store_n(&l->begun, true, __ATOMIC_RELAXED);
	return offcpu_switch(l, on);
}

static void kwalk_end_by(void *ctx, uint64_t end_ns)
{
	struct kwalk *l = ctx;

	__atomic_store_n(&l->end_ns, end_ns, __ATOMIC_RELAXED);
}

bool kwalk_gives_up(const struct kwalk *l)
{
	return kwalk_is_over(l);
}

static int64_t kwalk_read(void *ctx, capture_write write, void *write_ctx)
{
	return kwalk_ring_read(ctx, write, write_ctx);
}

struct kwalk_drain {
	struct kwalk *kwalk;
	capture_write write;
	void *ctx;
	int64_t given;
};

/* offcpu_end calls this between its steps, because the ring would overflow otherwise. */
static int kwalk_drain(void *ctx)
{
	struct kwalk_drain *d = ctx;
	int64_t n = kwalk_ring_read(d->kwalk, d->write, d->ctx);

	d->given += n > 0 ? n : 0;
	return n < 0 ? (int)n : 0;
}

/*
 * Sampling has stopped. Tasks on their way out of the kernel answer within the grace period. The
 * stacks of sleeping tasks are read at once, because they may sleep for ever. If a task answers
 * itself after all, its own answer counts.
 */
static int64_t kwalk_settle(void *ctx, uint32_t grace_ms, capture_write write, void *write_ctx)
{
	struct kwalk *l = ctx;
	struct kwalk_drain away = { l, write, write_ctx, 0 };
	uint64_t end_ns = kwalk_now_ns() + (uint64_t)grace_ms * 1000000;
	int64_t sum = kwalk_ring_read(l, write, write_ctx), n = sum;

	if (l->end_ns && end_ns > l->end_ns)
		end_ns = l->end_ns;
	if (n >= 0) {
		n = offcpu_end(l, kwalk_drain, &away);
		sum += away.given;
	}
	if (n >= 0 && l->pending_cookies.n && grace_ms) {
		n = kwalk_ring_read(l, write, write_ctx);
		sum += n > 0 ? n : 0;
	}
	if (n >= 0 && l->pending_cookies.n)
		kwalk_read_owing(l);
	while (n >= 0) {
		n = kwalk_ring_read(l, write, write_ctx);
		sum += n > 0 ? n : 0;
		/* All that is still pending was read from sleepers, or will not come. */
		if (l->pending_cookies.n <= l->remote.n || kwalk_now_ns() >= end_ns)
			break;
		poll(NULL, 0, KWALK_SETTLE_SLICE_MS);
	}
	if (n >= 0 && l->pending_cookies.n > l->remote.n) { /* who went to sleep only now */
		kwalk_read_owing(l);
		n = kwalk_ring_read(l, write, write_ctx);
		sum += n > 0 ? n : 0;
	}
	if (n >= 0)
		n = kwalk_ring_end(l, write, write_ctx);
	return n < 0 ? n : sum + n;
}

/* Which methods are inlined in a piece of code says the process's memory alone: until it ends, or
 * until the code is replaced, as most of a program that begins is. */
#define KWALK_WITHIN_MS 10

/* Soon, once there is a process of HotSpot, or one will come. */
static int kwalk_within_ms(void *ctx)
{
	const struct kwalk *l = ctx;

	return __atomic_load_n(&l->kinds[RUNTIME_HOTSPOT].wanted, __ATOMIC_RELAXED)
	               ? KWALK_WITHIN_MS
	               : INT_MAX;
}

/* What the session is given: it knows nothing of BPF but these functions. */
void kwalk_source(struct kwalk *l, struct session_source *ret)
{
	*ret = (struct session_source){
		.ctx = l,
		.fd = l->epoll,
		.defers = l->probe.defers && l->opts.when != KWALK_NEVER,
		.by_fp = l->opts.fp,
		.runtimes = l->opts.runtimes,
		.reason = l->opts.when == KWALK_NEVER ? MODE_ASKED : MODE_NO_TASK_WORK,
		.takes = kwalk_takes,
		.attach = kwalk_attach,
		.events = kwalk_events,
		.sampling = kwalk_sampling,
		.within_ms = kwalk_within_ms,
		.read = kwalk_read,
		.settle = kwalk_settle,
		.end_by = kwalk_end_by,
	};
}
