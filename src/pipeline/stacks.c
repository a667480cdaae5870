// SPDX-License-Identifier: MIT
// stacks.c: see stacks.h.
//
// Invariant: two samples share an entry only when their keys are equal byte by byte, and two halves have
// one number only when their words are; hashes only find the candidates.
#include "pipeline/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

_Static_assert(sizeof(struct stacks_key) == 64, "hashed and compared as bytes");

static uint64_t stacks_hash(const struct stacks *s, const struct stacks_key *key)
{
	return map_hash_quick(key, sizeof(*key), s->secret);
}

static uint64_t stacks_slot(uint64_t hash, size_t entry)
{
	return hash >> 32 << 32 | (entry + 1);
}

static int stacks_grow_index(struct stacks *s)
{
	size_t capacity = s->index_capacity ? s->index_capacity * 2 : 1024;
	uint64_t *index = calloc(capacity, sizeof(*index));

	if (!index)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		uint64_t hash = stacks_hash(s, &s->entries[i].key);
		size_t at = hash & (capacity - 1);

		while (index[at])
			at = (at + 1) & (capacity - 1);
		index[at] = stacks_slot(hash, i);
	}
	free(s->index);
	s->index = index;
	s->index_capacity = capacity;
	return 0;
}

/* The number of a half. */
static int stacks_half(struct stacks *s, const struct seam_u64s *words, bool stable, uint32_t *ret)
{
	struct intern *halves = &s->halves[words->swap];
	uint32_t id;

	*ret = 0;
	if (!words->n)
		return 0;
	id = stable ? intern_lasting(halves, words->bytes, words->n * 8)
	            : intern_bytes(halves, words->bytes, words->n * 8);
	if (id > UINT32_MAX / 2)
		return -ENOMEM;
	*ret = id << 1 | words->swap;
	return 0;
}

static struct seam_u64s stacks_words(const struct stacks *s, uint32_t half)
{
	const struct intern *halves = &s->halves[half & 1];

	if (!half)
		return (struct seam_u64s){ 0 };
	return (struct seam_u64s){ .bytes = (const unsigned char *)intern_get(halves, half >> 1),
		                   .n = intern_length(halves, half >> 1) / 8,
		                   .swap = half & 1 };
}

static int stacks_new(struct stacks *s, const struct stacks_key *key, uint64_t time_ns)
{
	if (s->n == s->entries_capacity) {
		size_t capacity = s->n ? s->n * 2 : 512;
		struct stacks_entry *entries;

		if (capacity >= UINT32_MAX)
			return -ENOMEM;
		entries = realloc(s->entries, capacity * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		s->entries = entries;
		s->entries_capacity = capacity;
	}
	s->entries[s->n++] = (struct stacks_entry){ .key = *key, .time_ns = time_ns };
	return 0;
}

/* Where in the index a key's entry is, or belongs. */
static size_t stacks_find(const struct stacks *s, const struct stacks_key *key, uint64_t hash)
{
	size_t mask = s->index_capacity - 1, at = hash & mask;

	for (; s->index[at]; at = (at + 1) & mask) {
		if (s->index[at] >> 32 == hash >> 32 &&
		    !memcmp(&s->entries[(uint32_t)s->index[at] - 1].key, key, sizeof(*key)))
			break;
	}
	return at;
}

static int stacks_note(struct stacks *s, uint32_t entry, uint64_t weight, uint64_t time_ns)
{
	if (s->n_samples == s->samples_capacity) {
		size_t capacity = s->n_samples ? s->n_samples * 2 : 4096;
		struct stacks_sample *samples = realloc(s->samples, capacity * sizeof(*samples));

		if (!samples)
			return -ENOMEM;
		s->samples = samples;
		s->samples_capacity = capacity;
	}
	s->samples[s->n_samples++] =
	        (struct stacks_sample){ .time_ns = time_ns, .weight = weight, .entry = entry };
	return 0;
}

/* Counts one that waited: by now the memory that it needs is there. */
static int stacks_count(struct stacks *s, const struct stacks_waiting *w)
{
	struct stacks_entry *e;
	size_t at;
	int r;

	if (s->n * 2 >= s->index_capacity && stacks_grow_index(s) < 0)
		return -ENOMEM;
	at = stacks_find(s, &w->key, w->hash);
	if (!s->index[at]) {
		r = stacks_new(s, &w->key, w->time_ns);
		if (r < 0)
			return r;
		s->index[at] = stacks_slot(w->hash, s->n - 1);
	}
	e = &s->entries[(uint32_t)s->index[at] - 1];
	e->samples++;
	e->weight += w->weight;
	if (s->keep_samples)
		return stacks_note(s, (uint32_t)s->index[at] - 1, w->weight, w->time_ns);
	return 0;
}

int stacks_settle(struct stacks *s)
{
	unsigned n = s->n_waiting;
	int r = 0;

	s->n_waiting = 0;
	for (unsigned i = 0; i < n && s->index_capacity; i++) {
		uint32_t entry = (uint32_t)s->index[s->waiting[i].hash & (s->index_capacity - 1)];

		if (entry) { /* its key, and what is counted behind it */
			__builtin_prefetch(&s->entries[entry - 1]);
			__builtin_prefetch(&s->entries[entry - 1].samples, 1);
		}
	}
	for (unsigned i = 0; i < n && r >= 0; i++)
		r = stacks_count(s, &s->waiting[i]);
	return r;
}

int stacks_add(struct stacks *s, const struct stacks_key *key, const struct seam_stitched *sample,
               bool stable, uint64_t time_ns)
{
	struct stacks_waiting *w = &s->waiting[s->n_waiting];

	*w = (struct stacks_waiting){ .key = *key,
		                      .weight = sample->sample.period,
		                      .time_ns = time_ns };
	if (stacks_half(s, &sample->kernel, stable, &w->key.kernel) < 0 ||
	    stacks_half(s, &sample->user, stable, &w->key.user) < 0)
		return -ENOMEM;
	if (!w->key.kernel && !w->key.user) {
		w->key.ip = sample->sample.ip;
		w->key.misc = sample->misc;
	}
	if (!s->secret)
		s->secret = map_secret();
	w->hash = stacks_hash(s, &w->key);
	if (s->index_capacity)
		__builtin_prefetch(&s->index[w->hash & (s->index_capacity - 1)]);
	return ++s->n_waiting == STACKS_WAITING ? stacks_settle(s) : 0;
}

struct seam_stitched stacks_sample(const struct stacks *s, const struct stacks_entry *e,
                                   const struct seam_events *events)
{
	return (struct seam_stitched){
		.sample = { .event = seam_events_at(events, e->key.event), .ip = e->key.ip },
		.misc = (uint16_t)e->key.misc,
		.state = e->key.state,
		.kernel = stacks_words(s, e->key.kernel),
		.user = stacks_words(s, e->key.user),
	};
}

void stacks_free(struct stacks *s)
{
	free(s->entries);
	free(s->index);
	free(s->samples);
	intern_free(&s->halves[0]);
	intern_free(&s->halves[1]);
	*s = (struct stacks){ 0 };
}
