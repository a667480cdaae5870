// SPDX-License-Identifier: MIT
/*
 * view_terminal.c: the view on a real terminal. The one file that knows ncurses, which gives the
 * terminal back also when a signal ends the program.
 *
 * ncurses is only told what to put where, and gives keys back. Its mode is left at the end of
 * view_terminal, whatever ended the loop.
 */
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "view/view.h"

#define ESCAPE_MS 25     /* within which the rest of a key follows an escape */
#define FAILURES_MAX 100 /* reads without a key, one after the other: the terminal is gone */

struct terminal {
	bool color, utf8;
	chtype style[VIEW_STYLES];
};

/* Whether both ends are a terminal that can move its cursor. */
bool view_can(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

/* For view_screen.put. Without UTF-8 each character beyond ASCII is a '?'. */
static void terminal_put(void *ctx, unsigned row, unsigned column, unsigned style, const char *text)
{
	const struct terminal *t = ctx;
	chtype attributes = t->style[style & (VIEW_CURSOR - 1)];

	if (style & VIEW_CURSOR)
		attributes |= A_REVERSE;
	attrset(attributes);
	move((int)row, (int)column);
	if (t->utf8)
		addstr(text);
	for (; !t->utf8 && *text; text++)
		if ((*text & 0xc0) != 0x80)
			addch((unsigned char)*text < 0x80 ? (unsigned char)*text : '?');
	attrset(A_NORMAL);
}

/* How styles look: with 8 colours or more, or without any. */
static void terminal_styles(struct terminal *t)
{
	t->color = t->color && has_colors() && start_color() == OK;
	t->style[VIEW_BAR] = A_REVERSE;
	t->style[VIEW_HEADING] = A_BOLD;
	t->style[VIEW_HOT] = A_BOLD;
	t->style[VIEW_DIM] = t->color ? A_DIM : A_NORMAL;
	if (!t->color)
		return;
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_GREEN, -1);
	t->style[VIEW_HOT] = COLOR_PAIR(1) | A_BOLD;
	t->style[VIEW_WARM] = COLOR_PAIR(2);
}

/* Keys of ncurses and control characters, in the view's words. All others are what they are. */
static const struct {
	int curses, key;
} keys[] = {
	{ KEY_UP, VIEW_KEY_UP },
	{ KEY_DOWN, VIEW_KEY_DOWN },
	{ KEY_LEFT, VIEW_KEY_LEFT },
	{ KEY_RIGHT, VIEW_KEY_RIGHT },
	{ KEY_PPAGE, VIEW_KEY_PAGE_UP },
	{ KEY_NPAGE, VIEW_KEY_PAGE_DOWN },
	{ KEY_HOME, VIEW_KEY_HOME },
	{ KEY_END, VIEW_KEY_END },
	{ KEY_ENTER, VIEW_KEY_ENTER },
	{ '\r', VIEW_KEY_ENTER },
	{ '\t', VIEW_KEY_TAB },
	{ KEY_BTAB, VIEW_KEY_BACK_TAB },
	{ KEY_BACKSPACE, VIEW_KEY_ERASE },
	{ '\b', VIEW_KEY_ERASE },
	{ KEY_F(1), VIEW_KEY_HELP },
	{ 'U' & 0x1f, VIEW_KEY_PAGE_UP },
	{ 'B' & 0x1f, VIEW_KEY_PAGE_UP },
	{ 'D' & 0x1f, VIEW_KEY_PAGE_DOWN },
	{ 'F' & 0x1f, VIEW_KEY_PAGE_DOWN },
};

static int terminal_key(int curses)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == curses)
			return keys[i].key;
	return curses < 0x100 ? curses : VIEW_KEY_NONE;
}

/* Draws, waits for a key, and so on. */
static int terminal_loop(struct view *v, struct terminal *t)
{
	unsigned failures = 0;
	int r = 0;

	while (!r && failures < FAILURES_MAX) {
		/* The size is asked anew: the window may have changed. */
		const struct view_screen s = { (unsigned)LINES, (unsigned)COLS, t, terminal_put };
		int key;

		erase();
		view_draw(v, &s);
		refresh();
		key = getch();
		failures = key == ERR ? failures + 1 : 0;
		/* Ctrl-L: what somebody else wrote over the screen is drawn again. */
		if (key == ('L' & 0x1f))
			clearok(stdscr, TRUE);
		else if (key != ERR && key != KEY_RESIZE)
			r = view_key(v, terminal_key(key));
	}
	return r < 0 ? r : 0;
}

/* What is not ASCII needs a locale of UTF-8; the C locale's users are given one. */
static bool terminal_utf8(void)
{
	const char *now = setlocale(LC_CTYPE, "");

	if (now && (!strcmp(now, "C") || !strcmp(now, "POSIX")))
		setlocale(LC_CTYPE, "C.UTF-8");
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* Takes the terminal, and gives it back at the end; ncurses does so when a signal ends it. */
int view_terminal(const struct view_opts *opts, bool color)
{
	struct terminal t = { .color = color, .utf8 = terminal_utf8() };
	struct view *v;
	SCREEN *screen;
	int r = view_new(&v, opts);

	if (r < 0)
		return r;
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		view_free(v);
		return -ENOTTY;
	}
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	curs_set(0);
	terminal_styles(&t);
	r = terminal_loop(v, &t);
	endwin();
	delscreen(screen);
	view_free(v);
	return r;
}
