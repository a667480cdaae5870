/* SPDX-License-Identifier: MIT */
/* schema.h: the JSON Schema of what a command prints with --json, made of docs/json.md by the
 * build. */
#ifndef SEAM_CLI_SCHEMA_H
#define SEAM_CLI_SCHEMA_H

#include "cmd/cmd.h"

/* Prints the schema of the command, which must have one. An exit code. */
int schema_print(const struct cmd *cmd);

#endif
