// SPDX-License-Identifier: MIT
// cmds.c: the table of commands, in the order that help shows.
#include "cli/cmd.h"

extern const struct cmd cmd_dump;
extern const struct cmd cmd_help;

const struct cmd *const cmds[] = {
	&cmd_dump,
	&cmd_help,
	NULL,
};
