// SPDX-License-Identifier: MIT
// tables_jit.c: rules for code made at run time, by made-up jitdumps: CPython's own unwind
// information, code without any, code that was replaced, and dumps that lie.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jitdump.h"
#include "symbol/symbol.h"
#include "tables/jit_tables.h"
#include "tree.h"

#define PID 77u
#define AT 0x7f0000001000u

/* What CPython 3.13 says of its trampoline of 11 bytes: sub $8 (4 bytes), call, add $8, ret. CIE,
 * FDE, end; search table. */
static const unsigned char frames[] = {
	0x14, 0,    0,    0,    0,    0,    0,    0,    1,    0x7a, 0x52, 0,    1,    0x78, 0x10,
	1,    0x1b, 0x0c, 7,    8,    0x90, 1,    0,    0,    0x14, 0,    0,    0,    0x1c, 0,
	0,    0,    0xd0, 0xff, 0xff, 0xff, 0x0b, 0,    0,    0,    0,    0x44, 0x0e, 16,   0x46,
	0x0e, 8,    0,    1,    0x1b, 3,    0x3b, 0xcc, 0xff, 0xff, 0xff, 1,    0,    0,    0,
	0xc0, 0xff, 0xff, 0xff, 0xe8, 0xff, 0xff, 0xff, 0,    0,    0,    0,
};
#define HEADER 20u /* of the search table */

static char dir[64];

static void put_frames(struct buf *b, const void *bytes, uint64_t n, uint64_t header, uint64_t room)
{
	put32(b, 4, false);
	put32(b, (uint32_t)(16 + 24 + room), false);
	put64(b, 1000, false);
	put64(b, n, false);
	put64(b, header, false);
	put64(b, 80, false);
	buf_put(b, bytes, room);
}

static void put_code(struct buf *b, uint64_t at, const char *code, size_t n, uint64_t index)
{
	put_load(b, at, n, index, "some", false);
	memcpy(b->bytes + b->n - n, code, n);
}

static void write_dump(const struct buf *b)
{
	char name[64];

	snprintf(name, sizeof(name), "jit-%u.dump", PID);
	tree_put(dir, name, b->bytes, b->n);
}

static const struct symbol_opts *where(void)
{
	static struct symbol_opts opts = { .sz = sizeof(opts) };

	opts.map_dir = dir;
	return &opts;
}

/* One question of new tables; the rule, of cfa 0 when nothing is told. */
static struct frametab_rule ask_at(uint64_t pc, bool exact)
{
	struct jit_ask ask = { .machine = FRAMETAB_X86_64,
		               .pid = PID,
		               .made_by = PID,
		               .dump = "/tmp/jit-77.dump",
		               .exact = exact,
		               .pc = pc };
	struct frametab_rule rule = { 0 };
	struct walk_place place = { 0 };
	struct jit_tables *t;
	int r;

	assert_int_equal(jit_tables_new(&t, where(), NULL), 0);
	r = jit_tables_find(t, &ask, &place);
	assert_true(r == 0 || r == 1);
	if (r) {
		assert_non_null(place.table);
		rule = *place.rule;
		assert_int_not_equal(rule.cfa, FRAMETAB_CFA_NONE);
	}
	jit_tables_free(t);
	return rule;
}

static void assert_cfa(uint64_t pc, bool exact, int off)
{
	struct frametab_rule rule = ask_at(pc, exact);

	assert_int_equal(rule.cfa, FRAMETAB_CFA_SP);
	assert_int_equal(rule.cfa_off, off);
}

/* The code is one that nothing can be told of: what is told comes from the unwind information. */
static const char opaque[] = "\x48\x83\xec\x08\xff\xd1\xeb\xfe\x90\x90\xc3";

static void by_unwind_information(void **state)
{
	struct buf b = { 0 };

	put_header(&b, false);
	put_frames(&b, frames, sizeof(frames), HEADER, sizeof(frames));
	put_code(&b, AT, opaque, 11, 1);
	put_code(&b, AT + 0x100, opaque, 11, 2); /* of which nothing is told */
	write_dump(&b);
	assert_cfa(AT, true, 8);
	assert_cfa(AT + 4, true, 16);
	assert_cfa(AT + 6, false, 16);
	assert_cfa(AT + 10, true, 8);
	assert_int_equal(ask_at(AT + 11, true).cfa, FRAMETAB_CFA_NONE);
	assert_int_equal(ask_at(AT - 1, true).cfa, FRAMETAB_CFA_NONE);
	assert_int_equal(ask_at(AT + 0x100 + 6, false).cfa, FRAMETAB_CFA_NONE);
	buf_free(&b);
}

static void by_the_code(void **state)
{
	static const char code[] = "\x48\x83\xec\x28\xff\xd1\x48\x83\xc4\x28\xc3";
	struct buf b = { 0 };

	put_header(&b, false);
	put_code(&b, AT, code, 11, 1);
	write_dump(&b);
	assert_cfa(AT + 6, false, 0x30);
	assert_cfa(AT, true, 8);
	buf_free(&b);
}

static void code_that_was_replaced_has_no_rule(void **state)
{
	struct buf b = { 0 };

	put_header(&b, false);
	put_frames(&b, frames, sizeof(frames), HEADER, sizeof(frames));
	put_code(&b, AT, opaque, 11, 1);
	put_code(&b, AT + 4, opaque, 11, 2);
	write_dump(&b);
	assert_int_equal(ask_at(AT + 6, false).cfa, FRAMETAB_CFA_NONE);
	buf_free(&b);
}

static void no_dump_no_rule(void **state)
{
	struct buf b = { 0 };

	buf_put(&b, "no dump", 7);
	write_dump(&b);
	assert_int_equal(ask_at(AT, true).cfa, FRAMETAB_CFA_NONE);
	buf_free(&b);
}

/* Sizes that lie, frames of other code: nothing is told, the next piece is read all the same. */
static void dumps_that_lie(void **state)
{
	unsigned char other[sizeof(frames)];
	const struct {
		const void *bytes;
		uint64_t n, header, room;
	} cases[] = {
		{ frames, sizeof(frames), sizeof(frames) + 1, sizeof(frames) },
		{ frames, sizeof(frames) + 1, HEADER, sizeof(frames) },
		{ frames, UINT64_MAX, UINT64_MAX, sizeof(frames) },
		{ frames, UINT64_MAX, 0, sizeof(frames) },
		{ frames, 0, 0, 0 },
		{ frames, HEADER, HEADER, HEADER },
		{ other, sizeof(other), HEADER, sizeof(other) },
	};

	memcpy(other, frames, sizeof(other));
	other[32] = 0; /* a function behind the code */
	other[33] = 1;
	other[34] = other[35] = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = { 0 };

		put_header(&b, false);
		put_frames(&b, cases[i].bytes, cases[i].n, cases[i].header, cases[i].room);
		put_code(&b, AT, opaque, 11, 1);
		put_frames(&b, frames, sizeof(frames), HEADER, sizeof(frames));
		put_code(&b, AT + 0x100, opaque, 11, 2);
		write_dump(&b);
		assert_int_equal(ask_at(AT + 6, false).cfa, FRAMETAB_CFA_NONE);
		assert_cfa(AT + 0x106, false, 16);
		buf_free(&b);
	}
}

/* Each byte of the unwind information another one: whatever is told is a rule that can be applied.
 * */
static void damaged_frames(void **state)
{
	for (size_t i = 0; i < sizeof(frames); i++) {
		for (unsigned with = 0; with < 256; with += i % 3 ? 51 : 17) {
			unsigned char bytes[sizeof(frames)];
			struct buf b = { 0 };

			memcpy(bytes, frames, sizeof(bytes));
			bytes[i] = (unsigned char)with;
			put_header(&b, false);
			put_frames(&b, bytes, sizeof(bytes), HEADER, sizeof(bytes));
			put_code(&b, AT, opaque, 11, 1);
			write_dump(&b);
			ask_at(AT + 6, false);
			ask_at(AT, true);
			buf_free(&b);
		}
	}
}

static int setup(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/seam-jit-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/jit-%u.dump", dir, PID);
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_unwind_information),
		cmocka_unit_test(by_the_code),
		cmocka_unit_test(code_that_was_replaced_has_no_rule),
		cmocka_unit_test(no_dump_no_rule),
		cmocka_unit_test(dumps_that_lie),
		cmocka_unit_test(damaged_frames),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
