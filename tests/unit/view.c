// SPDX-License-Identifier: MIT
// Unit tests of view/: keys and screens of the panes of one profile: tables, texts, callers and
// callees, marks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/elided.h"

#include "view_screen.h"

static void the_table_is_by_total_and_by_self(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	row_has(&t, 0, "perf.data  cycles  4 samples");
	row_is(&t, 2, "Total*     Self  Command");
	row_is(&t, 3, "90.00%    0.00%  work");
	row_has(&t, 3, "[.] main");
	assert_int_equal(t.screen.style[3], VIEW_CURSOR);
	row_has(&t, ROWS - 1, "1/8");
	keys(&t, "s");
	row_is(&t, 2, "Total     Self*");
	row_is(&t, 3, "50.00%   50.00%  work");
	row_has(&t, 3, "std::map<\xe2\x80\xa6>::find(\xe2\x80\xa6)");
	row_has(&t, ROWS - 1, "1/4"); /* rows without samples of their own are left out */
	end(&t);
}

static void hostile_names_stay_in_their_row(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "5");
	row_is(&t, 3, "90.00%   90.00%  work");
	row_has(&t, 4, "other\\n\\x1b[2J");
	keys(&t, "j\n"); /* its samples alone */
	row_has(&t, 0, "1 sample  of other\\n\\x1b[2J");
	row_is(&t, 3, "100.00%");
	key(&t, VIEW_KEY_ESCAPE);
	row_has(&t, 0, "4 samples");
	end(&t);
}

static void the_filter_works_while_it_is_typed(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "/PAR"); /* a capital: only capitals */
	row_is(&t, 3, "nothing with this text");
	key(&t, VIEW_KEY_ESCAPE);
	keys(&t, "/pars");
	row_has(&t, ROWS - 1, "/pars_");
	row_has(&t, 3, "[.] parse");
	row_has(&t, ROWS - 1, "1/2");
	keys(&t, "\n");
	row_has(&t, 0, "with 'pars'");
	key(&t, VIEW_KEY_ESCAPE);
	row_has(&t, ROWS - 1, "2/8"); /* what was found */
	end(&t);
}

static void a_function_has_callers_and_callees(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "/parse\n\n");
	row_is(&t, 3, "called by");
	row_is(&t, 4, "60.00%             main (work)");
	row_is(&t, 5, "10.00%             parse (work)");
	row_is(&t, 6, "the function");
	assert_int_equal(t.screen.style[7], VIEW_CURSOR);
	row_is(&t, 8, "called");
	row_is(&t, 9, "50.00%             std::map");
	keys(&t, "kkk\n"); /* the caller's own callers */
	row_is(&t, 3, "called by");
	row_is(&t, 5, "100.00%    0.00% main (work)");
	key(&t, VIEW_KEY_LEFT);
	row_is(&t, 4, "60.00%             main (work)");
	end(&t);
}

static void a_recursive_function_counts_once(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "/parse\n\n");
	row_is(&t, 7, "70.00%   20.00% parse (work)");
	end(&t);
}

static void texts_are_panes(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "8");
	row_is(&t, 3, "5 samples: all whole");
	row_is(&t, 4, "second line");
	keys(&t, "1a");
	row_is(&t, 3, "main of /usr/bin/work");
	row_is(&t, 4, "ret");
	key(&t, VIEW_KEY_LEFT);
	row_is(&t, 2, "Total*");
	keys(&t, "?");
	row_is(&t, 3, "HERE");
	key(&t, VIEW_KEY_END);
	assert_int_equal(view_key(t.view, 'q'), 1);
	end(&t);
}

static void small_screens_are_no_error(void **state)
{
	struct test t;
	static const char all[] = "1234566\n?2E\n3c";

	(void)state;
	start(&t);
	for (const char *k = all; *k; k++) {
		assert_int_equal(view_key(t.view, *k), 0);
		for (unsigned columns = 0; columns <= COLUMNS; columns++)
			for (unsigned rows = 0; rows <= ROWS; rows += 7) {
				const struct view_screen s = { rows, columns, &t.screen, put };

				memset(&t.screen, 0, sizeof(t.screen));
				view_draw(t.view, &s);
			}
	}
	end(&t);
}

/* A mark is the function's, in the table, in the tree and beside its callers. */
static void marks_are_of_functions(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "n");
	row_has(&t, ROWS - 1, "no function here is marked");
	keys(&t, "jjm");
	row_is(&t, 5, "50.00%   50.00%* work");
	keys(&t, "gn");
	assert_int_equal(t.screen.style[5] & VIEW_CURSOR, VIEW_CURSOR);
	keys(&t, "2E");
	row_has(&t, 5, "*");
	keys(&t, "gn");
	row_has(&t, 5, "find(");
	assert_int_equal(t.screen.style[5] & VIEW_CURSOR, VIEW_CURSOR);
	keys(&t, "m");
	assert_null(strchr(t.screen.row[5], '*'));
	keys(&t, "5m");
	row_has(&t, ROWS - 1, "this key does nothing here");
	end(&t);
}

static void names_lose_their_arguments(void **state)
{
	static const char *const of[][2] = {
		{ "main", "main" },
		{ "std::vector<int, std::allocator<int> >::push_back(int&&)",
		  "std::vector<\xe2\x80\xa6>::push_back(\xe2\x80\xa6)" },
		{ "operator<< <char>(std::ostream&)", "operator<< <\xe2\x80\xa6>(\xe2\x80\xa6)" },
		{ "A::operator()(int) const", "A::operator()(\xe2\x80\xa6) const" },
		{ "A::operator->()", "A::operator->()" },
		{ "(anonymous namespace)::f(long)", "(anonymous namespace)::f(\xe2\x80\xa6)" },
		{ "<alloc::Vec<T> as core::Drop>::drop", "<alloc::Vec<T> as core::Drop>::drop" },
		{ "f(int)::{lambda(int)#1}::operator()(int) const",
		  "f(\xe2\x80\xa6)::{lambda(int)#1}::operator()(\xe2\x80\xa6) const" },
		{ "broken<int", "broken<int" },
		{ "a>b", "a>b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct buf b = { 0 };

		elided_put(&b, of[i][0]);
		assert_string_equal(buf_text(&b), of[i][1]);
		buf_free(&b);
	}
}

/* A text that is read is broken at the edge; what has columns moves sideways. */
static void texts_are_read_to_their_end(void **state)
{
	static const enum rollup_column columns[] = { ROLLUP_SYMBOL };
	struct test t = { .profile = made() };
	const struct view_opts opts = {
		.sz = sizeof(opts),
		.profile = t.profile,
		.title = "perf.data",
		.columns = columns,
		.n_columns = 1,
		.account =
		        "  one two three four five six seven eight nine ten eleven twelve thirteen "
		        "fourteen\nlast\n",
		.annotate = annotated,
	};
	struct view_screen narrow = { ROWS, 40, &t.screen, put };

	(void)state;
	assert_int_equal(view_new(&t.view, &opts), 0);
	keys(&t, "8");
	row_is(&t, 3, "one two");
	row_is(&t, 4, "fourteen");
	row_is(&t, 5, "last");
	row_has(&t, ROWS - 1, "1/3");
	keys(&t, "G");
	memset(&t.screen, 0, sizeof(t.screen));
	view_draw(t.view, &narrow);
	row_is(&t, 3, "one two three four five six seven");
	row_is(&t, 4, "eight nine ten eleven twelve");
	row_is(&t, 6, "last");
	row_has(&t, ROWS - 1, "4/4"); /* the cursor is where it was in the text */
	keys(&t, "1a");               /* the rows say no object: it is any that has the function */
	row_is(&t, 3, "main of ");
	key(&t, VIEW_KEY_RIGHT);
	row_is(&t, 3, "");
	key(&t, VIEW_KEY_LEFT);
	row_is(&t, 3, "main of ");
	key(&t, VIEW_KEY_LEFT);
	row_is(&t, 2, "Total*");
	keys(&t, "c");
	row_is(&t, 5, "100.00%    0.00% main (work)");
	keys(&t, "m");
	key(&t, VIEW_KEY_LEFT);
	row_has(&t, 3, "*");
	keys(&t, "d");
	row_has(&t, 0, "of work");
	end(&t);
}

/* A word that has room in a row of its own is not cut, and a longer path only between its parts. */
static void long_words_stay_whole(void **state)
{
	static const enum rollup_column columns[] = { ROLLUP_SYMBOL };
	struct test t = { .profile = made() };
	const struct view_opts opts = {
		.sz = sizeof(opts),
		.profile = t.profile,
		.title = "perf.data",
		.columns = columns,
		.n_columns = 1,
		.account =
		        "  60 of work: /usr/lib/debug/.build-id/0123456789.debug would name it\n"
		        "  6 of x: /usr/lib/debug/.build-id/0123456789012345678901234567.debug\n",
	};
	struct view_screen narrow = { ROWS, 46, &t.screen, put };

	(void)state;
	assert_int_equal(view_new(&t.view, &opts), 0);
	keys(&t, "8");
	memset(&t.screen, 0, sizeof(t.screen));
	view_draw(t.view, &narrow);
	row_is(&t, 3, "60 of work:");
	row_is(&t, 4, "/usr/lib/debug/.build-id/0123456789.debug");
	row_is(&t, 5, "would name it");
	row_is(&t, 6, "6 of x: /usr/lib/debug/.build-id/");
	row_is(&t, 7, "0123456789012345678901234567.debug");
	end(&t);
}

/* Where there is little room: how many samples, and the section that is shown. */
static void few_columns_keep_what_matters(void **state)
{
	static const enum rollup_column columns[] = { ROLLUP_SYMBOL };
	struct test t = { .profile = made() };
	const struct view_opts opts = {
		.sz = sizeof(opts),
		.profile = t.profile,
		.title = "seam top, 100.0 % whole stacks",
		.columns = columns,
		.n_columns = 1,
	};
	struct view_screen narrow = { ROWS, 40, &t.screen, put };

	(void)state;
	assert_int_equal(view_new(&t.view, &opts), 0);
	memset(&t.screen, 0, sizeof(t.screen));
	view_draw(t.view, &narrow);
	row_has(&t, 0, " seam ");
	row_has(&t, 0, "stacks  4 samples");
	row_is(&t, 1, "1 functions 2 tree 3 called by");
	row_has(&t, 1, ">");
	keys(&t, "5");
	memset(&t.screen, 0, sizeof(t.screen));
	view_draw(t.view, &narrow);
	row_is(&t, 1, "<");
	row_has(&t, 1, "5 commands");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_by_total_and_by_self),
		cmocka_unit_test(hostile_names_stay_in_their_row),
		cmocka_unit_test(the_filter_works_while_it_is_typed),
		cmocka_unit_test(a_function_has_callers_and_callees),
		cmocka_unit_test(a_recursive_function_counts_once),
		cmocka_unit_test(texts_are_panes),
		cmocka_unit_test(small_screens_are_no_error),
		cmocka_unit_test(marks_are_of_functions),
		cmocka_unit_test(names_lose_their_arguments),
		cmocka_unit_test(texts_are_read_to_their_end),
		cmocka_unit_test(long_words_stay_whole),
		cmocka_unit_test(few_columns_keep_what_matters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
