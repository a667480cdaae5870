/* SPDX-License-Identifier: MIT */
/* manual.h: what is made of a table of commands, on standard output. A table ends with NULL. */
#ifndef SEAM_CMD_MANUAL_H
#define SEAM_CMD_MANUAL_H

#include "cmd/cmd.h"

/* The man page of a command, as roff. */
void manual_page(const struct cmd *cmd, const char *version);
/* seam(1), which lists the commands. */
void manual_overview(const struct cmd *const *all, const char *version);
/* The completion file for bash, fish or zsh. EXIT_OK, or EXIT_USAGE after saying that the shell is
 * none of these. */
int manual_completion(const struct cmd *self, const struct cmd *const *all, const char *shell);

#endif
