// SPDX-License-Identifier: MIT
// dwarf_linetab.c: line tables made by hand: which row has an address, and which tables are left to libdw. Real ones are
// tests/system/dwarf_truth.py's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/linetab.h"

#define OPCODE_BASE 13
#define LINE_BASE -3
#define LINE_RANGE 12

static void put(struct buf *b, int byte)
{
	unsigned char c = (unsigned char)byte;

	buf_put(b, &c, 1);
}

static void put_address(struct buf *b, uint64_t addr)
{
	put(b, 0);
	put(b, 9);
	put(b, DW_LNE_set_address);
	buf_put_u64(b, addr);
}

static void put_step(struct buf *b, int addr, int line)
{
	put(b, OPCODE_BASE + (line - LINE_BASE) + addr * LINE_RANGE);
}

static void put_end(struct buf *b, int addr)
{
	put(b, DW_LNS_advance_pc);
	put(b, addr);
	put(b, 0);
	put(b, 1);
	put(b, DW_LNE_end_sequence);
}

/* A table of DWARF 4 around a program. */
static void table_of(struct buf *to, const struct buf *program)
{
	static const unsigned char lengths[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	static const char lists[] = "inc\0\0a.c\0\0\0\0b.h\0\1\0\0"; /* and the NUL that ends it */
	size_t head = 6 + sizeof(lengths) + sizeof(lists);

	buf_clear(to);
	buf_put_u32(to, (uint32_t)(6 + head + program->n));
	buf_put_u16(to, 4);
	buf_put_u32(to, (uint32_t)head);
	put(to, 1); /* bytes of the least instruction */
	put(to, 1); /* operations in one */
	put(to, 1);
	put(to, LINE_BASE);
	put(to, LINE_RANGE);
	put(to, OPCODE_BASE);
	buf_put(to, lengths, sizeof(lengths));
	buf_put(to, lists, sizeof(lists));
	buf_put(to, program->bytes, program->n);
}

static int read_table(struct linetab *table, const struct buf *program, struct buf *bytes)
{
	struct sections s = { 0 };

	table_of(bytes, program);
	s.line = cursor_of(bytes->bytes, bytes->n, false);
	*table = (struct linetab){ 0 };
	return linetab_read(table, &s, 0, "/dir");
}

static void check(const struct linetab *table, uint64_t addr, uint32_t file, uint32_t line)
{
	const struct linetab_row *row = linetab_find(table, addr);

	if (!line) {
		assert_null(row);
		return;
	}
	assert_non_null(row);
	assert_int_equal(row->file, file);
	assert_int_equal(row->line, line);
}

/* Two sequences, the later one first. */
static void two_sequences(struct buf *b)
{
	put_address(b, 0x2000);
	put_step(b, 0, 4); /* line 5 */
	put_step(b, 0, 1); /* line 6 at the same address: what counts */
	put_step(b, 4, 2); /* line 8 */
	put_end(b, 6);
	put_address(b, 0x1000);
	put(b, DW_LNS_set_file);
	put(b, 2);
	put(b, DW_LNS_advance_line);
	put(b, 99);
	put(b, 0); /* 99 has its sign bit set: two bytes */
	b->bytes[b->n - 2] |= 0x80;
	put(b, DW_LNS_copy); /* line 100 */
	put_step(b, 16, -3); /* line 97 */
	put(b, DW_LNS_const_add_pc);
	put_step(b, 0, 0); /* 20 bytes on */
	put_end(b, 12);
}

static void test_rows(void **state)
{
	struct buf program = { 0 }, bytes = { 0 };
	struct linetab table;

	two_sequences(&program);
	assert_int_equal(read_table(&table, &program, &bytes), 0);
	check(&table, 0xfff, 0, 0);
	check(&table, 0x1000, 2, 100);
	check(&table, 0x100f, 2, 100);
	check(&table, 0x1010, 2, 97);
	check(&table, 0x1010 + 20 + 11, 2, 97);
	check(&table, 0x1010 + 20 + 12, 0, 0); /* behind the end */
	check(&table, 0x1fff, 0, 0);
	check(&table, 0x2000, 1, 6);
	check(&table, 0x2003, 1, 6);
	check(&table, 0x2009, 1, 8);
	check(&table, 0x200a, 0, 0);
	check(&table, UINT64_MAX, 0, 0);
	assert_string_equal(linetab_file(&table, 1)->name, "a.c");
	assert_string_equal(linetab_file(&table, 1)->dir, "/dir");
	assert_string_equal(linetab_file(&table, 2)->dir, "inc");
	assert_null(linetab_file(&table, 3));
	linetab_free(&table);
	buf_free(&program);
	buf_free(&bytes);
}

static void test_left_to_libdw(void **state)
{
	struct buf program = { 0 }, bytes = { 0 };
	struct linetab table;

	/* Sequences that overlap. */
	two_sequences(&program);
	put_address(&program, 0x2009);
	put_step(&program, 0, 1);
	put_end(&program, 1);
	assert_int_equal(read_table(&table, &program, &bytes), -ENOTSUP);
	/* Of code that the linker left out there may be many at 0. */
	buf_clear(&program);
	two_sequences(&program);
	for (int i = 0; i < 3; i++) {
		put_address(&program, 0);
		put_step(&program, 0, 1);
		put_end(&program, 9);
	}
	assert_int_equal(read_table(&table, &program, &bytes), 0);
	check(&table, 0x2000, 1, 6);
	check(&table, 0x3, 0, 0);
	linetab_free(&table);
	/* Rows that go back. */
	buf_clear(&program);
	put_address(&program, 0x2000);
	put_step(&program, 0, 1);
	put_address(&program, 0x1000);
	put_step(&program, 0, 1);
	put_end(&program, 1);
	assert_int_equal(read_table(&table, &program, &bytes), -ENOTSUP);
	/* A sequence without an end. */
	buf_clear(&program);
	put_address(&program, 0x2000);
	put_step(&program, 0, 1);
	assert_int_equal(read_table(&table, &program, &bytes), -ENOTSUP);
	/* A file without a number. */
	buf_clear(&program);
	put_address(&program, 0x2000);
	put(&program, DW_LNS_set_file);
	put(&program, 0);
	put_step(&program, 0, 1);
	put_end(&program, 1);
	assert_int_equal(read_table(&table, &program, &bytes), -ENOTSUP);
	buf_free(&program);
	buf_free(&bytes);
}

/* Each byte damaged in some ways, and each length: rows or none, and never outside of a sequence. */
static void test_damaged(void **state)
{
	struct buf program = { 0 }, bytes = { 0 };
	struct sections s = { 0 };
	struct linetab table;
	size_t sound = 0;

	two_sequences(&program);
	table_of(&bytes, &program);
	for (size_t at = 0; at < bytes.n; at++) {
		for (int bits = 1; bits < 256; bits += 2) {
			unsigned char *copy = malloc(bytes.n); /* its end is the allocation's */

			memcpy(copy, bytes.bytes, bytes.n);
			copy[at] ^= (unsigned char)bits;
			s.line = cursor_of(copy, bytes.n - (at & 1 ? 0 : at / 2), false);
			table = (struct linetab){ 0 };
			if (linetab_read(&table, &s, 0, NULL) == 0) {
				sound++;
				for (uint64_t addr = 0xff0; addr < 0x2100; addr += 3)
					assert_true(!linetab_find(&table, addr) ||
					            linetab_find(&table, addr)->addr <= addr);
			}
			linetab_free(&table);
			free(copy);
		}
	}
	assert_true(sound > 0);
	buf_free(&program);
	buf_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_left_to_libdw),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
