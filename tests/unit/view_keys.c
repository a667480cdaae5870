// SPDX-License-Identifier: MIT
// Unit tests of view/: help lists exactly the keys that do something in the pane, pane by pane, and
// every key that it lists is done.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "view/view_state.h"
#include "view_screen.h"

#define KEYS_END (VIEW_KEY_HELP + 1)

static const struct {
	const char *name;
	int key;
} named[] = {
	{ "Up", VIEW_KEY_UP },
	{ "Down", VIEW_KEY_DOWN },
	{ "Left", VIEW_KEY_LEFT },
	{ "Right", VIEW_KEY_RIGHT },
	{ "PgUp", VIEW_KEY_PAGE_UP },
	{ "PgDn", VIEW_KEY_PAGE_DOWN },
	{ "Home", VIEW_KEY_HOME },
	{ "End", VIEW_KEY_END },
	{ "Tab", VIEW_KEY_TAB },
	{ "Shift-Tab", VIEW_KEY_BACK_TAB },
	{ "F1", VIEW_KEY_HELP },
	{ "Enter", VIEW_KEY_ENTER },
	{ "Esc", VIEW_KEY_ESCAPE },
	{ "Backspace", VIEW_KEY_ERASE },
	{ "Space", ' ' },
};

/* The key that help calls so. */
static int key_of(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (strlen(named[i].name) == n && !memcmp(named[i].name, word, n))
			return named[i].key;
	if (n != 1)
		fail_msg("'%.*s' is no key", (int)n, word);
	return *word;
}

/* Reads which keys the list has: each row begins with two blanks, and two part keys and text. */
static void listed(const char *text, bool has[KEYS_END])
{
	memset(has, 0, KEYS_END);
	while (*text) {
		const char *at = text + 2;

		while (!strncmp(text, "  ", 2) && *at != ' ') {
			size_t n = strcspn(at, " ");

			assert_false(has[key_of(at, n)]); /* one meaning each */
			has[key_of(at, n)] = true;
			at += n + 1;
		}
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

/* A view of one side, or of two. */
struct opened {
	struct test t;
	struct profile *base;
	struct view_compare compare;
};

static void open_pane(struct opened *o, bool two, const char *path)
{
	static const enum rollup_column columns[] = { ROLLUP_OBJECT, ROLLUP_SYMBOL };
	static const struct compare_row row = { .value = { "work", "parse" },
		                                .event = "cycles",
		                                .object = "work",
		                                .symbol = "parse",
		                                .share = 1 };
	struct view_opts opts = { .sz = sizeof(opts),
		                  .title = "title",
		                  .columns = columns,
		                  .n_columns = 2,
		                  .account = "account\n",
		                  .annotate = annotated };

	*o = (struct opened){ .base = made(), .t = { .profile = made_later() } };
	o->compare = (struct view_compare){ .rows = &row,
		                            .n_rows = 1,
		                            .n_columns = 2,
		                            .columns = columns,
		                            .confidence = 0.95,
		                            .runs = { 1, 1 },
		                            .side = { o->base, o->t.profile } };
	opts.profile = two ? o->t.profile : o->base;
	opts.compare = two ? &o->compare : NULL;
	assert_int_equal(view_new(&o->t.view, &opts), 0);
	keys(&o->t, path);
}

static void close_pane(struct opened *o)
{
	end(&o->t);
	profile_free(o->base);
}

/* Each key in a view of its own. */
static void help_is_held(bool two, const char *path)
{
	struct buf text = { 0 };
	bool has[KEYS_END];
	struct opened o;

	open_pane(&o, two, path);
	view_list_keys(o.t.view, &text);
	listed(buf_text(&text), has);
	buf_free(&text);
	close_pane(&o);
	for (int k = 1; k < KEYS_END; k++) {
		const char *said;
		int r;

		open_pane(&o, two, path);
		if (view_has_key(o.t.view, k) != has[k])
			fail_msg("%s: key %d is %slisted", path, k, has[k] ? "" : "not ");
		r = view_key(o.t.view, k);
		assert_int_equal(r, k == 'q');
		said = buf_text(&o.t.view->message);
		if (!strstr(said, "does nothing") != has[k])
			fail_msg("%s: key %d says '%s'", path, k, said);
		close_pane(&o);
	}
}

static void help_lists_what_works(void **state)
{
	static const char *const one[] = { "1", "2", "3", "4", "5", "8", "\n", "a", "?", "2?" };
	static const char *const two[] = { "1", "2", "3", "4", "5", "6", "\n", "a", "?" };

	(void)state;
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++)
		help_is_held(false, one[i]);
	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++)
		help_is_held(true, two[i]);
}

/* What the pane is of decides what is listed. */
static void help_is_of_the_pane(void **state)
{
	struct opened o;

	(void)state;
	open_pane(&o, false, "2?");
	row_is(&o.t, 3, "HERE");
	row_is(&o.t, 4, "Enter e               open or close");
	close_pane(&o);
	open_pane(&o, false, "8?");
	row_is(&o.t, 3, "MOVING");
	close_pane(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_lists_what_works),
		cmocka_unit_test(help_is_of_the_pane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
