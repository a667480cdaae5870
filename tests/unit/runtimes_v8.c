// SPDX-License-Identifier: MIT
/*
 * runtimes_v8.c: what is inlined in code that V8 compiled, by tables that V8 itself wrote (Node 22
 * and 26), cut and damaged; objects that are no V8, or one that is not known.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/v8.h"

#define KEY 100u /* of the function; those that are inlined are 1, 2 ... */

/* Node 26's table of `function down(n) { return n ? down(n - 1) + 1 : work(n); }`. */
static const unsigned char rows_26[] = { 0x32, 0x84, 0x04, 0xc2, 0x05, 0x17, 0x2e, 0x18, 0x26,
	                                 0x74, 0xfa, 0x01, 0x20, 0x6a, 0x4b, 0x7e, 0x1b };

static struct runtime_lines told(struct v8_compiled *c, const unsigned char *rows, size_t n,
                                 uint32_t form)
{
	c->key = KEY;
	c->rows = form;
	c->bytes = (uint32_t)n;
	memcpy(c->table, rows, n);
	return (struct runtime_lines){ .form = V8_LINES_COMPILED,
		                       .bytes = (const unsigned char *)c,
		                       .n = offsetof(struct v8_compiled, table) + n };
}

/* Writes a number as the tables have it. */
static size_t digits(unsigned char *to, int64_t value)
{
	uint64_t bits = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
	size_t n = 0;

	do {
		to[n] = (unsigned char)((bits & 127) | (bits > 127 ? 128 : 0));
		bits >>= 7;
		n++;
	} while (bits);
	return n;
}

/* The bits of a source position: its offset, and the number of what is inlined; -1: nothing. */
static int64_t position(int64_t offset, int64_t inlined)
{
	return (offset + 1) << 1 | (inlined + 1) << 31;
}

static void nothing_is_inlined(void **state)
{
	static struct v8_compiled c;
	struct runtime_lines lines = told(&c, rows_26, sizeof(rows_26), V8_ROWS_BIT);
	struct runtime_place keys[8];

	assert_int_equal(v8_inlined(&lines, 269, keys, 8), 1);
	assert_int_equal(keys[0].key, KEY);
	assert_int_equal(v8_inlined(&lines, 392 | V8_AT_EXACT, keys, 8), 1);
	assert_int_equal(keys[0].key, KEY);
}

/* Three rows: at 10 in nothing, from 20 on in the second function, which the first calls, from 40
 * on in the first. */
static void what_is_inlined_is_in_front(void **state)
{
	static struct v8_compiled c = { .n = 2 };
	const int64_t at[] = { 10, 20, 40 };
	const int64_t in[] = { position(5, -1), position(7, 1), position(9, 0) };
	unsigned char rows[64];
	struct runtime_lines lines;
	struct runtime_place keys[8];
	size_t n = 0;

	c.inlined[0] = (struct v8_inlined){ 1, (uint64_t)position(3, -1) };
	c.inlined[1] = (struct v8_inlined){ 2, (uint64_t)position(4, 0) };
	for (size_t i = 0; i < 3; i++) {
		n += digits(rows + n, -1 - (i ? at[i] - at[i - 1] : at[i] + 1));
		n += digits(rows + n, i ? in[i] - in[i - 1] : in[i]);
	}
	lines = told(&c, rows, n, V8_ROWS_SIGN);
	/* a return address: the row before it */
	assert_int_equal(v8_inlined(&lines, 40, keys, 8), 3);
	assert_int_equal(keys[0].key, 2);
	assert_int_equal(keys[1].key, 1);
	assert_int_equal(keys[2].key, KEY);
	assert_int_equal(v8_inlined(&lines, 41, keys, 8), 2);
	assert_int_equal(keys[0].key, 1);
	assert_int_equal(v8_inlined(&lines, 20, keys, 8), 1);
	/* where it stopped: what both rows are in */
	assert_int_equal(v8_inlined(&lines, 30 | V8_AT_EXACT, keys, 8), 2);
	assert_int_equal(keys[0].key, 1);
	assert_int_equal(keys[1].key, KEY);
	assert_int_equal(v8_inlined(&lines, 50 | V8_AT_EXACT, keys, 8), 1);
	/* as much as there is room for, and what it is inlined in */
	assert_int_equal(v8_inlined(&lines, 40, keys, 1), 1);
	assert_int_equal(keys[0].key, KEY);
	/* callers in a circle, and out of bounds */
	c.inlined[0].position = (uint64_t)position(3, 1);
	assert_int_equal(v8_inlined(&lines, 40, keys, 8), 1);
	c.inlined[0].position = (uint64_t)position(3, 900);
	assert_int_equal(v8_inlined(&lines, 40, keys, 8), 1);
}

/* Where a table goes on behind what was told of it, or functions were left out, something that is
 * not known is in front. */
static void what_was_not_told_is_said(void **state)
{
	static struct v8_compiled c = { .n = 1, .cut = 1 };
	unsigned char rows[64];
	struct runtime_lines lines;
	struct runtime_place keys[8];
	size_t n = digits(rows, -1 - 11);

	c.inlined[0] = (struct v8_inlined){ 1, (uint64_t)position(3, -1) };
	n += digits(rows + n, position(5, 0));
	n += digits(rows + n, -1 - 10);
	n += digits(rows + n, position(6, 1) - position(5, 0));
	n += digits(rows + n, -1 - 10);
	n += digits(rows + n, position(7, -1) - position(6, 1));
	lines = told(&c, rows, n, V8_ROWS_SIGN);
	assert_int_equal(v8_inlined(&lines, 15, keys, 8), 2);
	assert_int_equal(keys[0].key, 1);
	for (uint32_t at = 25; at < 100; at += 70) { /* in the second function, behind all rows */
		assert_int_equal(v8_inlined(&lines, at, keys, 8), 2);
		assert_int_equal(keys[0].key, 0);
		assert_int_equal(keys[1].key, KEY);
	}
	assert_int_equal(v8_inlined(&lines, 95, keys, 1), 1);
	assert_int_equal(keys[0].key, KEY);
	c.cut = 0;
	lines = told(&c, rows, n, V8_ROWS_SIGN);
	assert_int_equal(v8_inlined(&lines, 95, keys, 8), 1);
	assert_int_equal(keys[0].key, KEY);
	c.placeless = 1; /* Maglev's tables may be empty */
	lines = told(&c, rows, 0, V8_ROWS_SIGN);
	assert_int_equal(v8_inlined(&lines, 95, keys, 8), 2);
	assert_int_equal(keys[0].key, 0);
	assert_int_equal(keys[1].key, KEY);
}

/* The same in lines: where each function calls the next; none where it is not sure, and in
 * Maglev's code. */
static void places_of_what_is_inlined(void **state)
{
	static struct v8_compiled c = { .n = 1 };
	const int64_t in[] = { position(5, -1), position(9, 0) };
	struct runtime_place at[8];
	struct runtime_lines lines;
	unsigned char rows[64];
	size_t n = 0;

	c.inlined[0] = (struct v8_inlined){ 1, (uint64_t)position(3, -1) };
	for (size_t i = 0; i < 2; i++) {
		n += digits(rows + n, -1 - (i ? 10 : 11));
		n += digits(rows + n, i ? in[1] - in[0] : in[0]);
	}
	lines = told(&c, rows, n, V8_ROWS_SIGN);
	assert_int_equal(v8_inlined(&lines, 11, at, 8), 1);
	assert_int_equal(at[0].at, 1 + 5);
	assert_int_equal(v8_inlined(&lines, 10, at, 8), 1);
	assert_int_equal(at[0].at, 0);
	assert_int_equal(v8_inlined(&lines, 10 | V8_AT_EXACT, at, 8), 1);
	assert_int_equal(at[0].at, 1 + 5);
	assert_int_equal(v8_inlined(&lines, 25, at, 8), 2);
	assert_int_equal(at[0].at, 1 + 9);
	assert_int_equal(at[1].at, 1 + 3);
	assert_int_equal(v8_inlined(&lines, 25 | V8_AT_EXACT, at, 8), 1);
	assert_int_equal(at[0].at, 0);
	c.placeless = 1;
	assert_int_equal(v8_inlined(&lines, 25, at, 8), 2);
	assert_int_equal(at[0].at, 0);
	assert_int_equal(at[1].at, 0);
}

static void lines_of_a_source(void **state)
{
	static const char text[] = "a\nb\r\nc\rd\n";
	static const uint16_t wide[] = { 'a', 0x2028, 'b', 0x2029, 0x0a0d, 'c' };
	static const unsigned char utf8[] = "\xef\xbb\xbf\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
	static const char *const bad[] = { "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		                           "a\x80" };
	struct v8_lines l = { 0 };
	uint16_t units[16];

	for (size_t i = 0; i < sizeof(text) - 1; i++) /* also between both bytes of a line's end */
		assert_int_equal(v8_lines_add(&l, text + i, 1, 1), 0);
	assert_int_equal(l.n, 4);
	assert_int_equal(v8_lines_at(&l, 0), 1);
	assert_int_equal(v8_lines_at(&l, 1), 1);
	assert_int_equal(v8_lines_at(&l, 2), 2);
	assert_int_equal(v8_lines_at(&l, 4), 2);
	assert_int_equal(v8_lines_at(&l, 5), 3);
	assert_int_equal(v8_lines_at(&l, 7), 4);
	assert_int_equal(v8_lines_at(&l, UINT32_MAX), 5);
	v8_lines_free(&l);
	assert_int_equal(v8_lines_add(&l, wide, 6, 2), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(v8_lines_at(&l, 5), 3);
	assert_int_equal(v8_lines_add(&l, wide, SIZE_MAX, 2), -EFBIG);
	v8_lines_free(&l);
	assert_int_equal(v8_lines_units(units, utf8, sizeof(utf8) - 1), 5);
	assert_int_equal(units[1], 0x20ac);
	assert_int_equal(units[2], 0xd83d);
	assert_int_equal(units[3], 0xde00);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(v8_lines_units(units, (const unsigned char *)bad[i],
		                                strlen(bad[i])),
		                 -EINVAL);
}

/* Bytecodes have the place of the last row that is not behind them; what is in no row, or out of
 * the function, has the function's line. */
static void lines_of_bytecodes(void **state)
{
	struct {
		struct v8_source source;
		unsigned char rows[32];
	} told = { .source = { .line = 100,
		               .first_line = 102,
		               .start = 4,
		               .end = 9,
		               .bytecodes = V8_BYTECODES } };
	static const int64_t places[] = { 4, 6, 40 };
	struct runtime_lines lines = { .form = V8_LINES_SOURCE,
		                       .bytes = (const unsigned char *)&told };
	struct v8_lines l = { 0 };
	size_t n = 0;

	assert_int_equal(v8_lines_add(&l, "a\nb\nc\nd\ne\nf\n", 12, 1), 0);
	told.source.lines = &l;
	for (size_t i = 0; i < 3; i++) {
		n += digits(told.rows + n, i ? 3 : 0);
		n += digits(told.rows + n,
		            position(places[i], -1) - (i ? position(places[i - 1], -1) : 0));
	}
	lines.n = sizeof(told.source) + n;
	assert_int_equal(v8_line(&lines, 0), 102);
	assert_int_equal(v8_line(&lines, 1), 103);
	assert_int_equal(v8_line(&lines, 1 + 1), 103);
	assert_int_equal(v8_line(&lines, 1 + 2), 104);
	assert_int_equal(v8_line(&lines, 1 + 4), 104);
	assert_int_equal(v8_line(&lines, 1 + 5), 102); /* not in the function */
	told.source.bytecodes = V8_BYTECODES_CUT;
	lines.n = sizeof(told.source) + n - 3; /* about: the last row is cut */
	assert_int_equal(v8_line(&lines, 1 + 1), 103);
	assert_int_equal(v8_line(&lines, 1 + 9), 102);
	told.source.bytecodes = 0; /* a place itself */
	assert_int_equal(v8_line(&lines, 1 + 8), 105);
	lines.n = 3;
	assert_int_equal(v8_line(&lines, 1), 0);
	v8_lines_free(&l);
}

/* Nothing is read behind a table's end, and what is no compiled code has nothing. */
static void damaged_tables(void **state)
{
	static struct v8_compiled c = { .n = UINT32_MAX };
	struct runtime_place keys[8];

	memset(c.inlined, 0xff, sizeof(c.inlined));
	for (size_t n = 0; n <= sizeof(rows_26); n++) {
		struct runtime_lines lines = told(&c, rows_26, n, V8_ROWS_BIT);
		unsigned char *copy = malloc(lines.n);

		assert_non_null(copy);
		memcpy(copy, lines.bytes, lines.n);
		lines.bytes = copy;
		for (uint32_t at = 0; at < 700; at += 7) {
			assert_int_equal(v8_inlined(&lines, at, keys, 8), 1);
			assert_int_equal(v8_inlined(&lines, at | V8_AT_EXACT, keys, 8), 1);
		}
		lines.n = n;
		assert_int_equal(v8_inlined(&lines, 1, keys, 8), 0);
		free(copy);
	}
}

/* An object whose symbols all have this value; no more than those that begin so. */
struct made {
	const char *only;
	int32_t value;
};

static int made_symbol(void *ctx, const char *name, uint64_t *ret, uint64_t *size)
{
	const struct made *m = ctx;

	*ret = 0x1000;
	return m->only && !strncmp(name, m->only, strlen(m->only)) ? 0 : -ENOENT;
}

static int made_read(void *ctx, uint64_t address, void *to, size_t n)
{
	const struct made *m = ctx;

	assert_int_equal(n, sizeof(m->value));
	memcpy(to, &m->value, n);
	return 0;
}

static void other_objects(void **state)
{
	struct made m = { .only = NULL };
	const struct runtime_source source = { .ctx = &m,
		                               .symbol = made_symbol,
		                               .read = made_read };
	struct runtime_object found = { .kind = RUNTIME_V8 };

	assert_int_equal(v8_find(&found, &source), -ENOENT);
	m.only = "v8dbg_"; /* no version */
	assert_int_equal(v8_find(&found, &source), -ENOTSUP);
	m.only = ""; /* constants are not what they are elsewhere */
	m.value = 14;
	assert_int_equal(v8_find(&found, &source), -ENOTSUP);
	m.value = 99;
	assert_int_equal(v8_find(&found, &source), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_inlined),
		cmocka_unit_test(what_is_inlined_is_in_front),
		cmocka_unit_test(what_was_not_told_is_said),
		cmocka_unit_test(places_of_what_is_inlined),
		cmocka_unit_test(lines_of_a_source),
		cmocka_unit_test(lines_of_bytecodes),
		cmocka_unit_test(damaged_tables),
		cmocka_unit_test(other_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
