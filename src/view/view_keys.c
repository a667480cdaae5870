// SPDX-License-Identifier: MIT
/*
 * view_keys.c: which keys do something in the pane that is shown, and what: those of its kind, and
 * those that all panes have.
 *
 * Invariant: a key that is not in these lists does nothing, and help shows the same lists.
 */
#include <stdio.h>
#include <string.h>

#include "view/view_state.h"

static bool keys_always(const struct view *v)
{
	(void)v;
	return true;
}

static bool keys_live(const struct view *v)
{
	return v->opts.live;
}

static bool keys_still(const struct view *v)
{
	return !v->opts.live;
}

static bool keys_events(const struct view *v)
{
	size_t place, n = view_events(v, &place);

	return n > (place ? 1 : 0);
}

/* Whether lines of the pane may be functions. */
static bool keys_functions(const struct view *v)
{
	return v->top->kind->function || v->top->kind->names;
}

static bool keys_code(const struct view *v)
{
	return keys_functions(v) && v->opts.annotate;
}

static bool keys_things(const struct view *v)
{
	return v->top->kind->things;
}

/* Whether lines are of functions, told apart by command. */
static bool keys_commands(const struct view *v)
{
	return keys_functions(v) && view_row_is_command(v);
}

static bool keys_objects(const struct view *v)
{
	return keys_functions(v) || keys_things(v);
}

/* What all panes have. A row without keys is a title. */
static const struct {
	struct pane_key key;
	bool (*works)(const struct view *v);
} common[] = {
	{ { { 0 }, "MOVING" }, keys_always },
	{ { { VIEW_KEY_UP, VIEW_KEY_DOWN, 'k', 'j' }, "one line" }, keys_always },
	{ { { VIEW_KEY_PAGE_UP, VIEW_KEY_PAGE_DOWN, 'b' },
	    "one screen; Ctrl-B, Ctrl-F, Ctrl-U, Ctrl-D, too" },
	  keys_always },
	{ { { ' ' }, "one screen on" }, keys_still },
	{ { { VIEW_KEY_HOME, VIEW_KEY_END, 'g', 'G' }, "first, last line" }, keys_always },
	{ { { VIEW_KEY_LEFT, 'h', VIEW_KEY_ESCAPE, VIEW_KEY_ERASE },
	    "back to what was here before" },
	  keys_always },
	{ { { 'q' }, "leave" }, keys_always },
	{ { { 0 }, "WHAT IS SHOWN" }, keys_always },
	{ { { '1', '2', '3', '4', '5', '6', '7', '8' }, "the sections of the second line" },
	  keys_always },
	{ { { VIEW_KEY_TAB, VIEW_KEY_BACK_TAB }, "the next section, the one before" },
	  keys_always },
	{ { { '<', '>' }, "the event before, the next event" }, keys_events },
	{ { { '/' }, "only lines with this text in them; Esc: all again" }, keys_always },
	{ { { 'S' },
	    "rows told apart by other sort keys: comm,sym or srcline; an empty list says which "
	    "there are" },
	  keys_always },
	{ { { 'M' }, "only samples with a marked function in their stack" }, keys_always },
	{ { { 'w', 'P' },
	    "write these lines to a new file; FILE.folded, .pb.gz, .callgrind, .json: the samples "
	    "shown, for other tools; of two sides FILE.folded has both counts of a stack" },
	  keys_always },
	{ { { 'p', ' ' }, "hold what is shown, or go on" }, keys_live },
	{ { { '?', VIEW_KEY_HELP }, "these keys" }, keys_always },
	{ { { 0 }, "ON A LINE" }, keys_objects },
	{ { { VIEW_KEY_ENTER, 'c' }, "callers and callees of the function" }, keys_functions },
	{ { { VIEW_KEY_ENTER }, "only samples of this row" }, keys_things },
	{ { { 'a' }, "source and instructions, with their samples" }, keys_code },
	{ { { 'd' }, "only functions of this row's object" }, keys_functions },
	{ { { 't' }, "only samples of this row's command" }, keys_commands },
	{ { { 'm' }, "mark the function, or not" }, keys_functions },
	{ { { 'n', 'N' }, "the next function that is marked, the one before" }, keys_functions },
};
#define COMMON (sizeof(common) / sizeof(common[0]))

/* Whether a list has a key. */
static bool keys_has(const struct pane_key *k, int key)
{
	for (size_t i = 0; i < PANE_KEYS && k->keys[i]; i++)
		if (k->keys[i] == key)
			return true;
	return false;
}

bool view_owns_key(const struct view *v, int key)
{
	for (const struct pane_key *k = v->top->kind->own; k && k->text; k++)
		if (keys_has(k, key))
			return true;
	return false;
}

bool view_has_key(const struct view *v, int key)
{
	if (key >= '1' && key <= '9')
		return key < '1' + (int)view_n_sections(v);
	for (size_t i = 0; i < COMMON; i++)
		if (common[i].works(v) && keys_has(&common[i].key, key))
			return true;
	return view_owns_key(v, key);
}

/* What a key is called. */
static const char *keys_name(int key, char text[2])
{
	static const struct {
		int key;
		const char *name;
	} names[] = {
		{ VIEW_KEY_UP, "Up" },
		{ VIEW_KEY_DOWN, "Down" },
		{ VIEW_KEY_LEFT, "Left" },
		{ VIEW_KEY_RIGHT, "Right" },
		{ VIEW_KEY_PAGE_UP, "PgUp" },
		{ VIEW_KEY_PAGE_DOWN, "PgDn" },
		{ VIEW_KEY_HOME, "Home" },
		{ VIEW_KEY_END, "End" },
		{ VIEW_KEY_TAB, "Tab" },
		{ VIEW_KEY_BACK_TAB, "Shift-Tab" },
		{ VIEW_KEY_HELP, "F1" },
		{ VIEW_KEY_ENTER, "Enter" },
		{ VIEW_KEY_ESCAPE, "Esc" },
		{ VIEW_KEY_ERASE, "Backspace" },
		{ ' ', "Space" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].key == key)
			return names[i].name;
	text[0] = (char)key;
	text[1] = 0;
	return text;
}

/* Only what all panes have may be missing in one: its own keys always work. */
bool view_has_key_named(const struct view *v, const char *name, size_t n)
{
	bool known = false;
	char text[2];

	for (size_t i = 0; i < COMMON; i++)
		for (size_t j = 0; j < PANE_KEYS && common[i].key.keys[j]; j++) {
			int key = common[i].key.keys[j];
			const char *called = keys_name(key, text);

			if (strncmp(called, name, n) || called[n])
				continue;
			known = true;
			if (view_has_key(v, key))
				return true;
		}
	return !known;
}

/* Writes one row; keys that the pane has for something else, or that are of no section, are left
 * out, and so is a row without any. */
static void keys_put(const struct view *v, const struct pane_key *k, bool own, struct buf *to)
{
	struct buf names = { 0 };
	char text[2];

	for (size_t i = 0; i < PANE_KEYS && k->keys[i]; i++)
		if (own || (!view_owns_key(v, k->keys[i]) && view_has_key(v, k->keys[i])))
			buf_printf(&names, "%s%s", names.n ? " " : "", keys_name(k->keys[i], text));
	if (names.n)
		buf_printf(to, "  %-20s  %s\n", buf_text(&names), k->text);
	buf_free(&names);
}

void view_list_keys(const struct view *v, struct buf *to)
{
	const struct pane_key *own = v->top->kind->own;

	if (own)
		buf_put_text(to, "HERE\n");
	for (; own && own->text; own++)
		keys_put(v, own, true, to);
	for (size_t i = 0; i < COMMON; i++) {
		if (!common[i].works(v))
			continue;
		if (!common[i].key.keys[0])
			buf_printf(to, "%s%s\n", to->n ? "\n" : "", common[i].key.text);
		keys_put(v, &common[i].key, false, to);
	}
}
