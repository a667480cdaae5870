// SPDX-License-Identifier: MIT
/*
 * chains.c: see chains.h. Few distinct chains answer many samples, and most are among those met
 * last: these are compared first, as they are in the file.
 *
 * Invariant: while the relay is started, words, what recent has, and failed are its thread's.
 */
#include "stitch/chains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/rules.h"

#define RECENT_BITS 12

/* The chains met last, with what was found for them. */
struct chains_recent {
	const unsigned char *bytes; /* kept by words; NULL: none yet */
	uint32_t n, id;
};

/* The slot for a chain among the last ones, by its length and four of its words as they are in the
 * file. */
static struct chains_recent *chains_recent(const struct chains *c, const struct seam_u64s *ips)
{
	const unsigned char *p = ips->bytes;
	uint64_t n = ips->n, first, some, other, last;

	memcpy(&first, p, 8);
	memcpy(&some, p + n / 4 * 8, 8);
	memcpy(&other, p + n / 2 * 8, 8);
	memcpy(&last, p + (n - 1) * 8, 8);
	return &c->recent[((first ^ other << 1) * 31 + (some ^ last << 1) + n) *
	                          0x9e3779b97f4a7c15ULL >>
	                  (64 - RECENT_BITS)];
}

/* Answers with one that was met lately, or asks for it. */
static void chains_ask(struct chains *c, struct chains_waiting *w)
{
	struct chains_recent *recent = chains_recent(c, &w->ips);
	const uint64_t all = w->ips.n;

	if (recent->n == all && !memcmp(recent->bytes, w->ips.bytes, all * 8)) {
		*w->chain = recent->id;
		*w->n = (uint16_t)(all | (w->ips.swap ? CHAINS_SWAP : 0));
		w->ips.n = 0; /* answered */
		return;
	}
	w->ips = rules_addresses(w->ips);
	if (!w->ips.n)
		return;
	/* Without a marker: the chain is all addresses. */
	w->recent = w->ips.n == all ? recent : NULL;
	w->asked = intern_ask(&c->words, w->ips.bytes, w->ips.n * 8);
	*w->n = (uint16_t)(w->ips.n | (w->ips.swap ? CHAINS_SWAP : 0));
}

/* Gives some chains their numbers. They are asked for first, so that the memory of the pool is on
 * its way. -ENOMEM. */
static int chains_answer(struct chains *c, struct chains_waiting *waiting, size_t n)
{
	for (size_t i = 0; i < n; i++)
		chains_ask(c, &waiting[i]);
	for (size_t i = 0; i < n; i++)
		if (waiting[i].ips.n)
			intern_ask_again(&c->words, waiting[i].asked);
	for (size_t i = 0; i < n; i++) {
		const struct chains_waiting *w = &waiting[i];
		uint32_t id;

		if (!w->ips.n)
			continue;
		id = intern_put_asked(&c->words, w->ips.bytes, w->ips.n * 8, w->asked, w->way);
		if (id == INTERN_FAILED)
			return -ENOMEM;
		*w->chain = id;
		if (w->recent && !intern_is_far(&c->words, id))
			*w->recent = (struct chains_recent){
				.bytes = (const unsigned char *)intern_get(&c->words, id),
				.n = (uint32_t)w->ips.n,
				.id = id
			};
	}
	atomic_store_explicit(&c->again, c->words.n_again, memory_order_relaxed);
	return 0;
}

/* Looks up those that wait. */
static int chains_rest(struct chains *c)
{
	const unsigned n = c->n_waiting;

	c->n_waiting = 0;
	return chains_answer(c, c->waiting, n);
}

/* Lets a chain wait for its number; not if its words do not stay. */
static int chains_keep(struct chains *c, const struct chains_waiting *w, bool stable)
{
	c->waiting[c->n_waiting++] = *w;
	return c->n_waiting == CHAINS_WAITING || !stable ? chains_rest(c) : 0;
}

/* A chain on its way to the thread. */
struct chains_sent {
	const unsigned char *bytes;
	uint32_t *chain;
	uint16_t *n;
	uint16_t words;
	uint8_t swap, way;
};

/* For the relay. */
static void chains_take(void *ctx, void *things, size_t n)
{
	struct chains *c = ctx;
	const struct chains_sent *sent = things;

	for (size_t i = 0; i < n && !c->failed; i++) {
		const struct chains_sent *s = &sent[i];
		const struct chains_waiting w = {
			.ips = { .bytes = s->bytes, .n = s->words, .swap = s->swap },
			.chain = s->chain,
			.n = s->n,
			.way = s->way
		};

		c->failed = chains_keep(c, &w, true) < 0;
	}
}

/* Hands a chain over to the thread. */
static void chains_send(struct chains *c, const struct chains_waiting *w)
{
	struct chains_sent *sent = relay_next(&c->relay, (size_t)w->ips.n * 8);

	*sent = (struct chains_sent){ .bytes = w->ips.bytes,
		                      .chain = w->chain,
		                      .n = w->n,
		                      .words = (uint16_t)w->ips.n,
		                      .swap = w->ips.swap,
		                      .way = (uint8_t)w->way };
}

/* Bytes that do not stay are looked up at once. */
int chains_put(struct chains *c, const struct seam_u64s *ips, bool stable, uint32_t *chain,
               uint16_t *n)
{
	const struct chains_waiting w = {
		.ips = *ips, .chain = chain, .n = n, .way = stable ? c->way : INTERN_COPY
	};

	if (!ips->n)
		return 0;
	/* 4,096 slots of 16 bytes. They serve learning alone: chains_settle frees them. */
	if (!c->recent)
		c->recent = calloc(1u << RECENT_BITS, sizeof(*c->recent));
	if (!c->recent)
		return -ENOMEM;
	if (relay_takes(&c->relay, stable, sizeof(struct chains_sent), chains_take, c)) {
		chains_send(c, &w);
		return 0;
	}
	return c->failed ? -ENOMEM : chains_keep(c, &w, stable);
}

int chains_settle(struct chains *c)
{
	relay_end(&c->relay);
	if (c->failed || chains_rest(c) < 0)
		return -ENOMEM;
	free(c->recent);
	c->recent = NULL;
	return 0;
}

void chains_free(struct chains *c)
{
	relay_end(&c->relay);
	free(c->recent);
	intern_free(&c->words);
}
