// SPDX-License-Identifier: MIT
/*
 * live.c: opens and closes, attaches to a session's events, and ends a recording so that nobody who still owes a stack is
 * left out. See live.h.
 */
#include "capture/bpf/live.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/bpf/live_parts.h"

#define LIVE_DEPTH 128u
#define LIVE_MEMORY (1ull << 30)
#define LIVE_RING ((size_t)2 << 20)
#define LIVE_RING_RAW ((size_t)64 << 20)
#define LIVE_SETTLE_SLICE_MS 5

/* What a record can say that a program knows. */
#define LIVE_SAMPLE_TYPE                                                                 \
	(SEAM_SAMPLE_IP | SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_ADDR |        \
	 SEAM_SAMPLE_CALLCHAIN | SEAM_SAMPLE_ID | SEAM_SAMPLE_CPU | SEAM_SAMPLE_PERIOD | \
	 SEAM_SAMPLE_STREAM_ID | SEAM_SAMPLE_IDENTIFIER)

const char *live_end_name(enum live_end end)
{
	static const char *const names[LIVE_ENDS] = {
		[LIVE_COMPLETE] = "complete",
		[LIVE_FAULT] = "fault",
		[LIVE_NO_MAPPING] = "no_mapping",
		[LIVE_NO_TABLE] = "no_table",
		[LIVE_NO_RULE] = "no_rule",
		[LIVE_BAD_RULE] = "bad_rule",
		[LIVE_NO_PROGRESS] = "no_progress",
		[LIVE_LIMIT] = "limit",
		[LIVE_EXEC] = "exec",
		[LIVE_EXITED] = "exited",
		[LIVE_MOVED] = "moved",
		[LIVE_COMPAT] = "compat",
		[LIVE_NO_USER] = "no_user",
		[LIVE_DEFERRED] = "deferred",
	};

	return end < LIVE_ENDS ? names[end] : "unknown";
}

static void live_defaults(struct live_opts *o)
{
	size_t ring = 4096, wanted = o->ring_bytes;

	if (!wanted)
		wanted = o->raw ? LIVE_RING_RAW : LIVE_RING;
	while (ring < wanted && ring < (size_t)1 << 30)
		ring *= 2;
	o->ring_bytes = ring;
	if (!o->depth || o->depth > LIVE_FRAMES_MAX)
		o->depth = LIVE_DEPTH;
	if (!o->memory)
		o->memory = LIVE_MEMORY;
	o->memory = (o->memory + 4095) & ~4095ull;
}

int live_open(struct live **ret, const struct live_opts *opts, struct seam_error *err)
{
	struct live *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return seam_error_set(err, ENOMEM, NULL, SEAM_NO_OFFSET, NULL, "out of memory");
	memcpy(&l->opts, opts, opts->sz < sizeof(*opts) ? opts->sz : sizeof(*opts));
	live_defaults(&l->opts);
	l->follow.wake = -1;
	pthread_mutex_init(&l->lock, NULL);
	live_probe(&l->probe);
	if (!l->probe.usable)
		r = seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL, "%s; needed: %s",
		                   l->probe.reason, l->probe.remedy);
	else
		r = live_load(l, err);
	if (r >= 0)
		r = follow_start(l, err);
	if (r < 0) {
		live_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

void live_close(struct live *l)
{
	if (!l)
		return;
	follow_stop(l);
	live_unload(l);
	live_spaces_free(&l->spaces);
	arena_memory_free(&l->arena);
	map_free(&l->followed);
	map_free(&l->owed);
	map_free(&l->early[0]);
	map_free(&l->early[1]);
	map_free(&l->remote);
	buf_free(&l->pending);
	buf_free(&l->held);
	buf_free(&l->out);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

void live_prepare(struct live *l, const void *blob)
{
	struct live_mapping m = { 0 };

	pthread_mutex_lock(&l->lock);
	arena_table(&l->arena, blob, &m);
	pthread_mutex_unlock(&l->lock);
}

int live_find(struct live *l, uint32_t pid, uint64_t time_ns, uint64_t pc, const void **blob,
              uint64_t *vaddr, bool *may_guess)
{
	const struct live_vma *m;
	struct live_space *s;

	pthread_mutex_lock(&l->lock);
	s = live_space_get(&l->spaces, pid, false);
	m = s ? live_space_find(s, pc, time_ns) : NULL;
	if (m) {
		*blob = m->blob;
		*vaddr = m->vaddr + (pc - m->start);
		*may_guess = m->may_guess;
	}
	pthread_mutex_unlock(&l->lock);
	return m ? 0 : -ENOENT;
}

/* ---- what the session calls ---- */

static bool live_takes(void *ctx, const struct seam_attr *attr)
{
	return attr->type != SEAM_TYPE_TRACEPOINT && !(attr->sample_type & ~LIVE_SAMPLE_TYPE);
}

/* Not by libbpf's attach: that would enable the event, and close it at the end. */
static int live_attach(void *ctx, int fd, uint64_t id)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = id);
	struct live *l = ctx;
	int *attached = realloc(l->attached, (l->n_attached + 1) * sizeof(*attached)), link;

	if (!attached)
		return -ENOMEM;
	l->attached = attached;
	link = bpf_link_create(bpf_program__fd(l->on_sample), fd, BPF_PERF_EVENT, &opts);
	if (link < 0)
		return link;
	l->attached[l->n_attached++] = link;
	return 0;
}

static void live_events(void *ctx, const struct seam_events *events, uint32_t answers)
{
	struct live *l = ctx;

	l->events = events;
	l->answers = seam_events_at(events, answers);
}

static int64_t live_read(void *ctx, capture_write write, void *write_ctx)
{
	return live_ring_read(ctx, write, write_ctx);
}

/*
 * Sampling has stopped. Tasks on their way out of the kernel answer within the grace period; what sleeps is read where it is,
 * at once, for it may sleep for ever. Who answers himself after all is right.
 */
static int64_t live_settle(void *ctx, uint32_t grace_ms, capture_write write, void *write_ctx)
{
	struct live *l = ctx;
	uint64_t end_ns = live_now_ns() + (uint64_t)grace_ms * 1000000;
	int64_t sum = live_ring_read(l, write, write_ctx), n = sum;

	if (n >= 0 && l->owed.n && grace_ms) {
		n = live_ring_read(l, write, write_ctx);
		sum += n > 0 ? n : 0;
	}
	if (n >= 0 && l->owed.n)
		live_read_owing(l);
	while (n >= 0) {
		n = live_ring_read(l, write, write_ctx);
		sum += n > 0 ? n : 0;
		/* All that is still owed was read from sleepers, or will not come. */
		if (l->owed.n <= l->remote.n || live_now_ns() >= end_ns)
			break;
		poll(NULL, 0, LIVE_SETTLE_SLICE_MS);
	}
	if (n >= 0 && l->owed.n > l->remote.n) { /* who went to sleep only now */
		live_read_owing(l);
		n = live_ring_read(l, write, write_ctx);
		sum += n > 0 ? n : 0;
	}
	if (n >= 0)
		n = live_ring_end(l, write, write_ctx);
	return n < 0 ? n : sum + n;
}

void live_source(struct live *l, struct session_source *ret)
{
	*ret = (struct session_source){
		.ctx = l,
		.fd = ring_buffer__epoll_fd(l->reader),
		.defers = l->probe.defers && l->opts.when != LIVE_NEVER,
		.by_fp = l->opts.fp,
		.takes = live_takes,
		.attach = live_attach,
		.events = live_events,
		.read = live_read,
		.settle = live_settle,
	};
}

/* ---- counts ---- */

static void live_add_counts(struct live_counts *to, const struct live_counts *from)
{
	const uint64_t *f = (const uint64_t *)from;
	uint64_t *t = (uint64_t *)to;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*t); i++)
		t[i] += f[i];
}

int live_total(struct live *l, struct live_totals *ret)
{
	struct live_counts *all = calloc(l->n_cpus, sizeof(*all));
	struct live_totals t = { .sz = ret->sz };
	uint32_t zero = 0;

	if (!all)
		return -ENOMEM;
	if (bpf_map_lookup_elem(l->counts, &zero, all) >= 0)
		for (size_t i = 0; i < l->n_cpus; i++)
			live_add_counts(&t.counts, &all[i]);
	free(all);
	t.misses = live_misses(l);
	t.samples = l->samples;
	t.answers = l->answered;
	t.late = l->late;
	t.unwound = l->unwound;
	t.unanswered = l->owed.n;
	pthread_mutex_lock(&l->lock);
	t.processes = l->spaces.by_pid.n;
	t.mappings = l->spaces.mappings;
	t.tables = l->arena.n_tables;
	t.table_bytes = l->arena.table_bytes;
	t.tables_left_out = l->arena.left_out;
	t.follow_lost = l->follow.lost;
	pthread_mutex_unlock(&l->lock);
	memcpy(ret, &t, ret->sz < sizeof(t) ? ret->sz : sizeof(t));
	return 0;
}
