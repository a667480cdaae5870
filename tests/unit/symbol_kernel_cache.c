// SPDX-License-Identifier: MIT
// symbol_kernel_cache.c: a table as bytes: the same answers at every address, damage in any byte
// refused, and a resolve that takes the running kernel's names from it. Also: tables without
// overlaps, which are sealed by another way, against those with one.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/kernel_cache.h"
#include "symbol/object.h"
#include "symbol/symbol.h"

enum {
	SPAN = 3000
};

static void put(struct table *t, uint64_t start, uint64_t size, const char *name)
{
	struct table_symbol s = {
		.start = start, .end = start + size, .limit = start + 50, .bind = TABLE_GLOBAL
	};

	assert_int_equal(table_put(t, &s, name, strlen(name), ""), 0);
}

/* In order or not, with gaps and without, some of no size. */
static void fill(struct table *t, unsigned seed)
{
	uint64_t at = seed % 3 ? (uint64_t)random() % 40 : 0;
	char name[24];

	for (int i = 0; i < 40; i++) {
		uint64_t size = (uint64_t)random() % 30;

		snprintf(name, sizeof(name), "f%d", i);
		put(t, seed % 2 ? SPAN / 2 - at : at, size, name);
		at += 30 + (uint64_t)random() % 3 * 10;
	}
}

static void assert_same(const struct table *a, const struct table *b)
{
	for (uint64_t addr = 0; addr < SPAN; addr++) {
		struct table_found x, y;
		bool found = table_find(a, addr, &x);

		assert_int_equal(found, table_find(b, addr, &y));
		if (!found)
			continue;
		assert_int_equal(x.start, y.start);
		assert_int_equal(x.end, y.end);
		assert_string_equal(table_name(a, x.name), table_name(b, y.name));
	}
	assert_false(table_find(b, UINT64_MAX, &(struct table_found){ 0 }));
}

static const char *name_at(const struct table *t, uint64_t addr)
{
	struct table_found found;

	assert_true(table_find(t, addr, &found));
	return table_name(t, found.name);
}

static unsigned dropped;

static void drop(const struct kernel_kept *kept)
{
	dropped++;
	free((void *)(uintptr_t)kept->bytes);
}

/* The first n bytes in memory of exactly that size, to be dropped. */
static struct kernel_kept kept(const struct buf *bytes, size_t n)
{
	void *copy = malloc(n + !n);

	assert_non_null(copy);
	memcpy(copy, bytes->bytes, n);
	return (struct kernel_kept){ copy, n, drop };
}

static int decode(struct table *t, uint64_t *reference, const struct buf *bytes, size_t n)
{
	const struct kernel_kept k = kept(bytes, n);

	return kernel_cache_decode(t, reference, &k);
}

static void a_table_comes_back_as_it_was(void **state)
{
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct table t = { 0 }, again = { 0 };
		struct buf bytes = { 0 };
		uint64_t reference = 0;

		srandom(seed);
		fill(&t, seed);
		assert_int_equal(table_seal(&t), 0);
		assert_int_equal(kernel_cache_encode(&t, 7 + seed, &bytes), 0);
		assert_int_equal(decode(&again, &reference, &bytes, bytes.n), 0);
		assert_int_equal(reference, 7 + seed);
		assert_int_equal(again.n, t.n);
		assert_same(&t, &again);
		dropped = 0;
		if (table_spill(&again)) /* then it needs its bytes no more */
			assert_int_equal(dropped, 1);
		assert_same(&t, &again);
		table_free(&t);
		table_free(&again);
		assert_int_equal(dropped, 1);
		buf_free(&bytes);
	}
}

/* One symbol far behind, inside another, sends the whole table the other way. */
static void an_overlap_elsewhere_changes_nothing(void **state)
{
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct table t = { 0 }, swept = { 0 };
		struct buf bytes = { 0 };

		srandom(seed);
		fill(&t, seed);
		srandom(seed);
		fill(&swept, seed);
		put(&t, 10 * SPAN, 100, "outer");
		put(&swept, 10 * SPAN, 100, "outer");
		put(&swept, 10 * SPAN + 10, 10, "inner");
		assert_int_equal(table_seal(&t), 0);
		assert_int_equal(table_seal(&swept), 0);
		assert_same(&t, &swept);
		assert_int_equal(kernel_cache_encode(&swept, 0, &bytes), -E2BIG);
		assert_string_equal(name_at(&swept, 10 * SPAN + 15), "inner");
		assert_string_equal(name_at(&t, 10 * SPAN + 15), "outer");
		table_free(&t);
		table_free(&swept);
		buf_free(&bytes);
	}
}

/* The name of padding holds that of its function; other names that are alike have their own. */
static void padding_shares_its_name(void **state)
{
	static const char *const names[] = { "__pfx_first",  "first",   "__pfx_second",
		                             "sec",          "__pfx_",  "third_",
		                             "_third_",      "__pfx_x", "__pfx_x",
		                             "__pfx___pfx_", "__pfx_",  "last" };
	const size_t n = sizeof(names) / sizeof(names[0]);
	struct table t = { 0 }, again = { 0 };
	struct buf bytes = { 0 };
	uint64_t reference;

	(void)state;
	for (size_t i = 0; i < n; i++)
		put(&t, 16 * i, 16, names[i]);
	assert_int_equal(table_seal(&t), 0);
	assert_int_equal(kernel_cache_encode(&t, 0, &bytes), 0);
	assert_int_equal(decode(&again, &reference, &bytes, bytes.n), 0);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(name_at(&again, 16 * i + 3), names[i]);
	assert_int_equal(again.names.n, t.names.n - sizeof("first") - sizeof("__pfx_"));
	table_free(&t);
	table_free(&again);
	buf_free(&bytes);
}

static void damage_is_refused(void **state)
{
	struct table t = { 0 }, none = { 0 };
	struct buf bytes = { 0 };
	uint64_t reference = 5;

	dropped = 0;
	fill(&t, 4);
	assert_int_equal(table_seal(&t), 0);
	assert_int_equal(kernel_cache_encode(&t, 0, &bytes), 0);
	for (size_t i = 0; i < bytes.n; i++) {
		if (i >= 20 && i < 32)
			continue; /* room, and the reference, which are not sums of anything */
		bytes.bytes[i] ^= 0x41;
		assert_int_equal(decode(&none, &reference, &bytes, bytes.n), -EBADMSG);
		bytes.bytes[i] ^= 0x41;
		assert_int_equal(decode(&none, &reference, &bytes, i), -EBADMSG);
	}
	assert_int_equal(dropped, 2 * (bytes.n - 12));
	assert_int_equal(reference, 5);
	assert_int_equal(none.n, 0);
	table_free(&t);
	buf_free(&bytes);
}

/* What is kept is used, and only for the kernel that runs. */
struct shelf {
	struct buf bytes;
	char name[KERNEL_CACHE_NAME];
	unsigned gets, puts;
};

static int shelf_get(void *ctx, const char *name, struct kernel_kept *ret)
{
	struct shelf *shelf = ctx;

	shelf->gets++;
	if (strcmp(shelf->name, name) || !shelf->bytes.n)
		return 0;
	*ret = kept(&shelf->bytes, shelf->bytes.n);
	return 1;
}

static void shelf_put(void *ctx, const char *name, const void *bytes, size_t n)
{
	struct shelf *shelf = ctx;

	shelf->puts++;
	snprintf(shelf->name, sizeof(shelf->name), "%s", name);
	buf_clear(&shelf->bytes);
	buf_put(&shelf->bytes, bytes, n);
}

static void resolve(struct shelf *shelf, bool foreign, uint64_t addr, struct symbol *ret,
                    struct symbol_cache **cache)
{
	const struct symbol_opts opts = { .sz = sizeof(opts),
		                          .foreign = foreign,
		                          .keep = { shelf_get, shelf_put, shelf } };
	const struct symbol_key key = { .kind = SYMBOL_KIND_KERNEL, .path = "[kernel.kallsyms]" };
	const struct symbol_place place = { .start = 0, .end = UINT64_MAX };
	struct symbol_object *object;

	assert_int_equal(symbol_new(cache, &opts), 0);
	assert_int_equal(symbol_object(*cache, &key, &object), 0);
	assert_true(symbol_resolve(object, &place, addr, ret) >= 0);
}

static void the_running_kernel_is_read_once(void **state)
{
	struct shelf shelf = { 0 };
	struct symbol_cache *a, *b, *c;
	struct symbol first, second, other;
	struct table t = { 0 };
	uint64_t text = 0;

	resolve(&shelf, false, 0, &first, &a);
	symbol_free(a);
	if (!shelf.puts)
		skip(); /* it hides its addresses */
	assert_int_equal(decode(&t, &text, &shelf.bytes, shelf.bytes.n), 0);
	assert_true(text);
	name_at(&t, text);
	text = t.kept[t.n / 2].start;
	resolve(&shelf, false, text, &second, &b);
	assert_int_equal(shelf.puts, 1);
	assert_int_equal(second.state, SYMBOL_NAMED);
	assert_string_equal(second.raw, name_at(&t, text));
	shelf.bytes.bytes[shelf.bytes.n - 2] ^= 1; /* damaged: read anew, and kept again */
	resolve(&shelf, false, text, &first, &a);
	assert_int_equal(shelf.puts, 2);
	assert_int_equal(first.state, SYMBOL_NAMED);
	assert_string_equal(first.raw, second.raw);
	assert_int_equal(first.start, second.start);
	assert_int_equal(first.size, second.size);
	resolve(&shelf, true, text, &other, &c); /* of another machine */
	assert_int_equal(other.state, SYMBOL_NO_FILE);
	assert_int_equal(shelf.gets, 3);
	symbol_free(a);
	symbol_free(b);
	symbol_free(c);
	table_free(&t);
	buf_free(&shelf.bytes);
}

/* Started before anything is known: the names are the same, are kept once, and are another kernel's
 * never. */
static void a_thread_may_begin_with_it(void **state)
{
	struct shelf plain = { 0 }, shelf = { 0 };
	const struct kernel_storage keep = { shelf_get, shelf_put, &shelf };
	const struct symbol_place place = { .start = 0, .end = UINT64_MAX };
	struct symbol_opts opts = { .sz = sizeof(opts), .keep = keep };
	struct symbol_key key = { .kind = SYMBOL_KIND_KERNEL, .path = "[kernel.kallsyms]" };
	struct image_build_id other = { .size = 20, .bytes = { 1, 2, 3 } };
	struct symbol_object *object;
	struct symbol_cache *cache;
	struct symbol symbol;
	struct table t = { 0 };
	uint64_t text;

	resolve(&plain, false, 0, &symbol, &cache);
	symbol_free(cache);
	kernel_id_running(&key.build_id);
	if (!plain.puts || !key.build_id.size)
		skip(); /* it hides its addresses, or has no build-id */
	assert_int_equal(decode(&t, &text, &plain.bytes, plain.bytes.n), 0);
	text = t.kept[t.n / 3].start;
	assert_int_equal(kernel_reader_start(&opts.running, &other, &keep), 0);
	assert_null(opts.running);
	for (int round = 0; round < 4; round++) {
		/* The second time by what was kept; then for an object that is another kernel, and
		 * for none. */
		assert_int_equal(kernel_reader_start(&opts.running, &key.build_id, &keep), 0);
		assert_non_null(opts.running);
		if (round == 2)
			key.build_id = other;
		assert_int_equal(symbol_new(&cache, &opts), 0);
		assert_int_equal(symbol_object(cache, &key, &object), 0);
		if (round < 3)
			assert_true(symbol_resolve(object, &place, text, &symbol) >= 0);
		assert_int_equal(symbol.state == SYMBOL_NAMED, round < 2);
		if (round < 2)
			assert_string_equal(symbol.raw, name_at(&t, text));
		assert_int_equal(shelf.puts, 1);
		symbol_free(cache);
		kernel_reader_free(opts.running);
		if (round == 2)
			kernel_id_running(&key.build_id);
	}
	table_free(&t);
	buf_free(&plain.bytes);
	buf_free(&shelf.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_comes_back_as_it_was),
		cmocka_unit_test(an_overlap_elsewhere_changes_nothing),
		cmocka_unit_test(padding_shares_its_name),
		cmocka_unit_test(damage_is_refused),
		cmocka_unit_test(the_running_kernel_is_read_once),
		cmocka_unit_test(a_thread_may_begin_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
