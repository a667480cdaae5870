// SPDX-License-Identifier: MIT
// Unit tests of view/: panes that a thread makes while keys are answered, and sections that are
// left and come to again.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "view_screen.h"

/* Everything is made in a thread; what it made is not taken before it is asked for. */
static void start_aside(struct test *t)
{
	start_from(t, 1);
}

/* Draws what is there without waiting for what is made. */
static void look(struct test *t)
{
	const struct view_screen s = { ROWS, COLUMNS, &t->screen, put };

	memset(&t->screen, 0, sizeof(t->screen));
	view_draw(t->view, &s);
}

static void press(struct test *t, const char *text)
{
	for (; *text; text++)
		assert_int_equal(view_key(t->view, *text), 0);
	look(t);
}

static void the_old_pane_is_shown_while_a_new_one_is_made(void **state)
{
	struct test t;

	(void)state;
	start_aside(&t);
	press(&t, "2");
	assert_true(view_makes(t.view));
	row_has(&t, 0, "[tree ");
	row_is(&t, 2, "Total*     Self");
	draw(&t);
	assert_false(view_makes(t.view));
	row_has(&t, 2, "callers, and below each what it called");
	end(&t);
}

/* Typed fast or slowly, keys do the same. */
static void keys_that_come_meanwhile_are_for_what_is_made(void **state)
{
	struct test t;

	(void)state;
	start_aside(&t);
	press(&t, "2E/wri\n");
	draw(&t);
	row_has(&t, 0, "with 'wri'");
	row_has(&t, 3, "write_all (work)");
	row_has(&t, ROWS - 1, "1/2");
	end(&t);
}

static void escape_gives_up_and_another_section_comes_instead(void **state)
{
	struct test t;

	(void)state;
	start_aside(&t);
	press(&t, "jj\n");
	assert_true(view_makes(t.view));
	press(&t, "\033");
	row_has(&t, ROWS - 1, "given up");
	assert_int_equal(view_finish(t.view), 0);
	look(&t);
	row_is(&t, 2, "Total*     Self");
	row_has(&t, ROWS - 1, "3/");
	/* Esc behind other keys gives these up, too. */
	press(&t, "2E/x\033");
	draw(&t);
	row_is(&t, 2, "Total*     Self");
	press(&t, "23");
	draw(&t);
	row_has(&t, 2, "callees, and below each who called it");
	/* A section behind a zoom is one of what was zoomed to. */
	press(&t, "5\n2");
	draw(&t);
	row_has(&t, 0, "of work");
	row_has(&t, 2, "callers, and below each what it called");
	end(&t);
}

static void leaving_does_not_wait(void **state)
{
	struct test t;

	(void)state;
	start_aside(&t);
	press(&t, "3");
	assert_true(view_makes(t.view));
	assert_int_equal(view_key(t.view, 'q'), 1);
	end(&t);
}

/* What is new comes when what a key asked for has been made, and a key before what is new. */
static void what_is_new_waits_for_keys(void **state)
{
	struct view_news news = { .owned = true };
	struct test t;

	(void)state;
	start_aside(&t);
	press(&t, "2");
	news.profile = made_later();
	assert_int_equal(view_renew(t.view, &news), 0);
	look(&t);
	row_has(&t, 0, "4 samples");
	draw(&t);
	row_has(&t, 0, "2 samples");
	row_has(&t, 2, "callers, and below each what it called");
	news = (struct view_news){ .profile = made(), .owned = true };
	assert_int_equal(view_renew(t.view, &news), 0);
	press(&t, "E");
	draw(&t);
	row_has(&t, 0, "4 samples");
	row_has(&t, 4, "- parse");
	news = (struct view_news){ .profile = made_later(), .owned = true };
	assert_int_equal(view_renew(t.view, &news), 0);
	end(&t);
}

/* Cursor, filter and branches of a section stay while others are shown, also of later samples. */
static void sections_are_as_they_were_left(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "jj2Ejj4j1");
	row_has(&t, ROWS - 1, "3/");
	keys(&t, "?1");
	row_has(&t, ROWS - 1, "3/");
	keys(&t, "2");
	row_has(&t, ROWS - 1, "3/");
	row_has(&t, 4, "- parse");
	keys(&t, "4");
	row_has(&t, ROWS - 1, "2/2");
	keys(&t, "1/pars\n21");
	row_has(&t, 0, "with 'pars'");
	key(&t, VIEW_KEY_ESCAPE);
	keys(&t, "gj5");
	renew(&t, made_later(), "later");
	keys(&t, "1");
	row_has(&t, 0, "later  cycles  2 samples");
	row_has(&t, ROWS - 1, "2/3");
	keys(&t, "2");
	row_is(&t, 3, "100.00%    0.00% - main (work)");
	/* A zoom has sections of its own; back from it those below are there. */
	keys(&t, "1gj5\n2E\033");
	keys(&t, "1");
	row_has(&t, ROWS - 1, "2/3");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_old_pane_is_shown_while_a_new_one_is_made),
		cmocka_unit_test(keys_that_come_meanwhile_are_for_what_is_made),
		cmocka_unit_test(escape_gives_up_and_another_section_comes_instead),
		cmocka_unit_test(leaving_does_not_wait),
		cmocka_unit_test(what_is_new_waits_for_keys),
		cmocka_unit_test(sections_are_as_they_were_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
