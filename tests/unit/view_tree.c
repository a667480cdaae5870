// SPDX-License-Identifier: MIT
// Unit tests of view/: branches of the call tree are opened and closed.
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
	       "30.00%    0.00%     - k_write ([kernel.kallsyms])"); /* a chain opens at once */
	row_is(&t, 7, "30.00%   30.00%       k_copy ([kernel.kallsyms])");
	keys(&t, "C");
	row_has(&t, ROWS - 1, "1/1");
	keys(&t, "H");
	row_is(&t, 5, "50.00%   50.00%");
	assert_true(t.screen.style[5] & VIEW_CURSOR); /* where it ends */
	keys(&t, "E");
	row_has(&t, ROWS - 1, "/7");
	keys(&t, "3");
	row_is(&t, 3, "50.00%          + std::map");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tree_opens_and_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
