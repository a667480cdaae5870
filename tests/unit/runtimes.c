// SPDX-License-Identifier: MIT
/*
 * runtimes.c: lines by location tables that CPython itself wrote; texts of all widths; names and
 * addresses of code objects; frames in native stacks; which PHP an object is.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "abi/runtime.h"
#include "abi/runtime_code.h"
#include "runtimes/codes.h"
#include "runtimes/kinds.h"
#include "runtimes/php.h"
#include "runtimes/python.h"
#include "runtimes/text.h"
#include "runtimes/splice.h"

/* ---- lines ---- */

static uint32_t line_of(unsigned form, const unsigned char *bytes, size_t n, uint32_t first_line,
                        uint32_t at)
{
	const struct runtime_lines lines = { form, bytes, n, first_line };

	return kinds_line(RUNTIME_PYTHON, &lines, at);
}

/* def f(a,\n      b):\n    x = [i for i in range(a)]\n\n    return g(x,\n             b) */
static const unsigned char lines_311[] = { 0x80, 0x00, 0xe0, 0x08, 0x1d, 0xd0, 0x08, 0x1d, 0x95,
	                                   0x45, 0x98, 0x21, 0x91, 0x48, 0x94, 0x48, 0xd0, 0x08,
	                                   0x1d, 0xd1, 0x08, 0x1d, 0xd4, 0x08, 0x1d, 0x80, 0x41,
	                                   0xe5, 0x0b, 0x0c, 0x88, 0x51, 0xd8, 0x0d, 0x0e, 0xf1,
	                                   0x03, 0x01, 0x0c, 0x10, 0xf4, 0x00, 0x01, 0x0c, 0x10,
	                                   0xf0, 0x00, 0x01, 0x05, 0x10 };
static const unsigned char lines_313[] = { 0x80, 0x00, 0xe4, 0x14, 0x19, 0x98, 0x21, 0x94, 0x48,
	                                   0xd3, 0x08, 0x1d, 0x91, 0x48, 0x88, 0x71, 0x8a, 0x11,
	                                   0x91, 0x48, 0x80, 0x41, 0xd0, 0x08, 0x1d, 0xe4, 0x0b,
	                                   0x0c, 0x88, 0x51, 0xd8, 0x0d, 0x0e, 0xf3, 0x03, 0x01,
	                                   0x0c, 0x10, 0xf0, 0x00, 0x01, 0x05, 0x10, 0xf9, 0xf2,
	                                   0x05, 0x00, 0x09, 0x1e };

/* The same function; and one with `finally`, a loop behind 140 empty lines, and jumps back. */
static const unsigned char lines_lnotab[] = { 0x00, 0x02, 0x12, 0x02, 0x04, 0x01, 0x02, 0xff };
static const unsigned char lines_310[] = { 0x12, 0x02, 0x04, 0x02, 0x02, 0x01, 0x04, 0xff };
static const unsigned char far_lnotab[] = { 0x00, 0x01, 0x02, 0x01, 0x0a, 0x02, 0x04, 0x7f,
	                                    0x00, 0x0e, 0x08, 0x01, 0x0c, 0x80, 0x00, 0xf2,
	                                    0x04, 0x7f, 0x00, 0x0e, 0x08, 0x01, 0x0c, 0x01 };
static const unsigned char far_310[] = { 0x02, 0x01, 0x0a, 0x01, 0x04, 0x02, 0x00, 0x7f, 0x08,
	                                 0x0e, 0x0a, 0x01, 0x04, 0x01, 0x00, 0x81, 0x04, 0xf0,
	                                 0x00, 0x7f, 0x08, 0x0e, 0x0a, 0x01, 0x02, 0xff };

/* Offsets from one on have the line of co_lines() there. */
struct lines_row {
	uint32_t from, line;
};

static void lines_are(enum python_lines form, const unsigned char *table, size_t n,
                      const struct lines_row *rows, size_t n_rows, uint32_t end)
{
	for (uint32_t offset = 0, row = 0; offset < end; offset += 2) {
		while (row + 1 < n_rows && rows[row + 1].from <= offset)
			row++;
		assert_int_equal(line_of(form, table, n, 1, offset), rows[row].line);
	}
	/* In front of the first instruction. */
	assert_int_equal(line_of(form, table, n, 7, (uint32_t)-2), 7);
	assert_int_equal(line_of(form, table, n, UINT32_MAX, (uint32_t)-2), 0);
	if (form == PYTHON_LINES_LNOTAB) /* it does not say where the code ends */
		return;
	assert_int_equal(line_of(form, table, n, 1, end), 0);
	assert_int_equal(line_of(form, table, n, 1, INT32_MAX), 0);
}

static void test_lines(void **state)
{
	static const struct lines_row rows_311[] = { { 0, 1 },  { 2, 3 },  { 52, 5 },
		                                     { 66, 6 }, { 68, 5 }, { 84, 5 } };
	static const struct lines_row rows_313[] = { { 0, 1 },  { 2, 3 },  { 52, 5 }, { 64, 6 },
		                                     { 66, 5 }, { 76, 0 }, { 80, 3 } };

	static const struct lines_row rows_310[] = { { 0, 3 }, { 18, 5 }, { 22, 6 }, { 24, 5 } };
	static const struct lines_row rows_far[] = { { 0, 2 },    { 2, 3 },    { 12, 5 },
		                                     { 16, 146 }, { 24, 147 }, { 34, 148 },
		                                     { 38, 5 },   { 42, 146 }, { 50, 147 },
		                                     { 60, 146 } };
	static const struct lines_row rows_far_39[] = { { 0, 2 },    { 2, 3 },    { 12, 5 },
		                                        { 16, 146 }, { 24, 147 }, { 36, 5 },
		                                        { 40, 146 }, { 48, 147 }, { 60, 148 } };

	lines_are(PYTHON_LINES, lines_311, sizeof(lines_311), rows_311, 6, 84);
	lines_are(PYTHON_LINES, lines_313, sizeof(lines_313), rows_313, 7, 86);
	lines_are(PYTHON_LINES_310, lines_310, sizeof(lines_310), rows_310, 4, 28);
	lines_are(PYTHON_LINES_310, far_310, sizeof(far_310), rows_far, 10, 62);
	lines_are(PYTHON_LINES_LNOTAB, lines_lnotab, sizeof(lines_lnotab), rows_310, 4, 28);
	lines_are(PYTHON_LINES_LNOTAB, far_lnotab, sizeof(far_lnotab), rows_far_39, 9, 64);
}

/* Any bytes give a line or none, and take no longer than the table. */
static void test_lines_hostile(void **state)
{
	unsigned char table[64];
	uint32_t x = 1;

	for (unsigned round = 0; round < 20000; round++) {
		for (size_t i = 0; i < sizeof(table); i++) {
			x = x * 1664525 + 1013904223;
			table[i] = (unsigned char)(x >> 24);
		}
		table[0] |= 0x80;
		for (int form = PYTHON_LINES; form <= PYTHON_LINES_LNOTAB; form++)
			assert_true(line_of(form, table, sizeof(table), x >> 8, round % 300) <=
			            INT32_MAX);
	}
	assert_int_equal(line_of(PYTHON_LINES, table, 0, 1, 0), 0);
	table[0] = 0;
	assert_int_equal(line_of(PYTHON_LINES, table, sizeof(table), 1, 0), 0);
}

/* ---- texts ---- */

static void text_is(const void *characters, size_t bytes, unsigned width, const char *want)
{
	char to[32];

	assert_int_equal(text_put(to, sizeof(to), characters, bytes, width), strlen(want));
	assert_string_equal(to, want);
}

static void test_texts(void **state)
{
	static const uint16_t two[] = { 'a', 0x20ac, 0xd800, 0 };
	static const uint32_t four[] = { 0x1f40d, 0x110000, 0x7ff };
	char small[4];

	text_is("abc", 3, 1, "abc");
	text_is("\xe4\xff", 2, 1, "\xc3\xa4\xc3\xbf");
	text_is(two, sizeof(two), 2, "a\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd");
	text_is(four, sizeof(four), 4, "\xf0\x9f\x90\x8d\xef\xbf\xbd\xdf\xbf");
	text_is(four, 7, 4, "\xf0\x9f\x90\x8d"); /* half a character is none */
	/* Of width 0 it is UTF-8 already, or should be. */
	text_is("a\xc3\xa4\xf0\x9f\x90\x8d", 7, 0, "a\xc3\xa4\xf0\x9f\x90\x8d");
	text_is("\xff\xc0\x80\xed\xa0\x80", 6, 0,
	        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	text_is("a\xe2\x82", 3, 0, "a\xef\xbf\xbd\xef\xbf\xbd"); /* cut in the middle */
	/* No room for a whole character: it is left out. */
	assert_int_equal(text_put(small, sizeof(small), four, sizeof(four), 4), 0);
	assert_int_equal(text_put(small, sizeof(small), "abcdef", 6, 1), 3);
	assert_string_equal(small, "abc");
}

/* ---- code objects ---- */

static struct codes_told told_of(uint64_t key, const char *name, const char *file)
{
	return (struct codes_told){ .kind = RUNTIME_PYTHON,
		                    .key = key,
		                    .first_line = 1,
		                    .file = { file, strlen(file), 1, 0 },
		                    .name = { name, strlen(name), 1, 0 },
		                    .lines = lines_311,
		                    .n_lines = sizeof(lines_311) };
}

static void test_codes(void **state)
{
	struct codes_told f = told_of(1, "f", "/x/y.py"), again = told_of(2, "f", "/x/y.py"),
	                  other = told_of(3, "g", "/x/y.py"), cut = told_of(4, "h", "/long"),
	                  awaits = told_of(5, "f", "/x/y.py");
	const char *name;
	uint64_t start, second = 0, address;
	struct codes *c;

	assert_int_equal(codes_new(&c), 0);
	assert_int_equal(codes_address(c, 1, 0), 0);
	assert_int_equal(codes_learn(c, &f, &name, &start), 1);
	assert_string_equal(name, "py::f:/x/y.py");
	assert_true(runtime_code_is(start));
	assert_int_equal(codes_learn(c, &f, &name, &start), 0);
	/* Another code object of that name has the same addresses, and its own lines. */
	again.first_line = 11;
	assert_int_equal(codes_learn(c, &again, &name, &second), 0);
	address = codes_address(c, 1, 66);
	assert_int_equal(address, runtime_code_address(start, 6));
	assert_int_equal(runtime_code_line(address), 6);
	assert_int_equal(runtime_code_line(address - 1), 6);
	assert_int_equal(codes_address(c, 1, 66), address);
	assert_int_equal(runtime_code_line(codes_address(c, 2, 66)), 16);
	assert_int_equal(codes_address(c, 2, 66) - 20, address);
	assert_int_equal(codes_learn(c, &other, &name, &second), 1);
	assert_true(second >= start + RUNTIME_CODE_SIZE);
	assert_int_equal(codes_address(c, 99, 0), 0);
	/* A frame that awaits what runs is no frame of the stack, and says so. */
	awaits.awaits = 1;
	assert_int_equal(codes_learn(c, &awaits, &name, &second), 1);
	assert_string_equal(name, "py::async f:/x/y.py");
	/* What is cut off says so; without a table the function is known, the line is not. */
	cut.file.cut = 1;
	cut.n_lines = 0;
	assert_int_equal(codes_learn(c, &cut, &name, &start), 1);
	assert_string_equal(name, "py::h:/long...");
	assert_int_equal(codes_address(c, 4, 2), runtime_code_address(start, 0));
	codes_free(c);
}

/* ---- frames in a native stack ---- */

#define F(k)                                                           \
	{                                                              \
		.key = (k), .at = 66, .native = RUNTIME_FRAME_NOWHERE, \
	}
#define CALL(mark)                                                                          \
	{                                                                                   \
		.key = (mark), .native = RUNTIME_FRAME_NOWHERE, .what = RUNTIME_FRAME_LOOP, \
	}
#define NATIVES 6u

/* Puts the frames of n_splices interpreters into native frames 0x10.. whose stack pointers are
 * 1000, 1100 and so on. Functions are digits in what is expected, native frames letters. */
static void spliced_all(struct splice *s, size_t n_splices, bool cut, const char *want)
{
	uint64_t ips[NATIVES], sps[NATIVES + 1], to[32], start[10], unnamed = 0;
	const char *names[] = { "0", "1", "2", "3", "4", "5" }, *name;
	char got[33] = "";
	struct codes *c;
	size_t n;

	assert_int_equal(codes_new(&c), 0);
	for (uint64_t k = 1; k < 6; k++) {
		struct codes_told told = told_of(k, names[k], "/x.py");

		assert_int_equal(codes_learn(c, &told, &name, &start[k]), 1);
	}
	for (size_t i = 0; i <= NATIVES; i++)
		sps[i] = 1000 + 100 * i;
	for (size_t i = 0; i < NATIVES; i++)
		ips[i] = 0x10 + i;
	for (size_t i = 0; i < n_splices; i++)
		splice_place(&s[i], sps, NATIVES);
	n = splice_stack(s, n_splices, c, ips, NATIVES, cut, to, &unnamed);
	for (size_t i = 0; i < n; i++) {
		got[i] = (char)('a' + to[i] - 0x10);
		for (size_t k = 1; k < 6; k++)
			if (to[i] == runtime_code_address(start[k], 6))
				got[i] = (char)('0' + k);
	}
	assert_string_equal(got, want);
	assert_int_equal(unnamed, 0);
	codes_free(c);
}

static void spliced(struct splice *s, bool cut, const char *want)
{
	spliced_all(s, 1, cut, want);
}

static void test_splice(void **state)
{
	struct runtime_frame two[] = { F(1), F(2), CALL(1150), F(3), CALL(1420) };
	struct runtime_frame apart[] = { F(1), CALL(1150), F(2), CALL(1120), F(3), CALL(1420) };
	struct runtime_frame below[] = { F(1), CALL(900), F(2), CALL(950) };
	struct runtime_frame beyond[] = { F(1), CALL(1050), F(2), CALL(1700), F(3), CALL(1800) };
	struct runtime_frame others[] = { F(1), CALL(1150), F(2), CALL(1550), F(3), CALL(1350) };
	struct splice s = { two, 5, 0, true };

	(void)state;
	spliced(&s, false, "a12bcd3ef");
	assert_false(splice_is_apart(&s, NATIVES));
	/* A second mark in the frame of the first is none, nor is one that stands further inwards;
	 * nothing outwards of it is put. */
	s = (struct splice){ apart, 6, 0, true };
	spliced(&s, false, "a1bcdef");
	assert_true(splice_is_apart(&s, NATIVES));
	/* Below the stack pointer there is data of the innermost frame, but no more than that. */
	s = (struct splice){ below + 2, 2, 0, true };
	spliced(&s, false, "2abcdef");
	s = (struct splice){ below, 2, 0, true };
	spliced(&s, false, "1abcdef");
	below[1].key = 1000 - 129;
	spliced(&s, false, "abcdef");
	/* The native stack is cut off: the rest comes behind it, if all of it is known. */
	s = (struct splice){ beyond, 6, 0, true };
	spliced(&s, true, "1abcdef23");
	spliced(&s, false, "1abcdef");
	s.whole = false;
	spliced(&s, true, "1abcdef");
	/* Two interpreters, each with its own order. */
	s = (struct splice){ others, 6, 4, true };
	spliced(&s, false, "a1bc3de2f");
	assert_false(splice_is_apart(&s, NATIVES));
}

/* Interpreters that call each other: each has its calls of its own loop. */
static void test_splice_several(void **state)
{
	struct runtime_frame one[] = { F(1), CALL(1150), F(2), CALL(1550) };
	struct runtime_frame other[] = { F(3), F(4), CALL(1350) };
	struct runtime_frame third[] = { F(5), CALL(1250), F(1), CALL(1700) };
	struct splice s[] = { { one, 4, 0, true }, { other, 3, 0, true }, { third, 4, 0, true } };

	(void)state;
	spliced_all(s, 2, false, "a1bc34de2f");
	/* What has no place is not shown, nor outwards of it of the same interpreter: not even
	 * behind a stack that is cut off, where nobody knows the order. */
	spliced_all(s, 3, false, "a1b5c34de2f");
	assert_false(splice_is_apart(&s[0], NATIVES));
	assert_true(splice_is_apart(&s[2], NATIVES));
	spliced_all(s, 3, true, "a1b5c34de2f");
	/* A shorter stack than the frames were placed in. */
	assert_true(splice_is_apart(&s[0], 5));
}

static void test_splice_shifted(void **state)
{
	struct runtime_frame frames[] = { F(1), CALL(1050), F(2), CALL(1250), CALL(1450) };
	struct splice s = { frames, 5, 0, true };

	(void)state;
	/* The call at 1050 runs nothing yet. */
	frames[1].native = 0;
	frames[3].native = 2;
	frames[4].native = 4;
	splice_shift(&s);
	assert_int_equal(s.n, 4);
	assert_int_equal(frames[1].native, 2);
	assert_int_equal(frames[3].native, 4);
}

/* ---- PHP ---- */

struct made_php {
	const char *since; /* a class that the version has first */
	uint64_t globals_size;
	bool no_globals;  /* as thread-safe builds */
	const char *code; /* that the loop begins with; NULL: nothing that is known */
	size_t n;
};

static int php_symbol(void *ctx, const char *name, uint64_t *ret, uint64_t *size)
{
	const struct made_php *m = ctx;

	if (!strcmp(name, "executor_globals") && !m->no_globals) {
		*ret = 0x4000;
		if (size)
			*size = m->globals_size;
	} else if (!strcmp(name, "execute_ex")) {
		*ret = 0x1000;
		if (size)
			*size = 64;
	} else if (!strcmp(name, "zend_execute_ex") || !strcmp(name, m->since)) {
		*ret = 0x5000;
	} else {
		return -ENOENT;
	}
	return 0;
}

static int php_read(void *ctx, uint64_t address, void *to, size_t n)
{
	const struct made_php *m = ctx;

	memset(to, 0x90, n);
	if (m->code && address == 0x1000)
		memcpy(to, m->code, m->n < n ? m->n : n);
	return 0;
}

static int php_functions(void *ctx, int (*each)(void *arg, uint64_t start, uint64_t end), void *arg)
{
	(void)ctx;
	(void)each;
	(void)arg;
	return 0;
}

static int php_found(struct made_php m, struct runtime_object *ret)
{
	const struct runtime_source source = {
		.ctx = &m, .symbol = php_symbol, .read = php_read, .functions = php_functions
	};

	return kinds_find(ret, &source);
}

static void php_frame_of(struct php_layout *ret, struct made_php m)
{
	struct runtime_object o;

	assert_int_equal(php_found(m, &o), 0);
	memcpy(ret, o.layout, sizeof(*ret));
}

/* A version is told by what it has first and by the size of its globals, which another build has
 * not. */
static void test_php(void **state)
{
	struct runtime_object o;
	struct php_layout l;

	assert_int_equal(php_found((struct made_php){ .since = "zend_ce_sensitive_parameter",
	                                              .globals_size = 1800 },
	                           &o),
	                 0);
	assert_int_equal(o.kind, RUNTIME_PHP);
	assert_int_equal(o.known, 1);
	assert_int_equal(o.address[PHP_GLOBALS], 0x4000);
	assert_int_equal(o.address[PHP_LOOP], 0x1000);
	memcpy(&l, o.layout, sizeof(l));
	assert_int_equal(l.version, 0x0802);
	assert_int_equal(l.code_file, 152);
	assert_int_equal(l.loop_bytes, 64);
	assert_int_equal(php_found((struct made_php){ .since = "zend_ce_deprecated",
	                                              .globals_size = 1984 },
	                           &o),
	                 0);
	memcpy(&l, o.layout, sizeof(l));
	assert_int_equal(l.version, 0x0804);
	assert_int_equal(php_found((struct made_php){ .since = "zend_ce_deprecated",
	                                              .globals_size = 1800 },
	                           &o),
	                 -ENOTSUP);
	assert_int_equal(o.kind, RUNTIME_PHP);
	assert_int_equal(o.known, 0);
	assert_int_equal(
	        php_found((struct made_php){ .since = "zend_ce_fiber", .globals_size = 1800 }, &o),
	        -ENOTSUP);
	assert_int_equal(php_found((struct made_php){ .since = "zend_ce_deprecated",
	                                              .globals_size = 1984,
	                                              .no_globals = true },
	                           &o),
	                 -ENOTSUP);
}

/* The loop's frame, in which code of the JIT runs, is what its first instructions make. */
static void test_php_frame(void **state)
{
#define LOOP_MAKES(l, bytes)                                                           \
	php_frame_of((l), (struct made_php){ "zend_ce_deprecated", 1984, false, bytes, \
	                                     sizeof(bytes) - 1 })
	struct php_layout l;

	(void)state;
	/* push %r13, %r12, %rbp, %rbx; sub $0x78,%rsp; mov %fs:0x28,%rax; mov %rax,0x68(%rsp) */
	LOOP_MAKES(&l, "\x41\x55\x41\x54\x55\x53\x48\x83\xec\x78\x64\x48\x8b\x04\x25\x28\0\0\0"
	               "\x48\x89\x44\x24\x68");
	assert_int_equal(l.body, 10);
	assert_int_equal(l.frame_bytes, 0xa0);
	assert_int_equal(l.frame_by_fp, 0);
	assert_int_equal(l.guard, 0x38);
	/* endbr64; push %rbp; mov %rsp,%rbp; push %r13, %r12, %rbx; sub $0xa8,%rsp; likewise,
	 * mov %rax,-0x28(%rbp) */
	LOOP_MAKES(&l, "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x41\x55\x41\x54\x53\x48\x81\xec\xa8\0\0\0"
	               "\x64\x48\x8b\x04\x25\x28\0\0\0\x48\x89\x45\xd8");
	assert_int_equal(l.body, 20);
	assert_int_equal(l.frame_bytes, 0xd0);
	assert_int_equal(l.frame_by_fp, 1);
	assert_int_equal(l.guard, 0x38);
	/* No guard word; and no such begin. */
	LOOP_MAKES(&l, "\x53\x48\x83\xec\x10");
	assert_int_equal(l.body, 5);
	assert_int_equal(l.frame_bytes, 0x20);
	assert_int_equal(l.guard, 0);
	LOOP_MAKES(&l, "\x53\x54\x48\x83\xec\x10"); /* push %rsp */
	assert_int_equal(l.body, 0);
	LOOP_MAKES(&l, "\x53\x48\x83\xec\xf0"); /* a negative size */
	assert_int_equal(l.body, 0);
	LOOP_MAKES(&l, "\x53\x48\x83\xec\x10\x64\x48\x8b\x04\x25\x28\0\0\0\x48\x89\x44\x24\x70");
	assert_int_equal(l.guard, 0); /* above the frame */
}

/* ---- names ---- */

static void file_is(const char *name, const char *want)
{
	const char *file = runtime_function_file(name);

	if (!want)
		assert_null(file);
	else
		assert_string_equal(file, want);
}

static void test_function_file(void **state)
{
	file_is("py::f:/x/y.py", "/x/y.py");
	file_is("py::A.f.<locals>.<lambda>:/x:y.py", "/x:y.py");
	file_is("py::<module>:-c", "-c");
	file_is("py::f:", NULL);
	file_is("py::f", NULL);
	file_is("php::A\\B::f:/x.php", "/x.php");
	file_is("php::array_map", NULL);
	file_is("php::A::f", NULL);
	file_is("php::{closure:/x.php:3}:/x.php", "/x.php");
	file_is("php::{main}:/x.php(3) : eval()'d code", "/x.php(3) : eval()'d code");
	file_is("php::{unclosed:/x.php", "/x.php");
	file_is("php::", NULL);
	file_is("php:::", NULL);
	file_is("f:/x", NULL);
	assert_int_equal(runtime_of_function("php::f"), RUNTIME_PHP);
	assert_int_equal(runtime_of_function("php"), RUNTIME_NO_KIND);
	assert_int_equal(runtime_of_name("php", 3), RUNTIME_PHP);
	assert_int_equal(runtime_of_name("phpx", 4), RUNTIME_NO_KIND);
	assert_string_equal(runtime_object_name(RUNTIME_PHP), "[php]");
	assert_string_equal(runtime_object_name(RUNTIME_NO_KIND), "[runtime]");
}

/* What belongs to a class, and what has no file. */
static void test_scope(void **state)
{
	struct codes *c;
	struct codes_told told = { .kind = RUNTIME_PHP,
		                   .key = 1,
		                   .name = { "f", 1, 0, 0 },
		                   .scope = { "A\0/x.php", 8, 0, 0 },
		                   .file = { "/x.php", 6, 0, 0 },
		                   .lines_form = RUNTIME_LINES_GIVEN };
	const char *name;
	uint64_t start;

	assert_int_equal(codes_new(&c), 0);
	assert_int_equal(codes_learn(c, &told, &name, &start), 1);
	assert_string_equal(name, "php::A::f:/x.php");
	assert_int_equal(codes_address(c, 1, 7), runtime_code_address(start, 7));
	told = (struct codes_told){ .kind = RUNTIME_PHP,
		                    .key = 2,
		                    .name = { "array_map", 9, 0, 1 } };
	assert_int_equal(codes_learn(c, &told, &name, &start), 1);
	assert_string_equal(name, "php::array_map...");
	codes_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),          cmocka_unit_test(test_lines_hostile),
		cmocka_unit_test(test_texts),          cmocka_unit_test(test_php),
		cmocka_unit_test(test_php_frame),      cmocka_unit_test(test_function_file),
		cmocka_unit_test(test_scope),          cmocka_unit_test(test_codes),
		cmocka_unit_test(test_splice),         cmocka_unit_test(test_splice_several),
		cmocka_unit_test(test_splice_shifted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
