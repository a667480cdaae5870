// SPDX-License-Identifier: MIT
/*
 * pane_text.c: lines of a text: the account, help, the source of a function. The lines may come
 * from a file or a program: they are escaped by whoever made the text.
 *
 * What is to be read (prose) is broken at the edge of the screen. What has columns (source and
 * instructions) is not: Right and Left move along its lines.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/shown.h"
#include "view/pane.h"

#define STEP 16        /* columns that Right moves */
#define INDENT 2       /* of what goes on below, beyond the line's own */
#define PROSE_LEAST 12 /* columns: narrower text is cut */

struct text_row {
	const char *text;
	size_t n;        /* bytes */
	unsigned indent; /* columns in front of it */
};

struct text_pane {
	struct pane pane;
	struct buf text;       /* each line ends with a NUL */
	const char **lines;    /* all of them */
	struct text_row *rows; /* pane.n of them: those that pass the filter, broken */
	size_t n_lines, rows_capacity;
	bool prose;
	unsigned columns;      /* that the rows are made for; 0: none yet */
	unsigned from;         /* the first column that is seen */
	struct pane_kind kind; /* with a name of its own */
};

static void text_pane_free(struct pane *p)
{
	struct text_pane *t = (struct text_pane *)p;

	buf_free(&t->text);
	free(t->lines);
	free(t->rows);
}

/* The bytes of the character at a place. */
static size_t text_pane_character(const char *at)
{
	size_t n = 1;

	while ((at[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* How many bytes of a line go into so many columns. It ends before the last word that is not whole
 * there, if that is a short one, or has room below, where a row has `below` columns; else behind a
 * slash, so that a path is cut between its parts. At least one character. */
static size_t text_pane_fit(const char *line, unsigned room, unsigned below)
{
	size_t at = 0, blank = 0, slash = 0, lead = strspn(line, " ");
	unsigned have = 0;

	while (line[at]) {
		size_t n = text_pane_character(line + at), word;

		have += (unsigned)shown_columns(line + at, n);
		if (have > room && at) {
			if (line[at] == ' ')
				return at;
			word = blank ? strcspn(line + blank + 1, " ") : 0;
			if (blank > at / 2 ||
			    (blank && shown_columns(line + blank + 1, word) <= below))
				return blank;
			return slash > at / 2 ? slash : at;
		}
		if (line[at] == ' ' && at > lead)
			blank = at;
		if (line[at] == '/')
			slash = at + 1;
		at += n;
	}
	return at;
}

/* How many bytes go into so many columns, whatever is cut. */
static size_t text_pane_fit_hard(const char *line, unsigned room)
{
	size_t at = 0;
	unsigned have = 0;

	while (line[at]) {
		size_t n = text_pane_character(line + at);

		have += (unsigned)shown_columns(line + at, n);
		if (have > room)
			break;
		at += n;
	}
	return at;
}

/* Adds the rows of a line. -ENOMEM. */
static int text_pane_put(struct text_pane *t, const char *line)
{
	unsigned indent = (unsigned)strspn(line, " ") + INDENT, first = 0;

	if (indent > t->columns / 2)
		indent = INDENT;
	do {
		size_t n = t->prose && t->columns >= PROSE_LEAST
		                   ? text_pane_fit(line, t->columns - first, t->columns - indent)
		                   : strlen(line);

		if (ARRAY_ROOM(&t->rows, &t->rows_capacity, t->pane.n + 1) < 0)
			return -ENOMEM;
		t->rows[t->pane.n++] = (struct text_row){ line, n, first };
		line += n;
		first = indent;
		line += strspn(line, " ");
	} while (*line);
	return 0;
}

/* Lists the lines that pass the filter. */
static int text_pane_filter(struct pane *p)
{
	struct text_pane *t = (struct text_pane *)p;
	int r = 0;

	p->n = 0;
	for (size_t i = 0; i < t->n_lines && r >= 0; i++)
		if (pane_passes(p, t->lines[i]))
			r = text_pane_put(t, t->lines[i]);
	return r;
}

static uint64_t text_pane_id(const struct pane *p, size_t i)
{
	return (uintptr_t)((const struct text_pane *)p)->rows[i].text;
}

/* Prose is broken again where the screen has another width. */
static int text_pane_layout(struct pane *p, unsigned columns)
{
	struct text_pane *t = (struct text_pane *)p;
	const char *here = p->at < p->n ? t->rows[p->at].text : NULL;
	int r;

	if (columns == t->columns)
		return 0;
	t->columns = columns;
	r = text_pane_filter(p);
	/* The cursor stays in the text that it was on. */
	for (size_t i = 0; here && i < p->n; i++)
		if (here >= t->rows[i].text && here <= t->rows[i].text + t->rows[i].n)
			p->at = i;
	return r;
}

static void text_pane_heading(struct pane *p, const struct view_screen *s, unsigned row)
{
	s->put(s->ctx, row, 0, VIEW_HEADING, p->kind->name);
}

/* Where a line's columns from t->from on begin. */
static const char *text_pane_from(const struct text_pane *t, const char *line)
{
	for (unsigned have = 0; *line && have < t->from;) {
		size_t n = text_pane_character(line);

		have += (unsigned)shown_columns(line, n);
		line += n;
	}
	return line;
}

/* The text is escaped already. */
static void text_pane_line(struct pane *p, const struct view_screen *s, unsigned row, size_t i,
                           unsigned style)
{
	struct text_pane *t = (struct text_pane *)p;
	const struct text_row *r = &t->rows[i];
	struct buf part = { 0 }, cut = { 0 };

	buf_printf(&part, "%*s", (int)r->indent, "");
	if (t->prose)
		buf_put(&part, r->text, r->n);
	else
		buf_put_text(&part, text_pane_from(t, r->text));
	if (t->prose)
		shown_cut(&cut, buf_text(&part), s->columns, 0);
	else
		buf_put(&cut, buf_text(&part), text_pane_fit_hard(buf_text(&part), s->columns));
	s->put(s->ctx, row, 0, style, buf_text(&cut));
	buf_free(&part);
	buf_free(&cut);
}

/* The share of an instruction, "12.3 :  ADDRESS: ...", or, of two sides, "1.2  3.4   ADDRESS: ...",
 * the last one's; -1: the line is of no instruction. */
static double text_pane_heat(const char *line)
{
	double share = -1;

	for (unsigned i = 0; i < 3; i++) {
		size_t digits;
		char *end;

		line += strspn(line, " ");
		digits = strspn(line, "0123456789abcdef");
		if (*line == ':' || (digits && line[digits] == ':' && line[digits + 1] == ' '))
			return share;
		share = strtod(line, &end);
		if (end == line || *end != ' ')
			return -1;
		line = end;
	}
	return -1;
}

/* Goes to the instruction that has most samples, from there to the one that has most of the others,
 * and so on. */
static void text_pane_hottest(struct text_pane *t)
{
	struct pane *p = &t->pane;
	double here = p->at < p->n ? text_pane_heat(t->rows[p->at].text) : -1, most = 0;
	size_t to = p->n;

	for (size_t i = 0; i < p->n; i++) {
		double heat = text_pane_heat(t->rows[i].text);
		bool is_behind = here <= 0 || heat < here || (heat <= here && i > p->at);

		if (is_behind && heat > most) {
			most = heat;
			to = i;
		}
	}
	if (to < p->n)
		p->at = to;
}

/* Right and Left move along lines that are not broken; Left at their beginning goes back. */
static int text_pane_key(struct pane *p, int key)
{
	struct text_pane *t = (struct text_pane *)p;

	if (!t->prose && (key == VIEW_KEY_RIGHT || key == 'l'))
		t->from += t->from < 4096 ? STEP : 0;
	else if (!t->prose && (key == VIEW_KEY_LEFT || key == 'h') && t->from)
		t->from -= STEP;
	else if (!t->prose && key == 'H')
		text_pane_hottest(t);
	else
		return 0;
	return 1;
}

/* Of lines that are not broken. */
static const struct pane_key text_pane_own[] = {
	{ { VIEW_KEY_RIGHT, VIEW_KEY_LEFT, 'l', 'h' },
	  "along the lines; at their beginning Left goes back" },
	{ { 'H' }, "the instruction with most samples; again: the next one" },
	{ { 0 }, NULL },
};

static const struct pane_kind text_pane_kind = {
	.keys = "/ filter  Left back  w write  ? help",
	.free = text_pane_free,
	.heading = text_pane_heading,
	.line = text_pane_line,
	.filter = text_pane_filter,
	.id = text_pane_id,
	.layout = text_pane_layout,
	.key = text_pane_key,
};

/* Tells lines apart, and writes tabs as blanks. -ENOMEM. */
static int text_pane_split(struct text_pane *t, const struct buf *text)
{
	const char *bytes = (const char *)text->bytes;
	size_t n = 0, column = 0;

	for (size_t i = 0; i < text->n; i++) {
		if (bytes[i] == '\t') {
			buf_printf(&t->text, "%*s", (int)(8 - column % 8), "");
			/* Columns are counted in bytes: text beyond ASCII has tabs a little off. */
			column += 8 - column % 8;
		} else {
			buf_put(&t->text, bytes[i] == '\n' ? "" : &bytes[i], 1);
			column = bytes[i] == '\n' ? 0 : column + 1;
		}
		/* The last line may lack its newline. */
		n += bytes[i] == '\n' || i + 1 == text->n;
	}
	buf_put(&t->text, "", 1);
	t->lines = calloc(n + 1, sizeof(*t->lines));
	if (t->text.failed || !t->lines)
		return -ENOMEM;
	for (const char *at = (const char *)t->text.bytes; t->n_lines < n; at += strlen(at) + 1)
		t->lines[t->n_lines++] = at;
	return 0;
}

/* It is laid out when its width is known, at first as lines that are whole. */
struct pane *pane_text(const struct view_opts *opts, struct pane_scope *s, const char *name,
                       bool prose, struct buf *text)
{
	struct text_pane *t = pane_new(sizeof(*t), &text_pane_kind, opts, s);
	int r = t && !text->failed ? text_pane_split(t, text) : -ENOMEM;

	buf_free(text);
	if (r < 0) {
		pane_free(t ? &t->pane : NULL);
		return NULL;
	}
	t->kind = text_pane_kind;
	t->kind.name = name;
	t->pane.kind = &t->kind;
	t->prose = prose;
	t->kind.own = prose ? NULL : text_pane_own;
	if (!prose)
		t->kind.keys =
		        "H hottest  Right, Left along the lines  / filter  Esc back  w write  "
		        "? help";
	if (text_pane_filter(&t->pane) >= 0)
		return &t->pane;
	pane_free(&t->pane);
	return NULL;
}
