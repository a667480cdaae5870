// SPDX-License-Identifier: MIT
// profile_nameless.c: the text that stands for a function without a name, and between which
// profiles it means the same.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/builds.h"
#include "profile/nameless.h"

static void there_and_back(void **state)
{
	static const struct {
		const char *object;
		uint64_t start;
		const char *text;
	} cases[] = {
		{ "libfoo.so", 0x12340, "[unknown libfoo.so+0x12340]" },
		{ "a b+0x1] c", 0, "[unknown a b+0x1] c+0x0]" },
		{ "x", UINT64_MAX, "[unknown x+0xffffffffffffffff]" },
	};
	struct buf b = { 0 };
	struct nameless n;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_clear(&b);
		nameless_put(&b, cases[i].object, cases[i].start);
		assert_string_equal(buf_text(&b), cases[i].text);
		assert_true(nameless_is(buf_text(&b), &n));
		assert_int_equal(n.prefix, 0);
		assert_int_equal(n.start, cases[i].start);
		assert_int_equal(n.n, strlen(cases[i].object));
		assert_memory_equal(n.object, cases[i].object, n.n);
	}
	buf_free(&b);
	assert_true(nameless_is("?[unknown x+0x10]", &n)); /* a guess */
	assert_int_equal(n.prefix, 1);
	assert_int_equal(n.start, 0x10);
}

static void names_are_not_taken_for_it(void **state)
{
	static const char *const names[] = {
		"",
		"?",
		"main",
		"[unknown]",
		"[unknown ]",
		"[unknown x]",
		"[unknown x+10]",
		"[unknown x+0x]",
		"[unknown x+0xg]",
		"[unknown +0x10]",
		"[unknown x+0x10",
		"[unknown x+0x10] ",
		"[unknown x+0x12345678123456789]",
		" [unknown x+0x10]",
		"??[unknown x+0x10]",
		"x+0x10",
	};
	struct nameless n;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(nameless_is(names[i], NULL));
	assert_true(nameless_place("x+0x10", 6, &n));
	assert_int_equal(n.start, 0x10);
	assert_false(nameless_place("operator+", 9, &n));
	assert_false(nameless_place("operator+0x", 11, &n));
}

/* A profile of one stack: main, and in it a nameless function of an object. */
static struct profile *profile_of(const char *path, const char *build_id, const char *name)
{
	struct profile_frame f = { .address = 0x40, .kind = PROFILE_USER };
	struct profile_key key = { 0 };
	struct profile *p;

	assert_int_equal(profile_new(&p, 0), 0);
	f.object = profile_object(p, path, build_id);
	f.symbol = profile_string(p, "main");
	key.event = profile_event(p, "e");
	key.task = profile_task(p, profile_string(p, "comm"), PROFILE_NOT_KEPT, PROFILE_NOT_KEPT);
	key.node = profile_node(p, PROFILE_ROOT, profile_frame(p, &f));
	f.symbol = profile_string(p, name);
	f.address = 0x80;
	key.node = profile_node(p, key.node, profile_frame(p, &f));
	assert_int_equal(profile_add(p, &key, 3, 30), 0);
	return p;
}

/* What the innermost function is called after folding; "" when nothing is left of its name. */
static char *folded(struct profile **p, struct builds *b)
{
	const struct profile_row *row;
	const struct profile_frame *leaf, *caller;
	struct profile_node node;

	assert_int_equal(builds_fold(p, b), 0);
	assert_int_equal(profile_n_rows(*p), 1);
	row = profile_row_at(*p, 0);
	assert_int_equal(row->weight, 30);
	node = profile_node_at(*p, row->key.node);
	leaf = profile_frame_at(*p, node.frame);
	assert_int_equal(leaf->address, 0x80);
	caller = profile_frame_at(*p, profile_node_at(*p, node.parent).frame);
	assert_string_equal(profile_text(*p, caller->symbol), "main");
	return strdup(profile_text(*p, leaf->symbol));
}

static void only_within_one_build(void **state)
{
	static const struct {
		const char *path, *id, *name, *other_path, *other_id, *kept;
	} cases[] = {
		{ "/l/x", "aa", "[unknown x+0x80]", "/l/x", "aa", "[unknown x+0x80]" },
		{ "/l/x", "aa", "[unknown x+0x80]", "/l/x", "bb", "" },
		{ "/l/x", "aa", "?[unknown x+0x80]", "/l/x", "bb", "?[unknown]" },
		{ "/l/x", "aa", "named", "/l/x", "bb", "named" },
		{ "/l/x", NULL, "[unknown x+0x80]", "/l/x", NULL, "" },
		{ "/l/x", "aa", "[unknown x+0x80]", "/l/x", NULL, "" },
		{ "/l/x", "aa", "[unknown x+0x80]", "/l/y", "bb", "[unknown x+0x80]" },
		{ "/l/x", "aa", "[unknown x+0x80]", "/m/x", "bb", "" }, /* shown alike */
		{ "/l/x", "aa", "[unknown x+0x80]", "/m/x", "aa", "[unknown x+0x80]" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *p = profile_of(cases[i].path, cases[i].id, cases[i].name);
		struct profile *other =
		        profile_of(cases[i].other_path, cases[i].other_id, cases[i].name);
		struct builds b = { 0 };
		char *name;

		assert_int_equal(builds_add(&b, p), 0);
		assert_int_equal(builds_add(&b, other), 0);
		name = folded(&p, &b);
		assert_string_equal(name, cases[i].kept);
		free(name);
		builds_free(&b);
		profile_free(p);
		profile_free(other);
	}
}

/* What all have at the same path is that, and the rest is known by its name, in any directory. */
static void the_same_object_elsewhere(void **state)
{
	static const struct {
		const char *paths[2], *known[2];
	} cases[] = {
		{ { "/l/x", "/l/x" }, { "/l/x", "/l/x" } },
		{ { "/old/x", "/new/x" }, { "x", "x" } },
		{ { "/l/x", "/l/y" }, { "x", "y" } },
		{ { "[vdso]", "[vdso]" }, { "[vdso]", "[vdso]" } },
		{ { "/l/", "/m/" }, { "/l/", "/m/" } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct builds b = { 0 };

		for (size_t side = 0; side < 2; side++) {
			struct profile *p = profile_of(cases[i].paths[side], "aa", "f");

			/* A path with two builds is one path. */
			profile_object(p, cases[i].paths[side], "bb");
			assert_int_equal(builds_add(&b, p), 0);
			profile_free(p);
		}
		for (size_t side = 0; side < 2; side++)
			assert_string_equal(builds_known(&b, cases[i].paths[side]),
			                    cases[i].known[side]);
		assert_string_equal(builds_known(&b, "/nowhere/else"), "else");
		builds_free(&b);
	}
}

static size_t function_of(void *ctx, uint32_t frame, const struct profile_source **ret)
{
	static const struct profile_source source = { .function = "told",
		                                      .file = "f.c",
		                                      .line = 7 };

	*ret = &source;
	return 1;
}

/* Debugging information may know what the symbol table does not; a symbol's own name stays. */
static void debugging_information_names_it(void **state)
{
	struct profile *p = profile_of("/l/x", "aa", "[unknown x+0x80]"), *expanded;
	struct profile_node node;

	assert_int_equal(profile_expand(&expanded, p, function_of, NULL), 0);
	node = profile_node_at(expanded, profile_row_at(expanded, 0)->key.node);
	assert_string_equal(profile_text(expanded, profile_frame_at(expanded, node.frame)->symbol),
	                    "told");
	node = profile_node_at(expanded, node.parent);
	assert_string_equal(profile_text(expanded, profile_frame_at(expanded, node.frame)->symbol),
	                    "main");
	profile_free(expanded);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(names_are_not_taken_for_it),
		cmocka_unit_test(only_within_one_build),
		cmocka_unit_test(the_same_object_elsewhere),
		cmocka_unit_test(debugging_information_names_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
