/* SPDX-License-Identifier: MIT */
/*
 * view_state.h: what the files of a view share. view.c does what keys ask for, view_keys.c has the
 * list of them, view_enter.c the panes and how one comes to others, view_made.c makes them,
 * view_steps.c the lines of long lists,
 * view_zoom.c comes to other samples, view_annotate.c to code, view_renew.c puts other samples
 * under all of them, view_draw.c draws, view_write.c writes what is shown to a file, view_help.c
 * shows the list of keys, view_state.c says things.
 */
#ifndef SEAM_VIEW_VIEW_STATE_H
#define SEAM_VIEW_VIEW_STATE_H

#include "view/compare.h"
#include "view/pane.h"

/* The top pane is what is shown; those below it are the way back. */
struct view {
	struct view_opts opts; /* profile, title and account: the newest ones */
	enum rollup_column columns[ROLLUP_COLUMNS]; /* opts.columns */
	struct view_news now;                       /* what opts has of it, if any came */
	struct view_news waiting;                   /* what came while the view is frozen */
	struct view_news left;                      /* what was there before, and panes may show */
	struct view_compare none;                   /* two sides without samples, until some come */
	struct pane *top;
	struct pane *kept; /* sections of the same samples that were left, by below */
	unsigned rows;     /* of the list, when it was drawn last */
	enum {
		VIEW_MOVING,
		VIEW_FILTERING, /* characters are added to the pane's filter */
		VIEW_NAMING,    /* characters are added to the name of a file to be written */
		VIEW_SORTING,   /* to the columns of the table */
	} mode;
	bool frozen; /* what is new waits */
	struct marks marks;
	/* What is made (view_made.h); NULL: nothing. job: its thread; NULL: it goes in steps. */
	struct view_made *made;
	struct job *job;
	struct watched watched;
	struct buf ahead;        /* int: keys that came meanwhile */
	struct aside *aside;     /* a text that is made; NULL: none */
	struct pane *aside_pane; /* stands there for it */
	struct buf typed;        /* the file's name, the columns */
	struct buf message;      /* in the last line, until the next key */
	struct buf state;        /* at the end of the first line */
};

/* Sets the message of the last line; it is escaped. */
void view_say(struct view *v, const char *text);

/* ---- view_enter.c: 0; -ENOMEM ---- */

/* Puts a pane on top, which the view takes over. -ENOMEM where it is NULL. */
int view_push(struct view *v, struct pane *p);
/* The pane goes: what a thread makes for it, if any, is not wanted. */
void view_forget_aside(struct view *v, const struct pane *p);
/* Frees the top pane. There must be one below it. */
void view_pop(struct view *v);
/* Frees the sections that were left and show samples that no pane shows. all: every one. */
void view_forget_kept(struct view *v, bool all);
/* Puts a pane where another one is, which is freed. */
void view_swap(struct view *v, struct pane *old, struct pane *p);
/* How many sections there are, and what they are called. */
unsigned view_n_sections(const struct view *v);
const char *view_section_name(const struct view *v, unsigned section);
/* The pane of a section. NULL: out of memory. */
struct pane *view_section_pane(struct view *v, unsigned section, struct pane_scope *s);
/* Tells the rows of the first section apart by other sort keys: v->typed, a list as -s takes it.
 * What is wrong with it is said. -ENOMEM. */
int view_sort_keys(struct view *v);
/* Shows a section of the samples that are shown now, in place of the panes that show them. */
int view_section(struct view *v, unsigned section);
/* The same, made anew where it is there. */
int view_section_anew(struct view *v, unsigned section);
/* Shows the first section of a scope, on top of what there is. Takes the scope over. */
int view_enter(struct view *v, struct pane_scope *s);
/* What the function on line i is called: its object, as marks and scopes know it (the whole path;
 * of two sides its last part), "": not told apart, and its name, "": it has none. False: there is
 * none. */
bool view_names(const struct view *v, size_t i, const char **object, const char **symbol);
int view_calls(struct view *v);

/* ---- view_annotate.c: 0; -ENOMEM ---- */

int view_annotate(struct view *v);
/* Shows the text, and waits for it if need be. */
int view_annotated(struct view *v);

/* ---- view_event.c: 0; -ENOMEM ---- */

/* The first event with samples; of two sides, with samples of both. */
const char *view_first_event(const struct view *v);
/* The same of other samples; "": there is no event. c: NULL: there is one side, p. */
const char *view_event_with_samples(const struct view_compare *c, const struct profile *p);
bool view_has_samples(const struct view_compare *c, const struct profile *p, const char *event);
/* How many events can be shown; *place: which of them is, from 1 on, or 0: it has no samples. */
size_t view_events(const struct view *v, size_t *place);
/* Shows the next event, or the one before, by itself. */
int view_event(struct view *v, int step);
/* Shows an event by itself, in the same section, in place of all that there is. */
int view_event_only(struct view *v, const char *event);

/* ---- view_zoom.c: 0; -ENOMEM ---- */

/* All samples of an event: of what is shown, or of a profile and the sides that it belongs to
 * (NULL: none). NULL: out of memory. */
struct pane_scope *view_scope_of(struct view *v, const struct view_compare *c,
                                 const struct profile *p, const char *event);
struct pane_scope *view_scope_all(struct view *v, const char *event);
/* What an object is known by: see view_names. */
const char *view_object(const struct view *v, const struct profile *p, uint32_t object);
/* Goes on with what is on the line: a function's object, or the thing that the row stands for. */
int view_zoom(struct view *v, bool to_object);
/* Whether what the row stands for is a command. */
bool view_row_is_command(const struct view *v);
/* Goes on with the samples that have a marked function in their stack. */
int view_zoom_marked(struct view *v);
/* The same scope, one that is not PANE_ALL, of the samples of the scope below. NULL: out of
 * memory. */
struct pane_scope *view_scope_again(struct view *v, struct pane_scope *old,
                                    struct pane_scope *below);

/* ---- view_keys.c ---- */

/* Whether the pane on top has a key for itself; whether it is one of those that do something. */
bool view_owns_key(const struct view *v, int key);
bool view_has_key(const struct view *v, int key);
/* The same of the key that is called so. Of a name that is no key's: it has. */
bool view_has_key_named(const struct view *v, const char *name, size_t n);
/* The keys that do something, as text. */
void view_list_keys(const struct view *v, struct buf *to);

/* ---- view_renew.c ---- */

/* Lets what waits come. -ENOMEM. */
int view_renew_waiting(struct view *v);

/* ---- view_steps.c: lines of the top pane that are not made yet. 0; -ENOMEM ---- */

/* Goes to the line that the pane seeks, if it does. */
int view_seek(struct view *v);
/* Goes to the last line. */
int view_last_line(struct view *v);
/* Makes all lines, and calls `then`. */
int view_all_lines(struct view *v, int (*then)(struct view *v));

/* ---- view_export.c ---- */

/* Whether the name of a file says a format of other tools. *refused: why the view does not have all
 * for it; NULL: it has. */
bool view_exports(const struct view *v, const char *path, const char **refused);
/* Writes the samples that are shown in that format. -errno; -ENODATA: there are none. */
int view_export(struct view *v, const char *path, int fd);

/* ---- view_write.c, view_help.c ---- */

/* Writes the pane to the file that was named, which must be new. -ENOMEM. */
int view_write(struct view *v);
int view_help(struct view *v);

#endif
