// SPDX-License-Identifier: MIT
/*
 * contexts.c: see contexts.h. For each thread and CPU a list of (time, set), by time: what the
 * recorder says of a thread holds on the CPU of the record only, because it says what changed
 * there. Of equal times the last counts.
 *
 * Texts are anybody's choice: whoever prints them escapes them.
 */
#include "samples/contexts.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "abi/context.h"
#include "base/array.h"

struct contexts_entry {
	uint64_t time_ns;
	uint32_t number; /* of its set, as the file has it: its text may come later */
	uint32_t order;
};

struct contexts_list {
	struct contexts_entry *at;
	size_t n, capacity;
	bool unsorted;
};

static uint64_t contexts_key(uint32_t tid, uint32_t cpu)
{
	return (uint64_t)cpu << 32 | tid;
}

int contexts_learn_text(struct contexts *c, const struct seam_ksymbol *k)
{
	uint32_t number = context_number(k), id;
	const char *text = number < CONTEXT_FIRST ? context_reserved(number) : k->name;

	if (!text || !*text || map_get(&c->by_number, number, NULL))
		return 0;
	id = intern_text(&c->sets, text);
	return id == INTERN_FAILED ? -ENOMEM : map_put(&c->by_number, number, id);
}

/* The list of a thread on a CPU, made when it is new. NULL: memory is out. */
static struct contexts_list *contexts_list(struct contexts *c, uint32_t tid, uint32_t cpu)
{
	bool is_new;
	uint64_t *slot = map_slot(&c->by_thread, contexts_key(tid, cpu), &is_new);

	if (!slot)
		return NULL;
	if (is_new) {
		if (ARRAY_ROOM(&c->lists, &c->lists_capacity, c->n_lists + 1) < 0)
			return NULL;
		c->lists[c->n_lists++] = (struct contexts_list){ .n = 0 };
		*slot = c->n_lists;
	}
	return *slot ? &c->lists[*slot - 1] : NULL;
}

/* Where records were put in order of time, as seam convert does, a number may come on one CPU
 * before its text on another. */
int contexts_learn(struct contexts *c, const struct seam_decoded *d)
{
	struct contexts_list *l;

	c->records++;
	if (!(d->id.has & SEAM_SAMPLE_TID) || !(d->id.has & SEAM_SAMPLE_TIME))
		return 0;
	if (!c->lost)
		c->lost = intern_text(&c->sets, "[not known: its record is lost]");
	if (c->lost == INTERN_FAILED)
		return -ENOMEM;
	l = contexts_list(c, d->id.tid, d->id.has & SEAM_SAMPLE_CPU ? d->id.cpu : 0);
	if (!l || ARRAY_ROOM(&l->at, &l->capacity, l->n + 1) < 0)
		return -ENOMEM;
	l->unsorted |= l->n && l->at[l->n - 1].time_ns > d->id.time_ns;
	l->at[l->n] = (struct contexts_entry){ d->id.time_ns, context_number(&d->ksymbol),
		                               (uint32_t)l->n };
	l->n++;
	return 0;
}

static int contexts_compare(const void *a, const void *b)
{
	const struct contexts_entry *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

void contexts_seal(struct contexts *c)
{
	for (size_t i = 0; i < c->n_lists; i++) {
		struct contexts_list *l = &c->lists[i];

		if (l->unsorted)
			qsort(l->at, l->n, sizeof(*l->at), contexts_compare);
		l->unsorted = false;
	}
}

void contexts_free(struct contexts *c)
{
	for (size_t i = 0; i < c->n_lists; i++)
		free(c->lists[i].at);
	free(c->lists);
	map_free(&c->by_thread);
	map_free(&c->by_number);
	intern_free(&c->sets);
}

/* A number that was not told is a set without labels: its record was lost. */
static uint32_t contexts_set(const struct contexts *c, uint32_t number)
{
	uint64_t set;

	if (number == CONTEXT_NOBODY)
		return 0;
	return map_get(&c->by_number, number, &set) ? (uint32_t)set : c->lost;
}

/* The last entry that is not later. */
uint32_t contexts_at(const struct contexts *c, uint32_t tid, uint32_t cpu, uint64_t time_ns)
{
	const struct contexts_list *l;
	size_t low = 0, high;
	uint64_t at;

	if (!c->n_lists || !map_get(&c->by_thread, contexts_key(tid, cpu), &at))
		return 0;
	l = &c->lists[at - 1];
	for (high = l->n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (l->at[middle].time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? contexts_set(c, l->at[low - 1].number) : 0;
}

/* ---- texts ---- */

static bool contexts_is(const struct context_label *l, const char *key)
{
	return strlen(key) == l->key_n && !memcmp(l->key, key, l->key_n);
}

static bool contexts_is_id(const struct context_label *l)
{
	return contexts_is(l, "trace_id") || contexts_is(l, "span_id");
}

static void contexts_put(struct buf *out, const struct context_label *l)
{
	if (out->n && out->bytes[out->n - 1] != ' ')
		buf_put(out, " ", 1);
	context_plain(out, l->key, l->key_n);
	buf_put(out, "=", 1);
	context_plain(out, l->value, l->value_n);
}

void contexts_lines(struct buf *out, const char *text)
{
	struct context_label l;

	while (context_next(&text, &l)) {
		if (contexts_is_id(&l))
			continue;
		buf_put(out, l.key, l.key_n);
		buf_put(out, "\t", 1);
		buf_put(out, l.value, l.value_n);
		buf_put(out, "\n", 1);
	}
}

void contexts_show(struct buf *out, const char *text, bool ids)
{
	struct context_label l;
	const char *at = text;

	if (*text == '[' && !strchr(text, '\t'))
		buf_put_text(out, text);
	while (context_next(&at, &l))
		if (!contexts_is_id(&l))
			contexts_put(out, &l);
	for (at = text; ids && context_next(&at, &l);)
		if (contexts_is_id(&l))
			contexts_put(out, &l);
}

/* The short names of what is asked for most. */
static const char *contexts_name(const char *key)
{
	return !strcmp(key, "trace") ? "trace_id" : !strcmp(key, "span") ? "span_id" : key;
}

/* One KEY=VALUE of a list: its parts, with NULs behind them, into buf. False: it is none. */
static bool contexts_pair(const char *at, size_t n, struct buf *buf, const char **key,
                          const char **value)
{
	const char *equals = memchr(at, '=', n);
	size_t key_n = equals ? (size_t)(equals - at) : 0;

	buf_clear(buf);
	if (!key_n)
		return false;
	buf_put(buf, at, key_n);
	buf_put(buf, "", 1);
	buf_put(buf, equals + 1, n - key_n - 1);
	*value = buf_text(buf) + key_n + 1;
	*key = (const char *)buf->bytes;
	return !buf->failed;
}

bool contexts_is_list(const char *list)
{
	for (size_t n; *list; list += n + (list[n] == ',')) {
		const char *equals;

		n = strcspn(list, ",");
		equals = memchr(list, '=', n);
		if (!equals || equals == list)
			return false;
	}
	return true;
}

/* Whether any pair of the list with this key holds. */
static bool contexts_any(const char *text, const char *list, const char *key, struct buf *pair,
                         struct buf *found)
{
	const char *value = context_value(text, contexts_name(key), found), *other, *wanted;

	for (size_t n; value && *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (contexts_pair(list, n, pair, &other, &wanted) && !strcmp(other, key) &&
		    fnmatch(wanted, value, 0) == 0)
			return true;
	}
	return false;
}

bool contexts_match(const char *text, const char *list)
{
	struct buf one = { 0 }, pair = { 0 }, found = { 0 };
	const char *key, *value;
	bool holds = true;

	for (const char *at = list; *at && holds;) {
		size_t n = strcspn(at, ",");

		holds = contexts_pair(at, n, &one, &key, &value) &&
		        contexts_any(text, list, key, &pair, &found);
		at += n + (at[n] == ',');
	}
	buf_free(&one);
	buf_free(&pair);
	buf_free(&found);
	return holds;
}

/* A key that the set does not have is a dash. */
bool contexts_values(const char *text, const char *keys, struct buf *out)
{
	struct buf key = { 0 }, found = { 0 };
	bool any = false;

	for (size_t n, i = 0; *keys; keys += n + (keys[n] == ','), i++) {
		const char *value;

		n = strcspn(keys, ",");
		buf_clear(&key);
		buf_put(&key, keys, n);
		value = context_value(text, contexts_name(buf_text(&key)), &found);
		any |= value != NULL;
		if (i)
			buf_put(out, ",", 1);
		buf_put_text(out, value ? value : "-");
	}
	buf_free(&key);
	buf_free(&found);
	return any;
}
