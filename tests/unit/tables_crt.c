// SPDX-License-Identifier: MIT
// tables_crt.c: code of which no unwind information tells, and that each linked object has: rules
// where its instructions are as they are known, and none where one is another.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/image.h"
#include "tables/tables.h"

#include "cache_dir.h"

static struct tables *tables;

/* Makes an object of source text and gives its table; without is the code that is taken out of
 * it. */
static const struct tables_object *object_of(const char *source, const char *options,
                                             struct image **image)
{
	const struct tables_opts opts = { .sz = sizeof(opts), .no_cache = true };
	const struct tables_object *object;
	char command[1024], path[256];

	snprintf(path, sizeof(path), "%s/object", dir);
	snprintf(command, sizeof(command), "printf '%%s' '%s' | ${CC:-cc} %s -x c -o %s -", source,
	         options, path);
	if (system(command) != 0)
		skip();
	assert_int_equal(image_open(image, path, NULL), 0);
	assert_int_equal(tables_new(&tables, &opts), 0);
	assert_int_equal(tables_get(tables, path, NULL, &object), 0);
	assert_non_null(object->table);
	return object;
}

/* The rule at a function and some bytes; NULL: the object does not have the function. */
static const struct frametab_rule *rule_at(const struct tables_object *object, struct image *image,
                                           const char *function, uint64_t bytes)
{
	uint64_t at;

	return image_symbol_value(image, function, &at) < 0
	               ? NULL
	               : frametab_find(object->table, at + bytes);
}

static void is_sp(const struct frametab_rule *r, int off, enum frametab_at fp)
{
	assert_non_null(r);
	assert_int_equal(r->cfa, FRAMETAB_CFA_SP);
	assert_int_equal(r->cfa_off, off);
	assert_int_equal(r->fp, fp);
	assert_int_equal(r->ra, FRAMETAB_AT_CFA);
	assert_int_equal(r->ra_off, -8);
	if (fp == FRAMETAB_AT_CFA)
		assert_int_equal(r->fp_off, -16);
}

/* Whether endbr64 stands at a function, so that all else is 4 bytes behind. */
static uint64_t endbr(struct image *image, const char *function)
{
	static const unsigned char code[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	unsigned char found[sizeof(code)];
	struct image_section text;
	const unsigned char *at;
	uint64_t start;

	assert_true(image_section(image, function[1] == '_' ? ".text" : ".init", &text) >= 0);
	assert_true(image_symbol_value(image, function, &start) >= 0);
	at = image_section_piece(image, &text, start, sizeof(code), found);
	return at && !memcmp(at, code, sizeof(code)) ? sizeof(code) : 0;
}

static void test_known(void **state)
{
	static const char *const leaves[] = { "frame_dummy", "register_tm_clones",
		                              "deregister_tm_clones", "__do_global_dtors_aux" };
	const struct tables_object *o;
	struct image *image = NULL;
	uint64_t n;

	(void)state;
	o = object_of("int one(void) { return 1; }", "-shared -fPIC", &image);
	n = endbr(image, "_init");
	is_sp(rule_at(o, image, "_init", 0), 8, FRAMETAB_AT_SAME);
	is_sp(rule_at(o, image, "_init", n + 3), 8, FRAMETAB_AT_SAME);
	is_sp(rule_at(o, image, "_init", n + 4), 16, FRAMETAB_AT_SAME);
	is_sp(rule_at(o, image, "_init", n + 21), 16, FRAMETAB_AT_SAME);
	is_sp(rule_at(o, image, "_init", n + 22), 8, FRAMETAB_AT_SAME);
	is_sp(rule_at(o, image, "_fini", n), 8, FRAMETAB_AT_SAME);
	is_sp(rule_at(o, image, "_fini", n + 4), 16, FRAMETAB_AT_SAME);
	is_sp(rule_at(o, image, "_fini", n + 8), 8, FRAMETAB_AT_SAME);
	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
		is_sp(rule_at(o, image, leaves[i], 0), 8, FRAMETAB_AT_SAME);
	n = endbr(image, leaves[3]);
	is_sp(rule_at(o, image, leaves[3], n + 9), 8, FRAMETAB_AT_SAME);
	is_sp(rule_at(o, image, leaves[3], n + 10), 16, FRAMETAB_AT_SAME);
	is_sp(rule_at(o, image, leaves[3], n + 20), 16, FRAMETAB_AT_SAME);
	is_sp(rule_at(o, image, leaves[3], n + 21), 16, FRAMETAB_AT_CFA);
	is_sp(rule_at(o, image, leaves[3], n + 47), 16, FRAMETAB_AT_CFA);
	is_sp(rule_at(o, image, leaves[3], n + 48), 8, FRAMETAB_AT_SAME);
	is_sp(rule_at(o, image, leaves[3], n + 52), 8, FRAMETAB_AT_SAME);
	image_close(image);
	tables_free(tables);
}

/* Somebody else's instruction is in _init: nothing is known of it then, and all of _fini. */
static void test_other(void **state)
{
	const struct tables_object *o;
	struct image *image = NULL;

	(void)state;
	o = object_of(
	        "__asm__(\".section .init\\npush %rax\\n.text\"); int one(void) { return 1; }",
	        "-shared -fPIC", &image);
	for (unsigned i = 0; i < 24; i++)
		assert_int_equal(rule_at(o, image, "_init", i)->cfa, FRAMETAB_CFA_NONE);
	is_sp(rule_at(o, image, "_fini", 0), 8, FRAMETAB_AT_SAME);
	image_close(image);
	tables_free(tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_known, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_other, make_dir, remove_dir),
	};

#ifndef __x86_64__
	return 77;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
