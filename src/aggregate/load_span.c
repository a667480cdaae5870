// SPDX-License-Identifier: MIT
/*
 * load_span.c: see load_span.h. A function is found by the piece of its file that an address lies
 * in, so a table has its number once for each of its pieces. Pieces that lie side by side are so in
 * the table, too: one line of a processor's cache has those of a function. Each piece has one
 * function: of two that share it the later one stays.
 */
#include "aggregate/load_span.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define SPAN_PIECE 6u    /* bits of an offset: pieces of 64 bytes */
#define SPAN_PIECES 256u /* at most, of one function: the next ones are noted when they are met */
#define SPAN_LINE 4u     /* bits of a piece: so many lie side by side */

int load_spans_start(struct load_spans *s, unsigned bits)
{
	s->bits = bits;
	s->at = calloc((size_t)1 << bits, sizeof(*s->at));
	return s->at ? 0 : -ENOMEM;
}

void load_spans_free(struct load_spans *s)
{
	free(s->all);
	free(s->at);
}

static uint32_t *span_at(const struct load_spans *s, uint32_t kind, uint64_t piece)
{
	const uint64_t key = (uint64_t)kind << 32 ^ piece >> SPAN_LINE;
	const uint64_t line = key * 0x9e3779b97f4a7c15ULL >> (64 - s->bits + SPAN_LINE);

	return &s->at[line << SPAN_LINE | (piece & ((1u << SPAN_LINE) - 1))];
}

/* The place that is looked up: of a caller, the call in front of its address. */
static uint64_t span_offset(const struct alike_place *at, bool caller)
{
	return at->offset - caller;
}

/* A caller's address must lie in the function, too: else it may be the beginning of the next. */
bool load_span_get(const struct load_spans *s, const struct alike_place *at, bool caller,
                   uint64_t *frame)
{
	const uint64_t offset = span_offset(at, caller);
	const uint32_t number = *span_at(s, at->kind, offset >> SPAN_PIECE);
	const struct load_span *span;

	if (!number)
		return false;
	span = &s->all[number - 1];
	if (span->kind != at->kind || offset < span->from || at->offset >= span->to)
		return false;
	*frame = span->frame;
	return true;
}

/* Marks are said of one address. A caller's address that was looked up as it is, is none. */
int load_span_put(struct load_spans *s, const struct alike_place *at, bool caller,
                  const struct place *place, uint64_t frame)
{
	const uint64_t offset = span_offset(at, caller);
	uint64_t before, after, first, last;
	struct load_span span;

	if (frame > UINT32_MAX || !resolver_lasts(place, &before, &after) ||
	    place->looked_up - place->mapping->start != offset || offset + after > UINT32_MAX)
		return 0;
	if (s->n == UINT32_MAX - 1 || ARRAY_ROOM(&s->all, &s->capacity, s->n + 1) < 0)
		return -ENOMEM;
	span = (struct load_span){ .kind = at->kind,
		                   .from = (uint32_t)(offset - before),
		                   .to = (uint32_t)(offset + after),
		                   .frame = (uint32_t)frame };
	first = span.from >> SPAN_PIECE;
	last = (span.to - 1) >> SPAN_PIECE;
	if (last - first >= SPAN_PIECES) {
		first = offset >> SPAN_PIECE;
		last = last - first >= SPAN_PIECES ? first + SPAN_PIECES - 1 : last;
	}
	s->all[s->n++] = span;
	for (uint64_t piece = first; piece <= last; piece++)
		*span_at(s, at->kind, piece) = (uint32_t)s->n;
	return 0;
}
