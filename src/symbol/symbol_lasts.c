// SPDX-License-Identifier: MIT
/*
 * symbol_lasts.c: around which addresses the answer of a lookup stays the same, so that it need not
 * be made again. Only of files: there a mapping, the segments and the tables say it.
 *
 * Invariant: where any of them might say something else of an address, it is left out.
 */
#include "symbol/object.h"

/* Whether other bytes of the file come before these, as image_segments_vaddr looks for them: then
 * an offset may be another address. */
static bool lasts_shared(const struct symbol_object *o, size_t segment, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < segment; i++) {
		const struct image_segment *s = &o->segments[i];

		if (from < s->offset + s->file_size && s->offset < to)
			return true;
	}
	return false;
}

/* Cuts the range to the segment that holds the address. False: none does, or not alone. */
static bool lasts_segment(const struct symbol_object *o, uint64_t addr, uint64_t *from,
                          uint64_t *to)
{
	for (size_t i = 0; i < o->n_segments; i++) {
		const struct image_segment *s = &o->segments[i];

		if (addr < s->vaddr || addr - s->vaddr >= s->file_size ||
		    s->file_size > UINT64_MAX - s->vaddr || s->file_size > UINT64_MAX - s->offset)
			continue;
		if (*from < s->vaddr)
			*from = s->vaddr;
		if (*to > s->vaddr + s->file_size)
			*to = s->vaddr + s->file_size;
		return !lasts_shared(o, i, *from - s->vaddr + s->offset,
		                     *to - s->vaddr + s->offset);
	}
	return false;
}

/* Whether a signal puts frames to any of the addresses. */
static bool lasts_signal(const struct outline *o, uint64_t from, uint64_t to)
{
	const struct outline_span *spans = (const void *)o->signal_frames.bytes;

	for (size_t i = 0; i < o->signal_frames.n / sizeof(*spans); i++)
		if (from < spans[i].end && spans[i].start < to)
			return true;
	return false;
}

/* The outline must be known, because it says which frames signals put there. */
bool symbol_lasts(const struct symbol_object *o, const struct symbol *symbol, uint64_t *before,
                  uint64_t *after)
{
	uint64_t from = symbol->from, to = symbol->to;

	if (!symbol->name && from < symbol->start)
		from = symbol->start;
	if (!symbol->name && to > symbol->start + symbol->size)
		to = symbol->start + symbol->size;
	if (o->key.kind != SYMBOL_KIND_FILE || o->key.data || o->terms != OBJECT_OFFSET ||
	    !symbol->placed || (!symbol->name && !symbol->size) ||
	    !atomic_load_explicit(&o->outlined, memory_order_acquire) ||
	    !lasts_segment(o, symbol->addr, &from, &to) || lasts_signal(&o->outline, from, to) ||
	    symbol->addr < from || symbol->addr >= to)
		return false;
	*before = symbol->addr - from;
	*after = to - symbol->addr;
	return true;
}
