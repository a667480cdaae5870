// SPDX-License-Identifier: MIT
// cmds.c: the table of commands.
#include "cli/cmd.h"

#define CMD(name) extern const struct cmd cmd_##name;
#include "cli/cmds.def"

const struct cmd *const cmds[] = {
#define CMD(name) &cmd_##name,
#include "cli/cmds.def"
	NULL,
};
