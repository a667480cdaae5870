/* SPDX-License-Identifier: MIT */
/*
 * ringbuf.h: one ring that BPF programs write (BPF_MAP_TYPE_RINGBUF), read here. A reading ends
 * with what was there when it began, however fast the programs go on: libbpf's ring_buffer__consume
 * of 1.1 ends only when it finds the ring empty.
 */
#ifndef SEAM_CAPTURE_RINGBUF_H
#define SEAM_CAPTURE_RINGBUF_H

#include <stddef.h>
#include <stdint.h>

struct ringbuf {
	uint64_t *consumer;       /* where the next reading begins: ours */
	const uint64_t *producer; /* the end of what was reserved: the kernel's */
	unsigned char *data;      /* size bytes, and the same once more: no record wraps */
	uint64_t size;
	void *map[2]; /* NULL: memory of a test */
};

/* Opens the ring of a map of size bytes. -errno of mmap. */
int ringbuf_map(struct ringbuf *ret, int fd, size_t size);
/* NULL, or zeros, are fine. */
void ringbuf_unmap(struct ringbuf *r);

/*
 * Gives each record to take, the oldest first: bytes are read-only and stay until it returns. What
 * is added meanwhile is left for the next time, so no more than the ring's size is ever given. A
 * record that is being written ends the reading, for none may overtake it. How many records; or
 * what take returned below 0: that record counts as read.
 */
int64_t ringbuf_drain(struct ringbuf *r, int (*take)(void *ctx, const void *bytes, size_t n),
                      void *ctx);

#endif
