// SPDX-License-Identifier: MIT
/*
 * runtimes.c: which CPython an object is, from made-up symbols and bytes; lines by location tables
 * that CPython itself wrote; texts of all widths; names and addresses of code objects.
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

/* ---- which version ---- */

#define RUNTIME 0x1000u
#define VERSION 0x8000u
#define TYPE 0x9000u
#define WORDS 80u
#define LOOP 0xa000u
#define LOOP_BYTES 6000u /* more than is read at once */
#define COLD 0x20000u

/* An object of which these symbols and bytes are known. */
struct made {
	bool runtime, version, type;
	uint64_t version_word;
	uint64_t words[WORDS]; /* at RUNTIME */
	size_t n_words;        /* readable */
	const char *since[2];  /* functions that it has */
	bool no_loop;
	unsigned char code[LOOP_BYTES]; /* at LOOP */
	struct {
		uint64_t start, end;
	} functions[4];
};

static int made_symbol(void *ctx, const char *name, uint64_t *ret, uint64_t *size)
{
	const struct made *m = ctx;

	if (size)
		*size = LOOP_BYTES;
	for (size_t i = 0; i < 2; i++)
		if (m->since[i] && !strcmp(name, m->since[i]))
			return 0;
	if (!m->no_loop && !strcmp(name, "_PyEval_EvalFrameDefault"))
		*ret = LOOP;
	else if (m->runtime && !strcmp(name, "_PyRuntime"))
		*ret = RUNTIME;
	else if (m->version && !strcmp(name, "Py_Version"))
		*ret = VERSION;
	else if (m->type && !strcmp(name, "PyCode_Type"))
		*ret = TYPE;
	else
		return -ENOENT;
	return 0;
}

static int made_read(void *ctx, uint64_t address, void *to, size_t n)
{
	const struct made *m = ctx;

	if (address == VERSION && n == 8) {
		memcpy(to, &m->version_word, n);
		return 0;
	}
	if (address >= LOOP && address + n <= LOOP + LOOP_BYTES) {
		memcpy(to, m->code + (address - LOOP), n);
		return 0;
	}
	if (address < RUNTIME || address - RUNTIME + n > m->n_words * 8)
		return -EFAULT;
	memcpy(to, (const char *)m->words + (address - RUNTIME), n);
	return 0;
}

static int made_functions(void *ctx, int (*each)(void *arg, uint64_t start, uint64_t end),
                          void *arg)
{
	const struct made *m = ctx;

	for (size_t i = 0; i < 4 && m->functions[i].end; i++)
		each(arg, m->functions[i].start, m->functions[i].end);
	return 0;
}

/* What is found, as the runtime's own struct. */
struct found {
	struct runtime_object object;
	struct python_layout layout;
	uint64_t runtime, code_type, loop, cold;
	uint32_t loop_bytes, cold_bytes;
};

static int found(struct made *m, struct found *ret)
{
	const struct runtime_source source = {
		.ctx = m, .symbol = made_symbol, .read = made_read, .functions = made_functions
	};
	int r;

	*ret = (struct found){ .object = { .kind = 0 } };
	r = kinds_find(&ret->object, &source);
	memcpy(&ret->layout, ret->object.layout, sizeof(ret->layout));
	ret->runtime = ret->object.address[PYTHON_RUNTIME];
	ret->code_type = ret->object.address[PYTHON_CODE_TYPE];
	ret->loop = ret->object.address[PYTHON_LOOP];
	ret->cold = ret->object.address[PYTHON_COLD];
	ret->loop_bytes = ret->layout.loop_bytes;
	ret->cold_bytes = ret->layout.cold_bytes;
	if (r != -ENOENT) {
		assert_int_equal(ret->object.kind, RUNTIME_PYTHON);
		assert_int_equal(ret->object.known, r >= 0);
	}
	return r;
}

static uint32_t line_of(unsigned form, const unsigned char *bytes, size_t n, uint32_t first_line,
                        uint32_t at)
{
	const struct runtime_lines lines = { form, bytes, n, first_line };

	return kinds_line(RUNTIME_PYTHON, &lines, at);
}

static struct made made_of(uint64_t version)
{
	return (struct made){ .runtime = true,
		              .version = true,
		              .type = true,
		              .version_word = version,
		              .n_words = WORDS };
}

static void test_by_version(void **state)
{
	struct made m = made_of(0x030b02f0);
	struct found o;

	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.version, 0x030b);
	assert_int_equal(o.layout.entry, PYTHON_ENTRY_CFRAME);
	assert_int_equal(o.runtime, RUNTIME);
	assert_int_equal(o.code_type, TYPE);
	m.version_word = 0x030c01f0;
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.entry, PYTHON_ENTRY_FRAME_BY_CFRAME);
	m.version_word = 0x03100000;
	assert_int_equal(found(&m, &o), -ENOTSUP);
	assert_int_equal(o.layout.version, 0x0310);
}

/* 3.8 to 3.10 are told by functions that they have first. */
static void test_older(void **state)
{
	struct made m = made_of(0);
	struct found o;

	m.version = false;
	m.since[0] = "PyCode_NewWithPosOnlyArgs";
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.version, 0x0308);
	assert_int_equal(o.layout.entry, PYTHON_ENTRY_CALL);
	assert_int_equal(o.loop, LOOP);
	assert_int_equal(o.loop_bytes, LOOP_BYTES);
	assert_int_equal(o.cold_bytes, 0);
	m.since[1] = "PyFrame_GetCode";
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.version, 0x0309);
	m.no_loop = true; /* frames could not be told from each other */
	assert_int_equal(found(&m, &o), -ENOTSUP);
	m.since[0] = "PyIter_Send"; /* 3.10 has marks */
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.version, 0x030a);
	assert_int_equal(o.layout.entry, PYTHON_ENTRY_CALL_CFRAME);
}

/* A conditional jump in the loop's code. */
static void made_jump(struct made *m, uint32_t at, uint64_t to)
{
	int32_t far = (int32_t)(to - (LOOP + at + 6));

	m->code[at] = 0x0f;
	m->code[at + 1] = 0x84;
	memcpy(m->code + at + 2, &far, sizeof(far));
}

/* What the compiler put elsewhere of the loop is where its conditional jumps lead. */
static void test_loop_cold(void **state)
{
	struct made m = made_of(0);
	struct found o;

	m.version = false;
	m.since[0] = "PyFrame_GetCode";
	m.functions[0].start = COLD - 0x1000;
	m.functions[0].end = COLD;
	m.functions[1].start = COLD;
	m.functions[1].end = COLD + 0x800;
	made_jump(&m, 10, LOOP + 500);
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.cold_bytes, 0);
	made_jump(&m, 4092, COLD + 0x10); /* where two pieces meet */
	made_jump(&m, 5994, COLD + 0x7ff);
	made_jump(&m, 100, COLD);
	made_jump(&m, 200, COLD - 0x100); /* by chance */
	made_jump(&m, 300, COLD + 0x800); /* behind the end of all functions */
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.cold, COLD);
	assert_int_equal(o.cold_bytes, 0x800);
	/* Two places: it is not known which. */
	made_jump(&m, 400, COLD - 0x200);
	made_jump(&m, 500, COLD - 0x300);
	assert_int_equal(found(&m, &o), -ENOTSUP);
}

static void test_other_objects(void **state)
{
	struct made m = made_of(0x030b02f0);
	struct found o;

	m.runtime = false;
	assert_int_equal(found(&m, &o), -ENOENT);
	m = made_of(0x030b02f0);
	m.version = false; /* 3.7 and older */
	assert_int_equal(found(&m, &o), -ENOTSUP);
	m = made_of(0x030b02f0);
	m.type = false;
	assert_int_equal(found(&m, &o), -ENOTSUP);
	m = made_of(0x030b02f0);
	m.n_words = 0; /* _PyRuntime has no bytes in the file: it is not the table of 3.13 */
	assert_int_equal(found(&m, &o), 0);
}

/* The table of 3.13.0, as its headers have it. */
static struct made made_313(void)
{
	struct made m = made_of(0x030d00f0);

	memcpy(m.words, "xdebugpy", 8);
	m.words[1] = 0x030d00f0;
	m.words[5] = 632;
	m.words[8] = 7264;
	m.words[9] = 7344;
	m.words[21] = 8;
	m.words[23] = 72;
	m.words[24] = 152;
	m.words[29] = 8;
	m.words[30] = 0;
	m.words[31] = 56;
	m.words[33] = 70;
	m.words[35] = 112;
	m.words[37] = 128;
	m.words[38] = 136;
	m.words[39] = 68;
	m.words[43] = 200;
	return m;
}

static void test_own_table(void **state)
{
	struct made m = made_313();
	struct found o;

	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.version, 0x030d);
	assert_int_equal(o.layout.entry, PYTHON_ENTRY_FRAME);
	assert_int_equal(o.layout.runtime_interpreters, 632);
	assert_int_equal(o.layout.thread_frame, 72);
	assert_int_equal(o.layout.frame_size, 71);
	assert_int_equal(o.layout.code_instructions, 200);
	m.words[23] = 80; /* the table is believed, not the version */
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.thread_frame, 80);
	m.words[2] = 2; /* neither free-threaded nor not */
	assert_int_equal(found(&m, &o), -ENOTSUP);
	m = made_313();
	m.words[1] = 0x031000f0; /* its table is not known */
	assert_int_equal(found(&m, &o), -ENOTSUP);
	assert_int_equal(o.layout.version, 0x0310);
	m = made_313();
	m.n_words = 20;
	assert_int_equal(found(&m, &o), -ENOTSUP);
}

/* Of 3.14.10, as Debian's has it: other words than 3.13's. */
static void test_own_table_314(void **state)
{
	static const struct {
		unsigned word;
		uint64_t is;
	} words[] = { { 1, 0x030e0af0 }, { 5, 808 },  { 8, 7272 }, { 9, 7344 },
		      { 24, 8 },         { 26, 72 },  { 27, 152 }, { 32, 8 },
		      { 33, 0 },         { 34, 56 },  { 36, 74 },  { 40, 112 },
		      { 42, 128 },       { 43, 136 }, { 44, 68 },  { 48, 208 } };
	struct made m = made_of(0x030e0af0);
	struct found o;

	memcpy(m.words, "xdebugpy", 8);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		m.words[words[i].word] = words[i].is;
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.version, 0x030e);
	assert_int_equal(o.layout.entry, PYTHON_ENTRY_FRAME);
	assert_int_equal(o.layout.frame_owner, 74);
	assert_int_equal(o.layout.owner_entry, 3);
	assert_int_equal(o.layout.code_instructions, 208);
}

/* Of 3.14.7, a free-threaded build: heads of objects are longer, and each thread has a copy of the
 * code. What is read of an object begins behind what its head has more. */
static void test_own_table_free_threaded(void **state)
{
	static const struct {
		unsigned word;
		uint64_t is;
	} words[] = { { 1, 0x030e07f0 }, { 2, 1 },   { 5, 808 },  { 8, 7272 }, { 9, 7344 },
		      { 24, 8 },         { 26, 72 }, { 27, 152 }, { 32, 8 },   { 33, 0 },
		      { 34, 56 },        { 36, 78 }, { 38, 72 },  { 40, 128 }, { 42, 144 },
		      { 43, 152 },       { 44, 84 }, { 48, 232 }, { 49, 224 } };
	static const struct {
		unsigned word;
		uint64_t is;
	} bad[] = { { 38, 76 }, { 38, 70 },  { 49, 228 },  { 49, 232 },
		    { 49, 8 },  { 48, 280 }, { 40, 1000 }, { 44, 15 } };
	struct made m = made_of(0x030e07f0), bent;
	struct found o;

	memcpy(m.words, "xdebugpy", 8);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		m.words[words[i].word] = words[i].is;
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.object_more, 16);
	assert_int_equal(o.layout.frame_copy, 72);
	assert_int_equal(o.layout.frame_size, 79);
	assert_int_equal(o.layout.code_copies, 208);
	assert_int_equal(o.layout.code_instructions, 216);
	assert_int_equal(o.layout.code_file, 112);
	assert_int_equal(o.layout.text_kind, 8);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bent = m;
		bent.words[bad[i].word] = bad[i].is;
		assert_int_equal(found(&bent, &o), -ENOTSUP);
	}
}

/* Of 3.15.2, as Debian's has it: a thread's state has a frame of its own below all others. */
static void test_own_table_315(void **state)
{
	static const struct {
		unsigned word;
		uint64_t is;
	} words[] = { { 1, 0x030f02f0 }, { 5, 936 },  { 8, 7264 }, { 9, 7336 },
		      { 24, 8 },         { 26, 72 },  { 30, 176 }, { 40, 8 },
		      { 41, 0 },         { 42, 56 },  { 44, 74 },  { 48, 112 },
		      { 50, 128 },       { 51, 136 }, { 52, 68 },  { 56, 208 } };
	struct made m = made_of(0x030f02f0);
	struct found o;

	memcpy(m.words, "xdebugpy", 8);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		m.words[words[i].word] = words[i].is;
	m.n_words = m.n_words < 58 ? 58 : m.n_words;
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.version, 0x030f);
	assert_int_equal(o.layout.entry, PYTHON_ENTRY_FRAME);
	assert_int_equal(o.layout.thread_id, 176);
	assert_int_equal(o.layout.frame_owner, 74);
	assert_int_equal(o.layout.has_base, 1);
	assert_int_equal(o.layout.code_file, 112);
	m.words[2] = 1; /* free-threaded */
	assert_int_equal(found(&m, &o), -ENOTSUP);
	m.words[2] = 0;
	m.words[44] = 1u << 17;
	assert_int_equal(found(&m, &o), -ENOTSUP);
}

/* Whatever the table says, nothing is read outside of what is copied. */
static void test_hostile_table(void **state)
{
	static const uint64_t bad[] = { 1u << 17, UINT64_MAX, 1ull << 32 };
	static const int any[] = { 5, 8, 9, 21, 23, 24, 29, 30, 31, 33, 35, 37, 38, 39, 43 };
	struct found o;

	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++)
		for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
			struct made m = made_313();

			m.words[any[i]] = bad[k];
			assert_int_equal(found(&m, &o), -ENOTSUP);
		}
	for (int i = 29; i <= 31; i++) { /* within a frame: aligned, and in front of its end */
		struct made m = made_313();

		m.words[i] = 4;
		assert_int_equal(found(&m, &o), -ENOTSUP);
		m.words[i] = 72;
		assert_int_equal(found(&m, &o), -ENOTSUP);
	}
}

/* ---- lines ---- */

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
	                  other = told_of(3, "g", "/x/y.py"), cut = told_of(4, "h", "/long");
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

/* Native frames 0x10.. whose stack pointers are 1000, 1100 and so on. Functions are digits in what
 * is expected, native frames letters. */
static void spliced(struct splice *s, bool cut, const char *want)
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
	splice_place(s, sps, NATIVES);
	n = splice_stack(s, c, ips, NATIVES, cut, to, &unnamed);
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
	assert_false(splice_is_apart(&s));
	/* A second mark in the frame of the first is none, nor is one that stands further inwards;
	 * nothing outwards of it is put. */
	s = (struct splice){ apart, 6, 0, true };
	spliced(&s, false, "a1bcdef");
	assert_true(splice_is_apart(&s));
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
	assert_false(splice_is_apart(&s));
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
	bool no_globals; /* as thread-safe builds */
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
	(void)ctx;
	(void)address;
	memset(to, 0x90, n);
	return 0;
}

static int php_found(struct made_php m, struct runtime_object *ret)
{
	const struct runtime_source source = {
		.ctx = &m, .symbol = php_symbol, .read = php_read, .functions = made_functions
	};

	return kinds_find(ret, &source);
}

/* A version is told by what it has first and by the size of its globals, which another build has
 * not. */
static void test_php(void **state)
{
	struct runtime_object o;
	struct php_layout l;

	assert_int_equal(php_found((struct made_php){ "zend_ce_sensitive_parameter", 1800, false },
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
	assert_int_equal(php_found((struct made_php){ "zend_ce_deprecated", 1984, false }, &o), 0);
	memcpy(&l, o.layout, sizeof(l));
	assert_int_equal(l.version, 0x0804);
	assert_int_equal(php_found((struct made_php){ "zend_ce_deprecated", 1800, false }, &o),
	                 -ENOTSUP);
	assert_int_equal(o.kind, RUNTIME_PHP);
	assert_int_equal(o.known, 0);
	assert_int_equal(php_found((struct made_php){ "zend_ce_fiber", 1800, false }, &o),
	                 -ENOTSUP);
	assert_int_equal(php_found((struct made_php){ "zend_ce_deprecated", 1984, true }, &o),
	                 -ENOTSUP);
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
		cmocka_unit_test(test_by_version),
		cmocka_unit_test(test_other_objects),
		cmocka_unit_test(test_own_table),
		cmocka_unit_test(test_hostile_table),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lines_hostile),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_php),
		cmocka_unit_test(test_function_file),
		cmocka_unit_test(test_scope),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_older),
		cmocka_unit_test(test_loop_cold),
		cmocka_unit_test(test_own_table_314),
		cmocka_unit_test(test_own_table_free_threaded),
		cmocka_unit_test(test_own_table_315),
		cmocka_unit_test(test_splice),
		cmocka_unit_test(test_splice_shifted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
