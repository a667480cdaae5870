// SPDX-License-Identifier: MIT
/*
 * ringbuf.c: see ringbuf.h. A page of ours with the consumer's position, then read-only the
 * producer's page and the data, twice in a row. Each record has a header of 8 bytes whose first
 * word is its length and two bits. Positions only grow.
 */
#include "capture/ringbuf.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORD_BUSY (1u << 31) /* is being written */
#define RECORD_GONE (1u << 30) /* the program gave it up */
#define RECORD_HEADER 8u

static size_t ringbuf_page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* size: of the ring's data, a power of two. The data are mapped twice in a row by the kernel, so
 * that no record wraps. */
int ringbuf_map(struct ringbuf *ret, int fd, size_t size)
{
	size_t page = ringbuf_page();
	void *own = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *kernel;

	if (own == MAP_FAILED)
		return -errno;
	kernel = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (kernel == MAP_FAILED) {
		int error = -errno;

		munmap(own, page);
		return error;
	}
	*ret = (struct ringbuf){ .consumer = own,
		                 .producer = kernel,
		                 .data = (unsigned char *)kernel + page,
		                 .size = size,
		                 .map = { own, kernel } };
	return 0;
}

void ringbuf_unmap(struct ringbuf *r)
{
	if (!r || !r->map[0])
		return;
	munmap(r->map[0], ringbuf_page());
	munmap(r->map[1], ringbuf_page() + 2 * r->size);
	*r = (struct ringbuf){ 0 };
}

/* take must not keep the bytes. */
int64_t ringbuf_drain(struct ringbuf *r, int (*take)(void *ctx, const void *bytes, size_t n),
                      void *ctx)
{
	/* As far as it was filled when the reading began: programs that go on writing do not keep
	 * us here. */
	uint64_t end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
	uint64_t at = *r->consumer; /* only we write it */
	int64_t taken = 0;
	int error = 0;

	while (at < end && error >= 0) {
		const unsigned char *record = r->data + (at & (r->size - 1));
		uint32_t head =
		        __atomic_load_n((const uint32_t *)(const void *)record, __ATOMIC_ACQUIRE);
		uint64_t n = head & ~(RECORD_BUSY | RECORD_GONE);

		/* A program is still writing this record, or its length is unsound: reading stops
		 * in front of it. */
		if (head & RECORD_BUSY || n + RECORD_HEADER > r->size)
			break;
		if (!(head & RECORD_GONE)) {
			error = take(ctx, record + RECORD_HEADER, n);
			taken++;
		}
		at += (n + RECORD_HEADER + 7) & ~7ull;
		/* Records are given back one by one, so that the programs can go on writing while
		 * the next one is taken. */
		__atomic_store_n(r->consumer, at, __ATOMIC_RELEASE);
	}
	return error < 0 ? error : taken;
}
