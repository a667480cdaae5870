// SPDX-License-Identifier: MIT
// cmds.c: the table of commands, in the order that help shows.
#include "cli/cmd.h"

extern const struct cmd cmd_annotate;
extern const struct cmd cmd_archive;
extern const struct cmd cmd_check;
extern const struct cmd cmd_convert;
extern const struct cmd cmd_diff;
extern const struct cmd cmd_dump;
extern const struct cmd cmd_evlist;
extern const struct cmd cmd_export;
extern const struct cmd cmd_flame;
extern const struct cmd cmd_header;
extern const struct cmd cmd_help;
extern const struct cmd cmd_record;
extern const struct cmd cmd_recover;
extern const struct cmd cmd_report;
extern const struct cmd cmd_script;
extern const struct cmd cmd_stat;
extern const struct cmd cmd_top;

// A line each: clang-format 14 would put them in columns.
// clang-format off
const struct cmd *const cmds[] = {
	&cmd_record,
	&cmd_top,
	&cmd_report,
	&cmd_diff,
	&cmd_annotate,
	&cmd_script,
	&cmd_dump,
	&cmd_evlist,
	&cmd_header,
	&cmd_stat,
	&cmd_convert,
	&cmd_export,
	&cmd_flame,
	&cmd_archive,
	&cmd_recover,
	&cmd_check,
	&cmd_help,
	NULL,
};
// clang-format on
