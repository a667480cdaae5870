// SPDX-License-Identifier: MIT
// abi.c: attrs of every size and both byte orders, and the set of events.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <seam/record.h>

#include "../swap.h"
#include "abi/encode.h"

#define LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Decodes n bytes from a block of exactly n. */
static int decode(const void *bytes, size_t n, bool swap, struct seam_attr *ret)
{
	void *copy = malloc(n ? n : 1);
	int r;

	memcpy(copy, bytes, n);
	r = seam_attr_decode(copy, n, swap, ret, NULL);
	free(copy);
	return r;
}

static struct seam_attr numbered(uint32_t size)
{
	struct seam_attr a;

	for (size_t i = 0; i < sizeof(a); i++)
		((unsigned char *)&a)[i] = (unsigned char)(i * 31 + 17);
	a.size = size;
	memset(a.reserved, 0, sizeof(a.reserved));
	return a;
}

/* Each size that a kernel has had holds the fields that it had and no more. */
static void attr_sizes(void **state)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct seam_attr a = numbered(sizes[i]), got, want = { 0 };

		memcpy(&want, &a, sizes[i]);
		assert_int_equal(decode(&a, sizes[i], false, &got), 0);
		assert_memory_equal(&got, &want, sizeof(got));
		/* The same when more bytes are there than the attr says it has. */
		assert_int_equal(decode(&a, SEAM_ATTR_SIZE, false, &got), 0);
		assert_memory_equal(&got, &want, sizeof(got));
		swap_attr((unsigned char *)&a, sizes[i]);
		assert_int_equal(decode(&a, sizes[i], true, &got), 0);
		assert_memory_equal(&got, &want, sizeof(got));
	}
}

static void attr_odd_sizes(void **state)
{
	unsigned char future[200];
	struct seam_attr a = numbered(200), got;

	memset(future, 0xee, sizeof(future));
	memcpy(future, &a, SEAM_ATTR_SIZE);
	assert_int_equal(decode(future, sizeof(future), false, &got), 0);
	assert_memory_equal(&got, &a, sizeof(got));
	assert_int_equal(decode(&a, 63, false, &got), -EBADMSG);
	assert_int_equal(decode(&a, 0, false, &got), -EBADMSG);
	/* Cut inside a field: that field is 0, not half. */
	a = numbered(144);
	assert_int_equal(decode(&a, 67, false, &got), 0);
	assert_int_equal(got.config1, a.config1);
	assert_int_equal(got.config2, 0);
	assert_int_equal(got.size, 144);
}

/* As a big-endian compiler lays the bits: the first field is the top bit of the first byte. */
static void attr_big_endian_bits(void **state)
{
	unsigned char bytes[64] = { 0, 0, 0, 1, 0, 0, 0, 64 };
	struct seam_attr a;

	bytes[40] = 0x80; /* field 0: disabled */
	bytes[41] = 0x01; /* field 15: the upper bit of precise_ip; its lower one is 16 */
	bytes[42] = 0x20; /* field 18: sample_id_all */
	bytes[44] = 0x02; /* field 38: defer_callchain */
	bytes[45] = 0;
	assert_int_equal(decode(bytes, 64, LITTLE, &a), 0);
	assert_int_equal(a.type, 1);
	assert_int_equal(a.size, 64);
	assert_int_equal(a.flags, SEAM_ATTR_DISABLED | 2ULL << SEAM_ATTR_PRECISE_IP_SHIFT |
	                                  SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_DEFER_CALLCHAIN);
}

static void attr_encode(void **state)
{
	struct seam_attr a = numbered(136), got;
	struct buf out = { 0 };

	assert_int_equal(encode_attr(&out, &a), 0);
	assert_int_equal(out.n, 136);
	assert_int_equal(decode(out.bytes, out.n, false, &got), 0);
	a.config4 = 0;
	assert_memory_equal(&got, &a, sizeof(a));
	a.size = 0;
	buf_clear(&out);
	assert_int_equal(encode_attr(&out, &a), 0);
	assert_int_equal(out.n, 144);
	a.size = 63;
	assert_int_equal(encode_attr(&out, &a), -EINVAL);
	buf_free(&out);
}

/* Near the first id or far from it, in front of it, and at both ends of the numbers. */
static void events_ids_far_apart(void **state)
{
	const uint64_t ids[] = { 1000, 1001, 5095, 5096, 999, 0, UINT64_MAX, 1ULL << 40 };
	struct seam_attr a = { .config = 1 };
	struct seam_events *e;

	assert_int_equal(seam_events_new(&e), 0);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(seam_events_add(e, &a, "e", &ids[i], 1, NULL), i);
	for (uint32_t i = 0; i < 8; i++)
		assert_ptr_equal(seam_events_by_id(e, ids[i]), seam_events_at(e, i));
	assert_null(seam_events_by_id(e, 1002));
	assert_null(seam_events_by_id(e, 5094));
	assert_null(seam_events_by_id(e, 5097));
	assert_null(seam_events_by_id(e, 998));
	assert_int_equal(seam_events_add_id(e, 3, 1000), 0); /* the last who claims it has it */
	assert_ptr_equal(seam_events_by_id(e, 1000), seam_events_at(e, 3));
	seam_events_free(e);
}

static void events_basics(void **state)
{
	struct seam_attr a = { .config = 1 }, b = { .config = 2 };
	uint64_t ids[] = { 10, 11 }, id = 0;
	struct seam_events *e;
	const struct seam_event *first;

	assert_int_equal(seam_events_new(&e), 0);
	assert_int_equal(seam_events_count(e), 0);
	assert_null(seam_events_at(e, 0));
	assert_null(seam_events_by_id(e, 10));
	assert_int_equal(seam_events_add(e, &a, "cycles", ids, 2, NULL), 0);
	first = seam_events_at(e, 0);
	assert_int_equal(seam_events_add(e, &b, NULL, NULL, 0, NULL), 1);
	for (int i = 2; i < 100; i++)
		assert_int_equal(seam_events_add(e, &b, NULL, NULL, 0, NULL), i);
	assert_ptr_equal(first, seam_events_at(e, 0)); /* events do not move */
	assert_int_equal(first->attr.config, 1);
	assert_int_equal(first->index, 0);
	assert_string_equal(first->name, "cycles");
	assert_int_equal(first->n_ids, 2);
	assert_int_equal(first->ids[1], 11);
	assert_ptr_equal(seam_events_by_id(e, 11), first);
	for (id = 20; id < 60; id++)
		assert_int_equal(seam_events_add_id(e, 1, id), 0);
	assert_int_equal(seam_events_add_id(e, 1, 59), 0); /* known: not twice */
	assert_int_equal(seam_events_at(e, 1)->n_ids, 40);
	assert_int_equal(seam_events_at(e, 1)->ids[39], 59);
	assert_ptr_equal(seam_events_by_id(e, 40), seam_events_at(e, 1));
	assert_int_equal(seam_events_add_id(e, 100, 1), -ENOENT);
	assert_int_equal(seam_events_set_name(e, 1, "x"), 0);
	assert_string_equal(seam_events_at(e, 1)->name, "x");
	assert_int_equal(seam_events_set_name(e, 100, "x"), -ENOENT);
	seam_events_free(e);
	seam_events_free(NULL);
}

static void events_limit(void **state)
{
	struct seam_error err = { 0 };
	struct seam_attr a = { 0 };
	struct seam_events *e;

	assert_int_equal(seam_events_new(&e), 0);
	for (int i = 0; i < 65536; i++)
		assert_int_equal(seam_events_add(e, &a, NULL, NULL, 0, NULL), i);
	assert_int_equal(seam_events_add(e, &a, NULL, NULL, 0, &err), -E2BIG);
	assert_int_equal(err.code, E2BIG);
	seam_events_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attr_sizes),           cmocka_unit_test(attr_odd_sizes),
		cmocka_unit_test(attr_big_endian_bits), cmocka_unit_test(attr_encode),
		cmocka_unit_test(events_ids_far_apart), cmocka_unit_test(events_basics),
		cmocka_unit_test(events_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
