// SPDX-License-Identifier: MIT
/*
 * terminal_name.c: which description of terminals, of those that are installed, is this one's.
 * Apart from view_terminal.c, because term.h has macros for the plainest words.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "view/terminal_name.h"

/* newterm cannot be asked: it leaks where there is no such description (ncurses 6.4). */
static bool terminal_described(const char *name)
{
	int status;

	if (setupterm(name, STDOUT_FILENO, &status) != OK)
		return false;
	del_curterm(cur_term);
	return true;
}

char *terminal_name(void)
{
	const char *term = getenv("TERM");
	char *name = term ? strdup(term) : NULL, *dash;

	while (name && !terminal_described(name)) {
		dash = strrchr(name, '-');
		if (!dash || dash == name) {
			free(name);
			return NULL;
		}
		*dash = 0;
	}
	return name;
}
