// SPDX-License-Identifier: MIT
/*
 * runtimes_python.c: which CPython an object is, from made-up symbols and bytes; the tables by
 * which it describes itself, and hostile ones.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "abi/runtime.h"
#include "runtimes/kinds.h"
#include "runtimes/python.h"

#define RUNTIME 0x1000u
#define VERSION 0x8000u
#define TYPE 0x9000u
#define WORDS 104u
#define LOOP 0xa000u
#define LOOP_BYTES 6000u /* more than is read at once */
#define COLD 0x20000u

/* An object of which these symbols and bytes are known. */
struct made {
	bool runtime, version, type, awaits;
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
	else if (strstr(name, "_Type") && (strcmp(name, "PyCode_Type") ? m->awaits : m->type))
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

static struct made made_of(uint64_t version)
{
	return (struct made){ .runtime = true,
		              .version = true,
		              .type = true,
		              .awaits = true,
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
	assert_true(kinds_runs(&o.object, LOOP + LOOP_BYTES)); /* any place may be the loop's */
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
	assert_true(kinds_runs(&o.object, LOOP));
	assert_true(kinds_runs(&o.object, LOOP + LOOP_BYTES - 1));
	assert_false(kinds_runs(&o.object, LOOP + LOOP_BYTES));
	assert_false(kinds_runs(&o.object, LOOP - 1));
	assert_true(kinds_runs(&o.object, COLD + 0x7ff));
	assert_false(kinds_runs(&o.object, COLD + 0x800));
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

/* A word of the table at the beginning of _PyRuntime. */
struct table_word {
	unsigned word;
	uint64_t is;
};

static struct made made_table(uint64_t version, const struct table_word *words, size_t n)
{
	struct made m = made_of(version);

	memcpy(m.words, "xdebugpy", 8);
	m.words[1] = version;
	for (size_t i = 0; i < n; i++)
		m.words[words[i].word] = words[i].is;
	return m;
}

#define MADE_TABLE(version, words) made_table(version, words, sizeof(words) / sizeof((words)[0]))

/* The table of 3.13.0, as its headers have it. */
static struct made made_313(void)
{
	static const struct table_word words[] = {
		{ 5, 632 },  { 7, 7256 }, { 8, 7264 }, { 9, 7344 }, { 21, 8 },  { 23, 72 },
		{ 24, 152 }, { 29, 8 },   { 30, 0 },   { 31, 56 },  { 33, 70 }, { 35, 112 },
		{ 37, 128 }, { 38, 136 }, { 39, 68 },  { 43, 200 }
	};

	return MADE_TABLE(0x030d00f0, words);
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
	/* the number behind a code object's first line, and whose it is */
	assert_int_equal(o.layout.code_version, 92);
	assert_int_equal(o.layout.interpreter_id, 7256);
	m.words[7] = 0; /* else code of several interpreters could not be told apart by it */
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.code_version, 0);
	m.words[7] = 7256;
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
	static const struct table_word words[] = {
		{ 5, 808 },  { 8, 7272 }, { 9, 7344 }, { 24, 8 },   { 26, 72 },  { 27, 152 },
		{ 32, 8 },   { 33, 0 },   { 34, 56 },  { 36, 74 },  { 40, 112 }, { 42, 128 },
		{ 43, 136 }, { 44, 68 },  { 48, 208 }, { 22, 832 }, { 37, 64 },  { 53, 24 },
		{ 63, 24 },  { 64, 40 },  { 65, 32 },  { 85, 72 },  { 86, 67 }
	};
	struct made m = MADE_TABLE(0x030e0af0, words);
	struct found o;

	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.version, 0x030e);
	assert_int_equal(o.layout.entry, PYTHON_ENTRY_FRAME);
	assert_int_equal(o.layout.frame_owner, 74);
	assert_int_equal(o.layout.owner_entry, 3);
	assert_int_equal(o.layout.code_instructions, 208);
	assert_int_equal(o.layout.thread_task, 872);
	assert_int_equal(o.layout.coroutine_frame, 72);
	assert_int_equal(o.layout.coroutine_state, 67);
	assert_int_equal(o.layout.set_table, 40);
	m.awaits = false; /* what is awaited is not told from other objects */
	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.thread_task, 0);
	m.words[85] = 100000; /* a coroutine's frame */
	assert_int_equal(found(&m, &o), -ENOTSUP);
	m.words[85] = 72;
	m.words[86] = 144; /* a coroutine's state, behind what is read */
	assert_int_equal(found(&m, &o), -ENOTSUP);
	m.words[86] = 67;
	m.words[64] = 140; /* where a set has its table */
	assert_int_equal(found(&m, &o), -ENOTSUP);
}

/* Of 3.14.7, a free-threaded build: heads of objects are longer, and each thread has a copy of the
 * code. What is read of an object begins behind what its head has more. */
static void test_own_table_free_threaded(void **state)
{
	static const struct table_word words[] = {
		{ 2, 1 },    { 5, 808 },  { 8, 7272 }, { 9, 7344 }, { 24, 8 },   { 26, 72 },
		{ 27, 152 }, { 32, 8 },   { 33, 0 },   { 34, 56 },  { 36, 78 },  { 38, 72 },
		{ 40, 128 }, { 42, 144 }, { 43, 152 }, { 44, 84 },  { 48, 232 }, { 49, 224 },
		{ 22, 880 }, { 37, 64 },  { 53, 32 },  { 63, 40 },  { 64, 56 },  { 65, 48 },
		{ 85, 88 },  { 86, 83 }
	};
	static const struct table_word bad[] = {
		{ 38, 76 }, { 38, 70 },  { 49, 228 },  { 49, 232 },
		{ 49, 8 },  { 48, 280 }, { 40, 1000 }, { 44, 15 }
	};
	struct made m = MADE_TABLE(0x030e07f0, words), bent;
	struct found o;

	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.object_more, 16);
	assert_int_equal(o.layout.frame_copy, 72);
	assert_int_equal(o.layout.frame_size, 79);
	assert_int_equal(o.layout.code_copies, 208);
	assert_int_equal(o.layout.code_instructions, 216);
	assert_int_equal(o.layout.code_file, 112);
	assert_int_equal(o.layout.text_kind, 8);
	assert_int_equal(o.layout.coroutine_frame, 72);
	assert_int_equal(o.layout.set_used, 24);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bent = m;
		bent.words[bad[i].word] = bad[i].is;
		assert_int_equal(found(&bent, &o), -ENOTSUP);
	}
}

/* Of 3.15.2, as Debian's has it: a thread's state has a frame of its own below all others. */
static void test_own_table_315(void **state)
{
	static const struct table_word words[] = {
		{ 5, 936 },  { 8, 7264 }, { 9, 7336 }, { 24, 8 },   { 26, 72 },  { 30, 176 },
		{ 40, 8 },   { 41, 0 },   { 42, 56 },  { 44, 74 },  { 48, 112 }, { 50, 128 },
		{ 51, 136 }, { 52, 68 },  { 56, 208 }, { 22, 888 }, { 45, 64 },  { 61, 24 },
		{ 75, 24 },  { 76, 40 },  { 77, 32 },  { 101, 72 }, { 102, 67 }
	};
	struct made m = MADE_TABLE(0x030f02f0, words);
	struct found o;

	assert_int_equal(found(&m, &o), 0);
	assert_int_equal(o.layout.version, 0x030f);
	assert_int_equal(o.layout.entry, PYTHON_ENTRY_FRAME);
	assert_int_equal(o.layout.thread_id, 176);
	assert_int_equal(o.layout.frame_owner, 74);
	assert_int_equal(o.layout.has_base, 1);
	assert_int_equal(o.layout.thread_task, 1032);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_version),
		cmocka_unit_test(test_older),
		cmocka_unit_test(test_loop_cold),
		cmocka_unit_test(test_other_objects),
		cmocka_unit_test(test_own_table),
		cmocka_unit_test(test_own_table_314),
		cmocka_unit_test(test_own_table_free_threaded),
		cmocka_unit_test(test_own_table_315),
		cmocka_unit_test(test_hostile_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
