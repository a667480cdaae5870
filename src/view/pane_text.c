// SPDX-License-Identifier: MIT
/* pane_text.c: lines of a text: the account, help, the source of a function. The lines may come
 * from a file or a program: they are escaped by whoever made the text. */
#include <stdlib.h>

#include "base/shown.h"
#include "view/pane.h"

struct text_pane {
	struct pane pane;
	struct buf text;      /* each line ends with a NUL */
	const char **lines;   /* all of them */
	const char **visible; /* pane.n of them */
	size_t n_lines;
	struct pane_kind kind; /* with a name of its own */
};

static void text_pane_free(struct pane *p)
{
	struct text_pane *t = (struct text_pane *)p;

	buf_free(&t->text);
	free(t->lines);
	free(t->visible);
}

/* Lists the lines that pass the filter. */
static int text_pane_filter(struct pane *p)
{
	struct text_pane *t = (struct text_pane *)p;

	p->n = 0;
	for (size_t i = 0; i < t->n_lines; i++)
		if (pane_passes(p, t->lines[i]))
			t->visible[p->n++] = t->lines[i];
	return 0;
}

static void text_pane_heading(struct pane *p, const struct view_screen *s, unsigned row)
{
	s->put(s->ctx, row, 0, VIEW_HEADING, p->kind->name);
}

/* The text is escaped already. */
static void text_pane_line(struct pane *p, const struct view_screen *s, unsigned row, size_t i,
                           unsigned style)
{
	struct text_pane *t = (struct text_pane *)p;
	struct buf cut = { 0 };

	shown_cut(&cut, t->visible[i], s->columns, 0);
	s->put(s->ctx, row, 0, style, buf_text(&cut));
	buf_free(&cut);
}

static const struct pane_kind text_pane_kind = {
	.keys = "/ filter  Left back  ? help",
	.free = text_pane_free,
	.heading = text_pane_heading,
	.line = text_pane_line,
	.filter = text_pane_filter,
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
	t->visible = calloc(n + 1, sizeof(*t->visible));
	if (t->text.failed || !t->lines || !t->visible)
		return -ENOMEM;
	for (const char *at = (const char *)t->text.bytes; t->n_lines < n; at += strlen(at) + 1)
		t->lines[t->n_lines++] = at;
	return 0;
}

struct pane *pane_text(const struct view_opts *opts, struct pane_scope *s, const char *name,
                       struct buf *text)
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
	text_pane_filter(&t->pane);
	return &t->pane;
}
