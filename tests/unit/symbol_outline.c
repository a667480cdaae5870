// SPDX-License-Identifier: MIT
// symbol_outline.c: this program without its symbol table: where each of its functions begins and
// ends is known all the same, and nothing else is called a function.
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/outline.h"
#include "symbol/symbol.h"

static char dir[64], stripped[128];

/* ---- spans ---- */

static void spans_are_disjoint(void **state)
{
	static const uint64_t of[][2] = { { 500, 600 }, { 100, 200 }, { 150, 180 }, { 100, 120 },
		                          { 200, 300 }, { 590, 700 }, { 100, 200 } };
	/* address, and where its span begins and ends; 0: in none */
	static const uint64_t wanted[][3] = {
		{ 99, 0, 0 },      { 100, 100, 150 },    { 149, 100, 150 }, { 150, 150, 180 },
		{ 179, 150, 180 }, { 180, 0, 0 },        { 199, 0, 0 },     { 200, 200, 300 },
		{ 300, 0, 0 },     { 589, 500, 590 },    { 590, 590, 700 }, { 699, 590, 700 },
		{ 700, 0, 0 },     { UINT64_MAX, 0, 0 },
	};
	struct outline o = { 0 };

	assert_null(outline_find(&o, 100));
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		assert_int_equal(outline_put(&o, of[i][0], of[i][1]), 0);
	assert_int_equal(outline_settle(&o), 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const struct outline_span *span = outline_find(&o, wanted[i][0]);

		assert_int_equal(span ? span->start : 0, wanted[i][1]);
		assert_int_equal(span ? span->end : 0, wanted[i][2]);
	}
	outline_free(&o);
}

/* Many, in any order, up to the ends of the address space. */
static void spans_are_sorted(void **state)
{
	const uint64_t bases[] = { 0, 0x400000, 1ULL << 33, UINT64_MAX - (1 << 20) };
	enum {
		N = 4099
	}; /* a prime: a step through it meets every number once */

	for (size_t b = 0; b < sizeof(bases) / sizeof(bases[0]); b++) {
		struct outline o = { 0 };

		for (uint64_t i = 0; i < N; i++) {
			uint64_t start = bases[b] + i * 1237 % N * 200;

			assert_int_equal(outline_put(&o, start, start + 7), 0);
		}
		if (b) /* far away from the rest */
			assert_int_equal(outline_put(&o, 8, 9), 0);
		assert_int_equal(outline_settle(&o), 0);
		for (uint64_t i = 0; i < N; i++) {
			const struct outline_span *span = outline_find(&o, bases[b] + i * 200 + 6);

			assert_non_null(span);
			assert_int_equal(span->start, bases[b] + i * 200);
			assert_null(outline_find(&o, bases[b] + i * 200 + 7));
		}
		outline_free(&o);
	}
}

/* ---- this program ---- */

struct against {
	struct symbol_object *object;
	size_t n, equal;
};

static int hold(void *ctx, const struct image_symbol *s)
{
	static const char *const own[] = { "main", "hold", "start", "outline_find" };
	struct against *a = ctx;
	struct symbol at;
	bool is_own = false;

	if (s->type != STT_FUNC || !s->size || !s->section)
		return 0;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		is_own |= !strcmp(s->name, own[i]);
	a->n++;
	if (symbol_at(a->object, s->value + s->size - 1, &at) <= 0 || at.name ||
	    at.start != s->value || at.size != s->size)
		return is_own ? -1 : 0;
	a->equal++;
	return 0;
}

static int start(struct symbol_cache **cache, struct symbol_object **object, const char *path,
                 bool data)
{
	struct symbol_key key = { .kind = SYMBOL_KIND_FILE, .path = path, .data = data };

	assert_int_equal(symbol_new(cache, NULL), 0);
	return symbol_object(*cache, &key, object);
}

static void functions_of_a_stripped_file(void **state)
{
	struct symbol_cache *cache;
	struct against a = { 0 };
	struct image *whole;

	assert_int_equal(start(&cache, &a.object, stripped, false), 0);
	assert_int_equal(image_open(&whole, "/proc/self/exe", NULL), 0);
	assert_int_equal(image_each_symbol(whole, SHT_SYMTAB, hold, &a), 0);
	assert_true(a.n > 20);
	if (a.n <
	    2000) /* more: clang's library of a sanitizer is linked in, which is not of C alone */
		assert_true(a.n - a.equal <= 12); /* the C library's start-up files */
	image_close(whole);
	symbol_free(cache);
}

/* An address within a function of this program, as it was linked. The middle of .text will not do:
 * it may lie between two functions. */
static uint64_t inside(void)
{
	struct image *self;
	uint64_t at = 0;

	assert_int_equal(image_open(&self, "/proc/self/exe", NULL), 0);
	assert_int_equal(image_symbol_value(self, "symbol_outline", &at), 0);
	image_close(self);
	return at + 4;
}

static void by_mapping(void **state)
{
	struct symbol_cache *cache;
	struct symbol_object *object;
	const struct image_segment *code = NULL;
	struct symbol_place place = { .start = 0x7f0000001000 };
	struct image_section text;
	struct symbol s, again;
	struct image *image;
	uint64_t at;

	assert_int_equal(start(&cache, &object, stripped, false), 0);
	assert_int_equal(image_open(&image, stripped, NULL), 0);
	for (size_t i = 0; i < image_segments(image) && !code; i++)
		if (image_segment_at(image, i)->executable)
			code = image_segment_at(image, i);
	assert_non_null(code);
	assert_int_equal(image_section(image, ".text", &text), 0);
	place.pgoff = code->offset & ~0xfffULL;
	place.end = place.start + code->file_size;
	at = place.start + inside() - text.vaddr + text.offset - place.pgoff;
	/* mapped somewhere: unnamed, as ever; asked for its outline: in the file's own addresses */
	assert_int_equal(symbol_resolve(object, &place, at, &s), 0);
	assert_null(s.name);
	assert_int_equal(s.size, 0);
	assert_true(s.placed);
	assert_true(s.addr >= text.vaddr && s.addr < text.vaddr + text.n);
	assert_int_equal(symbol_outline(object, &s), 1);
	assert_true(s.start <= s.addr && s.addr - s.start < s.size);
	assert_null(s.name);
	assert_true(s.state == SYMBOL_NO_SYMBOLS || s.state == SYMBOL_OUTSIDE);
	assert_int_equal(symbol_at(object, s.addr, &again), 1);
	assert_int_equal(again.start, s.start);
	/* an address that no segment has is not looked up as if it were the file's own */
	place.pgoff = 1ULL << 40;
	assert_int_equal(symbol_resolve(object, &place, place.start + s.start, &again), 0);
	assert_false(again.placed);
	again.addr = s.start;
	assert_int_equal(symbol_outline(object, &again), 0);
	image_close(image);
	symbol_free(cache);
}

/* What is in no function, is data, or has a name. */
static void nothing_is_invented(void **state)
{
	static const char *const sections[] = { ".plt", ".rodata", ".data" };
	struct symbol_cache *cache, *whole;
	struct symbol_object *object, *named;
	struct image_section section;
	struct image *image;
	struct symbol s;

	assert_int_equal(start(&cache, &object, stripped, false), 0);
	assert_int_equal(image_open(&image, stripped, NULL), 0);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (image_section(image, sections[i], &section) < 0)
			continue;
		assert_int_equal(symbol_at(object, section.vaddr, &s), 0);
		assert_int_equal(s.size, 0);
		assert_int_equal(s.start, 0);
	}
	assert_int_equal(symbol_at(object, UINT64_MAX, &s), 0);
	assert_int_equal(image_section(image, ".text", &section), 0);
	symbol_free(cache);
	/* data that is asked for by name of a variable */
	assert_int_equal(start(&cache, &object, stripped, true), 0);
	assert_int_equal(symbol_at(object, inside(), &s), 0);
	symbol_free(cache);
	/* a file that is not there */
	assert_int_equal(start(&cache, &object, "/nonexistent/file", false), 0);
	assert_int_equal(symbol_at(object, inside(), &s), 0);
	symbol_free(cache);
	/* a name stays */
	assert_int_equal(start(&whole, &named, "/proc/self/exe", false), 0);
	assert_int_equal(symbol_at(named, inside(), &s), 1);
	assert_non_null(s.name);
	assert_int_equal(symbol_outline(named, &s), 0);
	symbol_free(whole);
	image_close(image);
}

/* What is said of an address once: a name or an outline. */
static void said(struct symbol_object *object, uint64_t addr, struct symbol *ret)
{
	assert_true(symbol_at(object, addr, ret) >= 0);
	(void)symbol_is_signal_frame(object, ret);
}

/* As far as an answer is said to last, it is the same, and no farther than one function. */
static void answers_last(const char *path)
{
	struct symbol_cache *cache;
	struct symbol_object *object;
	struct symbol s, other;
	uint64_t before, after;
	size_t lasts = 0;

	assert_int_equal(start(&cache, &object, path, false), 0);
	for (uint64_t i = 0; i < 40000; i += 7) {
		const uint64_t addr = inside() - 20000 + i;

		said(object, addr, &s);
		if (!symbol_lasts(object, &s, &before, &after))
			continue;
		lasts++;
		assert_true(after > 0);
		assert_true(addr - before >= s.start && addr + after <= s.start + s.size);
		for (uint64_t k = addr - before; k < addr + after; k += 1 + (after + before) / 9) {
			said(object, k, &other);
			assert_ptr_equal(other.name, s.name);
			assert_int_equal(other.start, s.start);
			assert_int_equal(symbol_is_signal_frame(object, &other), 0);
		}
	}
	assert_true(lasts > 1000);
	symbol_free(cache);
}

static void named_and_nameless_last(void **state)
{
	answers_last(stripped);
	answers_last("/proc/self/exe");
}

static int make(void **state)
{
	char command[400];

	strcpy(dir, "/tmp/seam-outline-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(stripped, sizeof(stripped), "%s/stripped", dir);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s && strip -s %s", (int)getpid(),
	         stripped, stripped);
	return system(command);
}

static int unmake(void **state)
{
	unlink(stripped);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_are_disjoint),
		cmocka_unit_test(spans_are_sorted),
		cmocka_unit_test(functions_of_a_stripped_file),
		cmocka_unit_test(by_mapping),
		cmocka_unit_test(nothing_is_invented),
		cmocka_unit_test(named_and_nameless_last),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
