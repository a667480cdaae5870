// SPDX-License-Identifier: MIT
// main.c: finds the command and runs it. Knows nothing of what commands do.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmds.h"
#include "cli/help.h"
#include "input/unpacked.h"

/* A file that is opened while descriptor 0, 1 or 2 is closed would take its number, and receive
 * what is printed. So /dev/null is opened there, in the wrong direction, so that using it still
 * fails; programs that are executed find it closed. */
static bool main_holds_standard_files(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", modes[fd] | O_CLOEXEC) != fd)
			return false;
	return true;
}

/* What a command printed is its answer: where that cannot be written, it failed, unless it said so
 * itself. */
static int main_flush(const struct cmd *cmd, int code)
{
	if (code == EXIT_FAILED || cmd_print_failed())
		return EXIT_FAILED;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (errno != EPIPE)
		cmd_error(cmd, "standard output: %s", strerror(errno ? errno : EIO));
	return EXIT_FAILED;
}

/*
 * Handles SIGBUS: somebody cut a file while its pages were mapped, a recording or a file that libdw
 * maps. A part of it is gone, so no answer can be complete. The program ends and says so, because
 * it is not a fault of its own.
 */
static void main_on_cut_file(int number, siginfo_t *info, void *context)
{
	static const char text[] = "seam: a file was cut by somebody else while it was read: "
	                           "nothing more can be told of it\n";

	(void)context;
	if (info->si_code != BUS_ADRERR) {
		/* Another cause: the default action ends the program. */
		signal(number, SIG_DFL);
		return; /* to where it comes from, once more */
	}
	/* What was unpacked must not stay behind. */
	unpacked_remove();
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED); /* nobody is there to be told */
	_exit(EXIT_FAILED);
}

/* Runs the command that the first word names. Its exit code is the program's, unless its output
 * could not be written. */
int main(int argc, char **argv)
{
	struct sigaction cut = { .sa_sigaction = main_on_cut_file, .sa_flags = SA_SIGINFO };
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!main_holds_standard_files())
		return EXIT_FAILED;
	sigaction(SIGBUS, &cut, NULL);
	if (!name) {
		help_commands(stderr, cmds);
		return EXIT_USAGE;
	}
	/* These are no commands, but people ask for them like that. */
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	if (!strcmp(name, "--version") || !strcmp(name, "-V") || !strcmp(name, "version")) {
		printf("seam %s\n", SEAM_VERSION);
		return EXIT_OK;
	}
	for (const struct cmd *const *c = cmds; *c; c++) {
		if (strcmp((*c)->name, name) != 0)
			continue;
		return main_flush(*c, (*c)->run ? (*c)->run(argc - 1, argv + 1, *c)
		                                : help_run(argc - 1, argv + 1, *c, cmds));
	}
	cmd_print(stderr, "seam: '%s' is not a command; 'seam --help' lists them\n", name);
	return EXIT_USAGE;
}
