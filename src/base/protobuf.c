// SPDX-License-Identifier: MIT
// protobuf.c: see protobuf.h.
#include "base/protobuf.h"

/* A number: 7 bits a byte, the lowest first. */
static uint64_t protobuf_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const unsigned char *b = cursor_bytes(c, 1);

		if (!b)
			return 0;
		v |= (uint64_t)(*b & 127) << shift;
		if (!(*b & 128))
			return v;
	}
	cursor_fail(c);
	return 0;
}

/* Passes over a value by the kind that its tag says; groups are nonsense. */
bool protobuf_value(struct cursor *c, uint64_t *field, struct cursor *bytes, uint64_t *number)
{
	uint64_t tag, n;

	if (!cursor_left(c))
		return false;
	tag = protobuf_varint(c);
	*field = tag >> 3;
	*bytes = (struct cursor){ 0 };
	*number = 0;
	switch (tag & 7) {
	case 0:
		*number = protobuf_varint(c);
		break;
	case 1:
		cursor_bytes(c, 8);
		break;
	case 2:
		n = protobuf_varint(c);
		*bytes = cursor_of(cursor_bytes(c, n), n, false);
		break;
	case 5:
		cursor_bytes(c, 4);
		break;
	default:
		cursor_fail(c);
	}
	return !c->failed;
}

bool protobuf_field(struct cursor *c, uint64_t *field, struct cursor *bytes)
{
	uint64_t number;

	return protobuf_value(c, field, bytes, &number);
}
