// SPDX-License-Identifier: MIT
/*
 * session_pending.c: finds out from the records that pass which tasks owe a deferred record of the
 * kernel's own deferral. When sampling has ended, somebody else reads the stacks of those that
 * sleep (opts.read_asleep), and deferred records are made of them.
 *
 * A task enters the kernel with one cookie at a time, so that it owes one record at most. It is
 * settled by that record, by any later record of the task, or by its end.
 *
 * Invariant: such a record is written when the task cannot write its own any more, and only if it
 * has not: there is one for each cookie.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "abi/record.h"
#include "abi/encode.h"
#include "abi/record_at.h"
#include "abi/stack_end.h"
#include "capture/session_parts.h"

/* In pending.stacks, with n addresses behind it. The offset of one is in `held`. */
struct pending_stack {
	uint64_t cookie;
	uint32_t cpu, end;
	uint64_t n;
};

/* With a source (BPF) the source itself reads what tasks owe. */
bool session_owes(const struct session *s)
{
	return s->mode.stack == MODE_FP_DEFER && !session_has_source(s);
}

void session_pending_free(struct session *s)
{
	free(s->pending.tasks);
	map_free(&s->pending.by_tid);
	map_free(&s->pending.held);
	buf_free(&s->pending.stacks);
}

/* -- while it records: out of memory means that a task is not looked after, no more -- */

static struct pending_task *pending_find(struct pending *o, uint32_t tid)
{
	uint64_t i;

	return map_get(&o->by_tid, tid, &i) ? &o->tasks[i] : NULL;
}

/* The entry of a task, made when new; NULL: out of memory. It may move when another is made. */
static struct pending_task *pending_make(struct pending *o, uint32_t tid)
{
	struct pending_task *t = pending_find(o, tid);

	if (t)
		return t;
	if (ARRAY_ROOM(&o->tasks, &o->capacity, o->n + 1) < 0)
		return NULL;
	if (map_put(&o->by_tid, tid, o->n) < 0)
		return NULL;
	t = &o->tasks[o->n++];
	*t = (struct pending_task){ .tid = tid };
	return t;
}

/* Sets or clears what a task owes, and keeps the count of those that owe. */
static void pending_set(struct pending *o, struct pending_task *t, uint64_t cookie)
{
	o->owing += !!cookie;
	o->owing -= !!t->cookie;
	t->cookie = cookie;
}

/* Notes that the sample's task now owes a deferred record, unless it has answered already. Rings
 * are read one after the other, so records come out of order: times decide. */
static void pending_sample(struct pending *o, const struct seam_decoded *d)
{
	const struct seam_u64s *chain = &d->sample.callchain;
	uint64_t cookie, time_ns = d->id.time_ns;
	struct pending_task *t;

	/* Cookie and its marker are the last two words of the chain. */
	if (chain->n < 2 || seam_u64s_at(chain, chain->n - 2) != SEAM_CONTEXT_USER_DEFERRED)
		return;
	cookie = seam_u64s_at(chain, chain->n - 1);
	t = pending_make(o, d->id.tid);
	if (t && t->exited && time_ns > t->exited_ns) { /* another task by that number */
		*t = (struct pending_task){ .tid = t->tid };
		o->exits--;
	}
	if (!t || t->exited || cookie == t->answered || time_ns < t->answered_ns ||
	    (t->cookie && time_ns < t->since_ns))
		return;
	pending_set(o, t, cookie);
	t->pid = d->id.pid;
	t->since_ns = time_ns;
}

/* The task has written its own record: what was read of it while it slept is not needed. */
static void pending_deferred(struct pending *o, const struct seam_decoded *d)
{
	uint64_t cookie = d->deferred.cookie, time_ns = d->id.time_ns;
	struct pending_task *t = pending_make(o, d->id.tid);

	o->late += map_del(&o->held, cookie);
	if (!t)
		return;
	if (time_ns >= t->answered_ns) {
		t->answered = cookie;
		t->answered_ns = time_ns;
	}
	/* Its own cookie, or a later entry: the task has left the one that it owed for. */
	if (t->cookie == cookie || (t->cookie && t->since_ns < time_ns))
		pending_set(o, t, 0);
}

/* Other records of the task may be in rings that are read later. What was read of it while it slept
 * stays good. */
static void pending_exit(struct session *s, const struct seam_decoded *d)
{
	struct pending *o = &s->pending;
	struct pending_task *t = pending_make(o, d->task.tid);

	if (!t || (t->cookie && map_get(&o->held, t->cookie, NULL)))
		return;
	pending_set(o, t, 0);
	o->exits += !t->exited;
	/* The number of the round counts from 1, so that 0 says that it lives. */
	t->exited = s->rounds + 1;
	t->exited_ns = d->id.time_ns;
}

/* The last entry takes the place of the one that goes. */
static void pending_forget(struct pending *o, struct pending_task *t)
{
	o->exits--;
	map_del(&o->by_tid, t->tid);
	*t = o->tasks[--o->n];
	if (t != &o->tasks[o->n])
		map_put(&o->by_tid, t->tid, (uint64_t)(t - o->tasks));
}

void session_pending_round(struct session *s)
{
	struct pending *o = &s->pending;

	/* Backwards, because pending_forget moves the last entry into the gap. */
	for (size_t i = o->exits ? o->n : 0; i-- > 0;)
		if (o->tasks[i].exited && o->tasks[i].exited < s->rounds)
			pending_forget(o, &o->tasks[i]);
}

/* Decodes only the three kinds that matter: every other record would cost time for nothing. */
static void pending_see(struct session *s, const struct seam_record *record)
{
	struct seam_decoded d;

	if (record->type != SEAM_RECORD_SAMPLE && record->type != SEAM_RECORD_EXIT &&
	    record->type != SEAM_RECORD_CALLCHAIN_DEFERRED)
		return;
	if (record_decode(s->events, record, &d, NULL) < 0)
		return;
	if (record->type == SEAM_RECORD_SAMPLE)
		pending_sample(&s->pending, &d);
	else if (record->type == SEAM_RECORD_EXIT)
		pending_exit(s, &d);
	else
		pending_deferred(&s->pending, &d);
}

/* The caller's sink comes first. If it does not take the bytes they come again, and are looked at
 * then. */
int session_pending_write(void *tap, const void *bytes, size_t n)
{
	const struct pending_tap *t = tap;
	const unsigned char *at = bytes;
	int r = t->write(t->ctx, bytes, n);
	struct seam_record record;

	for (; r >= 0 && record_at(at, n, &record); at += record.size, n -= record.size)
		pending_see(t->s, &record);
	return r;
}

/* -- at its end -- */

/* A callback of read_asleep: keeps the frames of one stack until the end. */
static void pending_hold(void *ctx, uint64_t cookie, uint32_t cpu, unsigned end,
                         const uint64_t *ips, size_t n)
{
	struct pending *o = ctx;
	const struct pending_stack stack = { .cookie = cookie, .cpu = cpu, .end = end, .n = n };
	size_t at = o->stacks.n;

	/* The stacks lie one behind the other in one buffer, which may move: so `held` has
	 * offsets. */
	buf_put(&o->stacks, &stack, sizeof(stack));
	buf_put(&o->stacks, ips, n * sizeof(*ips));
	if (!o->stacks.failed)
		map_put(&o->held, cookie, at);
}

/* Asks opts.read_asleep for the stacks that are owed, once sampling has ended: a task that still
 * sleeps in the kernel will not write its own. o->why says what was missing, or is "". */
void session_pending_read(struct session *s)
{
	struct pending *o = &s->pending;
	struct seam_error err = { .text = "nobody is there who could" };
	uint64_t *cookies = o->owing ? calloc(o->owing, sizeof(*cookies)) : NULL;
	size_t n = 0;
	int r = -EOPNOTSUPP;

	/* None owes one; or out of memory, and then the samples stay without a user part. */
	if (!cookies)
		return;
	for (size_t i = 0; i < o->n; i++)
		if (o->tasks[i].cookie && !map_get(&o->held, o->tasks[i].cookie, NULL))
			cookies[n++] = o->tasks[i].cookie;
	if (s->opts.read_asleep)
		r = s->opts.read_asleep(cookies, n, pending_hold, o, &err);
	snprintf(o->why, sizeof(o->why), "%.199s", r < 0 ? err.text : "");
	free(cookies);
}

/* Every task that owes was read, so that nothing is left to wait for. */
bool session_pending_all_held(const struct session *s)
{
	return s->pending.owing == s->pending.held.n;
}

/* The event that receives deferred records; NULL: none does. */
static const struct session_stream *pending_stream(const struct session *s)
{
	for (size_t i = 0; i < s->n_streams; i++)
		if (s->streams[i].attr.flags & SEAM_ATTR_DEFER_OUTPUT)
			return &s->streams[i];
	return NULL;
}

/* The id of the event on that CPU, or on any. */
static uint64_t pending_id(const struct session *s, const struct session_stream *st, uint32_t cpu)
{
	size_t n = stream_rows(s, st) * st->n_cpus, any = 0;

	for (size_t i = n; i-- > 0;) {
		if (st->fds[i] < 0)
			continue;
		any = i;
		if ((uint32_t)st->cpus[i % st->n_cpus] == cpu)
			break;
	}
	return st->ids[any];
}

/* Encodes a record as the kernel would have: under the event that asked for it and the CPU of the
 * sample. */
static int pending_put(const struct session *s, const struct pending_task *t,
                       const struct pending_stack *stack, const unsigned char *ips, uint64_t now_ns,
                       struct buf *out)
{
	const struct session_stream *st = pending_stream(s);
	struct seam_callchain_deferred answer = { .cookie = stack->cookie,
		                                  .ips = { .bytes = ips, .n = stack->n } };
	struct seam_id id = { .pid = t->pid, .tid = t->tid, .cpu = stack->cpu, .time_ns = now_ns };

	if (!st)
		return -EINVAL;
	id.id = id.stream_id = pending_id(s, st, stack->cpu);
	return encode_deferred(out, &st->attr,
	                       SEAM_MISC_USER | stack_end_misc((enum stack_end)stack->end, false),
	                       &answer, &id);
}

/* The records get the time of their writing. So after an exec in between such a record is not
 * merged; it is never merged with the wrong sample. */
static int pending_now(struct session *s, uint64_t *ret_ns)
{
	int r = s->opts.no_sample_time ? 0 : session_clock(s, ret_ns);

	if (r < 0)
		snprintf(s->pending.why, sizeof(s->pending.why),
		         "the clock of the records is not known: %s", strerror(-r));
	return r;
}

/* Called once, after the last ring was read. Does nothing where the time of the records' clock
 * cannot be known; pending.why says so. */
int64_t session_pending_give(struct session *s, capture_write write, void *ctx)
{
	struct pending *o = &s->pending;
	uint64_t at, now_ns = 0;
	int64_t sum = 0;

	if (!o->held.n || pending_now(s, &now_ns) < 0)
		return 0;
	for (size_t i = 0; i < o->n; i++) {
		struct pending_task *t = &o->tasks[i];
		struct pending_stack stack;
		struct buf out = { 0 };
		int r;

		/* It may have written its own since it was read. */
		if (!t->cookie || !map_get(&o->held, t->cookie, &at))
			continue;
		memcpy(&stack, o->stacks.bytes + at, sizeof(stack));
		r = pending_put(s, t, &stack, o->stacks.bytes + at + sizeof(stack), now_ns, &out);
		if (r >= 0)
			r = write(ctx, out.bytes, out.n);
		sum += (int64_t)out.n;
		buf_free(&out);
		if (r < 0)
			return r;
		pending_set(o, t, 0);
		o->read++;
	}
	return sum;
}
