// SPDX-License-Identifier: MIT
/*
 * ring.c: from a perf ring to a sink, in spans of whole records; see ring.h. The kernel writes
 * data_head after the data (we load it with acquire) and reads data_tail before it overwrites (we
 * store it with release, after the sink has returned). Positions are u64 that only grow; the place
 * in the data is the position modulo the size.
 *
 * A record may begin at the end of the data and go on at its start. Spans are given where they lie,
 * without a copy; only a record that is cut so is put together in `whole` first.
 *
 * Invariant: what the sink did not take stays in the ring, from the first byte of a record on. No
 * size in the ring is believed: a record ends within what the kernel says it has written, or the
 * reading ends there.
 */
#include "capture/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <seam/record.h>

#define WHOLE_MOST 65536u            // a record's size is a u16
#define HURRY_SPAN (2u * WHOLE_MOST) // bytes between two looks at the clock; holds any record

/* The head of struct perf_event_mmap_page, as far as it is used here: the kernel puts data_head and
 * data_tail at fixed places. */
struct ring_page {
	unsigned char before[RING_HEAD_OFFSET];
	uint64_t head;
	uint64_t tail;
};
_Static_assert(offsetof(struct ring_page, head) == RING_HEAD_OFFSET, "data_head");
_Static_assert(offsetof(struct ring_page, tail) == RING_TAIL_OFFSET, "data_tail");

/* A ring over memory that is there: a test's, or what ring_map mapped. -EINVAL: size is no power of
 * two. -ENOMEM. The memory stays the caller's. */
int ring_over(struct ring *ret, void *memory, size_t page_size, size_t size)
{
	unsigned char *whole;

	if (!size || size & (size - 1))
		return -EINVAL;
	whole = malloc(WHOLE_MOST);
	if (!whole)
		return -ENOMEM;
	*ret = (struct ring){
		.page = memory,
		.data = (unsigned char *)memory + page_size,
		.size = size,
		.fd = -1,
		.cpu = -1,
		.whole = whole,
	};
	return 0;
}

/* fd: of an event; events whose output is set to it write into this ring as well. */
int ring_map(struct ring *ret, int fd, int cpu, size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t n;
	void *map;
	int r;

	if (!pages || pages & (pages - 1) || __builtin_mul_overflow(pages + 1, page, &n))
		return -EINVAL;
	/* PROT_WRITE: with it the kernel reads data_tail and never overwrites what was not
	 * taken. */
	map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	r = ring_over(ret, map, page, pages * page);
	if (r < 0) {
		munmap(map, n);
		return r;
	}
	ret->fd = fd;
	ret->cpu = cpu;
	ret->map = map;
	ret->map_size = n;
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r->map)
		munmap(r->map, r->map_size);
	free(r->whole);
	*r = (struct ring){ .fd = -1, .cpu = -1 };
}

/* Bytes that were written and not given to a sink yet. */
uint64_t ring_pending(const struct ring *r)
{
	return __atomic_load_n(&r->page->head, __ATOMIC_ACQUIRE) - r->page->tail;
}

/* Copies n bytes from a position on, of which the last may be at the start of the data. */
static void ring_copy(const struct ring *r, uint64_t position, void *to, size_t n)
{
	size_t at = position & (r->size - 1);
	size_t first = r->size - at < n ? (size_t)(r->size - at) : n;

	memcpy(to, r->data + at, first);
	memcpy((unsigned char *)to + first, r->data, n - first);
}

/* struct perf_event_header. */
struct ring_header {
	uint32_t type;
	uint16_t misc, size;
};

// Counts one record. LOST: u64 id, u64 lost; LOST_SAMPLES: u64 lost; behind the header.
static void ring_count(struct ring *r, struct ring_counts *sum, uint64_t position,
                       const struct ring_header *h)
{
	uint64_t lost = 0;

	sum->records++;
	switch (h->type) {
	case SEAM_RECORD_SAMPLE:
		sum->samples++;
		break;
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
		sum->deferred++;
		break;
	case SEAM_RECORD_LOST:
		if (h->size >= 24)
			ring_copy(r, position + 16, &lost, 8);
		sum->lost += lost;
		break;
	case SEAM_RECORD_LOST_SAMPLES:
		if (h->size >= 16)
			ring_copy(r, position + 8, &lost, 8);
		sum->lost_samples += lost;
		break;
	default:
		break;
	}
}

/* Counts of a span are added when the sink has taken it, and not before: what it refuses comes
 * again. */
static void ring_add(struct ring_counts *to, const struct ring_counts *c)
{
	to->records += c->records;
	to->samples += c->samples;
	to->deferred += c->deferred;
	to->lost += c->lost;
	to->lost_samples += c->lost_samples;
	to->wrapped += c->wrapped;
}

/*
 * The span of whole records from position on that can be handed out at once: its length, with
 * *bytes. It ends at head, or before the record that wraps; a record that wraps comes alone,
 * copied. 0: the header there is unsound.
 */
static size_t ring_span(struct ring *r, uint64_t position, uint64_t head,
                        const unsigned char **bytes, struct ring_counts *sum)
{
	uint64_t start = position;
	/* The position at which the data starts over. */
	uint64_t edge = position + (r->size - (position & (r->size - 1)));
	struct ring_header h;

	*bytes = r->data + (start & (r->size - 1));
	while (head - position >= sizeof(h)) {
		// Sizes are multiples of 8, so a header never wraps; copied, as nothing is trusted.
		ring_copy(r, position, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - position)
			break;
		if (position + h.size > edge) {
			if (position > start)
				break;
			ring_copy(r, position, r->whole, h.size);
			*bytes = r->whole;
			ring_count(r, sum, position, &h);
			sum->wrapped++;
			return h.size;
		}
		ring_count(r, sum, position, &h);
		position += h.size;
		if (position == edge)
			break;
	}
	return (size_t)(position - start);
}

/* If write fails, the span that it did not take stays in the ring and comes again on the next call.
 * An unsound header cannot come from the kernel: everything up to head is skipped and counted. */
int64_t ring_drain(struct ring *r, capture_write write, void *ctx)
{
	return ring_drain_until(r, NULL, write, ctx);
}

/* 0, or NULL: there is no such time. */
static bool ring_is_over(const uint64_t *until)
{
	uint64_t until_ns = until ? __atomic_load_n(until, __ATOMIC_RELAXED) : 0;
	struct timespec t;

	if (!until_ns)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec >= until_ns;
}

// Gives the kernel back what waits, counted and unread. What was lost before is counted as ever.
static void ring_cut(struct ring *r, uint64_t at, uint64_t head)
{
	while (at != head) {
		struct ring_counts sum = { 0 };
		const unsigned char *ignored;
		size_t n = ring_span(r, at, head, &ignored, &sum);

		r->counts.cut += sum.records;
		r->counts.cut_samples += sum.samples;
		r->counts.lost += sum.lost;
		r->counts.lost_samples += sum.lost_samples;
		/* An unsound header: nothing behind it can be told apart, so that all of it
		 * goes. */
		if (!n)
			r->counts.bad_bytes += head - at;
		at = n ? at + n : head;
	}
	__atomic_store_n(&r->page->tail, at, __ATOMIC_RELEASE);
}

/* Each span is given back when the sink has it; with a time to end at the spans are short, and the
 * clock is asked before each. */
int64_t ring_drain_until(struct ring *r, const uint64_t *until_ns, capture_write write, void *ctx)
{
	uint64_t head = __atomic_load_n(&r->page->head, __ATOMIC_ACQUIRE);
	uint64_t start = r->page->tail; // only we write it
	uint64_t at = start;

	if (head == at)
		return 0;
	r->counts.drains++;
	if (head - at > r->counts.peak_bytes)
		r->counts.peak_bytes = head - at;
	while (at != head) {
		struct ring_counts sum = { 0 };
		const unsigned char *bytes;
		/* Short spans, so that a slow sink cannot run past the end by a ring's length. */
		uint64_t to = until_ns && head - at > HURRY_SPAN ? at + HURRY_SPAN : head;
		size_t n;
		int error;

		if (ring_is_over(until_ns)) {
			ring_cut(r, at, head);
			break;
		}
		n = ring_span(r, at, to, &bytes, &sum);
		if (!n) {
			r->counts.bad_bytes += head - at;
			at = head;
			__atomic_store_n(&r->page->tail, at, __ATOMIC_RELEASE);
			break;
		}
		error = write(ctx, bytes, n);
		if (error < 0)
			return error;
		at += n;
		r->counts.bytes += n;
		ring_add(&r->counts, &sum);
		// Given back span by span: the kernel may go on writing while the next is taken.
		__atomic_store_n(&r->page->tail, at, __ATOMIC_RELEASE);
	}
	return (int64_t)(at - start);
}
