// SPDX-License-Identifier: MIT
// Unit tests of view/: two sides.
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

/* Two sides of one event, whose rows the caller has. */
struct sides {
	struct test t;
	struct profile *base;
	struct compare_row rows[2];
	struct view_compare compare;
};

static const enum rollup_column columns[] = { ROLLUP_OBJECT, ROLLUP_SYMBOL };

static void start_sides(struct sides *s)
{
	struct view_opts opts = { .sz = sizeof(opts),
		                  .title = "a -> b",
		                  .account = "baseline\n",
		                  .columns = columns,
		                  .n_columns = 2,
		                  .annotate = annotated };

	*s = (struct sides){ 0 };
	s->rows[0] = (struct compare_row){
		.value = { "work", "parse" },
		.event = "cycles",
		.object = "work",
		.symbol = "parse",
		.base = 0.20,
		.next = 0.90,
		.share = 0.90,
		.noise = { .margin = 0.1, .ratio = 4.5, .least = 3, .most = 6 },
		.verdict = 1,
	};
	s->rows[1] = (struct compare_row){
		.value = { "[kernel.kallsyms]", "k_\033[2Jcopy" },
		.event = "cycles",
		.base = 0.30,
		.next = 0.31,
		.share = 0.31,
		.noise = { .margin = 0.2, .ratio = 1, .least = 0.5, .most = 2 },
	};
	s->base = made();
	s->t.profile = made_later();
	s->compare = (struct view_compare){ .rows = s->rows,
		                            .n_rows = 2,
		                            .n_columns = 2,
		                            .columns = columns,
		                            .confidence = 0.95,
		                            .runs = { 1, 1 },
		                            .side = { s->base, s->t.profile } };
	opts.profile = s->t.profile;
	opts.compare = &s->compare;
	assert_int_equal(view_new(&s->t.view, &opts), 0);
	draw(&s->t);
}

static void end_sides(struct sides *s)
{
	end(&s->t);
	profile_free(s->base);
}

/* Rows with both figures and what noise could be; a function has callers and callees of both
 * sides. */
static void two_sides_are_compared(void **state)
{
	struct sides sides;
	struct test *t = &sides.t;

	(void)state;
	start_sides(&sides);
	row_is(t, 0, "a -> b  ");
	row_is(t, 1, "1 compared  2 tree  3 called by  4 objects  5 commands  6 how sure");
	row_is(t, 2, "Base      New   Delta*      \xc2\xb1");
	row_is(t, 3, "20.00%   90.00%  +70.00% ");
	row_has(t, 3, "10.00  ");
	row_has(t, 3, "work");
	row_has(t, 3, "parse");
	row_is(t, 4, "30.00%   31.00%   +1.00% ");
	row_has(t, 4, "20.00 ~");
	row_has(t, 4, "[kernel");
	row_has(t, 4, "k_\\x1b[2Jcopy");
	keys(t, "sss");
	row_is(t, 2, "Base      New    Delta"); /* by ratio, for which this screen has no room */
	keys(t, "j\n");
	row_has(t, ROWS - 1, "there is no function on this line");
	keys(t, "g\n");
	row_has(t, 0, "cycles  4 -> 2 samples");
	row_is(t, 3, "called by");
	row_is(t, 4, "60.00%   90.00%  +30.00%");
	row_has(t, 4, "main (work)");
	row_is(t, 5, "10.00%    0.00%  -10.00%");
	row_is(t, 6, "the function, with what it called");
	row_is(t, 7, "70.00%   90.00%  +20.00%");
	row_is(t, 8, "called");
	row_is(t, 9, "50.00%    0.00%  -50.00%");
	keys(t, "gj\n"); /* main's own */
	row_has(t, 4, "the function, with what it called");
	row_has(t, 5, "100.00%  100.00%");
	row_is(t, 8, "30.00%    0.00%  -30.00%");
	row_has(t, 8, "write_all (work)");
	keys(t, "a");
	row_is(t, 3, "main of work");
	key(t, VIEW_KEY_ESCAPE);
	key(t, VIEW_KEY_ESCAPE);
	key(t, VIEW_KEY_ESCAPE);
	keys(t, "/copy\n");
	row_has(t, ROWS - 1, "1/1");
	keys(t, "6");
	row_is(t, 3, "baseline");
	keys(t, "d>mnM"); /* keys that are of functions */
	row_is(t, 3, "baseline");
	end_sides(&sides);
}

/* One tree of both sides: what one side has alone is in it; what changed most stands first. */
static void two_trees_are_one(void **state)
{
	struct sides sides;
	struct test *t = &sides.t;

	(void)state;
	start_sides(&sides);
	keys(t, "2");
	row_is(t, 2, "Base      New   Delta*      \xc2\xb1");
	row_has(t, 3, "100.00%  100.00%   +0.00%");
	row_has(t, 3, "+ main (work)");
	keys(t, "\n");
	row_has(t, 3, "- main (work)");
	row_is(t, 4, "30.00%    0.00%  -30.00%");
	row_has(t, 4, "+ write_all (work)");
	row_is(t, 5, "70.00%   90.00%  +20.00%");
	row_is(t, 6, "0.00%   10.00%  +10.00%");
	row_has(t, 6, "  new_one (work)");
	keys(t, "jjss"); /* by what the baseline has; the cursor stays on parse */
	row_is(t, 2, "Base*      New    Delta");
	row_has(t, 4, "+ parse (work)");
	row_has(t, ROWS - 1, "2/4");
	keys(t, "H");
	row_has(t, 5, "std::map");
	keys(t, "c");
	row_has(t, 2, "Base      New    Delta");
	row_is(t, 7, "70.00%   90.00%  +20.00%");
	keys(t, "3");
	row_has(t, 3, "parse (work)");
	keys(t, "E/main\n");
	row_has(t, 3, "main (work)");
	key(t, VIEW_KEY_ESCAPE);
	end_sides(&sides);
}

/* Objects and commands of both sides, and from them to their samples alone. */
static void two_sides_have_sections(void **state)
{
	struct sides sides;
	struct test *t = &sides.t;

	(void)state;
	start_sides(&sides);
	keys(t, "4");
	row_is(t, 3, "70.00%  100.00%  +30.00%");
	row_is(t, 4, "30.00%    0.00%  -30.00%");
	row_has(t, 4, "[kernel.kallsyms]");
	keys(t, "j\n");
	row_has(t, 0, "of [kernel.kallsyms]");
	row_has(t, 3, "k_copy");
	key(t, VIEW_KEY_ESCAPE);
	keys(t, "5");
	row_has(t, 3, "other\\n\\x1b[2J");
	row_has(t, 4, "work");
	keys(t, "j\n");
	row_has(t, 0, "3 -> 2 samples  of work");
	keys(t, "2\n");
	row_has(t, 3, "- main (work)");
	key(t, VIEW_KEY_ESCAPE);
	keys(t, "1Ssym\n");
	row_is(t, 2, "Base      New   Delta*      \xc2\xb1  Symbol");
	keys(t, "Stid\n");
	row_has(t, ROWS - 1, "no 'tid' here: event comm");
	end_sides(&sides);
}

/* A mark is of the function on both sides, in all panes, and chooses samples of both. */
static void marks_are_of_both_sides(void **state)
{
	struct sides sides;
	struct test *t = &sides.t;

	(void)state;
	start_sides(&sides);
	keys(t, "m");
	row_has(t, 3, "*work");
	keys(t, "2\n/parse\n");
	row_has(t, 3, "*");
	row_has(t, 3, "parse (work)");
	keys(t, "M");
	row_has(t, 0, "3 -> 1 samples  of marked functions");
	end_sides(&sides);
}

/* What is shown goes into files: text, and stacks with what both sides have of them. */
static void both_sides_are_written(void **state)
{
	char dir[] = "/tmp/view_compareXXXXXX", path[64], text[512] = { 0 };
	struct sides sides;
	struct test *t = &sides.t;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f.folded", dir);
	start_sides(&sides);
	keys(t, "2wx.pb.gz\n");
	row_has(t, ROWS - 1, "has no place for two sides");
	keys(t, "wx.firefox.json\n");
	row_has(t, ROWS - 1, "needs every sample");
	keys(t, "/parse\nw");
	keys(t, path);
	keys(t, "\n");
	row_has(t, ROWS - 1, "written");
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	assert_string_equal(text, "other\\n\\x1b[2J;main;parse;parse 10 0\n"
	                          "work;main;parse 10 90\n"
	                          "work;main;parse;std::map<int, std::string>::find(int const&) "
	                          "50 0\n");
	unlink(path);
	rmdir(dir);
	end_sides(&sides);
}

/* Puts the baseline alone on the screen, as it is while the new side is read. */
static void start_half(struct sides *s, struct view_compare *none, struct view_compare *half)
{
	struct view_opts opts = { .sz = sizeof(opts),
		                  .title = "a -> b",
		                  .columns = columns,
		                  .n_columns = 2,
		                  .annotate = annotated,
		                  .compare = none };
	struct view_news news = { .owned = true, .compare = half };

	*s = (struct sides){ 0 };
	s->base = made();
	s->t.profile = made_later();
	*none = (struct view_compare){
		.n_columns = 2, .columns = columns, .confidence = 0.95, .runs = { 1, 1 }
	};
	*half = *none;
	half->half = true;
	assert_int_equal(view_new(&s->t.view, &opts), 0);
	draw(&s->t);
	news.profile = made();
	half->side[0] = half->side[1] = news.profile;
	assert_int_equal(view_renew(s->t.view, &news), 0);
	draw(&s->t);
}

/* Both sides are there. */
static void put_sides(struct sides *s)
{
	struct view_news news = { .profile = s->t.profile, .compare = &s->compare };

	s->rows[0] = (struct compare_row){ .value = { "work", "parse" },
		                           .event = "cycles",
		                           .object = "work",
		                           .symbol = "parse",
		                           .base = 0.20,
		                           .next = 0.90,
		                           .share = 0.90,
		                           .verdict = 1 };
	s->rows[1] = (struct compare_row){ .value = { "work", "main" },
		                           .event = "cycles",
		                           .object = "work",
		                           .symbol = "main",
		                           .base = 0.01,
		                           .share = 0.01 };
	s->compare = (struct view_compare){ .rows = s->rows,
		                            .n_rows = 2,
		                            .n_columns = 2,
		                            .columns = columns,
		                            .confidence = 0.95,
		                            .runs = { 1, 1 },
		                            .side = { s->base, s->t.profile } };
	assert_int_equal(view_renew(s->t.view, &news), 0);
	draw(&s->t);
}

/* No row of what is shown has a figure of the new side, or a difference. */
static void nothing_is_claimed(struct test *t)
{
	for (unsigned i = 3; i < ROWS - 1; i++) {
		const char *figure = strchr(t->screen.row[i], '%');

		assert_null(strpbrk(t->screen.row[i], "~\xb1"));
		assert_true(!figure || (strstr(figure, "...") && !strchr(figure + 1, '%')));
	}
}

/* What is known of the baseline is shown before the new side is there, and of the new side nothing;
 * then both come below what a person looks at. */
static void one_side_is_shown_first(void **state)
{
	struct view_compare none, half;
	struct sides sides;
	struct test *t = &sides.t;

	(void)state;
	start_half(&sides, &none, &half);
	row_has(t, 0, "cycles  4 -> ...");
	row_is(t, 2, "Base*      New    Delta");
	row_is(t, 3, "50.00%      ...      ...");
	row_has(t, 3, "std::map");
	nothing_is_claimed(t);
	keys(t, "sss"); /* whatever the order is to be: the baseline's figures are there alone */
	row_is(t, 3, "50.00%      ...      ...");
	keys(t, "s23E");
	nothing_is_claimed(t);
	keys(t, "45");
	nothing_is_claimed(t);
	keys(t, "1a");
	row_has(t, ROWS - 1, "when both are read");
	keys(t, "wx.folded\n");
	row_has(t, ROWS - 1, "still to be read");
	keys(t, "/parse\n\n");
	row_has(t, 3, "called by");
	row_has(t, 6, "the function, with what it called");
	nothing_is_claimed(t);
	put_sides(&sides);
	row_has(t, 0, "cycles  4 -> 2 samples");
	row_has(t, 6, "the function, with what it called");
	row_is(t, 7, "70.00%   90.00%  +20.00%");
	key(t, VIEW_KEY_ESCAPE);
	row_has(t, 0, "with 'parse'");
	row_is(t, 3, "20.00%   90.00%  +70.00%");
	row_has(t, ROWS - 1, "1/1");
	end_sides(&sides);
}

/* The tree's open branches and the line that a person is on stay; an event that one side alone has
 * is not shown any more. */
static void what_was_done_meanwhile_stays(void **state)
{
	struct view_compare none, half;
	struct sides sides;
	struct test *t = &sides.t;

	(void)state;
	start_half(&sides, &none, &half);
	keys(t, "2Ej");
	row_has(t, 4, "parse (work)");
	put_sides(&sides);
	row_has(t, 0, "cycles  4 -> 2 samples");
	keys(t, "a");
	row_is(t, 3, "parse of work");
	end_sides(&sides);

	start_half(&sides, &none, &half);
	keys(t, ">");
	row_has(t, 0, "page-faults  1 -> ...");
	put_sides(&sides);
	keys(t, "2");
	row_has(t, 0, "cycles  4 -> 2 samples");
	end_sides(&sides);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_sides_are_compared),
		cmocka_unit_test(two_trees_are_one),
		cmocka_unit_test(two_sides_have_sections),
		cmocka_unit_test(marks_are_of_both_sides),
		cmocka_unit_test(both_sides_are_written),
		cmocka_unit_test(one_side_is_shown_first),
		cmocka_unit_test(what_was_done_meanwhile_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
