// SPDX-License-Identifier: MIT
// otel_process.c: see otel_process.h. A message is the process's own, and may hold anything: fields
// are read through the bounded cursor, and messages within messages to a fixed depth.
#include "runtimes/otel_process.h"

#include <string.h>

#include "base/cursor.h"
#include "base/protobuf.h"

int otel_process_head_is_sound(const struct otel_process_head *head)
{
	return !memcmp(head->signature, "OTEL_CTX", 8) &&
	       (head->version == 1 || head->version == 2) && head->published_ns && head->size &&
	       head->size <= OTEL_PROCESS_MOST;
}

/* The last of the fields with a number, of those that are bytes; at NULL: there is none. */
static struct cursor otel_last(struct cursor c, uint64_t wanted)
{
	struct cursor bytes, found = { 0 };
	uint64_t field;

	while (protobuf_field(&c, &field, &bytes))
		if (field == wanted && bytes.at)
			found = bytes;
	return found;
}

static struct otel_process_text otel_text(const struct otel_process *p, const struct cursor *c)
{
	size_t n = c->at ? cursor_left(c) : 0;

	return (struct otel_process_text){ n ? (uint32_t)((const char *)c->at - p->text) : 0,
		                           (uint32_t)n };
}

/* An AnyValue's array (5): each of its values (1) is an AnyValue, of which 1 is a string. */
static void otel_keys(struct otel_process *p, struct cursor value)
{
	struct cursor array = otel_last(value, 5), bytes;
	uint64_t field;

	p->n_keys = 0;
	while (array.at && p->n_keys < OTEL_PROCESS_KEYS &&
	       protobuf_field(&array, &field, &bytes)) {
		struct cursor text = bytes.at ? otel_last(bytes, 1) : (struct cursor){ 0 };

		if (field == 1)
			p->keys[p->n_keys++] = otel_text(p, &text);
	}
}

static bool otel_is(const struct cursor *c, const char *text)
{
	size_t n = strlen(text);

	return c->at && cursor_left(c) == n && !memcmp(c->at, text, n);
}

/* A KeyValue: 1 its key, 2 its value. */
static void otel_attribute(struct otel_process *p, struct cursor c)
{
	struct cursor key = otel_last(c, 1), value = otel_last(c, 2), text;

	if (!value.at)
		return;
	text = otel_last(value, 1);
	if (otel_is(&key, "service.name"))
		p->service = otel_text(p, &text);
	else if (otel_is(&key, "threadlocal.attribute_key_map"))
		otel_keys(p, value);
}

/* A ProcessContext: 1 the Resource, of which 1 are its attributes; 2 more attributes. */
void otel_process_read(struct otel_process *ret, size_t n)
{
	struct cursor c = cursor_of(ret->text, n, false), bytes, one;
	uint64_t field, inner;

	ret->n_keys = 0;
	ret->service = (struct otel_process_text){ 0 };
	while (protobuf_field(&c, &field, &bytes)) {
		if (!bytes.at)
			continue;
		if (field == 2)
			otel_attribute(ret, bytes);
		while (field == 1 && protobuf_field(&bytes, &inner, &one))
			if (inner == 1 && one.at)
				otel_attribute(ret, one);
	}
}
