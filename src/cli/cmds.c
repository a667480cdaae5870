// SPDX-License-Identifier: MIT
// cmds.c: the table of commands, in the order that help shows.
#include "cli/cmd.h"

extern const struct cmd cmd_check;
extern const struct cmd cmd_dump;
extern const struct cmd cmd_help;
extern const struct cmd cmd_record;
extern const struct cmd cmd_report;
extern const struct cmd cmd_script;

// A line each:
// clang-format off
const struct cmd *const cmds[] = {
	&cmd_record,
	&cmd_report,
	&cmd_script,
	&cmd_dump,
	&cmd_check,
	&cmd_help,
	NULL,
};
// clang-format on
