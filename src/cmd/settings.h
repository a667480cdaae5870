/* SPDX-License-Identifier: MIT */
/*
 * settings.h: a file that says what the options of one command say: "name = value" below [COMMAND]
 * is --name=value, and a name alone is "name = true". Other sections are the command's own. So both
 * are spelled alike and checked by the same code.
 */
#ifndef SEAM_CMD_SETTINGS_H
#define SEAM_CMD_SETTINGS_H

#include "cmd/cmd.h"

struct settings {
	struct setting {
		char *where; /* "FILE:LINE", for messages */
		char *section, *name, *value;
		char *option; /* "--name=value", "--name" */
	} * at;
	size_t n;
};

/* Zero-initialise *ret; settings_free, also on failure. -errno, and err says what is wrong, and
 * where. */
int settings_load(struct settings *ret, const char *path, struct seam_error *err);
void settings_free(struct settings *s);
/* The option that a setting is, as options_next gives it; *o holds its argument as long as the
 * settings live. OPTIONS_END: "name = false". OPTIONS_USAGE: there is none, which was said. */
int settings_option(const struct setting *s, const struct cmd *cmd, struct options *o);

#endif
