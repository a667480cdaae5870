// SPDX-License-Identifier: MIT
// cmds.c: the table of commands, in the order that help shows.
#include "cli/cmd.h"

extern const struct cmd cmd_help;

extern const struct cmd cmd_check;

const struct cmd *const cmds[] = {
	&cmd_check,
	&cmd_help,
	NULL,
};
