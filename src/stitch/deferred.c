// SPDX-License-Identifier: MIT
/*
 * deferred.c: see deferred.h. Addresses lie in cells of one size, so that the memory of one
 * deferred record can serve any other. The bound on bytes holds therefore, whatever their lengths.
 */
#include "stitch/deferred.h"

/* With its link a cell is 256 bytes. Most chains fit into one or two. */
#define DEFERRED_WORDS 31u

struct deferred_cell {
	struct deferred_cell *next;
	uint64_t words[DEFERRED_WORDS];
};

void deferred_start(struct deferred_set *as)
{
	*as = (struct deferred_set){ .slab.size = sizeof(struct deferred_record),
		                     .cells.size = sizeof(struct deferred_cell) };
}

void deferred_free(struct deferred_set *as)
{
	map_free(&as->by_cookie);
	slab_free(&as->slab);
	slab_free(&as->cells);
}

/* The kept record with this cookie, or NULL. The set owns it. */
struct deferred_record *deferred_find(const struct deferred_set *as, uint64_t cookie)
{
	uint64_t at;

	return map_get(&as->by_cookie, cookie, &at) ? (struct deferred_record *)(uintptr_t)at
	                                            : NULL;
}

/* Gives its cells and itself back to the slabs. It must be out of the map and of both lists. */
static void deferred_forget(struct deferred_set *as, struct deferred_record *a)
{
	while (a->cells) {
		struct deferred_cell *next = a->cells->next;

		slab_put(&as->cells, a->cells);
		a->cells = next;
	}
	slab_put(&as->slab, a);
}

/* Copies the cookie, the task and the addresses up to the first marker. The copy is the newest by
 * age. */
struct deferred_record *deferred_keep(struct deferred_set *as, const struct seam_decoded *d)
{
	struct seam_u64s ips = rules_addresses(d->deferred.ips);
	struct deferred_record *a = slab_take(&as->slab);
	struct deferred_cell **link = a ? &a->cells : NULL;

	for (uint64_t i = 0; a && i < ips.n; i++) {
		/* The words go into a list of cells of one size. */
		if (i % DEFERRED_WORDS == 0) {
			if (i)
				link = &(*link)->next;
			*link = slab_take(&as->cells);
			if (!*link)
				break;
		}
		(*link)->words[i % DEFERRED_WORDS] = seam_u64s_at(&ips, i);
		a->n++;
	}
	if (!a || a->n < ips.n ||
	    map_put(&as->by_cookie, d->deferred.cookie, (uint64_t)(uintptr_t)a) < 0) {
		if (a)
			deferred_forget(as, a);
		return NULL;
	}
	a->cookie = d->deferred.cookie;
	a->who = rules_who(d);
	a->misc = d->record->misc;
	a->kept = true;
	a->by_age.previous = as->newest;
	if (as->newest)
		as->newest->by_age.next = a;
	else
		as->oldest = a;
	as->newest = a;
	as->n_kept++;
	return a;
}

/* The deadline is stream time. `now` never goes back, so appending keeps the list in the order of
 * deadlines, and the one who drops looks at the first only. */
void deferred_supersede(struct deferred_set *as, struct deferred_record *a, uint64_t now)
{
	if (a->superseded)
		return;
	a->superseded = now + DEFERRED_GRACE_NS;
	a->by_end.previous = as->end_last;
	if (as->end_last)
		as->end_last->by_end.next = a;
	else
		as->end_first = a;
	as->end_last = a;
}

/* A sample that was decided by this record may not be delivered yet. Then the record stays until
 * deferred_release, though no other sample can find it. */
void deferred_drop(struct deferred_set *as, struct deferred_record *a)
{
	struct deferred_link *l = &a->by_age;

	*(l->previous ? &l->previous->by_age.next : &as->oldest) = l->next;
	*(l->next ? &l->next->by_age.previous : &as->newest) = l->previous;
	if (a->superseded) {
		l = &a->by_end;
		*(l->previous ? &l->previous->by_end.next : &as->end_first) = l->next;
		*(l->next ? &l->next->by_end.previous : &as->end_last) = l->previous;
	}
	map_del(&as->by_cookie, a->cookie);
	as->n_kept--;
	as->unclaimed += !a->claimed;
	a->kept = false;
	if (!a->holds)
		deferred_forget(as, a);
}

/* A hold keeps the record's words alive until its sample is delivered. */
void deferred_claim(struct deferred_record *a)
{
	a->claimed = true;
	a->holds++;
}

void deferred_release(struct deferred_set *as, struct deferred_record *a)
{
	if (!--a->holds && !a->kept)
		deferred_forget(as, a);
}

/* `words` has room for a->n addresses. */
void deferred_words(const struct deferred_record *a, uint64_t *words)
{
	const struct deferred_cell *cell = a->cells;

	for (uint32_t i = 0; i < a->n; i++) {
		if (i && i % DEFERRED_WORDS == 0)
			cell = cell->next;
		words[i] = cell->words[i % DEFERRED_WORDS];
	}
}

/* Bytes in use, not bytes held from the system: this is what the bound of a stream is about. */
size_t deferred_bytes(const struct deferred_set *as)
{
	return as->slab.n * as->slab.size + as->cells.n * as->cells.size;
}
