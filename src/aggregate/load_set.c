// SPDX-License-Identifier: MIT
// load_set.c: see load_set.h. A set that was not read has no labels: its text says so everywhere
// but as an id.
#include "aggregate/load_set.h"

#include <stdlib.h>
#include <string.h>

void load_sets_free(struct load_sets *sets)
{
	for (unsigned i = 0; i < LOAD_SETS; i++)
		free(sets->known[i]);
	buf_free(&sets->text);
}

/* The values of keys. */
static const char *load_set_values(struct load_sets *sets, const char *text, const char *keys)
{
	return contexts_values(text, keys, &sets->text) ? buf_text(&sets->text) : NULL;
}

/* Makes the text anew in sets->text. */
const char *load_set_text(struct load_sets *sets, enum load_set what, uint32_t set)
{
	const char *text = contexts_text(sets->contexts, set);

	buf_clear(&sets->text);
	switch (what) {
	case LOAD_SET_TRACE:
		return load_set_values(sets, text, "trace");
	case LOAD_SET_SPAN:
		return load_set_values(sets, text, "span");
	case LOAD_SET_LABEL:
		if (sets->by && strchr(text, '\t'))
			return load_set_values(sets, text, sets->by);
		if (sets->lines && strchr(text, '\t'))
			contexts_lines(&sets->text, text);
		else
			contexts_show(&sets->text, text, false);
		return sets->text.n ? buf_text(&sets->text) : NULL;
	default:
		return *text ? text : NULL;
	}
}

uint32_t *load_set_slot(struct load_sets *sets, enum load_set what, uint32_t set)
{
	if (set >= sets->contexts->sets.n)
		return NULL;
	if (!sets->known[what])
		sets->known[what] = calloc(sets->contexts->sets.n, sizeof(uint32_t));
	return sets->known[what] ? &sets->known[what][set] : NULL;
}
