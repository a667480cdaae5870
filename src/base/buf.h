/* SPDX-License-Identifier: MIT */
/*
 * buf.h: a byte buffer that grows. An allocation that fails sticks: `failed` is asked once at the
 * end, and nothing after it is written. Zero-initialise to start; buf_free to end.
 */
#ifndef SEAM_BASE_BUF_H
#define SEAM_BASE_BUF_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	unsigned char *bytes;
	size_t n;        /* bytes used */
	size_t capacity; /* bytes allocated */
	bool failed;     /* out of memory at some time */
};

void buf_free(struct buf *b);
void *buf_grow(struct buf *b, size_t n); /* buf_reserve's, when there is no room yet */

/* Makes room for n more bytes and returns where they begin, or NULL. n of the buffer stays as it
 * is: the caller adds what it wrote. This function and the next ones are inline, because most of
 * what seam writes is a few bytes long. */
static inline void *buf_reserve(struct buf *b, size_t n)
{
	return !b->failed && n < b->capacity - b->n ? b->bytes + b->n : buf_grow(b, n);
}

static inline int buf_put(struct buf *b, const void *bytes, size_t n)
{
	void *p = buf_reserve(b, n);

	if (!p)
		return -ENOMEM;
	if (n)
		memcpy(p, bytes, n);
	b->n += n;
	return 0;
}

static inline int buf_put_text(struct buf *b, const char *text) /* without its NUL */
{
	return buf_put(b, text, strlen(text));
}

int buf_put_u16(struct buf *b, uint16_t v);
int buf_put_u32(struct buf *b, uint32_t v);
int buf_put_u64(struct buf *b, uint64_t v);
int buf_put_decimal(struct buf *b, uint64_t v); /* as %llu would, without the cost of printf */
int buf_put_signed(struct buf *b, int64_t v);
int buf_put_zeros(struct buf *b, size_t n);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* The content as a text with a NUL behind it, which does not count in n. "" when it is empty or
 * memory is out. Valid until the next put. */
const char *buf_text(struct buf *b);
void buf_clear(struct buf *b); /* keeps the memory */

#endif
