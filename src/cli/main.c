// SPDX-License-Identifier: MIT
// main.c: finds the command and runs it. Knows nothing of what commands do.
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"

#ifndef SEAM_VERSION
#define SEAM_VERSION "unknown"
#endif

static void main_help(FILE *out)
{
	fprintf(out, "Usage: seam COMMAND [options]\n\n"
	             "A sampling profiler for Linux that gives every sample its whole "
	             "stack.\n\nCommands:\n");
	for (const struct cmd *const *c = cmds; *c; c++)
		fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
	fprintf(out, "\n'seam COMMAND --help' tells more.\n");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		main_help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") ||
	    (!strcmp(name, "help") && argc == 2)) {
		main_help(stdout);
		return EXIT_OK;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V") || !strcmp(name, "version")) {
		printf("seam %s\n", SEAM_VERSION);
		return EXIT_OK;
	}
	if (!strcmp(name, "help"))
		name = argv[2];
	for (const struct cmd *const *c = cmds; *c; c++) {
		if (strcmp((*c)->name, name))
			continue;
		if (name == argv[2]) {
			cmd_print_help(*c);
			return EXIT_OK;
		}
		return (*c)->run(argc - 1, argv + 1, *c);
	}
	fprintf(stderr, "seam: '%s' is not a command; 'seam --help' lists them\n", name);
	return EXIT_USAGE;
}
