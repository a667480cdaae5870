// SPDX-License-Identifier: MIT
// cmds.c: the table of commands.
#include "cli/cmds.h"

const struct cmd *const cmds[] = {
#define CMD(name) &cmd_##name,
#include "cli/cmds.def"
	NULL,
};
