// SPDX-License-Identifier: MIT
/*
 * kwalk_later.c: mappings whose table is made when a walk wants it. Where samples are rare most
 * programs are never sampled, and making a table reads the whole of a program's unwind information.
 * So a mapping of a file that nobody has sampled yet is kept with what was to be asked, and the
 * programs do not know it: the first sample there brings a copy of its stack. When that is walked
 * the question is asked, if the stack goes through this mapping.
 *
 * Questions are bounded, and equal ones are one. What is forgotten for newer ones has no table: a
 * walk ends there and says so.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/bpf/kwalk_parts.h"

#define LATER_PERIOD_NS 20000000u /* between two samples */

/* A question. Its number is its place, but for what is before it by a multiple of LATER_MAX. */
struct later_question {
	struct kwalk_ask ask;
	char *path;
	uint64_t hash;
	uint32_t number; /* 0: none */
};

bool later_is_on(const struct kwalk *l)
{
	return l->opts.filter == KWALK_EVERYTHING && l->counts_losses &&
	       l->opts.period_ns >= LATER_PERIOD_NS && !l->opts.fp;
}

void later_free(struct later *t)
{
	for (size_t i = 0; t->at && i < LATER_MAX; i++)
		free(t->at[i].path);
	free(t->at);
	map_free(&t->by_hash);
	pthread_mutex_destroy(&t->lock);
}

void later_init(struct later *t)
{
	pthread_mutex_init(&t->lock, NULL);
}

static bool later_is_equal(const struct later_question *a, const struct kwalk_ask *ask)
{
	return a->number && a->ask.pgoff == ask->pgoff && a->ask.size == ask->size &&
	       a->ask.inode == ask->inode && a->ask.build_id_size == ask->build_id_size &&
	       !memcmp(a->ask.build_id, ask->build_id, ask->build_id_size) &&
	       !strcmp(a->path, ask->path);
}

/* Puts a question in the place of the oldest. Under the lock. 0: out of memory. */
static uint32_t later_put(struct later *t, const struct kwalk_ask *ask, uint64_t hash)
{
	uint32_t number = t->last + 1 ? t->last + 1 : 1;
	struct later_question *a = &t->at[number % LATER_MAX];
	char *path = strdup(ask->path);
	uint64_t known;

	if (!path || map_put(&t->by_hash, hash, number) < 0) {
		free(path);
		return 0;
	}
	if (a->number && a->hash != hash && map_get(&t->by_hash, a->hash, &known) &&
	    known == a->number)
		map_del(&t->by_hash, a->hash);
	free(a->path);
	*a = (struct later_question){ .ask = *ask, .path = path, .hash = hash, .number = number };
	t->last = number;
	return number;
}

/* The number of a question; 0: it must be asked now. */
uint32_t later_add(struct kwalk *l, const struct kwalk_ask *ask)
{
	const uint64_t words[] = { ask->pgoff, ask->size, ask->inode };
	uint64_t hash = map_hash_quick(words, sizeof(words), map_secret()), known = 0;
	struct later *t = &l->later;
	uint32_t number = 0;

	hash ^= map_hash_quick(ask->build_id, ask->build_id_size, map_secret());
	hash = map_hash_quick(ask->path, strlen(ask->path), map_secret() ^ hash);
	pthread_mutex_lock(&t->lock);
	if (!t->at)
		t->at = calloc(LATER_MAX, sizeof(*t->at));
	if (t->at && map_get(&t->by_hash, hash, &known) &&
	    later_is_equal(&t->at[known % LATER_MAX], ask))
		number = (uint32_t)known;
	else if (t->at)
		number = later_put(t, ask, hash);
	pthread_mutex_unlock(&t->lock);
	return number;
}

/* Asks a question for a process, unless it is forgotten. Not under the lock of kwalk. */
static void later_ask(struct kwalk *l, uint32_t number, uint32_t pid, struct kwalk_table *ret)
{
	struct later *t = &l->later;
	struct kwalk_ask ask = { 0 };
	char *path = NULL;

	pthread_mutex_lock(&t->lock);
	if (t->at && t->at[number % LATER_MAX].number == number) {
		ask = t->at[number % LATER_MAX].ask;
		path = strdup(t->at[number % LATER_MAX].path);
	}
	pthread_mutex_unlock(&t->lock);
	if (!path)
		return;
	ask.pid = (pid_t)pid;
	ask.path = path;
	ask.known = ask.gone = false;
	l->opts.table(l->opts.ctx, &ask, ret);
	free(path);
}

/* Calls each for all mappings of a process, now and before. */
static void later_each(struct kwalk_space *s, void (*each)(void *ctx, struct kwalk_vma *m),
                       void *ctx)
{
	struct kwalk_replaced *r = (void *)s->replaced.bytes;

	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].later)
			each(ctx, &s->at[i]);
	for (size_t i = 0; i < s->n_before; i++)
		for (size_t j = 0; j < s->before[i].n; j++)
			if (s->before[i].at[j].later)
				each(ctx, &s->before[i].at[j]);
	for (size_t i = 0; i < s->replaced.n / sizeof(*r); i++)
		if (r[i].was.later)
			each(ctx, &r[i].was);
}

/* The answer to one question. */
struct later_answer {
	struct kwalk_table table;
	uint32_t number;
};

/* Gives a mapping the table of its question. It may have been cut since: vaddr says by how much. */
static void later_fill(void *ctx, struct kwalk_vma *m)
{
	const struct later_answer *a = ctx;

	if (m->later != a->number)
		return;
	m->blob = a->table.blob;
	m->vaddr += a->table.vaddr;
	m->may_guess = a->table.may_guess;
	m->keeps_fp = a->table.keeps_fp;
	m->tells = a->table.tells;
	m->runtime = a->table.runtime;
	m->context = a->table.context;
	m->later = 0;
}

/* Makes the table of a mapping that a walk met, for all of the process's that wait for the same. It
 * reads files, so neither lock is held meanwhile. A question that is forgotten has no table. */
bool later_settle(struct kwalk *l, uint32_t pid, uint32_t number)
{
	struct later_answer a = { .number = number };
	struct kwalk_space *s;

	later_ask(l, number, pid, &a.table);
	if (!lock_soon(l, &l->turn))
		return false;
	pthread_mutex_lock(&l->lock);
	s = kwalk_space_get(&l->spaces, pid, false); /* it is freed by who has the turn */
	if (s) {
		later_each(s, later_fill, &a);
		kwalk_space_touch(s);
	}
	pthread_mutex_unlock(&l->lock);
	pthread_mutex_unlock(&l->turn);
	return s != NULL;
}
