// SPDX-License-Identifier: MIT
/*
 * config.c: knows where the config file is and which names it may hold. inifile.h knows its syntax.
 *
 * Settings are read once, when a command starts; an option of the command line wins over each.
 * Invariant: a name that is not in the table is an error, because a setting that is misspelt would
 * do nothing without a word.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cmd/config.h"
#include "cmd/inifile.h"

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
	{ "source.dirs", "whose source files may be shown, as --source-dir" },
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

/* -1: there is no such setting. */
static int config_index(const char *name)
{
	for (int i = 0; config_keys[i].name; i++) {
		if (!strcmp(config_keys[i].name, name))
			return i;
	}
	return -1;
}

/* An inifile_take. */
static int config_take(void *ctx, const struct inifile_line *line, struct seam_error *err)
{
	struct config *c = ctx;
	struct config_value *v;
	char full[128], where[512];
	int i;

	snprintf(full, sizeof(full), "%s%s%s", line->section, *line->section ? "." : "",
	         line->name);
	i = config_index(full);
	if (i < 0)
		return seam_error_set(err, EINVAL, line->where, SEAM_NO_OFFSET, NULL,
		                      "there is no such setting: %s", full);
	v = &c->at[i];
	/* The last of several settings wins. */
	free(v->text);
	free(v->where);
	snprintf(where, sizeof(where), "%s: %s", line->where, full);
	v->text = strdup(line->value);
	v->where = strdup(where);
	if (v->text && v->where)
		return 0;
	return seam_error_set(err, ENOMEM, line->where, SEAM_NO_OFFSET, NULL, "out of memory");
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
		error = inifile_read(place, named, config_take, c, err);
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
