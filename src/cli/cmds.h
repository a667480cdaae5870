/* SPDX-License-Identifier: MIT */
/* cmds.h: the commands that this program has: the rows of cmds.def. */
#ifndef SEAM_CLI_CMDS_H
#define SEAM_CLI_CMDS_H

#include "cmd/cmd.h"

/* The commands of cmds.def; a command that is not in it has no declaration, which clang says. */
#define CMD(name) extern const struct cmd cmd_##name;
#include "cli/cmds.def"
extern const struct cmd *const cmds[]; /* ends with NULL; in the order that help shows */

#endif
