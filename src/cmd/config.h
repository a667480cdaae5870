/* SPDX-License-Identifier: MIT */
/*
 * config.h: the user's defaults: --config FILE, else $SEAM_CONFIG, else
 * $XDG_CONFIG_HOME/seam/config, else ~/.config/seam/config. Sections and "name = value" lines, #
 * and ; comments:
 *
 *	[call-graph]
 *	record-mode = fp,defer
 *
 * Values stay text: a command hands them to the same parser as its options, so both are spelled
 * alike and checked by the same rules. A name that no command knows is an error, never passed over.
 */
#ifndef SEAM_CMD_CONFIG_H
#define SEAM_CMD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include <seam/error.h>

struct config_key {
	const char *name; /* "record.freq" */
	const char *help; /* one line, lower case, no full stop */
};

struct config;

/*
 * path NULL: the places above, where no file that may be read is no error and gives an empty
 * config; SEAM_CONFIG set and empty: no file. -ENOENT, -EACCES ...: a file that was named cannot be
 * read; -EINVAL: a line cannot be understood, err->text is "FILE:LINE: ...".
 */
int config_load(struct config **ret, const char *path, struct seam_error *err);
void config_free(struct config *c);
/* The value of a name in config_keys; NULL when it is not set. The last one in the file holds. */
const char *config_get(const struct config *c, const char *name);
/* "FILE:LINE: record.freq": where the value was set, for messages. "" when it is not set. */
const char *config_where(const struct config *c, const char *name);
/* true/yes/on/1 or false/no/off/0; *ret is untouched when it is not set. -EINVAL fills err. */
int config_bool(const struct config *c, const char *name, bool *ret, struct seam_error *err);
/* ui.color; auto, also where it is not set: colours on terminals. $NO_COLOR forbids them whatever
 * it says. -EINVAL fills err. */
int config_color(const struct config *c, bool *ret, struct seam_error *err);

#endif
