// SPDX-License-Identifier: MIT
// main.c: finds the command and runs it. Knows nothing of what commands do.
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"

void cmds_print(FILE *out)
{
	fprintf(out, "Usage: seam COMMAND [options]\n\n"
	             "A sampling profiler for Linux that gives every sample its whole "
	             "stack.\n\nCommands:\n");
	for (const struct cmd *const *c = cmds; *c; c++)
		fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
	fprintf(out, "\n'seam help COMMAND' tells more.\n");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		cmds_print(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	if (!strcmp(name, "--version") || !strcmp(name, "-V") || !strcmp(name, "version")) {
		printf("seam %s\n", SEAM_VERSION);
		return EXIT_OK;
	}
	for (const struct cmd *const *c = cmds; *c; c++) {
		if (!strcmp((*c)->name, name))
			return (*c)->run(argc - 1, argv + 1, *c);
	}
	fprintf(stderr, "seam: '%s' is not a command; 'seam --help' lists them\n", name);
	return EXIT_USAGE;
}
