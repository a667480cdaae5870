// SPDX-License-Identifier: MIT
/*
 * kwalk_ring.c: what the programs wrote, as perf records: samples with their callchain, or with a
 * marker and a cookie, and deferred callchains. Counts what is pending. The rings are the kernel's
 * and its programs ours; every length is checked all the same.
 *
 * A sample whose walk met a mapping that the programs did not know brings a copy of its stack
 * behind it. Both are kept (pending) until the kernel's records of mappings up to their time are
 * applied (follow_drain); then the recorder walks the copy, and the answer is written as a deferred
 * callchain, with a cookie that the program gave the sample for this.
 *
 * Invariant: a cookie that is in pending_cookies has one answer to come: from the task itself, from
 * a walk here, or from who reads the stacks of sleepers at the end.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "abi/encode.h"
#include "abi/runtime_end.h"
#include "abi/stack_end.h"
#include "capture/bpf/kwalk_parts.h"
#include "capture/context/kwalk_context.h"
#include "runtimes/kinds.h"

/* Gives the composed record to the session's writer. */
static int ring_give(struct kwalk *l)
{
	int r = l->out.failed ? -ENOMEM : l->write(l->write_ctx, l->out.bytes, l->out.n);

	if (r >= 0)
		l->given += (int64_t)l->out.n;
	buf_clear(&l->out);
	return r;
}

/* The sample_id of a record that is made here. */
static struct seam_id ring_id(uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t time_ns,
                              uint64_t event)
{
	return (struct seam_id){ .pid = pid,
		                 .tid = tid,
		                 .cpu = cpu,
		                 .time_ns = time_ns,
		                 .id = event,
		                 .stream_id = event };
}

/* The programs' numbers are those of files minus one. */
#define KWALK_NOT_SAID (-1)
#define STACK_END(number, id, ...) \
	_Static_assert((int)KWALK_##id + 1 == (int)STACK_END_##id, "stack_ends.def: " #id);
#include "abi/stack_ends.def"

enum {
	STACK_END_ROWS = 0
#define STACK_END(...) +1
#include "abi/stack_ends.def"
};
_Static_assert((int)KWALK_ENDS + 1 == (int)STACK_END_ROWS, "stack_ends.def: one is not in files");

/* From a program's numbers of ends to the bits in misc that say them in a file. */
static uint16_t ring_end(uint8_t end, bool guessed, uint8_t runtime)
{
	return stack_end_misc(end < KWALK_ENDS ? end + 1 : STACK_END_NOT_SAID, guessed) |
	       runtime_end_misc(runtime);
}

/* [KERNEL, ips,] then [USER, ips] or [USER_DEFERRED, cookie]. A stack that met an unknown mapping
 * is answered by the recorder, once it knows. */
static size_t ring_chain(struct kwalk *l, const struct kwalk_sample *s, const uint64_t *user,
                         size_t n_user, const uint64_t *ips)
{
	uint64_t *to = l->chain;

	if (s->n_kernel) {
		*to++ = SEAM_CONTEXT_KERNEL;
		memcpy(to, ips + s->n_user, s->n_kernel * sizeof(*to));
		to += s->n_kernel;
	}
	if (s->cookie) {
		*to++ = SEAM_CONTEXT_USER_DEFERRED;
		*to++ = s->cookie;
	} else if (n_user) {
		*to++ = SEAM_CONTEXT_USER;
		memcpy(to, user, n_user * sizeof(*to));
		to += n_user;
	}
	return (size_t)(to - l->chain);
}

/* If memory is short, the tables that walks use must stay. */
static void ring_used(struct kwalk *l, uint32_t pid, uint64_t time_ns, const uint64_t *ips,
                      size_t n)
{
	if (!room_is_pressed(&l->room))
		return;
	if (!lock_soon(l, &l->lock))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct kwalk_vma *m = kwalk_spaces_find(&l->spaces, pid, ips[i], time_ns);

		if (m)
			room_used(l, m->blob);
	}
	pthread_mutex_unlock(&l->lock);
}

/* Makes a SAMPLE record of what a program sent and gives it to the writer. A cookie that was not
 * answered yet is noted as pending. */
static int ring_sample(struct kwalk_ring *ring, const struct kwalk_sample *s, const uint64_t *ips)
{
	struct kwalk *l = ring->kwalk;
	uint64_t id = offcpu_id(l, s->event);
	const struct seam_event *event = seam_events_by_id(l->events, id);
	struct seam_sample out = { .id = ring_id(s->pid, s->tid, s->cpu, s->time_ns, id),
		                   .ip = s->ip,
		                   .addr = s->address,
		                   .period = s->period };
	size_t n_user = s->n_user;
	uint8_t runtime = s->runtime;
	struct runtime_set set = { .n = 0 };
	const uint64_t *user;
	int r;

	if (!event)
		return 0;
	ring_used(l, s->pid, s->time_ns, ips, s->n_user);
	/* With a cookie, what the recorder finds counts (ring_raw). */
	l->splice_time = s->time_ns;
	if (!s->cookie)
		set = runtime_kept(ring, false, s->time_ns);
	user = runtime_splice(l, &set, ips, &n_user, s->end, &runtime);
	out.callchain = encode_words(l->chain, ring_chain(l, s, user, n_user, ips));
	r = encode_sample(&l->out, &event->attr,
	                  (s->in_user ? SEAM_MISC_USER : SEAM_MISC_KERNEL) |
	                          ring_end(s->cookie ? KWALK_DEFERRED : s->end,
	                                   !s->cookie && s->guessed,
	                                   s->cookie ? KWALK_RUNTIME_NONE : runtime),
	                  &out);
	if (r >= 0)
		r = ring_give(l);
	if (r >= 0)
		l->samples++;
	if (s->cookie && r >= 0 && !map_get(&l->early[0], s->cookie, NULL) &&
	    !map_get(&l->early[1], s->cookie, NULL))
		r = map_put(&l->pending_cookies, s->cookie, 1);
	return r;
}

/* -- answers -- */

/* The id of the event that carries deferred callchains, on this CPU. */
static uint64_t ring_output_id(const struct kwalk *l, uint32_t cpu)
{
	const struct seam_event *e = l->output_event;

	return e->n_ids ? e->ids[cpu < e->n_ids ? cpu : 0] : 0;
}

/* A name, before the first stack that has it. */
static int ring_tell_symbol(struct kwalk *l, uint32_t pid, uint64_t time_ns,
                            const struct seam_ksymbol *symbol)
{
	struct seam_id id = ring_id(pid, pid, 0, time_ns, ring_output_id(l, 0));
	int r = encode_ksymbol(&l->out, &l->output_event->attr, SEAM_MISC_USER, symbol, &id);

	return r < 0 ? r : ring_give(l);
}

static int ring_user_chain_put(struct kwalk *l, const struct kwalk_user_chain *a,
                               const uint64_t *ips)
{
	struct seam_callchain_deferred out = { .cookie = a->cookie,
		                               .ips = encode_words(ips, a->n) };
	struct seam_id id = ring_id(a->pid, a->tid, a->cpu, a->time_ns, ring_output_id(l, a->cpu));
	int r = encode_deferred(&l->out, &l->output_event->attr,
	                        SEAM_MISC_USER | ring_end(a->end, a->guessed, a->runtime), &out,
	                        &id);

	if (r >= 0)
		r = ring_give(l);
	l->answered += r >= 0;
	return r;
}

/* -- stacks that are walked here -- */

#define PENDING_MOST ((size_t)64 << 20) /* bytes of stacks that wait, unless it is said */
#define PENDING_KEPT ((size_t)1 << 20)  /* from one round to the next */

static bool ring_pending_is_full(const struct kwalk *l)
{
	return l->pending.n >= (l->opts.pending ? l->opts.pending : PENDING_MOST);
}

static int ring_own_frames(struct kwalk *l, const struct kwalk_sample *s, const uint64_t *frames,
                           size_t n, enum kwalk_end end)
{
	struct kwalk_user_chain a = { .pid = s->pid,
		                      .tid = s->tid,
		                      .cpu = s->cpu,
		                      .time_ns = s->time_ns +
		                                 1, /* what it tells of is the sample's moment */
		                      .cookie = s->cookie,
		                      .end = (uint8_t)end,
		                      .guessed = s->guessed,
		                      .runtime = s->runtime,
		                      .n = (uint32_t)n };

	map_del(&l->pending_cookies, s->cookie);
	return ring_user_chain_put(l, &a, frames);
}

/* The sample before has no copy of the stack, because the ring was full: what the programs found is
 * all there is. */
static int ring_without_raw(struct kwalk_ring *ring)
{
	const struct kwalk_sample *s = &ring->sample;
	bool waits = s->kind && s->cookie && s->end != KWALK_DEFERRED;

	ring->sample.kind = 0;
	if (s->runtime == KWALK_RUNTIME_COMPLETE)
		ring->sample.runtime = KWALK_RUNTIME_NO_ROOM;
	return waits ? ring_own_frames(ring->kwalk, s, ring->user, s->n_user, s->end) : 0;
}

/* A copy of a stack belongs to the sample right before it in the same ring, by time and task. If
 * too many wait, what the programs found counts. */
static int ring_raw(struct kwalk_ring *ring, const struct kwalk_raw *raw)
{
	struct kwalk *l = ring->kwalk;
	const struct kwalk_sample *s = &ring->sample;
	size_t n = offsetof(struct kwalk_raw, stack) + raw->n;
	bool deferred = s->kind == KWALK_USER_CHAIN;
	struct runtime_set set;

	if (!s->kind || raw->time_ns != s->time_ns || raw->tid != s->tid)
		return 0;
	if (!l->opts.unwind || ring_pending_is_full(l))
		return ring_without_raw(ring);
	buf_put(&l->pending, s, sizeof(*s));
	buf_put(&l->pending, ring->user, s->n_user * sizeof(*ring->user));
	buf_put(&l->pending, raw, n);
	buf_put_zeros(&l->pending, -n & 7);
	set = runtime_kept(ring, deferred, deferred ? s->cookie : s->time_ns);
	runtime_wait(&l->pending, &set);
	ring->sample.kind = 0;
	return l->pending.failed ? -ENOMEM : 0;
}

/* Whether a stack without an interpreter's frames goes through one: the programs were not told of
 * the process in time. While an interpreter begins or ends it runs no functions: then its loop is
 * not on a stack that is all there. */
static bool ring_is_late(struct kwalk *l, const struct kwalk_sample *s, const uint64_t *frames,
                         size_t n, enum kwalk_end end)
{
	bool in = false, runs = end != KWALK_COMPLETE;

	if (!l->opts.runtimes || s->runtime != KWALK_RUNTIME_NONE || !lock_soon(l, &l->lock))
		return false;
	for (size_t i = 0; i < n && (!in || !runs); i++) {
		const struct kwalk_vma *m =
		        kwalk_spaces_find(&l->spaces, s->pid, frames[i], s->time_ns);

		if (m && m->runtime) {
			in = true;
			runs |= kinds_runs(m->runtime, frames[i] - (i != 0) - m->start + m->vaddr);
		} else if (!m) { /* code that was made may be the loop's */
			runs = true;
		}
	}
	pthread_mutex_unlock(&l->lock);
	return in && runs;
}

/* Walks a copy, and puts an interpreter's frames into what that finds. */
static int ring_resolve_one(struct kwalk *l, const struct kwalk_sample *sample,
                            const uint64_t *user, const struct kwalk_raw *raw,
                            struct runtime_set *set)
{
	uint64_t frames[KWALK_FRAMES_MAX], sps[KWALK_FRAMES_MAX + 1] = { 0 };
	struct kwalk_sample s = *sample;
	enum kwalk_end end = s.end;
	size_t n = l->opts.unwind(l->opts.ctx, sample, user, raw, frames, sps, &end);
	const uint64_t *all;

	if (!s.cookie || s.end == KWALK_DEFERRED) /* only looked at, by a test */
		return 0;
	if (n < s.n_user || n > KWALK_FRAMES_MAX) {
		if (s.runtime == KWALK_RUNTIME_COMPLETE)
			s.runtime = KWALK_RUNTIME_APART;
		return ring_own_frames(l, &s, user, s.n_user, s.end);
	}
	l->unwound++;
	if (ring_is_late(l, &s, frames, n, end))
		s.runtime = KWALK_RUNTIME_LATE;
	l->runtime_late += s.runtime == KWALK_RUNTIME_LATE;
	runtime_place(l, set, &(struct runtime_natives){ frames, sps, n }, s.time_ns, end);
	l->splice_time = sample->time_ns;
	all = runtime_splice(l, set, frames, &n, end, &s.runtime);
	l->runtime_apart += s.runtime == KWALK_RUNTIME_APART && sample->runtime != s.runtime;
	return ring_own_frames(l, &s, all, n, end);
}

/* The programs did not know a mapping. By now the kernel's records are applied that cover all these
 * samples. */
static int ring_resolve(struct kwalk *l)
{
	size_t at = 0;
	int r = 0;

	if (!l->pending.n)
		return 0;
	if (!kwalk_is_over(l))
		follow_drain(l);
	while (r >= 0 && at < l->pending.n && !l->pending.failed) {
		const struct kwalk_sample *s = (const void *)(l->pending.bytes + at);
		const uint64_t *user = (const uint64_t *)(s + 1);
		const struct kwalk_raw *raw = (const void *)(user + s->n_user);
		struct runtime_set set;

		at += sizeof(*s) + s->n_user * sizeof(*user) +
		      ((offsetof(struct kwalk_raw, stack) + raw->n + 7) & ~(size_t)7);
		at += runtime_waited(l->pending.bytes + at, &set);
		if (kwalk_is_over(l))
			l->cut += s->cookie && s->end != KWALK_DEFERRED;
		else
			r = ring_resolve_one(l, s, user, raw, &set);
	}
	if (l->pending.capacity > PENDING_KEPT)
		buf_free(&l->pending);
	buf_clear(&l->pending);
	return r;
}

/* A test looks at what the programs answered. */
static void ring_answered(struct kwalk *l, const struct kwalk_user_chain *a, const uint64_t *ips)
{
	if (l->opts.answered)
		l->opts.answered(l->opts.ctx, a, ips);
}

/* A deferred record whose KWALK_RAW comes next, as if it were a sample's: for it is waited alike.
 * */
static int ring_hold_user_chain(struct kwalk_ring *ring, const struct kwalk_user_chain *a,
                                const uint64_t *ips)
{
	int r = ring_without_raw(ring);

	ring->sample = (struct kwalk_sample){ .kind = KWALK_USER_CHAIN,
		                              .pid = a->pid,
		                              .tid = a->tid,
		                              .cpu = a->cpu,
		                              .time_ns = a->time_ns,
		                              .cookie = a->cookie,
		                              .end = a->end,
		                              .guessed = a->guessed,
		                              .runtime = a->runtime,
		                              .n_user = (uint16_t)a->n };
	memcpy(ring->user, ips, a->n * sizeof(*ips));
	return r;
}

/* Takes a user part that a task, or the iterator for it, has sent. What the iterator read waits
 * until it is sure that the task has not answered itself. */
static int ring_user_chain(struct kwalk_ring *ring, const struct kwalk_user_chain *a,
                           const uint64_t *ips)
{
	struct kwalk *l = ring->kwalk;
	struct kwalk_user_chain whole = *a;
	size_t n = a->n;
	bool waits = !a->remote && (a->end == KWALK_NO_MAPPING || a->end == KWALK_BAD_RULE);
	struct runtime_set set = { .n = 0 };
	const uint64_t *all;

	l->splice_time = a->time_ns;
	/* What waits for its copy keeps its frames for that. */
	if (!waits)
		set = runtime_kept(ring, true, a->cookie);
	all = runtime_splice(l, &set, ips, &n, a->end, &whole.runtime);
	whole.n = (uint32_t)n;
	if (a->remote) { /* held until nobody can answer himself any more */
		size_t at = l->held.n;

		buf_put(&l->held, &whole, sizeof(whole));
		buf_put(&l->held, all, n * sizeof(*all));
		return l->held.failed ? -ENOMEM : map_put(&l->remote, a->cookie, at);
	}
	l->late += map_del(&l->remote, a->cookie);
	map_del(&l->pending_cookies, a->cookie);
	map_put(&l->early[0], a->cookie, 1);
	if (waits)
		return ring_hold_user_chain(ring, a, ips);
	ring_answered(l, a, ips);
	if (a->end == KWALK_EXITED) /* its EXIT record says so */
		return 0;
	ring_used(l, a->pid, a->time_ns, ips, a->n);
	/* With KWALK_EXEC the record is empty, because another program's chain is not this
	 * sample's. */
	return ring_user_chain_put(l, &whole, all);
}

/* Says for whom a thread works from a sample on. */
static int ring_context_put(struct kwalk *l, uint32_t pid, uint32_t tid, uint32_t cpu,
                            uint64_t time_ns, const struct seam_ksymbol *symbol)
{
	struct seam_id id = ring_id(pid, tid, cpu, time_ns, ring_output_id(l, cpu));
	int r = encode_ksymbol(&l->out, &l->output_event->attr, SEAM_MISC_USER, symbol, &id);

	return r < 0 ? r : ring_give(l);
}

/* Lengths first: n_user and n_kernel are looked at before anything is copied. */
static int ring_take_sample(struct kwalk_ring *ring, const struct kwalk_sample *s, size_t n)
{
	const uint64_t *ips = (const uint64_t *)(s + 1);
	struct seam_ksymbol symbol;
	int r = ring_without_raw(ring);

	if (r < 0 || s->n_user > KWALK_FRAMES_MAX || s->n_kernel > KWALK_KERNEL_MAX ||
	    n < sizeof(*s) + ((size_t)s->n_user + s->n_kernel) * 8)
		return r;
	ring->sample = *s;
	memcpy(ring->user, ips, s->n_user * sizeof(*ips));
	r = context_sample(ring, s, &symbol);
	if (r > 0)
		r = ring_context_put(ring->kwalk, s->pid, s->tid, s->cpu, s->time_ns, &symbol);
	return r < 0 ? r : ring_sample(ring, s, ips);
}

/* A function of an interpreter gets its name in the recording when it is met first. */
static int ring_code(struct kwalk *l, const struct kwalk_code *code)
{
	struct seam_ksymbol symbol;
	int r = runtime_code(l, code, &symbol);

	return r <= 0 ? r : ring_tell_symbol(l, code->pid, code->time_ns, &symbol);
}

static int ring_context(struct kwalk_ring *ring, const struct kwalk_context *k)
{
	struct seam_ksymbol symbol;
	int r = context_take(ring, k, &symbol);

	return r <= 0 ? r : ring_context_put(ring->kwalk, k->pid, k->tid, k->cpu, k->of, &symbol);
}

/* Takes one record of a ring, by its kind. What is too short for its kind is ignored. 0, or -errno,
 * or what writing returned. */
static int ring_record(void *ctx, const void *bytes, size_t n)
{
	struct kwalk_ring *ring = ctx;
	uint32_t kind = 0;
	int r = 0;

	if (n >= sizeof(kind))
		memcpy(&kind, bytes, sizeof(kind));
	if (kwalk_is_over(ring->kwalk)) {
		ring->kwalk->cut += kind == KWALK_SAMPLE || kind == KWALK_USER_CHAIN;
		return 0;
	}
	if (kind == KWALK_SAMPLE && n >= sizeof(struct kwalk_sample)) {
		r = ring_take_sample(ring, bytes, n);
	} else if (kind == KWALK_USER_CHAIN && n >= sizeof(struct kwalk_user_chain)) {
		const struct kwalk_user_chain *a = bytes;

		if (a->n <= KWALK_FRAMES_MAX && n >= sizeof(*a) + (size_t)a->n * 8)
			r = ring_user_chain(ring, a, (const uint64_t *)(a + 1));
	} else if (kind == KWALK_CODE && n >= offsetof(struct kwalk_code, lines)) {
		const struct kwalk_code *c = bytes;

		if (c->n_lines <= n - offsetof(struct kwalk_code, lines))
			r = ring_code(ring->kwalk, c);
	} else if (kind == KWALK_RUNTIME && n >= sizeof(struct kwalk_runtime)) {
		const struct kwalk_runtime *p = bytes;

		if (p->n < KWALK_RUNTIME_ROOM &&
		    n >= sizeof(*p) + p->n * sizeof(struct runtime_frame))
			r = runtime_keep(ring, p);
	} else if (kind == KWALK_CONTEXT && n >= KWALK_CONTEXT_HEAD) {
		const struct kwalk_context *k = bytes;

		if (k->n <= n - KWALK_CONTEXT_HEAD && k->n <= KWALK_CONTEXT_BYTES)
			r = ring_context(ring, k);
	} else if (kind == KWALK_RAW && n >= offsetof(struct kwalk_raw, stack)) {
		const struct kwalk_raw *raw = bytes;

		if (raw->n <= n - offsetof(struct kwalk_raw, stack))
			r = ring_raw(ring, raw);
	}
	return r;
}

/* The reader waits for all rings in one epoll, which the session waits for in turn. */
int kwalk_ring_add(struct kwalk *l, size_t i)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = i };

	l->rings[i].kwalk = l;
	l->tell_symbol = ring_tell_symbol;
	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->ring_fds[i], &ev) < 0)
		return -errno;
	return ringbuf_map(&l->rings[i].bytes, l->ring_fds[i], l->opts.ring_bytes);
}

/* Reads each ring as far as it was filled when its turn came. So no ring keeps the others waiting,
 * and programs that go on writing do not keep us. */
static int ring_drain_all(struct kwalk *l)
{
	int64_t n = 0;

	for (size_t i = 0; n >= 0 && i < l->n_cpus; i++)
		n = ringbuf_drain(&l->rings[i].bytes, ring_record, &l->rings[i]);
	return n < 0 ? (int)n : 0;
}

/* A LOST_SAMPLES record for what was lost since the last one. */
static int ring_lost_put(struct kwalk *l, const struct seam_event *event, uint16_t misc,
                         uint64_t all, uint64_t *told)
{
	struct seam_lost lost = { .lost = all - *told };
	struct seam_id id = ring_id(0, 0, 0, kwalk_now_ns(), event->n_ids ? event->ids[0] : 0);
	int r;

	if (all == *told)
		return 0;
	r = encode_lost(&l->out, &event->attr, SEAM_RECORD_LOST_SAMPLES, misc, &lost, &id);
	if (r >= 0)
		r = ring_give(l);
	if (r >= 0)
		*told = all;
	return r;
}

/*
 * The file knows what it lacks: samples that found no room (by the event whose answers may be among
 * it), those that the kernel skipped, and tasks of which it has none.
 */
static int ring_lost(struct kwalk *l)
{
	const struct seam_event *samples = seam_events_at(l->events, 0);
	struct kwalk_counts counts;
	int r = counts_of_programs(l, &counts);

	if (r >= 0)
		r = ring_lost_put(l, l->output_event, SEAM_MISC_LOST_BESIDE,
		                  counts.ring_full + counts.away_full + l->cut, &l->told_full);
	if (r >= 0)
		r = ring_lost_put(l, samples, SEAM_MISC_LOST_BESIDE | SEAM_MISC_LOST_SKIPPED,
		                  counts.skipped, &l->told_skipped);
	if (r >= 0)
		r = ring_lost_put(l, samples, SEAM_MISC_LOST_TASKS,
		                  counts.not_followed + counts.away_untold, &l->told_tasks);
	return r;
}

/* Notes up to which time samples were walked. That is the beginning of the round before, because a
 * sample may be on its way into its ring while that is read. */
static void ring_walked(struct kwalk *l, uint64_t begun_ns)
{
	__atomic_store_n(&l->spaces.walked_ns, l->round_ns, __ATOMIC_RELAXED);
	l->round_ns = begun_ns;
}

/* One round over all rings: bytes given, or -errno, or what write returned. */
int64_t kwalk_ring_read(struct kwalk *l, capture_write write, void *ctx)
{
	uint64_t begun_ns = kwalk_now_ns();
	int r;

	l->write = write;
	l->write_ctx = ctx;
	l->given = 0;
	/* A sample is written into its ring before its deferred record is written into another one,
	 * so two rounds see both. */
	map_free(&l->early[1]);
	l->early[1] = l->early[0];
	l->early[0] = (struct map){ 0 };
	/* Whether records of the session's rings are wanted depends on which processes are
	 * followed. */
	if (kwalk_filters_any(&l->opts.filters) && !kwalk_is_over(l))
		follow_drain(l);
	r = ring_drain_all(l);
	if (r >= 0)
		r = ring_resolve(l);
	ring_walked(l, begun_ns);
	if (r >= 0)
		r = ring_lost(l);
	return r < 0 ? r : l->given;
}

/* Called once, when no task can answer any more. Bytes given, or what write returned. */
int64_t kwalk_ring_end(struct kwalk *l, capture_write write, void *ctx)
{
	uint64_t cookie, at;
	size_t i = 0;
	int r = 0;

	l->write = write;
	l->write_ctx = ctx;
	l->given = 0;
	/* A copy that was to follow does not come any more. */
	for (size_t c = 0; r >= 0 && c < l->n_cpus; c++)
		r = ring_without_raw(&l->rings[c]);
	while (r >= 0 && map_next(&l->remote, &i, &cookie, &at)) {
		struct kwalk_user_chain a;

		if (!map_del(&l->pending_cookies, cookie))
			continue;
		memcpy(&a, l->held.bytes + at, sizeof(a));
		memcpy(l->chain, l->held.bytes + at + sizeof(a), a.n * sizeof(*l->chain));
		ring_answered(l, &a, l->chain);
		r = ring_user_chain_put(l, &a, l->chain);
	}
	map_free(&l->remote);
	l->remote = (struct map){ 0 };
	buf_clear(&l->held);
	return r < 0 ? r : l->given;
}
