// SPDX-License-Identifier: MIT
/*
 * settings.c: see settings.h. Lines are kept with the places where they stand, so that what a
 * command finds wrong with one is told with it.
 */
#include "cmd/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "cmd/inifile.h"

/* "--name=value" for an option that takes a value; "--name" for one that does not. */
static char *settings_text(const struct inifile_line *line)
{
	struct buf text = { 0 };
	static const char *const yes[] = { "true", "yes", "on" };
	bool bare = false;

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		bare |= !strcasecmp(line->value, yes[i]);
	buf_printf(&text, bare ? "--%s" : "--%s=%s", line->name, line->value);
	buf_put(&text, "", 1);
	if (!text.failed)
		return (char *)text.bytes;
	buf_free(&text);
	return NULL;
}

/* An inifile_take: keeps the line. */
static int settings_take(void *ctx, const struct inifile_line *line, struct seam_error *err)
{
	struct settings *s = ctx;
	struct setting *more = realloc(s->at, (s->n + 1) * sizeof(*more)), *at;

	if (more) {
		s->at = more;
		at = &s->at[s->n++];
		*at = (struct setting){ .where = strdup(line->where),
			                .section = strdup(line->section),
			                .name = strdup(line->name),
			                .value = strdup(line->value),
			                .option = settings_text(line) };
		if (at->where && at->section && at->name && at->value && at->option)
			return 0;
	}
	return seam_error_set(err, ENOMEM, line->where, SEAM_NO_OFFSET, NULL, "out of memory");
}

int settings_load(struct settings *ret, const char *path, struct seam_error *err)
{
	return inifile_read(path, true, settings_take, ret, err);
}

void settings_free(struct settings *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->at[i].where);
		free(s->at[i].section);
		free(s->at[i].name);
		free(s->at[i].value);
		free(s->at[i].option);
	}
	free(s->at);
	*s = (struct settings){ 0 };
}

/* Walks a command line of this one option. Where it stands is told after what is wrong with it. */
int settings_option(const struct setting *s, const struct cmd *cmd, struct options *o)
{
	static const char *const no[] = { "false", "no", "off" };
	char *argv[] = { (char *)cmd->name, s->option, NULL };
	int id;

	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (!strcasecmp(s->value, no[i]))
			return OPTIONS_END;
	*o = options_start(2, argv, cmd);
	id = options_next(o);
	if (id <= 0)
		cmd_error(cmd, "that is in %s: %s", s->where, s->name);
	/* argv was this function's; the argument is the setting's. */
	o->argv = NULL;
	return id > 0 ? id : OPTIONS_USAGE;
}
