/* SPDX-License-Identifier: MIT */
/*
 * load_set.h: what a profile keeps of a sample's set of labels (samples/contexts.h), as texts: its
 * trace, its span, the labels that were asked for, or the whole set.
 */
#ifndef SEAM_AGGREGATE_LOAD_SET_H
#define SEAM_AGGREGATE_LOAD_SET_H

#include "base/buf.h"
#include "samples/contexts.h"

enum load_set {
	LOAD_SET_LABEL,
	LOAD_SET_TRACE,
	LOAD_SET_SPAN,
	LOAD_SET_CONTEXT, /* as a recording has it */
	LOAD_SETS,
};

struct load_sets {
	const struct contexts *contexts;
	const char *by; /* keys of LOAD_SET_LABEL; NULL: all but those of trace and span */
	bool lines;     /* LOAD_SET_LABEL, without by: as abi/context.h writes a set */
	uint32_t *known[LOAD_SETS];
	struct buf text;
};

void load_sets_free(struct load_sets *sets);
/* The text of a set; NULL: it has none. Valid until the next call. */
const char *load_set_text(struct load_sets *sets, enum load_set what, uint32_t set);
/* Where a number for it is kept, 0 at first. NULL: memory is out. */
uint32_t *load_set_slot(struct load_sets *sets, enum load_set what, uint32_t set);

#endif
