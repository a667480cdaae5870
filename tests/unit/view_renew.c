// SPDX-License-Identifier: MIT
// Unit tests of view/: other samples come below panes while somebody looks.
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

/* What comes later takes its place under all panes: cursor, filter and open branches stay. */
static void later_samples_come_below_the_panes(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "jj");
	row_has(&t, 5, "find(");
	renew(&t, made_later(), "second");
	row_has(&t, 0, "second  cycles  2 samples");
	row_is(&t, 3, "100.00%    0.00%  work");
	row_is(&t, 4, "90.00%   90.00%  work");
	keys(&t, "gj");
	row_has(&t, 4, "[.] parse");
	renew(&t, made(), "third"); /* parse went down by a line, or up: the cursor goes with it */
	row_has(&t, 0, "third  cycles  4 samples");
	for (unsigned row = 3; row < ROWS - 1; row++)
		if (t.screen.style[row] & VIEW_CURSOR)
			row_has(&t, row, "[.] parse");
	keys(&t, "\n");
	row_is(&t, 7, "70.00%   20.00% parse (work)");
	renew(&t, made_later(), "fourth");
	row_is(&t, 6, "90.00%   90.00% parse (work)");
	keys(&t, "2E");
	row_has(&t, ROWS - 1, "/3");
	renew(&t, made(), "fifth");
	row_is(&t, 3, "100.00%    0.00% - main (work)");
	row_has(&t, 4, "- parse"); /* all are open, also what is new */
	row_has(&t, 7, "- write_all");
	keys(&t, "8");
	row_is(&t, 3, "later");
	end(&t);
}

/* Of zooms, too: they are made again from what they choose. */
static void later_samples_come_below_zooms(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "5\n"); /* samples of work */
	row_has(&t, 0, "3 samples  of work");
	keys(&t, "d"); /* functions of main's object */
	row_has(&t, 0, "of work");
	renew(&t, made_later(), "second");
	row_has(&t, 0, "second  cycles  2 samples  of work");
	row_is(&t, 3, "100.00%    0.00%  work");
	key(&t, VIEW_KEY_ESCAPE);
	row_has(&t, 0, "2 samples  of work");
	key(&t, VIEW_KEY_ESCAPE);
	row_is(&t, 2, "Total     Self* Command");
	keys(&t, "1>");
	row_has(&t, ROWS - 1, "this key does nothing here");
	renew(&t, made(), "third");
	keys(&t, ">");
	row_has(&t, 0, "page-faults  1 sample");
	renew(&t, made_later(), "fourth");
	row_has(&t, 0, "page-faults  0 samples"); /* sampled, but not in this while */
	renew(&t, made(), "fifth");
	row_has(&t, 0, "page-faults  1 sample");
	end(&t);
}

/* What moves can be held; the newest comes when it goes on. */
static void what_moves_can_be_held(void **state)
{
	static const enum rollup_column columns[] = { ROLLUP_SYMBOL };
	struct test t = { .profile = NULL };
	struct view_opts opts = { .sz = sizeof(opts),
		                  .title = "seam top",
		                  .columns = columns,
		                  .n_columns = 1,
		                  .live = true };

	(void)state;
	assert_int_equal(view_new(&t.view, &opts), 0);
	draw(&t);
	row_is(&t, 3, "nothing");
	view_set_state(t.view, "reading 45 %");
	draw(&t);
	row_is(&t, 3, "nothing yet");
	row_has(&t, 0, "[reading 45 %]");
	view_set_state(t.view, "");
	keys(&t, "2345678?");
	key(&t, VIEW_KEY_ESCAPE);
	keys(&t, "1");
	renew(&t, made(), "first");
	row_has(&t, 0, "first  cycles  4 samples");
	keys(&t, " ");
	row_has(&t, 0, "[held");
	renew(&t, made_later(), "second");
	renew(&t, made_later(), "third");
	row_has(&t, 0, "first  cycles  4 samples");
	keys(&t, "p");
	row_has(&t, 0, "third  cycles  2 samples");
	keys(&t, "p");
	renew(&t, made(), "never seen"); /* freed with the view */
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(later_samples_come_below_the_panes),
		cmocka_unit_test(later_samples_come_below_zooms),
		cmocka_unit_test(what_moves_can_be_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
