// SPDX-License-Identifier: MIT
// script_stacks.c: what was kept of a half of a stack is that half's and no other's, also
// behind more halves than there is room for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "script/script_stacks.h"

struct part {
	uint64_t words[64];
	struct seam_u64s u64s;
	struct stacks_part part;
};

static void half_of(struct part *h, uint64_t seed, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		h->words[i] = seed * 0x10001 + i * 8;
	h->u64s = (struct seam_u64s){ .bytes = (const unsigned char *)h->words, .n = n };
	h->part = (struct stacks_part){ .words = &h->u64s, .space = 7 };
}

/* What is there of a half: its length, -1 for nothing. */
static int found(struct script_stacks *s, struct part *h, const char *text)
{
	struct buf out = { 0 };
	int n = script_stacks_put(s, &h->part, &out) ? (int)out.n : -1;

	if (n >= 0)
		assert_memory_equal(out.bytes, text, out.n);
	buf_free(&out);
	return n;
}

static void keep(struct script_stacks *s, struct part *h, const char *text)
{
	assert_int_equal(found(s, h, text), -1);
	script_stacks_keep(s, &h->part, (const unsigned char *)text, strlen(text));
}

static void test_kept_the_second_time(void **state)
{
	struct script_stacks s = { 0 };
	struct part h;

	half_of(&h, 1, 30);
	keep(&s, &h, "lines");
	assert_int_equal(s.end, 0);
	keep(&s, &h, "lines");
	assert_int_equal(found(&s, &h, "lines"), 5);
	assert_int_equal(found(&s, &h, "lines"), 5);
	script_stacks_free(&s);
}

static void test_another_is_not_taken_for_it(void **state)
{
	struct script_stacks s = { 0 };
	struct part h, other;

	half_of(&h, 1, 30);
	keep(&s, &h, "lines");
	keep(&s, &h, "lines");
	other = h;
	other.part.words = &other.u64s;
	other.u64s.bytes = (const unsigned char *)other.words;
	assert_int_equal(found(&s, &other, "lines"), 5);
	other.part.space = 8;
	assert_int_equal(found(&s, &other, "lines"), -1);
	other.part = h.part;
	other.part.words = &other.u64s;
	other.part.found = 1;
	assert_int_equal(found(&s, &other, "lines"), -1);
	other.part.found = 0;
	other.u64s.swap = true;
	assert_int_equal(found(&s, &other, "lines"), -1);
	other.u64s.swap = false;
	other.u64s.n = 29;
	assert_int_equal(found(&s, &other, "lines"), -1);
	other.u64s.n = 30;
	other.words[29] ^= 1;
	assert_int_equal(found(&s, &other, "lines"), -1);
	script_stacks_free(&s);
}

/* Whatever the hash says: the words decide. */
static void test_words_are_compared(void **state)
{
	struct script_stacks s = { 0 };
	struct part h, other;

	half_of(&h, 1, 4);
	keep(&s, &h, "lines");
	keep(&s, &h, "lines");
	half_of(&other, 2, 4);
	assert_int_equal(found(&s, &other, "x"), -1);
	for (unsigned i = 0; i < STACKS_SETS; i++) /* its text under the other's hash */
		for (unsigned way = 0; way < STACKS_WAYS; way++)
			if (s.slots[i][way].at)
				s.slots[other.part.hash % STACKS_SETS][0] =
				        (struct stacks_slot){ .hash = other.part.hash,
					                      .at = s.slots[i][way].at };
	assert_int_equal(found(&s, &other, "x"), -1);
	script_stacks_free(&s);
}

static void text_of(char *text, size_t n, uint64_t seed)
{
	snprintf(text, n, "%llu:", (unsigned long long)seed);
	memset(text + strlen(text), 'a' + (int)(seed % 26), n - 1 - strlen(text));
	text[n - 1] = 0;
}

/* Three times as many as there is room for, of many lengths: each that is found is right, the
 * newest are found. */
static void test_the_newest_drive_out_the_oldest(void **state)
{
	static char text[5000];
	struct script_stacks s = { 0 };
	uint64_t n = 3 * STACKS_BYTES / 3000, right = 0;
	struct part h;

	for (uint64_t i = 0; i < n; i++) {
		half_of(&h, i, 1 + i % 64);
		text_of(text, 500 + (size_t)(i * 37 % 4500), i);
		for (int twice = 0; twice < 2; twice++)
			if (found(&s, &h, text) < 0)
				script_stacks_keep(&s, &h.part, (const unsigned char *)text,
				                   strlen(text));
		assert_int_equal(found(&s, &h, text), (int)strlen(text));
	}
	for (uint64_t i = 0; i < n; i++) {
		int r;

		half_of(&h, i, 1 + i % 64);
		text_of(text, 500 + (size_t)(i * 37 % 4500), i);
		r = found(&s, &h, text);
		assert_true(r == -1 || r == (int)strlen(text));
		right += r >= 0;
		if (i < n / 4)
			assert_int_equal(r, -1);
	}
	assert_in_range(right, n / 5, n / 2);
	script_stacks_free(&s);
}

static void test_too_long_a_text_is_not_kept(void **state)
{
	static char text[STACKS_BYTES / 16 + 1];
	struct script_stacks s = { 0 };
	struct part h;

	memset(text, 'x', sizeof(text) - 1);
	half_of(&h, 1, 30);
	keep(&s, &h, text);
	keep(&s, &h, text);
	assert_int_equal(found(&s, &h, text), -1);
	script_stacks_free(&s);
}

/* By its number, whatever its words are: they are not looked at. Space and kind must be equal. */
static void test_a_number_is_known_without_words(void **state)
{
	struct script_stacks s = { 0 };
	struct stacks_part part;
	struct part h;
	size_t n = 0;

	half_of(&h, 1, 30);
	h.part.number = 12;
	keep(&s, &h, "lines");
	keep(&s, &h, "lines");
	assert_int_equal(found(&s, &h, "lines"), 5);
	part = h.part;
	part.words = NULL;
	assert_non_null(script_stacks_known(&s, &part, &n));
	assert_int_equal(n, 5);
	part.space = 8;
	assert_null(script_stacks_known(&s, &part, &n));
	part.space = 7;
	part.found = 3;
	assert_null(script_stacks_known(&s, &part, &n));
	part.found = 0;
	part.number = 13;
	assert_null(script_stacks_known(&s, &part, &n));
	h.part.number = 0; /* nor by its words */
	assert_int_equal(found(&s, &h, "lines"), -1);
	script_stacks_free(&s);
}

/* Far more numbers than there are places: each that is found is right, the newest is found. */
static void test_numbers_drive_out_each_other(void **state)
{
	struct script_stacks s = { 0 };
	char text[40];
	struct part h;

	for (uint32_t i = 1; i < 4u << STACKS_PLACES_LOG2; i++) {
		half_of(&h, 1, 3);
		h.part.number = i;
		h.part.space = i % 5;
		text_of(text, 10 + i % 30, i);
		for (int twice = 0; twice < 2; twice++)
			keep(&s, &h, text);
		assert_int_equal(found(&s, &h, text), (int)strlen(text));
	}
	for (uint32_t i = 1; i < 4u << STACKS_PLACES_LOG2; i++) {
		int r;

		h.part.number = i;
		h.part.space = i % 5;
		text_of(text, 10 + i % 30, i);
		r = found(&s, &h, text);
		assert_true(r == -1 || r == (int)strlen(text));
	}
	script_stacks_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_the_second_time),
		cmocka_unit_test(test_another_is_not_taken_for_it),
		cmocka_unit_test(test_words_are_compared),
		cmocka_unit_test(test_the_newest_drive_out_the_oldest),
		cmocka_unit_test(test_too_long_a_text_is_not_kept),
		cmocka_unit_test(test_a_number_is_known_without_words),
		cmocka_unit_test(test_numbers_drive_out_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
