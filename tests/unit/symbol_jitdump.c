// SPDX-License-Identifier: MIT
// symbol_jitdump.c: names from a jitdump: loads, moves, replaced code, both byte orders, and one
// cut at every byte.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "jitdump.h"
#include "symbol/symbol.h"
#include "tree.h"

#define PID 77u

static char dir[64];

static void put_all(struct buf *b, bool swap)
{
	put_header(b, swap);
	put_load(b, 0x1000, 0x40, 1, "first", swap);
	put_load(b, 0x2000, 0x40, 2, "second", swap);
	put_load(b, 0x1020, 0x20, 3, "replaces half", swap);
	put_load(b, 0x5000, 0x20, 4, "told twice", swap);
	put_load(b, 0x5000, 0x20, 4, "told twice", swap);
	put_move(b, 0x2000, 0x3000, 0x40, 2, swap);
	put_move(b, 0x2000, 0x4000, 0x40, 99, swap); /* of nothing */
}

static void write_dump(const struct buf *b, size_t n)
{
	char name[64];

	snprintf(name, sizeof(name), "jit-%u.dump", PID);
	tree_put(dir, name, b->bytes, n);
}

/* The name at an address, copied; "" when there is none. */
static void name_at(uint64_t addr, char *ret, size_t n)
{
	struct symbol_opts opts = { .sz = sizeof(opts), .map_dir = dir };
	struct symbol_key key = { .kind = SYMBOL_KIND_ANON, .path = "//anon", .pid = PID };
	struct symbol_place place = { 0x1000, 0x9000, 0 };
	struct symbol_object *object;
	struct symbol_cache *cache;
	struct symbol s;

	assert_int_equal(symbol_new(&cache, &opts), 0);
	assert_int_equal(symbol_jitdump(cache, PID, "/somewhere/jit-77.dump"), 0);
	assert_int_equal(symbol_object(cache, &key, &object), 0);
	snprintf(ret, n, "%s", symbol_resolve(object, &place, addr, &s) > 0 ? s.name : "");
	symbol_free(cache);
}

static void assert_name(uint64_t addr, const char *expected)
{
	char name[64];

	name_at(addr, name, sizeof(name));
	assert_string_equal(name, expected);
}

static void names_of(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct buf b = { 0 };

		put_all(&b, swap);
		write_dump(&b, b.n);
		assert_name(0x1000, ""); /* which it was depends on the time */
		assert_name(0x1020, "");
		assert_name(0x5010, "told twice");
		assert_name(0x2010, "second");
		assert_name(0x3010, "second");
		assert_name(0x4010, "");
		assert_name(0x1040, "");
		buf_free(&b);
	}
}

struct replaced {
	struct symbol_jit_code at[8];
	char names[8][32];
	size_t n;
};

static int take_replaced(void *ctx, const struct symbol_jit_code *code)
{
	struct replaced *r = ctx;

	assert_true(r->n < 8);
	r->at[r->n] = *code;
	snprintf(r->names[r->n++], sizeof(r->names[0]), "%s", code->name);
	return 0;
}

/* What stood in another's place is told with its time, in order, and nothing else is. */
static void replaced_code_has_times(void **state)
{
	struct symbol_opts opts = { .sz = sizeof(opts), .map_dir = dir };

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct replaced r = { 0 };
		struct buf b = { 0 };

		put_all(&b, swap);
		write_dump(&b, b.n);
		assert_int_equal(symbol_jit_replaced(&opts, PID, "/x/jit-77.dump", take_replaced,
		                                     &r),
		                 0);
		assert_int_equal(r.n, 2);
		assert_string_equal(r.names[0], "first");
		assert_int_equal(r.at[0].time_ns, 1001);
		assert_int_equal(r.at[0].start, 0x1000);
		assert_int_equal(r.at[0].size, 0x40);
		assert_string_equal(r.names[1], "replaces half");
		assert_int_equal(r.at[1].time_ns, 1003);
		/* The processor's own times are not comparable. */
		b.bytes[swap ? 39 : 32] |= 1;
		write_dump(&b, b.n);
		r.n = 0;
		assert_int_equal(symbol_jit_replaced(&opts, PID, "/x/jit-77.dump", take_replaced,
		                                     &r),
		                 -ENOTSUP);
		assert_int_equal(r.n, 0);
		buf_free(&b);
	}
}

static void every_cut_is_survived(void **state)
{
	struct buf b = { 0 };
	char name[64];

	(void)state;
	put_all(&b, false);
	for (size_t n = 0; n < b.n; n++) {
		write_dump(&b, n);
		name_at(0x1000, name, sizeof(name)); /* known until it is replaced */
		assert_true(!*name || !strcmp(name, "first"));
	}
	for (size_t i = 0; i < b.n; i++) {
		b.bytes[i] ^= 0xff;
		write_dump(&b, b.n);
		name_at(0x1020, name, sizeof(name));
		b.bytes[i] ^= 0xff;
	}
	buf_free(&b);
}

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/seam-jit-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/jit-%u.dump", dir, PID);
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of),
		cmocka_unit_test(replaced_code_has_times),
		cmocka_unit_test(every_cut_is_survived),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
