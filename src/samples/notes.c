// SPDX-License-Identifier: MIT
// notes.c: see notes.h. Knows what a note holds; what becomes of it is load_notes.c's.
#include "samples/notes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/members.h"
#include "base/pages.h"
#include "samples/called.h"
#include "samples/hit.h"

_Static_assert(sizeof(struct notes_who) == 24, "hashed and compared as bytes");
_Static_assert(sizeof(struct note) == 32, "as notes.h says");

struct notes *notes_new(void)
{
	struct notes *n = calloc(1, sizeof(*n));

	if (n && stacks_start(&n->stacks) < 0) {
		notes_free(n);
		return NULL;
	}
	if (n)
		n->whos.size = sizeof(struct notes_who);
	return n;
}

void notes_free(struct notes *n)
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

size_t notes_block(const struct notes *n, size_t block, const struct note **ret)
{
	if (block >= n->n_blocks)
		return 0;
	*ret = n->blocks[block];
	return block + 1 < n->n_blocks ? NOTES_BLOCK : NOTES_BLOCK - (size_t)(n->end - n->next);
}

static int notes_grow(struct notes *n)
{
	struct note **blocks;

	if (!(n->n_blocks & (n->n_blocks - 1))) { /* 0, 1, 2, 4 ...: doubled */
		size_t room = n->n_blocks ? n->n_blocks * 2 : 1;

		blocks = realloc(n->blocks, room * sizeof(*blocks));
		if (!blocks)
			return -ENOMEM;
		n->blocks = blocks;
	}
	/* One block is enough for most recordings: it takes only the pages that it fills. */
	n->next = n->n_blocks ? pages_new(NOTES_BLOCK * sizeof(*n->next))
	                      : malloc(NOTES_BLOCK * sizeof(*n->next));
	n->end = n->next ? n->next + NOTES_BLOCK : NULL;
	if (!n->next)
		return -ENOMEM;
	n->blocks[n->n_blocks++] = n->next;
	return 0;
}

static int notes_who(struct notes *n, const struct seam_decoded *d, enum rules_kind kind,
                     uint32_t *ret)
{
	const struct notes_who who = {
		.event = d->sample.event->index,
		.pid = d->id.pid,
		.tid = d->id.tid,
		.cpu = d->id.cpu,
		.has = (uint32_t)(d->id.has & (SEAM_SAMPLE_TIME | SEAM_SAMPLE_CPU)),
		.misc = d->record->misc,
		.kind = (uint16_t)kind,
	};
	struct notes_recent *recent =
	        &n->recent[(who.tid ^ who.cpu << 5 ^ who.misc << 3 ^ who.kind ^ who.event << 7) %
	                   NOTES_RECENT];
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
static int notes_ip(struct notes *n, uint64_t ip, uint32_t *ret)
{
	if (n->n_ips == NOTES_NO_KERNEL)
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
	*ret = NOTES_NO_KERNEL | n->n_ips++;
	return 0;
}

/* The halves that the sample itself has. 1: their numbers are too large for a note. */
static int notes_halves(struct notes *n, const struct seam_decoded *d,
                        const struct stitch_learned *said, struct note *note)
{
	bool stable = d->record->stable;
	uint64_t chain;
	int r = 0;

	note->user = (uint32_t)said->slot;
	if (said->parts.kind == RULES_AT_ONCE)
		r = stacks_half(&n->stacks, &said->parts.user, stable, &note->user);
	if (r < 0 || !said->parts.kernel.n)
		return r < 0 ? r : notes_ip(n, d->sample.ip, &note->kernel);
	if (hit_user_first(&said->parts.kernel, d->record->misc))
		return 1;
	/* There is room for one of the two. */
	if (hit_known(d->sample.event) && (!hit_chain(&said->parts.kernel, &chain) ||
	                                   hit_elsewhere(d->sample.ip, d->record->misc, chain)))
		return 1;
	r = stacks_half(&n->stacks, &said->parts.kernel, stable, &note->kernel);
	return r < 0 ? r : !!(note->kernel & NOTES_NO_KERNEL);
}

int notes_add(struct notes *n, const struct seam_decoded *d, const struct stitch_learned *said)
{
	struct note note = { .weight = d->sample.period, .index = (uint32_t)d->record->index };
	int r;

	note.when = rules_when(d);
	if (said->parts.kind == RULES_STACK_COPY || called_event(d->sample.event) ||
	    said->slot > UINT32_MAX || !d->sample.event || members_of(&d->sample))
		return 1;
	if (d->id.has & SEAM_SAMPLE_TIME && note.when != d->id.time_ns) /* 292 years */
		return 1;
	r = notes_halves(n, d, said, &note);
	if (r)
		return r;
	r = notes_who(n, d, said->parts.kind, &note.who);
	if (r >= 0 && n->next == n->end)
		r = notes_grow(n);
	if (r >= 0)
		*n->next++ = note;
	return r;
}
