// SPDX-License-Identifier: MIT
// symbol_kallsyms.c: addresses of a list of symbols, against strtoull and the rule that digits are
// in lower case; and where a name ends.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "symbol/kallsyms.h"

/* The table of a list of n bytes. */
static void table_of(struct table *table, const char *text, size_t n, const char *module)
{
	struct kallsyms k = { 0 };

	*table = (struct table){ 0 };
	buf_put(&k.text, text, n);
	assert_int_equal(kallsyms_table(&k, module, table, NULL), 0);
	kallsyms_free(&k);
}

/* A line with this address names it, or nothing. */
static void check(const char *digits, size_t n, bool named)
{
	char line[64], value[32];
	struct table table;
	int length = snprintf(line, sizeof(line), "%.*s T name\n", (int)n, digits);

	table_of(&table, line, (size_t)length, NULL);
	assert_int_equal(table.n, named);
	if (named) {
		snprintf(value, sizeof(value), "%.*s", (int)n, digits);
		assert_true(table.symbols[0].start == strtoull(value, NULL, 16));
		assert_string_equal(table_name(&table, table.symbols[0].name), "name");
	}
	table_free(&table);
}

static void test_digits(void **state)
{
	const char *all = "0123456789abcdef", *most = "fedcba9876543210f";
	char digits[17] = { 0 };

	for (size_t n = 1; n <= 17; n++)
		check(most, n, n <= 16);
	for (size_t at = 0; at < 16; at++) {
		for (int c = 1; c < 256; c++) {
			memcpy(digits, "ffffffff81a0b0c0", 16);
			digits[at] = (char)c;
			if (c != '\n') /* what follows would be a line of its own */
				check(digits, 16, memchr(all, c, 16) != NULL);
		}
	}
}

static void test_names(void **state)
{
	static const char list[] = "ffffffff81000000 t a\n"
	                           "ffffffff81000010 T array[3]\n"
	                           "ffffffffc0000000 t in\t[one]\n"
	                           "ffffffffc0000010 t in\t[two]\n"
	                           "ffffffffc0000020 t last\t[one]";
	struct table table;

	table_of(&table, list, sizeof(list) - 1, "one");
	assert_int_equal(table.n, 2);
	assert_string_equal(table_name(&table, table.symbols[0].name), "in");
	assert_string_equal(table_name(&table, table.symbols[1].name), "last");
	table_free(&table);
	table_of(&table, list, sizeof(list) - 1, NULL);
	assert_int_equal(table.n, 2);
	assert_string_equal(table_name(&table, table.symbols[0].name), "a");
	assert_string_equal(table_name(&table, table.symbols[1].name), "array[3]");
	table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_digits),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
