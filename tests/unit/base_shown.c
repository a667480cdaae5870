// SPDX-License-Identifier: MIT
// base_shown.c: what people see of names that were made to mislead them; numbers stay as printf has
// them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <locale.h>
#include <stdio.h>
#include <wchar.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/shown.h"
#include "base/shown_wrap.h"
#include "base/shown_width.h"

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

/* The bytes of a character. */
static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x800)
		return (size_t)sprintf(to, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
	if (c < 0x10000)
		return (size_t)sprintf(to, "%c%c%c", (int)(0xe0 | c >> 12),
		                       (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
	return (size_t)sprintf(to, "%c%c%c%c", (int)(0xf0 | c >> 18),
	                       (int)(0x80 | (c >> 12 & 0x3f)), (int)(0x80 | (c >> 6 & 0x3f)),
	                       (int)(0x80 | (c & 0x3f)));
}

/* A terminal moves by what its C library says. Libraries know different versions of Unicode: some
 * hundred characters of the newest differ, which are in none of the parts that are compared as
 * they are. */
static void test_widths(void **state)
{
	static const uint32_t parts[][2] = {
		{ 0x20, 0x7e },       { 0xa1, 0xac },     { 0xae, 0x36f },    { 0x391, 0x52f },
		{ 0x1100, 0x11ff },   { 0x1ab0, 0x1abe }, { 0x1e00, 0x1eff }, { 0x2010, 0x2027 },
		{ 0x20d0, 0x20f0 },   { 0x2190, 0x23ff }, { 0x2500, 0x262f }, { 0x2690, 0x27bf },
		{ 0x3041, 0x3096 },   { 0x30a1, 0x30fa }, { 0x4e00, 0x9fa5 }, { 0xac00, 0xd7a3 },
		{ 0xfe00, 0xfe0f },   { 0xff01, 0xff60 }, { 0xff61, 0xff9f }, { 0x1f600, 0x1f64f },
		{ 0x20000, 0x2a6d6 },
	};
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), before;
	size_t others = 0;
	char text[8];

	(void)state;
	if (!utf8) {
		print_message("no locale C.UTF-8: widths are not compared\n");
		return;
	}
	before = uselocale(utf8);
	for (uint32_t c = 0xa0; c < 0x110000; c++) {
		int width = (c & ~0x7ffu) == 0xd800 || shown_hides(c) ? -1 : wcwidth((wchar_t)c);

		others += width >= 0 && (size_t)width != shown_width(c);
		if (width >= 0)
			assert_int_equal(shown_columns(text, put_utf8(text, c)), shown_width(c));
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		for (uint32_t c = parts[i][0]; c <= parts[i][1]; c++)
			if (!shown_hides(c) && wcwidth((wchar_t)c) >= 0)
				assert_int_equal(shown_width(c), wcwidth((wchar_t)c));
	uselocale(before);
	freelocale(utf8);
	print_message("%zu characters of another width than the C library's\n", others);
	assert_true(others < 2000);
}

/* Lines are broken between words; nothing is lost, and what fits stays as it is. */
static void test_wrap(void **state)
{
	static const char text[] =
	        "one two three\n  four five six seven\n\nlongest_word_of_all x\nend";
	static const struct {
		unsigned columns;
		const char *wanted;
	} cases[] = {
		{ 0, text },
		{ 80, text },
		{ 13,
		  "one two three\n  four five\n    six seven\n\nlongest_word_of_all\n  x\nend" },
		{ 9, "one two\n  three\n  four\n    five\n    six\n    seven\n\n"
		     "longest_word_of_all\n  x\nend" },
		{ 1, "one\n  two\n  three\n  four\n  five\n  six\n  seven\n\n"
		     "longest_word_of_all\n  x\nend" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf to = { 0 };

		assert_int_equal(shown_wrap(&to, text, cases[i].columns), 0);
		assert_string_equal(buf_text(&to), cases[i].wanted);
		buf_free(&to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_printf),
		cmocka_unit_test(test_cut),   cmocka_unit_test(test_widths),
		cmocka_unit_test(test_json),  cmocka_unit_test(test_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
