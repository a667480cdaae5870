// SPDX-License-Identifier: MIT
/*
 * sample_index.c: see sample_index.h. Knows what an entry holds; what else is asked of a sample is
 * samples_reader.c's.
 *
 * It lasts as long as the recording: 40 bytes a sample, and each distinct task and part of a stack
 * once.
 */
#include "samples/sample_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "abi/members.h"
#include "samples/called.h"
#include "samples/hit.h"
#include "samples/walk_result.h"

_Static_assert(sizeof(struct sample_index_who) == 24, "hashed and compared as bytes");
_Static_assert(sizeof(struct sample_entry) == 40, "as sample_index.h says");

/* innermost: of callchains only what tells the innermost frame is kept. NULL: out of memory. */
struct sample_index *sample_index_new(bool innermost)
{
	struct sample_index *n = calloc(1, sizeof(*n));

	if (n && stacks_start(&n->stacks) < 0) {
		sample_index_free(n);
		return NULL;
	}
	if (n) {
		n->whos.size = sizeof(struct sample_index_who);
		n->entries.size = sizeof(struct sample_entry);
		n->entries.held = SAMPLE_INDEX_HELD;
		n->ips.size = sizeof(uint64_t);
		n->ips.held = SAMPLE_INDEX_HELD;
		n->innermost = innermost;
		n->way = INTERN_LASTING;
	}
	return n;
}

void sample_index_free(struct sample_index *n)
{
	if (!n)
		return;
	relay_end(&n->relay);
	blocks_free(&n->entries);
	blocks_free(&n->ips);
	pool_free(&n->whos);
	stacks_free(&n->stacks);
	free(n->tally.rows);
	free(n);
}

void sample_index_rest(const struct sample_index *n, size_t before, size_t count)
{
	size_t end = before < n->entries.n_blocks ? before : n->entries.n_blocks;

	blocks_rest(&n->entries, end > count ? end - count : 0, end);
	blocks_rest(&n->ips, 0, SIZE_MAX);
}

/* The entries of a block, and how many; 0: there is no such block. */
size_t sample_index_block(const struct sample_index *n, size_t block,
                          const struct sample_entry **ret)
{
	const uint64_t first = (uint64_t)block * SAMPLE_INDEX_BLOCK;

	if (first >= n->entries.n)
		return 0;
	*ret = blocks_at(&n->entries, first);
	return n->entries.n - first < SAMPLE_INDEX_BLOCK ? (size_t)(n->entries.n - first)
	                                                 : SAMPLE_INDEX_BLOCK;
}

/* What of a sample must be taken from its record (SAMPLE_INDEX_*). */
static uint16_t sample_index_flags(const struct seam_decoded *d, enum rules_kind kind)
{
	return (uint16_t)((kind == RULES_STACK_COPY ? SAMPLE_INDEX_COPY : 0) |
	                  (called_event(d->sample.event) ? SAMPLE_INDEX_CALLED : 0) |
	                  (members_of(&d->sample) ? SAMPLE_INDEX_GROUP : 0) |
	                  (d->record->swap ? SAMPLE_INDEX_SWAP : 0));
}

/* A sample's event, task, CPU, misc and kind are met for the first time, or not lately. */
static uint32_t sample_index_who_put(struct sample_index *n, const struct seam_decoded *d,
                                     uint16_t has, enum rules_kind kind)
{
	const struct sample_index_who who = {
		.event = d->sample.event->index,
		.pid = d->id.pid,
		.tid = d->id.tid,
		.cpu = d->id.cpu,
		.has = has,
		.flags = sample_index_flags(d, kind),
		.misc = d->record->misc,
		.kind = (uint16_t)kind,
	};

	n->flags |= who.flags;
	return pool_put(&n->whos, &who);
}

/* The number of a sample's event, task, CPU, misc and kind; flags follow from these. The last ones
 * are remembered, because samples of one CPU come one after the other. They are compared as words
 * that are made in registers: a word that was just written in pieces is slow to read. -ENOMEM. */
static int sample_index_who(struct sample_index *n, const struct seam_decoded *d,
                            enum rules_kind kind, uint32_t *ret)
{
	const uint64_t kept = SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_CPU;
	const uint32_t event = d->sample.event->index, tid = d->id.tid, cpu = d->id.cpu;
	const uint16_t has = (uint16_t)(d->id.has & kept), misc = d->record->misc;
	const uint64_t task = (uint64_t)d->id.pid << 32 | event, where = (uint64_t)cpu << 32 | tid,
	               how = (uint64_t)kind << 32 | (uint32_t)misc << 16 | has;
	struct sample_index_recent *recent =
	        &n->recent[(tid ^ cpu << 5 ^ (uint32_t)misc << 3 ^ kind ^ event << 7) %
	                   SAMPLE_INDEX_RECENT];

	if (!recent->id ||
	    (recent->who[0] ^ task) | (recent->who[1] ^ where) | (recent->who[2] ^ how)) {
		recent->id = sample_index_who_put(n, d, has, kind);
		recent->who[0] = task;
		recent->who[1] = where;
		recent->who[2] = how;
	}
	*ret = recent->id;
	return *ret == POOL_FAILED ? -ENOMEM : 0;
}

/* Keeps the ip of a sample, with the number of its kernel part behind it if that is not 0. */
static int sample_index_ip(struct sample_index *n, uint64_t ip, uint32_t part, uint32_t *ret)
{
	uint64_t words[2] = { ip, part };

	if (n->ips.n + 2 > SAMPLE_INDEX_IPS)
		return -EOVERFLOW;
	*ret = (part ? SAMPLE_INDEX_APART : SAMPLE_INDEX_NO_KERNEL) | (uint32_t)n->ips.n;
	for (unsigned i = 0; i < 1 + !!part; i++) {
		uint64_t *word = blocks_add(&n->ips);

		if (!word)
			return -ENOMEM;
		*word = words[i];
	}
	return 0;
}

/* Leaves of the chain what says where the sample hit: nothing, where its ip and its mode do. */
static void sample_index_cut(const struct seam_decoded *d, struct seam_u64s *kernel,
                             struct seam_u64s *user)
{
	unsigned mode = d->record->misc & SEAM_MISC_CPUMODE_MASK;
	uint64_t ip = d->sample.ip;

	hit_cut(kernel, user);
	if (!hit_known(d->sample.event))
		return;
	if (mode == SEAM_MISC_USER && !kernel->n && user->n && seam_u64s_at(user, 0) == ip)
		user->n = 0;
	else if (mode == SEAM_MISC_KERNEL && kernel->n == 2 &&
	         seam_u64s_at(kernel, 0) == SEAM_CONTEXT_KERNEL && seam_u64s_at(kernel, 1) == ip)
		kernel->n = 0;
}

/* Whether the parts that the sample itself has begin where it hit, so that its ip need not be
 * kept. */
static bool sample_index_begins(const struct seam_decoded *d, const struct seam_u64s *kernel,
                                const struct seam_u64s *user)
{
	uint64_t chain;

	if (kernel->n)
		return !hit_known(d->sample.event) ||
		       (hit_chain(kernel, &chain) && chain == d->sample.ip);
	/* Calls that the CPU recorded take the user part's place later. */
	return user->n && hit_known(d->sample.event) && !called_event(d->sample.event) &&
	       seam_u64s_at(user, 0) == d->sample.ip;
}

/* Writes the parts of a sample that waited into its entry. */
static int sample_index_answer(struct sample_index *n, const struct sample_index_waiting *w)
{
	uint32_t kernel = 0;
	int r = 0;

	if (w->user.words.n)
		r = stacks_answer(&n->stacks, &w->user, w->parts.way, &w->entry->user);
	if (r >= 0)
		r = stacks_answer(&n->stacks, &w->kernel, w->parts.way, &kernel);
	if (r < 0)
		return r;
	/* The number shares its word with two marks. */
	if (kernel > SAMPLE_INDEX_IPS)
		return -EOVERFLOW;
	w->entry->kernel = kernel;
	return w->parts.begins ? 0 : sample_index_ip(n, w->parts.ip, kernel, &w->entry->kernel);
}

/* Looks up the parts of some samples together. */
static int sample_index_look(struct sample_index *n, struct sample_index_waiting *waiting,
                             size_t count)
{
	const struct intern *parts = n->stacks.parts;
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		stacks_ask(&n->stacks, &waiting[i].parts.user, &waiting[i].user);
		stacks_ask(&n->stacks, &waiting[i].parts.kernel, &waiting[i].kernel);
	}
	for (size_t i = 0; i < count; i++) {
		stacks_ask_again(&n->stacks, &waiting[i].user);
		stacks_ask_again(&n->stacks, &waiting[i].kernel);
	}
	for (size_t i = 0; i < count && r >= 0; i++)
		r = sample_index_answer(n, &waiting[i]);
	atomic_store_explicit(&n->again, parts[0].n_again + parts[1].n_again, memory_order_relaxed);
	return r;
}

/* Looks up those that wait. */
static int sample_index_rest_waiting(struct sample_index *n)
{
	const unsigned count = n->n_waiting;

	n->n_waiting = 0;
	return sample_index_look(n, n->waiting, count);
}

/* Adds an entry that nothing is asked of. */
static int sample_index_bare(struct sample_index *n, const struct sample_entry *entry)
{
	struct sample_entry *kept = blocks_add(&n->entries);

	if (!kept)
		return -ENOMEM;
	*kept = *entry;
	return 0;
}

/* Adds the entry of a sample without parts: its ip alone is asked of it. */
static int sample_index_hit(struct sample_index *n, struct sample_entry *entry, uint64_t ip)
{
	int r = sample_index_ip(n, ip, 0, &entry->kernel);

	return r < 0 ? r : sample_index_bare(n, entry);
}

/* Adds an entry, and lets it wait for the numbers of its parts; not if its words do not last. */
static int sample_index_keep(struct sample_index *n, const struct sample_entry *entry, bool lasts,
                             const struct sample_index_parts *parts)
{
	struct sample_entry *kept = blocks_add(&n->entries);
	struct sample_index_waiting *w;

	if (!kept)
		return -ENOMEM;
	*kept = *entry;
	w = &n->waiting[n->n_waiting++];
	w->entry = kept;
	w->parts = *parts;
	return n->n_waiting == SAMPLE_INDEX_WAITING || !lasts ? sample_index_rest_waiting(n) : 0;
}

/* A sample on its way to the thread: one line of a processor's cache. Words are said by where they
 * lie in its record. */
struct sample_index_sent {
	struct sample_entry entry;
	uint64_t ip;
	uint16_t kernel_at, kernel_n, user_at, user_n;
	uint8_t begins, swap, way;
};

_Static_assert(sizeof(struct sample_index_sent) == 64, "a line of the cache");

static struct seam_u64s sample_index_words(const struct sample_index_sent *s, uint16_t at,
                                           uint16_t n)
{
	return (struct seam_u64s){ .bytes = s->entry.bytes + at, .n = n, .swap = s->swap };
}

#define ASK_AHEAD 8u /* samples whose words are asked for */

/* Asks for the words of a sample: the other thread did not look at them. */
static void sample_index_ask(const struct sample_index_sent *s)
{
	const unsigned char *words = s->entry.bytes + s->user_at;
	const size_t n = (size_t)s->user_n * 8;

	for (size_t i = 0; i < n && i < 1024; i += 64)
		__builtin_prefetch(words + i);
}

/* For the relay: adds some samples. */
static void sample_index_take(void *ctx, void *things, size_t count)
{
	struct sample_index *n = ctx;
	const struct sample_index_sent *sent = things;

	for (size_t i = 0; i < count && n->failure >= 0; i++) {
		const struct sample_index_sent *s = &sent[i];
		const struct sample_index_parts parts = {
			.kernel = sample_index_words(s, s->kernel_at, s->kernel_n),
			.user = sample_index_words(s, s->user_at, s->user_n),
			.ip = s->ip,
			.begins = s->begins,
			.way = s->way
		};

		__builtin_prefetch(s + 2 * ASK_AHEAD);
		if (i + ASK_AHEAD < count)
			sample_index_ask(&sent[i + ASK_AHEAD]);
		n->failure = sample_index_keep(n, &s->entry, true, &parts);
	}
}

int sample_index_settle(struct sample_index *n)
{
	relay_end(&n->relay);
	return n->failure < 0 ? n->failure : sample_index_rest_waiting(n);
}

/* Where words lie in a record. */
static uint16_t sample_index_at(const struct sample_entry *entry, const struct seam_u64s *words)
{
	return words->n ? (uint16_t)(words->bytes - entry->bytes) : 0;
}

/* Hands a sample over to the thread. size: of its record. */
static void sample_index_send(struct sample_index *n, const struct sample_entry *entry, size_t size,
                              const struct sample_index_parts *parts)
{
	const struct seam_u64s *user = &parts->user, *kernel = &parts->kernel;
	struct sample_index_sent *sent = relay_next(&n->relay, size);

	*sent = (struct sample_index_sent){ .entry = *entry,
		                            .ip = parts->ip,
		                            .user_at = sample_index_at(entry, user),
		                            .user_n = (uint16_t)user->n,
		                            .kernel_at = sample_index_at(entry, kernel),
		                            .kernel_n = (uint16_t)kernel->n,
		                            .begins = parts->begins,
		                            .swap = user->swap | kernel->swap,
		                            .way = (uint8_t)parts->way };
}

/* Adds an entry, and asks for the numbers of its parts: in the thread, which begins when samples
 * are many, or here, if the words do not last. */
static int sample_index_asks(struct sample_index *n, const struct sample_entry *entry, size_t size,
                             const struct sample_index_parts *parts)
{
	const bool lasts = entry->bytes;

	if (relay_takes(&n->relay, lasts, sizeof(struct sample_index_sent), sample_index_take, n)) {
		sample_index_send(n, entry, size, parts);
		return 0;
	}
	return n->failure < 0 ? n->failure : sample_index_keep(n, entry, lasts, parts);
}

/* Adds an entry, and asks for the numbers of the parts that the sample itself has. They are written
 * when some samples wait, in a thread where there are many, or at once if the words do not last. */
static int sample_index_parts(struct sample_index *n, const struct seam_decoded *d,
                              const struct stitch_learned *said, struct sample_entry *entry)
{
	struct seam_u64s kernel = said->parts.kernel, user = said->parts.user;
	struct sample_index_parts parts;

	if (said->parts.kind == RULES_STACK_COPY &&
	    (!hit_known(d->sample.event) ||
	     !hit_elsewhere(d->sample.ip, d->record->misc, ~d->sample.ip)))
		n->hits_in_copies = true;
	/* Where a walk was made while recording, its last frame says where it ended. */
	if (n->innermost && !walk_result_said(&d->sample.event->attr))
		sample_index_cut(d, &kernel, &user);
	entry->user = (uint32_t)said->slot;
	/* Neither parts nor where it hit. */
	if (n->no_stacks && !walk_result_said(&d->sample.event->attr))
		return sample_index_bare(n, entry);
	if (said->parts.kind != RULES_AT_ONCE)
		user.n = 0;
	if (!kernel.n && !user.n && !n->relay.started)
		return sample_index_hit(n, entry, d->sample.ip);
	parts = (struct sample_index_parts){ .kernel = kernel,
		                             .user = user,
		                             .ip = d->sample.ip,
		                             .begins = sample_index_begins(d, &kernel, &user),
		                             .way = d->record->stable ? n->way : INTERN_COPY };
	return sample_index_asks(n, entry, d->record->size, &parts);
}

/* said: what the stitcher learned of this sample. A copy of the stack, registers and the counters
 * of a group are not in the entry, but in the record alone. */
int sample_index_add(struct sample_index *n, const struct seam_decoded *d,
                     const struct stitch_learned *said)
{
	struct sample_entry entry = { .period = d->sample.period,
		                      .bytes = d->record->stable ? d->record->bytes : NULL,
		                      .index = (uint32_t)d->record->index };
	int r;

	/* Numbers of 32 bits keep an entry at 40 bytes; a file of more records is refused. */
	if (d->record->index > UINT32_MAX || said->slot > UINT32_MAX)
		return -EOVERFLOW;
	if (d->id.has & SEAM_SAMPLE_TIME)
		entry.time_ns = d->id.time_ns;
	r = sample_index_who(n, d, said->parts.kind, &entry.who);
	if (r < 0)
		return r;
	return sample_index_parts(n, d, said, &entry);
}

/* How many samples there are. */
uint64_t sample_index_count(const struct sample_index *n)
{
	return n->entries.n;
}

/* The entry of a record, by its index in the file; NULL: it is no sample, or was not decoded.
 * Entries ascend. */
const struct sample_entry *sample_index_find(const struct sample_index *n, uint64_t record)
{
	uint64_t low = 0, high = sample_index_count(n);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		const struct sample_entry *e = blocks_at(&n->entries, middle);

		if (e->index == record)
			return e;
		if (e->index < record)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
