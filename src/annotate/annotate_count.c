// SPDX-License-Identifier: MIT
/*
 * annotate_count.c: which function is meant, and how often each of its addresses was hit.
 *
 * Invariant: the function's counts are of one event, and of the samples that hit it itself.
 *
 * Called in this order: annotate_choose (the name), annotate_choose_event, annotate_count.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "annotate/annotate.h"
#include "profile/nameless.h"
#include "profile/object_name.h"
#include "profile/rollup.h"

/* The innermost frame of a row's stack: the one that the samples hit. */
static const struct profile_frame *annotate_leaf(const struct profile *p,
                                                 const struct profile_row *row)
{
	return profile_frame_at(p, profile_node_at(p, row->key.node).frame);
}

/* Whether a frame is of the function that is asked for. Without an object any that has such a
 * function. */
static bool annotate_is(const struct annotate *a, const struct profile_frame *f)
{
	return f->symbol && (!a->object || f->object == a->object) &&
	       !strcmp(profile_text(a->load.profile, f->symbol), a->name);
}

static bool annotate_is_hit(const struct annotate *a)
{
	const struct profile *p = a->load.profile;

	for (size_t i = 0; i < profile_n_rows(p); i++)
		if (annotate_is(a, annotate_leaf(p, profile_row_at(p, i))))
			return true;
	return false;
}

/* Whether an object's path is the one that a place names, by its whole path or by its last part. */
static bool annotate_is_object(const char *path, const struct nameless *place)
{
	const char *name = object_name(path);

	return (strlen(path) == place->n && !memcmp(path, place->object, place->n)) ||
	       (strlen(name) == place->n && !memcmp(name, place->object, place->n));
}

/* The function at "libfoo.so+0x12345", or at "[unknown libfoo.so+0x12340]", a place that had no
 * name before and may have one now. -ENOMEM. Nothing found is no failure: the caller sees that
 * nothing is counted. */
static int annotate_at(struct annotate *a, const char *symbol)
{
	const struct profile *p = a->load.profile;
	struct nameless place;
	int r = 0;

	if (!nameless_is(symbol, &place) && !nameless_place(symbol, strlen(symbol), &place))
		return 0;
	for (uint32_t i = 1; i <= profile_n_objects(p) && r >= 0; i++) {
		if (!annotate_is_object(profile_text(p, profile_object_at(p, i)->path), &place))
			continue;
		r = annotate_name_at(a, i, place.start);
		a->object = i;
		if (r > 0 && annotate_is_hit(a))
			return 0;
		a->object = 0;
	}
	return r < 0 ? r : 0;
}

/* The function with the most samples, of all events. */
static int annotate_hottest(struct annotate *a)
{
	const struct rollup_opts opts = { .columns = 1u << ROLLUP_SYMBOL };
	struct rollup t;
	int r = rollup_build(&t, a->load.profile, &opts);

	if (r < 0)
		return r;
	rollup_sort(&t, false);
	for (size_t i = 0; i < t.n && !a->name; i++)
		if (t.rows[i].value[ROLLUP_SYMBOL] && t.rows[i].self)
			a->name = profile_text(a->load.profile, t.rows[i].value[ROLLUP_SYMBOL]);
	rollup_free(&t);
	return 0;
}

/* Weights of different events do not add up, so it is the event with the most samples in the
 * function. *ret_several: other events had samples there, too. */
int annotate_choose_event(struct annotate *a, bool *ret_several)
{
	const struct profile *p = a->load.profile;
	size_t n = profile_n_events(p);
	uint64_t *samples = calloc(n + 1, sizeof(*samples));

	if (!samples)
		return -ENOMEM;
	*ret_several = false;
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);

		if (annotate_is(a, annotate_leaf(p, row)))
			samples[row->key.event] += row->samples;
	}
	for (uint32_t e = 1; e <= n; e++)
		if (samples[e] > (a->event ? samples[a->event] : 0)) {
			*ret_several = a->event != 0;
			a->event = e;
		}
	free(samples);
	return 0;
}

/* The counts of the function in one object; NULL: out of memory. Pointers to earlier ones are no
 * longer valid. */
static struct annotate_function *annotate_function_of(struct annotate *a, uint32_t object)
{
	for (size_t i = 0; i < a->n_functions; i++)
		if (a->functions[i].object == object)
			return &a->functions[i];
	if (ARRAY_ROOM(&a->functions, &a->functions_capacity, a->n_functions + 1) < 0)
		return NULL;
	a->functions[a->n_functions] = (struct annotate_function){ .object = object };
	return &a->functions[a->n_functions++];
}

/* Counts samples at an address of the function. -ENOMEM. */
int annotate_count_at(struct annotate_function *f, uint64_t vaddr, uint64_t samples,
                      uint64_t weight)
{
	bool is_new;
	uint64_t *slot;

	if (ARRAY_ROOM(&f->counts, &f->counts_capacity, f->n + 1) < 0 ||
	    ARRAY_ROOM(&f->vaddrs, &f->vaddrs_capacity, f->n + 1) < 0)
		return -ENOMEM;
	slot = map_slot(&f->addresses, vaddr, &is_new);
	if (!slot)
		return -ENOMEM;
	if (is_new) {
		f->vaddrs[f->n] = vaddr;
		f->counts[f->n] = (struct annotate_count){ 0 };
		*slot = f->n++;
	}
	f->counts[*slot].samples += samples;
	f->counts[*slot].weight += weight;
	f->all.samples += samples;
	f->all.weight += weight;
	return 0;
}

/* The object with the most weight first. */
static int annotate_order(const void *pa, const void *pb)
{
	const struct annotate_function *a = pa, *b = pb;

	if (a->all.weight != b->all.weight)
		return a->all.weight > b->all.weight ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

/* Counts all samples of the event that hit the function itself, in each object that has one of this
 * name. -ENOMEM. */
int annotate_count(struct annotate *a)
{
	const struct profile *p = a->load.profile;

	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		const struct profile_frame *leaf = annotate_leaf(p, row);
		struct annotate_function *f;

		if (row->key.event != a->event)
			continue;
		a->whole.samples += row->samples;
		a->whole.weight += row->weight;
		if (!annotate_is(a, leaf))
			continue;
		f = annotate_function_of(a, leaf->object);
		if (!f || annotate_count_at(f, leaf->address, row->samples, row->weight) < 0)
			return -ENOMEM;
	}
	if (a->n_functions)
		qsort(a->functions, a->n_functions, sizeof(*a->functions), annotate_order);
	return 0;
}

/* symbol NULL: the hottest function. a->name is NULL or without samples if there is none.
 * -ENOMEM. */
int annotate_choose(struct annotate *a, const char *symbol)
{
	const char *python;

	a->name = symbol;
	if (!symbol)
		return annotate_hottest(a);
	if (annotate_is_hit(a))
		return 0;
	python = annotate_python_name(a, symbol);
	if (python)
		a->name = python;
	return python ? 0 : annotate_at(a, symbol);
}

void annotate_function_free(struct annotate_function *f)
{
	for (size_t k = 0; k < f->n_insns; k++)
		free(f->insns[k].text);
	map_free(&f->addresses);
	free(f->counts);
	free(f->vaddrs);
	free(f->insns);
	free(f->lines);
}

/* Frees everything, also after a failure half-way. */
void annotate_free(struct annotate *a)
{
	for (size_t i = 0; i < a->n_functions; i++)
		annotate_function_free(&a->functions[i]);
	free(a->functions);
	annotate_images_free(a);
	annotate_source_free(a);
	intern_free(&a->files);
	load_free(&a->load);
	buf_free(&a->place);
}
