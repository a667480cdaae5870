// SPDX-License-Identifier: MIT
// base_shown.c: what people see of names that were made to mislead them; numbers stay as printf has
// them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/shown.h"

static void same(const char *text, const char *expected)
{
	struct buf b = { 0 };

	assert_int_equal(shown_put_text(&b, text), 0);
	assert_string_equal(buf_text(&b), expected);
	assert_int_equal(shown_length(text), strlen(expected));
	buf_free(&b);
}

static void test_names(void **state)
{
	same("", "");
	same("std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(int&&)");
	same("App\\Kernel::run", "App\\Kernel::run");
	same("\\x1b[2J", "\\\\x1b[2J"); /* no ESC, and must not look like one */
	same("a\\nb\\u202e", "a\\\\nb\\\\u202e");
	same("\\\\x1b", "\\\\\\\\x1b");
	same("C:\\Users\\xyz\\", "C:\\Users\\xyz\\");
	same("\\\033", "\\\\\\x1b");
	same("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	same("a\nb\rc\td", "a\\nb\\rc\\td");
	same("\033[2J\a\x7f", "\\x1b[2J\\x07\\x7f");
	same("\xc2\x9b"
	     "31m",
	     "\\u009b31m");             /* a control of the second set, as UTF-8 */
	same("\x9b\xff", "\\x9b\\xff"); /* and as bytes that are none */
	same("x\xe2\x80\xaegnp", "x\\u202egnp");
	same("\xe2\x80\xa8", "\\u2028");
	same("\xf3\xa0\x81\x81", "\\U000e0041");
	same("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* half of a pair */
	same("\xe2\x80", "\\xe2\\x80");          /* cut off */
}

static void test_printf(void **state)
{
	struct buf b = { 0 };
	char expected[400];
	const char *s = "plain";

	snprintf(expected, sizeof(expected),
	         "%d|%-5d|%05u|%+i|%x|%#llx|%lu|%zu|%hhu|%.2f|%7.2f|%+7.1f|%g|%e|%%|%s|%-8s|%8s|%*"
	         "s|%-*s|%.3s|%c|%.*s",
	         -3, 4, 5u, 6, 0xabu, 0x1234567890abcdefULL, 8ul, (size_t)9, (unsigned char)200,
	         1.5, 2.5, 3.25, 0.5, 1e10, s, s, s, 7, s, 7, s, s, 'c', 2, s);
	shown_printf(&b,
	             "%d|%-5d|%05u|%+i|%x|%#llx|%lu|%zu|%hhu|%.2f|%7.2f|%+7.1f|%g|%e|%%|%s|%-8s|%"
	             "8s|%*s|%-*s|%.3s|%c|%.*s",
	             -3, 4, 5u, 6, 0xabu, 0x1234567890abcdefULL, 8ul, (size_t)9, (unsigned char)200,
	             1.5, 2.5, 3.25, 0.5, 1e10, s, s, s, 7, s, 7, s, s, 'c', 2, s);
	assert_string_equal(buf_text(&b), expected);
	buf_clear(&b);
	/* The format's own line end stays; a string's does not. Widths are of what is seen. */
	shown_printf(&b, "[%6s]\n[%-6s]\n%c", "\n", "\a", '\033');
	assert_string_equal(buf_text(&b), "[    \\n]\n[\\x07  ]\n\\x1b");
	buf_free(&b);
}

static void cut(const char *text, size_t room, size_t end, const char *expected)
{
	struct buf b = { 0 };

	shown_cut(&b, text, room, end);
	assert_string_equal(buf_text(&b), expected);
	assert_true(shown_columns(buf_text(&b), b.n) <= room);
	buf_free(&b);
}

#define DOTS "\xe2\x80\xa6"
#define SUN "\xe6\x97\xa5" /* two columns */
#define TREMA "u\xcc\x88"  /* one, of two characters */

/* Of a text without room the end that tells it from others stays, or both sides, in whole
 * characters. */
static void test_cut(void **state)
{
	assert_int_equal(shown_columns("a" SUN TREMA, 7), 4);
	cut("short", 5, 0, "short");
	cut("", 0, 0, "");
	cut("anything", 0, 0, "");
	cut("anything", 1, 0, DOTS);
	cut("a_name_of_20_columns", 11, 0, "a_name_of_" DOTS);
	cut("a_name_of_20_columns", 12, 0, "a_name_" DOTS "umns");
	cut("a_name_of_20_columns", 18, 0, "a_name_of_2" DOTS "olumns");
	cut("a_name_of_20_columns", 19, 0, "a_name_of_20" DOTS "olumns");
	cut("[unknown libfoo.so+0x12]", 12, 6, "[unkn" DOTS "+0x12]");
	cut("[unknown libfoo.so+0x12]", 7, 6, DOTS "+0x12]");
	cut("[unknown libfoo.so+0x12]", 6, 6, DOTS "0x12]");
	cut("[unknown libfoo.so+0x12]", 1, 6, DOTS);
	/* Half a character is none, and an accent stays with its letter. */
	cut(SUN SUN SUN, 5, 0, SUN SUN DOTS);
	cut(SUN SUN SUN, 4, 0, SUN DOTS);
	cut(TREMA TREMA TREMA, 2, 0, TREMA DOTS);
	cut(SUN SUN SUN SUN SUN SUN SUN SUN SUN, 16, 0, SUN SUN SUN SUN SUN DOTS SUN SUN);
	cut("\x9b\xff bytes", 4, 0, "\x9b\xff " DOTS);
}

/* JSON keeps the text, in a spelling that a terminal does not obey. */
static void test_json(void **state)
{
	struct buf b = { 0 };
	struct json j = { .out = &b };

	json_string(&j, "\033\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81\xff");
	assert_string_equal(buf_text(&b), "\"\\u001b\\u009b\\u202e\\udb40\\udc41\xef\xbf\xbd\"");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_printf),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
