// SPDX-License-Identifier: MIT
// cmds.c: the table of commands, in the order that help shows.
#include "cli/cmd.h"

const struct cmd *const cmds[] = {
	NULL,
};
