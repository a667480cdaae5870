// SPDX-License-Identifier: MIT
/*
 * load_span.c: see load_span.h. A function is found by the piece of its file that an address lies
 * in, so it is noted once for each of its pieces. Each piece has one function: of two that share it
 * the later one stays.
 */
#include "aggregate/load_span.h"

#define SPAN_PIECE 6u   /* bits of an offset: pieces of 64 bytes */
#define SPAN_PIECES 64u /* at most, of one function: the next ones are noted when they are met */

static struct load_span *span_at(const struct load_spans *s, uint32_t kind, uint64_t piece)
{
	const uint64_t key = (uint64_t)kind << 32 ^ piece;

	return &s->at[key * 0x9e3779b97f4a7c15ULL >> (64 - s->bits)];
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
	const struct load_span *span = span_at(s, at->kind, offset >> SPAN_PIECE);

	if (!span->frame || span->kind != at->kind || offset < span->from || at->offset >= span->to)
		return false;
	*frame = span->frame;
	return true;
}

/* Marks are said of one address. A caller's address that was looked up as it is, is none. */
void load_span_put(struct load_spans *s, const struct alike_place *at, bool caller,
                   const struct place *place, uint64_t frame)
{
	const uint64_t offset = span_offset(at, caller);
	uint64_t before, after, first, last;
	struct load_span span;

	if (frame > UINT32_MAX || !resolver_lasts(place, &before, &after) ||
	    place->looked_up - place->mapping->start != offset || offset + after > UINT32_MAX)
		return;
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
	for (uint64_t piece = first; piece <= last; piece++)
		*span_at(s, at->kind, piece) = span;
}
