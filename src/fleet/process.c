// SPDX-License-Identifier: MIT
/*
 * process.c: see process.h.
 *
 * A process may be gone when a window is written. So /proc is asked once per process, and the
 * answer kept for a while. Memory is bounded by PROCESS_MOST; the whole table is dropped at once.
 *
 * Threads share the table. /proc may keep its reader waiting for as long as another process likes,
 * so the lock is never held meanwhile. An answer counts only if the number was the same program's
 * all the time: the question is noted in the table, and who replaces or forgets the process takes
 * it away.
 */
#include "fleet/process.h"

#include <errno.h>
#include <string.h>

#include "fleet/process_ask.h"

#define PROCESS_MOST 4096u /* processes that are remembered */
#define PROCESS_AGE 6u     /* windows */

/* An answer, as it is in by_pid. */
struct process_known {
	uint32_t id; /* in labels */
	/* old: of the program before, or none yet; asked: the question that is on its way, or 0;
	 * whole: its context was looked for, too. */
	uint32_t window : 21, asked : 8, gone : 1, old : 1, whole : 1;
};

_Static_assert(sizeof(struct process_known) == sizeof(uint64_t), "it is a value of a map");

#define PROCESS_WINDOWS (1u << 21)
#define PROCESS_QUESTIONS 255u

static struct process_known process_known(uint64_t value)
{
	struct process_known k;

	memcpy(&k, &value, sizeof(k));
	return k;
}

static int process_note(struct process *p, uint32_t pid, struct process_known k)
{
	uint64_t value;

	memcpy(&value, &k, sizeof(value));
	return map_put(&p->by_pid, pid, value);
}

/* With the lock: whether there is an answer that holds, with the context if the whole is wanted.
 * Else the question is noted, so that its answer is taken (process_answered): *was is what was
 * known before. -ENOMEM. */
static int process_question(struct process *p, uint32_t pid, bool whole, struct process_known *was)
{
	uint64_t value = 0;
	bool known = map_get(&p->by_pid, pid, &value);

	*was = process_known(value);
	if (known && !was->old && (!whole || was->whole || was->gone))
		return 1;
	/* Labels that nobody put are the empty ones, of id 0. */
	if (!known)
		was->gone = 1;
	p->question = p->question % PROCESS_QUESTIONS + 1;
	was->window = p->window % PROCESS_WINDOWS;
	was->asked = (uint8_t)p->question;
	was->old = 1;
	return process_note(p, pid, *was);
}

/* Adds labels to others. What does not fit into a set is left out. -ENOMEM. */
static int process_add(struct labels *l, const struct labels *have)
{
	const char *key, *value;
	size_t at = 0;
	int r = 0;

	while (r != -ENOMEM && labels_next(have, &at, &key, &value))
		r = labels_set(l, key, value);
	return r == -ENOMEM ? r : 0;
}

/* With the lock: adds what is in the table. */
static int process_add_known(const struct process *p, uint32_t id, struct labels *l)
{
	const struct labels have = { .bytes = { .bytes = (void *)intern_get(&p->labels, id),
		                                .n = intern_length(&p->labels, id) } };

	return process_add(l, &have);
}

/* With the lock: takes the answer to a question, unless the process is another program by now, or
 * somebody else had an answer first. One that was replaced and is gone keeps what was known of it:
 * its control group is the same. What holds is added to l. -ENOMEM. */
static int process_answered(struct process *p, uint32_t pid, uint8_t question, bool whole,
                            const struct labels *found, bool gone, struct labels *l)
{
	struct process_known k;
	uint64_t value = 0;
	int r;

	if (!map_get(&p->by_pid, pid, &value))
		return process_add(l, found);
	k = process_known(value);
	if (k.asked != question)
		return k.old ? process_add(l, found) : process_add_known(p, k.id, l);
	if (!gone || k.gone) {
		k.id = intern_bytes(&p->labels, found->bytes.bytes, found->bytes.n);
		k.gone = gone;
	}
	if (k.id == INTERN_FAILED)
		return -ENOMEM;
	k.old = k.asked = 0;
	k.whole = whole;
	r = process_note(p, pid, k);
	return r < 0 ? r : process_add_known(p, k.id, l);
}

/* Whether there is an answer but for the context. It is added to found. */
static bool process_is_part(const struct process *p, uint32_t pid, bool whole, struct labels *found)
{
	uint64_t value = 0;
	struct process_known k;

	if (!whole || !map_get(&p->by_pid, pid, &value))
		return false;
	k = process_known(value);
	return !k.old && !k.whole && !k.gone && process_add_known(p, k.id, found) >= 0;
}

/* The answer about a process, asked for unless it is there, added to l. The context is a part of
 * the whole alone. /proc is read without the lock. -ENOMEM. */
static int process_find(struct process *p, uint32_t pid, const char *path, bool whole,
                        struct labels *l)
{
	struct process_known k;
	struct labels found = { 0 };
	bool gone = false, part;
	int r;

	pthread_mutex_lock(&p->lock);
	part = process_is_part(p, pid, whole, &found);
	r = process_question(p, pid, whole, &k);
	if (r > 0)
		r = process_add_known(p, k.id, l);
	pthread_mutex_unlock(&p->lock);
	if (r < 0 || !k.asked)
		return r;
	r = part ? 0 : process_ask(p->opts, pid, path, &found, &gone);
	if (r >= 0 && whole && !gone)
		r = process_ask_context(p->opts, pid, &found);
	if (r != -ENOMEM) {
		pthread_mutex_lock(&p->lock);
		r = process_answered(p, pid, k.asked, whole, &found, gone, l);
		pthread_mutex_unlock(&p->lock);
	}
	labels_free(&found);
	return r;
}

static bool process_is_one(uint32_t pid)
{
	return pid && pid != UINT32_MAX;
}

int process_meet(struct process *p, uint32_t pid)
{
	struct labels l = { 0 };
	int r = process_is_one(pid) ? process_find(p, pid, NULL, false, &l) : 0;

	labels_free(&l);
	return r;
}

void process_replaced(struct process *p, uint32_t pid)
{
	struct process_known k;
	uint64_t value;

	pthread_mutex_lock(&p->lock);
	if (map_get(&p->by_pid, pid, &value)) {
		k = process_known(value);
		k.old = 1;
		k.asked = 0;
		process_note(p, pid, k); /* it is there: no memory is needed */
	}
	pthread_mutex_unlock(&p->lock);
}

void process_forget(struct process *p, uint32_t pid)
{
	pthread_mutex_lock(&p->lock);
	map_del(&p->by_pid, pid);
	pthread_mutex_unlock(&p->lock);
}

bool process_was_gone(struct process *p, uint32_t pid)
{
	uint64_t value;
	bool gone;

	pthread_mutex_lock(&p->lock);
	gone = map_get(&p->by_pid, pid, &value) && process_known(value).gone;
	pthread_mutex_unlock(&p->lock);
	return gone;
}

/* As series_processes calls it. */
int process_labels(void *process, uint32_t pid, const char *path, struct labels *l)
{
	return process_is_one(pid) ? process_find(process, pid, path, true, l) : 0;
}

/* With the lock. */
static void process_drop(struct process *p)
{
	map_free(&p->by_pid);
	intern_free(&p->labels);
	p->age = 0;
}

/* With the lock: what is kept of answers, at most half of what there may be. */
static void process_keep(const struct process *p, struct map *by_pid, struct intern *labels)
{
	uint64_t pid, value;
	size_t i = 0;

	while (by_pid->n < PROCESS_MOST / 2 && map_next(&p->by_pid, &i, &pid, &value)) {
		struct process_known k = process_known(value);

		if ((p->window - k.window) % PROCESS_WINDOWS > 1)
			continue;
		k.id = intern_bytes(labels, intern_get(&p->labels, k.id),
		                    intern_length(&p->labels, k.id));
		memcpy(&value, &k, sizeof(value));
		if (k.id != INTERN_FAILED) /* else it is asked for again */
			map_put(by_pid, pid, value);
	}
}

/* Called once per window. Labels change, and numbers are used again, so answers go after
 * PROCESS_AGE windows; but those of processes that were met in the window that is recorded now, and
 * may be gone at its end. */
void process_age(struct process *p)
{
	struct map by_pid = { 0 };
	struct intern labels = { 0 };

	pthread_mutex_lock(&p->lock);
	p->window++;
	if (++p->age >= PROCESS_AGE || p->by_pid.n > PROCESS_MOST) {
		process_keep(p, &by_pid, &labels);
		process_drop(p);
		p->by_pid = by_pid;
		p->labels = labels;
	}
	pthread_mutex_unlock(&p->lock);
}

void process_free(struct process *p)
{
	pthread_mutex_lock(&p->lock);
	process_drop(p);
	pthread_mutex_unlock(&p->lock);
}
