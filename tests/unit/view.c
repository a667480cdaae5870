// SPDX-License-Identifier: MIT
// Unit tests of view/: a small profile is walked through by keys, and the screen is compared with
// what a person has to see.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/shown.h"
#include "profile/elided.h"
#include "view/compare.h"
#include "view/view.h"

#define ROWS 14
#define COLUMNS 80

static uint32_t frame(struct profile *p, const char *object, const char *symbol, unsigned kind)
{
	struct profile_frame f = { .address = strlen(symbol), .kind = kind };

	f.object = profile_object(p, object, NULL);
	f.symbol = profile_string(p, symbol);
	return profile_frame(p, &f);
}

static void add(struct profile *p, uint32_t event, const char *comm, const char *const *stack,
                uint64_t weight)
{
	struct profile_key key = { .event = event,
		                   .task = profile_task(p, profile_string(p, comm), 1, 1) };

	for (; *stack; stack++) {
		bool kernel = !strncmp(*stack, "k_", 2);

		key.node = profile_node(p, key.node,
		                        frame(p, kernel ? "[kernel.kallsyms]" : "/usr/bin/work",
		                              *stack, kernel ? PROFILE_KERNEL : PROFILE_USER));
	}
	assert_int_equal(profile_add(p, &key, 1, weight), 0);
}

#define STACK(...)                \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

static struct profile *made(void)
{
	const struct profile_state state = { .name = "whole", .text = "whole", .whole = true };
	struct profile *p, *canonical;
	uint32_t cycles, faults;

	assert_int_equal(profile_new(&p, 0), 0);
	cycles = profile_event(p, "cycles");
	faults = profile_event(p, "page-faults");
	profile_set_state(p, 0, &state);
	add(p, cycles, "work",
	    STACK("main", "parse", "std::map<int, std::string>::find(int const&)"), 50);
	add(p, cycles, "work", STACK("main", "parse"), 10);
	add(p, cycles, "work", STACK("main", "write_all", "k_write", "k_copy"), 30);
	add(p, cycles, "other\n\033[2J", STACK("main", "parse", "parse"), 10);
	add(p, faults, "work", STACK("main", "fault_here"), 1);
	assert_int_equal(profile_canonical(&canonical, p), 0);
	profile_free(p);
	return canonical;
}

static int annotated(void *ctx, const char *object, const char *symbol, struct buf *out)
{
	(void)ctx;
	return buf_printf(out, "%s of %s\n\tret\n", symbol, object);
}

struct screen {
	char row[ROWS][COLUMNS * 4 + 1];
	unsigned style[ROWS]; /* of what was put last */
};

/* Overwrites columns of a row. What stands there has no wide characters but an ellipsis. */
static void put(void *ctx, unsigned row, unsigned column, unsigned style, const char *text)
{
	struct screen *s = ctx;
	size_t have = shown_columns(s->row[row], strlen(s->row[row]));

	assert_true(row < ROWS);
	assert_true(column + shown_columns(text, strlen(text)) <= COLUMNS);
	for (; have < column; have++)
		strcat(s->row[row], " ");
	s->row[row][column < strlen(s->row[row]) ? column : strlen(s->row[row])] = 0;
	strcat(s->row[row], text);
	s->style[row] = style;
}

struct test {
	struct profile *profile;
	struct view *view;
	struct screen screen;
};

static void draw(struct test *t)
{
	const struct view_screen s = { ROWS, COLUMNS, &t->screen, put };

	memset(&t->screen, 0, sizeof(t->screen));
	view_draw(t->view, &s);
}

static void start(struct test *t)
{
	static const enum rollup_column columns[] = { ROLLUP_COMM, ROLLUP_OBJECT, ROLLUP_SYMBOL };
	struct view_opts opts = { .sz = sizeof(opts),
		                  .title = "perf.data",
		                  .columns = columns,
		                  .n_columns = 3,
		                  .account = "5 samples: all whole\nsecond line\n",
		                  .annotate = annotated };

	t->profile = made();
	opts.profile = t->profile;
	assert_int_equal(view_new(&t->view, &opts), 0);
	draw(t);
}

static void end(struct test *t)
{
	view_free(t->view);
	profile_free(t->profile);
}

static void keys(struct test *t, const char *text)
{
	for (; *text; text++)
		assert_int_equal(view_key(t->view, *text), 0);
	draw(t);
}

static void key(struct test *t, int k)
{
	assert_int_equal(view_key(t->view, k), 0);
	draw(t);
}

/* Whether a row of the screen begins with a text, after blanks. */
static void row_is(struct test *t, unsigned row, const char *text)
{
	const char *have = t->screen.row[row] + strspn(t->screen.row[row], " ");

	if (strncmp(have, text, strlen(text)))
		fail_msg("row %u is '%s', not '%s'", row, have, text);
}

static void row_has(struct test *t, unsigned row, const char *text)
{
	if (!strstr(t->screen.row[row], text))
		fail_msg("row %u is '%s', without '%s'", row, t->screen.row[row], text);
}

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
	row_has(&t, 0, "1 samples  of other\\n\\x1b[2J");
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
	row_has(&t, ROWS - 1, "1/8");
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

static void the_tree_opens_and_closes(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "2");
	row_is(&t, 3, "100.00%    0.00% + main (work)");
	row_has(&t, ROWS - 1, "1/1");
	keys(&t, "\n");
	row_is(&t, 3, "100.00%    0.00% - main (work)");
	row_is(&t, 4, "70.00%   10.00%   + parse (work)");
	row_is(&t, 5, "30.00%    0.00%   + write_all (work)");
	keys(&t, "jj");
	key(&t, VIEW_KEY_RIGHT);
	row_is(&t, 5, "30.00%    0.00%   - write_all (work)");
	row_is(&t, 6,
	       "30.00%    0.00%   - k_write ([kernel.kallsyms])"); /* a chain opens at once */
	row_is(&t, 7, "30.00%   30.00%     k_copy ([kernel.kallsyms])");
	keys(&t, "C");
	row_has(&t, ROWS - 1, "1/1");
	keys(&t, "H");
	row_is(&t, 5, "50.00%   50.00%");
	keys(&t, "E");
	row_has(&t, ROWS - 1, "/7");
	keys(&t, "3");
	row_is(&t, 3, "50.00%          + std::map");
	end(&t);
}

static void objects_and_events_can_be_chosen(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "4");
	row_is(&t, 3, "100.00%   70.00%  work");
	keys(&t, "j\n");
	row_has(&t, 0, "of [kernel.kallsyms]");
	row_has(&t, ROWS - 1, "1/2");
	keys(&t, ">");
	row_has(&t, 0, "page-faults  1 samples");
	keys(&t, ">");
	row_has(&t, 0, "cycles");
	keys(&t, "<");
	row_has(&t, 0, "page-faults");
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
	row_is(&t, 3, "MOVING");
	key(&t, VIEW_KEY_END);
	assert_int_equal(view_key(t.view, 'q'), 1);
	end(&t);
}

static void a_pane_is_written_to_a_new_file(void **state)
{
	char dir[] = "/tmp/seam-view-XXXXXX", path[64], line[256];
	struct test t;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f", dir);
	start(&t);
	keys(&t, "w");
	keys(&t, path);
	row_has(&t, ROWS - 1, "write to: ");
	keys(&t, "\n");
	row_has(&t, ROWS - 1, "written");
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_non_null(strstr(line, "Total*"));
	assert_non_null(fgets(line, sizeof(line), f));
	assert_non_null(strstr(line, "[.] main"));
	fclose(f);
	keys(&t, "w");
	keys(&t, path);
	keys(&t, "\n");
	row_has(&t, ROWS - 1, "File exists");
	unlink(path);
	rmdir(dir);
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

/* Two threads, and three tenths of a second, of which the middle one has most. */
static struct profile *made_in_time(void)
{
	const struct profile_slices slices = { .quantum_ns = 100000000, .first = 20 };
	struct profile *p, *canonical;

	assert_int_equal(profile_new(&p, PROFILE_KEEP_PID | PROFILE_KEEP_TID | PROFILE_KEEP_SLICE),
	                 0);
	profile_set_slices(p, &slices);
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_key key = {
			.event = profile_event(p, "cycles"),
			.task = profile_task(p, profile_string(p, "work"), 7, 7 + i % 2),
			.node = profile_node(p, 0,
			                     frame(p, "/usr/bin/work", i == 1 ? "busy" : "calm",
			                           PROFILE_USER)),
			.slice = i,
			.cpu = PROFILE_NOT_KEPT,
		};

		assert_int_equal(profile_add(p, &key, 1, i == 1 ? 60 : 20), 0);
	}
	assert_int_equal(profile_canonical(&canonical, p), 0);
	profile_free(p);
	return canonical;
}

/* Slices stand in order of time, each with a bar; Enter goes on with the samples of one, or of a
 * thread. */
static void threads_and_time(void **state)
{
	static const enum rollup_column columns[] = { ROLLUP_SYMBOL };
	struct test t = { .profile = made_in_time() };
	const struct view_opts opts = { .sz = sizeof(opts),
		                        .profile = t.profile,
		                        .title = "perf.data",
		                        .columns = columns,
		                        .n_columns = 1 };

	(void)state;
	assert_int_equal(view_new(&t.view, &opts), 0);
	keys(&t, "7");
	row_is(&t, 3, "20.00%   20.00%  2.0");
	row_is(&t, 4, "60.00%   60.00%  2.1");
	row_is(&t, 5, "20.00%   20.00%  2.2");
	row_has(&t, 4, "##########");
	assert_true(strlen(t.screen.row[4]) > 2 * strlen(t.screen.row[3]) - COLUMNS / 2);
	keys(&t, "j\n");
	row_has(&t, 0, "1 samples  of 2.1");
	row_is(&t, 3, "100.00%  100.00%  [.] busy");
	key(&t, VIEW_KEY_ESCAPE);
	keys(&t, "6");
	row_is(&t, 3, "60.00%   60.00%  8 ");
	row_has(&t, 3, "work");
	keys(&t, "j\n");
	row_has(&t, 0, "2 samples  of 7");
	row_is(&t, 3, "100.00%  100.00%  [.] calm");
	end(&t);
}

/* What a profile does not keep is said, and the section stays. */
static void no_threads_and_no_time(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "7");
	row_has(&t, ROWS - 1, "that is not known of these samples");
	row_is(&t, 2, "Total*     Self  Command");
	keys(&t, "6");
	row_has(&t, ROWS - 1, "that is not known of these samples");
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
	row_has(&t, ROWS - 1, "there is no function on this line");
	end(&t);
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

/* Other samples of the same program: parse has more, write_all is gone, main calls something
 * new. */
static struct profile *made_later(void)
{
	struct profile *p, *canonical;
	uint32_t cycles;

	assert_int_equal(profile_new(&p, 0), 0);
	profile_event(p, "page-faults");
	cycles = profile_event(p, "cycles");
	add(p, cycles, "work", STACK("main", "new_one"), 10);
	add(p, cycles, "work", STACK("main", "parse"), 90);
	assert_int_equal(profile_canonical(&canonical, p), 0);
	profile_free(p);
	return canonical;
}

static void renew(struct test *t, struct profile *p, const char *title)
{
	struct view_news news = {
		.profile = p, .owned = true, .title = strdup(title), .account = strdup("later\n")
	};

	assert_int_equal(view_renew(t->view, &news), 0);
	assert_null(news.profile);
	draw(t);
}

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
	row_has(&t, 4, "- parse"); /* it was open; what is new is not */
	row_has(&t, 7, "+ write_all");
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
	row_has(&t, 0, "page-faults  0 samples"); /* sampled, but not in this while */
	renew(&t, made(), "third");
	row_has(&t, 0, "page-faults  1 samples");
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

/* Two sides: rows with both figures and what noise could be; a function has callers and callees of
 * both sides. */
static void two_sides_are_compared(void **state)
{
	static const enum rollup_column columns[] = { ROLLUP_OBJECT, ROLLUP_SYMBOL };
	static const struct compare_row rows[] = {
		{ .value = { "work", "parse" },
		  .event = "cycles",
		  .object = "work",
		  .symbol = "parse",
		  .base = 0.20,
		  .next = 0.90,
		  .share = 0.90,
		  .noise = { .margin = 0.1, .ratio = 4.5, .least = 3, .most = 6 },
		  .verdict = 1 },
		{ .value = { "[kernel.kallsyms]", "k_\033[2Jcopy" },
		  .event = "cycles",
		  .base = 0.30,
		  .next = 0.31,
		  .share = 0.31,
		  .noise = { .margin = 0.2, .ratio = 1, .least = 0.5, .most = 2 } },
	};
	struct profile *base = made();
	struct test t = { .profile = made_later() };
	struct view_compare compare = { .rows = rows,
		                        .n_rows = 2,
		                        .n_columns = 2,
		                        .columns = columns,
		                        .confidence = 0.95,
		                        .side = { base, t.profile } };
	const struct view_opts opts = { .sz = sizeof(opts),
		                        .profile = t.profile,
		                        .title = "a -> b",
		                        .account = "baseline\n",
		                        .columns = columns,
		                        .n_columns = 2,
		                        .compare = &compare };

	(void)state;
	assert_int_equal(view_new(&t.view, &opts), 0);
	draw(&t);
	row_is(&t, 0, "a -> b  ");
	row_is(&t, 1, "1 compared  2 how sure");
	row_is(&t, 2, "Base      New   Delta*      \xc2\xb1");
	row_is(&t, 3, "20.00%   90.00%  +70.00% ");
	row_has(&t, 3, "10.00  ");
	row_has(&t, 3, "work");
	row_has(&t, 3, "parse");
	row_is(&t, 4, "30.00%   31.00%   +1.00% ");
	row_has(&t, 4, "20.00 ~");
	row_has(&t, 4, "[kernel");
	row_has(&t, 4, "k_\\x1b[2Jcopy");
	keys(&t, "sss");
	row_is(&t, 2, "Base      New    Delta"); /* by ratio, for which this screen has no room */
	keys(&t, "j\n");
	row_has(&t, ROWS - 1, "there is no function on this line");
	keys(&t, "g\n");
	row_is(&t, 3, "called by");
	row_is(&t, 4, "60.00%   90.00%  +30.00%");
	row_has(&t, 4, "main (work)");
	row_is(&t, 5, "10.00%    0.00%  -10.00%");
	row_is(&t, 6, "the function, with what it called");
	row_is(&t, 7, "70.00%   90.00%  +20.00%");
	row_is(&t, 8, "called");
	row_is(&t, 9, "50.00%    0.00%  -50.00%");
	keys(&t, "gj\n"); /* main's own */
	row_has(&t, 4, "the function, with what it called");
	row_has(&t, 5, "100.00%  100.00%");
	row_is(&t, 8, "30.00%    0.00%  -30.00%");
	row_has(&t, 8, "write_all (work)");
	key(&t, VIEW_KEY_ESCAPE);
	key(&t, VIEW_KEY_ESCAPE);
	keys(&t, "/copy\n");
	row_has(&t, ROWS - 1, "1/1");
	keys(&t, "2");
	row_is(&t, 3, "baseline");
	keys(&t, "3d>mnM"); /* keys that are of one side's samples */
	row_is(&t, 3, "baseline");
	end(&t);
	profile_free(base);
}

/* Sort keys are chosen inside, of those that the samples have. */
static void sort_keys_are_chosen(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "Ssym");
	row_has(&t, ROWS - 1, "sort keys: sym_");
	keys(&t, "\n");
	row_is(&t, 2, "Total*     Self  Symbol");
	row_has(&t, ROWS - 1, "1/6"); /* parse of both commands is one */
	keys(&t, "Sdso,comm\n");
	row_is(&t, 2, "Total*     Self  Object");
	row_has(&t, 2, "Command");
	keys(&t, "S\n");
	row_has(&t, ROWS - 1, "event comm state dso sym build_id");
	keys(&t, "Stid\n");
	row_has(&t, ROWS - 1, "no 'tid' here: event comm");
	keys(&t, "Ssrcline\n");
	row_has(&t, ROWS - 1, "no 'srcline' here");
	row_is(&t, 2, "Total*     Self  Object");
	keys(&t, "Sstate\n\n");
	row_has(&t, 0, "4 samples  of whole");
	row_is(&t, 2, "Total*     Self  Stack state");
	end(&t);
}

/* The name of the file says the format; the samples are those that are shown. */
static void shown_samples_are_exported(void **state)
{
	char dir[] = "/tmp/seam-view-XXXXXX", path[64], text[512] = "";
	struct test t;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f.folded", dir);
	start(&t);
	keys(&t, "5\n"); /* of work */
	keys(&t, "/k_copy\nw");
	keys(&t, path);
	keys(&t, "\n");
	row_has(&t, ROWS - 1, "written");
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	assert_string_equal(text, "work;main;write_all;k_write;k_copy 30\n");
	unlink(path);
	rmdir(dir);
	end(&t);
}

/* Samples with a marked function in their stack, whichever it is. */
static void marked_functions_choose_samples(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "M");
	row_has(&t, ROWS - 1, "nothing is marked");
	keys(&t, "/k_copy\nm");
	key(&t, VIEW_KEY_ESCAPE);
	keys(&t, "M");
	row_has(&t, 0, "1 samples  of marked functions");
	row_has(&t, ROWS - 1, "1/4");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_time),
		cmocka_unit_test(no_threads_and_no_time),
		cmocka_unit_test(marks_are_of_functions),
		cmocka_unit_test(the_table_is_by_total_and_by_self),
		cmocka_unit_test(hostile_names_stay_in_their_row),
		cmocka_unit_test(the_filter_works_while_it_is_typed),
		cmocka_unit_test(a_function_has_callers_and_callees),
		cmocka_unit_test(a_recursive_function_counts_once),
		cmocka_unit_test(the_tree_opens_and_closes),
		cmocka_unit_test(objects_and_events_can_be_chosen),
		cmocka_unit_test(texts_are_panes),
		cmocka_unit_test(a_pane_is_written_to_a_new_file),
		cmocka_unit_test(small_screens_are_no_error),
		cmocka_unit_test(names_lose_their_arguments),
		cmocka_unit_test(texts_are_read_to_their_end),
		cmocka_unit_test(later_samples_come_below_the_panes),
		cmocka_unit_test(later_samples_come_below_zooms),
		cmocka_unit_test(what_moves_can_be_held),
		cmocka_unit_test(marked_functions_choose_samples),
		cmocka_unit_test(two_sides_are_compared),
		cmocka_unit_test(sort_keys_are_chosen),
		cmocka_unit_test(shown_samples_are_exported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
