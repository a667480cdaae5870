/* SPDX-License-Identifier: MIT */
/* record_run.h: one recording from beginning to end. */
#ifndef SEAM_CLI_RECORD_RUN_H
#define SEAM_CLI_RECORD_RUN_H

#include "asked/record_options.h"

/* Records as o says. Returns the exit code of the program. */
int record_run(struct record_opts *o, const struct cmd *cmd);

#endif
