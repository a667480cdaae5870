// SPDX-License-Identifier: MIT
/*
 * stacks.c: see stacks.h. Samples with the same key (whose they are) and the same parts of their
 * stack are one entry, with a count.
 *
 * Parts have numbers. Those of the sample index and of the stitcher's chains come first, and need
 * not be compared again: equal numbers are equal words. What a thread makes itself, by walking a
 * stack copy, is numbered behind them (base). The lowest bit of a number is the byte order.
 *
 * Invariant: two samples share an entry only when their keys are equal byte by byte, and two parts
 * have one number only when their words are; hashes only find the candidates. A hash depends on a
 * secret, so that no file can choose stacks that all collide.
 */
#include "samples/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/pages.h"
#include "samples/hit.h"

_Static_assert(sizeof(struct stacks_key) == 36 + 4 * STACKS_NUMBERS,
               "hashed and compared as bytes");
_Static_assert(sizeof(struct stacks_same) == 16, "hashed and compared as bytes");
_Static_assert(sizeof(struct stacks_hit) == 16, "hashed and compared as bytes");

/* A hash of an entry's words with the table's secret. */
static uint64_t stacks_hash(const struct stacks *s, const struct stacks_same *same)
{
	uint64_t words[2];

	memcpy(words, same, sizeof(words));
	return map_hash_pair(words[0], words[1], s->secret);
}

/* All 16 bytes at once. */
static bool stacks_equal(const struct stacks_same *a, const struct stacks_same *b)
{
	uint64_t x[2], y[2];

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]));
}

/* Begins an empty table. -ENOMEM. */
int stacks_start(struct stacks *s)
{
	s->recent = calloc(1, sizeof(*s->recent));
	s->secret = map_secret();
	s->keys.size = sizeof(struct stacks_key);
	s->hits.size = sizeof(struct stacks_hit);
	return s->recent ? 0 : -ENOMEM;
}

/* A slot of the index: half of the hash, and the entry's number + 1, so that 0 is free. */
static uint64_t stacks_slot(uint64_t hash, size_t entry)
{
	return hash >> 32 << 32 | (entry + 1);
}

/* Doubles the index by hashing every entry again. -ENOMEM. */
static int stacks_grow_index(struct stacks *s)
{
	size_t capacity = s->index_capacity ? s->index_capacity * 2 : 1024;
	uint64_t *index = pages_zeroed(capacity, sizeof(*index));

	if (!index)
		return -ENOMEM;
	/* Hashes are computed anew, because a slot keeps half of one only. */
	for (size_t i = 0; i < s->n; i++) {
		uint64_t hash = stacks_hash(s, &s->entries[i].same);
		size_t at = hash & (capacity - 1);

		while (index[at])
			at = (at + 1) & (capacity - 1);
		index[at] = stacks_slot(hash, i);
	}
	pages_free(s->index, s->index_capacity * sizeof(*s->index));
	s->index = index;
	s->index_capacity = capacity;
	return 0;
}

/* ---- numbers of parts ---- */

/* The numbers that all threads share: parts of the index first, then the stitcher's chains.
 * -EOVERFLOW: more than 2^31 of them. */
int stacks_base_of(struct stacks_base *ret, const struct stacks *stacks,
                   const struct seam_stitch *stitch)
{
	uint64_t most =
	        stacks->parts[0].n > stacks->parts[1].n ? stacks->parts[0].n : stacks->parts[1].n;
	uint64_t chains = stitch_chains(stitch);

	if (most + chains > UINT32_MAX / 2)
		return -EOVERFLOW;
	*ret = (struct stacks_base){ .parts = stacks->parts,
		                     .chains = stitch_chain_words(stitch),
		                     .n = { (uint32_t)stacks->parts[0].n,
		                            (uint32_t)stacks->parts[1].n },
		                     .n_chains = (uint32_t)chains };
	return 0;
}

/* The number of a chain that the stitcher gave a sample; 0: none. */
uint32_t stacks_base_chain(const struct stacks_base *base, const struct stitch_verdict *verdict)
{
	return verdict->n ? (base->n[verdict->swap] + verdict->chain) << 1 | verdict->swap : 0;
}

/* The words of a part that is interned. */
static inline struct seam_u64s stacks_interned(const struct intern *parts, uint32_t id, bool swap)
{
	const struct intern_entry *e = &parts->entries[id];

	return (struct seam_u64s){ .bytes = (const unsigned char *)e->bytes,
		                   .n = e->n / 8,
		                   .swap = swap };
}

/* The words of a shared number; none for 0. */
struct seam_u64s stacks_base_words(const struct stacks_base *base, uint32_t part)
{
	uint32_t id = part >> 1, n = base->n[part & 1];

	if (!part)
		return (struct seam_u64s){ 0 };
	return id < n ? stacks_interned(&base->parts[part & 1], id, part & 1)
	              : stacks_interned(base->chains, id - n, part & 1);
}

/* The same for any number of this table. */
struct seam_u64s stacks_words(const struct stacks *s, uint32_t part)
{
	uint32_t before = s->base.n[part & 1] + s->base.n_chains;

	return !part || part >> 1 < before
	               ? stacks_base_words(&s->base, part)
	               : stacks_interned(&s->parts[part & 1], (part >> 1) - before, part & 1);
}

/* Whether a part of this table is in the caller's far bytes. */
static bool stacks_far(const struct stacks *s, uint32_t part)
{
	uint32_t before = s->base.n[part & 1] + s->base.n_chains;

	return intern_is_far(&s->parts[part & 1], (part >> 1) - before);
}

/* Where a part among those met last is, or belongs. The innermost addresses, behind the marker,
 * differ most; callers far out are the same for many. */
static struct stacks_seen *stacks_seen(const struct stacks *s, const struct seam_u64s *words)
{
	uint64_t picked = seam_u64s_at(words, words->n > 1) * 31 +
	                  seam_u64s_at(words, words->n / 2) * 7 +
	                  seam_u64s_at(words, words->n - 1) + words->n;

	return &s->recent->chain[map_mix(picked) % STACKS_CHAINS];
}

/* Few parts make up nearly all stacks, so the ones met last are compared first, but for those that
 * are better not looked at. */
void stacks_ask(struct stacks *s, const struct seam_u64s *words, struct stacks_asked *ret)
{
	*ret = (struct stacks_asked){ .words = *words };
	if (!words->n)
		return;
	ret->seen = stacks_seen(s, words);
	if (ret->seen->n == words->n && (ret->seen->part & 1) == words->swap &&
	    !memcmp(ret->seen->bytes, words->bytes, words->n * 8))
		ret->part = ret->seen->part;
	else
		ret->hash = intern_ask(&s->parts[words->swap], words->bytes, words->n * 8);
}

void stacks_ask_again(const struct stacks *s, const struct stacks_asked *asked)
{
	if (asked->words.n && !asked->part)
		intern_ask_again(&s->parts[asked->words.swap], asked->hash);
}

/* Numbers words by their content, behind the numbers of the base. */
int stacks_answer(struct stacks *s, const struct stacks_asked *asked, enum intern_way way,
                  uint32_t *ret)
{
	const struct seam_u64s *words = &asked->words;
	uint32_t before = s->base.n[words->swap] + s->base.n_chains, id;

	*ret = asked->part;
	if (asked->part || !words->n)
		return 0;
	id = intern_put_asked(&s->parts[words->swap], words->bytes, words->n * 8, asked->hash, way);
	/* The lowest bit of a number is the byte order. */
	if (id == INTERN_FAILED || id > (UINT32_MAX >> 1) - before)
		return -ENOMEM;
	*ret = (id + before) << 1 | words->swap;
	if (words->n <= UINT32_MAX && !stacks_far(s, *ret))
		*asked->seen = (struct stacks_seen){ stacks_words(s, *ret).bytes,
			                             (uint32_t)words->n, *ret };
	return 0;
}

/* Gives the number of one part of a stack; 0: it has no addresses. -ENOMEM. */
int stacks_part(struct stacks *s, const struct seam_u64s *words, enum intern_way way, uint32_t *ret)
{
	struct stacks_asked asked;

	stacks_ask(s, words, &asked);
	return stacks_answer(s, &asked, way, ret);
}

/* The number of a user part that a deferred record gave: its words are compared once, not for each
 * sample. */
static int stacks_deferred(struct stacks *s, const struct seam_u64s *words, enum intern_way way,
                           uint32_t *ret)
{
	struct stacks_seen *seen =
	        &s->recent->deferred[map_mix((uintptr_t)words->bytes) % STACKS_SEEN];
	int r;

	if (words->n && seen->bytes == words->bytes && seen->n == words->n &&
	    (seen->part & 1) == words->swap) {
		*ret = seen->part;
		return 0;
	}
	r = stacks_part(s, words, way, ret);
	if (r >= 0 && words->n <= UINT32_MAX)
		*seen = (struct stacks_seen){ words->bytes, (uint32_t)words->n, *ret };
	return r;
}

/* Numbers where a sample hit: its address and the processor's mode. */
int stacks_hit(struct stacks *s, uint64_t ip, uint16_t misc, uint32_t *ret)
{
	*ret = pool_put(&s->hits,
	                &(struct stacks_hit){ .ip = ip, .misc = misc & SEAM_MISC_CPUMODE_MASK });
	return *ret == POOL_FAILED ? -ENOMEM : 0;
}

/* The same where the caller knows that it was not met before, or keeps it apart. */
int stacks_hit_new(struct stacks *s, uint64_t ip, uint16_t misc, uint32_t *ret)
{
	*ret = pool_add(&s->hits,
	                &(struct stacks_hit){ .ip = ip, .misc = misc & SEAM_MISC_CPUMODE_MASK });
	return *ret == POOL_FAILED ? -ENOMEM : 0;
}

/* The keys met last are compared first: a probe of the pool reads more memory. */
int stacks_key_id(struct stacks *s, const struct stacks_key *key, uint32_t *ret)
{
	size_t at = (key->user_space ^ key->state << 3 ^ key->tid ^ key->number[0] << 4 ^
	             (uintptr_t)key->comm >> 4) %
	            STACKS_KEYS;

	if (!s->recent->key_id[at] || memcmp(&s->recent->key[at], key, sizeof(*key)) != 0) {
		*ret = pool_put(&s->keys, key);
		if (*ret == POOL_FAILED)
			return -ENOMEM;
		s->recent->key[at] = *key;
		s->recent->key_id[at] = *ret;
	}
	*ret = s->recent->key_id[at];
	return 0;
}

/* Whether the user part came in a deferred record. */
static bool stacks_is_deferred(const struct callchain *chain)
{
	return chain->state == SEAM_STITCH_STITCHED || chain->state == SEAM_STITCH_STITCHED_EARLIER;
}

/* Adds an entry for a stack that was not met before. -ENOMEM. */
static int stacks_new(struct stacks *s, const struct stacks_same *same, uint64_t time_ns)
{
	if (s->n >= UINT32_MAX - 1 || ARRAY_ROOM(&s->entries, &s->entries_capacity, s->n + 1) < 0)
		return -ENOMEM;
	s->entries[s->n++] = (struct stacks_entry){ .same = *same, .time_ns = time_ns };
	return 0;
}

/* Where in the index an entry is, or belongs. */
static size_t stacks_find(const struct stacks *s, const struct stacks_same *same, uint64_t hash)
{
	size_t mask = s->index_capacity - 1, at = hash & mask;

	/* Half of the hash is compared first: an entry is read only where it is likely to be the
	 * one. */
	for (; s->index[at]; at = (at + 1) & mask) {
		if (s->index[at] >> 32 == hash >> 32 &&
		    stacks_equal(&s->entries[(uint32_t)s->index[at] - 1].same, same))
			break;
	}
	return at;
}

/* Keeps one sample by itself, for profiles with times. -ENOMEM. */
static int stacks_note(struct stacks *s, uint32_t entry, uint64_t weight, uint64_t time_ns)
{
	if (ARRAY_ROOM(&s->samples, &s->samples_capacity, s->n_samples + 1) < 0)
		return -ENOMEM;
	s->samples[s->n_samples++] =
	        (struct stacks_sample){ .time_ns = time_ns, .weight = weight, .entry = entry };
	return 0;
}

/* Counts a sample that waited; by now the memory that it needs has arrived. */
static int stacks_count(struct stacks *s, const struct stacks_waiting *w)
{
	struct stacks_entry *e;
	size_t at;
	int r;

	/* At most half of the slots are taken, so that a search is short. */
	if (s->n * 2 >= s->index_capacity && stacks_grow_index(s) < 0)
		return -ENOMEM;
	at = stacks_find(s, &w->same, w->hash);
	if (!s->index[at]) {
		r = stacks_new(s, &w->same, w->time_ns);
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

/* Counts all samples that wait. Their entries are asked for first, so that the memory is on its
 * way. */
int stacks_settle(struct stacks *s)
{
	unsigned n = s->n_waiting;
	int r = 0;

	s->n_waiting = 0;
	for (unsigned i = 0; i < n && s->index_capacity; i++) {
		/* The first slot of a search is mostly the right one. A wrong guess costs time
		 * only. */
		uint32_t entry = (uint32_t)s->index[s->waiting[i].hash & (s->index_capacity - 1)];

		if (entry)
			__builtin_prefetch(&s->entries[entry - 1], 1);
	}
	for (unsigned i = 0; i < n && r >= 0; i++)
		r = stacks_count(s, &s->waiting[i]);
	return r;
}

/* Takes a sample, which waits until STACKS_WAITING are there. same: whose it is and its parts, by
 * number. */
int stacks_put(struct stacks *s, const struct stacks_same *same, uint64_t weight, uint64_t time_ns)
{
	struct stacks_waiting *w = &s->waiting[s->n_waiting];

	w->same = *same;
	w->weight = weight;
	w->time_ns = time_ns;
	w->hash = stacks_hash(s, same);
	if (s->index_capacity)
		__builtin_prefetch(&s->index[w->hash & (s->index_capacity - 1)]);
	return ++s->n_waiting == STACKS_WAITING ? stacks_settle(s) : 0;
}

/* The same with words instead of numbers, for samples that are in no index. */
int stacks_add(struct stacks *s, const struct stacks_key *key, const struct callchain *chain,
               uint64_t weight, enum intern_way way, uint64_t time_ns)
{
	struct stacks_same same = { 0 };
	int r = s->recent ? 0 : stacks_start(s);

	if (r >= 0)
		r = stacks_key_id(s, key, &same.key);
	if (r >= 0)
		r = stacks_part(s, &chain->kernel, way, &same.kernel);
	if (r >= 0)
		r = (stacks_is_deferred(chain) ? stacks_deferred : stacks_part)(s, &chain->user,
		                                                                way, &same.user);
	if (r >= 0 && hit_apart(chain))
		r = stacks_hit(s, chain->ip, chain->misc, &same.hit);
	return r < 0 ? r : stacks_put(s, &same, weight, time_ns);
}

/* By number of a key the number of what it is changed to, among those of `changed`. NULL: no
 * memory. */
static uint32_t *stacks_changed(const struct stacks *s, struct pool *changed,
                                void (*change)(void *ctx, struct stacks_key *key), void *ctx)
{
	uint32_t *to = calloc((size_t)s->keys.n + 1, sizeof(*to));
	struct stacks_key key;

	for (uint32_t id = 1; to && id <= s->keys.n; id++) {
		memcpy(&key, pool_at(&s->keys, id), sizeof(key));
		change(ctx, &key);
		to[id] = pool_put(changed, &key);
		if (to[id] == POOL_FAILED) {
			free(to);
			return NULL;
		}
	}
	return to;
}

/* Each entry is looked up anew, in their order: it lands at its place or before. */
int stacks_change_keys(struct stacks *s, void (*change)(void *ctx, struct stacks_key *key),
                       void *ctx)
{
	struct pool keys = { .size = s->keys.size };
	uint32_t *to = stacks_changed(s, &keys, change, ctx);
	size_t n = s->n;

	if (!to) {
		pool_free(&keys);
		return -ENOMEM;
	}
	pool_free(&s->keys);
	s->keys = keys;
	memset(s->recent->key_id, 0, sizeof(s->recent->key_id));
	if (s->index)
		memset(s->index, 0, s->index_capacity * sizeof(*s->index));
	s->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct stacks_entry e = s->entries[i];
		uint64_t hash;
		size_t at;

		e.same.key = to[e.same.key];
		hash = stacks_hash(s, &e.same);
		at = stacks_find(s, &e.same, hash);
		if (s->index[at]) {
			struct stacks_entry *first = &s->entries[(uint32_t)s->index[at] - 1];

			first->samples += e.samples;
			first->weight += e.weight;
		} else {
			s->entries[s->n++] = e;
			s->index[at] = stacks_slot(hash, s->n - 1);
		}
	}
	free(to);
	return 0;
}

/* It lasts as long as the table does not change. */
const struct stacks_key *stacks_key(const struct stacks *s, const struct stacks_entry *e)
{
	return pool_at(&s->keys, e->same.key);
}

/* The words belong to the table and live as long as it does. */
struct callchain stacks_callchain(const struct stacks *s, const struct stacks_entry *e,
                                  const struct seam_events *events)
{
	const struct stacks_key *key = stacks_key(s, e);
	struct callchain chain = {
		.event = seam_events_at(events, key->event),
		.misc = key->user_first ? SEAM_MISC_USER : 0,
		.state = key->state,
		.kernel = stacks_words(s, e->same.kernel),
		.user = stacks_words(s, e->same.user),
	};

	if (e->same.hit) {
		const struct stacks_hit *hit = pool_at(&s->hits, e->same.hit);

		chain.ip = hit->ip;
		chain.misc = (uint16_t)hit->misc;
	}
	return chain;
}

void stacks_drop_samples(struct stacks *s)
{
	free(s->samples);
	s->samples = NULL;
	s->n_samples = s->samples_capacity = 0;
}

void stacks_free(struct stacks *s)
{
	stacks_drop_samples(s);
	free(s->entries);
	free(s->index);
	free(s->recent);
	pool_free(&s->keys);
	pool_free(&s->hits);
	intern_free(&s->parts[0]);
	intern_free(&s->parts[1]);
	*s = (struct stacks){ 0 };
}
