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
	uint64_t end_ns;  /* 0: it lives */
	bool execs;       /* it has left behind what it inherited */
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
		                  .newest = n };
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

/* FORK: a thread of a process, or another process. */
static uint32_t side_fork(struct side *s, const struct seam_task *t, uint16_t misc)
{
	uint64_t parent = NO_LIFE;
	uint32_t first = NO_LIFE;

	/* perf's own FORK of what ran already inherits nothing. */
	if (!(misc & SEAM_MISC_FORK_EXEC) && !map_get(&s->now, side_key(t->ppid, t->ptid), &parent))
		map_get(&s->now, side_key(t->ppid, t->ppid), &parent);
	if (t->pid == t->ppid && t->pid != t->tid) {
		first = side_of(s, t->pid, t->pid);
		if (first == NO_LIFE)
			return NO_LIFE;
	}
	return side_begin(s, t->pid, t->tid, (uint32_t)parent, first);
}

/* COMM: an exec ends all threads but one, which takes the first one's number. */
static uint32_t side_comm(struct side *s, const struct seam_comm *c, uint64_t time_ns)
{
	uint32_t life = side_of(s, c->pid, c->tid);

	if (life != NO_LIFE && c->exec) {
		side_end_others(s, side_at(s, life)->first, life, time_ns);
		side_at(s, life)->end_ns = 0;
		side_at(s, life)->execs = true;
	}
	return life;
}

/* EXIT. What is told twice ends nobody else. */
static uint32_t side_exit(struct side *s, const struct seam_task *t)
{
	uint32_t life = side_of(s, t->pid, t->tid);

	if (life != NO_LIFE && !side_at(s, life)->end_ns)
		side_at(s, life)->end_ns = t->time_ns ? t->time_ns : 1;
	return life;
}

/* Finds the life of a record. NO_LIFE in *ret: it is nobody's, and stays. -ENOMEM. */
static int side_record(struct side *s, const struct seam_record *record, uint32_t *ret)
{
	struct seam_decoded d;
	bool is_mapping = record->type == SEAM_RECORD_MMAP || record->type == SEAM_RECORD_MMAP2;
	bool is_task = record->type == SEAM_RECORD_FORK || record->type == SEAM_RECORD_EXIT;
	uint32_t pid;

	*ret = NO_LIFE;
	if ((!is_mapping && !is_task && record->type != SEAM_RECORD_COMM) ||
	    record_decode(s->events, record, &d, NULL) < 0)
		return 0;
	pid = is_mapping ? d.mmap.pid : is_task ? d.task.pid : d.comm.pid;
	if (!pid || pid == UINT32_MAX)
		return 0;
	if (is_mapping)
		*ret = side_of(s, pid, pid);
	else if (record->type == SEAM_RECORD_FORK)
		*ret = side_fork(s, &d.task, record->misc);
	else if (is_task)
		*ret = side_exit(s, &d.task);
	else
		*ret = side_comm(s, &d.comm, d.id.has & SEAM_SAMPLE_TIME ? d.id.time_ns : 0);
	return *ret == NO_LIFE ? -ENOMEM : 0;
}

/* Which lives are kept: those that samples may still come of, and whom these need. A life comes
 * after its parent and its process's first, so one way back is enough. */
static void side_keep(const struct side *s, uint64_t from_ns)
{
	for (size_t i = s->lives.n / sizeof(struct side_life); i--;) {
		struct side_life *l = side_at(s, (uint32_t)i);

		l->kept |= !l->end_ns || l->end_ns + WINDOW_SIDE_GRACE_NS >= from_ns;
		if (!l->kept)
			continue;
		side_at(s, l->first)->kept = true;
		if (!l->execs && l->parent != NO_LIFE)
			side_at(s, l->parent)->kept = true;
	}
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

/* Two walks over all records: the first finds whose each is, the second takes out. */
int window_side_prune(struct buf *side, const struct seam_events *events, uint64_t from_ns)
{
	struct side s = { .events = events };
	struct seam_record record;
	int r = 0;

	for (size_t at = 0; r >= 0 && record_at(side->bytes + at, side->n - at, &record);
	     at += record.size) {
		uint32_t life;

		r = side_record(&s, &record, &life);
		if (r >= 0)
			r = buf_put(&s.whose, &life, sizeof(life));
	}
	if (r >= 0) {
		side_keep(&s, from_ns);
		side_compact(&s, side);
	}
	map_free(&s.now);
	buf_free(&s.lives);
	buf_free(&s.whose);
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
