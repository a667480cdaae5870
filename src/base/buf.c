// SPDX-License-Identifier: MIT
/* buf.c: see buf.h. Grows by doubling, so that n puts cost O(n). A failure stays in b->failed, and
 * all later puts do nothing: callers look once, at the end. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/digits.h"

void buf_free(struct buf *b)
{
	free(b->bytes);
	*b = (struct buf){ 0 };
}

/* The slow path of buf_reserve: room for n more bytes behind b->n, or NULL, and b->failed is set.
 * The bytes may move. */
void *buf_grow(struct buf *b, size_t n)
{
	size_t need, capacity = b->capacity ? b->capacity : 256;
	unsigned char *bytes;

	if (b->failed)
		return NULL;
	if (__builtin_add_overflow(b->n, n, &need) || need > SIZE_MAX / 2) {
		b->failed = true;
		return NULL;
	}
	if (need <= b->capacity && b->bytes)
		return b->bytes + b->n;
	while (capacity < need)
		capacity *= 2;
	/* Not base/array: a failure is remembered, and the text of 256 bytes is the usual one. */
	bytes = realloc(b->bytes, capacity);
	if (!bytes) {
		b->failed = true;
		return NULL;
	}
	b->bytes = bytes;
	b->capacity = capacity;
	return b->bytes + b->n;
}

/* In the byte order of this machine, as all numbers here. */
int buf_put_u16(struct buf *b, uint16_t v)
{
	return buf_put(b, &v, sizeof(v));
}

int buf_put_u32(struct buf *b, uint32_t v)
{
	return buf_put(b, &v, sizeof(v));
}

int buf_put_u64(struct buf *b, uint64_t v)
{
	return buf_put(b, &v, sizeof(v));
}

int buf_put_decimal(struct buf *b, uint64_t v)
{
	char *p = buf_reserve(b, DIGITS_MAX);

	if (!p)
		return -ENOMEM;
	b->n += (size_t)(digits_decimal(p, v) - p);
	return 0;
}

int buf_put_signed(struct buf *b, int64_t v)
{
	if (v < 0)
		buf_put(b, "-", 1);
	return buf_put_decimal(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

int buf_put_zeros(struct buf *b, size_t n)
{
	void *p = buf_reserve(b, n);

	if (!p)
		return -ENOMEM;
	memset(p, 0, n);
	b->n += n;
	return 0;
}

/* Tries to print into the room that is there, and once more when that was too small. 0 or -ENOMEM;
 * on failure b->failed is set. */
int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	char *p = buf_reserve(b, 128);
	int n;

	if (!p)
		return -ENOMEM;
	/* The arguments can be gone through once; a second try needs a copy of its own. */
	va_copy(again, ap);
	n = vsnprintf(p, b->capacity - b->n, fmt, ap);
	if (n >= 0 && (size_t)n >= b->capacity - b->n) {
		p = buf_reserve(b, (size_t)n + 1);
		n = p ? vsnprintf(p, b->capacity - b->n, fmt, again) : -1;
	}
	va_end(again);
	if (n < 0) {
		b->failed = true;
		return -ENOMEM;
	}
	b->n += (size_t)n;
	return 0;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = buf_vprintf(b, fmt, ap);
	va_end(ap);
	return r;
}

/* The NUL is not counted in b->n. "" if memory is out. */
const char *buf_text(struct buf *b)
{
	char *p = buf_reserve(b, 1);

	if (!p)
		return "";
	*p = 0;
	return (const char *)b->bytes;
}

/* The memory stays, for what is put next. */
void buf_clear(struct buf *b)
{
	b->n = 0;
	b->failed = false;
}
