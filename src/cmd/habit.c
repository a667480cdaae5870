// SPDX-License-Identifier: MIT
/*
 * habit.c: see habit.h. Knows perf's options and which command of seam answers the same question.
 * Options that seam has are not listed.
 *
 * People who come from perf type perf's options. An unknown option is looked up here, so that the
 * message says what does the same.
 */
#include "cmd/habit.h"

#include <string.h>

#define READERS "report script annotate"

/* One row: in which commands, which options (one letter or a long name), and what to do instead. */
struct habit {
	const char *commands; /* names, by spaces */
	const char *options;  /* of one meaning, by spaces */
	const char *instead;
};

static const struct habit habits[] = {
	{ "script annotate", "D dump-raw-trace", "seam dump prints every record" },
	{ "script annotate", "header header-only I show-info", "seam header prints it" },
	{ READERS, "v verbose", "what could not be read, and why, is said without it" },
	{ "report annotate", "tui gtk",
	  "text is the only form; seam flame makes a page to look into" },
	{ "report", "mmaps", "seam script --show-mmap-events prints them" },
	{ "report annotate", "M disassembler-style", "disassembly is in the form of AT&T" },
	{ "script", "S symbols d dsos", "seam report -S and -d choose functions and objects" },
	{ "script", "s script g gen-script",
	  "seam script prints what perf script does, for a pipe; seam export writes other tools' "
	  "forms" },
	{ "record", "b branch-any j branch-filter", "seam takes no branch records" },
	{ "record", "s stat n no-samples", "seam counts nothing without samples" },
	{ "record", "S snapshot overwrite switch-output",
	  "a recording is one file; --max-size and --duration end it" },
	{ "record", "filter exclude-perf",
	  "tasks are chosen with -p, -t, --uid, --comm and --cgroup; events are not filtered" },
	{ "record", "I intr-regs user-regs", "--call-graph dwarf takes the user's registers" },
	{ "record", "per-thread", "-t records single threads, -i does not follow children" },
	{ "top", "U K hide_user_symbols hide_kernel_symbols",
	  "-e cpu-clock:u and :k choose a side" },
	{ "top", "u uid", "seam record --uid, then seam report" },
	{ "top", "c count comms dsos symbols", "seam record, then seam report" },
};

/* Whether a list has a word, as a whole. */
static int habit_among(const char *list, const char *word, size_t n)
{
	while (*list) {
		size_t size = strcspn(list, " ");

		if (size == n && !memcmp(list, word, n))
			return 1;
		list += size + (list[size] == ' ');
	}
	return 0;
}

/* NULL: it is an option that perf does not have either. */
const char *habit_instead(const char *command, const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
		if (habit_among(habits[i].commands, command, strlen(command)) &&
		    habit_among(habits[i].options, name, n))
			return habits[i].instead;
	return NULL;
}
