// SPDX-License-Identifier: MIT
/*
 * strangers.c: see strangers.h. Of a record it knows the type and the pids at its beginning.
 *
 * With BPF the side-band events are of every CPU, also if only some processes are recorded. Records
 * of others, which are strangers, must not go into the file. But a process may be recognized only
 * after its first records: the programs choose it when it is sampled, or its fork is read from
 * another ring. So records of strangers wait until the round has ended, or, where tasks are chosen
 * by a filter, until the process ends.
 *
 * Invariants: the records of one process keep their order, and none is given twice. A process that
 * was recognized stays so, because its number is not used again so soon.
 */
#include "recorder/strangers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/record_at.h"

#define STRANGERS_ANCESTORS 64  /* of whom a child may have its mappings */
#define STRANGERS_SAMPLE_PID 24 /* IDENTIFIER and IP are in front */
#define STRANGERS_ID 32         /* at the end of a record: TID, TIME, CPU, IDENTIFIER */

struct strangers_record {
	struct seam_record r;
	bool about; /* pid and parent are known: it is about a process */
	uint32_t pid, parent;
};

/* The offset of the pid, behind which the parent's or the tid stands; 0: the record is about no
 * process. */
static size_t strangers_where(const struct seam_record *r)
{
	switch (r->type) {
	case SEAM_RECORD_SAMPLE:
		return STRANGERS_SAMPLE_PID;
	case SEAM_RECORD_SWITCH:
	case SEAM_RECORD_SWITCH_CPU_WIDE:
		/* Switch records have no pid of their own but in their sample_id. */
		return r->size < 8 + STRANGERS_ID ? 0 : r->size - STRANGERS_ID;
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
	case SEAM_RECORD_COMM:
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
	case SEAM_RECORD_NAMESPACES:
		return 8;
	default:
		return 0;
	}
}

/* The record at the beginning of n bytes; false: it is not whole. */
static bool strangers_look(const unsigned char *at, size_t n, struct strangers_record *ret)
{
	size_t where;

	*ret = (struct strangers_record){ 0 };
	if (!record_at(at, n, &ret->r))
		return false;
	where = strangers_where(&ret->r);
	if (!where || ret->r.size < where + 8)
		return true;
	memcpy(&ret->pid, at + where, 4);
	memcpy(&ret->parent, at + where + 4, 4);
	ret->about = ret->pid != UINT32_MAX; /* else it is the kernel's */
	return true;
}

static int strangers_give(struct strangers *b, uint32_t pid, int depth);

/* NULL is allowed. */
static void strangers_free_held(struct buf *held)
{
	if (held)
		buf_free(held);
	free(held);
}

/* What waits of a process; NULL: nothing. */
static struct buf *strangers_held(struct strangers *b, uint32_t pid)
{
	uint64_t value;

	return map_get(&b->held, pid, &value) ? (struct buf *)(uintptr_t)value : NULL;
}

/* Gives the records that waited for this process. A child that was forked has what its parent had,
 * so the parent's come first. */
static int strangers_give_held(struct strangers *b, uint32_t pid, int depth)
{
	struct buf *held = strangers_held(b, pid);
	struct strangers_record record;
	size_t at = 0;
	int r = 0;

	/* Taken out first: the parent's chain may lead back here in a made-up loop of forks. */
	map_del(&b->held, pid);
	while (held && r >= 0 && !held->failed &&
	       strangers_look(held->bytes + at, held->n - at, &record)) {
		if (record.r.type == SEAM_RECORD_FORK && record.parent != pid &&
		    depth < STRANGERS_ANCESTORS)
			r = strangers_give(b, record.parent, depth + 1);
		if (r >= 0)
			r = b->write(b->write_ctx, record.r.bytes, record.r.size);
		at += record.r.size;
	}
	strangers_free_held(held);
	return r;
}

/* Recognizes a process, once. */
static int strangers_give(struct strangers *b, uint32_t pid, int depth)
{
	if (map_get(&b->known, pid, NULL))
		return 0;
	if (map_put(&b->known, pid, 1) < 0)
		return -ENOMEM;
	return strangers_give_held(b, pid, depth);
}

/* 1: the record belongs into the file. */
static int strangers_is(struct strangers *b, const struct strangers_record *r)
{
	int given;

	if (!r->about || map_get(&b->known, r->pid, NULL))
		return 1;
	/* A child of a recognized process is recognized by its FORK, unless tasks are chosen one by
	 * one. */
	if (!b->is_followed(b->follow_ctx, r->pid) &&
	    (b->chosen || r->r.type != SEAM_RECORD_FORK || !b->inherit ||
	     !map_get(&b->known, r->parent, NULL)))
		return 0;
	given = strangers_give(b, r->pid, 0);
	return given < 0 ? given : 1;
}

/* The EXIT of a process's first thread. */
static bool strangers_ends(const struct strangers_record *r)
{
	uint32_t tid = 0;

	if (r->r.type != SEAM_RECORD_EXIT || r->r.size < 24)
		return false;
	memcpy(&tid, r->r.bytes + 16, 4);
	return tid == r->pid;
}

/* A process may still be chosen while it lives. */
static int strangers_hold(struct strangers *b, const struct strangers_record *r)
{
	struct buf *held = strangers_held(b, r->pid);

	if (r->r.type == SEAM_RECORD_SAMPLE || r->r.type == SEAM_RECORD_SWITCH ||
	    r->r.type == SEAM_RECORD_SWITCH_CPU_WIDE) /* of a time when it was not */
		return 0;
	if (strangers_ends(r)) {
		map_del(&b->held, r->pid);
		strangers_free_held(held);
		return 0;
	}
	if (!held) {
		held = calloc(1, sizeof(*held));
		if (!held || map_put(&b->held, r->pid, (uint64_t)(uintptr_t)held) < 0) {
			free(held);
			return -ENOMEM;
		}
	}
	return buf_put(held, r->r.bytes, r->r.size);
}

/* The round ends: records of processes that are still strangers are dropped, or kept where tasks
 * may still be chosen. */
static int strangers_release(struct strangers *b)
{
	struct strangers_record record;
	size_t at = 0;
	int r = 0;

	while (r >= 0 && strangers_look(b->waiting.bytes + at, b->waiting.n - at, &record)) {
		r = strangers_is(b, &record);
		if (r > 0)
			r = b->write(b->write_ctx, record.r.bytes, record.r.size);
		else if (!r && b->chosen)
			r = strangers_hold(b, &record);
		at += record.r.size;
	}
	buf_clear(&b->waiting);
	return r;
}

/* Records of processes that are known are given at once, others when the round ends. -EBADMSG: the
 * bytes end within a record. */
int strangers_write(void *ctx, const void *bytes, size_t n)
{
	struct strangers *b = ctx;
	const unsigned char *at = bytes;
	struct strangers_record record;
	int r = 0;

	/* Only whole records: what the rings give is never cut. */
	for (; r >= 0 && strangers_look(at, n, &record); at += record.r.size, n -= record.r.size) {
		/* All records of the round are there: what is a stranger now stays one. */
		if (record.r.type == SEAM_RECORD_FINISHED_ROUND)
			r = strangers_release(b);
		if (r >= 0)
			r = strangers_is(b, &record);
		if (r > 0)
			r = b->write(b->write_ctx, at, record.r.size);
		else if (!r)
			r = buf_put(&b->waiting, at, record.r.size);
	}
	return r >= 0 && n ? -EBADMSG : r;
}

void strangers_free(struct strangers *b)
{
	uint64_t pid, value;
	size_t i = 0;

	while (map_next(&b->held, &i, &pid, &value))
		strangers_free_held((struct buf *)(uintptr_t)value);
	map_free(&b->held);
	map_free(&b->known);
	buf_free(&b->waiting);
	*b = (struct strangers){ 0 };
}
