// SPDX-License-Identifier: MIT
/*
 * answers.c: see answers.h. Addresses lie in cells of one size, so that memory given back by one
 * answer serves any other: the bound on bytes holds however their lengths vary.
 */
#include "stitch/answers.h"

#define ANSWERS_WORDS 31u

struct answer_cell {
	struct answer_cell *next;
	uint64_t words[ANSWERS_WORDS];
};

void answers_start(struct answers *as)
{
	*as = (struct answers){ .slab.size = sizeof(struct answer),
		                .cells.size = sizeof(struct answer_cell) };
}

void answers_free(struct answers *as)
{
	map_free(&as->by_cookie);
	slab_free(&as->slab);
	slab_free(&as->cells);
}

struct answer *answers_find(const struct answers *as, uint64_t cookie)
{
	uint64_t at;

	return map_get(&as->by_cookie, cookie, &at) ? (struct answer *)(uintptr_t)at : NULL;
}

static void answers_forget(struct answers *as, struct answer *a)
{
	while (a->cells) {
		struct answer_cell *next = a->cells->next;

		slab_put(&as->cells, a->cells);
		a->cells = next;
	}
	slab_put(&as->slab, a);
}

struct answer *answers_keep(struct answers *as, const struct seam_decoded *d)
{
	struct seam_u64s ips = rules_addresses(d->deferred.ips);
	struct answer *a = slab_take(&as->slab);
	struct answer_cell **link = a ? &a->cells : NULL;

	for (uint64_t i = 0; a && i < ips.n; i++) {
		if (i % ANSWERS_WORDS == 0) {
			if (i)
				link = &(*link)->next;
			*link = slab_take(&as->cells);
			if (!*link)
				break;
		}
		(*link)->words[i % ANSWERS_WORDS] = seam_u64s_at(&ips, i);
		a->n++;
	}
	if (!a || a->n < ips.n ||
	    map_put(&as->by_cookie, d->deferred.cookie, (uint64_t)(uintptr_t)a) < 0) {
		if (a)
			answers_forget(as, a);
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

void answers_supersede(struct answers *as, struct answer *a, uint64_t now)
{
	if (a->superseded)
		return;
	a->superseded = now + ANSWERS_GRACE_NS;
	a->by_end.previous = as->end_last;
	if (as->end_last)
		as->end_last->by_end.next = a;
	else
		as->end_first = a;
	as->end_last = a;
}

void answers_drop(struct answers *as, struct answer *a)
{
	struct answer_link *l = &a->by_age;

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
		answers_forget(as, a);
}

void answers_claim(struct answer *a)
{
	a->claimed = true;
	a->holds++;
}

void answers_release(struct answers *as, struct answer *a)
{
	if (!--a->holds && !a->kept)
		answers_forget(as, a);
}

void answers_words(const struct answer *a, uint64_t *words)
{
	const struct answer_cell *cell = a->cells;

	for (uint32_t i = 0; i < a->n; i++) {
		if (i && i % ANSWERS_WORDS == 0)
			cell = cell->next;
		words[i] = cell->words[i % ANSWERS_WORDS];
	}
}

size_t answers_bytes(const struct answers *as)
{
	return as->slab.n * as->slab.size + as->cells.n * as->cells.size;
}
