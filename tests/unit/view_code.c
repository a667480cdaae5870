// SPDX-License-Identifier: MIT
// Unit tests of view/: a function's source and instructions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view_screen.h"

static int code(void *ctx, const struct view_function *f, int stop, struct buf *out)
{
	(void)f;
	(void)stop;
	return buf_put_text(out, ctx);
}

static void start_with(struct test *t, const char *text)
{
	static const enum rollup_column columns[] = { ROLLUP_SYMBOL };
	struct view_opts opts = { .sz = sizeof(opts),
		                  .title = "perf.data",
		                  .columns = columns,
		                  .n_columns = 1,
		                  .annotate = code,
		                  .ctx = (void *)text };

	t->profile = made();
	opts.profile = t->profile;
	assert_int_equal(view_new(&t->view, &opts), 0);
	draw(t);
	keys(t, "a");
}

/* The row of the cursor begins with a text, after blanks. */
static void cursor_is(struct test *t, const char *text)
{
	unsigned row = 3;

	while (row < ROWS - 1 && !(t->screen.style[row] & VIEW_CURSOR))
		row++;
	row_is(t, row, text);
}

static void h_goes_to_what_is_hottest(void **state)
{
	struct test t;

	(void)state;
	start_with(&t, "parse in work: 9 samples; percent of the function's\n"
	               "   90.00  3.c:7\n"
	               "         : work.c\n"
	               "    5.00 :     10:  push\n"
	               "   40.00 :     12:  add\n"
	               "         :     14:  nop\n"
	               "   15.00 :     16:  pop\n"
	               "   40.00 :     18:  ret\n");
	cursor_is(&t, "parse in work");
	keys(&t, "H");
	cursor_is(&t, "40.00 :     12:");
	keys(&t, "H");
	cursor_is(&t, "40.00 :     18:");
	keys(&t, "HH");
	cursor_is(&t, "5.00 :     10:");
	/* There is none below it. */
	keys(&t, "H");
	cursor_is(&t, "5.00 :     10:");
	keys(&t, "jjH");
	cursor_is(&t, "40.00 :     12:");
	end(&t);
	/* Of two sides the new one counts. */
	start_with(&t, "parse\n"
	               "   90.00     1.00   10: push\n"
	               "    1.00    60.00   12: add\n"
	               "            39.00   14: pop\n");
	keys(&t, "H");
	cursor_is(&t, "1.00    60.00   12: add");
	keys(&t, "H");
	cursor_is(&t, "39.00   14: pop");
	end(&t);
	/* Nothing is hot: the cursor stays. */
	start_with(&t, "parse\n         :     10:  push\n");
	keys(&t, "jH");
	cursor_is(&t, ":     10:  push");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(h_goes_to_what_is_hottest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
