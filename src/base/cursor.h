/* SPDX-License-Identifier: MIT */
/*
 * cursor.h: reads integers and spans from bytes that are not trusted.
 *
 * Invariant: at <= end, always. A read past the end gives 0 or NULL, moves to the end and sets
 * `failed`, which sticks: read a whole struct, then ask once. No function here can read outside
 * [start, end).
 */
#ifndef SEAM_BASE_CURSOR_H
#define SEAM_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const unsigned char *start, *at, *end;
	bool swap; /* the bytes are of the other byte order */
	bool failed;
};

static inline struct cursor cursor_of(const void *bytes, size_t n, bool swap)
{
	const unsigned char *p = bytes;

	return (struct cursor){ .start = p, .at = p, .end = p ? p + n : p, .swap = swap };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline size_t cursor_offset(const struct cursor *c)
{
	return (size_t)(c->at - c->start);
}

static inline bool cursor_fail(struct cursor *c)
{
	c->at = c->end;
	c->failed = true;
	return false;
}

/* n bytes, or NULL. n is any u64 from a file. */
static inline const unsigned char *cursor_bytes(struct cursor *c, uint64_t n)
{
	const unsigned char *p = c->at;

	if (__builtin_expect(n > cursor_left(c), 0)) {
		cursor_fail(c);
		return NULL;
	}
	c->at += n;
	return p;
}

/* count items of size bytes each, without overflow; NULL when they are not all there. */
static inline const unsigned char *cursor_array(struct cursor *c, uint64_t count, size_t size)
{
	if (__builtin_expect(count > cursor_left(c) / size, 0)) {
		cursor_fail(c);
		return NULL;
	}
	return cursor_bytes(c, count * size);
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const unsigned char *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const unsigned char *p = cursor_bytes(c, 2);
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, 2);
	return c->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const unsigned char *p = cursor_bytes(c, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, 4);
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const unsigned char *p = cursor_bytes(c, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, 8);
	return c->swap ? __builtin_bswap64(v) : v;
}

/* A NUL-terminated string that ends inside, cursor behind its NUL; NULL (and failed) when there is
 * no NUL. */
static inline const char *cursor_string(struct cursor *c)
{
	const unsigned char *p = c->at;
	const unsigned char *nul = cursor_left(c) ? memchr(p, 0, cursor_left(c)) : NULL;

	if (!nul) {
		cursor_fail(c);
		return NULL;
	}
	c->at = nul + 1;
	return (const char *)p;
}

/* Moves to an absolute offset from the start. */
static inline bool cursor_seek(struct cursor *c, uint64_t offset)
{
	if (offset > (uint64_t)(c->end - c->start))
		return cursor_fail(c);
	c->at = c->start + offset;
	return true;
}

#endif
