// SPDX-License-Identifier: MIT
/*
 * window_side.c: see window_side.h.
 *
 * A number is used by one thread after the other: each use is a life, from its FORK, or the first
 * record of it, to its EXIT. Every record belongs to a life: those of mappings to the process's
 * first thread. A life that is over is kept as long as one that it began needs what it inherited
 * (its name, and a process also its mappings): until that one has done an exec, or is over, too.
 * The first thread of a process is kept as long as any of its threads.
 *
 * What is not known for certain is kept: threads whose EXIT was lost, records of the kernel.
 */
#include "recorder/window_side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "abi/record_at.h"
#include "abi/runtime_code.h"
#include "base/map.h"

#define NO_LIFE UINT32_MAX

struct side_life {
	uint32_t parent;  /* that it inherited from; NO_LIFE: nobody */
	uint32_t first;   /* thread of its process, which may be itself */
	uint32_t another; /* thread of the process that began before it; NO_LIFE: none */
	uint32_t newest;  /* of a first thread: the thread that began last */
	uint32_t tid;
	uint64_t begin_ns; /* 0: not known */
	uint64_t exec_ns;  /* then it left behind what it inherited; 0: it did not */
	uint64_t end_ns;   /* 0: it lives */
	uint64_t from_ns;  /* from then on it is asked for; of what is kept */
	bool kept;
};

struct side {
	const struct seam_events *events;
	struct map now;   /* pid << 32 | tid -> its life now */
	struct buf lives; /* struct side_life */
	struct buf whose; /* uint32_t: the life of each record */
};

static struct side_life *side_at(const struct side *s, uint32_t life)
{
	return (struct side_life *)(void *)s->lives.bytes + life;
}

static uint64_t side_key(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

/* All threads of a process but one are over, whatever was told of them. */
static void side_end_others(const struct side *s, uint32_t first, uint32_t but, uint64_t time_ns)
{
	for (uint32_t i = side_at(s, first)->newest; i != NO_LIFE; i = side_at(s, i)->another)
		if (i != but && !side_at(s, i)->end_ns)
			side_at(s, i)->end_ns = time_ns ? time_ns : 1;
}

/* Begins a life. first NO_LIFE: of a process. NO_LIFE: out of memory. */
static uint32_t side_begin(struct side *s, uint32_t pid, uint32_t tid, uint32_t parent,
                           uint32_t first)
{
	uint32_t n = (uint32_t)(s->lives.n / sizeof(struct side_life));
	struct side_life life = { .parent = parent,
		                  .first = first == NO_LIFE ? n : first,
		                  .another = NO_LIFE,
		                  .newest = n,
		                  .tid = tid };
	uint64_t before;

	/* Its number is used again: so the one that had it is over, and all of its process. */
	if (map_get(&s->now, side_key(pid, tid), &before) && first == NO_LIFE)
		side_end_others(s, (uint32_t)before, NO_LIFE, 1);
	else if (map_get(&s->now, side_key(pid, tid), &before) &&
	         !side_at(s, (uint32_t)before)->end_ns)
		side_at(s, (uint32_t)before)->end_ns = 1;
	if (first != NO_LIFE) {
		life.another = side_at(s, first)->newest;
		side_at(s, first)->newest = n;
	}
	if (buf_put(&s->lives, &life, sizeof(life)) < 0 ||
	    map_put(&s->now, side_key(pid, tid), n) < 0)
		return NO_LIFE;
	return n;
}

/* The life that a thread has now; one begins with the first record of it. */
static uint32_t side_of(struct side *s, uint32_t pid, uint32_t tid)
{
	uint32_t first = NO_LIFE;
	uint64_t life;

	if (map_get(&s->now, side_key(pid, tid), &life))
		return (uint32_t)life;
	if (pid != tid) {
		first = side_of(s, pid, pid);
		if (first == NO_LIFE)
			return NO_LIFE;
	}
	return side_begin(s, pid, tid, NO_LIFE, first);
}

/* What a record says of lives. */
struct side_event {
	uint64_t time_ns; /* 0: before all others */
	uint32_t type, pid, tid, ppid, ptid;
	uint32_t record; /* which one it is */
	bool exec;       /* of a COMM; of a FORK: perf's own */
};

/* FORK: a thread of a process, or another process. */
static uint32_t side_fork(struct side *s, const struct side_event *e)
{
	uint64_t parent = NO_LIFE;
	uint32_t first = NO_LIFE, life;

	/* perf's own FORK of what ran already inherits nothing. */
	if (!e->exec && !map_get(&s->now, side_key(e->ppid, e->ptid), &parent))
		map_get(&s->now, side_key(e->ppid, e->ppid), &parent);
	if (e->pid == e->ppid && e->pid != e->tid) {
		first = side_of(s, e->pid, e->pid);
		if (first == NO_LIFE)
			return NO_LIFE;
	}
	life = side_begin(s, e->pid, e->tid, (uint32_t)parent, first);
	if (life != NO_LIFE)
		side_at(s, life)->begin_ns = e->time_ns;
	return life;
}

/* COMM: an exec ends all threads but one, which takes the first one's number. */
static uint32_t side_comm(struct side *s, const struct side_event *e)
{
	uint32_t life = side_of(s, e->pid, e->tid);

	if (life != NO_LIFE && e->exec) {
		side_end_others(s, side_at(s, life)->first, life, e->time_ns);
		side_at(s, life)->end_ns = 0;
		if (!side_at(s, life)->exec_ns)
			side_at(s, life)->exec_ns = e->time_ns ? e->time_ns : 1;
	}
	return life;
}

/* EXIT. What is told twice ends nobody else. */
static uint32_t side_exit(struct side *s, const struct side_event *e)
{
	uint32_t life = side_of(s, e->pid, e->tid);

	if (life != NO_LIFE && !side_at(s, life)->end_ns)
		side_at(s, life)->end_ns = e->time_ns ? e->time_ns : 1;
	return life;
}

/* The life of a record. NO_LIFE: out of memory. */
static uint32_t side_apply(struct side *s, const struct side_event *e)
{
	switch (e->type) {
	case SEAM_RECORD_FORK:
		return side_fork(s, e);
	case SEAM_RECORD_EXIT:
		return side_exit(s, e);
	case SEAM_RECORD_COMM:
		return side_comm(s, e);
	default:
		return side_of(s, e->pid, e->pid);
	}
}

/* What a record says; false: it is nobody's, and stays. */
static bool side_event(const struct side *s, const struct seam_record *record,
                       struct side_event *ret)
{
	bool is_mapping = record->type == SEAM_RECORD_MMAP || record->type == SEAM_RECORD_MMAP2;
	bool is_task = record->type == SEAM_RECORD_FORK || record->type == SEAM_RECORD_EXIT;
	struct seam_decoded d;

	if ((!is_mapping && !is_task && record->type != SEAM_RECORD_COMM) ||
	    record_decode(s->events, record, &d, NULL) < 0)
		return false;
	ret->type = record->type;
	ret->time_ns = d.id.has & SEAM_SAMPLE_TIME ? d.id.time_ns : is_task ? d.task.time_ns : 0;
	if (is_mapping) {
		ret->pid = ret->tid = d.mmap.pid;
	} else if (is_task) {
		ret->pid = d.task.pid;
		ret->tid = d.task.tid;
		ret->ppid = d.task.ppid;
		ret->ptid = d.task.ptid;
		ret->exec = record->misc & SEAM_MISC_FORK_EXEC;
	} else {
		ret->pid = d.comm.pid;
		ret->tid = d.comm.tid;
		ret->exec = d.comm.exec;
	}
	return ret->pid && ret->pid != UINT32_MAX;
}

static int side_order(const void *a, const void *b)
{
	const struct side_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->record < y->record ? -1 : x->record > y->record;
}

/* A life is asked for from a time on: the earliest of all who ask counts. */
static void side_ask(struct side_life *l, uint64_t from_ns)
{
	if (!l->kept || from_ns < l->from_ns)
		l->from_ns = from_ns;
	l->kept = true;
}

/* Keeps whom kept lives need: their process's first thread, and who they inherited from, as that
 * was when they began. A life comes after its parent and its process's first, so one way back is
 * enough. */
static void side_keep_needed(const struct side *s)
{
	for (size_t i = s->lives.n / sizeof(struct side_life); i--;) {
		struct side_life *l = side_at(s, (uint32_t)i);

		if (!l->kept)
			continue;
		side_ask(side_at(s, l->first), l->from_ns);
		if (l->parent != NO_LIFE && (!l->exec_ns || l->exec_ns >= l->from_ns))
			side_ask(side_at(s, l->parent), l->begin_ns);
	}
}

/* Keeps lives that samples may still come of. */
static void side_keep(const struct side *s, uint64_t from_ns)
{
	for (size_t i = 0; i < s->lives.n / sizeof(struct side_life); i++) {
		struct side_life *l = side_at(s, (uint32_t)i);

		if (!l->end_ns || l->end_ns + WINDOW_SIDE_GRACE_NS >= from_ns)
			side_ask(l, from_ns);
	}
	side_keep_needed(s);
}

/* Keeps lives of threads that were sampled. */
static void side_keep_sampled(const struct side *s, const struct map *threads, uint64_t from_ns)
{
	for (size_t i = 0; i < s->lives.n / sizeof(struct side_life); i++) {
		struct side_life *l = side_at(s, (uint32_t)i);

		if (map_get(threads, l->tid, NULL) &&
		    (!l->end_ns || l->end_ns + WINDOW_SIDE_GRACE_NS >= from_ns))
			side_ask(l, from_ns);
	}
	side_keep_needed(s);
}

/* In place: records only move towards the beginning. */
static void side_compact(const struct side *s, struct buf *side)
{
	const uint32_t *whose = (const void *)s->whose.bytes;
	struct seam_record record;
	size_t to = 0;

	for (size_t at = 0; record_at(side->bytes + at, side->n - at, &record);
	     at += record.size, whose++) {
		if (*whose != NO_LIFE && !side_at(s, *whose)->kept)
			continue;
		memmove(side->bytes + to, side->bytes + at, record.size);
		to += record.size;
	}
	side->n = to;
}

static void side_free(struct side *s)
{
	map_free(&s->now);
	buf_free(&s->lives);
	buf_free(&s->whose);
}

/* What all records say, in order of time: records of several CPUs come in no order, and a FORK may
 * come after what its child did. -ENOMEM. */
static int side_read(struct side *s, const struct buf *side, struct buf *events)
{
	const uint32_t nobody = NO_LIFE;
	struct seam_record record;
	uint64_t last_ns = 0;
	bool sorted = true;
	uint32_t n = 0;

	for (size_t at = 0; record_at(side->bytes + at, side->n - at, &record);
	     at += record.size, n++) {
		struct side_event e = { .record = n };

		if (buf_put(&s->whose, &nobody, sizeof(nobody)) < 0)
			return -ENOMEM;
		if (!side_event(s, &record, &e))
			continue;
		sorted &= e.time_ns >= last_ns;
		last_ns = e.time_ns;
		if (buf_put(events, &e, sizeof(e)) < 0)
			return -ENOMEM;
	}
	if (!sorted)
		qsort(events->bytes, events->n / sizeof(struct side_event),
		      sizeof(struct side_event), side_order);
	return 0;
}

/* Finds whose each record is. -ENOMEM. */
static int side_learn(struct side *s, const struct buf *side)
{
	struct buf events = { 0 };
	int r = side_read(s, side, &events);
	const struct side_event *e = (const void *)events.bytes;

	for (size_t i = 0; r >= 0 && i < events.n / sizeof(*e); i++) {
		uint32_t life = side_apply(s, &e[i]);

		((uint32_t *)(void *)s->whose.bytes)[e[i].record] = life;
		r = life == NO_LIFE ? -ENOMEM : 0;
	}
	buf_free(&events);
	return r;
}

/* Two walks over all records: the first finds whose each is, the second takes out. */
int window_side_prune(struct buf *side, const struct seam_events *events, uint64_t from_ns)
{
	struct side s = { .events = events };
	int r = side_learn(&s, side);

	if (r >= 0) {
		side_keep(&s, from_ns);
		side_compact(&s, side);
	}
	side_free(&s);
	return r < 0 ? r : 0;
}

/* Hands on runs of records, as long as they are. */
static int side_give(const struct side *s, const struct buf *side,
                     int (*give)(void *ctx, const void *bytes, size_t n), void *ctx)
{
	const uint32_t *whose = (const void *)s->whose.bytes;
	struct seam_record record;
	size_t from = 0, at = 0;
	int r = 0;

	for (; r >= 0 && record_at(side->bytes + at, side->n - at, &record);
	     at += record.size, whose++) {
		if (*whose == NO_LIFE || side_at(s, *whose)->kept)
			continue;
		if (at > from)
			r = give(ctx, side->bytes + from, at - from);
		from = at + record.size;
	}
	return r >= 0 && at > from ? give(ctx, side->bytes + from, at - from) : r;
}

int window_side_sampled(const struct buf *side, const struct seam_events *events,
                        const struct map *threads, uint64_t from_ns,
                        int (*give)(void *ctx, const void *bytes, size_t n), void *ctx)
{
	struct side s = { .events = events };
	int r = side_learn(&s, side);

	if (r >= 0) {
		side_keep_sampled(&s, threads, from_ns);
		r = side_give(&s, side, give, ctx);
	}
	side_free(&s);
	return r < 0 ? r : 0;
}

/* In place, as above. */
void window_side_names(struct buf *side, const struct seam_events *events)
{
	struct seam_record record;
	struct seam_decoded d;
	size_t to = 0;

	for (size_t at = 0; record_at(side->bytes + at, side->n - at, &record); at += record.size) {
		if (record.type != SEAM_RECORD_KSYMBOL ||
		    record_decode(events, &record, &d, NULL) < 0 ||
		    !runtime_code_is(d.ksymbol.addr))
			continue;
		memmove(side->bytes + to, side->bytes + at, record.size);
		to += record.size;
	}
	side->n = to;
}
