// SPDX-License-Identifier: MIT
/*
 * taken.c: see taken.h. Samples are walked outside as they come, since what was mapped is
 * remembered only for a while; answers find their samples at the end, for either may come first.
 */
#include "taken.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/record.h"
#include "abi/record_at.h"
#include "event/event.h"
#include "capture/session.h"
#include "capture/target.h"
#include "recorder/bpf_table.h"
#include "recorder/bpf_walk.h"

#define TAKEN_FREQUENCY 997

struct taken_answer {
	uint64_t cookie;
	size_t frames, n;
	enum kwalk_end end;
	bool remote, guessed;
};

static size_t taken_put(struct taken *t, const uint64_t *words, size_t n)
{
	size_t at = t->words.n / sizeof(*words);

	buf_put(&t->words, words, n * sizeof(*words));
	return at;
}

/* Nothing is known to have been mapped there at the time: the process has replaced its program too
 * often since. */
static bool taken_is_gone(struct taken *t, const struct taken_stack *s)
{
	uint64_t pc = s->walk_pc - (s->n_walked > 1); /* the first is no return address */
	struct kwalk_table table;

	return s->walk_end == WALK_NO_INFO &&
	       kwalk_find(t->kwalk, s->pid, s->time_ns, pc, &table) < 0;
}

static void taken_keep(struct taken *t, struct taken_stack *s, const struct kwalk_raw *raw)
{
	if (!t->opts->keep)
		return;
	s->raw = t->bytes.n;
	s->n_raw = offsetof(struct kwalk_raw, stack) + raw->n;
	buf_put(&t->bytes, raw, s->n_raw);
	buf_put_zeros(&t->bytes, -s->n_raw & 7);
}

static void taken_answer(struct taken *t, const struct taken_answer *answer)
{
	buf_put(&t->answers, answer, sizeof(*answer));
}

static size_t taken_sample(void *ctx, const struct kwalk_sample *sample, const uint64_t *user,
                           const struct kwalk_raw *raw, uint64_t *frames, uint64_t *sps,
                           enum kwalk_end *end)
{
	struct taken *t = ctx;
	struct taken_stack s = { .pid = sample->pid,
		                 .tid = sample->tid,
		                 .time_ns = sample->time_ns,
		                 .cookie = sample->cookie,
		                 .first = sample->end,
		                 .end = sample->end,
		                 .guessed = sample->guessed,
		                 .prefix = sample->n_user,
		                 .stack = raw->start,
		                 .n_stack = raw->n };
	struct walk walk;

	bpf_walk(t->kwalk, t->tables, NULL, sample, raw, frames, sps, &walk);
	*end = bpf_walk_end(t->kwalk, sample, &walk);
	if (sample->kind == KWALK_USER_CHAIN) {
		taken_answer(t, &(struct taken_answer){ .cookie = sample->cookie,
		                                        .frames = taken_put(t, frames, walk.n),
		                                        .n = walk.n,
		                                        .end = *end });
		return walk.n;
	}
	s.walk_end = walk.end;
	s.walk_pc = walk.end_pc;
	s.walk_needed = walk.needed;
	s.walked = taken_put(t, frames, walk.n);
	s.n_walked = walk.n;
	s.gone = taken_is_gone(t, &s);
	s.unanswered = sample->end == KWALK_DEFERRED;
	s.outside = sample->cookie && !s.unanswered;
	s.frames = s.outside ? s.walked : taken_put(t, user, sample->n_user);
	s.n = s.outside ? s.n_walked : sample->n_user;
	if (s.outside && walk.n >= sample->n_user &&
	    memcmp(user, frames, sample->n_user * sizeof(*user)))
		s.prefix = SIZE_MAX; /* no beginning of what was found outside */
	taken_keep(t, &s, raw);
	buf_put(&t->stacks, &s, sizeof(s));
	return s.outside ? walk.n : 0;
}

static void taken_answered(void *ctx, const struct kwalk_user_chain *a, const uint64_t *frames)
{
	struct taken *t = ctx;

	taken_answer(t, &(struct taken_answer){ .cookie = a->cookie,
	                                        .frames = taken_put(t, frames, a->n),
	                                        .n = a->n,
	                                        .end = a->end,
	                                        .remote = a->remote,
	                                        .guessed = a->guessed });
}

static void taken_table(void *ctx, const struct kwalk_ask *ask, struct kwalk_table *ret)
{
	struct taken *t = ctx;

	bpf_table_once(t->tables, ask, ret);
}

/* What the kernel says of mappings, for those who do not trust what the programs were told. */
static int taken_write(void *ctx, const void *bytes, size_t n)
{
	struct taken *t = ctx;
	const unsigned char *at = bytes;
	struct seam_record record;
	struct seam_decoded d;

	for (; record_at(at, n, &record); at += record.size, n -= record.size) {
		if (record.type != SEAM_RECORD_SAMPLE &&
		    record_decode(t->events, &record, &d, NULL) >= 0) {
			if (record.type == SEAM_RECORD_LOST_SAMPLES)
				*(record.misc & SEAM_MISC_LOST_TASKS ? &t->told_tasks
				                                     : &t->told_lost) +=
				        d.lost.lost;
			proc_learn(t->procs, &d);
		}
	}
	return n ? -EBADMSG : 0;
}

/* ---- recording ---- */

static int taken_open(struct taken *t, pid_t pid, struct session **session, struct seam_error *err)
{
	const struct taken_opts *o = t->opts;
	struct tables_opts tables = { .sz = sizeof(tables), .no_cache = o->tables_anew };
	struct proc_opts procs = { .sz = sizeof(procs) };
	struct kwalk_opts opts = { .sz = sizeof(opts),
		                   .when = o->when,
		                   .filter = KWALK_PROCESSES,
		                   .ring_bytes = o->ring_bytes,
		                   .tasks = o->tasks,
		                   .table = taken_table,
		                   .unwind = taken_sample,
		                   .answered = taken_answered,
		                   .raw = !o->no_copies,
		                   .ctx = t };
	struct event_list events = { 0 };
	struct session_opts so = { .sz = sizeof(so),
		                   .target = SESSION_SYSTEM,
		                   .frequency = o->frequency ? o->frequency : TAKEN_FREQUENCY,
		                   .use_clockid = true,
		                   .clockid = CLOCK_MONOTONIC,
		                   .start_paused = true };
	int r = tables_new(&t->tables, &tables);

	if (r >= 0)
		r = proc_new(&t->procs, &procs);
	if (r >= 0)
		r = event_list_parse(&events, "cpu-clock", NULL, err);
	if (r >= 0)
		r = kwalk_open(&t->kwalk, &opts, err);
	if (r >= 0)
		r = kwalk_target(t->kwalk, pid);
	so.events = &events;
	if (r >= 0) {
		kwalk_source(t->kwalk, &so.source);
		r = session_open(session, &so, err);
	}
	event_list_free(&events);
	if (r >= 0)
		t->events = session_events(*session);
	return r;
}

static int taken_run(struct taken *t, struct session *session, struct target *target)
{
	int r = session_start(session);

	if (r >= 0)
		r = session_resume(session);
	if (r >= 0)
		r = target_go(target);
	while (r >= 0 && !target_poll(target)) {
		session_wait(session, 50);
		if (!t->opts->read_late && session_read(session, taken_write, t) < 0)
			r = -EIO;
	}
	if (r >= 0)
		r = session_stop(session);
	if (r >= 0 && t->opts->no_time)
		session_end_by(session, 1);
	if (r >= 0) {
		session_settle(session, 300, taken_write, t);
		session_finish(session, taken_write, t);
		kwalk_total(t->kwalk, &t->totals);
	}
	return r;
}

static void taken_join(struct taken *t)
{
	const struct taken_answer *answers = (const void *)t->answers.bytes;
	struct taken_stack *stacks = (void *)t->stacks.bytes;
	struct map by_cookie = { 0 };
	uint64_t at;

	for (size_t i = 0; i < t->answers.n / sizeof(*answers); i++)
		map_put(&by_cookie, answers[i].cookie, i);
	for (size_t i = 0; i < taken_count(t); i++) {
		struct taken_stack *s = &stacks[i];

		if (!s->unanswered || !map_get(&by_cookie, s->cookie, &at))
			continue;
		s->unanswered = false;
		s->end = answers[at].end;
		s->frames = answers[at].frames;
		s->n = s->prefix = answers[at].n;
		s->remote = answers[at].remote;
		s->guessed = answers[at].guessed;
	}
	map_free(&by_cookie);
}

int taken_record(struct taken *ret, const char *command, const struct taken_opts *opts)
{
	char line[4096], *argv[] = { (char *)"sh", (char *)"-c", line, NULL };
	struct session *session = NULL;
	struct seam_error err = { 0 };
	struct target target;
	int r;

	*ret = (struct taken){ .opts = opts, .totals = { .sz = sizeof(ret->totals) } };
	snprintf(line, sizeof(line), "exec >/dev/null 2>&1; %s", command);
	r = target_fork(&target, argv, true);
	if (r < 0)
		return r;
	r = taken_open(ret, target.pid, &session, &err);
	if (r >= 0)
		r = taken_run(ret, session, &target);
	if (r >= 0)
		r = proc_seal(ret->procs);
	if (r >= 0)
		taken_join(ret);
	else
		printf("%s: %s %s\n", command, strerror(-r), err.text);
	session_close(session);
	kwalk_close(ret->kwalk);
	ret->kwalk = NULL;
	ret->events = NULL;
	target_close(&target);
	return r;
}

void taken_free(struct taken *t)
{
	buf_free(&t->stacks);
	buf_free(&t->words);
	buf_free(&t->bytes);
	buf_free(&t->answers);
	proc_free(t->procs);
	tables_free(t->tables);
}

size_t taken_count(const struct taken *t)
{
	return t->stacks.n / sizeof(struct taken_stack);
}

const struct taken_stack *taken_at(const struct taken *t, size_t i)
{
	return (const struct taken_stack *)(const void *)t->stacks.bytes + i;
}

const uint64_t *taken_words(const struct taken *t, size_t at)
{
	return (const uint64_t *)(const void *)t->words.bytes + at;
}

const struct kwalk_raw *taken_raw(const struct taken *t, const struct taken_stack *s)
{
	return s->n_raw ? (const void *)(t->bytes.bytes + s->raw) : NULL;
}
