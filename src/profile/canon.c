// SPDX-License-Identifier: MIT
/*
 * canon.c: a profile with ids that depend on its content alone. Threads fill a profile in an order
 * that chance decides; what is written into a file must not show it.
 *
 * Frames and tasks, of which there are few, are compared. Rows are many: they are put into order by
 * counting, field by field, the field that weighs least first. Nodes, of which there are still
 * more, are walked from the root.
 *
 * Invariant: two things get the same rank only when they are the same thing, so the order is total.
 * Each comparison goes on until something differs; ids of the pools are never compared, because
 * these are what chance decided.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/trie.h"
#include "profile/merge.h"

struct canon {
	const struct profile *p;
	uint32_t *objects; /* id -> rank */
	uint32_t *frames;
	uint32_t *tasks;
	uint32_t *nodes; /* id -> place in the tree, walked from the root by rank of frames */
};

static int canon_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int canon_text(const struct profile *p, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(profile_text(p, a), profile_text(p, b));
}

static int canon_object(const void *pa, const void *pb, void *ctx)
{
	const struct profile *p = ((const struct canon *)ctx)->p;
	const struct profile_object *a = profile_object_at(p, *(const uint32_t *)pa);
	const struct profile_object *b = profile_object_at(p, *(const uint32_t *)pb);
	int r = canon_text(p, a->path, b->path);

	return r ? r : canon_text(p, a->build_id, b->build_id);
}

static int canon_frame(const void *pa, const void *pb, void *ctx)
{
	const struct canon *c = ctx;
	const struct profile *p = c->p;
	const struct profile_frame *a = profile_frame_at(p, *(const uint32_t *)pa);
	const struct profile_frame *b = profile_frame_at(p, *(const uint32_t *)pb);
	int r = canon_compare(c->objects[a->object], c->objects[b->object]);

	r = r ? r : canon_compare(a->address, b->address);
	r = r ? r : canon_text(p, a->symbol, b->symbol);
	r = r ? r : canon_text(p, a->file, b->file);
	r = r ? r : canon_compare(a->line, b->line);
	return r ? r : canon_compare(a->kind, b->kind);
}

static int canon_task(const void *pa, const void *pb, void *ctx)
{
	const struct profile *p = ((const struct canon *)ctx)->p;
	const struct profile_task *a = profile_task_at(p, *(const uint32_t *)pa);
	const struct profile_task *b = profile_task_at(p, *(const uint32_t *)pb);
	int r = canon_text(p, a->comm, b->comm);

	r = r ? r : canon_compare(a->pid, b->pid);
	return r ? r : canon_compare(a->tid, b->tid);
}

/* What most frames differ in, beside their numbers: they are many. */
struct canon_place {
	uint64_t address;
	uint32_t object, frame;
};

static int canon_place(const void *pa, const void *pb, void *ctx)
{
	const struct canon_place *a = pa, *b = pb;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return canon_frame(&a->frame, &b->frame, ctx);
}

/* canon_ranks of frames. NULL: out of memory. */
static uint32_t *canon_frames(struct canon *c)
{
	const size_t n = profile_n_frames(c->p);
	struct canon_place *places = calloc(n + 1, sizeof(*places));
	uint32_t *ranks = calloc(n + 1, sizeof(*ranks));

	for (size_t i = 0; places && i < n; i++) {
		const struct profile_frame *f = profile_frame_at(c->p, (uint32_t)i + 1);

		places[i] = (struct canon_place){ .address = f->address,
			                          .object = c->objects[f->object],
			                          .frame = (uint32_t)i + 1 };
	}
	if (places && ranks)
		qsort_r(places, n, sizeof(*places), canon_place, c);
	for (size_t i = 0; places && ranks && i < n; i++)
		ranks[places[i].frame] = (uint32_t)i + 1;
	if (!places) {
		free(ranks);
		ranks = NULL;
	}
	free(places);
	return ranks;
}

/* 0 ... n in the order of compare; the caller frees it. NULL: out of memory. */
static uint32_t *canon_sorted(struct canon *c, size_t n,
                              int (*compare)(const void *, const void *, void *))
{
	uint32_t *ids = calloc(n + 1, sizeof(*ids));

	if (!ids)
		return NULL;
	for (size_t i = 0; i <= n; i++)
		ids[i] = (uint32_t)i;
	qsort_r(ids + 1, n, sizeof(*ids), compare, c);
	return ids;
}

/* Maps each id to its place in the order; id 0 stays in front. */
static uint32_t *canon_ranks(struct canon *c, size_t n,
                             int (*compare)(const void *, const void *, void *))
{
	uint32_t *ids = canon_sorted(c, n, compare), *ranks = calloc(n + 1, sizeof(*ranks));

	for (size_t i = 0; ids && ranks && i <= n; i++)
		ranks[ids[i]] = (uint32_t)i;
	if (!ids) {
		free(ranks);
		ranks = NULL;
	}
	free(ids);
	return ranks;
}

/* Things by number that are being put into order, and room for the next step. */
struct canon_list {
	uint32_t *ids, *spare;
	size_t n;
	uint32_t *value; /* of each thing by its number: what the next step goes by */
	uint32_t *count; /* room for the values of a step */
};

#define CANON_DIGIT 65536u

static void canon_list_free(struct canon_list *l)
{
	free(l->ids);
	free(l->spare);
	free(l->value);
	free(l->count);
}

/* n things, the first of them `first`, in the order of their numbers. -ENOMEM; free it anyhow. */
static int canon_list_start(struct canon_list *l, size_t n, size_t first)
{
	l->n = n;
	l->ids = calloc(n + 1, sizeof(*l->ids));
	l->spare = calloc(n + 1, sizeof(*l->spare));
	l->value = calloc(n + first, sizeof(*l->value));
	l->count = calloc(CANON_DIGIT + 1, sizeof(*l->count));
	if (!l->ids || !l->spare || !l->value || !l->count)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		l->ids[i] = (uint32_t)(i + first);
	return 0;
}

/* Puts the things into order by 16 bits of their values; equal ones stay as they are. */
static void canon_list_digit(struct canon_list *l, unsigned shift)
{
	uint32_t *swap = l->ids;

	memset(l->count, 0, (CANON_DIGIT + 1) * sizeof(*l->count));
	for (size_t i = 0; i < l->n; i++)
		l->count[(l->value[l->ids[i]] >> shift) % CANON_DIGIT + 1]++;
	for (size_t i = 0; i < CANON_DIGIT; i++)
		l->count[i + 1] += l->count[i];
	for (size_t i = 0; i < l->n; i++)
		l->spare[l->count[(l->value[l->ids[i]] >> shift) % CANON_DIGIT]++] = l->ids[i];
	l->ids = l->spare;
	l->spare = swap;
}

/* The bits in which the values of two things differ. */
static uint32_t canon_list_differ(const struct canon_list *l)
{
	uint32_t differ = 0;

	for (size_t i = 1; i < l->n; i++)
		differ |= l->value[l->ids[i]] ^ l->value[l->ids[0]];
	return differ;
}

/* The same by the whole values. Most fields have one value, or few. */
static void canon_list_order(struct canon_list *l)
{
	const uint32_t differ = canon_list_differ(l);

	if (differ % CANON_DIGIT)
		canon_list_digit(l, 0);
	if (differ / CANON_DIGIT)
		canon_list_digit(l, 16);
}

/* Nodes whose turn is to come, the next one last. */
struct canon_turns {
	struct canon_turn {
		uint32_t node, rank; /* of its frame */
	} * all;
	size_t n, capacity;
};

static int canon_turn(const void *pa, const void *pb)
{
	const struct canon_turn *a = pa, *b = pb;

	return canon_compare(b->rank, a->rank);
}

/* The children of a node take their turns next, by the ranks of their frames. -ENOMEM. */
static int canon_take_turns(const struct canon *c, struct canon_turns *t, uint32_t node)
{
	const struct trie *tree = profile_tree(c->p);
	size_t before = t->n;

	for (uint32_t id = trie_first(tree, node); id; id = trie_next(tree, id)) {
		if (ARRAY_ROOM(&t->all, &t->capacity, t->n + 1) < 0)
			return -ENOMEM;
		t->all[t->n++] = (struct canon_turn){ id, c->frames[trie_at(tree, id).key] };
	}
	if (t->n > before + 1)
		qsort(t->all + before, t->n - before, sizeof(*t->all), canon_turn);
	return 0;
}

/* Fills the places of nodes: each stands in front of all that is below it, and that in front of its
 * younger siblings. Most nodes have one child, made right behind them, so the tree is read from
 * front to back. -ENOMEM. */
static int canon_place_nodes(struct canon *c)
{
	struct canon_turns t = { .n = 0 };
	size_t n = profile_n_nodes(c->p);
	uint32_t place = 0;
	int r = 0;

	c->nodes = calloc(n + 1, sizeof(*c->nodes));
	if (!c->nodes)
		return -ENOMEM;
	if (n)
		r = canon_take_turns(c, &t, PROFILE_ROOT);
	while (t.n && r >= 0) {
		uint32_t node = t.all[--t.n].node;

		c->nodes[node] = ++place;
		r = canon_take_turns(c, &t, node);
	}
	free(t.all);
	return r;
}

/* Texts of a column that is not kept have no string to compare. */
static int canon_number_text(const struct canon *c, uint32_t a, uint32_t b)
{
	if (a == b || a == PROFILE_NOT_KEPT || b == PROFILE_NOT_KEPT)
		return canon_compare(a, b);
	return strcmp(profile_text(c->p, a), profile_text(c->p, b));
}

static int canon_key(const struct canon *c, const struct profile_key *a,
                     const struct profile_key *b)
{
	int r = canon_compare(a->event, b->event);

	r = r ? r : canon_compare(c->tasks[a->task], c->tasks[b->task]);
#define NUMBER(bit, id, name) r = r ? r : canon_compare(a->name, b->name);
#define TEXT(bit, id, name) r = r ? r : canon_number_text(c, a->name, b->name);
#include "profile/columns.def"
	r = r ? r : canon_compare(a->state, b->state);
	return r ? r : canon_compare(c->nodes[a->node], c->nodes[b->node]);
}

static int canon_sample(const void *pa, const void *pb, void *ctx)
{
	const struct canon *c = ctx;
	const struct profile_sample *a = profile_sample_at(c->p, *(const uint32_t *)pa);
	const struct profile_sample *b = profile_sample_at(c->p, *(const uint32_t *)pb);
	int r = canon_compare(a->time_ns, b->time_ns);

	r = r ? r : canon_key(c, profile_key_of(c->p, a), profile_key_of(c->p, b));
	return r ? r : canon_compare(a->weight, b->weight);
}

static int canon_string(const void *pa, const void *pb, void *ctx)
{
	const struct canon *c = ctx;

	return canon_number_text(c, *(const uint32_t *)pa, *(const uint32_t *)pb);
}

/* Puts the rank of its text in place of each string's id. -ENOMEM. */
static int canon_rank_texts(struct canon *c, struct canon_list *l)
{
	uint32_t *distinct = calloc(l->n + 1, sizeof(*distinct));
	struct map ranks = { 0 };
	size_t n = 0;
	bool is_new;
	int r = distinct ? 0 : -ENOMEM;

	for (size_t i = 0; i < l->n && r >= 0; i++) {
		r = map_slot(&ranks, l->value[i], &is_new) ? 0 : -ENOMEM;
		if (r >= 0 && is_new)
			distinct[n++] = l->value[i];
	}
	if (r >= 0)
		qsort_r(distinct, n, sizeof(*distinct), canon_string, c);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = map_put(&ranks, distinct[i], i);
	for (size_t i = 0; i < l->n && r >= 0; i++) {
		uint64_t rank = 0;

		map_get(&ranks, l->value[i], &rank);
		l->value[i] = (uint32_t)rank;
	}
	map_free(&ranks);
	free(distinct);
	return r;
}

/* The numbers of a key, the one that weighs most first. */
static const struct canon_number {
	size_t offset;
	bool text;
} canon_numbers[] = {
#define NUMBER(bit, id, name) { offsetof(struct profile_key, name), false },
#define TEXT(bit, id, name) { offsetof(struct profile_key, name), true },
#include "profile/columns.def"
};

/* Puts rows into order by one number of their keys. -ENOMEM. */
static int canon_by_number(struct canon *c, struct canon_list *l, const struct canon_number *number)
{
	int r;

	for (size_t i = 0; i < l->n; i++) {
		const void *key = &profile_row_at(c->p, i)->key;

		memcpy(&l->value[i], (const char *)key + number->offset, sizeof(l->value[i]));
	}
	if (!canon_list_differ(l)) /* as most numbers, which are not kept */
		return 0;
	r = number->text ? canon_rank_texts(c, l) : 0;
	if (r >= 0)
		canon_list_order(l);
	return r;
}

/* The profile's rows in the order of canon_key. -ENOMEM. */
static int canon_rows(struct canon *c, struct canon_list *l)
{
	size_t n = profile_n_rows(c->p);
	int r = canon_list_start(l, n, 0);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		l->value[i] = c->nodes[profile_row_at(c->p, i)->key.node];
	canon_list_order(l);
	for (size_t i = 0; i < n; i++)
		l->value[i] = profile_row_at(c->p, i)->key.state;
	canon_list_order(l);
	for (size_t k = sizeof(canon_numbers) / sizeof(canon_numbers[0]); k-- > 0 && r >= 0;)
		r = canon_by_number(c, l, &canon_numbers[k]);
	for (size_t i = 0; i < n; i++)
		l->value[i] = c->tasks[profile_row_at(c->p, i)->key.task];
	canon_list_order(l);
	for (size_t i = 0; i < n; i++)
		l->value[i] = profile_row_at(c->p, i)->key.event;
	canon_list_order(l);
	return r;
}

/* The profile's samples in order. They mostly are by time already: then only those of equal times
 * are compared. NULL: out of memory; the caller frees it. */
static uint32_t *canon_samples(struct canon *c)
{
	size_t n = profile_n_samples(c->p), from = 0;
	uint32_t *order = calloc(n + 1, sizeof(*order));
	bool sorted = true;

	for (size_t i = 0; order && i < n; i++) {
		order[i] = (uint32_t)i;
		sorted = sorted && (!i || profile_sample_at(c->p, i - 1)->time_ns <=
		                                  profile_sample_at(c->p, i)->time_ns);
	}
	if (order && !sorted)
		qsort_r(order, n, sizeof(*order), canon_sample, c);
	for (size_t i = 1; order && sorted && i <= n; i++) {
		if (i < n &&
		    profile_sample_at(c->p, i)->time_ns == profile_sample_at(c->p, from)->time_ns)
			continue;
		if (i - from > 1)
			qsort_r(order + from, i - from, sizeof(*order), canon_sample, c);
		from = i;
	}
	return order;
}

/* Writes everything anew in that order; ids follow from it. */
static int canon_copy(struct canon *c, struct profile *to)
{
	struct canon_list rows = { .n = 0 };
	int r = canon_rows(c, &rows);
	uint32_t *samples = r < 0 ? NULL : canon_samples(c);

	if (r >= 0)
		r = samples ? merge_in_order(to, c->p, rows.ids, samples) : -ENOMEM;
	canon_list_free(&rows);
	free(samples);
	return r;
}

/* Ranks frames and tasks by content, then nodes, from the root down, and copies all into a new
 * profile in that order. */
int profile_canonical(struct profile **ret, const struct profile *p)
{
	struct canon c = { .p = p };
	struct profile *to = NULL;
	int r = profile_new(&to, profile_keeps(p));

	if (r < 0)
		return r;
	c.objects = canon_ranks(&c, profile_n_objects(p), canon_object);
	if (c.objects)
		c.frames = canon_frames(&c);
	c.tasks = canon_ranks(&c, profile_n_tasks(p), canon_task);
	r = c.frames && c.tasks ? canon_place_nodes(&c) : -ENOMEM;
	if (r >= 0)
		r = canon_copy(&c, to);
	free(c.objects);
	free(c.frames);
	free(c.tasks);
	free(c.nodes);
	if (r < 0) {
		profile_free(to);
		return r;
	}
	*profile_counts(to) = *profile_counts_of(p);
	*ret = to;
	return 0;
}
