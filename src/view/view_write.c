// SPDX-License-Identifier: MIT
// view_write.c: what is shown, as a file: all lines of the pane, not only those on the screen.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shown.h"
#include "view/view_made.h"

#define WRITTEN_COLUMNS 200 /* of lines that are written to a file */

/* A screen that is a line of text: styles are left out, and columns become blanks. */
static void view_put_line(void *ctx, unsigned row, unsigned column, unsigned style,
                          const char *text)
{
	struct buf *line = ctx;
	size_t have = shown_columns(buf_text(line), line->n);

	(void)row;
	(void)style;
	buf_printf(line, "%*s%s", have < column ? (int)(column - have) : 0, "", text);
}

/* The lines of the pane as text, not only those on the screen. -ENOMEM; -ECANCELED. */
static int view_text(struct view *v, struct buf *ret)
{
	struct buf line = { 0 };
	const struct view_screen s = { 1, WRITTEN_COLUMNS, &line, view_put_line };
	struct pane *p = v->top;

	/* It is laid out for the screen again when it is drawn. */
	if (p->kind->layout && p->kind->layout(p, WRITTEN_COLUMNS) < 0)
		return -ENOMEM;
	p->kind->heading(p, &s, 0);
	for (size_t i = 0; watched_goes_on(&v->watched, i, p->n); i++) {
		buf_put(ret, buf_text(&line), line.n);
		buf_put_text(ret, "\n");
		buf_clear(&line);
		if (i == p->n)
			break;
		p->kind->line(p, &s, 0, i, VIEW_PLAIN);
	}
	buf_free(&line);
	return watched_stopped(&v->watched) ? -ECANCELED : ret->failed ? -ENOMEM : 0;
}

/* Writes a text. -errno; -ECANCELED. */
static int view_write_text(struct view *v, int fd)
{
	struct buf text = { 0 };
	int r = view_text(v, &text);

	/* write(2) may take a part only, and a signal may interrupt it. */
	for (size_t at = 0; r >= 0 && at < text.n;) {
		ssize_t n = write(fd, text.bytes + at, text.n - at);

		if (n < 0 && errno != EINTR)
			r = -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	buf_free(&text);
	return r;
}

/* Writes the file; m->text becomes what is to be said of it. A file that is there is not written
 * over, and what was begun is not left behind. */
static int view_write_make(struct view *v, struct view_made *m)
{
	const char *path = buf_text(&m->like.value), *refused;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int r = fd < 0 ? -errno : 0;

	if (r >= 0)
		r = view_exports(v, path, &refused) ? view_export(v, path, fd)
		                                    : view_write_text(v, fd);
	if (fd >= 0 && close(fd) && r >= 0)
		r = -errno;
	if (fd >= 0 && (r < 0 || watched_stopped(&v->watched)))
		unlink(path);
	shown_printf(&m->text, "%s: %s", path, r < 0 ? strerror(-r) : "written");
	return 0;
}

static int view_write_put(struct view *v, struct view_made *m)
{
	view_say(v, buf_text(&m->text));
	if (v->state.n && strcmp(buf_text(&v->state), "ended"))
		shown_printf(&v->message, ", of what had come until then (%s)",
		             buf_text(&v->state));
	return 0;
}

static void view_write_stopped(struct view *v, struct view_made *m)
{
	(void)m;
	view_say(v, "given up: nothing was written");
}

/* Writes the pane to the file that was named, which must be new. */
int view_write(struct view *v)
{
	const char *path = buf_text(&v->typed), *refused;
	struct view_made *m;

	view_exports(v, path, &refused);
	if (refused) {
		buf_clear(&v->message);
		shown_printf(&v->message, "%s: %s", path, refused);
		return 0;
	}
	if (v->top->more && !view_exports(v, path, &refused))
		return view_all_lines(v, view_write);
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->what = "writing";
	m->make = view_write_make;
	m->put = view_write_put;
	m->stopped = view_write_stopped;
	/* A text is laid out for the file, and drawn as it is on the screen: one after the
	 * other. */
	m->here = v->top->kind->layout;
	buf_put_text(&m->like.value, path);
	return view_make(v, m);
}
