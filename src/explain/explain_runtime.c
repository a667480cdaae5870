// SPDX-License-Identifier: MIT
// explain_runtime.c: which functions of an interpreter had the time: their own, and that of the
// native code that they call, which a person who wrote the functions does not know.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/runtime.h"
#include "explain/explain_parts.h"

#define RUNTIME_LEAST 3.0 /* percent from which on an interpreter is told, and a function of it */

/* For each string the interpreter whose function it names. NULL: out of memory. */
static uint8_t *runtime_strings(const struct profile *p)
{
	size_t n = profile_n_frames(p);
	uint8_t *kind = calloc(profile_n_strings(p) + 1, sizeof(*kind));

	for (uint32_t i = 1; kind && i <= n; i++) {
		uint32_t symbol = profile_frame_at(p, i)->symbol;

		if (symbol)
			kind[symbol] = (uint8_t)runtime_of_function(profile_text(p, symbol));
	}
	return kind;
}

/* Adds up what is in, or below, each function of an interpreter: a sample counts for the innermost
 * one of its stack. kind: by string. The sum; inner and weight have room for all nodes and
 * strings. */
static uint64_t runtime_weights(const struct explain_sums *s, const uint8_t *kind, unsigned which,
                                uint32_t *inner, uint64_t *weight)
{
	const struct profile *p = s->profile;
	size_t n = profile_n_nodes(p);
	uint64_t sum = 0;

	for (uint32_t i = 1; i <= n; i++) {
		struct profile_node node = profile_node_at(p, i);
		uint32_t symbol = profile_frame_at(p, node.frame)->symbol;

		inner[i] = symbol && kind[symbol] == which ? symbol : inner[node.parent];
	}
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		uint32_t symbol = inner[row->key.node];

		if (row->key.event != s->event || !symbol)
			continue;
		weight[symbol] += row->weight;
		sum += row->weight;
	}
	return sum;
}

/* The functions with the most, in descending order. */
static void runtime_most(struct explain_runtime *r, const uint64_t *weight, size_t n)
{
	memset(r->most, 0, sizeof(r->most));
	for (uint32_t i = 1; i <= n; i++) {
		struct explain_runtime_function f = { i, weight[i] };

		for (size_t at = 0; at < EXPLAIN_RUNTIME_MOST; at++) {
			struct explain_runtime_function than = r->most[at];

			if (f.weight <= than.weight)
				continue;
			r->most[at] = f;
			f = than;
		}
	}
}

/* Of several interpreters the one whose functions have the most. -ENOMEM. */
int explain_runtime_sum(struct explain_sums *s)
{
	size_t n = profile_n_strings(s->profile);
	uint8_t *kind = runtime_strings(s->profile);
	uint32_t *inner = calloc(profile_n_nodes(s->profile) + 1, sizeof(*inner));
	uint64_t *weight = calloc(n + 1, sizeof(*weight));
	int rc = kind && inner && weight ? 0 : -ENOMEM;

	for (unsigned which = 1; rc >= 0 && which < RUNTIMES; which++) {
		uint64_t sum;

		if (!memchr(kind, (int)which, n + 1))
			continue;
		memset(weight, 0, (n + 1) * sizeof(*weight));
		sum = runtime_weights(s, kind, which, inner, weight);
		if (sum <= s->runtime.weight)
			continue;
		s->runtime.kind = which;
		s->runtime.weight = sum;
		runtime_most(&s->runtime, weight, n);
	}
	free(kind);
	free(inner);
	free(weight);
	return rc;
}

/* "parse (reader.py)" of "py::parse:/srv/reader.py". */
static void runtime_put_name(const char *name, const char *prefix, struct buf *out)
{
	const char *file = runtime_function_file(name), *slash = file ? strrchr(file, '/') : NULL;

	name += strlen(prefix);
	if (file)
		buf_printf(out, "%.*s (%s)", (int)(file - 1 - name), name,
		           slash ? slash + 1 : file);
	else
		buf_put_text(out, name);
}

/* Which functions of the interpreter have the most, with what they call. */
void explain_runtime(struct explain *x, const struct explain_sums *s)
{
	const struct explain_runtime *r = &s->runtime;
	const char *prefix = r->weight ? runtime_prefix(r->kind) : "";
	struct buf list = { 0 }, pattern = { 0 };

	if (!r->weight || explain_share(s, r->weight) < RUNTIME_LEAST)
		return;
	for (size_t i = 0; i < EXPLAIN_RUNTIME_MOST; i++) {
		double share = explain_share(s, r->most[i].weight);

		if (!r->most[i].weight || (i && share < RUNTIME_LEAST))
			break;
		buf_put_text(&list, i ? ", " : "");
		runtime_put_name(profile_text(s->profile, r->most[i].symbol), prefix, &list);
		buf_printf(&list, " %.1f %%", share);
	}
	buf_printf(&pattern, "^%s", prefix);
	explain_add(x,
	            &(struct explain_new){ EXPLAIN_TIME, "interpreted", explain_share(s, r->weight),
	                                   EXPLAIN_COMMAND("report", "--stdio", "-s", "parent",
	                                                   "-p", buf_text(&pattern), "-g", "none",
	                                                   "--no-children") },
	            "in functions of %s and the native code that they call; most in %s",
	            runtime_label(r->kind), buf_text(&list));
	x->failed |= list.failed || pattern.failed;
	buf_free(&list);
	buf_free(&pattern);
}
