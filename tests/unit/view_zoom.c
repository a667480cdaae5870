// SPDX-License-Identifier: MIT
// Unit tests of view/: other samples: of an object, an event, a thread, a time, marked functions;
// other sort keys.
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
	row_has(&t, 0, "page-faults  1 sample");
	keys(&t, ">");
	row_has(&t, 0, "cycles");
	keys(&t, "<");
	row_has(&t, 0, "page-faults");
	end(&t);
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
	row_has(&t, 0, "1 sample  of 2.1");
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

/* Of a function's row, where it says its command; and how to come to the other event is said. */
static void a_command_and_other_events(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	row_has(&t, 0, "cycles  4 samples  (event 1 of 2: >)");
	keys(&t, ">");
	row_has(&t, 0, "page-faults  1 sample  (event 2 of 2: >)");
	keys(&t, "<t");
	row_has(&t, 0, "3 samples  of work  (event 1 of 2: >)");
	key(&t, VIEW_KEY_ESCAPE);
	keys(&t, "Ssym\nt");
	row_has(&t, ROWS - 1, "this key does nothing here");
	row_has(&t, 0, "4 samples");
	end(&t);
}

/* Sort keys are chosen inside, of those that the samples have. */
static void sort_keys_are_chosen(void **state)
{
	struct test t;

	(void)state;
	start(&t);
	keys(&t, "S");
	row_has(&t, ROWS - 1, "sort keys: _  (Enter: which there are)");
	keys(&t, "sym");
	row_has(&t, ROWS - 1, "sort keys: sym_ ");
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
	row_has(&t, 0, "1 sample  of marked functions");
	row_has(&t, ROWS - 1, "1/4");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_and_events_can_be_chosen),
		cmocka_unit_test(threads_and_time),
		cmocka_unit_test(no_threads_and_no_time),
		cmocka_unit_test(a_command_and_other_events),
		cmocka_unit_test(sort_keys_are_chosen),
		cmocka_unit_test(marked_functions_choose_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
