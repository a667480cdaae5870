// SPDX-License-Identifier: MIT
// sample_index.c: see sample_index.h. Knows what an entry holds; what becomes of it is
// load_notes.c's.
#include "samples/sample_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/members.h"
#include "base/pages.h"
#include "samples/called.h"
#include "samples/hit.h"

_Static_assert(sizeof(struct sample_index_who) == 24, "hashed and compared as bytes");
_Static_assert(sizeof(struct sample_entry) == 32, "as notes.h says");

struct sample_index *sample_index_new(void)
{
	struct sample_index *n = calloc(1, sizeof(*n));

	if (n && stacks_start(&n->stacks) < 0) {
		sample_index_free(n);
		return NULL;
	}
	if (n)
		n->whos.size = sizeof(struct sample_index_who);
	return n;
}

void sample_index_free(struct sample_index *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->n_blocks; i++)
		free(n->blocks[i]);
	free(n->blocks);
	free(n->ips);
	pool_free(&n->whos);
	stacks_free(&n->stacks);
	free(n);
}

size_t sample_index_block(const struct sample_index *n, size_t block,
                          const struct sample_entry **ret)
{
	if (block >= n->n_blocks)
		return 0;
	*ret = n->blocks[block];
	return block + 1 < n->n_blocks ? SAMPLE_INDEX_BLOCK
	                               : SAMPLE_INDEX_BLOCK - (size_t)(n->end - n->next);
}

static int sample_index_grow(struct sample_index *n)
{
	struct sample_entry **blocks;

	if (!(n->n_blocks & (n->n_blocks - 1))) { /* 0, 1, 2, 4 ...: doubled */
		size_t room = n->n_blocks ? n->n_blocks * 2 : 1;

		blocks = realloc(n->blocks, room * sizeof(*blocks));
		if (!blocks)
			return -ENOMEM;
		n->blocks = blocks;
	}
	/* One block is enough for most recordings: it takes only the pages that it fills. */
	n->next = n->n_blocks ? pages_new(SAMPLE_INDEX_BLOCK * sizeof(*n->next))
	                      : malloc(SAMPLE_INDEX_BLOCK * sizeof(*n->next));
	n->end = n->next ? n->next + SAMPLE_INDEX_BLOCK : NULL;
	if (!n->next)
		return -ENOMEM;
	n->blocks[n->n_blocks++] = n->next;
	return 0;
}

static int sample_index_who(struct sample_index *n, const struct seam_decoded *d,
                            enum rules_kind kind, uint32_t *ret)
{
	const struct sample_index_who who = {
		.event = d->sample.event->index,
		.pid = d->id.pid,
		.tid = d->id.tid,
		.cpu = d->id.cpu,
		.has = (uint32_t)(d->id.has & (SEAM_SAMPLE_TIME | SEAM_SAMPLE_CPU)),
		.misc = d->record->misc,
		.kind = (uint16_t)kind,
	};
	struct sample_index_recent *recent =
	        &n->recent[(who.tid ^ who.cpu << 5 ^ who.misc << 3 ^ who.kind ^ who.event << 7) %
	                   SAMPLE_INDEX_RECENT];
	uint64_t words[3];

	memcpy(words, &who, sizeof(words));
	if (!recent->id || (recent->who[0] ^ words[0]) | (recent->who[1] ^ words[1]) |
	                           (recent->who[2] ^ words[2])) {
		recent->id = pool_put(&n->whos, &who);
		memcpy(recent->who, words, sizeof(words));
	}
	*ret = recent->id;
	return *ret == POOL_FAILED ? -ENOMEM : 0;
}

/* 1: one too many. */
static int sample_index_ip(struct sample_index *n, uint64_t ip, uint32_t *ret)
{
	if (n->n_ips == SAMPLE_INDEX_NO_KERNEL)
		return 1;
	if (n->n_ips == n->ips_capacity) {
		uint32_t capacity = n->ips_capacity ? n->ips_capacity * 2 : 4096;
		uint64_t *ips;

		ips = realloc(n->ips, capacity * sizeof(*ips));
		if (!ips)
			return -ENOMEM;
		n->ips = ips;
		n->ips_capacity = capacity;
	}
	n->ips[n->n_ips] = ip;
	*ret = SAMPLE_INDEX_NO_KERNEL | n->n_ips++;
	return 0;
}

/* The parts that the sample itself has. 1: their numbers are too large for an entry. */
static int sample_index_parts(struct sample_index *n, const struct seam_decoded *d,
                              const struct stitch_learned *said, struct sample_entry *entry)
{
	bool stable = d->record->stable;
	uint64_t chain;
	int r = 0;

	entry->user = (uint32_t)said->slot;
	if (said->parts.kind == RULES_AT_ONCE)
		r = stacks_part(&n->stacks, &said->parts.user, stable, &entry->user);
	if (r < 0 || !said->parts.kernel.n)
		return r < 0 ? r : sample_index_ip(n, d->sample.ip, &entry->kernel);
	if (hit_user_first(&said->parts.kernel, d->record->misc))
		return 1;
	/* There is room for one of the two. */
	if (hit_known(d->sample.event) && (!hit_chain(&said->parts.kernel, &chain) ||
	                                   hit_elsewhere(d->sample.ip, d->record->misc, chain)))
		return 1;
	r = stacks_part(&n->stacks, &said->parts.kernel, stable, &entry->kernel);
	return r < 0 ? r : !!(entry->kernel & SAMPLE_INDEX_NO_KERNEL);
}

int sample_index_add(struct sample_index *n, const struct seam_decoded *d,
                     const struct stitch_learned *said)
{
	struct sample_entry entry = { .weight = d->sample.period,
		                      .index = (uint32_t)d->record->index };
	int r;

	entry.when = rules_when(d);
	if (said->parts.kind == RULES_STACK_COPY || called_event(d->sample.event) ||
	    said->slot > UINT32_MAX || !d->sample.event || members_of(&d->sample))
		return 1;
	if (d->id.has & SEAM_SAMPLE_TIME && entry.when != d->id.time_ns) /* 292 years */
		return 1;
	r = sample_index_parts(n, d, said, &entry);
	if (r)
		return r;
	r = sample_index_who(n, d, said->parts.kind, &entry.who);
	if (r >= 0 && n->next == n->end)
		r = sample_index_grow(n);
	if (r >= 0)
		*n->next++ = entry;
	return r;
}
