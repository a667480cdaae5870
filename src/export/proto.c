// SPDX-License-Identifier: MIT
/*
 * proto.c: see proto.h.
 *
 * A message is a run of fields: a number (field << 3 | how it is written), then a varint or a
 * length and bytes. Messages within messages are made apart, because their length stands in front.
 * Out of memory is kept in the buf that takes them.
 */
#include "export/proto.h"

#include <string.h>

#include "base/utf8.h"

enum {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2
};

/* Seven bits a byte, the least first; the top bit says that more follow. */
size_t proto_put_varint(unsigned char *to, uint64_t v)
{
	size_t n = 0;

	for (; v > 0x7f; v >>= 7)
		to[n++] = (unsigned char)(v | 0x80);
	to[n++] = (unsigned char)v;
	return n;
}

void proto_varint(struct buf *out, uint64_t v)
{
	unsigned char *to = buf_reserve(out, PROTO_VARINT_MOST);

	if (to)
		out->n += proto_put_varint(to, v);
}

/* A field that is 0 is not written: readers take 0 for what is missing. */
void proto_u64(struct buf *out, unsigned field, uint64_t v)
{
	if (!v)
		return;
	proto_varint(out, field << 3 | WIRE_VARINT);
	proto_varint(out, v);
}

void proto_bool(struct buf *out, unsigned field, bool v)
{
	proto_u64(out, field, v);
}

size_t proto_size(size_t n)
{
	size_t size = 2 + n;

	for (size_t length = n >> 7; length; length >>= 7)
		size++;
	return size;
}

void proto_begin(struct buf *out, unsigned field, size_t n)
{
	proto_varint(out, field << 3 | WIRE_BYTES);
	proto_varint(out, n);
}

/* Also empty: a repeated field needs its place. */
void proto_bytes(struct buf *out, unsigned field, const void *bytes, size_t n)
{
	proto_begin(out, field, n);
	if (n)
		buf_put(out, bytes, n);
}

/* Text that may hold anything, as UTF-8. */
void proto_text(struct buf *out, unsigned field, const char *text)
{
	struct buf b = { 0 };

	proto_utf8(&b, text, strlen(text));
	out->failed |= b.failed;
	proto_bytes(out, field, b.bytes, b.n);
	buf_free(&b);
}

/* Appends the message that gathered in `from`, and empties it for the next. */
void proto_message(struct buf *out, unsigned field, struct buf *from)
{
	out->failed |= from->failed;
	proto_bytes(out, field, from->bytes, from->n);
	buf_clear(from);
}

/* How many of the first n bytes are ASCII; eight at once, as names are long. */
static size_t proto_ascii(const unsigned char *p, size_t n)
{
	size_t same = 0;
	uint64_t eight;

	for (; n - same >= sizeof(eight); same += sizeof(eight)) {
		memcpy(&eight, p + same, sizeof(eight));
		if (eight & 0x8080808080808080ULL)
			break;
	}
	while (same < n && p[same] < 0x80)
		same++;
	return same;
}

/* Bytes that are no UTF-8 become U+FFFD, each by itself. */
void proto_utf8(struct buf *out, const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;

	while (n) {
		size_t len = proto_ascii(p, n);

		len = len ? len : utf8_sequence(p, n);
		if (len)
			buf_put(out, p, len);
		else
			buf_put_text(out, "\xef\xbf\xbd");
		p += len ? len : 1;
		n -= len ? len : 1;
	}
}
