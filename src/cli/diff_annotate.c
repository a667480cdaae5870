// SPDX-License-Identifier: MIT
/*
 * diff_annotate.c: see diff_annotate.h. Lines are the same on both sides if they are but for what
 * another build changes: numbers of lines, and addresses.
 *
 * Knows the form of annotate's text: "  12.34 : " or blanks stand before each line of code.
 */
#include "cli/diff_annotate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/align.h"
#include "base/array.h"
#include "base/intern.h"

#define PERCENT 8      /* columns in front of the colon of a line of code */
#define CODE 11        /* and where the code begins */
#define DIGITS_LEAST 4 /* of an address: what is shorter is an offset or a number */

struct annotated_line {
	const char *text;
	size_t n;
	bool code; /* else it is about all of it */
};

struct annotated {
	struct annotated_line *lines;
	size_t n, capacity;
	uint32_t *keys; /* of lines of code: by place among them */
	size_t n_code;
};

/* Whether a line is one of code: " 12.34 : " or "         : ". */
static bool annotated_is_code(const char *line, size_t n)
{
	if (n < PERCENT + 2 || memcmp(line + PERCENT, " :", 2) != 0)
		return false;
	for (size_t i = 0; i < PERCENT; i++)
		if (line[i] != ' ' && line[i] != '.' && !isdigit((unsigned char)line[i]))
			return false;
	return true;
}

/* Tells lines apart. Above the code stands the list of its lines by samples, which the code itself
 * says on both sides: it is left out. -ENOMEM. */
static int annotated_split(struct annotated *a, const char *text)
{
	bool listing = false;

	while (*text) {
		size_t n = strcspn(text, "\n");
		struct annotated_line line = { text, n, annotated_is_code(text, n) };

		text += n + (text[n] == '\n');
		if (n >= 16 && !memcmp(line.text, "Lines by samples", 16))
			listing = true;
		if (n >= 9 && !memcmp(line.text, " Percent ", 9)) {
			listing = false;
			continue;
		}
		if (!n || (listing && !line.code))
			continue;
		if (ARRAY_ROOM(&a->lines, &a->capacity, a->n + 1) < 0)
			return -ENOMEM;
		a->lines[a->n++] = line;
		a->n_code += line.code;
	}
	return 0;
}

/* What a line of code is compared by: without its own address or line number, and without the
 * addresses that it names. */
static void annotated_key(const struct annotated_line *l, struct buf *key)
{
	const char *at = l->text + (l->n < CODE ? l->n : CODE), *end = l->text + l->n;
	size_t digits = 0;

	buf_clear(key);
	while (at < end && *at == ' ')
		at++;
	while (at + digits < end && isxdigit((unsigned char)at[digits]))
		digits++;
	/* "11a0:  push" and "12     for (...)". */
	if (digits && at + digits < end && (at[digits] == ':' || at[digits] == ' '))
		at += digits + 1;
	while (at < end && *at == ' ')
		at++;
	for (; at < end; at++) {
		buf_put(key, at, 1);
		if (at + 1 >= end || at[0] != '0' || at[1] != 'x')
			continue;
		for (digits = 0; at + 2 + digits < end && isxdigit((unsigned char)at[2 + digits]);)
			digits++;
		at += digits >= DIGITS_LEAST ? digits + 1 : 0;
	}
}

/* Fills keys: equal lines have equal ones. -ENOMEM. */
static int annotated_keys(struct annotated *a, struct intern *texts)
{
	struct buf key = { 0 };
	size_t n = 0;
	int r = 0;

	a->keys = calloc(a->n_code + 1, sizeof(*a->keys));
	if (!a->keys)
		return -ENOMEM;
	for (size_t i = 0; i < a->n && r >= 0; i++) {
		if (!a->lines[i].code)
			continue;
		annotated_key(&a->lines[i], &key);
		a->keys[n] = intern_bytes(texts, key.bytes, key.n);
		r = key.failed || a->keys[n++] == INTERN_FAILED ? -ENOMEM : 0;
	}
	buf_free(&key);
	return r;
}

/* A line of code of one side or both: the text is the new side's where there is one. */
static void annotated_put(struct buf *out, const struct annotated_line *base,
                          const struct annotated_line *next)
{
	const struct annotated_line *shown = next ? next : base;

	buf_printf(out, "%*.*s %*.*s %c ", PERCENT, PERCENT, base ? base->text : "", PERCENT,
	           PERCENT, next ? next->text : "",
	           !next   ? '-'
	           : !base ? '+'
	                   : ' ');
	if (shown->n > CODE)
		buf_put(out, shown->text + CODE, shown->n - CODE);
	buf_put_text(out, "\n");
}

/* The next line of code from *at on; NULL: there is none. */
static const struct annotated_line *annotated_next(const struct annotated *a, size_t *at)
{
	while (*at < a->n && !a->lines[*at].code)
		++*at;
	return *at < a->n ? &a->lines[(*at)++] : NULL;
}

/* Writes all lines of code. to: by place of the baseline's, as align_lists has it. */
static void annotated_code(const struct annotated *base, const struct annotated *next,
                           const uint32_t *to, struct buf *out)
{
	size_t at = 0, at_next = 0, done = 0;

	buf_printf(out, "%*s %*s   Source and disassembly\n", PERCENT, "Base", PERCENT, "New");
	for (size_t i = 0; i < base->n_code; i++) {
		const struct annotated_line *line = annotated_next(base, &at);

		for (; to[i] && done + 1 < to[i]; done++)
			annotated_put(out, NULL, annotated_next(next, &at_next));
		annotated_put(out, line, to[i] ? annotated_next(next, &at_next) : NULL);
		done += to[i] != 0;
	}
	for (; done < next->n_code; done++)
		annotated_put(out, NULL, annotated_next(next, &at_next));
}

/* What is said of a side as a whole. */
static void annotated_about(const struct annotated *a, const char *side, struct buf *out)
{
	for (size_t i = 0; i < a->n; i++)
		if (!a->lines[i].code)
			buf_printf(out, "%s%.*s\n", side, (int)a->lines[i].n, a->lines[i].text);
}

/* Both texts are parted into lines, those of code brought together. */
int diff_annotate(struct buf *base, struct buf *next, struct buf *out)
{
	struct annotated a = { 0 }, b = { 0 };
	struct intern texts = { 0 };
	uint32_t *to = NULL;
	int r = annotated_split(&a, buf_text(base));

	if (r >= 0)
		r = annotated_split(&b, buf_text(next));
	if (r >= 0)
		r = annotated_keys(&a, &texts);
	if (r >= 0)
		r = annotated_keys(&b, &texts);
	if (r >= 0 && !(to = calloc(a.n_code + 1, sizeof(*to))))
		r = -ENOMEM;
	if (r >= 0)
		r = align_lists(a.keys, a.n_code, b.keys, b.n_code, (uint32_t)texts.n, to);
	if (r >= 0) {
		annotated_about(&a, "base: ", out);
		annotated_about(&b, "new:  ", out);
		if (a.n_code || b.n_code)
			annotated_code(&a, &b, to, out);
	}
	free(to);
	free(a.lines);
	free(b.lines);
	free(a.keys);
	free(b.keys);
	intern_free(&texts);
	return r < 0 || out->failed ? -ENOMEM : 0;
}
