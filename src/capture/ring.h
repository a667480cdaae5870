/* SPDX-License-Identifier: MIT */
/*
 * ring.h: one mapped perf ring: from the kernel's head to a sink, in spans of whole records.
 *
 * Invariant: what was given to the sink, and only that, is given back to the kernel (data_tail). A
 * sink that fails keeps its records in the ring. A record that wraps is copied whole; nothing else
 * is copied. Does not interpret records, but for LOST and LOST_SAMPLES, which it counts.
 */
#ifndef SEAM_CAPTURE_RING_H
#define SEAM_CAPTURE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes n bytes of whole records; they live only during the call. 0, or -errno which ends the
 * drain. */
typedef int (*capture_write)(void *ctx, const void *bytes, size_t n);

struct ring_counts {
	uint64_t bytes;        /* given to the sink */
	uint64_t records;      /* given to the sink */
	uint64_t samples;      /* of them SAMPLE */
	uint64_t deferred;     /* of them CALLCHAIN_DEFERRED */
	uint64_t lost;         /* records, as LOST records say */
	uint64_t lost_samples; /* samples, as LOST_SAMPLES records say */
	uint64_t drains;       /* drains that found something */
	uint64_t wrapped;      /* records that were copied because they wrap */
	uint64_t bad_bytes; /* passed over because a header was unsound; never seen from a kernel */
	uint64_t peak_bytes;  /* fill at most when a drain began: how near the ring was to losing */
	uint64_t cut;         /* records that waited when the time was over: not given */
	uint64_t cut_samples; /* of them SAMPLE */
};

struct ring_page; /* the kernel's control page */

struct ring {
	struct ring_page *page;
	const unsigned char *data;
	uint64_t size; /* bytes of data, a power of two */
	int fd;        /* of the event that owns the ring; not closed here; -1: over memory */
	int cpu;
	void *map; /* NULL: over memory */
	size_t map_size;
	unsigned char *whole; /* 64 KiB for a record that wraps */
	struct ring_counts counts;
};

/* Maps the ring of fd with `pages` data pages (a power of two). -EPERM: over the mlock limit;
 * -ENOMEM, -EINVAL as mmap(2). */
int ring_map(struct ring *ret, int fd, int cpu, size_t pages);
/* Over memory laid out as the kernel does: a control page of page_size bytes and `size` bytes of
 * data behind it; for tests. */
int ring_over(struct ring *ret, void *memory, size_t page_size, size_t size);
void ring_unmap(struct ring *r);

/* Bytes that wait. Looks without taking. */
uint64_t ring_pending(const struct ring *r);
/* Gives what waits now (not what comes meanwhile) to write: bytes given, or what write returned. */
int64_t ring_drain(struct ring *r, capture_write write, void *ctx);
/* As long as it is not *until_ns of CLOCK_MONOTONIC (0, or NULL: for ever), which may be set while
 * this runs; what waits then is counted and given back to the kernel (counts.cut). */
int64_t ring_drain_until(struct ring *r, const uint64_t *until_ns, capture_write write, void *ctx);

/* The offset of data_head and data_tail in the control page: for tests that stand in for the
 * kernel. */
#define RING_HEAD_OFFSET 1024
#define RING_TAIL_OFFSET 1032

#endif
