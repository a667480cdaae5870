// SPDX-License-Identifier: MIT
/*
 * runtimes_hotspot.c: HotSpot in made-up memory: its tables, a method's name and lines, what is
 * inlined at places in compiled code; and the same with every word of it changed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BYTES 0x20000u
#include "hotspot_memory.h"

static uint64_t text(const char *s)
{
	uint64_t at = room(strlen(s) + 1);

	memcpy(memory + (at - BASE), s, strlen(s) + 1);
	return at;
}

/* ---- the tables ---- */

struct row {
	const char *type, *field;
	uint64_t offset, variable;
};
#define COMMON                                                                                     \
	{ "GrowableArrayBase", "_len", 0, 0 }, { "GrowableArray<int>", "_data", 8, 0 },            \
	        { "CodeHeap", "_memory", 8, 0 }, { "CodeHeap", "_segmap", 120, 0 },                \
	        { "CodeHeap", "_log2_segment_size", 256, 0 }, { "VirtualSpace", "_low", 16, 0 },   \
	        { "VirtualSpace", "_high", 24, 0 }, { "HeapBlock::Header", "_used", 8, 0 },        \
	        { "CodeBlob", "_name", 96, 0 }, { "CodeBlob", "_frame_complete_offset", 20, 0 },   \
	        { "CodeBlob", "_frame_size", 28, 0 }, { "nmethod", "_compile_id", 304, 0 },        \
	        { "nmethod", "_entry_bci", 192, 0 }, { "nmethod", "_orig_pc_offset", 300, 0 },     \
	        { "nmethod", "_scopes_pcs_offset", 268, 0 }, { "Method", "_constMethod", 8, 0 },   \
	        { "ConstMethod", "_constants", 8, 0 },                                             \
	        { "ConstMethod", "_constMethod_size", 24, 0 },                                     \
	        { "ConstMethod", "_code_size", 32, 0 }, { "ConstMethod", "_name_index", 34, 0 },   \
	        { "ConstantPool", "_length", 60, 0 }, { "ConstantPool", "_pool_holder", 24, 0 },   \
	        { "ConstantPool", "_source_file_name_index", 54, 0 }, { "Klass", "_name", 24, 0 }, \
	        { "Symbol", "_length", 4, 0 }, { "Symbol", "_body", 6, 0 },                        \
	        { "CodeCache", "_heaps", 0, 0x71000 }, { "CodeCache", "_low_bound", 0, 0x71008 },  \
	        { "CodeCache", "_high_bound", 0, 0x71010 },                                        \
	{                                                                                          \
		"StubRoutines", "_call_stub_return_address", 0, 0x71018                            \
	}

static const struct row rows_17[] = {
	COMMON,
	{ "ConstMethod", "_flags", 28, 0 },
	{ "CodeBlob", "_code_begin", 32, 0 },
	{ "CodeBlob", "_code_end", 40, 0 },
	{ "CompiledMethod", "_method", 112, 0 },
	{ "CompiledMethod", "_deopt_handler_begin", 128, 0 },
	{ "CompiledMethod", "_deopt_mh_handler_begin", 136, 0 },
	{ "CompiledMethod", "_scopes_data_begin", 120, 0 },
	{ "nmethod", "_dependencies_offset", 272, 0 },
	{ "nmethod", "_metadata_offset", 260, 0 },
};
#define ROWS (sizeof(rows_17) / sizeof(*rows_17))
static const struct row sizes_17[] = {
	{ "HeapBlock", NULL, 16, 0 },
	{ "ConstMethod", NULL, 48, 0 },
	{ "ConstantPool", NULL, 72, 0 },
	{ "nmethod", NULL, 352, 0 },
};

/* Writes the tables. left_out: a row that is not there. */
static void tables(uint64_t address[HOTSPOT_ADDRESSES], uint32_t version, size_t left_out)
{
	uint64_t rows, at, pointer, major;

	memset(memory, 0, sizeof(memory));
	used = 0;
	memset(address, 0, HOTSPOT_ADDRESSES * sizeof(*address));
	pointer = room(16);
	rows = at = room((ROWS + 2) * 48);
	major = room(8);
	put(major, version, 4);
	put(at, text("Abstract_VM_Version"), 8);
	put(at + 8, text("_vm_major_version"), 8);
	put(at + 24, 1, 4);
	put(at + 40, major, 8);
	for (size_t i = 0; i < ROWS; i++) {
		if (i == left_out)
			continue;
		at += 48;
		put(at, text(rows_17[i].type), 8);
		put(at + 8, text(rows_17[i].field), 8);
		put(at + 24, rows_17[i].variable != 0, 4);
		put(at + 32, rows_17[i].offset, 8);
		put(at + 40, rows_17[i].variable, 8);
	}
	put(pointer, rows, 8);
	address[HOTSPOT_STRUCTS] = pointer;
	at = room(5 * 40);
	put(pointer + 8, at, 8);
	address[HOTSPOT_TYPES] = pointer + 8;
	for (size_t i = 0; i < 4; i++, at += 40) {
		put(at, text(sizes_17[i].type), 8);
		put(at + 32, sizes_17[i].offset, 8);
	}
}

static void test_tables(void **state)
{
	struct hotspot_layout l;
	uint64_t address[HOTSPOT_ADDRESSES];

	(void)state;
	tables(address, 17, ROWS);
	assert_int_equal(hotspot_describe(&reader, address, &l), 0);
	assert_int_equal(l.version, 17);
	assert_int_equal(l.code_id, 304);
	assert_int_equal(l.blob_begin, 32);
	assert_int_equal(l.block_bytes, 16);
	assert_int_equal(address[HOTSPOT_HEAPS], 0x71000);
	assert_int_equal(address[HOTSPOT_CALL_STUB], 0x71018);
	tables(address, 18, ROWS);
	assert_int_equal(hotspot_describe(&reader, address, &l), -ENOTSUP);
	tables(address, 25, ROWS); /* has other fields */
	assert_int_equal(hotspot_describe(&reader, address, &l), -ENOTSUP);
	for (size_t i = 0; i < ROWS; i++) {
		tables(address, 17, i);
		assert_true(hotspot_describe(&reader, address, &l) < 0);
	}
}

/* Tables that nobody has filled in yet are asked again. */
static void test_not_yet(void **state)
{
	struct hotspot_layout l;
	uint64_t address[HOTSPOT_ADDRESSES];

	(void)state;
	tables(address, 17, ROWS);
	for (size_t i = 1; i <= ROWS; i++) {
		uint64_t rows;

		memcpy(&rows, memory + (address[HOTSPOT_STRUCTS] - BASE), 8);
		put(rows + i * 48 + 32, 0, 8);
	}
	assert_int_equal(hotspot_describe(&reader, address, &l), -EAGAIN);
	put(address[HOTSPOT_STRUCTS], 0, 8);
	assert_int_equal(hotspot_describe(&reader, address, &l), -EAGAIN);
	address[HOTSPOT_STRUCTS] = 8;
	assert_int_equal(hotspot_describe(&reader, address, &l), -EAGAIN);
}

static uint64_t filled; /* where an offset stands that is filled in behind so many reads */
static unsigned reads_left;

static int filling_read(void *ctx, uint64_t address, void *to, size_t n)
{
	if (!--reads_left)
		put(filled, 56, 8);
	return memory_read(ctx, address, to, n);
}

/* A row that is filled in while the tables are read: they are asked again, or were read before or
 * behind it. No layout has the offset that stood there before. */
static void test_filled_meanwhile(void **state)
{
	const struct hotspot_memory filling = { NULL, filling_read };
	struct hotspot_layout l;
	uint64_t address[HOTSPOT_ADDRESSES];
	unsigned again = 0;

	(void)state;
	for (unsigned n = 1; n < 2 * ROWS; n++) {
		uint64_t rows;
		int r;

		tables(address, 17, ROWS);
		memcpy(&rows, memory + (address[HOTSPOT_STRUCTS] - BASE), 8);
		for (size_t i = 0; i < ROWS; i++)
			if (!strcmp(rows_17[i].field, "_compile_id"))
				filled = rows + (i + 1) * 48 + 32;
		put(filled, 0, 8);
		reads_left = n;
		r = hotspot_describe(&filling, address, &l);
		again += r == -EAGAIN;
		assert_true(r == 0 || r == -EAGAIN);
		assert_true(r < 0 || l.code_id == 56);
	}
	assert_true(again);
}

/* ---- a method ---- */

static uint64_t symbol(const char *s)
{
	uint64_t at = room(8 + strlen(s));

	put(at + 4, strlen(s), 2);
	memcpy(memory + (at + 6 - BASE), s, strlen(s));
	return at;
}

static uint64_t method(const char *class, const char *name, const char *file)
{
	uint64_t at = room(88), konst = room(48 + 16 + 64), pool = room(72 + 4 * 8),
	         klass = room(64);

	put(at + 8, konst, 8);
	put(konst + 8, pool, 8);
	put(konst + 24, (48 + 16 + 64) / 8, 4);
	put(konst + 28, 1, 2);
	put(konst + 32, 16, 2);
	put(konst + 34, 1, 2);
	put(pool + 24, klass, 8);
	put(pool + 54, file ? 2 : 0, 2);
	put(pool + 60, 3, 4);
	put(pool + 72 + 8, symbol(name), 8);
	if (file)
		put(pool + 72 + 16, symbol(file), 8);
	put(klass + 24, symbol(class), 8);
	/* 0: line 10, 5: 12, 10: 12 - 1 */
	memcpy(memory + (konst + 48 + 16 - BASE), "\xff\x00\x14\x2a\xff\x0a\x01\x00", 8);
	return at;
}

static uint32_t line(const struct hotspot_method *m, uint32_t bci)
{
	struct runtime_lines l = { .form = m->lines_form, .bytes = m->lines, .n = m->n_lines };

	return hotspot_line(&l, bci);
}

static struct hotspot_layout layout_17(void)
{
	struct hotspot_layout l;
	uint64_t address[HOTSPOT_ADDRESSES];

	tables(address, 17, ROWS);
	assert_int_equal(hotspot_describe(&reader, address, &l), 0);
	return l;
}

static void test_method(void **state)
{
	struct hotspot_layout l = layout_17();
	struct hotspot_method m, other;
	uint64_t at = method("java/lang/Foo$Bar", "run", "Foo.java");

	(void)state;
	assert_int_equal(hotspot_method(&l, &reader, at, &m), 0);
	assert_memory_equal(m.scope, "java/lang/Foo$Bar", m.scope_bytes);
	assert_memory_equal(m.name, "run", m.name_bytes);
	assert_memory_equal(m.file, "Foo.java", m.file_bytes);
	assert_int_equal(m.scope_bytes, 17);
	hotspot_class(m.scope, m.scope_bytes);
	assert_memory_equal(m.scope, "java.lang.Foo$Bar", 17);
	assert_int_equal(line(&m, 0), 10);
	assert_int_equal(line(&m, 4), 10);
	assert_int_equal(line(&m, 5), 12);
	assert_int_equal(line(&m, 10), 11);
	assert_int_equal(line(&m, HOTSPOT_NO_BCI), 0);
	at = method("java/lang/Foo$Bar", "run2", NULL);
	assert_int_equal(hotspot_method(&l, &reader, at, &other), 0);
	assert_int_equal(other.file_bytes, 0);
	assert_int_not_equal(m.key, other.key);
	assert_true(hotspot_method(&l, &reader, 0, &m) < 0);
	assert_true(hotspot_method(&l, &reader, BASE + BYTES - 8, &m) < 0);
}

/* ---- compiled code ---- */

struct code {
	uint64_t at, methods[3];
};

/* At 20 the outer method calls; at 40 it runs the inner one, which has the innermost; at 60 the
 * inner one, from the same place; at 80 from another place. */
static struct code compiled(void)
{
	static const unsigned char data[] = {
		0xff,        /* 0 is none */
		0,    1, 6,  /* 1: outer at bytecode 5 */
		1,    2, 8,  /* 4: inner at 7, called there */
		4,    3, 2,  /* 7: innermost at 1 */
		1,    2, 4,  /* 10: inner at 3 */
		0,    1, 31, /* 13: outer at 30 */
		13,   2, 8,  /* 16: inner at 7 */
	};
	static const int32_t pcs[][2] = { { -1, 0 },  { 20, 1 },  { 40, 7 },
		                          { 60, 10 }, { 80, 16 }, { INT32_MAX, 0 } };
	struct code c;

	for (size_t i = 0; i < 3; i++)
		c.methods[i] = method("A",
		                      i == 0   ? "outer"
		                      : i == 1 ? "inner"
		                               : "innermost",
		                      "A.java");
	c.at = room(1024);
	put(c.at + 112, c.methods[0], 8);
	put(c.at + 304, 77, 4);
	put(c.at + 260, 400, 4);
	for (size_t i = 0; i < 3; i++)
		put(c.at + 400 + i * 8, c.methods[i], 8);
	put(c.at + 120, c.at + 424, 8);
	memcpy(memory + (c.at + 424 - BASE), data, sizeof(data));
	put(c.at + 268, 448, 4);
	for (size_t i = 0; i < 6; i++) {
		put(c.at + 448 + i * 16, (uint32_t)pcs[i][0], 4);
		put(c.at + 448 + i * 16 + 4, (uint32_t)pcs[i][1], 4);
	}
	put(c.at + 272, 448 + 6 * 16, 4);
	return c;
}

static void test_inlined(void **state)
{
	struct hotspot_layout l = layout_17();
	struct hotspot_place p[HOTSPOT_INLINED];
	struct code c = compiled();

	(void)state;
	assert_int_equal(hotspot_inlined(&l, &reader, c.at, 77, 20, p), 1);
	assert_int_equal(p[0].method, c.methods[0]);
	assert_int_equal(p[0].bci, 5);
	assert_int_equal(hotspot_inlined(&l, &reader, c.at, 77, 40, p), 3);
	assert_int_equal(p[0].method, c.methods[2]);
	assert_int_equal(p[0].bci, 1);
	assert_int_equal(p[1].method, c.methods[1]);
	assert_int_equal(p[1].bci, 7);
	assert_int_equal(p[2].method, c.methods[0]);
	/* Between two places only what both have is sure. */
	assert_int_equal(hotspot_inlined(&l, &reader, c.at, 77, 50 | HOTSPOT_PC_EXACT, p), 2);
	assert_int_equal(p[0].method, c.methods[1]);
	assert_int_equal(p[1].bci, 5);
	assert_int_equal(hotspot_inlined(&l, &reader, c.at, 77, 30 | HOTSPOT_PC_EXACT, p), 1);
	assert_int_equal(p[0].bci, 5);
	/* The same method, but called from elsewhere. */
	assert_int_equal(hotspot_inlined(&l, &reader, c.at, 77, 70 | HOTSPOT_PC_EXACT, p), 1);
	assert_int_equal(p[0].method, c.methods[0]);
	/* Before the first and behind the last place the outer method is sure, and no line. */
	assert_int_equal(hotspot_inlined(&l, &reader, c.at, 77, 3 | HOTSPOT_PC_EXACT, p), 1);
	assert_int_equal(p[0].method, c.methods[0]);
	assert_int_equal(p[0].bci, HOTSPOT_NO_BCI);
	assert_int_equal(hotspot_inlined(&l, &reader, c.at, 77, 90 | HOTSPOT_PC_EXACT, p), 1);
	/* Other code stands there now. */
	assert_int_equal(hotspot_inlined(&l, &reader, c.at, 78, 20, p), -ESTALE);
	assert_true(hotspot_code_is(&l, &reader, c.at, 77));
	assert_false(hotspot_code_is(&l, &reader, c.at, 78));
	assert_false(hotspot_code_is(&l, &reader, 8, 77));
}

/* Scopes that lead back to themselves, or nowhere; and any byte changed. */
static void test_hostile(void **state)
{
	struct hotspot_layout l = layout_17();
	struct hotspot_place p[HOTSPOT_INLINED];
	struct hotspot_method m;
	struct code c = compiled();

	(void)state;
	put(c.at + 424 + 7, 7, 1);
	assert_true(hotspot_inlined(&l, &reader, c.at, 77, 40, p) < 0);
	put(c.at + 424 + 7, 4, 1);
	put(c.at + 424 + 8, 9, 1); /* a method that is not there */
	assert_true(hotspot_inlined(&l, &reader, c.at, 77, 40, p) < 0);
	put(c.at + 424 + 8, 3, 1);
	for (size_t at = 0; at < used; at++) {
		unsigned char was = memory[at];

		for (size_t k = 0; k < 3; k++) {
			memory[at] = (unsigned char)(k == 0 ? 0 : k == 1 ? 0xff : was + 1);
			for (uint32_t pc = 10; pc < 100; pc += 10) {
				int n = hotspot_inlined(&l, &reader, c.at, 77, pc, p);

				assert_true(n <= (int)HOTSPOT_INLINED);
				for (int i = 0; i < n; i++)
					if (!hotspot_method(&l, &reader, p[i].method, &m))
						line(&m, p[i].bci);
			}
		}
		memory[at] = was;
	}
}

/* Numbers of versions from 20 on have no byte 0. */
static void test_numbers(void **state)
{
	static const unsigned char old[] = { 0xff, 0xc6, 0x08, 0x14, 0 };
	static const unsigned char new[] = { 0xff, 0xc7, 0x09, 0x15, 0 };
	struct runtime_lines l = { .form = HOTSPOT_LINES_17, .bytes = old, .n = sizeof(old) };

	(void)state;
	/* 0xc6 + (8 << 6) = 710: 355 */
	assert_int_equal(hotspot_line(&l, 354), 0);
	assert_int_equal(hotspot_line(&l, 355), 10);
	l = (struct runtime_lines){ .form = HOTSPOT_LINES, .bytes = new, .n = sizeof(new) };
	assert_int_equal(hotspot_line(&l, 354), 0);
	assert_int_equal(hotspot_line(&l, 355), 10);
	l.n = 2; /* cut off */
	assert_int_equal(hotspot_line(&l, 355), 0);
}

/* An object that exports one name. */
static int one_symbol(void *ctx, const char *name, uint64_t *ret, uint64_t *size)
{
	if (strcmp(name, ctx) != 0)
		return -ENOENT;
	*ret = 0x1000;
	if (size)
		*size = 8;
	return 0;
}

/* What starts a HotSpot is none, and says that one comes. */
static void the_launcher_foretells_it(void **state)
{
	struct runtime_source source = { .ctx = (void *)"JLI_Launch", .symbol = one_symbol };
	struct runtime_object found = { 0 };

	assert_int_equal(hotspot_find(&found, &source), -ENOTSUP);
	assert_int_equal(found.loads, 1);
	assert_int_equal(found.known, 0);
	source.ctx = (void *)"JLI_Launcher";
	assert_int_equal(hotspot_find(&found, &source), -ENOENT);
	assert_int_equal(found.loads, 0);
	source.ctx = (void *)"gHotSpotVMStructs"; /* one of its tables alone */
	assert_int_equal(hotspot_find(&found, &source), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_launcher_foretells_it),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_not_yet),
		cmocka_unit_test(test_filled_meanwhile),
		cmocka_unit_test(test_method),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
