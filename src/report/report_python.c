// SPDX-License-Identifier: MIT
// report_python.c: stacks with the loop of CPython in them and none of its functions: what would
// name these. Known of a stack are its frames' names alone, so it holds for any recording.
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/walk_result_text.h"
#include "base/shown.h"
#include "base/trie.h"

#define PYTHON_LEAST 5 /* percent: a script that a build starts needs no advice */
#define PYTHON_LOOP "_PyEval_EvalFrameDefault"

enum {
	PYTHON_RUNS = 1,
	PYTHON_NAMED = 2
};

/* What a frame's name says. The loop may have a suffix of the compiler's (".cold"). */
static unsigned char python_says(const struct profile *p, uint32_t frame)
{
	uint32_t symbol = profile_frame_at(p, frame)->symbol;
	const char *name = symbol ? profile_text(p, symbol) : "";

	if (!strncmp(name, "py::", 4))
		return PYTHON_NAMED;
	return strncmp(name, PYTHON_LOOP, sizeof(PYTHON_LOOP) - 1) ? 0 : PYTHON_RUNS;
}

/* Samples whose stack runs Python and names none of its functions. */
static uint64_t python_nameless(const struct profile *p)
{
	const struct trie *tree = profile_tree(p);
	size_t n_frames = profile_n_frames(p);
	unsigned char *frames = calloc(n_frames + 1, 1), *says = NULL, any = 0;
	uint64_t samples = 0;

	for (size_t f = 1; frames && f <= n_frames; f++)
		any |= frames[f] = python_says(p, (uint32_t)f);
	if (any & PYTHON_RUNS)
		says = calloc((size_t)tree->n + 1, 1);
	/* A parent's number is lower than its children's. */
	for (uint32_t n = 1; says && n <= tree->n; n++) {
		struct trie_node at = trie_at(tree, n);

		says[n] = says[at.parent] | frames[at.key];
	}
	for (size_t i = 0; says && i < profile_n_rows(p); i++)
		if (says[profile_row_at(p, i)->key.node] == PYTHON_RUNS)
			samples += profile_row_at(p, i)->samples;
	free(frames);
	free(says);
	return samples;
}

/* Writes nothing where that is less than PYTHON_LEAST percent of the samples. */
void report_python(const struct report *r, struct buf *out)
{
	uint64_t samples = python_nameless(r->load.profile);
	struct profile_account a;
	char part[16];

	profile_account(r->load.profile, 0, &a);
	if (report_percent(samples, a.samples) < PYTHON_LEAST)
		return;
	shown_printf(
	        out,
	        "%s of the samples ran Python, whose functions are not named\n  hint: seam record "
	        "as root names them, with BPF (CPython 3.8 to 3.14); so does python3 -X perf "
	        "(3.12 "
	        "and later)\n",
	        walk_result_share(samples, a.samples, part, sizeof(part)));
}
