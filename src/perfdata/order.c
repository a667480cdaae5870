// SPDX-License-Identifier: MIT
// order.c: see order.h.
//
// `entries[head, n)` waits. Its first part, up to `sorted`, is in order; what came since the last
// round is behind it as it came. A round sorts that part and merges it in. The sort is a natural
// merge sort: rings are drained one after the other, so what came is a few long ascending runs, and
// runs of neighbouring rounds hardly overlap: the merge first cuts off what is in place already.
#include "perfdata/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Copies of records that would not stay: chunks of this size, aligned to it, so that a record's
 * address tells its chunk. A chunk is freed with the last record in it. */
#define ORDER_CHUNK ((size_t)1 << 20)

/* How many entries ahead the memory of a record's header is asked for. */
#define ORDER_AHEAD 8u

#define ORDER_SWAP (1ULL << 63) /* bits of entry.place */
#define ORDER_COPIED (1ULL << 62)

/* 32 bytes: a recording of ten million samples that is sorted as a whole waits in 320 MB. */
struct entry {
	uint64_t time;
	uint64_t place; /* offset in the file, and the two bits above */
	uint64_t index;
	const unsigned char *bytes;
};

/* live: records that have not gone, or whose bytes the caller still looks at. used: bytes up to
 * which it is full. */
struct chunk { /* stands at the chunk's start */
	size_t live, used;
};

struct order {
	struct order_opts opts;
	struct order_counts counts;
	struct entry *entries;
	size_t head, n, capacity;
	size_t sorted; /* entries[head, sorted) are in order */
	size_t ready;  /* entries[head, ready) may go */
	struct entry *spare;
	size_t spare_capacity;
	struct entry *untimed; /* a queue: may go at once */
	size_t untimed_head, untimed_n, untimed_capacity;
	struct chunk *chunk;  /* the one being filled */
	struct chunk *popped; /* holds the bytes that the last pop gave */
	size_t chunk_bytes;
	uint64_t newest;      /* time seen so far */
	uint64_t round_limit; /* newest of the round before: complete up to here */
	uint64_t gone;        /* time of the newest that went */
	bool finished;
};

/* opts may be NULL. -ENOMEM. */
int order_new(struct order **ret, const struct order_opts *opts)
{
	struct order *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	if (opts)
		o->opts = *opts;
	if (!o->opts.max_bytes)
		o->opts.max_bytes = o->opts.sort ? (size_t)4 << 30 : (size_t)256 << 20;
	*ret = o;
	return 0;
}

/* ---- copies ---- */

/* Chunks are aligned to their size, so the low bits of an address tell nothing of the chunk. */
static struct chunk *order_chunk_of(const unsigned char *bytes)
{
	return (struct chunk *)((uintptr_t)bytes & ~(uintptr_t)(ORDER_CHUNK - 1));
}

/* A record of the chunk has gone. With its last one a chunk is freed, or, if it is the one that is
 * being filled, begun anew. */
static void order_release(struct order *o, struct chunk *c)
{
	if (--c->live)
		return;
	if (c == o->chunk) {
		c->used = sizeof(*c);
		return;
	}
	o->chunk_bytes -= ORDER_CHUNK;
	free(c);
}

/* Copies a record that will not stay where it is, and returns the copy; NULL: out of memory. Copies
 * share chunks, and order_release frees a chunk when its last record is gone. */
static const unsigned char *order_copy(struct order *o, const unsigned char *bytes, size_t n)
{
	unsigned char *to;

	/* It counts as one more record while it is being filled: order_release takes that count
	 * off. */
	if (o->chunk && ORDER_CHUNK - o->chunk->used < n) {
		struct chunk *full = o->chunk;

		o->chunk = NULL;
		full->live++;
		order_release(o, full);
	}
	if (!o->chunk) {
		o->chunk = aligned_alloc(ORDER_CHUNK, ORDER_CHUNK);
		if (!o->chunk)
			return NULL;
		*o->chunk = (struct chunk){ .used = sizeof(struct chunk) };
		o->chunk_bytes += ORDER_CHUNK;
	}
	to = (unsigned char *)o->chunk + o->chunk->used;
	memcpy(to, bytes, n);
	o->chunk->used += (n + 7) & ~(size_t)7;
	if (o->chunk->used > ORDER_CHUNK)
		o->chunk->used = ORDER_CHUNK;
	o->chunk->live++;
	return to;
}

/* Releases the copies among entries that never went. */
static void order_drop_copies(struct order *o, const struct entry *e, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (e[i].place & ORDER_COPIED)
			order_release(o, order_chunk_of(e[i].bytes));
	}
}

void order_free(struct order *o)
{
	if (!o)
		return;
	if (o->popped)
		order_release(o, o->popped);
	order_drop_copies(o, o->entries, o->head, o->n);
	order_drop_copies(o, o->untimed, o->untimed_head, o->untimed_n);
	free(o->chunk);
	free(o->entries);
	free(o->spare);
	free(o->untimed);
	free(o);
}

/* ---- sort ---- */

/* The first index in [at, end) whose time is greater than t (or, with `equal`, not less). */
static size_t order_bound(const struct entry *e, size_t at, size_t end, uint64_t t, bool equal)
{
	while (at < end) {
		size_t mid = at + (end - at) / 2;

		if (e[mid].time < t || (!equal && e[mid].time == t))
			at = mid + 1;
		else
			end = mid;
	}
	return at;
}

/* Merges [at, mid) and [mid, end), both in order; equal times: the left ones first. */
static int order_merge(struct order *o, size_t at, size_t mid, size_t end)
{
	struct entry *e = o->entries, *left;
	size_t n, i = 0, k = mid;

	/* Most runs do not overlap at their ends: what is in place on either side is not moved. */
	if (at == mid || mid == end || e[mid - 1].time <= e[mid].time)
		return 0;
	at = order_bound(e, at, mid, e[mid].time, false);
	end = order_bound(e, mid, end, e[mid - 1].time, true);
	n = mid - at;
	if (ARRAY_ROOM(&o->spare, &o->spare_capacity, n) < 0)
		return -ENOMEM;
	left = o->spare;
	memcpy(left, e + at, n * sizeof(*left));
	while (i < n && k < end)
		e[at++] = e[k].time < left[i].time ? e[k++] : left[i++];
	memcpy(e + at, left + i, (n - i) * sizeof(*left));
	return 0;
}

/* Where the run that begins at `at` ends. */
/* A record of the same time continues the run: order of push is kept. */
static size_t order_run(const struct entry *e, size_t at, size_t end)
{
	while (++at < end && e[at - 1].time <= e[at].time)
		;
	return at;
}

/*
 * Sorts [at, end). Runs are merged two by two when they are of like length, from a stack whose
 * lengths at least double downwards, so it is never deeper than 64.
 */
static int order_sort(struct order *o, size_t at, size_t end)
{
	size_t stack[66], depth = 0;
	int rc = 0;

	stack[0] = at;
	while (at < end && rc >= 0) {
		at = order_run(o->entries, at, end);
		stack[++depth] = at;
		while (depth >= 2 && rc >= 0 &&
		       stack[depth - 1] - stack[depth - 2] <=
		               2 * (stack[depth] - stack[depth - 1])) {
			rc = order_merge(o, stack[depth - 2], stack[depth - 1], stack[depth]);
			stack[depth - 1] = stack[depth];
			depth--;
		}
	}
	while (depth >= 2 && rc >= 0) {
		rc = order_merge(o, stack[depth - 2], stack[depth - 1], stack[depth]);
		stack[depth - 1] = stack[depth];
		depth--;
	}
	return rc;
}

/* Brings everything that waits into one order. After it entries[head, n) is sorted. */
static int order_settle(struct order *o)
{
	int rc = order_sort(o, o->sorted, o->n);

	if (rc >= 0)
		rc = order_merge(o, o->head, o->sorted, o->n);
	if (rc >= 0)
		o->sorted = o->n;
	return rc;
}

/* ---- in and out ---- */

/* What it holds now, with room that is not used. */
static size_t order_bytes(const struct order *o)
{
	return (o->capacity + o->spare_capacity + o->untimed_capacity) * sizeof(struct entry) +
	       o->chunk_bytes;
}

static int order_grow(struct entry **entries, size_t *capacity)
{
	return ARRAY_ROOM(entries, capacity, *capacity + 1);
}

/* Makes room for one more. Entries that went leave a gap, which is closed when most entries went,
 * so that each entry moves few times. */
static int order_room(struct order *o)
{
	if (o->n < o->capacity)
		return 0;
	if (o->head <= o->n / 2)
		return order_grow(&o->entries, &o->capacity);
	memmove(o->entries, o->entries + o->head, (o->n - o->head) * sizeof(*o->entries));
	o->n -= o->head;
	o->sorted -= o->head;
	o->ready -= o->head;
	o->head = 0;
	return 0;
}

/* Too much waits: the older half may go, come what may. Only what is above max_bytes waits so long
 * that order is lost, and the caller is told how much. */
static int order_force(struct order *o)
{
	size_t half, before = o->ready;
	int rc = order_settle(o);

	if (rc < 0)
		return rc;
	half = o->head + (o->n - o->head) / 2;
	if (half > before) {
		o->ready = half;
		o->counts.forced += half - before;
	}
	return 0;
}

/* Records without a time have no place in the order: they go as soon as they came. */
static int order_push_untimed(struct order *o, const struct entry *e)
{
	if (o->untimed_head == o->untimed_n)
		o->untimed_head = o->untimed_n = 0;
	if (o->untimed_n == o->untimed_capacity &&
	    order_grow(&o->untimed, &o->untimed_capacity) < 0)
		return -ENOMEM;
	o->untimed[o->untimed_n++] = *e;
	return 0;
}

/* Copies only what does not stay (record->stable). When more than opts.max_bytes wait, the older
 * half becomes ready at once, so that memory stays bounded even if the file never ends a round. */
int order_push(struct order *o, uint64_t time_ns, const struct seam_record *record)
{
	/* The two highest bits of an offset are never used: no file is that long. */
	struct entry e = { .time = time_ns,
		           .place = record->offset & ~(ORDER_SWAP | ORDER_COPIED),
		           .index = record->index,
		           .bytes = record->bytes };
	size_t bytes;

	if (order_room(o) < 0)
		return -ENOMEM;
	if (!record->stable) {
		e.bytes = order_copy(o, record->bytes, record->size);
		e.place |= ORDER_COPIED;
	}
	if (!e.bytes)
		return -ENOMEM;
	e.place |= record->swap ? ORDER_SWAP : 0;
	o->counts.pushed++;
	if (time_ns == ORDER_NO_TIME)
		return order_push_untimed(o, &e);
	o->entries[o->n++] = e;
	if (time_ns > o->newest)
		o->newest = time_ns;
	bytes = order_bytes(o);
	if (bytes > o->counts.peak_bytes)
		o->counts.peak_bytes = bytes;
	return bytes > o->opts.max_bytes && o->ready == o->head ? order_force(o) : 0;
}

/* Lets go of what no later record can precede: all that is not newer than the newest record of the
 * round before. Rings are drained in turn, so a record of this round may be older than others of
 * it. */
int order_round(struct order *o)
{
	size_t ready;
	int rc;

	o->counts.rounds++;
	if (o->opts.sort)
		return 0;
	rc = order_settle(o);
	if (rc < 0)
		return rc;
	ready = order_bound(o->entries, o->head, o->n, o->round_limit, false);
	if (ready > o->ready)
		o->ready = ready;
	o->round_limit = o->newest;
	return 0;
}

/* Sorts all that waits and lets it go. */
int order_finish(struct order *o)
{
	int rc = order_settle(o);

	if (rc >= 0)
		o->ready = o->n;
	return rc;
}

/* Fills *ret from an entry. The record's header is read again from its bytes, because entries hold
 * only what sorting needs. */
static void order_give(struct order *o, const struct entry *e, struct seam_record *ret)
{
	bool swap = e->place & ORDER_SWAP;
	uint32_t type;
	uint16_t misc, size;

	memcpy(&type, e->bytes, 4);
	memcpy(&misc, e->bytes + 4, 2);
	memcpy(&size, e->bytes + 6, 2);
	*ret = (struct seam_record){
		.type = swap ? __builtin_bswap32(type) : type,
		.misc = swap ? __builtin_bswap16(misc) : misc,
		.size = swap ? __builtin_bswap16(size) : size,
		.swap = swap,
		.stable = !(e->place & ORDER_COPIED),
		.offset = e->place & ~(ORDER_SWAP | ORDER_COPIED),
		.index = e->index,
		.bytes = e->bytes,
	};
	o->counts.popped++;
	if (e->place & ORDER_COPIED)
		o->popped = order_chunk_of(e->bytes);
}

/* Records without a time go first, then those that are ready, by time. A record that is older than
 * one that already went is given all the same, and counted as late. */
int order_pop(struct order *o, struct seam_record *ret, uint64_t *time_ns)
{
	const struct entry *e;

	/* The caller may look at the bytes until now. */
	if (o->popped)
		order_release(o, o->popped);
	o->popped = NULL;
	if (o->untimed_head < o->untimed_n) {
		e = &o->untimed[o->untimed_head++];
	} else if (o->head < o->ready) {
		e = &o->entries[o->head++];
		/* The header of a record some places ahead: it lies anywhere in the file. */
		if (o->head + ORDER_AHEAD < o->ready)
			__builtin_prefetch(o->entries[o->head + ORDER_AHEAD].bytes);
		if (e->time < o->gone)
			o->counts.late++;
		else
			o->gone = e->time;
	} else {
		return 0;
	}
	if (time_ns)
		*time_ns = e->time;
	order_give(o, e, ret);
	return 1;
}

void order_counts(const struct order *o, struct order_counts *ret)
{
	*ret = o->counts;
}
