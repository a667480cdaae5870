// SPDX-License-Identifier: MIT
/* btf_cut: the types that are wanted, found in a BTF, and a small one made of the structs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/btf.h>

#include "capture/btf_cut.h"
#include "capture/btf_types.h"

#define INFO(kind, n) ((uint32_t)(kind) << 24 | (n))

/* A BTF as it is written: types in order, and the strings behind them. */
struct made {
	struct buf types, strings;
};

static uint32_t text(struct made *m, const char *s)
{
	uint32_t at;

	if (!m->strings.n)
		buf_put(&m->strings, "", 1);
	if (!*s)
		return 0;
	at = (uint32_t)m->strings.n;
	buf_put(&m->strings, s, strlen(s) + 1);
	return at;
}

static void type(struct made *m, const char *name, enum btf_kind kind, uint32_t n, uint32_t size)
{
	buf_put_u32(&m->types, text(m, name));
	buf_put_u32(&m->types, INFO(kind, n));
	buf_put_u32(&m->types, size);
}

static void member(struct made *m, const char *name, uint32_t of, uint32_t bits)
{
	buf_put_u32(&m->types, text(m, name));
	buf_put_u32(&m->types, of);
	buf_put_u32(&m->types, bits);
}

static struct buf whole(struct made *m)
{
	const uint32_t header[6] = {
		BTF_MAGIC | BTF_VERSION << 16, 24, 0, (uint32_t)m->types.n, (uint32_t)m->types.n,
		(uint32_t)m->strings.n,
	};
	struct buf ret = { 0 };

	buf_put(&ret, header, sizeof(header));
	buf_put(&ret, m->types.bytes, m->types.n);
	buf_put(&ret, m->strings.bytes, m->strings.n);
	buf_free(&m->types);
	buf_free(&m->strings);
	return ret;
}

/* struct task { int pid; struct mm *mm; const union { int a; enum e b; } u; other_t list[4]; },
 * which is the second of its name, and much that is not wanted. */
static struct buf made(void)
{
	struct made m = { 0 };

	type(&m, "int", KIND_INT, 0, 4); /* 1 */
	buf_put_u32(&m.types, 32);
	type(&m, "task", KIND_FWD, 0, 0);  /* 2 */
	type(&m, "mm", KIND_STRUCT, 1, 8); /* 3 */
	member(&m, "owner", 4, 0);         /* */
	type(&m, "", KIND_PTR, 0, 9);      /* 4 */
	type(&m, "", KIND_UNION, 2, 4);    /* 5 */
	member(&m, "a", 1, 0);             /* */
	member(&m, "b", 6, 0);             /* */
	type(&m, "e", KIND_ENUM, 2, 4);    /* 6 */
	for (uint32_t i = 0; i < 2; i++) { /* */
		buf_put_u32(&m.types, text(&m, i ? "NO" : "YES"));
		buf_put_u32(&m.types, i);
	}
	type(&m, "", KIND_CONST, 0, 5);          /* 7 */
	type(&m, "other_t", KIND_TYPEDEF, 0, 1); /* 8 */
	type(&m, "task", KIND_STRUCT, 4, 64);    /* 9 */
	member(&m, "pid", 1, 0);
	member(&m, "mm", 10, 64);
	member(&m, "u", 7, 128);
	member(&m, "list", 11, 160);
	type(&m, "", KIND_PTR, 0, 3);   /* 10 */
	type(&m, "", KIND_ARRAY, 0, 0); /* 11 */
	buf_put_u32(&m.types, 8);
	buf_put_u32(&m.types, 1);
	buf_put_u32(&m.types, 4);
	type(&m, "", KIND_FUNC_PROTO, 0, 1);          /* 12 */
	type(&m, "do_exit", KIND_FUNC, 0, 12);        /* 13 */
	type(&m, "btf_trace_x", KIND_TYPEDEF, 0, 10); /* 14 */
	type(&m, "do_exit", KIND_FUNC, 0, 12);        /* 15 */
	type(&m, "task", KIND_STRUCT, 1, 4);          /* 16 */
	member(&m, "another", 1, 0);
	return whole(&m);
}

static struct btf_entry at(const struct buf *btf, uint32_t id, const char **name,
                           struct btf_types *b)
{
	struct btf_entry t = { 0 };

	assert_int_equal(btf_types_of(btf->bytes, btf->n, b), 0);
	for (uint32_t i = 0; i < id; i++)
		assert_true(btf_types_next(b, &t));
	*name = btf_types_name(b, t.name);
	return t;
}

static uint32_t word(const unsigned char *bytes)
{
	uint32_t v;

	memcpy(&v, bytes, 4);
	return v;
}

static void test_cut(void **state)
{
	struct btf_wanted wanted[] = {
		{ "do_exit", BTF_WANT_FUNC, 7 },    { "btf_trace_x", BTF_WANT_TYPEDEF, 7 },
		{ "task", BTF_WANT_STRUCT, 7 },     { "nothing", BTF_WANT_STRUCT, 7 },
		{ "do_exit", BTF_WANT_TYPEDEF, 7 }, { "int", BTF_WANT_STRUCT, 7 },
	};
	static const uint32_t ids[] = { 13, 14, 9, 0, 0, 0 };
	struct buf btf = made(), small = { 0 };
	struct btf_types b;
	struct btf_entry t, u;
	const char *name;

	assert_int_equal(btf_cut(btf.bytes, btf.n, wanted, 6, &small), 0);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(wanted[i].id, ids[i]);
	t = at(&small, 1, &name, &b);
	assert_string_equal(name, "task");
	assert_int_equal(t.size, 64);
	assert_int_equal(btf_entry_n(&t), 4);
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = { "pid", "mm", "u", "list" };
		static const uint32_t bits[] = { 0, 64, 128, 160 };

		assert_string_equal(btf_types_name(&b, word(t.more + i * 12)), names[i]);
		assert_int_equal(word(t.more + i * 12 + 8), bits[i]);
	}
	/* The pointer stays one, and leads nowhere. */
	u = at(&small, word(t.more + 12 + 4), &name, &b);
	assert_int_equal(btf_entry_kind(&u), KIND_PTR);
	assert_int_equal(u.size, 0);
	/* const union { int; enum } */
	u = at(&small, word(t.more + 24 + 4), &name, &b);
	assert_int_equal(btf_entry_kind(&u), KIND_CONST);
	u = at(&small, u.size, &name, &b);
	assert_int_equal(btf_entry_kind(&u), KIND_UNION);
	u = at(&small, word(u.more + 12 + 4), &name, &b);
	assert_string_equal(name, "e");
	assert_int_equal(btf_entry_n(&u), 0);
	/* other_t[4] */
	u = at(&small, word(t.more + 36 + 4), &name, &b);
	assert_int_equal(btf_entry_kind(&u), KIND_ARRAY);
	assert_int_equal(word(u.more + 8), 4);
	u = at(&small, word(u.more), &name, &b);
	assert_string_equal(name, "other_t");
	u = at(&small, u.size, &name, &b);
	assert_string_equal(name, "int");
	/* Both of that name, and nothing of mm. */
	t = at(&small, 2, &name, &b);
	assert_string_equal(name, "task");
	assert_string_equal(btf_types_name(&b, word(t.more)), "another");
	assert_null(memmem(small.bytes, small.n, "owner", 5));
	assert_null(memmem(small.bytes, small.n, "do_exit", 7));
	buf_free(&btf);
	buf_free(&small);
}

/* Cut anywhere, or with any number changed, it is refused or gives something: nothing outside is
 * read. */
static void test_hostile(void **state)
{
	struct buf btf = made(), small = { 0 };
	struct btf_wanted wanted[] = { { "task", BTF_WANT_STRUCT, 0 } };

	for (size_t n = 0; n < btf.n; n++) {
		unsigned char *cut = malloc(n + 1);

		memcpy(cut, btf.bytes, n);
		assert_int_equal(btf_cut(cut, n, wanted, 1, &small), -EBADMSG);
		free(cut);
	}
	for (size_t i = 4; i + 4 <= btf.n; i += 4)
		for (unsigned k = 0; k < 4; k++) {
			static const uint32_t values[] = { 0, 5, UINT32_MAX, INFO(20, 1) };
			unsigned char *bytes = malloc(btf.n);

			memcpy(bytes, btf.bytes, btf.n);
			memcpy(bytes + i, &values[k], 4);
			buf_clear(&small);
			btf_cut(bytes, btf.n, wanted, 1, &small);
			free(bytes);
		}
	buf_free(&btf);
	buf_free(&small);
}

/* Of the running kernel: a task's members lie in the small one where they lie in the large one. */
static void test_running(void **state)
{
	struct btf_wanted wanted[] = { { "task_struct", BTF_WANT_STRUCT, 0 },
		                       { "do_exit", BTF_WANT_FUNC, 0 } };
	FILE *f = fopen("/sys/kernel/btf/vmlinux", "r");
	struct buf btf = { 0 }, small = { 0 };
	struct btf_types a, b;
	struct btf_entry t, u;
	const char *name;
	size_t n = 1;

	while (f && n) {
		void *room = buf_reserve(&btf, 1 << 16);

		assert_non_null(room);
		n = fread(room, 1, 1 << 16, f);
		btf.n += n;
	}
	if (!f || !btf.n) {
		print_message("the kernel's types are not at /sys/kernel/btf/vmlinux\n");
		skip();
	}
	fclose(f);
	assert_int_equal(btf_cut(btf.bytes, btf.n, wanted, 2, &small), 0);
	assert_true(wanted[0].id && wanted[1].id);
	assert_true(small.n < btf.n / 10);
	t = at(&btf, wanted[0].id, &name, &a);
	u = at(&small, 1, &name, &b);
	assert_string_equal(name, "task_struct");
	assert_int_equal(btf_entry_n(&t), btf_entry_n(&u));
	for (uint32_t i = 0; i < btf_entry_n(&t); i++) {
		assert_string_equal(btf_types_name(&a, word(t.more + i * 12)),
		                    btf_types_name(&b, word(u.more + i * 12)));
		assert_int_equal(word(t.more + i * 12 + 8), word(u.more + i * 12 + 8));
	}
	buf_free(&btf);
	buf_free(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
