// SPDX-License-Identifier: MIT
/*
 * inifile.c: see inifile.h. libinih knows the syntax; what is given to it are lines without leading
 * blanks, because it would take an indented line for the continuation of the one before, and people
 * indent below a section.
 */
#include "cmd/inifile.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

#define INIFILE_LIMIT (1u << 20) /* bytes of the file */

struct inifile {
	inifile_take *take;
	void *ctx;
	const char *path;
	const char *text; /* what is left of the file */
	unsigned line;    /* of what was handed out last, from 1 */
	struct seam_error *err;
	int error;
};

/* Keeps the first failure: later ones follow from it. */
static void inifile_fail(struct inifile *p, int error, const char *why)
{
	char place[300];

	if (p->error)
		return;
	snprintf(place, sizeof(place), "%s:%u", p->path, p->line);
	p->error = seam_error_set(p->err, error, place, SEAM_NO_OFFSET, NULL, "%s", why);
}

/* The next line for libinih, as fgets would give it. */
static char *inifile_next_line(char *line, int n, void *ctx)
{
	struct inifile *p = ctx;
	size_t length = strcspn(p->text, "\n");
	const char *start = p->text + strspn(p->text, " \t");
	size_t kept = start < p->text + length ? (size_t)(p->text + length - start) : 0;

	/* An earlier failure ends the reading: libinih would go on. */
	if (!*p->text || p->error)
		return NULL;
	p->line++;
	if (kept + 2 > (size_t)n) {
		inifile_fail(p, EINVAL, "the line is too long");
		return NULL;
	}
	memcpy(line, start, kept);
	line[kept] = '\n';
	line[kept + 1] = 0;
	p->text += length + (p->text[length] == '\n');
	return line;
}

/* What libinih calls for each "name = value": 0 is an error. */
static int inifile_taken(void *ctx, const char *section, const char *name, const char *value)
{
	struct inifile *p = ctx;
	char where[300];
	const struct inifile_line line = { where, section, name, value };

	snprintf(where, sizeof(where), "%s:%u", p->path, p->line);
	if (!p->error)
		p->error = p->take(p->ctx, &line, p->err);
	return !p->error;
}

/* The file's text with a NUL behind it. Only one that was named may be a pipe: under sudo the
 * default one may be a stranger's. */
static int inifile_text(const char *path, bool named, struct buf *ret)
{
	/* O_NOCTTY: a terminal that is opened must not become ours. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (named ? 0 : O_NONBLOCK));
	int error = 0;

	if (fd < 0)
		return -errno;
	while (!error) {
		void *room = buf_reserve(ret, 4096);
		ssize_t n = room ? read(fd, room, 4096) : 0;

		if (!room || ret->n > INIFILE_LIMIT)
			error = room ? -EFBIG : -ENOMEM;
		else if (n < 0)
			error = -errno;
		if (n <= 0)
			break;
		ret->n += (size_t)n;
	}
	close(fd);
	return error;
}

/* Reads the file, and gives its lines as they come. */
int inifile_read(const char *path, bool named, inifile_take *take, void *ctx,
                 struct seam_error *err)
{
	struct inifile p = { .take = take, .ctx = ctx, .path = path, .err = err };
	struct buf text = { 0 };
	int error = inifile_text(path, named, &text), line;

	/* Under sudo HOME may be another user's. */
	if (!named && (error == -ENOENT || error == -EACCES || error == -ENOTDIR)) {
		buf_free(&text);
		return 0;
	}
	if (error) {
		buf_free(&text);
		return seam_error_set(err, -error, path, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(-error));
	}
	p.text = buf_text(&text);
	line = ini_parse_stream(inifile_next_line, &p, inifile_taken, &p);
	if (line > 0 && !p.error) {
		p.line = (unsigned)line;
		inifile_fail(&p, EINVAL, "neither '[section]' nor 'name = value'");
	} else if (line < 0 && !p.error) {
		inifile_fail(&p, ENOMEM, "out of memory");
	}
	buf_free(&text);
	return p.error;
}
