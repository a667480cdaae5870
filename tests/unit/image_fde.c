// SPDX-License-Identifier: MIT
// image_fde.c: entries of .eh_frame as bytes in, code out; and the functions of this program as its
// .eh_frame and as its symbol table have them.
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "image/callframe.h"
#include "image/image.h"

/* ---- bytes ---- */

#define AT 0x4000u /* linked address of the section */

static void put_u8(struct buf *b, unsigned v)
{
	unsigned char byte = (unsigned char)v;

	buf_put(b, &byte, 1);
}

/* The length of what was put since, into its place. */
static void close_entry(struct buf *b, size_t at)
{
	uint32_t n = (uint32_t)(b->n - at - 4);

	memcpy(b->bytes + at, &n, 4);
}

static void put_cie(struct buf *b, const char *augmentation, unsigned encoding)
{
	size_t at = b->n;

	buf_put_u32(b, 0);
	buf_put_u32(b, 0); /* it is a CIE */
	put_u8(b, 1);
	buf_put(b, augmentation, strlen(augmentation) + 1);
	put_u8(b, 1);    /* code factor */
	put_u8(b, 0x78); /* data factor */
	put_u8(b, 16);
	if (*augmentation == 'z') {
		put_u8(b, 1);
		put_u8(b, encoding);
	}
	close_entry(b, at);
}

/* An FDE of the CIE at 0, its two addresses of width bytes. */
static void put_fde(struct buf *b, uint64_t start, uint64_t length, size_t width, bool augmented)
{
	size_t at = b->n;

	buf_put_u32(b, 0);
	buf_put_u32(b, (uint32_t)(at + 4));
	buf_put(b, &start, width);
	buf_put(b, &length, width);
	if (augmented)
		put_u8(b, 0);
	close_entry(b, at);
}

/* The code of the second entry. */
static bool range_of(const struct buf *b, bool is_32, uint64_t *start, uint64_t *end)
{
	struct callframe_section s = { .bytes = b->bytes,
		                       .n = b->n,
		                       .address = AT,
		                       .text_address = 0x10000,
		                       .data_address = 0x20000,
		                       .is_32 = is_32 };
	struct cursor c = cursor_of(b->bytes, b->n, false), entry;
	struct callframe_cie cie;
	uint64_t at = 99;
	bool is_64;

	assert_true(callframe_entry(&c, &entry, &is_64));
	assert_false(callframe_is_fde(&s, &entry, is_64, &at));
	assert_true(callframe_entry(&c, &entry, &is_64));
	assert_true(callframe_is_fde(&s, &entry, is_64, &at));
	assert_int_equal(at, 0);
	return callframe_cie(&s, at, &cie) && callframe_range(&s, &cie, &entry, start, end);
}

static void addresses_by_encoding(void **state)
{
	static const struct {
		unsigned encoding;
		size_t width;
		bool is_32;
		uint64_t value, start; /* as written, and what is meant */
	} cases[] = {
		{ 0x00, 8, false, 0x123456789, 0x123456789 },
		{ 0x00, 4, true, 0x8048000, 0x8048000 },
		{ 0x03, 4, false, 0xfffffff0, 0xfffffff0 },
		{ 0x0b, 4, false, 0xfffffff0, 0xfffffffffffffff0 },
		{ 0x02, 2, false, 0xfff0, 0xfff0 },
		{ 0x04, 8, false, 0x10, 0x10 },
		{ 0x23, 4, false, 0x10, 0x10010 },
		{ 0x3b, 4, false, 0xfffffff0, 0x1fff0 },
	};
	uint64_t start, end;
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_clear(&b);
		put_cie(&b, "zR", cases[i].encoding);
		put_fde(&b, cases[i].value, 8, cases[i].width, true);
		assert_true(range_of(&b, cases[i].is_32, &start, &end));
		assert_int_equal(start, cases[i].start);
		assert_int_equal(end, start + 8);
	}
	/* from the place where it is written, backwards: what compilers write */
	for (int is_32 = 0; is_32 < 2; is_32++) {
		buf_clear(&b);
		put_cie(&b, "zR", 0x1b);
		put_fde(&b, (uint64_t)-0x800, 0x20, 4, true);
		assert_true(range_of(&b, is_32, &start, &end));
		assert_int_equal(start, AT + (b.n - 1 - 8) - 0x800);
		assert_int_equal(end, start + 0x20);
	}
	/* without augmentation: plain addresses */
	buf_clear(&b);
	put_cie(&b, "", 0);
	put_fde(&b, 0x1000, 0x20, 8, false);
	assert_true(range_of(&b, false, &start, &end));
	assert_int_equal(start, 0x1000);
	buf_free(&b);
}

static void what_is_not_understood(void **state)
{
	static const unsigned encodings[] = { 0x9b, 0x50, 0x40, 0x0f, 0x05, 0xff };
	char text[100] = "zR";
	uint64_t start, end;
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
		buf_clear(&b);
		put_cie(&b, "zR", encodings[i]);
		put_fde(&b, 0x1000, 8, 8, true);
		assert_false(range_of(&b, false, &start, &end));
	}
	buf_clear(&b);
	put_cie(&b, "zR", 0x00);
	put_fde(&b, UINT64_MAX - 7, 9, 8, true); /* past the last address */
	assert_false(range_of(&b, false, &start, &end));
	buf_clear(&b);
	put_cie(&b, "zR", 0x00);
	put_fde(&b, 0x1000, 8, 8, false); /* cut short: no length of its augmentation */
	assert_false(range_of(&b, false, &start, &end));
	memset(text + 2, 'S', 60); /* many FDEs could point into one long text */
	buf_clear(&b);
	put_cie(&b, text, 0x00);
	put_fde(&b, 0x1000, 8, 8, true);
	assert_false(range_of(&b, false, &start, &end));
	text[20] = 0;
	buf_clear(&b);
	put_cie(&b, text, 0x00);
	put_fde(&b, 0x1000, 8, 8, true);
	assert_true(range_of(&b, false, &start, &end));
	buf_free(&b);
}

static void entries_end_inside(void **state)
{
	static const unsigned char bytes[] = { 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 4, 0, 0, 0, 0,
		                               0, 0, 0, 1, 2,    3,    4,    9,    0, 0, 0, 1 };
	struct cursor c = cursor_of(bytes, sizeof(bytes), false), entry;
	bool is_64;

	assert_true(callframe_entry(&c, &entry, &is_64)); /* a terminator */
	assert_int_equal(cursor_left(&entry), 0);
	assert_true(callframe_entry(&c, &entry, &is_64)); /* with a length of 64 bits */
	assert_true(is_64);
	assert_int_equal(cursor_left(&entry), 4);
	assert_int_equal(cursor_u8(&entry), 1);
	assert_false(callframe_entry(&c, &entry, &is_64)); /* 9 bytes, and there is one */
}

/* ---- this program ---- */

struct code {
	uint64_t start, end;
};

static int take_code(void *ctx, uint64_t start, uint64_t end, bool is_signal_frame)
{
	const struct code code = { start, end };

	return buf_put(ctx, &code, sizeof(code));
}

struct against {
	const struct buf *codes;
	size_t n, equal, own;
};

static const struct code *code_at(const struct buf *codes, uint64_t start)
{
	const struct code *all = (const struct code *)(const void *)codes->bytes;

	for (size_t i = 0; i < codes->n / sizeof(*all); i++)
		if (all[i].start == start)
			return &all[i];
	return NULL;
}

static int hold(void *ctx, const struct image_symbol *s)
{
	static const char *const own[] = { "main", "hold", "put_cie", "image_each_fde",
		                           "callframe_range" };
	struct against *a = ctx;
	const struct code *code;
	bool is_own = false;

	if (s->type != STT_FUNC || !s->size || !s->section)
		return 0;
	code = code_at(a->codes, s->value);
	a->n++;
	a->equal += code && code->end == s->value + s->size;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		is_own |= !strcmp(s->name, own[i]);
	if (!is_own)
		return 0;
	assert_non_null(code);
	assert_int_equal(code->end, s->value + s->size);
	a->own++;
	return 0;
}

static int never(void *ctx, uint64_t start, uint64_t end, bool is_signal_frame)
{
	return 7;
}

static void own_functions(void **state)
{
	struct image *image;
	struct image_section section;
	struct buf codes = { 0 };
	struct against a = { .codes = &codes };
	size_t plts = 0;

	assert_int_equal(image_open(&image, "/proc/self/exe", NULL), 0);
	assert_int_equal(image_each_fde(image, never, NULL), 7);
	assert_int_equal(image_each_fde(image, take_code, &codes), 0);
	assert_int_equal(image_each_symbol(image, SHT_SYMTAB, hold, &a), 0);
	assert_true(a.own >= 5);
	/* All but what the C library's start-up files bring, which are assembly. */
	assert_true(a.n - a.equal <= 12);
	for (size_t i = 0; image_section_at(image, i, &section) == 0; i++) {
		const struct code *all = (const struct code *)(const void *)codes.bytes;

		if (strncmp(section.name, ".plt", 4))
			continue;
		plts++;
		for (size_t k = 0; k < codes.n / sizeof(*all); k++)
			assert_false(all[k].start >= section.vaddr &&
			             all[k].start < section.vaddr + section.memory_size);
	}
	assert_true(plts > 0);
	buf_free(&codes);
	image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_by_encoding),
		cmocka_unit_test(what_is_not_understood),
		cmocka_unit_test(entries_end_inside),
		cmocka_unit_test(own_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
