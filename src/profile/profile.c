// SPDX-License-Identifier: MIT
/*
 * profile.c: see profile.h. Knows how each thing is stored once; does not know what it is for.
 *
 *	strings -> objects, tasks, frames -> nodes of the tree of stacks -> rows
 *
 * Each kind has a pool that gives equal things one number, and things of a later kind have numbers
 * of earlier ones in them. A row is a distinct key (event, task, node, and what else this profile
 * keeps) with its samples and weight. Adding the same row again adds to it, so a profile grows with
 * what is distinct, and not with the number of samples.
 *
 * Invariant: structs that are interned as bytes have no padding, so equal values are equal bytes.
 * Id 0 of every pool is the pool's own empty string, which is "none" here. A number that was given
 * stays valid, and means the same, until the profile is freed.
 */
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/pages.h"
#include "profile/inside.h"
#include "profile/kept.h"
#include "profile/merge.h"

/* An event is interned as its unit's letter and its name. */
#define UNIT_COUNT ':' /* the first byte of an event's bytes */
#define UNIT_NANOSECONDS 't'

_Static_assert(sizeof(struct profile_frame) == 32, "interned as bytes");
_Static_assert(sizeof(struct profile_object) == 8, "interned as bytes");
_Static_assert(sizeof(struct profile_task) == 12, "interned as bytes");
/* A key is interned as bytes: its fields are all uint32_t, so that nothing stands between them. */
#define NUMBER(bit, id, name) +sizeof(uint32_t)
_Static_assert(sizeof(struct profile_key) == 4 * sizeof(uint32_t)
#include "profile/columns.def"
                       ,
               "interned as bytes");

/* Each bit means one thing: added up, they are what they are together. */
#define OTHERS (PROFILE_KEEP_PID + PROFILE_KEEP_TID + PROFILE_KEEP_SAMPLES + PROFILE_KEEP_PROGRAM)
#define NUMBER(bit, id, name) +PROFILE_KEEP_##id
enum {
	BITS_SUM = OTHERS
#include "profile/columns.def"
};
#define NUMBER(bit, id, name) | PROFILE_KEEP_##id
_Static_assert(BITS_SUM == (OTHERS
#include "profile/columns.def"
                            ),
               "columns.def: a bit of PROFILE_KEEP_* is taken twice");

/* keep: PROFILE_KEEP_* bits. It cannot change later, because rows are made by it. -ENOMEM. */
int profile_new(struct profile **ret, unsigned keep)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->keep = keep;
	p->frames.size = sizeof(struct profile_frame);
	p->secret = map_secret();
	*ret = p;
	return 0;
}

/* Of a profile that was chosen from another one what is the other's stays. */
void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->segments);
	free(p->rows);
	free(p->row_index);
	free(p->sums);
	free(p->samples);
	if (!p->chosen) {
		intern_free(&p->strings);
		intern_free(&p->events);
		intern_free(&p->objects);
		intern_free(&p->tasks);
		pool_free(&p->frames);
		trie_free(&p->nodes);
		origin_free(&p->origin);
	}
	free(p);
}

_Atomic(void *) *profile_segments(const struct profile *p)
{
	/* Nothing that a reader can see of the profile changes by it. */
	return &((struct profile *)(uintptr_t)p)->segments;
}

/* Whatever was found of nodes and rows is no longer true. Whoever fills is alone. */
static inline void profile_changes(struct profile *p)
{
	void *kept = atomic_load_explicit(&p->segments, memory_order_relaxed);

	if (kept) {
		free(kept);
		atomic_store_explicit(&p->segments, NULL, memory_order_relaxed);
	}
}

unsigned profile_keeps(const struct profile *p)
{
	return p->keep;
}

/* The text is copied. PROFILE_FAILED: out of memory; so of all that give a number. */
uint32_t profile_string(struct profile *p, const char *text)
{
	return text ? intern_text(&p->strings, text) : 0;
}

uint32_t profile_event_in(struct profile *p, const char *name, enum profile_unit unit)
{
	/* The leading byte is the unit, and makes an event without a name another one than the
	 * pool's empty string. */
	size_t n = strlen(name) + 1;
	char *bytes = malloc(n);
	uint32_t id;

	if (!bytes)
		return PROFILE_FAILED;
	bytes[0] = unit == PROFILE_NANOSECONDS ? UNIT_NANOSECONDS : UNIT_COUNT;
	memcpy(bytes + 1, name, n - 1);
	id = intern_bytes(&p->events, bytes, n);
	free(bytes);
	return id;
}

uint32_t profile_object(struct profile *p, const char *path, const char *build_id)
{
	struct profile_object o = { .path = profile_string(p, path),
		                    .build_id = profile_string(p, build_id) };

	if (o.path == PROFILE_FAILED || o.build_id == PROFILE_FAILED)
		return PROFILE_FAILED;
	return intern_bytes(&p->objects, &o, sizeof(o));
}

uint32_t profile_task(struct profile *p, uint32_t comm, uint32_t pid, uint32_t tid)
{
	struct profile_task t = { .comm = comm,
		                  .pid = p->keep & PROFILE_KEEP_PID ? pid : PROFILE_NOT_KEPT,
		                  .tid = p->keep & PROFILE_KEEP_TID ? tid : PROFILE_NOT_KEPT };

	/* Tasks that differ only in what is not kept are one. */
	return intern_bytes(&p->tasks, &t, sizeof(t));
}

uint32_t profile_frame(struct profile *p, const struct profile_frame *frame)
{
	return pool_put(&p->frames, frame);
}

/* Takes frames, as many as there are, in place of its own; *frames gets these. */
void profile_set_frames(struct profile *p, struct pool *frames)
{
	const struct pool own = p->frames;

	p->frames = *frames;
	*frames = own;
}

_Static_assert(PROFILE_ROOT == TRIE_ROOT && PROFILE_FAILED == TRIE_FAILED, "the ids of a trie");

uint32_t profile_node(struct profile *p, uint32_t parent, uint32_t frame)
{
	profile_changes(p);
	return trie_put(&p->nodes, parent, frame);
}

uint32_t profile_node_new(struct profile *p, uint32_t parent, uint32_t frame)
{
	profile_changes(p);
	return trie_put_new(&p->nodes, parent, frame);
}

uint32_t profile_path(struct profile *p, uint32_t parent, struct trie_step *frames, size_t n)
{
	profile_changes(p);
	return trie_path(&p->nodes, parent, frames, n);
}

/* The key without the numbers that are not kept. Cleared to a value that no number has. */
static struct profile_key profile_kept(const struct profile *p, const struct profile_key *key)
{
	struct profile_key k = *key;

#define NUMBER(bit, id, name)               \
	if (!(p->keep & PROFILE_KEEP_##id)) \
		k.name = PROFILE_NOT_KEPT;
#include "profile/columns.def"
	return k;
}

/* Doubles the index of rows; none is hashed again. -ENOMEM. */
static int profile_grow_row_index(struct profile *p)
{
	size_t capacity = p->row_index_capacity ? p->row_index_capacity * 2 : 64;
	uint64_t *index = pages_zeroed(capacity, sizeof(*index));

	if (!index)
		return -ENOMEM;
	for (size_t old = 0; old < p->row_index_capacity; old++) {
		size_t i = p->row_index[old] >> 32 & (capacity - 1);

		if (!p->row_index[old])
			continue;
		while (index[i])
			i = (i + 1) & (capacity - 1);
		index[i] = p->row_index[old];
	}
	free(p->row_index);
	p->row_index = index;
	p->row_index_capacity = capacity;
	return 0;
}

/* Where in the index the row of a key is, or would be. */
static size_t profile_row_place(const struct profile *p, const struct profile_key *key,
                                uint32_t hash)
{
	const size_t mask = p->row_index_capacity - 1;
	size_t i = hash & mask;

	for (; p->row_index[i]; i = (i + 1) & mask) {
		const struct profile_row *row = &p->rows[(uint32_t)p->row_index[i] - 1];

		if (p->row_index[i] >> 32 == hash && !memcmp(&row->key, key, sizeof(*key)))
			break;
	}
	return i;
}

static uint32_t profile_row_hash(const struct profile *p, const struct profile_key *key)
{
	return (uint32_t)map_hash_quick(key, sizeof(*key), p->secret);
}

/* Room in the index for n rows. -ENOMEM. */
static int profile_index_room(struct profile *p, size_t n)
{
	while (n * 4 > p->row_index_capacity * 3)
		if (profile_grow_row_index(p) < 0)
			return -ENOMEM;
	return 0;
}

/* Puts into the index the rows that are not in it. -ENOMEM. */
static int profile_index_rows(struct profile *p)
{
	if (p->n_indexed == p->n_rows)
		return 0;
	if (profile_index_room(p, p->n_rows) < 0)
		return -ENOMEM;
	for (; p->n_indexed < p->n_rows; p->n_indexed++) {
		const struct profile_key *key = &p->rows[p->n_indexed].key;
		const uint32_t hash = profile_row_hash(p, key);

		p->row_index[profile_row_place(p, key, hash)] =
		        (uint64_t)hash << 32 | (p->n_indexed + 1);
	}
	return 0;
}

/* The row of a key, made when new; NULL: out of memory, or of numbers. */
static struct profile_row *profile_row(struct profile *p, const struct profile_key *key)
{
	uint32_t hash;
	size_t i;

	if (ARRAY_ROOM(&p->rows, &p->rows_capacity, p->n_rows + 1) < 0 || p->n_rows >= UINT32_MAX ||
	    profile_index_rows(p) < 0 || profile_index_room(p, p->n_rows + 1) < 0)
		return NULL;
	hash = profile_row_hash(p, key);
	i = profile_row_place(p, key, hash);
	if (!p->row_index[i]) {
		profile_changes(p);
		p->rows[p->n_rows++] = (struct profile_row){ .key = *key };
		p->row_index[i] = (uint64_t)hash << 32 | p->n_rows;
		p->n_indexed = p->n_rows;
	}
	return &p->rows[(uint32_t)p->row_index[i] - 1];
}

/* Adds to the sums of a row's event and state. -ENOMEM. */
static int profile_sum(struct profile *p, const struct profile_key *key, uint64_t samples,
                       uint64_t weight)
{
	uint32_t state = key->state < PROFILE_STATES_MAX ? key->state : PROFILE_STATES_MAX;
	struct profile_sum *sum;

	if (ARRAY_ROOM_ZEROED(&p->sums, &p->sums_capacity, (size_t)key->event + 1) < 0)
		return -ENOMEM;
	sum = &p->sums[key->event].state[state];
	sum->samples += samples;
	sum->weight += weight;
	sum->no_stack += key->node == PROFILE_ROOT ? samples : 0;
	return 0;
}

/* Fields of the key that this profile does not keep are cleared, so that rows that differ only in
 * them become one. -ENOMEM. */
int profile_add_sampled(struct profile *p, const struct profile_key *key, uint64_t samples,
                        uint64_t weight, uint32_t *ret)
{
	const struct profile_key k = profile_kept(p, key);
	struct profile_row *row = profile_row(p, &k);

	if (!row || profile_sum(p, &k, samples, weight) < 0)
		return -ENOMEM;
	row->samples += samples;
	row->weight += weight;
	*ret = (uint32_t)(row - p->rows) + 1;
	return 0;
}

int profile_room(struct profile *p, size_t rows)
{
	return ARRAY_ROOM(&p->rows, &p->rows_capacity, p->n_rows + rows);
}

int profile_room_samples(struct profile *p, size_t samples)
{
	return p->keep & PROFILE_KEEP_SAMPLES
	               ? ARRAY_ROOM(&p->samples, &p->samples_capacity, p->n_samples + samples)
	               : 0;
}

int profile_add_new(struct profile *p, const struct profile_key *key, uint64_t samples,
                    uint64_t weight)
{
	struct profile_row *row;

	if (ARRAY_ROOM(&p->rows, &p->rows_capacity, p->n_rows + 1) < 0 || p->n_rows >= UINT32_MAX ||
	    profile_sum(p, key, samples, weight) < 0)
		return -ENOMEM;
	profile_changes(p);
	row = &p->rows[p->n_rows++];
	memset(row, 0, sizeof(*row)); /* behind the key, too: equal rows are equal bytes */
	row->key = profile_kept(p, key);
	row->samples = samples;
	row->weight = weight;
	return 0;
}

/* Whether no two rows are equal when each is at another node, by its node: 1, 0. -ENOMEM. */
static int profile_stay_apart(const struct profile *p, const uint32_t *nodes)
{
	const size_t n = (size_t)p->nodes.n + 1;
	uint32_t *from = calloc(n, sizeof(*from)); /* by node: which one became it, + 1 */
	bool apart = true;

	if (!from)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_rows && apart; i++) {
		const uint32_t node = p->rows[i].key.node;

		apart = !from[nodes[node]] || from[nodes[node]] == node + 1;
		from[nodes[node]] = node + 1;
	}
	free(from);
	return apart;
}

/* Each row is looked up anew, in the order in which they were made: it lands at its place or
 * before, and samples have the number of that place. -ENOMEM. */
static int profile_move_rows(struct profile *p, const uint32_t *nodes)
{
	size_t n = p->n_rows;
	uint32_t *moved = calloc(p->n_samples ? n + 1 : 1, sizeof(*moved));

	p->n_rows = 0;
	for (size_t i = 0; moved && i < n; i++) {
		struct profile_row from = p->rows[i], *row;

		from.key.node = nodes[from.key.node];
		row = profile_row(p, &from.key);
		if (!row) {
			free(moved);
			return -ENOMEM;
		}
		row->samples += from.samples;
		row->weight += from.weight;
		if (p->n_samples)
			moved[i + 1] = (uint32_t)(row - p->rows) + 1;
	}
	for (size_t i = 0; moved && i < p->n_samples; i++)
		p->samples[i].key = moved[p->samples[i].key];
	free(moved);
	return moved ? 0 : -ENOMEM;
}

/* The sums are what they were. */
int profile_move(struct profile *p, const uint32_t *nodes)
{
	int apart = profile_stay_apart(p, nodes);

	if (apart < 0)
		return apart;
	if (p->row_index)
		memset(p->row_index, 0, p->row_index_capacity * sizeof(*p->row_index));
	p->n_indexed = 0;
	profile_changes(p);
	if (!apart)
		return profile_move_rows(p, nodes);
	for (size_t i = 0; i < p->n_rows; i++)
		p->rows[i].key.node = nodes[p->rows[i].key.node];
	return 0;
}

/* Samples are kept one by one only for those who ask (PROFILE_KEEP_SAMPLES). */
int profile_add_sample(struct profile *p, const struct profile_sample *sample)
{
	if (!(p->keep & PROFILE_KEEP_SAMPLES))
		return 0;
	if (sample->key == PROFILE_FAILED ||
	    ARRAY_ROOM(&p->samples, &p->samples_capacity, p->n_samples + 1) < 0)
		return -ENOMEM;
	p->samples[p->n_samples++] = *sample;
	return 0;
}

/* Adds the samples of p whose rows were chosen: places has the number of a row's place in c, by
 * that in p; 0: it was not chosen. -ENOMEM. */
static int profile_choose_samples(struct profile *c, const struct profile *p,
                                  const uint32_t *places)
{
	for (size_t i = 0; i < p->n_samples; i++) {
		struct profile_sample sample = p->samples[i];

		sample.key = places[sample.key];
		if (sample.key && profile_add_sample(c, &sample) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Adds what keep wants of the rows of p, and their samples. -ENOMEM. */
static int profile_choose_rows(struct profile *c, const struct profile *p,
                               bool (*keep)(const struct profile *, const struct profile_row *,
                                            void *),
                               void *ctx)
{
	uint32_t *places = calloc(p->n_samples ? p->n_rows + 1 : 1, sizeof(*places));
	int r = places ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->n_rows && r >= 0; i++) {
		const struct profile_row *row = &p->rows[i];

		if (!keep(p, row, ctx))
			continue;
		r = ARRAY_ROOM(&c->rows, &c->rows_capacity, c->n_rows + 1);
		if (r >= 0)
			r = profile_sum(c, &row->key, row->samples, row->weight);
		if (r < 0)
			break;
		c->rows[c->n_rows++] = *row;
		if (p->n_samples)
			places[i + 1] = (uint32_t)c->n_rows;
	}
	if (r >= 0)
		r = profile_choose_samples(c, p, places);
	free(places);
	return r;
}

/* All is p's at first; then it has rows, samples and sums of its own. */
int profile_choose(struct profile **ret, const struct profile *p,
                   bool (*keep)(const struct profile *, const struct profile_row *, void *),
                   void *ctx)
{
	struct profile *c = malloc(sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	*c = *p;
	c->chosen = true;
	c->segments = NULL;
	c->rows = NULL;
	c->row_index = NULL;
	c->sums = NULL;
	c->samples = NULL;
	c->n_rows = c->rows_capacity = c->row_index_capacity = c->n_indexed = 0;
	c->sums_capacity = c->n_samples = c->samples_capacity = 0;
	r = profile_choose_rows(c, p, keep, ctx);
	if (r < 0) {
		profile_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

/* Merges the sorted halves of from into to. */
static void profile_merge_halves(const struct profile_sample *from, size_t half, size_t n,
                                 struct profile_sample *to)
{
	size_t a = 0, b = half;

	for (size_t i = 0; i < n; i++) {
		if (a < half && (b >= n || from[a].time_ns <= from[b].time_ns))
			to[i] = from[a++];
		else
			to[i] = from[b++];
	}
}

/* A merge sort, because samples mostly come in long ascending runs; sorted ones cost one pass.
 * -ENOMEM. */
int profile_sort_samples(struct profile *p)
{
	size_t n = p->n_samples;
	struct profile_sample *from = p->samples, *to, *spare;
	bool sorted = true;

	for (size_t i = 1; i < n && sorted; i++)
		sorted = from[i - 1].time_ns <= from[i].time_ns;
	if (sorted)
		return 0;
	to = spare = calloc(n, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	for (size_t width = 1; width < n; width *= 2) {
		struct profile_sample *swap = from;

		for (size_t at = 0; at < n; at += 2 * width) {
			size_t all = n - at < 2 * width ? n - at : 2 * width;

			/* Runs of `width` are in order; after the round those of twice the width
			 * are. */
			profile_merge_halves(from + at, all < width ? all : width, all, to + at);
		}
		from = to;
		to = swap;
	}
	p->samples = from;
	/* The spare array may have become the one that is kept. */
	p->samples_capacity = from == spare ? n : p->samples_capacity;
	free(to);
	return 0;
}

/* What a state of stacks is called. The texts are copied. -EINVAL: there is no room for its
 * number. */
int profile_set_state(struct profile *p, uint32_t state, const struct profile_state *facts)
{
	uint32_t name = profile_string(p, facts->name), text = profile_string(p, facts->text);
	uint32_t hint = profile_string(p, facts->hint);

	if (state >= PROFILE_STATES_MAX)
		return -EINVAL;
	if (name == PROFILE_FAILED || text == PROFILE_FAILED || hint == PROFILE_FAILED)
		return -ENOMEM;
	p->states[state] = *facts;
	p->states[state].name = profile_text(p, name);
	p->states[state].text = profile_text(p, text);
	p->states[state].hint = facts->hint ? profile_text(p, hint) : NULL;
	if (state >= p->n_states)
		p->n_states = state + 1;
	return 0;
}

void profile_set_slices(struct profile *p, const struct profile_slices *slices)
{
	p->slices = *slices;
}

const struct profile_slices *profile_slices(const struct profile *p)
{
	return &p->slices;
}

struct profile_counts *profile_counts(struct profile *p)
{
	return &p->counts;
}

const struct profile_counts *profile_counts_of(const struct profile *p)
{
	return &p->counts;
}

struct origin *profile_origin(struct profile *p)
{
	return &p->origin;
}

const struct origin *profile_origin_of(const struct profile *p)
{
	return &p->origin;
}

/* ---- reading ---- */

/* A pool's id 0 is its empty string, which is none of the profile's things. */
static size_t profile_pool_size(const struct intern *in)
{
	return in->n ? in->n - 1 : 0;
}

/* "" for 0. The text lives as long as the profile. */
const char *profile_text(const struct profile *p, uint32_t string)
{
	return intern_get(&p->strings, string);
}

size_t profile_n_strings(const struct profile *p)
{
	return profile_pool_size(&p->strings);
}

size_t profile_n_events(const struct profile *p)
{
	return profile_pool_size(&p->events);
}

const char *profile_event_name(const struct profile *p, uint32_t event)
{
	const char *bytes = intern_get(&p->events, event);

	return *bytes ? bytes + 1 : bytes;
}

enum profile_unit profile_event_unit(const struct profile *p, uint32_t event)
{
	return *intern_get(&p->events, event) == UNIT_NANOSECONDS ? PROFILE_NANOSECONDS
	                                                          : PROFILE_COUNT;
}

size_t profile_n_states(const struct profile *p)
{
	return p->n_states;
}

/* A state that nobody named has a name all the same, so that nobody need test. */
const struct profile_state *profile_state_at(const struct profile *p, uint32_t state)
{
	static const struct profile_state unnamed = { .name = "unnamed", .text = "unnamed" };

	return state < p->n_states && p->states[state].name ? &p->states[state] : &unnamed;
}

size_t profile_n_objects(const struct profile *p)
{
	return profile_pool_size(&p->objects);
}

const struct profile_object *profile_object_at(const struct profile *p, uint32_t object)
{
	static const struct profile_object none = { 0 };

	return object && object < p->objects.n
	               ? (const struct profile_object *)(const void *)intern_get(&p->objects,
	                                                                         object)
	               : &none;
}

size_t profile_n_tasks(const struct profile *p)
{
	return profile_pool_size(&p->tasks);
}

const struct profile_task *profile_task_at(const struct profile *p, uint32_t task)
{
	static const struct profile_task none = { .pid = PROFILE_NOT_KEPT,
		                                  .tid = PROFILE_NOT_KEPT };

	return task && task < p->tasks.n
	               ? (const struct profile_task *)(const void *)intern_get(&p->tasks, task)
	               : &none;
}

size_t profile_n_frames(const struct profile *p)
{
	return p->frames.n;
}

const struct profile_frame *profile_frame_at(const struct profile *p, uint32_t frame)
{
	static const struct profile_frame none = { 0 };

	return frame && frame <= p->frames.n ? pool_at(&p->frames, frame) : &none;
}

size_t profile_n_nodes(const struct profile *p)
{
	return p->nodes.n;
}

/* The root is its own parent and has no frame. */
struct profile_node profile_node_at(const struct profile *p, uint32_t node)
{
	struct trie_node at;

	if (!node || node > p->nodes.n)
		return (struct profile_node){ .parent = PROFILE_ROOT };
	at = trie_at(&p->nodes, node);
	return (struct profile_node){ .parent = at.parent, .frame = at.key };
}

const struct trie *profile_tree(const struct profile *p)
{
	return &p->nodes;
}

size_t profile_n_rows(const struct profile *p)
{
	return p->n_rows;
}

const struct profile_row *profile_row_at(const struct profile *p, size_t i)
{
	return &p->rows[i];
}

size_t profile_n_samples(const struct profile *p)
{
	return p->n_samples;
}

const struct profile_sample *profile_sample_at(const struct profile *p, size_t i)
{
	return &p->samples[i];
}

const struct profile_key *profile_key_at(const struct profile *p, uint32_t key)
{
	return &p->rows[key - 1].key;
}

/* Adds the sums of one event. */
static void profile_account_add(const struct profile *p, const struct profile_sums *sums,
                                struct profile_account *a)
{
	for (uint32_t i = 0; i <= PROFILE_STATES_MAX; i++) {
		const struct profile_sum *sum = &sums->state[i];

		a->samples += sum->samples;
		a->weight += sum->weight;
		if (i < PROFILE_STATES_MAX)
			a->state[i] += sum->samples;
		if (i < p->n_states && p->states[i].whole)
			a->whole += sum->samples;
		a->no_stack += sum->no_stack;
	}
}

/* Of one event, or of all events if event is 0: from the sums that profile_add keeps. */
void profile_account(const struct profile *p, uint32_t event, struct profile_account *ret)
{
	struct profile_account a = { 0 };

	for (size_t e = 0; e < p->sums_capacity; e++)
		if (!event || e == event)
			profile_account_add(p, &p->sums[e], &a);
	*ret = a;
}
