// SPDX-License-Identifier: MIT
/*
 * annotate_python.c: a function that an interpreter runs. It has no code of its own to be shown:
 * its lines stand in for instructions. Addresses are those of abi/runtime_code.h, counted from the
 * function's first one, so that a line is half of one; the file is in the name
 * ("py::function:/path/file.py").
 */
#include <errno.h>
#include <stdio.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "abi/runtime.h"
#include "annotate/annotate.h"

#define LINES_BETWEEN 4096u /* lines without samples that are shown, too */
#define LINES_ABOVE 256u    /* in which "def" is looked for */

/* Of several files that have such a function it is the one with the most weight. */
const char *annotate_python_name(const struct annotate *a, const char *symbol)
{
	const struct profile *p = a->load.profile;
	const char *whole = NULL, *name;
	struct map weights = { 0 };
	size_t n = strlen(symbol);
	uint64_t most = 0, *weight;
	enum runtime_kind kind;

	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		uint32_t id = profile_frame_at(p, profile_node_at(p, row->key.node).frame)->symbol;

		name = profile_text(p, id);
		kind = runtime_of_function(name);
		if (kind == RUNTIME_NO_KIND)
			continue;
		if (runtime_of_function(symbol) == RUNTIME_NO_KIND)
			name += strlen(runtime_prefix(kind));
		if (strncmp(name, symbol, n) != 0 || name[n] != ':' || name[n + 1] == ':')
			continue;
		weight = map_slot(&weights, id, NULL);
		if (!weight)
			break;
		*weight += row->weight + 1;
		if (*weight > most) {
			most = *weight;
			whole = profile_text(p, id);
		}
	}
	map_free(&weights);
	return whole;
}

static int python_order(const void *pa, const void *pb)
{
	const struct annotate_insn *a = pa, *b = pb;

	return (a->address > b->address) - (a->address < b->address);
}

/* Whether a line begins the definition of the function: "def NAME", "public static function NAME",
 * "sub NAME": words, one that says so, and the name. */
static bool python_defines(const char *text, size_t n, const char *name, size_t size)
{
	static const char *const words[] = { "def ", "function ", "sub " };
	const char *end = text + n;

	while (text < end && (isalpha((unsigned char)*text) || *text == ' ' || *text == '\t')) {
		size_t word = 0, left = (size_t)(end - text);

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (left > strlen(words[i]) && !memcmp(text, words[i], strlen(words[i])))
				word = strlen(words[i]);
		if (word)
			return left > word + size && !memcmp(text + word, name, size) &&
			       !isalnum((unsigned char)text[word + size]) &&
			       text[word + size] != '_';
		while (text < end && isalpha((unsigned char)*text))
			text++;
		while (text < end && (*text == ' ' || *text == '\t'))
			text++;
	}
	return false;
}

/* The line where the function begins, as its source has it; without that its first line with
 * samples. */
static uint32_t python_begins(struct annotate *a, uint32_t file, uint32_t first)
{
	const char *end = runtime_function_file(a->name), *name = end, *text;
	size_t n;

	if (!end)
		return first;
	end--;
	/* The last part of "Class.method", "Class::method", "Class#method". */
	for (name = end; name > a->name && !strchr(".:#", name[-1]);)
		name--;
	for (uint32_t line = first; line && line + LINES_ABOVE > first; line--) {
		text = annotate_source(a, file, line, &n);
		if (text && python_defines(text, n, name, (size_t)(end - name)))
			return line;
	}
	return first;
}

/* Makes the lines from the function's beginning to its last sample; where that is too many, those
 * with samples. -ENOMEM. */
static int python_lines(struct annotate *a, struct annotate_function *f, uint32_t file,
                        const struct annotate_insn *hit, size_t n)
{
	uint32_t from = python_begins(a, file, hit[0].line), to = hit[n - 1].line;
	bool all = to - from < LINES_BETWEEN;
	size_t room = all ? (size_t)to - from + 1 : n;

	f->insns = calloc(room, sizeof(*f->insns));
	if (!f->insns)
		return -ENOMEM;
	for (size_t i = 0; i < room; i++) {
		uint32_t line = all ? from + (uint32_t)i : hit[i].line;

		f->insns[i] = (struct annotate_insn){
			.address = line * 2ull, .size = 2, .file = file, .line = line
		};
	}
	f->n_insns = room;
	return 0;
}

/* Samples whose line is not known stay outside. */
int annotate_python(struct annotate *a, struct annotate_function *f)
{
	const char *path = runtime_function_file(a->name);
	uint32_t file = path ? intern_text(&a->files, path) : 0;
	struct annotate_insn *hit = calloc(f->n + 1, sizeof(*hit));
	size_t n = 0;
	int r = hit && file != INTERN_FAILED ? 0 : -ENOMEM;

	f->is_source = true;
	for (size_t i = 0; r >= 0 && file && i < f->n; i++) {
		uint64_t line = f->vaddrs[i] / 2;

		if (line && line < UINT32_MAX)
			hit[n++] = (struct annotate_insn){ .address = line * 2,
				                           .line = (uint32_t)line };
	}
	if (r >= 0 && n) {
		qsort(hit, n, sizeof(*hit), python_order);
		r = python_lines(a, f, file, hit, n);
	} else if (r >= 0) {
		snprintf(f->reason, sizeof(f->reason), "no line of its samples is known");
	}
	free(hit);
	return r;
}
