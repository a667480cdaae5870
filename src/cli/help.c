// SPDX-License-Identifier: MIT
// help.c: `seam help`: what is told of the commands, out of the table that main.c hands over. It is
// a row of that table itself, and so cannot name it.
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/cmds.h"
#include "cmd/manual.h"

/* Also shown for a command line without a command, then on stderr. */
void help_commands(FILE *out, const struct cmd *const *all)
{
	cmd_print(out, "Usage: seam COMMAND [options]\n\n"
	               "A sampling profiler for Linux that gives every sample its whole "
	               "stack.\n\nCommands:\n");
	for (const struct cmd *const *c = all; *c; c++)
		cmd_print(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
	cmd_print(out, "\n'seam help COMMAND' tells more.\n");
}

/* NULL after saying that there is no such command. */
static const struct cmd *help_find(const struct cmd *self, const struct cmd *const *all,
                                   const char *name)
{
	for (const struct cmd *const *c = all; *c; c++) {
		if (!strcmp((*c)->name, name))
			return *c;
	}
	cmd_error(self, "'%s' is not a command; 'seam --help' lists them", name);
	return NULL;
}

enum {
	OPT_MAN = 1,
	OPT_COMPLETION
};

/* Writes the page or completion that was asked for to standard output. An exit code. */
int help_run(int argc, char **argv, const struct cmd *self, const struct cmd *const *all)
{
	struct options o = options_start(argc, argv, self);
	const char *name = NULL, *shell = NULL;
	const struct cmd *cmd;
	bool man = false;
	int id;

	while ((id = options_next(&o)) != OPTIONS_END) {
		switch (id) {
		case OPTIONS_OPERAND:
			name = o.arg;
			break;
		case OPT_MAN:
			man = true;
			break;
		case OPT_COMPLETION:
			shell = o.arg;
			break;
		case OPTIONS_HELP:
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (shell)
		return manual_completion(self, all, shell);
	if (!name || !strcmp(name, "seam")) {
		if (man)
			manual_overview(all, SEAM_VERSION);
		else
			help_commands(stdout, all);
		return EXIT_OK;
	}
	cmd = help_find(self, all, name);
	if (!cmd)
		return EXIT_USAGE;
	if (man)
		manual_page(cmd, SEAM_VERSION);
	else
		cmd_print_help(cmd);
	return EXIT_OK;
}

static const struct option_def help_options[] = {
	{ "man", 0, NULL, "print the man page, as roff", OPT_MAN },
	{ "completion", 0, "SHELL", "print the completion file for bash, fish or zsh",
	  OPT_COMPLETION },
	{ 0 },
};

COMMAND(help) = {
	.name = "help",
	.synopsis = "[COMMAND]",
	.summary = "Tell how a command is used",
	.options = help_options,
};
