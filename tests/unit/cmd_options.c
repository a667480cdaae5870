// SPDX-License-Identifier: MIT
// Unit tests of cmd/options: how an argv is walked by a command's table.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/cmd.h"

static const struct option_def defs[] = {
	{ "freq", 'F', "HZ", "", 1 },
	{ "all", 'a', NULL, "", 2 },
	{ "verbose", 'v', NULL, "", 3 },
	{ "stats", 0, NULL, "", 4 },
	{ "stdio", 0, NULL, "", 5 },
	{ "compress", 'z', "[LEVEL]", "", 6 },
	{ "stat", 0, NULL, "", 7 },
	{ "force", 'f', NULL, "", OPTIONS_ACCEPTED },
	{ 0 },
};
static const struct cmd cmd_any = { .name = "any", .options = defs };
static const struct cmd cmd_stop = { .name = "stop", .options = defs, .stops_at_operand = true };

/* cmds_print() and the table are main's; the help of a single command does not need them. */

static void walks_every_form(void **state)
{
	const char *argv[] = { "any",      "-F",      "99", "-F997", "-av",
		               "--freq=1", "--freq",  "2",  "op",    "--compress=3",
		               "-z",       "--stati", "x",  NULL };
	struct options o = options_start(13, (char **)argv, &cmd_any);

	assert_int_equal(options_next(&o), 1);
	assert_string_equal(o.arg, "99");
	assert_int_equal(options_next(&o), 1);
	assert_string_equal(o.arg, "997");
	assert_int_equal(options_next(&o), 2);
	assert_int_equal(options_next(&o), 3);
	assert_int_equal(options_next(&o), 1);
	assert_string_equal(o.arg, "1");
	assert_int_equal(options_next(&o), 1);
	assert_string_equal(o.arg, "2");
	assert_int_equal(options_next(&o), OPTIONS_OPERAND);
	assert_string_equal(o.arg, "op");
	assert_int_equal(options_next(&o), 6);
	assert_string_equal(o.arg, "3");
	assert_int_equal(options_next(&o), 6);
	assert_null(o.arg);
	assert_int_equal(options_next(&o), OPTIONS_USAGE); /* --stati is nothing's beginning */
}

static void takes_what_perf_users_type(void **state)
{
	const char *argv[] = { "any", "-af", "--force", "-z3", "-zv", "-f", NULL };
	struct options o = options_start(6, (char **)argv, &cmd_any);

	assert_int_equal(options_next(&o), 2); /* -f and --force change nothing and are not told */
	assert_int_equal(options_next(&o), 6);
	assert_string_equal(o.arg, "3");
	assert_int_equal(options_next(&o), 6);
	assert_null(o.arg);
	assert_int_equal(options_next(&o), 3);
	assert_int_equal(options_next(&o), OPTIONS_END);
}

static void exact_name_wins_over_prefix(void **state)
{
	const char *argv[] = { "any", "--stat", "--stats", "--verb", "--st", NULL };
	struct options o = options_start(5, (char **)argv, &cmd_any);

	assert_int_equal(options_next(&o), 7);
	assert_int_equal(options_next(&o), 4);
	assert_int_equal(options_next(&o), 3);
	assert_int_equal(options_next(&o), OPTIONS_USAGE); /* stat, stats, stdio */
}

static void stops_where_the_command_begins(void **state)
{
	const char *argv[] = { "stop", "-a", "ls", "-F", NULL };
	const char *dashes[] = { "stop", "-a", "--", "-F", NULL };
	struct options o = options_start(4, (char **)argv, &cmd_stop);

	assert_int_equal(options_next(&o), 2);
	assert_int_equal(options_next(&o), OPTIONS_END);
	assert_string_equal(o.argv[o.at], "ls");
	o = options_start(4, (char **)dashes, &cmd_stop);
	assert_int_equal(options_next(&o), 2);
	assert_int_equal(options_next(&o), OPTIONS_END);
	assert_string_equal(o.argv[o.at], "-F");
}

static void refuses_what_is_wrong(void **state)
{
	const char *missing[] = { "any", "-F", NULL }, *unknown[] = { "any", "-x", NULL },
	           *extra[] = { "any", "--all=1", NULL };
	struct options o = options_start(2, (char **)missing, &cmd_any);

	assert_int_equal(options_next(&o), OPTIONS_USAGE);
	o = options_start(2, (char **)unknown, &cmd_any);
	assert_int_equal(options_next(&o), OPTIONS_USAGE);
	o = options_start(2, (char **)extra, &cmd_any);
	assert_int_equal(options_next(&o), OPTIONS_USAGE);
}

static void numbers_have_limits(void **state)
{
	struct options o = { .cmd = &cmd_any };
	unsigned long long v = 5;

	for (const char *const *bad = (const char *const[]){ "", "x", "1x", "-1", " 1", "101",
	                                                     "99999999999999999999", NULL };
	     *bad; bad++) {
		o.arg = *bad;
		assert_true(options_u64(&o, "-F", 1, 100, &v) < 0);
		assert_int_equal(v, 5);
	}
	o.arg = "100";
	assert_int_equal(options_u64(&o, "-F", 1, 100, &v), 0);
	assert_int_equal(v, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_every_form),
		cmocka_unit_test(takes_what_perf_users_type),
		cmocka_unit_test(exact_name_wins_over_prefix),
		cmocka_unit_test(stops_where_the_command_begins),
		cmocka_unit_test(refuses_what_is_wrong),
		cmocka_unit_test(numbers_have_limits),
	};

	return cmocka_run_group_tests_name("cli_options", tests, NULL, NULL);
}
