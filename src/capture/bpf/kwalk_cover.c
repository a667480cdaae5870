// SPDX-License-Identifier: MIT
/*
 * kwalk_cover.c: what every process has mapped when a recording begins, read by several threads.
 * While one process is read, records about it are applied already: its space is there, and what is
 * read is as old as the reading's begin, so that newer is never overwritten. What is not read
 * because there is too much of it (kwalk_budget.c) has no space until it is sampled.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "capture/bpf/kwalk_parts.h"
#include "base/procfs.h"
#include "base/thread.h"

#define COVER_THREADS 8
#define COVER_TRIES 4
#define COVER_SAID_NS 100000000ull

struct cover {
	struct kwalk *kwalk;
	const pid_t *pids;
	size_t n;
	size_t next; /* taken by threads one by one */
};

/* A callback of maps_read. */
static void cover_keep(void *ctx, const struct kwalk_vma *m)
{
	buf_put(ctx, m, sizeof(*m));
}

/* Makes the space of a process that is about to be read; false: it is known already, or memory is
 * out. */
static bool cover_begin(struct kwalk *l, uint32_t pid, uint64_t *now_ns,
                        struct kwalk_changes *changes)
{
	struct kwalk_space *s;
	bool begun = false;

	pthread_mutex_lock(&l->lock);
	s = kwalk_space_get(&l->spaces, pid, false);
	if (!s || !s->read_ns) {
		s = kwalk_space_get(&l->spaces, pid, true);
		begun = s != NULL;
	}
	*now_ns = kwalk_now_ns();
	/* Before the file is opened: what changes from here on is seen by cover_end. */
	*changes = learn_changes(l, pid);
	if (begun) {
		s->read_ns = *now_ns;
		s->execs = changes->execs;
		s->losses = changes->losses;
		s->reading = true;
	}
	pthread_mutex_unlock(&l->lock);
	return begun;
}

/* False: the process has replaced its program meanwhile, or moved code. The kernel's records say
 * what it mapped since then, but not what an exec took away. */
static bool cover_end(struct kwalk *l, uint32_t pid, const struct kwalk_changes *changes,
                      const struct buf *vmas, bool too_many)
{
	const struct kwalk_vma *m = (const void *)vmas->bytes;
	struct kwalk_changes now;
	struct kwalk_space *s;
	bool same;

	pthread_mutex_lock(&l->lock);
	s = kwalk_space_get(&l->spaces, pid, false);
	now = learn_changes(l, pid);
	if (s && too_many)
		budget_leave(l, s);
	same = s && now.execs == changes->execs && now.losses == changes->losses;
	for (size_t i = 0; same && !too_many && !vmas->failed && i < vmas->n / sizeof(*m); i++)
		kwalk_space_put(s, &m[i]);
	if (s)
		s->reading = false;
	if (s && !same && !too_many)
		s->read_ns = 0; /* to be read anew */
	kwalk_publish(l);
	pthread_mutex_unlock(&l->lock);
	return same || too_many;
}

/* Tries again, some times, while the process changes under the reading. */
static void cover_process(struct kwalk *l, uint32_t pid, struct buf *text, struct buf *vmas)
{
	if (kwalk_is_over(l) || budget_waits(&l->budget))
		return;
	for (unsigned i = 0; i < COVER_TRIES; i++) {
		uint64_t now_ns;
		struct kwalk_changes changes;
		int r;

		if (!cover_begin(l, pid, &now_ns, &changes))
			return;
		buf_clear(text);
		buf_clear(vmas);
		r = maps_read(l, pid, now_ns, text, cover_keep, vmas);
		if (cover_end(l, pid, &changes, vmas, r == -E2BIG))
			return;
	}
}

/* Takes the next process; false: none is left. */
static bool cover_next(struct cover *c, struct buf *text, struct buf *vmas)
{
	size_t i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED);

	if (i >= c->n)
		return false;
	cover_process(c->kwalk, (uint32_t)c->pids[i], text, vmas);
	return true;
}

static void *cover_run(void *ctx)
{
	struct buf text = { 0 }, vmas = { 0 };

	while (cover_next(ctx, &text, &vmas))
		;
	buf_free(&text);
	buf_free(&vmas);
	return NULL;
}

/* Reads the mappings of all processes, in as many threads as there are CPUs, this one among them.
 * said is called now and then with how many are done, if it is not NULL. */
static void cover_all(struct cover *c, void (*said)(void *ctx, size_t done, size_t of), void *ctx)
{
	struct buf text = { 0 }, vmas = { 0 };
	uint64_t said_ns = kwalk_now_ns();
	pthread_t threads[COVER_THREADS];
	int n = 0;

	while (n < COVER_THREADS && n + 1 < (int)cpus_usable() &&
	       thread_start(&threads[n], cover_run, c) == 0)
		n++;
	while (cover_next(c, &text, &vmas)) {
		if (!said || kwalk_now_ns() < said_ns + COVER_SAID_NS)
			continue;
		said_ns = kwalk_now_ns();
		said(ctx, __atomic_load_n(&c->next, __ATOMIC_RELAXED), c->n);
	}
	while (n)
		pthread_join(threads[--n], NULL);
	buf_free(&text);
	buf_free(&vmas);
}

/* The follower, which runs already, reads it under the lock. */
static void cover_budget_since(struct kwalk *l, uint64_t ns)
{
	pthread_mutex_lock(&l->lock);
	l->budget.since_ns = ns;
	pthread_mutex_unlock(&l->lock);
}

int kwalk_target_all(struct kwalk *l, void (*said)(void *ctx, size_t done, size_t of), void *ctx)
{
	struct buf pids = { 0 };
	int r = procfs_numbers(AT_FDCWD, "/proc", &pids);
	struct cover c = { .kwalk = l,
		           .pids = (const void *)pids.bytes,
		           .n = pids.n / sizeof(pid_t) };

	/* All these threads count against one budget, however long they take. */
	cover_budget_since(l, UINT64_MAX - BUDGET_NS);
	if (r >= 0 && !l->opts.fp)
		cover_all(&c, said, ctx);
	cover_budget_since(l, 0);
	buf_free(&pids);
	return r < 0 ? r : 0;
}
