// SPDX-License-Identifier: MIT
// report_python.c: stacks with the loop of CPython in them and none of its functions: what would
// name these. Known of a stack are its frames' names alone, so it holds for any recording.
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/walk_result_text.h"
#include "base/shown.h"
#include "profile/segments.h"

#define PYTHON_LEAST 5 /* percent: a script that a build starts needs no advice */

/* What a frame's name says. The loop may have a suffix of the compiler's (".cold"). */
/* Samples of stacks that run Python and name none of its functions. frames: flat_python_says of
 * each. */
static uint64_t python_nameless_of(const struct profile *p, const struct segments *s,
                                   const unsigned char *frames)
{
	unsigned char *says = calloc((size_t)s->n + 1, 1);
	uint64_t samples = 0;

	for (uint32_t i = 1; says && i <= s->n; i++) {
		says[i] = says[s->above[i]];
		for (uint32_t node = segments_first(s, i); node <= s->last[i]; node++)
			says[i] |= frames[trie_at(s->tree, node).key];
	}
	for (size_t i = 0; says && i < profile_n_rows(p); i++)
		if (says[segments_at(s, profile_row_at(p, i)->key.node)] == FLAT_PYTHON_RUNS)
			samples += profile_row_at(p, i)->samples;
	free(says);
	return samples;
}

/* The same of a profile; 0 also where memory is out. */
static uint64_t python_nameless(const struct profile *p)
{
	size_t n_frames = profile_n_frames(p);
	unsigned char *frames = calloc(n_frames + 1, 1), any = 0;
	const struct segments *segments;
	uint64_t samples = 0;

	for (size_t f = 1; frames && f <= n_frames; f++)
		any |= frames[f] = flat_python_says(p, (uint32_t)f);
	segments = any & FLAT_PYTHON_RUNS ? segments_of(p) : NULL;
	if (segments)
		samples = python_nameless_of(p, segments, frames);
	free(frames);
	return samples;
}

/* Writes nothing where that is less than PYTHON_LEAST percent of the samples. */
void report_python(const struct report *r, struct buf *out)
{
	uint64_t samples = r->load.flat
	                           ? flat_samples(r->load.flat, FLAT_PYTHON_RUNS, FLAT_PYTHON_NAMED)
	                           : python_nameless(r->load.profile);
	struct profile_account a;
	char part[16];

	profile_account(r->load.profile, 0, &a);
	if (report_percent(samples, a.samples) < PYTHON_LEAST)
		return;
	shown_printf(
	        out,
	        "%s of the samples ran Python, whose functions are not named\n  hint: seam record "
	        "as root names them, with BPF (CPython 3.8 to 3.15); so does python3 -X perf "
	        "(3.12 "
	        "and later)\n",
	        walk_result_share(samples, a.samples, part, sizeof(part)));
}
