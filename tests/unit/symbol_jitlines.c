// SPDX-License-Identifier: MIT
// symbol_jitlines.c: source lines from a jitdump: in both byte orders, counted from both places
// that compilers count from, of moved and replaced code, and none where what is told makes no
// sense.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "jitdump.h"
#include "symbol/jitlines.h"

static struct jitlines *lines_of(const struct buf *b)
{
	struct jitlines *l;
	/* Exactly as long, so that a read behind the end is seen. */
	unsigned char *bytes = malloc(b->n ? b->n : 1);

	assert_non_null(bytes);
	memcpy(bytes, b->bytes, b->n);
	assert_int_equal(jitlines_of(&l, bytes, b->n), 0);
	free(bytes);
	return l;
}

static void text_of(const struct jitlines *l, int found, uint32_t row, char *ret, size_t n)
{
	struct jitlines_row at;

	*ret = 0;
	if (found < 0) {
		assert_int_equal(found, -ENOENT);
		return;
	}
	at = jitlines_row(l, row);
	snprintf(ret, n, "%s:%u", at.file, at.line);
}

static void assert_line(const struct jitlines *l, uint64_t addr, const char *expected)
{
	uint32_t row = 0;
	int found = jitlines_find(l, addr, &row);
	char text[64];

	text_of(l, found, row, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void assert_line_in(const struct jitlines *l, uint32_t number, uint64_t offset,
                           const char *expected)
{
	uint32_t row = 0;
	int found = jitlines_find_in(l, number, offset, &row);
	char text[64];

	text_of(l, found, row, text, sizeof(text));
	assert_string_equal(text, expected);
}

/* A piece of code of 0x100 bytes with lines from offset 0x10 on; added: what the compiler adds to
 * addresses. */
static void put_piece(struct buf *b, uint64_t at, uint64_t index, int32_t line, const char *name,
                      uint64_t added, bool swap)
{
	size_t begin = put_lines(b, at, 4, swap);

	put_entry(b, at + 0x10 + added, line, "/src/a.js", swap);
	put_entry(b, at + 0x20 + added, line + 1, "\xff", swap);
	put_entry(b, at + 0x20 + added, line + 2, "/src/\xc3\xa4.js", swap);
	put_entry(b, at + 0xf8 + added, line + 3, "/src/a.js", swap);
	put_lines_end(b, begin, swap);
	put_load(b, at, 0x100, index, name, swap);
}

static void assert_piece(const struct jitlines *l, uint64_t at, const char *const lines[3])
{
	assert_line(l, at - 1, "");
	assert_line(l, at, "");
	assert_line(l, at + 0xf, "");
	assert_line(l, at + 0x10, lines[0]);
	assert_line(l, at + 0x1f, lines[0]);
	assert_line(l, at + 0x20, lines[1]);
	assert_line(l, at + 0xf7, lines[1]);
	assert_line(l, at + 0xf8, lines[2]);
	assert_line(l, at + 0xff, lines[2]);
	assert_line(l, at + 0x100, "");
}

static void lines_count_from_where_the_compiler_counts(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		bool swap = i & 1;
		uint64_t added = i & 2 ? 0x40 : 0;
		struct buf b = { 0 };
		struct jitlines *l;

		put_header(&b, swap);
		put_load(&b, 0x500, 0x80, 1, "without lines", swap);
		put_piece(&b, 0x1000, 2, 5, "first", added, swap);
		put_piece(&b, 0x2000, 3, 50, "second", added, swap);
		l = lines_of(&b);
		assert_string_equal(jitlines_reason(l), "");
		assert_line(l, 0x510, "");
		assert_piece(l, 0x1000,
		             (const char *const[]){ "/src/a.js:5", "/src/ä.js:7", "/src/a.js:8" });
		assert_piece(l, 0x2000,
		             (const char *const[]){ "/src/a.js:50", "/src/ä.js:52",
		                                    "/src/a.js:53" });
		jitlines_free(l);
		buf_free(&b);
	}
}

/* One piece of code of `size` bytes with lines at some offsets. */
static void put_at(struct buf *b, uint64_t at, uint64_t size, const uint64_t *offsets, size_t n)
{
	size_t begin = put_lines(b, at, n, false);

	for (size_t i = 0; i < n; i++)
		put_entry(b, at + offsets[i], (int32_t)i + 1, "f", false);
	put_lines_end(b, begin, false);
	put_load(b, at, size, at, "code", false);
}

static void without_proof_nothing_is_believed(void **state)
{
	static const char undecided[] = "it cannot be told from where its addresses of lines count";
	struct buf b = { 0 };
	struct jitlines *l;

	(void)state;
	/* Either would do. */
	put_header(&b, false);
	put_at(&b, 0x1000, 0x100, (uint64_t[]){ 0x50, 0x60 }, 2);
	l = lines_of(&b);
	assert_string_equal(jitlines_reason(l), undecided);
	assert_line(l, 0x1060, "");
	assert_int_equal(jitlines_rows(l), 0);
	jitlines_free(l);
	/* Most code begins where an ELF header ends. */
	put_at(&b, 0x2000, 0x100, (uint64_t[]){ 0x40, 0x60 }, 2);
	put_at(&b, 0x3000, 0x100, (uint64_t[]){ 0x40 }, 1);
	l = lines_of(&b);
	assert_string_equal(jitlines_reason(l), "");
	assert_line(l, 0x1010, "f:1");
	assert_line(l, 0x1020, "f:2");
	assert_line(l, 0x2000, "f:1");
	jitlines_free(l);
	/* One proof is enough, and moves them all. */
	put_at(&b, 0x4000, 0x100, (uint64_t[]){ 0x3f }, 1);
	l = lines_of(&b);
	assert_line(l, 0x1060, "f:2");
	assert_line(l, 0x2000, "");
	assert_line(l, 0x2040, "f:1");
	jitlines_free(l);
	/* Two that contradict each other are none. */
	put_at(&b, 0x5000, 0x100, (uint64_t[]){ 0x50, 0x101 }, 2);
	l = lines_of(&b);
	assert_string_equal(jitlines_reason(l), undecided);
	assert_line(l, 0x2040, "");
	jitlines_free(l);
	buf_free(&b);
}

/* QEMU's last entry: behind the last instruction, of no line and no file. */
static void an_end_is_no_line(void **state)
{
	struct buf b = { 0 };
	struct jitlines *l;
	size_t begin;

	(void)state;
	put_header(&b, false);
	begin = put_lines(&b, 0x1000, 4, false);
	put_entry(&b, 0x1000, 3, "a", false);
	put_entry(&b, 0x1010, 0, "a", false);
	put_entry(&b, 0x1020, 4, "<unknown>", false);
	put_entry(&b, 0x1040, 0, "", false);
	put_lines_end(&b, begin, false);
	put_load(&b, 0x1000, 0x40, 1, "x", false);
	l = lines_of(&b);
	assert_line(l, 0x1008, "a:3");
	assert_line(l, 0x1018, "");
	assert_line(l, 0x1028, "");
	assert_string_equal(jitlines_reason(l), "");
	jitlines_free(l);
	buf_free(&b);
}

static void code_has_the_lines_of_its_time(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct buf b = { 0 };
		struct jitlines *l;

		put_header(&b, swap);
		put_piece(&b, 0x1000, 1, 10, "one", 0, swap);   /* 0 */
		put_piece(&b, 0x1000, 2, 20, "two", 0, swap);   /* 1 */
		put_piece(&b, 0x1080, 3, 30, "two", 0, swap);   /* 2 */
		put_piece(&b, 0x3000, 4, 40, "moves", 0, swap); /* 3 */
		put_move(&b, 0x3000, 0x4000, 0x100, 4, swap);   /* 4 */
		put_move(&b, 0x4000, 0x1000, 0x100, 4, swap);   /* 5 */
		put_move(&b, 0x4000, 0x6000, 0x80, 4, swap);    /* 6: its size cannot change */
		put_piece(&b, 0x5000, 5, 50, "again", 0, swap);
		put_piece(&b, 0x5000, 6, 50, "again", 0, swap);
		put_piece(&b, 0x7000, 7, 70, "again", 0, swap);
		put_piece(&b, 0x7000, 8, 71, "again", 0, swap);
		l = lines_of(&b);
		assert_line(l, 0x1010, "");
		assert_line_in(l, 0, 0x10, "/src/a.js:10");
		assert_line_in(l, 1, 0x10, "/src/a.js:20");
		assert_line_in(l, 2, 0xf8, "/src/a.js:33");
		assert_line_in(l, 2, 0x100, "");
		assert_line_in(l, 2, 0xf, "");
		assert_line_in(l, 99, 0x10, "");
		assert_line(l, 0x3010, "/src/a.js:40");
		assert_line(l, 0x4010, "/src/a.js:40");
		assert_line_in(l, 5, 0x10, "/src/a.js:40");
		assert_line(l, 0x6010, "");
		assert_line(l, 0x5010, "/src/a.js:50");
		assert_line(l, 0x7010, ""); /* the same code, and other lines */
		assert_string_equal(
		        jitlines_reason(l),
		        "what it tells of lines makes no sense for 2 of 10 pieces of code");
		jitlines_free(l);
		buf_free(&b);
	}
}

/* Records of many pieces of code, and then the code. */
static void lines_go_by_the_address(void **state)
{
	struct buf b = { 0 };
	struct jitlines *l;

	(void)state;
	put_header(&b, false);
	for (unsigned i = 0; i < 3; i++) {
		size_t begin = put_lines(&b, 0x1000 * i, 1, false);

		put_entry(&b, 0x1000 * i, (int32_t)i + 1, "a", false);
		put_lines_end(&b, begin, false);
	}
	for (unsigned i = 3; i--;)
		put_load(&b, 0x1000 * i, 0x10, i, "x", false);
	put_load(&b, 0x9000, 0x10, 9, "y", false);
	l = lines_of(&b);
	assert_line(l, 0x0008, "a:1");
	assert_line(l, 0x1008, "a:2");
	assert_line(l, 0x2008, "a:3");
	assert_line(l, 0x9008, "");
	jitlines_free(l);
	buf_free(&b);
}

struct senseless {
	const char *what;
	uint64_t count;
	struct {
		uint64_t addr;
		int32_t line;
		const char *file;
	} at[3];
	unsigned behind; /* bytes behind the entries */
};

static const struct senseless all_senseless[] = {
	{ "descends", 2, { { 0x1010, 1, "a" }, { 0x1008, 2, "a" } }, 0 },
	{ "before the code", 1, { { 0xfff, 1, "a" } }, 0 },
	{ "far behind the code", 1, { { 0x1141, 1, "a" } }, 0 },
	{ "no address at all", 2, { { 0x1000, 1, "a" }, { UINT64_MAX, 2, "a" } }, 0 },
	{ "a negative line", 1, { { 0x1000, -1, "a" } }, 0 },
	{ "control characters", 1, { { 0x1000, 1, "a\x03" } }, 0 },
	{ "no UTF-8", 1, { { 0x1000, 1, "a\xbc" } }, 0 },
	{ "the same name as none", 1, { { 0x1000, 1, "\xff" } }, 0 },
	{ "more than there are", 3, { { 0x1000, 1, "a" }, { 0x1010, 2, "a" } }, 0 },
	{ "none", 0, { { 0x1000, 1, "a" } }, 0 },
	{ "very many", UINT64_MAX, { { 0x1000, 1, "a" } }, 0 },
	{ "too few", 1, { { 0x1000, 1, "a" }, { 0x1010, 2, "a" } }, 0 },
	{ "more than padding", 1, { { 0x1000, 1, "a" } }, 8 },
};

static void what_makes_no_sense_has_no_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(all_senseless) / sizeof(all_senseless[0]); i++) {
		const struct senseless *s = &all_senseless[i];
		struct buf b = { 0 };
		struct jitlines *l;
		size_t begin;

		put_header(&b, false);
		put_at(&b, 0x4000, 0x100, (uint64_t[]){ 0 }, 1);
		begin = put_lines(&b, 0x1000, s->count, false);
		for (unsigned k = 0; k < 3 && s->at[k].file; k++)
			put_entry(&b, s->at[k].addr, s->at[k].line, s->at[k].file, false);
		buf_put_zeros(&b, s->behind);
		put_lines_end(&b, begin, false);
		put_load(&b, 0x1000, 0x100, 1, "x", false);
		l = lines_of(&b);
		for (uint64_t at = 0x1000; at < 0x1100; at++)
			assert_line(l, at, "");
		assert_line(l, 0x4000, "f:1");
		assert_string_equal(
		        jitlines_reason(l),
		        "what it tells of lines makes no sense for 1 of 2 pieces of code");
		jitlines_free(l);
		buf_free(&b);
	}
}

static void padding_is_passed_over(void **state)
{
	struct buf b = { 0 };
	struct jitlines *l;
	size_t begin;

	(void)state;
	put_header(&b, false);
	begin = put_lines(&b, 0x1000, 1, false);
	put_entry(&b, 0x1000, 1, "a", false);
	buf_put_zeros(&b, 7);
	put_lines_end(&b, begin, false);
	put_load(&b, 0x1000, 0x100, 1, "x", false);
	l = lines_of(&b);
	assert_line(l, 0x1000, "a:1");
	jitlines_free(l);
	buf_free(&b);
}

/* As glibc's allocator leaves 16 bytes that were freed: a pointer mixed with another, and a key. */
static void put_spoiled(struct buf *b, uint64_t addr, int32_t line, const char *file)
{
	static const unsigned char freed[16] = { 0x19, 0x2e, 0xd5, 0x28, 0,    0,    0,    0,
		                                 0x9e, 0x42, 1,    0x7f, 0xaf, 0xb3, 0x0d, 0xc1 };
	size_t at = b->n + 16;

	put_entry(b, addr, line, file, false);
	memcpy(b->bytes + at, freed, sizeof(freed));
}

/* Code of V8 whose lines are of a file, all names spoiled but for the last's. */
static void put_v8(struct buf *b, uint64_t at, const char *name, const char *file,
                   const char *inlined)
{
	size_t begin = put_lines(b, at, 4, false);

	put_spoiled(b, at + 0x40, 1, file);
	put_spoiled(b, at + 0x50, 2, inlined);
	put_spoiled(b, at + 0x60, 3, file);
	put_entry(b, at + 0x70, 4, "node:fs", false);
	put_lines_end(b, begin, false);
	put_load(b, at, 0x100, at, name, false);
}

/* The files that were: read as their names had been written whole, or not at all. */
static void names_that_v8_spoiled_are_known_from_code(void **state)
{
	static const char a[] = "/home/me/project/src/a file.js",
	                  b_file[] = "/home/me/project/lib/b.js",
	                  twin[] = "/home/ME/project/lib/b.js", summary[] = "/home/me/a.js";
	struct buf b = { 0 };
	struct jitlines *l;

	(void)state;
	put_header(&b, false);
	put_v8(&b, 0x1000, "JS:*get it /home/me/project/src/a file.js:4:13", a, a);
	put_v8(&b, 0x2000, "JS:*f /home/me/project/src/a file.js:40:1", a, b_file);
	put_v8(&b, 0x3000, "JS:^ /home/me/project/lib/b.js:1:1", b_file, a);
	/* Too short for anything of it to be left; of no script that is known; cut in its
	 * numbers. */
	put_v8(&b, 0x4000, "JS:*f /home/me/a.js:1:1", summary, summary);
	put_v8(&b, 0x5000, "JS:*f /home/me/project/src/a file.js:1:1",
	       "/home/me/project/src/c file.js", a);
	put_v8(&b, 0x6000, "/home/me/project/src/not v8.js:1:1", "/home/me/project/src/not v8.js",
	       a);
	put_v8(&b, 0x7000,
	       "JS:*f /home/me/project/src/no numbers.js:1:", "/home/me/project/src/no numbers.js",
	       a);
	l = lines_of(&b);
	assert_line(l, 0x1000, "/home/me/project/src/a file.js:1");
	assert_line(l, 0x1010, "/home/me/project/src/a file.js:2");
	assert_line(l, 0x1030, "node:fs:4");
	assert_line(l, 0x2010, "/home/me/project/lib/b.js:2");
	assert_line(l, 0x2020, "/home/me/project/src/a file.js:3");
	assert_line(l, 0x3000, "/home/me/project/lib/b.js:1");
	for (uint64_t at = 0x4000; at <= 0x7000; at += 0x1000) {
		assert_line(l, at, "");
		assert_line(l, at + 0x40, "");
	}
	jitlines_free(l);
	/* Another path of that length which ends so: which it was cannot be told. */
	put_load(&b, 0x8000, 0x10, 8, "JS:*g /home/ME/project/lib/b.js:4:4", false);
	put_v8(&b, 0x9000, "JS:*g /home/ME/project/lib/b.js:4:4", twin, twin);
	l = lines_of(&b);
	assert_line(l, 0x1010, "/home/me/project/src/a file.js:2");
	assert_line(l, 0x2010, "");
	assert_line(l, 0x9000, "");
	jitlines_free(l);
	buf_free(&b);
}

static void every_cut_and_change_is_survived(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct buf b = { 0 };
		struct jitlines *l;
		uint32_t row;

		put_header(&b, swap);
		put_piece(&b, 0x1000, 1, 10, "one", 0x40, swap);
		put_piece(&b, 0x1000, 2, 20, "two", 0x40, swap);
		put_piece(&b, 0x3000, 4, 40, "moves", 0x40, swap);
		put_move(&b, 0x3000, 0x1000, 0x100, 4, swap);
		put_v8(&b, 0x8000, "JS:*g /home/ME/project/lib/b.js:4:4",
		       "/home/ME/project/lib/b.js", "/home/ME/project/lib/b.js");
		for (size_t n = 40; n < b.n; n++) {
			struct buf cut = { .bytes = b.bytes, .n = n };

			l = lines_of(&cut);
			jitlines_free(l);
		}
		for (size_t i = 40; i < b.n; i++) {
			b.bytes[i] ^= 0xff;
			l = lines_of(&b);
			if (jitlines_find(l, 0x3020, &row) >= 0)
				assert_true(row < jitlines_rows(l));
			jitlines_free(l);
			b.bytes[i] ^= 0xff;
		}
		b.bytes[0] ^= 1;
		assert_int_equal(jitlines_of(&l, b.bytes, b.n), -EBADMSG);
		buf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_count_from_where_the_compiler_counts),
		cmocka_unit_test(without_proof_nothing_is_believed),
		cmocka_unit_test(an_end_is_no_line),
		cmocka_unit_test(code_has_the_lines_of_its_time),
		cmocka_unit_test(lines_go_by_the_address),
		cmocka_unit_test(what_makes_no_sense_has_no_lines),
		cmocka_unit_test(padding_is_passed_over),
		cmocka_unit_test(names_that_v8_spoiled_are_known_from_code),
		cmocka_unit_test(every_cut_and_change_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
