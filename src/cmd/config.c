// SPDX-License-Identifier: MIT
/*
 * config.c: knows where the config file is and which names it may hold. libinih knows its syntax;
 * what is given to it are lines without leading blanks, because it would take an indented line for
 * the continuation of the one before, and people indent below a section.
 *
 * Settings are read once, when a command starts; an option of the command line wins over each.
 * Invariant: a name that is not in the table is an error, because a setting that is misspelt would
 * do nothing without a word.
 */
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/config.h"

#define CONFIG_LIMIT (1u << 20) /* bytes of the file */
/* More than the table has. */
#define CONFIG_KEYS 32u

/* All names that a config file may have, in the order of the help; ends with a NULL name. */
static const struct config_key config_keys[] = {
	{ "call-graph.record-mode", "callchains of seam record: fp, fp,defer, auto or none" },
	{ "record.events", "events of seam record, as -e has them" },
	{ "record.freq", "samples per second, or max, as -F" },
	{ "record.mmap-pages", "size of the rings, as -m" },
	{ "record.output", "file that is written, as -o" },
	{ "record.compression-level", "1 to 22, as -z; 0: none" },
	{ "report.children", "true: seam report counts callees to their callers" },
	{ "report.percent-limit", "hide entries below this share" },
	{ "report.sort", "columns of seam report, as -s" },
	{ "debuginfod.use", "true: ask servers for files that are not here, as --debuginfod" },
	{ "debuginfod.urls", "these servers; implies debuginfod.use" },
	{ "debuginfod.limit", "seconds in all, as --debuginfod-limit" },
	{ "ui.color", "auto, always or never" },
	{ NULL, NULL },
};

/* Where it stands is kept for messages about its value, which the command finds out later. */
struct config_value {
	char *text;  /* NULL: not set */
	char *where; /* "FILE:LINE: NAME" */
};

struct config {
	struct config_value at[CONFIG_KEYS];
};

struct config_parse {
	struct config *config;
	const char *path;
	const char *text; /* what is left of the file */
	unsigned line;    /* of what was handed out last, from 1 */
	struct seam_error *err;
	int error;
};

/* -1: there is no such setting. */
static int config_index(const char *name)
{
	for (int i = 0; config_keys[i].name; i++) {
		if (!strcmp(config_keys[i].name, name))
			return i;
	}
	return -1;
}

/* Keeps the first failure. Returns 0, which is libinih's "no". name: what it is about, or "". Later
 * failures follow from the first one. */
static int config_fail(struct config_parse *p, int error, const char *why, const char *name)
{
	char place[300];

	if (!p->error) {
		snprintf(place, sizeof(place), "%s:%u", p->path, p->line);
		p->error = seam_error_set(p->err, error, place, SEAM_NO_OFFSET, NULL, "%s%s", why,
		                          name);
	}
	return 0;
}

/* The next line for libinih, as fgets would give it. */
static char *config_next_line(char *line, int n, void *ctx)
{
	struct config_parse *p = ctx;
	size_t length = strcspn(p->text, "\n");
	const char *start = p->text + strspn(p->text, " \t");
	size_t kept = start < p->text + length ? (size_t)(p->text + length - start) : 0;

	/* An earlier failure ends the reading: libinih would go on. */
	if (!*p->text || p->error)
		return NULL;
	p->line++;
	if (kept + 2 > (size_t)n) {
		config_fail(p, EINVAL, "the line is too long", "");
		return NULL;
	}
	memcpy(line, start, kept);
	line[kept] = '\n';
	line[kept + 1] = 0;
	p->text += length + (p->text[length] == '\n');
	return line;
}

/* What libinih calls for each "name = value": 0 is an error. */
static int config_take(void *ctx, const char *section, const char *name, const char *value)
{
	struct config_parse *p = ctx;
	struct config_value *v;
	char full[128], where[512];
	int i;

	snprintf(full, sizeof(full), "%s%s%s", section, *section ? "." : "", name);
	i = config_index(full);
	if (i < 0)
		return config_fail(p, EINVAL, "there is no such setting: ", full);
	v = &p->config->at[i];
	/* The last of several settings wins. */
	free(v->text);
	free(v->where);
	snprintf(where, sizeof(where), "%s:%u: %s", p->path, p->line, full);
	v->text = strdup(value);
	v->where = strdup(where);
	return v->text && v->where ? 1 : config_fail(p, ENOMEM, "out of memory", "");
}

/* The file's text with a NUL behind it. Only one that was named may be a pipe: under sudo the
 * default one may be a stranger's. */
static int config_read(const char *path, bool named, struct buf *ret)
{
	/* O_NOCTTY: a terminal that is opened must not become ours. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (named ? 0 : O_NONBLOCK));
	int error = 0;

	if (fd < 0)
		return -errno;
	while (!error) {
		void *room = buf_reserve(ret, 4096);
		ssize_t n = room ? read(fd, room, 4096) : 0;

		if (!room || ret->n > CONFIG_LIMIT)
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

/* Reads one file into the config. A default file that is missing or may not be read counts as
 * empty. -errno, and err names file and line. */
static int config_parse(struct config *c, const char *path, bool named, struct seam_error *err)
{
	struct config_parse p = { .config = c, .path = path, .err = err };
	struct buf text = { 0 };
	int error = config_read(path, named, &text), line;

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
	line = ini_parse_stream(config_next_line, &p, config_take, &p);
	if (line > 0 && !p.error) {
		p.line = (unsigned)line;
		config_fail(&p, EINVAL, "neither '[section]' nor 'name = value'", "");
	} else if (line < 0 && !p.error) {
		config_fail(&p, ENOMEM, "out of memory", "");
	}
	buf_free(&text);
	return p.error;
}

/* The path of the config file if none was named; "" if there is none. */
static void config_place(char *path, size_t n, bool *named)
{
	const char *own = getenv("SEAM_CONFIG"), *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	*named = own;
	path[0] = 0;
	if (own)
		snprintf(path, n, "%s", own);
	else if (xdg && xdg[0] == '/')
		snprintf(path, n, "%s/seam/config", xdg);
	else if (home && *home)
		snprintf(path, n, "%s/.config/seam/config", home);
}

/* The caller frees *ret with config_free. */
int config_load(struct config **ret, const char *path, struct seam_error *err)
{
	struct config *c = calloc(1, sizeof(*c));
	bool named = path;
	char place[4096];
	int error = 0;

	if (!c)
		return seam_error_set(err, ENOMEM, path, SEAM_NO_OFFSET, NULL, "out of memory");
	if (path)
		snprintf(place, sizeof(place), "%s", path);
	else
		config_place(place, sizeof(place), &named);
	if (place[0])
		error = config_parse(c, place, named, err);
	if (error) {
		config_free(c);
		return error;
	}
	*ret = c;
	return 0;
}

void config_free(struct config *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CONFIG_KEYS; i++) {
		free(c->at[i].text);
		free(c->at[i].where);
	}
	free(c);
}

/* The text of a setting, or NULL. It lives as long as the config. */
const char *config_get(const struct config *c, const char *name)
{
	int i = config_index(name);

	return c && i >= 0 ? c->at[i].text : NULL;
}

/* "FILE:LINE: NAME" for a message; "" if it is not set. */
const char *config_where(const struct config *c, const char *name)
{
	int i = config_index(name);

	return c && i >= 0 && c->at[i].where ? c->at[i].where : "";
}

/* *ret stays as it is if the setting is missing. -EINVAL: neither yes nor no. */
int config_bool(const struct config *c, const char *name, bool *ret, struct seam_error *err)
{
	static const char *const words[] = { "true", "yes", "on", "1", "false", "no", "off", "0" };
	const char *text = config_get(c, name);

	if (!text)
		return 0;
	for (size_t i = 0; i < 8; i++) {
		if (!strcasecmp(text, words[i])) {
			*ret = i < 4;
			return 0;
		}
	}
	return seam_error_set(err, EINVAL, config_where(c, name), SEAM_NO_OFFSET, NULL,
	                      "'%s' is neither true nor false", text);
}

/* Whether to use colours: NO_COLOR (no-color.org) forbids them even where the config says
 * always. */
int config_color(const struct config *c, bool *ret, struct seam_error *err)
{
	const char *text = config_get(c, "ui.color"), *no_color = getenv("NO_COLOR");
	bool always = text && !strcmp(text, "always"), never = text && !strcmp(text, "never");

	if (text && !always && !never && strcmp(text, "auto") != 0)
		return seam_error_set(err, EINVAL, config_where(c, "ui.color"), SEAM_NO_OFFSET,
		                      NULL, "'%s' is none of auto, always, never", text);
	*ret = !never && (always || isatty(STDOUT_FILENO)) && !(no_color && *no_color);
	return 0;
}
