// SPDX-License-Identifier: MIT
/*
 * view_terminal.c: the view on a real terminal. The one file that draws by ncurses, and gives the
 * terminal back also when a signal ends the program.
 *
 * ncurses is only told what to put where, and gives keys back. Its mode is left at the end of
 * view_terminal, whatever ended the loop. A key, something new and a change of size are waited for
 * at one place.
 */
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/shown.h"
#include "view/feed.h"
#include "view/terminal_name.h"

#define PROGRESS_MS 100  /* between two looks at how far a thread is */
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

/* Without UTF-8 a character beyond ASCII is a '?' in each of the columns that it is counted for. */
static void terminal_put_ascii(const char *text)
{
	while (*text) {
		size_t n = 1;

		while ((text[n] & 0xc0) == 0x80)
			n++;
		if ((unsigned char)*text < 0x80)
			addch((unsigned char)*text);
		else
			for (size_t i = shown_columns(text, n); i; i--)
				addch('?');
		text += n;
	}
}

/* For view_screen.put. */
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
	else
		terminal_put_ascii(text);
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

/* Waits for a key, something new, a signal, or, while something is made, the time when it is to be
 * seen how far that is. SIGWINCH comes here and nowhere else, so that none
 * is missed between looking and waiting. Whether there is something to be read of the keyboard. */
static bool terminal_wait(const struct view *v, struct feed *feed)
{
	struct pollfd p[] = { { .fd = STDIN_FILENO, .events = POLLIN },
		              { .fd = feed ? feed_fd(feed) : -1, .events = POLLIN },
		              { .fd = view_poll_fd(v), .events = POLLIN } };
	const struct timespec progress = { .tv_nsec = PROGRESS_MS * 1000000L };
	sigset_t mask;

	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	sigdelset(&mask, SIGWINCH);
	return ppoll(p, sizeof(p) / sizeof(p[0]), view_makes(v) ? &progress : NULL, &mask) > 0 &&
	       p[0].revents;
}

/* Shows what a thread of the view has made, if it is there. What is made in less time than a person
 * sees is waited for, or until the next key: so the screen changes once. */
static int terminal_made(struct view *v)
{
	struct pollfd p[] = { { .fd = view_poll_fd(v), .events = POLLIN },
		              { .fd = STDIN_FILENO, .events = POLLIN } };

	poll(p, sizeof(p) / sizeof(p[0]), view_makes(v) ? PROGRESS_MS : 0);
	return p[0].revents ? view_finish(v) : 0;
}

/* Takes what is new. 0; 1: the view is to be left; -errno. */
static int terminal_feed(struct view *v, struct feed *feed)
{
	struct view_news news;
	struct buf state = { 0 };
	int result, r;
	bool ended;

	if (!feed)
		return 0;
	/* Asked first: what came before the end is taken below. */
	ended = feed_ended(feed, &result);
	r = feed_take(feed, &news, &state);
	view_set_state(v, buf_text(&state));
	buf_free(&state);
	if (r >= 0 && news.profile)
		r = view_renew(v, &news);
	else
		view_news_free(&news);
	if (r >= 0 && ended && result != FEED_STAYS)
		r = result < 0 ? result : 1;
	return r;
}

/* Does what all keys that wait ask for. *any: there was one. */
static int terminal_keys(struct view *v, bool *any)
{
	int key, r = 0;

	*any = false;
	while (!r && (key = getch()) != ERR) {
		*any = true;
		/* Ctrl-L: what somebody else wrote over the screen is drawn again. */
		if (key == ('L' & 0x1f))
			clearok(stdscr, TRUE);
		else if (key != KEY_RESIZE)
			r = view_key(v, terminal_key(key));
	}
	return r;
}

/* Draws, waits, and so on. Keys that come faster than the terminal draws are all done before it is
 * drawn again. */
static int terminal_loop(struct view *v, struct terminal *t, struct feed *feed)
{
	unsigned failures = 0;
	int r = terminal_feed(v, feed);

	while (!r && failures < FAILURES_MAX) {
		/* The size is asked anew: the window may have changed. */
		const struct view_screen s = { (unsigned)LINES, (unsigned)COLS, t, terminal_put };
		bool readable, any;

		erase();
		view_draw(v, &s);
		refresh();
		readable = terminal_wait(v, feed);
		r = terminal_keys(v, &any);
		failures = readable && !any ? failures + 1 : 0;
		if (!r)
			r = terminal_made(v);
		if (!r)
			r = terminal_feed(v, feed);
	}
	return r < 0 ? r : 0;
}

/* Whether the locale that is asked for has UTF-8, by its name. */
static bool terminal_asks_for_utf8(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *value = NULL;

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]) && !(value && *value); i++)
		value = getenv(variables[i]);
	return value && (strcasestr(value, ".utf8") || strcasestr(value, ".utf-8"));
}

/* What is not ASCII needs a locale of UTF-8; the C locale's users are given one, and those whose
 * own is not on this machine, as often by ssh. */
static bool terminal_utf8(void)
{
	const char *now = setlocale(LC_CTYPE, "");

	if (now ? !strcmp(now, "C") || !strcmp(now, "POSIX") : terminal_asks_for_utf8())
		setlocale(LC_CTYPE, "C.UTF-8");
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* ---- taking the terminal, and giving it back ---- */

/* What a signal handler needs: how the terminal was, and the bytes that give its screen back. */
static volatile sig_atomic_t terminal_taken;
static struct termios terminal_before;
static char terminal_last[64];
static size_t terminal_n_last;

/* Adds a string of the terminal's description, without the delays ("$<5>") that are for tputs. */
static void terminal_add_last(const char *capability)
{
	const char *at = tigetstr(capability);

	/* tigetstr has two ways to say no. */
	if (!at || at == (const char *)-1)
		return;
	while (*at && terminal_n_last < sizeof(terminal_last)) {
		if (at[0] == '$' && at[1] == '<' && strchr(at, '>'))
			at = strchr(at, '>') + 1;
		else
			terminal_last[terminal_n_last++] = *at++;
	}
}

/* Also from a signal handler. Does not wait for a terminal that was stopped (Ctrl-S). */
void view_give_back(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	if (!terminal_taken)
		return;
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
	if (poll(&out, 1, 0) > 0 && write(STDOUT_FILENO, terminal_last, terminal_n_last) < 0)
		return; /* nobody sees it then */
}

/* For signals that end the program. */
static void terminal_quit(int number)
{
	view_give_back();
	raise(number);
}

/* To be called before ncurses begins: it leaves alone what has a handler. Its own for SIGINT and
 * SIGTERM waits for a terminal that takes nothing, so that nothing would end the program there.
 * What the program has a handler for stays as it is. */
static void terminal_signals(void)
{
	const struct sigaction quit = { .sa_handler = terminal_quit, .sa_flags = SA_RESETHAND };
	const int ends[] = { SIGHUP, SIGQUIT, SIGINT, SIGTERM };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct sigaction before;

		if (!sigaction(ends[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(ends[i], &quit, NULL);
	}
}

/* What is said on stderr while the screen is taken would be written over it: it is kept, and said
 * when the screen is given back. The descriptor that stderr was; -1: it is no terminal. */
static int terminal_hold_messages(void)
{
	int before, held;

	if (!isatty(STDERR_FILENO))
		return -1;
	held = memfd_create("seam-messages", MFD_CLOEXEC);
	before = held < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (before >= 0)
		dup2(held, STDERR_FILENO);
	if (held >= 0)
		close(held);
	return before;
}

/* Says what was kept. */
static void terminal_say_messages(int before)
{
	char text[4096];
	ssize_t n;
	off_t at = 0;
	int held;

	if (before < 0)
		return;
	fflush(stderr);
	held = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(before, STDERR_FILENO);
	close(before);
	while (held >= 0 && (n = pread(held, text, sizeof(text), at)) > 0) {
		at += n;
		if (write(STDERR_FILENO, text, (size_t)n) < 0)
			break;
	}
	if (held >= 0)
		close(held);
}

/* Sets how keys come and what the screen looks like. */
static void terminal_start(struct terminal *t)
{
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	terminal_styles(t);
	terminal_n_last = 0;
	terminal_add_last("sgr0");
	terminal_add_last("rmkx");
	terminal_add_last("cnorm");
	terminal_add_last("rmcup");
	terminal_taken = true;
}

/* By the description that TERM names, or its kind's. NULL: none is known. */
static SCREEN *terminal_screen(void)
{
	char *name = terminal_name();
	SCREEN *screen = name ? newterm(name, stdout, stdin) : NULL;

	free(name);
	return screen;
}

/* Takes the terminal, and gives it back at the end; signals that end the program do so, too. */
int view_terminal(const struct view_opts *opts, bool color)
{
	struct terminal t = { .color = color, .utf8 = terminal_utf8() };
	sigset_t resized, mask;
	struct view *v;
	SCREEN *screen;
	int r = view_new(&v, opts), messages;

	if (r < 0)
		return r;
	tcgetattr(STDIN_FILENO, &terminal_before);
	terminal_signals();
	screen = terminal_screen();
	if (!screen) {
		view_free(v);
		return -ENOTTY;
	}
	messages = terminal_hold_messages();
	sigemptyset(&resized);
	sigaddset(&resized, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, &resized, &mask);
	terminal_start(&t);
	r = terminal_loop(v, &t, opts->feed);
	endwin();
	terminal_taken = false;
	delscreen(screen);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	terminal_say_messages(messages);
	view_free(v);
	return r;
}
