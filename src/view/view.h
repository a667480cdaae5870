/* SPDX-License-Identifier: MIT */
/*
 * view.h: a finished profile on a terminal, to be walked through by keys.
 *
 * The view is a stack of panes: a table, a call tree, the callers and callees of a function, a
 * text. A key moves in the pane on top, changes it, puts another one on it, or takes it away.
 * view_key and view_draw know no terminal: what is drawn goes through struct view_screen, so that
 * tests see what a person sees. view_terminal is the loop between both and ncurses.
 */
#ifndef SEAM_VIEW_VIEW_H
#define SEAM_VIEW_VIEW_H

#include "base/buf.h"
#include "profile/profile.h"
#include "profile/rollup.h"

/* How a piece of text stands out; a terminal without colours has bold and reverse alone. */
enum view_style {
	VIEW_PLAIN,
	VIEW_BAR,     /* the first and the last line */
	VIEW_HEADING, /* above columns */
	VIEW_HOT,     /* a large share */
	VIEW_WARM,
	VIEW_DIM,
	VIEW_STYLES,
	VIEW_CURSOR = 0x10, /* added to a style: the line that keys act on */
};

struct view_screen {
	unsigned rows, columns;
	void *ctx;
	/* Writes a text of escaped UTF-8 that fits between column and the end of the row. */
	void (*put)(void *ctx, unsigned row, unsigned column, unsigned style, const char *text);
};

/* Keys: characters stand for themselves. */
enum {
	VIEW_KEY_NONE = 0,
	VIEW_KEY_ENTER = '\n',
	VIEW_KEY_ESCAPE = 27,
	VIEW_KEY_ERASE = 127,
	VIEW_KEY_UP = 0x100,
	VIEW_KEY_DOWN,
	VIEW_KEY_LEFT,
	VIEW_KEY_RIGHT,
	VIEW_KEY_PAGE_UP,
	VIEW_KEY_PAGE_DOWN,
	VIEW_KEY_HOME,
	VIEW_KEY_END,
	VIEW_KEY_TAB,
	VIEW_KEY_BACK_TAB,
	VIEW_KEY_HELP,
};

struct feed;
struct view_compare;

/* A zoom: the samples with a value in a column. text: a command's name; else what people call
 * it. */
struct view_choice {
	bool whole;                 /* the column tells which; else text alone says what it is */
	enum rollup_column column;  /* comm, pid, tid, cpu, time */
	uint32_t number;            /* of a pid, tid or cpu */
	uint64_t start_ns, stop_ns; /* of a time: both belong to it */
	const char *text;
};

/* What is asked for by name. object: its whole path, of two sides the path's last part; "": not
 * told apart. event: NULL: the recording has one. choices: of which samples; all of them hold. */
struct view_function {
	const char *object, *symbol, *event;
	const struct view_choice *choices;
	size_t n_choices;
};

struct view_opts {
	size_t sz;
	const struct profile *profile;     /* its ids in the order of profile_canonical; NULL: it
	                                    * will come from feed */
	const char *title;                 /* the recording's name */
	const enum rollup_column *columns; /* of the first table, at least one */
	size_t n_columns;
	bool by_self;         /* rows are in the order of self at first, else of total */
	double percent_limit; /* rows and branches below this share are not shown */
	const char *account;  /* what became of the samples: lines of text, escaped */
	/* Writes a function's source and instructions as lines, escaped; NULL: there is none. What
	 * went wrong is such a line, too. It is called in a thread of its own, and gives up when
	 * the descriptor stop (-1: none) can be read. -ENOMEM; -ECANCELED. */
	int (*annotate)(void *ctx, const struct view_function *f, int stop, struct buf *out);
	void *ctx;
	/* Two sides (compare.h): their rows are the first section, profile is one of them; NULL:
	 * there is one. Lives as long as the view. Without a profile, which comes from feed, it has
	 * no rows and no sides. */
	const struct view_compare *compare;
	struct feed *feed; /* from which more comes (feed.h); NULL: nothing will */
	bool lines;        /* source lines are known of the frames */
	bool live;         /* profiles come again and again (view_renew): keys hold what is shown */
	/* From so many rows of a profile on, panes are made in a thread; 0: from as many as take
	 * longer than a person sees. */
	size_t aside_rows;
};

/* Samples in place of those that are shown. title and account: of malloc, NULL: none. */
struct view_news {
	struct profile *profile;
	bool owned; /* it is freed with this */
	char *title, *account;
	/* Two sides, of which profile is the new one, in place of those of view_opts. NULL: the
	 * same ones. */
	const struct view_compare *compare;
};
void view_news_free(struct view_news *news);

struct view;

/* -ENOMEM, or -EINVAL where the profile has no event. */
int view_new(struct view **ret, const struct view_opts *opts);
void view_free(struct view *v);
/* Does what a key asks for. 1: the view is to be left; 0; -ENOMEM. */
int view_key(struct view *v, int key);
/* Shows other samples: panes, cursors, filters and open branches stay, by name. Takes over what
 * news has, also where it fails; what is shown is held as long as the view is frozen. -ENOMEM: the
 * view can only be freed. */
int view_renew(struct view *v, struct view_news *news);
bool view_frozen(const struct view *v);
/* Can be read when a thread of the view has made something; -1: there is no such thread. */
int view_poll_fd(const struct view *v);
/* Shows it, and waits for it if need be; then does what keys that came meanwhile ask for. 1: the
 * view is to be left; 0; -ENOMEM. */
int view_finish(struct view *v);
/* Whether panes are made in a thread: how far it is changes, and is drawn in the first line. */
bool view_makes(const struct view *v);
/* A word at the end of the first line; "": none. */
void view_set_state(struct view *v, const char *text);
/* Draws all rows; a screen of less than 20 columns or 5 rows gets a line that says so. */
void view_draw(struct view *v, const struct view_screen *screen);

/* Whether there is a terminal on standard input and output that can be drawn on. */
bool view_can(void);
/* Gives the terminal back as it was, also in a signal handler. */
void view_give_back(void);
/* Shows the profile until the user leaves. color: as the terminal has it. 0; -ENOMEM; -ENOTTY. */
int view_terminal(const struct view_opts *opts, bool color);

#endif
