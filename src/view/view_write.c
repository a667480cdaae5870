// SPDX-License-Identifier: MIT
// view_write.c: what is shown, as a file: all lines of the pane, not only those on the screen.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/shown.h"
#include "view/view_state.h"

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

/* The lines of the pane as text, not only those on the screen. */
static void view_text(struct view *v, struct buf *ret)
{
	struct buf line = { 0 };
	const struct view_screen s = { 1, WRITTEN_COLUMNS, &line, view_put_line };
	struct pane *p = v->top;

	/* It is laid out for the screen again when it is drawn. */
	if (p->kind->layout && p->kind->layout(p, WRITTEN_COLUMNS) < 0) {
		ret->failed = true;
		return;
	}
	p->kind->heading(p, &s, 0);
	for (size_t i = 0;; i++) {
		buf_put(ret, buf_text(&line), line.n);
		buf_put_text(ret, "\n");
		buf_clear(&line);
		if (i == p->n)
			break;
		p->kind->line(p, &s, 0, i, VIEW_PLAIN);
	}
	buf_free(&line);
}

/* Writes the pane to the file that was named, which must be new. */
int view_write(struct view *v)
{
	struct buf text = { 0 };
	const char *path = buf_text(&v->typed);
	const char *refused;
	bool exports = view_exports(v, path, &refused);
	int fd, error = 0;

	if (refused) {
		buf_clear(&v->message);
		shown_printf(&v->message, "%s: %s", path, refused);
		return 0;
	}
	if (!exports)
		view_text(v, &text);
	if (text.failed)
		return -ENOMEM;
	/* A file that is there is not written over. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		error = errno;
	if (!error && exports)
		error = -view_export(v, path, fd);
	/* write(2) may take a part only, and a signal may interrupt it. */
	for (size_t at = 0; !error && at < text.n;) {
		ssize_t n = write(fd, text.bytes + at, text.n - at);

		if (n < 0 && errno != EINTR)
			error = errno;
		at += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0 && close(fd) && !error)
		error = errno;
	/* What was begun is not left behind. */
	if (fd >= 0 && error)
		unlink(path);
	buf_clear(&v->message);
	shown_printf(&v->message, "%s: %s", path, error ? strerror(error) : "written");
	buf_free(&text);
	return 0;
}
