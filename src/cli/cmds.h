/* SPDX-License-Identifier: MIT */
/* cmds.h: the commands that this program has: the rows of cmds.def. */
#ifndef SEAM_CLI_CMDS_H
#define SEAM_CLI_CMDS_H

#include "cmd/cmd.h"

#define CMD(name) extern const struct cmd cmd_##name;
#include "cli/cmds.def"
enum {
#define CMD(name) name##_has_a_row_in_cmds_def,
#include "cli/cmds.def"
};
/* Defines a command: COMMAND(report) = { ... }. One that has no row does not compile. */
#define COMMAND(name)                                                  \
	_Static_assert(name##_has_a_row_in_cmds_def >= 0, "cmds.def"); \
	const struct cmd cmd_##name
extern const struct cmd *const cmds[]; /* ends with NULL; in the order that help shows */

#endif
