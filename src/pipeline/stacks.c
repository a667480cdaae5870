// SPDX-License-Identifier: MIT
// stacks.c: see stacks.h.
//
// Invariant: two samples share an entry only when their keys, both halves and (for chainless ones)
// their ips are equal, word by word; the hash only finds the candidates.
#include "pipeline/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

_Static_assert(sizeof(struct stacks_key) == 48, "hashed as bytes");

static bool stacks_lone(const struct seam_stitched *s)
{
	return !s->kernel.n && !s->user.n;
}

static uint64_t stacks_hash(const struct stacks_key *key, const struct seam_stitched *s)
{
	uint64_t h = map_hash_bytes(key, sizeof(*key), s->kernel.n << 32 ^ s->user.n);

	if (stacks_lone(s))
		return map_mix(h ^ s->sample.ip);
	if (s->kernel.n)
		h = map_hash_bytes(s->kernel.bytes, s->kernel.n * 8, h);
	if (s->user.n)
		h = map_hash_bytes(s->user.bytes, s->user.n * 8, h);
	return h;
}

static bool stacks_words_equal(const struct seam_u64s *a, const struct seam_u64s *b)
{
	return a->n == b->n && a->swap == b->swap &&
	       (!a->n || a->bytes == b->bytes || !memcmp(a->bytes, b->bytes, a->n * 8));
}

static bool stacks_equal(const struct stacks_entry *e, const struct stacks_key *key,
                         const struct seam_stitched *s)
{
	return !memcmp(&e->key, key, sizeof(*key)) && stacks_words_equal(&e->kernel, &s->kernel) &&
	       stacks_words_equal(&e->user, &s->user) &&
	       (!stacks_lone(s) || (e->ip == s->sample.ip && e->misc == s->misc));
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
		size_t at = s->entries[i].hash & (capacity - 1);

		while (index[at])
			at = (at + 1) & (capacity - 1);
		index[at] = stacks_slot(s->entries[i].hash, i);
	}
	free(s->index);
	s->index = index;
	s->index_capacity = capacity;
	return 0;
}

static int stacks_keep_words(struct stacks *s, struct seam_u64s *words)
{
	void *copy = arena_copy(&s->arena, words->bytes, words->n * 8);

	if (!copy)
		return -ENOMEM;
	words->bytes = copy;
	return 0;
}

/* A new entry for a sample; its halves are copied unless they last. */
static int stacks_new(struct stacks *s, const struct stacks_key *key,
                      const struct seam_stitched *sample, bool stable, uint64_t hash,
                      uint64_t time_ns)
{
	struct stacks_entry *e;

	if (s->n == s->entries_capacity) {
		size_t capacity = s->n ? s->n * 2 : 512;

		if (capacity >= UINT32_MAX)
			return -ENOMEM;
		e = realloc(s->entries, capacity * sizeof(*e));
		if (!e)
			return -ENOMEM;
		s->entries = e;
		s->entries_capacity = capacity;
	}
	e = &s->entries[s->n];
	*e = (struct stacks_entry){ .key = *key,
		                    .hash = hash,
		                    .kernel = sample->kernel,
		                    .user = sample->user,
		                    .event = sample->sample.event,
		                    .ip = sample->sample.ip,
		                    .time_ns = time_ns,
		                    .misc = sample->misc };
	if (!stable && (stacks_keep_words(s, &e->kernel) < 0 || stacks_keep_words(s, &e->user) < 0))
		return -ENOMEM;
	s->n++;
	return 0;
}

/* Where in the index a sample's entry is, or belongs. */
static size_t stacks_find(const struct stacks *s, const struct stacks_key *key,
                          const struct seam_stitched *sample, uint64_t hash)
{
	size_t mask = s->index_capacity - 1, at = hash & mask;

	for (; s->index[at]; at = (at + 1) & mask) {
		if (s->index[at] >> 32 == hash >> 32 &&
		    stacks_equal(&s->entries[(uint32_t)s->index[at] - 1], key, sample))
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

int stacks_add(struct stacks *s, const struct stacks_key *key, const struct seam_stitched *sample,
               bool stable, uint64_t time_ns)
{
	uint64_t hash = stacks_hash(key, sample);
	struct stacks_entry *e;
	size_t at;
	int r;

	if (s->n * 2 >= s->index_capacity && stacks_grow_index(s) < 0)
		return -ENOMEM;
	at = stacks_find(s, key, sample, hash);
	if (!s->index[at]) {
		r = stacks_new(s, key, sample, stable, hash, time_ns);
		if (r < 0)
			return r;
		s->index[at] = stacks_slot(hash, s->n - 1);
	}
	e = &s->entries[(uint32_t)s->index[at] - 1];
	e->samples++;
	e->weight += sample->sample.period;
	if (s->keep_samples)
		return stacks_note(s, (uint32_t)s->index[at] - 1, sample->sample.period, time_ns);
	return 0;
}

struct seam_stitched stacks_sample(const struct stacks_entry *e)
{
	return (struct seam_stitched){ .sample = { .event = e->event, .ip = e->ip },
		                       .misc = e->misc,
		                       .state = e->key.state,
		                       .kernel = e->kernel,
		                       .user = e->user };
}

void stacks_free(struct stacks *s)
{
	free(s->entries);
	free(s->index);
	free(s->samples);
	arena_free(&s->arena);
	*s = (struct stacks){ 0 };
}
