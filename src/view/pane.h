/* SPDX-License-Identifier: MIT */
/*
 * pane.h: what the panes of a view share: which samples they show, where the cursor is, and the
 * functions that each kind of pane has.
 *
 * A pane is a list of n lines. It draws a line when it is asked to, so that a pane of a million
 * lines costs what is on the screen.
 */
#ifndef SEAM_VIEW_PANE_H
#define SEAM_VIEW_PANE_H

#include "view/fold.h"
#include "view/marks.h"
#include "view/view.h"
#include "profile/tree.h"

/* The samples that a pane shows. Panes share it; the last one frees it. Which ones it has is kept
 * as text: so it can be made again of another profile. */
struct pane_scope {
	unsigned users;
	enum {
		PANE_ALL,
		PANE_OBJECT,  /* the functions of one object; the samples are those below */
		PANE_SAMPLES, /* those with a value in a column of whole stacks */
		PANE_MARKED,  /* those with a marked function in their stack */
	} what;
	enum rollup_column column;
	uint32_t number;  /* the value, unless it is a text */
	struct buf value; /* the object's path, the command's name */
	const struct profile *profile;
	struct profile *owned; /* the same, if it was made for this scope; else NULL */
	/* The same of the baseline, where two sides are compared: profile is the new one's. NULL:
	 * there is one side. */
	struct pane_scope *base;
	const struct view_compare *compare; /* those sides; NULL: there is one */
	bool *shown;                        /* by frame: those of one object; NULL: all */
	struct buf label; /* "gcc", "libc.so.6": behind the title; empty: everything */
	char *event_name;
	uint32_t event;           /* PANE_NO_EVENT: the profile has none of that name */
	uint64_t weight, samples; /* of the event */
	struct watched *watched;  /* of the view: who makes panes of it looks there */
};

#define PANE_NO_EVENT UINT32_MAX
/* The event of this name. */
uint32_t pane_event(const struct profile *p, const char *name);

/* A new one: all of a profile, or what is kept of it. event: its name, which is copied. NULL: out
 * of memory. */
struct pane_scope *pane_scope_new(const struct profile *p, const char *event,
                                  struct watched *watched);
struct pane_scope *pane_scope_share(struct pane_scope *s);
void pane_scope_free(struct pane_scope *s);

struct pane;

#define PANE_KEYS 8
/* Keys, as many as are not 0, and what they do. */
struct pane_key {
	int keys[PANE_KEYS];
	const char *text;
};

/* Those of a tree (fold.h). */
#define PANE_FOLD_KEYS(hottest)                                                                 \
	{ { VIEW_KEY_ENTER, 'e' }, "open or close" }, { { VIEW_KEY_RIGHT, 'l', '+' }, "open" }, \
	        { { VIEW_KEY_LEFT, 'h', '-' }, "close; back, where nothing is to be closed" },  \
	        { { 'E', 'C' }, "open all, close all" },                                        \
	{                                                                                       \
		{ 'H' }, "go the way down " hottest                                             \
	}

struct pane_kind {
	const char *name; /* in the first line */
	const char *keys; /* its own ones, in the last line */
	void (*free)(struct pane *p);
	/* Draws the line above the others, and line i of the list. */
	void (*heading)(struct pane *p, const struct view_screen *s, unsigned row);
	void (*line)(struct pane *p, const struct view_screen *s, unsigned row, size_t i,
	             unsigned style);
	/* Shows only what has the pane's filter in it. -ENOMEM. */
	int (*filter)(struct pane *p);
	/* What line i is, whatever the filter. NULL: filter keeps the cursor on its line when there
	 * is none any more. */
	uint64_t (*id)(const struct pane *p, size_t i);
	/* A pane that shows the same of another scope, which takes long where there are many
	 * samples. NULL: out of memory, or not wanted any more. No such function: a pane of text,
	 * which stays as it is. */
	struct pane *(*again)(const struct pane *p, struct pane_scope *s);
	/* Of a list whose lines are made as far as they are looked at: makes them up to n, if there
	 * are so many, or to the one that is sought. -ENOMEM. NULL: all are there. */
	int (*reach)(struct pane *p, size_t n);
	/* What a person did in the old pane holds in the new one, which has its filter already: the
	 * cursor stays on what it is on, if that is there. */
	void (*adopt)(struct pane *p, const struct pane *old);
	/* To be called before the lines are drawn: how wide they may be. -ENOMEM. NULL: the list is
	 * the same for all widths. */
	int (*layout)(struct pane *p, unsigned columns);
	/* The keys of its own, up to one without a text; NULL: none. */
	const struct pane_key *own;
	/* One of these. 1; 0: it is for who has the pane, this time; -ENOMEM. NULL: none. */
	int (*key)(struct pane *p, int key);
	bool things; /* a line stands for samples that can be chosen */
	/* The pane that Enter opens on line i; *ret stays NULL where there is none. -ENOMEM. NULL:
	 * what function gives is shown between its callers and callees. */
	int (*enter)(struct pane *p, size_t i, struct pane **ret);
	/* The function on a line; false: there is none. NULL: there is none on any. Object 0 with a
	 * symbol: the line tells no objects apart. */
	bool (*function)(struct pane *p, size_t i, uint32_t *object, uint32_t *symbol);
	/* The same in a pane of two sides, which have names in common and nothing else. *object:
	 * the path's last part; "": the line tells no objects apart. */
	bool (*names)(struct pane *p, size_t i, const char **object, const char **symbol);
};

struct pane {
	const struct pane_kind *kind;
	const struct view_opts *opts;
	struct pane_scope *scope;
	unsigned section;          /* of the lowest pane of a scope: which one it is */
	size_t n;                  /* lines, as far as they are made */
	bool more;                 /* there are others behind them */
	bool seeks;                /* the line that the cursor belongs on is one of these */
	size_t at, top;            /* the line of the cursor; the first one on the screen */
	const struct marks *marks; /* of the view; NULL: none yet */
	bool is_section;           /* one of the view's; it is of the samples, also if a text */
	bool all_events;           /* its lines say their event */
	struct buf filter;         /* a part of the names that are shown; empty: all */
	struct pane *below;
};

/* Each makes a pane of its kind that uses a scope. NULL: out of memory. */
struct pane *pane_table(const struct view_opts *opts, struct pane_scope *s,
                        const enum rollup_column *columns, size_t n, bool by_self);
struct pane *pane_tree(const struct view_opts *opts, struct pane_scope *s, enum tree_order order);
struct pane *pane_calls(const struct view_opts *opts, struct pane_scope *s, uint32_t object,
                        uint32_t symbol);
/* Takes the text over. prose: lines that are longer than the screen is wide are broken. */
struct pane *pane_text(const struct view_opts *opts, struct pane_scope *s, const char *name,
                       bool prose, struct buf *text);

/* What line i of a table stands for: its first column's value, also as text (cut where it is
 * longer). False: the pane is no table. */
bool pane_table_thing(struct pane *p, size_t i, enum rollup_column *column, uint32_t *value,
                      char label[ROLLUP_TEXT_MAX]);

/* Fills what all kinds have; size is that of the kind's own struct, which begins with a pane. */
void *pane_new(size_t size, const struct pane_kind *kind, const struct view_opts *opts,
               struct pane_scope *s);
void pane_free(struct pane *p);
/* ---- of panes whose lines fold.c makes ---- */

/* What the list is like now. 0; what failed in fold.c. */
int pane_fold(struct pane *p, const struct fold *f);
/* For reach and key of their kinds. */
int pane_fold_reach(struct pane *p, struct fold *f, size_t n);
int pane_fold_key(struct pane *p, struct fold *f, int key);
/* The cursor goes to a node, 0: none, as far from the edge of the screen as it was in the old pane.
 * Of a list that is long it goes no further than lines are made at once. */
void pane_fold_adopt(struct pane *p, struct fold *f, const struct pane *old, uint32_t here);

/* Gives it another scope, of which it becomes a user. */
void pane_set_scope(struct pane *p, struct pane_scope *s);

/* ---- drawing ---- */

/* " 12.34%" at a column, in the style of its size. */
void pane_share(const struct view_screen *s, unsigned row, unsigned column, unsigned style,
                uint64_t part, uint64_t whole);
/* A star between the shares and the name of a function that is marked. */
void pane_mark(const struct pane *p, const struct view_screen *s, unsigned row, unsigned style,
               uint32_t object, uint32_t symbol);
/* How many columns shares take in front of names: PANE_TWO for total and self, fewer on a screen
 * with room for one of them only. */
#define PANE_TWO 18
unsigned pane_shares(const struct view_screen *s);
/* How far a node of a tree is indented behind figures: where the room ends no further, so that
 * names stay readable. */
unsigned pane_indent(const struct view_screen *s, unsigned figures, unsigned depth);
/* "+ ", "- " or "  " of a node. */
const char *pane_fold_sign(const struct fold *f, uint32_t node);
double pane_percent(uint64_t part, uint64_t whole);
/* Makes of the widths that n columns ask for those that they get, with two blanks between them, in
 * `room` columns of a screen so wide. kept: the one that gives way last. 0: it is not shown. */
void pane_columns(unsigned *width, size_t n, size_t kept, unsigned screen, unsigned room);
/* What stands in brackets behind a function's name: its object; an inlined function has none to
 * speak of. NULL: what stands for frames that are missing. */
const char *pane_in(uint32_t kind, const char *object);
/* Writes a name that is not escaped yet into so many columns from one on. What does not fit loses
 * its template arguments first, then its middle. */
void pane_name(const struct view_screen *s, unsigned row, unsigned column, unsigned room,
               unsigned style, const char *name);
/* The same of "NAME (IN)": IN is cut before a name that fits is, and left out where a longer name
 * has little room. in: NULL: there is none. */
void pane_name_in(const struct view_screen *s, unsigned row, unsigned column, unsigned room,
                  unsigned style, const char *name, const char *in);
/* The same of names, at a column. */
void pane_mark_names(const struct pane *p, const struct view_screen *s, unsigned row,
                     unsigned column, unsigned style, const char *object, const char *symbol);
/* An object's whole path, "": it has none; a function's name, "": it has none. */
const char *pane_path(const struct profile *p, uint32_t object);
const char *pane_plain(const struct profile *p, uint32_t symbol);
/* "libc.so.6" of an object. */
const char *pane_object(const struct profile *p, uint32_t object);
const char *pane_symbol(const struct profile *p, uint32_t symbol);
/* Whether two functions, or objects, of two profiles are called alike. */
bool pane_same_object(const struct profile *a, uint32_t x, const struct profile *b, uint32_t y);
bool pane_same_symbol(const struct profile *a, uint32_t x, const struct profile *b, uint32_t y);
/* Whether a name has the pane's filter in it; letters of either case are the same, unless the
 * filter has a capital. */
bool pane_passes(const struct pane *p, const char *name);

#endif
