// SPDX-License-Identifier: MIT
/*
 * symbol_lasts.c: around which addresses the answer of a lookup stays the same, so that it need not
 * be made again. Only of files: there a mapping, the segments and the tables say it.
 *
 * Invariant: where any of them might say something else of an address, it is left out.
 */
#include "symbol/object.h"

/* Whether [from, to) has something of so many bytes from a start on. */
static bool lasts_meets(uint64_t from, uint64_t to, uint64_t start, uint64_t size)
{
	return from < start ? start < to : from - start < size;
}

/* Cuts the range to the segment that holds the address. False: none does, or not alone: another one
 * has some of its addresses, or of its bytes in the file. */
static bool lasts_segment(const struct symbol_object *o, uint64_t addr, uint64_t *from,
                          uint64_t *to)
{
	const struct image_segment *in = NULL;

	for (size_t i = 0; i < o->n_segments && !in; i++) {
		const struct image_segment *s = &o->segments[i];

		if (addr >= s->vaddr && addr - s->vaddr < s->file_size &&
		    s->file_size <= UINT64_MAX - s->vaddr && s->file_size <= UINT64_MAX - s->offset)
			in = s;
	}
	if (!in)
		return false;
	if (*from < in->vaddr)
		*from = in->vaddr;
	if (*to > in->vaddr + in->file_size)
		*to = in->vaddr + in->file_size;
	for (size_t i = 0; i < o->n_segments; i++) {
		const struct image_segment *s = &o->segments[i];
		const uint64_t moved = in->offset - in->vaddr;

		if (s != in && (lasts_meets(*from, *to, s->vaddr, s->file_size) ||
		                lasts_meets(*from + moved, *to + moved, s->offset, s->file_size)))
			return false;
	}
	return true;
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
