/* SPDX-License-Identifier: MIT */
/* help.h: the command that tells of the others; cmd_help has no run of its own. all: the table,
 * which ends with NULL. */
#ifndef SEAM_CLI_HELP_H
#define SEAM_CLI_HELP_H

#include <stdio.h>

#include "cmd/cmd.h"

/* Writes the page, help or completion that was asked for to standard output. An exit code. */
int help_run(int argc, char **argv, const struct cmd *self, const struct cmd *const *all);
/* All commands, a line each. */
void help_commands(FILE *out, const struct cmd *const *all);

#endif
